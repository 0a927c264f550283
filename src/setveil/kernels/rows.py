# mypy: ignore-errors
# (Numba infers the types)
"""What loops over rows of rising items share: finding an item, sorting, a word by which most rows are told apart, and room that grows."""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel


@kernel
def first_not_below(items, place, end, item):
    """Return the first place, from `place` to before `end`, whose item is not less than this one; `end` if there is none."""
    while place < end:
        middle = (place + end) >> 1
        if items[middle] < item:
            place = middle + 1
        else:
            end = middle
    return place


@kernel
def sort(codes, first, last):
    """Sort a few codes in place by Shell's way. Compiling `.sort()` would take a CPU second for each type of array."""
    gap = 1
    while 3 * gap + 1 < last - first:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(first + gap, last):
            code = codes[at]
            place = at
            while place - gap >= first and codes[place - gap] > code:
                codes[place] = codes[place - gap]
                place -= gap
            codes[place] = code
        gap //= 3


@kernel
def bit_of(item):
    """Return a word with the bit of an item: a row that lacks a bit of several items does not hold them all."""
    return np.uint64(1) << np.uint64((np.int64(item) * 40503 >> 4) & 63)


@kernel
def doubled_rows(table):
    """Return a copy with twice the rows; the new ones are 0."""
    larger = np.zeros((2 * table.shape[0], table.shape[1]), table.dtype)
    for row in range(table.shape[0]):
        for at in range(table.shape[1]):
            larger[row, at] = table[row, at]
    return larger


@kernel
def doubled(array, used):
    """Return a copy with twice the room, of which so many entries are used."""
    larger = np.empty(2 * len(array), array.dtype)
    for at in range(used):
        larger[at] = array[at]
    return larger
