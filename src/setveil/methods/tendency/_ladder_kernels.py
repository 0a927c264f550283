"""What is done for a record that found no partner: a place in somebody else's exchange, or a helper without a tendency of its own.

Words are explained in `_part_swap_kernels`. Waiting records of one *class* have the same list of categories and the same signatures, as far
as a step looks at these. What the look at these rules out for one, it rules out for all, so that each class keeps its own place in the list
of candidates and never looks back.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.tendency._part_swap_kernels import LOOK_EVERY, holds_marked, mark_record
from setveil.methods.tendency._tendency_kernels import Records, is_listed, lists_meet

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Waiting(NamedTuple):
    """The records that wait, the class of each, and the candidate from which on each class looks."""

    records: NDArray[np.int64]
    class_of: NDArray[np.int64]
    start: NDArray[np.int64]


class Exchanges(NamedTuple):
    """Who gives a block and who receives it, as it was before the step; then the receiver and the giver of each position."""

    giver: NDArray[np.int64]
    receiver: NDArray[np.int64]
    gives_to: NDArray[np.int64]
    gets_from: NDArray[np.int64]


class Looks(NamedTuple):
    """What most exchanges are only looked at for, side by side: tops of giver and receiver, and the signatures that must not meet."""

    top_a: NDArray[np.int32]
    top_b: NDArray[np.int32]
    block_a: NDArray[np.int64]
    bits_b: NDArray[np.int64]


class Helpers(NamedTuple):
    """Records without a tendency; the items with the lowest `priority` are given first."""

    records: Records
    signature: NDArray[np.int64]
    priority: NDArray[np.int64]


class Given(NamedTuple):
    """The helper of each waiting record, how many items each helper gives, and these items from the helper's own place on."""

    helper_of: NDArray[np.int64]
    counts: NDArray[np.int64]
    items: NDArray[np.int32]


class Parents(NamedTuple):
    """Records that may take a block, the signature of each, and for every record whether it must not hold its hidden categories."""

    records: NDArray[np.int64]
    signature: NDArray[np.int64]
    barred: NDArray[np.bool_]


@kernel
def block_meets(q, records, mark, stamp):
    """Return whether the block of q holds an item of the marked record."""
    offsets, items, in_block = records.offsets, records.items, records.in_block
    for place in range(offsets[q], offsets[q + 1]):
        if in_block[place] and mark[items[place]] >= stamp:
            return True
    return False


@kernel
def next_exchange(r, e, used, looks, exchanges, enlisted):
    """Return the first exchange from e on that categories and signatures allow r to join."""
    giver, receiver, clash = exchanges.giver, exchanges.receiver, enlisted.clash
    own, bits, block = enlisted.tops[r], enlisted.signature[r], enlisted.block_signature[r]
    top_a, top_b, block_a, bits_b = looks.top_a, looks.top_b, looks.block_a, looks.bits_b
    while e < len(giver) and (
        used[e]
        or top_a[e] == own
        or top_b[e] == own
        or block_a[e] & bits
        or bits_b[e] & block
        or lists_meet(giver[e], r, clash)
        or lists_meet(receiver[e], r, clash)
    ):
        e += 1
    return e


@kernel
def join_exchanges(waiting, enlisted, exchanges, looks, mark, joined, control):
    """Let waiting records step between a giver a and its receiver b: r gets a's block, b gets r's.

    Where a and b were a pair this makes the three-cycle of the spec; a later call may step into longer cycles. All tops along the cycle
    stay different from their neighbours' and no block meets an item that is there, so nothing is lost.
    """
    records = enlisted.records
    giver, receiver, gives_to, gets_from = exchanges.giver, exchanges.receiver, exchanges.gives_to, exchanges.gets_from
    used = np.zeros(len(giver), dtype=np.bool_)
    for w in range(len(waiting.records)):
        if w % LOOK_EVERY == 0:
            control[DONE] = w
            if control[STOP]:
                return
        r, stamp = waiting.records[w], 2 * w
        e = next_exchange(r, waiting.start[waiting.class_of[w]], used, looks, exchanges, enlisted)
        waiting.start[waiting.class_of[w]] = e  # what came before is ruled out for the whole class
        if e < len(giver):
            mark_record(r, records, mark, stamp)
        while e < len(giver):
            a, b = giver[e], receiver[e]
            if not block_meets(a, records, mark, stamp) and not holds_marked(b, records, mark, stamp + 1):
                gives_to[a], gets_from[r] = r, a
                gives_to[r], gets_from[b] = b, r
                used[e] = joined[w] = True
                break
            e = next_exchange(r, e + 1, used, looks, exchanges, enlisted)
    control[DONE] = len(waiting.records)


