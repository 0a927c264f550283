# mypy: ignore-errors
# (Numba infers the types)
"""Rows of items: made from records, compared, merged, indexed.

A row has a span: four numbers, one behind the other, so that reading one brings the others into the cache. It is from START to END in
`places` and stands for WEIGHT records. Items that a search has passed stand before MIDDLE. An item's entries, the span of a row and the
item's place in it, stand one behind the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.jit import kernel
from setveil.kernels.rows import sort

if TYPE_CHECKING:
    from numpy.typing import NDArray


START, MIDDLE, END, WEIGHT = range(4)
SPAN = 4
"""How many numbers a span has."""
ENTRY = 2
"""How many numbers an entry has: where the span begins in `spans`, and the place."""


class Rows(NamedTuple):
    """Rows of items, the entries of each item from `item_starts`, its code in the data (`names`), and its support."""

    spans: NDArray[np.int64]
    places: NDArray[np.int32]
    item_starts: NDArray[np.int64]
    entries: NDArray[np.int64]
    names: NDArray[np.int32]
    supports: NDArray[np.int64]


@kernel
def hash_of(places, first, last):
    """Hash a part of a row."""
    value = last - first
    for place in range(first, last):
        value = (value ^ (np.int64(places[place]) + 0x1E3779B97F4A7C15)) * 0x100000001B3
        value ^= value >> 29
    return value


@kernel
def are_equal(places, first, last, other_first, other_last):
    """Tell whether two parts of rows are the same."""
    if last - first != other_last - other_first:
        return False
    for step in range(last - first):
        if places[first + step] != places[other_first + step]:
            return False
    return True


@kernel
def intersected(places, first, middle, other_first, other_middle):
    """Keep, of a row's items from before, those that another row has too; return where they begin now: they stay before the middle."""
    to = middle
    own, other = middle - 1, other_middle - 1
    while own >= first and other >= other_first:
        if places[own] == places[other]:
            to -= 1
            places[to] = places[own]
            own -= 1
            other -= 1
        elif places[own] > places[other]:
            own -= 1
        else:
            other -= 1
    return to


@kernel
def set_span(span, start, middle, end, weight, spans):
    """Write the numbers of a row."""
    spans[span + START], spans[span + MIDDLE], spans[span + END] = start, middle, end
    spans[span + WEIGHT] = weight


@kernel
def index_entries(first_row, last_row, n_items, at, offset, rows):
    """Write the entries of each of the first `n_items` items behind the middles of its rows, from the entry `offset` on, in order of rows.

    Those of item i begin at `item_starts[at + i]`.
    """
    spans, places, item_starts, entries = rows.spans, rows.places, rows.item_starts, rows.entries
    for item in range(n_items + 1):
        item_starts[at + item] = 0
    for row in range(first_row, last_row):
        for place in range(spans[SPAN * row + MIDDLE], spans[SPAN * row + END]):
            if places[place] >= n_items:
                break
            item_starts[at + places[place] + 1] += 1
    item_starts[at] = offset
    for item in range(n_items):
        item_starts[at + item + 1] += item_starts[at + item]
    for row in range(first_row, last_row):
        for place in range(spans[SPAN * row + MIDDLE], spans[SPAN * row + END]):
            if places[place] >= n_items:
                break
            entry = ENTRY * item_starts[at + places[place]]
            entries[entry], entries[entry + 1] = SPAN * row, place
            item_starts[at + places[place]] += 1
    for item in range(n_items, 0, -1):
        item_starts[at + item] = item_starts[at + item - 1]
    item_starts[at] = offset


@kernel
def merge_equal(n_rows, spans, places, slots, work):
    """Make one row of equal ones, in place; return how many there are.

    Adds to the work of each item how many occurrences there are from its places to the ends of the rows.
    """
    size = len(slots)
    for slot in range(size):
        slots[slot] = -1
    count = 0
    for row in range(n_rows):
        start, end = spans[SPAN * row + START], spans[SPAN * row + END]
        slot = (hash_of(places, start, end) >> 7) & (size - 1)
        while slots[slot] >= 0 and not are_equal(
            places, start, end, spans[slots[slot] + START], spans[slots[slot] + END]
        ):
            slot = (slot + 1) & (size - 1)
        if slots[slot] >= 0:
            spans[slots[slot] + WEIGHT] += 1
        else:
            slots[slot] = SPAN * count
            set_span(SPAN * count, start, start, end, 1, spans)
            for place in range(start, end):
                work[places[place]] += end - place
            count += 1
    return count


@kernel
def recode(offsets, items, new_codes, spans, places):
    """Write the records in new codes, sorted, without items that have none; rows of one item or none are left out. Return how many rows."""
    n_rows = 0
    to = np.int64(0)  # of a type, not a number: `sort` would be compiled for 0 too
    for record in range(len(offsets) - 1):
        start = to
        for at in range(offsets[record], offsets[record + 1]):
            code = new_codes[items[at]]
            if code >= 0:
                places[to] = code
                to += 1
        sort(places, start, to)
        if to > start + 1:
            set_span(SPAN * n_rows, start, start, to, 1, spans)
            n_rows += 1
        else:
            to = start
    return n_rows
