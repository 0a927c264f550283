# mypy: ignore-errors
# (Numba infers the types)
"""A heap of entries by key, then by rank; it tells where each entry is, so that one can move when its key changes.

Keys and ranks stand at the places of the heap, and each place has eight below it that lie side by side: a step down reads one or two lines
of memory, where two below each and keys by entry read six, and there are a third as many steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

BELOW = 8
"""How many places are below each: those from this times its number, plus 1, on."""
ABSENT = np.int64(-1)


class Heap(NamedTuple):
    """The entry at each place of the heap, its key and its rank, and the place of each entry, -1 for one that was taken."""

    order: NDArray[np.int64]
    keys: NDArray[np.float64]
    ranks: NDArray[np.int64]
    where: NDArray[np.int64]


@kernel
def sift_down(at, size, heap):
    """Move an entry down to its place in a heap of this size."""
    order, keys, ranks, where = heap
    entry, key, rank = order[at], keys[at], ranks[at]
    while True:
        least, least_key, least_rank = at, key, rank
        for below in range(BELOW * at + 1, min(BELOW * at + BELOW + 1, size)):
            if keys[below] < least_key or (keys[below] == least_key and ranks[below] < least_rank):
                least, least_key, least_rank = below, keys[below], ranks[below]
        if least == at:
            break
        order[at], keys[at], ranks[at] = order[least], least_key, least_rank
        where[order[at]] = at
        at = least
    order[at], keys[at], ranks[at] = entry, key, rank
    where[entry] = at


@kernel
def sift_up(at, heap):
    """Move an entry up to its place."""
    order, keys, ranks, where = heap
    entry, key, rank = order[at], keys[at], ranks[at]
    while at > 0:
        above = (at - 1) // BELOW
        if keys[above] < key or (keys[above] == key and ranks[above] < rank):
            break
        order[at], keys[at], ranks[at] = order[above], keys[above], ranks[above]
        where[order[at]] = at
        at = above
    order[at], keys[at], ranks[at] = entry, key, rank
    where[entry] = at


@kernel
def take_first(size, heap):
    """Take the first entry out of a heap of this size."""
    order, keys, ranks, where = heap
    where[order[0]] = ABSENT
    if size > 1:
        order[0], keys[0], ranks[0] = order[size - 1], keys[size - 1], ranks[size - 1]
        sift_down(np.int64(0), size - 1, heap)


@kernel
def second_key(size, heap):
    """Return the least key but the first."""
    second = np.inf
    for below in range(1, min(BELOW + 1, size)):
        second = min(second, heap.keys[below])
    return second
