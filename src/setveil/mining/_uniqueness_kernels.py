# mypy: ignore-errors
# (Numba infers the types)
"""The loops of `profile`: which records hold a pair or a triple of items that no other record holds.

Layout: rows of items that rise (`row_starts`, `items`), and for each item its entries (`item_starts`): the places
where it stands (`places`) and the rows these lie in (`rows`). Only the items of a range may have entries: the first one
of the range then starts at 0, and those before it below 0. Items are numbered by rising support, so that what stands
after an item in a row is hotter than it and each set is met once, at its rarest item. These arrays are the search's own
and always enter writable: the whole data and the projections made here pass through the same compiled loop.

A row is open until it is marked; rows of records that have a twin are marked from the start, as TWIN. Marks are only
ever added, and a marked row is no candidate any more but still counts as a holder: so threads may share the marks, and
neither their number nor their pace changes the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import first_not_below, sort

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPEN, UNIQUE, TWIN = 0, 1, 2
"""What a mark says of a row."""


class Layout(NamedTuple):
    """Rows of items, and for each item its places and the rows these lie in."""

    row_starts: NDArray[np.int64]
    items: NDArray[np.int32]
    item_starts: NDArray[np.int64]
    places: NDArray[np.int64]
    rows: NDArray[np.int64]


class Marks(NamedTuple):
    """The marks, and where the mark of each row stands: at its own number, or in a projection at that of the row it is from."""

    of: NDArray[np.uint8]
    records: NDArray[np.int64]


class Numbers(NamedTuple):
    """The new number of each item, -1 everywhere between two projections, and the items that have one, by number."""

    of: NDArray[np.int32]
    chosen: NDArray[np.int32]


class Costs(NamedTuple):
    """For each item the number of its rows, of what follows it in them, and of pairs of what follows it in open ones."""

    supports: NDArray[np.int64]
    pairs: NDArray[np.int64]
    triples: NDArray[np.int64]


@kernel
def count_costs(row_starts, items, marks, costs, control):
    """Count the costs, which are 0 before: at most these steps find the pairs and the triples with an item as the rarest."""
    for row in range(len(row_starts) - 1):
        if row & 0xFFFF == 0:
            if control[STOP] != 0:
                return
            control[DONE] = row
        for place in range(row_starts[row], row_starts[row + 1]):
            item = items[place]
            following = row_starts[row + 1] - place - 1
            costs.supports[item] += 1
            costs.pairs[item] += following
            if marks[row] == OPEN:
                costs.triples[item] += following * (following - 1) // 2


@kernel
def list_rows(first_item, last_item, layout, control):
    """Write the entries of the items `first_item` to `last_item` - 1 by rising row; `item_starts` has their starts."""
    row_starts, items, item_starts, places, rows = layout
    following = item_starts[first_item:last_item].copy()
    for row in range(len(row_starts) - 1):
        if row & 0xFFFF == 0:
            if control[STOP] != 0:
                return
            control[DONE] = row
        end = row_starts[row + 1]
        place = first_not_below(items, row_starts[row], end, first_item)
        while place < end and items[place] < last_item:
            entry = following[items[place] - first_item]
            following[items[place] - first_item] += 1
            places[entry] = place
            rows[entry] = row
            place += 1


@kernel
def invert(n_rows, n_items, layout):
    """Fill `item_starts`, `places` and `rows` with the entries of each item, by rising row."""
    row_starts, items, item_starts, places, rows = layout
    item_starts[: n_items + 1] = 0
    for place in range(row_starts[n_rows]):
        item_starts[items[place] + 1] += 1
    for item in range(n_items):
        item_starts[item + 1] += item_starts[item]
    for row in range(n_rows):
        for place in range(row_starts[row], row_starts[row + 1]):
            entry = item_starts[items[place]]
            places[entry] = place
            rows[entry] = row
            item_starts[items[place]] += 1
    for item in range(n_items, 0, -1):
        item_starts[item] = item_starts[item - 1]
    item_starts[0] = 0


@kernel
def mark_sole_holders(first, last, layout, marks, seen, fresh, lacking, control):
    """Mark open rows among the entries `first` to `last` that hold, after their place, an item that no other one does.

    `seen[item]` is below `fresh` before its first sight, `fresh` after one, `fresh + 1` after more. `lacking` is the
    number of items that can come: once all of them were seen twice, no row is a sole holder.
    """
    row_starts, items, _item_starts, places, rows = layout
    marked, records = marks
    once = 0
    for entry in range(first, last):
        row = rows[entry]
        if marked[records[row]] != OPEN:
            continue
        if control[STOP] != 0:
            return
        for place in range(places[entry] + 1, row_starts[row + 1]):
            item = items[place]
            if seen[item] < fresh:
                seen[item] = fresh
                once += 1
            elif seen[item] == fresh:
                seen[item] = fresh + 1
                once -= 1
                lacking -= 1
        if lacking == 0:
            return
    if once == 0:
        return
    # A row that another thread marks between these two loops is counted twice, which hides sets of that row alone.
    for entry in range(first, last):
        row = rows[entry]
        if marked[records[row]] == OPEN:
            continue
        if control[STOP] != 0:
            return
        for place in range(places[entry] + 1, row_starts[row + 1]):
            if seen[items[place]] == fresh:
                seen[items[place]] = fresh + 1
                once -= 1
        if once == 0:
            return
    for entry in range(first, last):
        row = rows[entry]
        if marked[records[row]] != OPEN:
            continue
        for place in range(places[entry] + 1, row_starts[row + 1]):
            if seen[items[place]] == fresh:
                marked[records[row]] = UNIQUE
                break


@kernel
def search_pairs(first_item, last_item, layout, marks, _widths, costs, control):
    """Mark the rows that are sole holders of a pair whose rarer item is one of `first_item` to `last_item`."""
    item_starts = layout.item_starts
    n_items = len(item_starts) - 1
    n_rows = len(layout.row_starts) - 1
    seen = np.zeros(n_items, dtype=np.int64)
    fresh = 0
    for item in range(first_item, last_item):
        if control[STOP] != 0:
            return
        support = item_starts[item + 1] - item_starts[item]
        next_support = item_starts[min(item + 2, n_items)] - item_starts[item + 1]
        if support + next_support < n_rows + 2:  # else any two from here on meet in two rows at least
            fresh += 2
            lacking = n_items - item - 1
            mark_sole_holders(item_starts[item], item_starts[item + 1], layout, marks, seen, fresh, lacking, control)
        control[DONE] += costs[item]


@kernel
def project(item, layout, marks, numbers, part, part_records):
    """Write what follows `item` in its rows as rows of their own, the part; return how many items and rows there are.

    Only items of open rows are kept, since only they can make a triple that matters, numbered anew in the same order;
    rows left with less than two of them are left out.
    """
    row_starts, items, item_starts, places, rows = layout
    number, chosen = numbers
    part_starts, part_items = part.row_starts, part.items
    n_chosen = 0
    for entry in range(item_starts[item], item_starts[item + 1]):
        row = rows[entry]
        if marks.of[row] == OPEN and row_starts[row + 1] - places[entry] > 2:
            for place in range(places[entry] + 1, row_starts[row + 1]):
                if number[items[place]] < 0:
                    number[items[place]] = 0
                    chosen[n_chosen] = items[place]
                    n_chosen += 1
    sort(chosen, np.int64(0), n_chosen)
    for i in range(n_chosen):
        number[chosen[i]] = i
    n_rows = 0
    size = 0
    part_starts[0] = 0
    if n_chosen > 0:
        for entry in range(item_starts[item], item_starts[item + 1]):
            row = rows[entry]
            for place in range(places[entry] + 1, row_starts[row + 1]):
                if number[items[place]] >= 0:
                    part_items[size] = number[items[place]]
                    size += 1
            if size - part_starts[n_rows] < 2:
                size = part_starts[n_rows]
            else:
                part_records[n_rows] = row
                n_rows += 1
                part_starts[n_rows] = size
    for i in range(n_chosen):
        number[chosen[i]] = -1
    return n_chosen, n_rows


@kernel
def room_for(first_item, last_item, widths, item_starts):
    """Return room for the projection of each of these items and for the rows its rows are from."""
    n_items = len(item_starts) - 1
    width = 0
    height = 0
    for item in range(first_item, last_item):
        width = max(width, widths[item])
        height = max(height, item_starts[item + 1] - item_starts[item])
    part = Layout(
        row_starts=np.empty(height + 1, np.int64),
        items=np.empty(width, np.int32),
        item_starts=np.empty(n_items + 1, np.int64),
        places=np.empty(width, np.int64),
        rows=np.empty(width, np.int64),
    )
    return part, np.empty(height, np.int64)


@kernel
def search_triples(first_item, last_item, layout, marks, widths, costs, control):
    """Mark the rows that are sole holders of a triple whose rarest item is one of `first_item` to `last_item`.

    `widths[item]` is the number of occurrences that follow the item in all its rows: the room its projection needs.
    """
    n_items = len(layout.item_starts) - 1
    part, records = room_for(first_item, last_item, widths, layout.item_starts)
    part_marks, starts = Marks(marks.of, records), part.item_starts
    seen = np.zeros(n_items, dtype=np.int64)
    numbers = Numbers(np.full(n_items, -1, dtype=np.int32), np.empty(n_items, dtype=np.int32))
    least_after = np.empty(n_items + 1, dtype=np.int64)
    fresh = 0
    for item in range(first_item, last_item):
        if control[STOP] != 0:
            return
        n_chosen, n_rows = project(item, layout, marks, numbers, part, records)
        invert(n_rows, n_chosen, part)
        least_after[n_chosen] = n_rows + 2
        for other in range(n_chosen - 1, -1, -1):
            least_after[other] = min(least_after[other + 1], starts[other + 1] - starts[other])
        for other in range(n_chosen - 1):
            if control[STOP] != 0:
                return
            if starts[other + 1] - starts[other] + least_after[other + 1] < n_rows + 2:  # as in search_pairs
                fresh += 2
                lacking = n_chosen - other - 1
                mark_sole_holders(starts[other], starts[other + 1], part, part_marks, seen, fresh, lacking, control)
        control[DONE] += costs[item]
