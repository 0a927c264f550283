# mypy: ignore-errors
# (Numba infers the types)
"""Loops over records that share them out to groups of items: counting pairs, measuring groups, writing what each group needs.

Items have *ranks*, which are numbers by rising support. Pairs are counted in cells: one for each pair if there are as many, otherwise one
for several. A pair can be frequent only if its cell is counted often enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import sort
from setveil.mining._row_kernels import END, MIDDLE, SPAN, set_span
from setveil.mining._writing_kernels import grown

if TYPE_CHECKING:
    from numpy.typing import NDArray

NONE = np.int64(0)
LOOK_EVERY = 1023
"""A mask: control arrays are looked at when a number that is counted up has none of these bits."""


class Ranked(NamedTuple):
    """The rank of each code, -1 if the item takes no part; the number of ranks; which cells are counted often enough.

    A search that looks back needs all partners of an item in a record (`looks_back` is 1), others only those of a higher rank.
    """

    ranks: NDArray[np.int32]
    n_ranks: np.int64
    may_be_frequent: NDArray[np.bool_]
    looks_back: np.int64


@kernel
def cell_of(first, second, n_ranks, n_cells):
    """Return the cell of a pair; `n_cells` is the square of the number of ranks, or a smaller power of two."""
    key = first * n_ranks + second
    if n_ranks * n_ranks <= n_cells:
        return key
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & (n_cells - 1)


@kernel
def write_ranks(record, offsets, items, ranks, row):
    """Write the ranks of a record in order; return how many there are."""
    length = NONE
    for place in range(offsets[record], offsets[record + 1]):
        rank = ranks[items[place]]
        if rank >= 0:
            row[length] = rank
            length += 1
    sort(row, NONE, length)
    return length


@kernel
def count_cells(offsets, items, ranks, n_ranks, row, cells, control):
    """Count the pairs of the records; `row` is room for the longest record."""
    for record in range(len(offsets) - 1):
        if record & LOOK_EVERY == 0 and control[STOP] != 0:
            return
        length = write_ranks(record, offsets, items, ranks, row)
        for at in range(length - 1):
            for later in range(at + 1, length):
                cells[cell_of(np.int64(row[at]), np.int64(row[later]), n_ranks, len(cells))] += 1
        control[DONE] = record


@kernel
def are_partners(row, one, other, ranked):
    """Tell whether the items at two places of a row may be a frequent pair, and the first needs the second."""
    first, second = np.int64(row[min(one, other)]), np.int64(row[max(one, other)])
    return ranked.may_be_frequent[cell_of(first, second, ranked.n_ranks, len(ranked.may_be_frequent))]


@kernel
def measure(offsets, items, ranked, row, sizes, control):
    """Add for each rank how many rows and, in the second half of `sizes`, how many items it would need as a group of its own."""
    for record in range(len(offsets) - 1):
        if record & LOOK_EVERY == 0 and control[STOP] != 0:
            return
        length = write_ranks(record, offsets, items, ranked.ranks, row)
        for at in range(length):
            partners = 0
            for other in range(0 if ranked.looks_back else at + 1, length):
                partners += other != at and are_partners(row, at, other, ranked)
            if partners > 0:
                sizes[row[at]] += 1
                sizes[ranked.n_ranks + row[at]] += partners + 1
        control[DONE] = record


@kernel
def share_out(offsets, items, ranked, group_of, row, needed, control):
    """Return what each group needs of each record: the groups of rows, where the rows begin, and their ranks.

    A group needs those of its items that have a partner in the record, and these partners. `row` and `needed` are room for a record.
    """
    groups, starts = np.empty(len(offsets), np.int32), np.zeros(len(offsets) + 1, np.int64)
    shared = np.empty(len(items), np.int32)
    n_rows, end = NONE, NONE
    for record in range(len(offsets) - 1):
        if record & LOOK_EVERY == 0 and control[STOP] != 0:
            break
        length = write_ranks(record, offsets, items, ranked.ranks, row)
        last = NONE
        while last < length:
            group = group_of[row[last]]
            begin = NONE if ranked.looks_back else last
            for at in range(begin, length):
                needed[at] = False
            while last < length and group_of[row[last]] == group:
                for other in range(begin if ranked.looks_back else last + 1, length):
                    if other != last and are_partners(row, last, other, ranked):
                        needed[last] = needed[other] = True
                last += 1
            if end + length > len(shared):
                shared = grown(shared, end, end + length)
            for at in range(begin, length):  # no branch: which items are needed cannot be foreseen
                shared[end] = row[at]
                end += needed[at]
            if end > starts[n_rows]:
                if n_rows == len(groups):
                    groups, starts = grown(groups, n_rows, n_rows + 1), grown(starts, n_rows + 1, 2 * n_rows + 2)
                groups[n_rows] = group
                n_rows += 1
                starts[n_rows] = end
        control[DONE] = record
    return groups[:n_rows], starts[: n_rows + 1], shared[:end]


@kernel
def sort_rows(n_groups, groups, starts, items):
    """Return rows sorted by group, equal ones in their order: the groups, where the rows begin, and their items."""
    ends, item_ends = np.zeros(n_groups + 1, np.int64), np.zeros(n_groups + 1, np.int64)
    for row in range(len(groups)):
        ends[groups[row] + 1] += 1
        item_ends[groups[row] + 1] += starts[row + 1] - starts[row]
    for group in range(n_groups):
        ends[group + 1] += ends[group]
        item_ends[group + 1] += item_ends[group]
    sorted_groups, sorted_starts = np.empty(len(groups), np.int32), np.zeros(len(starts), np.int64)
    sorted_items = np.empty(len(items), np.int32)
    for row in range(len(groups)):
        group = groups[row]
        to = item_ends[group]
        for place in range(starts[row], starts[row + 1]):
            sorted_items[to] = items[place]
            to += 1
        item_ends[group] = to
        sorted_groups[ends[group]] = group
        ends[group] += 1
        sorted_starts[ends[group]] = to
    return sorted_groups, sorted_starts, sorted_items


@kernel
def write_spans(offsets, spans):
    """Write a span for each row."""
    for row in range(len(offsets) - 1):
        start = offsets[row] - offsets[0]
        set_span(SPAN * row, start, start, offsets[row + 1] - offsets[0], 1, spans)


@kernel
def begin_at(first, last, spans, places):
    """Set the middle of each row to its first item from `first` on; return how many items before `last` stand behind the middles."""
    entries = 0
    for span in range(0, len(spans), SPAN):
        while spans[span + MIDDLE] < spans[span + END] and places[spans[span + MIDDLE]] < first:
            spans[span + MIDDLE] += 1
        for place in range(spans[span + MIDDLE], spans[span + END]):
            if places[place] >= last:
                break
            entries += 1
    return entries
