# mypy: ignore-errors
# (Numba infers the types)
"""The loops of `profile`: which records hold a pair or a triple of items that no other record holds.

Layout: rows of items that rise (`row_starts`, `items`), and for each item its entries (`item_starts`): the places
where it stands (`places`) and the rows these lie in (`rows`). Items are numbered by rising support, so that what stands
after an item in a row is hotter than it and each set is met once, at its rarest item. These arrays are the search's own
and always enter writable: the whole data and the projections made here pass through the same compiled loop.

A row is open until it is marked; rows of records that have a twin are marked from the start, as TWIN. Marks are only
ever added, and a marked row is no candidate any more but still counts as a holder: so threads may share the marks, and
neither their number nor their pace changes the result.
"""

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

OPEN, UNIQUE, TWIN = 0, 1, 2
"""What a mark says of a row."""


@kernel
def invert(n_rows, n_items, row_starts, items, item_starts, places, rows):
    """Fill `item_starts`, `places` and `rows` with the entries of each item, by rising row."""
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
def mark_sole_holders(first, last, places, rows, row_starts, items, records, marks, seen, fresh, lacking, control):
    """Mark open rows among the entries `first` to `last` that hold, after their place, an item that no other one does.

    `seen[item]` is below `fresh` before its first sight, `fresh` after one, `fresh + 1` after more. `lacking` is the
    number of items that can come: once all of them were seen twice, no row is a sole holder.
    """
    once = 0
    for entry in range(first, last):
        row = rows[entry]
        if marks[records[row]] != OPEN:
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
        if marks[records[row]] == OPEN:
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
        if marks[records[row]] != OPEN:
            continue
        for place in range(places[entry] + 1, row_starts[row + 1]):
            if seen[items[place]] == fresh:
                marks[records[row]] = UNIQUE
                break


@kernel
def search_pairs(first_item, last_item, row_starts, items, item_starts, places, rows, records, marks, costs, control):
    """Mark the rows that are sole holders of a pair whose rarer item is one of `first_item` to `last_item`.

    `records[row]` is where the mark of a row stands: here, at its own number.
    """
    n_items = len(item_starts) - 1
    n_rows = len(row_starts) - 1
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
            mark_sole_holders(
                item_starts[item], item_starts[item + 1], places, rows, row_starts, items, records, marks,
                seen, fresh, lacking, control,
            )  # fmt: skip
        control[DONE] += costs[item]


@kernel
def project(
    item, row_starts, items, item_starts, places, rows, marks, number, chosen, part_starts, part_items, part_records
):
    """Write what follows `item` in its rows as rows of their own; return how many items and rows there are.

    Only items of open rows are kept, since only they can make a triple that matters, numbered anew in the same order;
    rows left with less than two of them are left out. `number` is -1 everywhere, before and after.
    """
    n_chosen = 0
    for entry in range(item_starts[item], item_starts[item + 1]):
        row = rows[entry]
        if marks[row] == OPEN and row_starts[row + 1] - places[entry] > 2:
            for place in range(places[entry] + 1, row_starts[row + 1]):
                if number[items[place]] < 0:
                    number[items[place]] = 0
                    chosen[n_chosen] = items[place]
                    n_chosen += 1
    chosen[:n_chosen].sort()
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
def search_triples(first_item, last_item, row_starts, items, item_starts, places, rows, marks, widths, costs, control):
    """Mark the rows that are sole holders of a triple whose rarest item is one of `first_item` to `last_item`.

    `widths[item]` is the number of occurrences that follow the item in all its rows: the room its projection needs.
    """
    n_items = len(item_starts) - 1
    width = 0
    height = 0
    for item in range(first_item, last_item):
        width = max(width, widths[item])
        height = max(height, item_starts[item + 1] - item_starts[item])
    seen = np.zeros(n_items, dtype=np.int64)
    number = np.full(n_items, -1, dtype=np.int32)
    chosen = np.empty(n_items, dtype=np.int32)
    least_after = np.empty(n_items + 1, dtype=np.int64)
    part_starts = np.empty(height + 1, dtype=np.int64)
    part_records = np.empty(height, dtype=np.int64)
    part_items = np.empty(width, dtype=np.int32)
    part_item_starts = np.empty(n_items + 1, dtype=np.int64)
    part_places = np.empty(width, dtype=np.int64)
    part_rows = np.empty(width, dtype=np.int64)
    fresh = 0
    for item in range(first_item, last_item):
        if control[STOP] != 0:
            return
        n_chosen, n_rows = project(
            item, row_starts, items, item_starts, places, rows, marks,
            number, chosen, part_starts, part_items, part_records,
        )  # fmt: skip
        invert(n_rows, n_chosen, part_starts, part_items, part_item_starts, part_places, part_rows)
        least_after[n_chosen] = n_rows + 2
        for other in range(n_chosen - 1, -1, -1):
            least_after[other] = min(least_after[other + 1], part_item_starts[other + 1] - part_item_starts[other])
        for other in range(n_chosen - 1):
            if control[STOP] != 0:
                return
            support = part_item_starts[other + 1] - part_item_starts[other]
            if support + least_after[other + 1] < n_rows + 2:  # as in search_pairs
                fresh += 2
                mark_sole_holders(
                    part_item_starts[other], part_item_starts[other + 1], part_places, part_rows, part_starts,
                    part_items, part_records, marks, seen, fresh, n_chosen - other - 1, control,
                )  # fmt: skip
        control[DONE] += costs[item]
