# mypy: ignore-errors
# (Numba infers the types)
"""Finding itemsets among others: a table by hash, in which every hit is compared item by item.

The hash of a set is the exclusive or of its items' random words, so that the hash of the set without one item is one step away. Slots
hold the number of a set or -1; the table is at most half full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

ABSENT, BELOW = -1, -2
NOTHING = np.int64(-1)
"""No place is left out."""
LOOK_EVERY = 1023
"""A mask: control arrays are looked at when a number that is counted up has none of these bits."""


class Sets(NamedTuple):
    """Sets and their hashes."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    hashes: NDArray[np.uint64]


class Supports(NamedTuple):
    """The support of each set, and for each support of a part the least support of a set of which it is not too common a part."""

    of: NDArray[np.int64]
    least: NDArray[np.int64]


@kernel
def hash_sets(offsets, items, words, hashes):
    """Write the hash of every set."""
    for one in range(len(offsets) - 1):
        word = np.uint64(0)
        for place in range(offsets[one], offsets[one + 1]):
            word ^= words[items[place]]
        hashes[one] = word


@kernel
def enter(hashes, slots, control):
    """Enter every set in the table, by rising number."""
    mask = np.uint64(len(slots) - 1)
    for one in range(len(hashes)):
        if one & LOOK_EVERY == 0:
            control[DONE] = one
            if control[STOP] != 0:
                return
        at = hashes[one] & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = one
    control[DONE] = len(hashes)


@kernel
def _place_of(word, start, length, left_out, items, known, slots):
    """Return the number of the known set with these items but the one at `left_out`, or -1; the first of equal ones."""
    mask = np.uint64(len(slots) - 1)
    at = word & mask
    size = length if left_out < 0 else length - 1
    while slots[at] >= 0:
        one = slots[at]
        if known.hashes[one] == word:
            first = known.offsets[one]
            if known.offsets[one + 1] - first == size:
                same = 0
                for place in range(length):
                    if place == left_out:
                        continue
                    if known.items[first + same] != items[start + place]:
                        break
                    same += 1
                if same == size:
                    return one
        at = (at + np.uint64(1)) & mask
    return np.int64(ABSENT)


@kernel
def find_sets(first, last, asked, known, slots, places, control):
    """Write for the sets from `first` on which known set each is, or ABSENT."""
    for one in range(first, last):
        if one & LOOK_EVERY == 0:
            control[DONE] = one - first
            if control[STOP] != 0:
                return
        start = asked.offsets[one]
        length = asked.offsets[one + 1] - start
        places[one] = _place_of(asked.hashes[one], start, length, NOTHING, asked.items, known, slots)
    control[DONE] = last - first


@kernel
def find_parts(first, last, known, slots, words, supports, places, control):
    """Write for each item of the sets from `first` on which set the others are: ABSENT if none, BELOW if it is empty or too common.

    It is too common if the whole set is held by fewer records than `least` says of a part with its support.
    """
    for one in range(first, last):
        if one & LOOK_EVERY == 0:
            control[DONE] = one - first
            if control[STOP] != 0:
                return
        start = known.offsets[one]
        length = known.offsets[one + 1] - start
        for place in range(length):
            if length == 1:
                places[start] = BELOW
                continue
            word = known.hashes[one] ^ words[known.items[start + place]]
            found = _place_of(word, start, length, np.int64(place), known.items, known, slots)
            if found >= 0 and supports.of[one] < supports.least[supports.of[found]]:
                found = BELOW
            places[start + place] = found
    control[DONE] = last - first