@kernel
def next_helper(u, block, used, signature):
    """Return the first free helper from u on that holds none of the most frequent items of a block."""
    while u < len(signature) and (used[u] or signature[u] & block):
        u += 1
    return u


@kernel
def find_helpers(waiting, enlisted, category, hidden, helpers, given, mark, control):
    """Give each waiting record a helper: it takes the block and gives up to as many items that are of other categories and new there.

    A helper serves once. Classes are by the block signature alone.
    """
    records, signature = enlisted.records, helpers.signature
    used = np.zeros(len(signature), dtype=np.bool_)
    for w in range(len(waiting.records)):
        if w % LOOK_EVERY == 0:
            control[DONE] = w
            if control[STOP]:
                return
        r, stamp = waiting.records[w], 2 * w
        block = enlisted.block_signature[r]
        u = next_helper(waiting.start[waiting.class_of[w]], block, used, signature)
        waiting.start[waiting.class_of[w]] = u
        if u < len(signature):
            mark_record(r, records, mark, stamp)
        while u < len(signature):
            if not holds_marked(u, helpers.records, mark, stamp + 1):
                count = offer(u, r, category, hidden, helpers, given.items, mark, stamp)
                if count:
                    given.counts[u] = min(count, block_size(r, records))
                    given.helper_of[w] = u
                    used[u] = True
                    break
            u = next_helper(u + 1, block, used, signature)
    control[DONE] = len(waiting.records)


@kernel
def block_size(r, records):
    """Return the number of items in the block of r."""
    size = 0
    offsets, in_block = records.offsets, records.in_block
    for place in range(offsets[r], offsets[r + 1]):
        if in_block[place]:
            size += 1
    return size


@kernel
def offer(u, r, category, hidden, helpers, given, mark, stamp):
    """List what helper u could give to r, lowest priority first, and return how much that is."""
    items, priority = helpers.records.items, helpers.priority
    first = helpers.records.offsets[u]
    count = 0
    for place in range(first, helpers.records.offsets[u + 1]):
        item = items[place]
        if mark[item] >= stamp or is_listed(category[item], r, hidden):
            continue
        at = first + count
        while at > first and priority[given[at - 1]] > priority[item]:
            given[at] = given[at - 1]
            at -= 1
        given[at] = item
        count += 1
    return count


@kernel
def next_parent(r, at, block, used, parents, hidden):
    """Return the place of the first free parent from `at` on that categories and signatures allow to take the block of r."""
    records, signature, barred = parents.records, parents.signature, parents.barred
    while at < len(used) and (
        used[at] or signature[at] & block or (barred[records[at]] and lists_meet(records[at], r, hidden))
    ):
        at += 1
    return at


@kernel
def find_parents(children, records, hidden, block_signature, parents, mark, parent, control):
    """Find for each child record another one that can take its block as it is now: it must hold none of the items.

    Each takes one block per call.
    """
    used = np.zeros(len(parents.records), dtype=np.bool_)
    for c in range(len(children.records)):
        if c % LOOK_EVERY == 0:
            control[DONE] = c
            if control[STOP]:
                return
        r, stamp = children.records[c], 2 * c
        block = block_signature[r]
        at = next_parent(r, children.start[children.class_of[c]], block, used, parents, hidden)
        children.start[children.class_of[c]] = at
        if at < len(used):
            mark_record(r, records, mark, stamp)
        while at < len(used):
            if not holds_marked(parents.records[at], records, mark, stamp + 1):
                parent[c] = parents.records[at]
                used[at] = True
                break
            at = next_parent(r, at + 1, block, used, parents, hidden)
    control[DONE] = len(children.records)
