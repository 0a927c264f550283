"""Loops that the tendency methods share: what each record leans to, and putting records together again."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.jit import kernel
from setveil.kernels.rows import sort

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMPTY, SINGLE, FULL, PARTIAL, UNIFORM = 0, 1, 2, 3, 4
"""Kinds of records."""

ZERO = np.int64(0)


class Lists(NamedTuple):
    """A list of codes per record: `values[starts[r] : starts[r + 1]]`."""

    starts: NDArray[np.int64]
    values: NDArray[np.int32]


class Records(NamedTuple):
    """The items of each record, and for each occurrence whether it is in the block of its record."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    in_block: NDArray[np.bool_]


class Leanings(NamedTuple):
    """For each record its kind, its top category, and the numbers of its heaviest categories and of those above the mean."""

    kind: NDArray[np.int8]
    top: NDArray[np.int32]
    tied: NDArray[np.int32]
    above: NDArray[np.int32]


class Moves(NamedTuple):
    """What moves between records.

    `gives_block[r]`: r loses its block. `receives_from[r]`: the record whose block r gets, or -1. `given` lists the items that leave r
    apart from its block, and `gets_given[r]` names the record that gets them, or -1.
    """

    gives_block: NDArray[np.bool_]
    receives_from: NDArray[np.int64]
    given: Lists
    gets_given: NDArray[np.int64]


@kernel
def weigh(first, end, items, category, weight):
    """Count the items of each category at these places into `weight`; return the number of categories and the heaviest one.

    The lowest of equally heavy ones is returned, and -1 if there are no items.
    """
    present = ZERO
    best = -1
    for place in range(first, end):
        g = category[items[place]]
        if weight[g] == 0:
            present += 1
        weight[g] += 1
        if best < 0 or weight[g] > weight[best] or (weight[g] == weight[best] and g < best):
            best = g
    return present, best


@kernel
def classify(offsets, items, category, categories, leanings):
    """Find each record's kind and top category, and count its heaviest categories and those above the mean."""
    kind, top, tied, above = leanings.kind, leanings.top, leanings.tied, leanings.above
    weight = np.zeros(categories, dtype=np.int64)
    for r in range(len(offsets) - 1):
        lo, hi = offsets[r], offsets[r + 1]
        present, best = weigh(lo, hi, items, category, weight)
        heaviest = 0
        heavier = 0
        largest = weight[best] if best >= 0 else 1
        for place in range(lo, hi):
            g = category[items[place]]
            if weight[g] == largest:
                heaviest += 1
            if weight[g] * present > hi - lo:
                heavier += 1
            weight[g] = 0
        top[r] = best
        tied[r] = heaviest
        above[r] = heavier
        if hi == lo:
            kind[r] = EMPTY
        elif hi - lo == 1:
            kind[r] = SINGLE
        elif present == 1:
            kind[r] = FULL
        elif heavier > 0:
            kind[r] = PARTIAL
        else:
            kind[r] = UNIFORM


@kernel
def list_categories(offsets, items, category, categories, chosen, above_mean, lists):
    """List for each chosen record its heaviest categories, or those above the mean, at the place that `lists` has for it.

    The only category of a record counts as above the mean.
    """
    starts, values = lists.starts, lists.values
    weight = np.zeros(categories, dtype=np.int64)
    for p in range(len(chosen)):
        lo, hi = offsets[chosen[p]], offsets[chosen[p] + 1]
        present, best = weigh(lo, hi, items, category, weight)
        largest = weight[best] if best >= 0 else 1
        at = starts[p]
        for place in range(lo, hi):
            g = category[items[place]]
            if weight[g] == 0:
                continue
            if weight[g] * present > hi - lo or present == 1 if above_mean else weight[g] == largest:
                values[at] = g
                at += 1
            weight[g] = 0


@kernel
def mark_blocks(offsets, items, category, hidden, in_block):
    """Mark the items of each record that are of one of its hidden categories: its block."""
    for r in range(len(offsets) - 1):
        for place in range(offsets[r], offsets[r + 1]):
            in_block[place] = is_listed(category[items[place]], r, hidden)


@kernel
def copy_records(records, chosen, copied):
    """Copy the chosen records one after the other, with the marks of their blocks, to where the offsets of `copied` have them."""
    offsets, items, in_block = records.offsets, records.items, records.in_block
    new_items, new_in_block = copied.items, copied.in_block
    at = ZERO
    for p in range(len(chosen)):
        for place in range(offsets[chosen[p]], offsets[chosen[p] + 1]):
            new_items[at] = items[place]
            new_in_block[at] = in_block[place]
            at += 1


@kernel
def is_listed(code, r, lists):
    """Return whether a code is in the list of r."""
    starts, values = lists.starts, lists.values
    for at in range(starts[r], starts[r + 1]):
        if values[at] == code:
            return True
    return False


@kernel
def lists_meet(p, q, lists):
    """Return whether the lists of p and q have a code in common."""
    starts, values = lists.starts, lists.values
    for at in range(starts[p], starts[p + 1]):
        if is_listed(values[at], q, lists):
            return True
    return False


@kernel
def rebuild(records, moves, new_offsets, new_items):
    """Put every record together: what it keeps, the block that it receives, and what a helper gave it. Return the number of items.

    Each block and each given item has one receiver at most, so that there are never more items than before, and one pass is enough.
    """
    given = moves.given
    giver_of = np.full(len(new_offsets) - 1, -1, dtype=np.int64)
    for u in range(len(giver_of)):
        if moves.gets_given[u] >= 0:
            giver_of[moves.gets_given[u]] = u
    at = ZERO
    for r in range(len(giver_of)):
        first = at
        at = merge(r, records, moves, new_items, at)
        u = giver_of[r]
        if u >= 0:
            for g in range(given.starts[u], given.starts[u + 1]):
                new_items[at] = given.values[g]
                at += 1
            sort(new_items, first, at)
        new_offsets[r + 1] = at
    return at


@kernel
def merge(r, records, moves, new_items, at):
    """Write what r keeps and the block that it receives, in rising order and each item once; return where the writing ended.

    Both sides rise. Nothing before `i` and `j` is still to be written.
    """
    offsets, items, in_block = records.offsets, records.items, records.in_block
    gives, source, given = moves.gives_block[r], moves.receives_from[r], moves.given
    gives_more = given.starts[r] < given.starts[r + 1]
    i, end = offsets[r], offsets[r + 1]
    j, block_end = (offsets[source], offsets[source + 1]) if source >= 0 else (ZERO, ZERO)
    while True:
        while i < end and ((gives and in_block[i]) or (gives_more and is_listed(items[i], r, given))):
            i += 1
        while j < block_end and not in_block[j]:
            j += 1
        if i < end and (j == block_end or items[i] <= items[j]):
            new_items[at] = items[i]
            if j < block_end and items[i] == items[j]:
                j += 1
            i += 1
        elif j < block_end:
            new_items[at] = items[j]
            j += 1
        else:
            return at
        at += 1
