"""What is done for a record that found no partner: a place in somebody else's exchange, or a helper without a tendency of its own."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.tendency._part_swap_kernels import LOOK_EVERY, mark_record
from setveil.methods.tendency._tendency_kernels import is_listed, lists_meet


@kernel
def block_meets(q, starts, items, in_block, mark, stamp):
    """Tell whether the block of q holds an item of the marked record."""
    for place in range(starts[q], starts[q + 1]):
        if in_block[place] and mark[items[place]] >= stamp:
            return True
    return False


@kernel
def meets_block(q, starts, items, mark, stamp):
    """Tell whether q holds an item of the marked record's block."""
    for place in range(starts[q], starts[q + 1]):
        if mark[items[place]] == stamp + 1:
            return True
    return False


@kernel
def join_exchanges(
    waiting,
    class_of,
    classes,
    starts,
    items,
    in_block,
    top,
    clash_starts,
    clash,
    item_count,
    signature,
    block_signature,
    giver,
    receiver,
    gives_to,
    gets_from,
    joined,
    control,
):
    """Let waiting records step between a giver a and its receiver b: r gets a's block, b gets r's.

    Where a and b were a pair this makes the three-cycle of the spec; a later call may step into longer cycles. All tops along the cycle
    stay different from their neighbours' and no block meets an item that is there, so nothing is lost.

    Waiting records with the same list of categories and the same signatures are of one *class*: what the look at these rules out for one,
    it rules out for all, so that each class keeps its own place in the list of exchanges and never looks back.
    """
    exchanges = len(giver)
    mark = np.full(item_count, -1, dtype=np.int64)
    used = np.zeros(exchanges, dtype=np.bool_)
    start = np.zeros(classes, dtype=np.int64)
    top_a = np.empty(exchanges, dtype=np.int32)  # copied side by side: most exchanges are only looked at
    top_b = np.empty(exchanges, dtype=np.int32)
    block_a = np.empty(exchanges, dtype=np.int64)
    bits_b = np.empty(exchanges, dtype=np.int64)
    for e in range(exchanges):
        top_a[e], top_b[e] = top[giver[e]], top[receiver[e]]
        block_a[e], bits_b[e] = block_signature[giver[e]], signature[receiver[e]]
    for w in range(len(waiting)):
        if w % LOOK_EVERY == 0:
            control[DONE] = w
            if control[STOP]:
                return
        r = waiting[w]
        own, bits, block = top[r], signature[r], block_signature[r]
        stamp = 2 * w
        looked = False
        e = start[class_of[w]]
        while e < exchanges:
            a, b = giver[e], receiver[e]
            if not (
                used[e]
                or top_a[e] == own
                or top_b[e] == own
                or block_a[e] & bits
                or bits_b[e] & block
                or lists_meet(a, r, clash_starts, clash)
                or lists_meet(b, r, clash_starts, clash)
            ):
                if not looked:  # what came before is ruled out for the whole class
                    start[class_of[w]] = e
                    mark_record(r, starts, items, in_block, mark, stamp)
                    looked = True
                if not block_meets(a, starts, items, in_block, mark, stamp) and not meets_block(
                    b, starts, items, mark, stamp
                ):
                    gives_to[a], gets_from[r] = r, a
                    gives_to[r], gets_from[b] = b, r
                    used[e] = joined[w] = True
                    break
            e += 1
        if not looked:
            start[class_of[w]] = exchanges
    control[DONE] = len(waiting)


@kernel
def find_helpers(
    waiting,
    class_of,
    classes,
    starts,
    items,
    in_block,
    category,
    hidden_starts,
    hidden,
    item_count,
    block_signature,
    helper_starts,
    helper_items,
    helper_signature,
    priority,
    helper_of,
    given_counts,
    given,
    control,
):
    """Give each waiting record a helper: it takes the block and gives up to as many items that are of other categories and new there.

    A helper serves once. The items given stand in `given`, from the helper's own place on, lowest `priority` first. Classes are as in
    `join_exchanges`, by the hot items of the block alone.
    """
    mark = np.full(item_count, -1, dtype=np.int64)
    helpers = len(helper_starts) - 1
    used = np.zeros(helpers, dtype=np.bool_)
    start = np.zeros(classes, dtype=np.int64)
    for w in range(len(waiting)):
        if w % LOOK_EVERY == 0:
            control[DONE] = w
            if control[STOP]:
                return
        r = waiting[w]
        block = block_signature[r]
        u = start[class_of[w]]
        while u < helpers and (used[u] or helper_signature[u] & block):
            u += 1
        start[class_of[w]] = u
        if u == helpers:
            continue
        stamp = 2 * w
        mark_record(r, starts, items, in_block, mark, stamp)
        size = 0
        for place in range(starts[r], starts[r + 1]):
            if in_block[place]:
                size += 1
        while u < helpers:
            if not (used[u] or helper_signature[u] & block or meets_block(u, helper_starts, helper_items, mark, stamp)):
                count = offer(
                    u, r, helper_starts, helper_items, category, hidden_starts, hidden, mark, stamp, priority, given
                )
                if count:
                    given_counts[u] = min(count, size)
                    helper_of[w] = u
                    used[u] = True
                    break
            u += 1
    control[DONE] = len(waiting)


@kernel
def offer(u, r, helper_starts, helper_items, category, hidden_starts, hidden, mark, stamp, priority, given):
    """List what helper u could give to r, lowest priority first, and return how much that is."""
    first = helper_starts[u]
    count = 0
    for place in range(first, helper_starts[u + 1]):
        item = helper_items[place]
        if mark[item] >= stamp or is_listed(category[item], r, hidden_starts, hidden):
            continue
        at = first + count
        while at > first and priority[given[at - 1]] > priority[item]:
            given[at] = given[at - 1]
            at -= 1
        given[at] = item
        count += 1
    return count


@kernel
def find_parents(
    children,
    class_of,
    classes,
    offsets,
    items,
    in_block,
    top,
    hidden_starts,
    hidden,
    barred,
    item_count,
    signature,
    block_signature,
    parents,
    parent,
    control,
):
    """Find for each child record another one that can take its block as it is now: it must hold none of the items.

    `barred` is the first of the hidden categories that a record must not hold, or -1 if it may hold any. Each takes one block a call.
    Classes are as in `join_exchanges`.
    """
    mark = np.full(item_count, -1, dtype=np.int64)
    used = np.zeros(len(parents), dtype=np.bool_)
    start = np.zeros(classes, dtype=np.int64)
    for c in range(len(children)):
        if c % LOOK_EVERY == 0:
            control[DONE] = c
            if control[STOP]:
                return
        r = children[c]
        own, block = top[r], block_signature[r]
        stamp = 2 * c
        looked = False
        at = start[class_of[c]]
        while at < len(parents):
            u = parents[at]
            if not (
                used[at]
                or signature[at] & block
                or barred[u] == own
                or (barred[u] >= 0 and lists_meet(u, r, hidden_starts, hidden))
            ):
                if not looked:
                    start[class_of[c]] = at
                    mark_record(r, offsets, items, in_block, mark, stamp)
                    looked = True
                if not meets_block(u, offsets, items, mark, stamp):
                    parent[c] = u
                    used[at] = True
                    break
            at += 1
        if not looked:
            start[class_of[c]] = len(parents)
    control[DONE] = len(children)
