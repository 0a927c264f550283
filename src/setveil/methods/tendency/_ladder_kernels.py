"""What is done for a record that found no partner: a place in somebody else's exchange, or a helper without a tendency of its own."""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel
from setveil.methods.tendency._part_swap_kernels import LOOK_EVERY, mark_record, tops_fit

DONE, STOP = 0, 1
"""Places in the control array (engines/base.py)."""


@kernel
def block_meets(q, starts, items, category, top, mark, stamp):
    """Tell whether the block of q holds an item of the marked record."""
    for place in range(starts[q], starts[q + 1]):
        if category[items[place]] == top[q] and mark[items[place]] >= stamp:
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
    starts,
    items,
    category,
    top,
    above_starts,
    above,
    strict,
    item_count,
    signature,
    block_signature,
    givers,
    giver_count,
    goes_to,
    receives_from,
    joined,
    control,
):
    """Let waiting records step between a giver a and its receiver b: r gets a's block, b gets r's.

    Where a and b were a pair this makes the three-cycle of the spec; later ones may step into longer cycles. All tops along the cycle
    stay different from their neighbours' and no block meets an item that is there, so nothing is lost.
    """
    mark = np.full(item_count, -1, dtype=np.int64)
    cursor = 0
    for w in range(len(waiting)):
        if w % LOOK_EVERY == 0:
            control[DONE] = w
            if control[STOP]:
                return giver_count
        r = waiting[w]
        stamp = 2 * w
        mark_record(r, starts, items, category, top, mark, stamp)
        for step in range(giver_count):
            at = cursor + step
            if at >= giver_count:
                at -= giver_count
            a = givers[at]
            if block_signature[a] & signature[r]:
                continue
            b = goes_to[a]
            if signature[b] & block_signature[r]:
                continue
            if not tops_fit(a, r, top, above_starts, above, strict) or not tops_fit(r, b, top, above_starts, above, strict):
                continue
            if block_meets(a, starts, items, category, top, mark, stamp) or meets_block(b, starts, items, mark, stamp):
                continue
            goes_to[a], receives_from[r] = r, a
            goes_to[r], receives_from[b] = b, r
            givers[giver_count] = r
            giver_count += 1
            joined[w] = True
            cursor = at
            break
    return giver_count


@kernel
def find_helpers(
    waiting,
    starts,
    items,
    category,
    top,
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

    A helper serves once. The items given stand in `given`, from the helper's own place on, lowest `priority` first.
    """
    mark = np.full(item_count, -1, dtype=np.int64)
    helpers = len(helper_starts) - 1
    used = np.zeros(helpers, dtype=np.bool_)
    cursor = 0
    for w in range(len(waiting)):
        if w % LOOK_EVERY == 0:
            control[DONE] = w
            if control[STOP]:
                return
        r = waiting[w]
        stamp = 2 * w
        mark_record(r, starts, items, category, top, mark, stamp)
        size = 0
        for place in range(starts[r], starts[r + 1]):
            if category[items[place]] == top[r]:
                size += 1
        for step in range(helpers):
            u = cursor + step
            if u >= helpers:
                u -= helpers
            if used[u] or helper_signature[u] & block_signature[r] or meets_block(u, helper_starts, helper_items, mark, stamp):
                continue
            first = helper_starts[u]
            count = 0
            for place in range(first, helper_starts[u + 1]):
                item = helper_items[place]
                if category[item] == top[r] or mark[item] >= stamp:
                    continue
                at = first + count  # kept in order of priority: insert from the end
                while at > first and priority[given[at - 1]] > priority[item]:
                    given[at] = given[at - 1]
                    at -= 1
                given[at] = item
                count += 1
            if count == 0:
                continue
            given_counts[u] = min(count, size)
            helper_of[w] = u
            used[u] = True
            while cursor < helpers - 1 and used[cursor]:
                cursor += 1
            break
