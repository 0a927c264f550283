"""Loops that put records into clusters by their most frequent items."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled

if TYPE_CHECKING:
    from numpy.typing import NDArray

GONE, REMAINS, MARKED = np.int8(0), np.int8(1), np.int8(2)
"""States of a row of a part."""


class Records(NamedTuple):
    """Records: record r holds the items `items[offsets[r]:offsets[r + 1]]`, which rise."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]


class Holders(NamedTuple):
    """The records of each item: those of item i are `records[starts[i]:starts[i + 1]]`."""

    starts: NDArray[np.int64]
    records: NDArray[np.int64]


class Limits(NamedTuple):
    """How many records at least must hold an item that splits them, and how many a cluster should have at most."""

    least: int
    delta: int


class Parts(NamedTuple):
    """Records that are still to be split, in parts: part 0 began with all records, each other one with rows of the part before it.

    A part has rows of its own, numbered through all parts, so that the rows of a small part are close together in memory. Row r stands for
    the record `records[r]` and holds the items from `borders[r]` to before `borders[r + 1]` in `Entries`.
    """

    low: NDArray[np.int64]
    """By part: where the records that remain in it begin in the order of clusters."""
    size: NDArray[np.int64]
    """By part: how many rows remain in it."""
    first_row: NDArray[np.int64]
    """By part: its first row, and behind the last part where its rows end."""
    listed: NDArray[np.int64]
    """By part: how many of its rows `waiting` lists."""
    used: NDArray[np.int64]
    """By part: how many items `found` lists."""
    left: NDArray[np.int64]
    """By part: how many of these, the first ones, may still split it."""
    found: NDArray[np.int32]
    """By part and place: the items of its rows."""
    counts: NDArray[np.int32]
    """By part and item: how many rows that remain hold it; 0 where the part has no rows."""
    begins: NDArray[np.int64]
    """By part and item: where the rows that held it at first begin in `Entries`."""
    ends: NDArray[np.int64]
    """By part and item: where these rows end."""
    records: NDArray[np.int64]
    borders: NDArray[np.int64]
    state: NDArray[np.int8]
    """By row: whether it remains in its part."""
    waiting: NDArray[np.int64]
    """From the first row of a part on: the rows that remain in order, among some that are gone."""
    moved: NDArray[np.int64]
    """Room: the rows that leave a part."""


class Entries(NamedTuple):
    """The items of each row of each part, and in the same places the rows of each item of each part."""

    items: NDArray[np.int32]
    rows: NDArray[np.int64]


@kernel
def split_by_frequency(data, supports, limits, parts, entries, rows, is_end, control):
    """Order `rows` so that clusters are together, and mark the last place of each.

    Records with the most frequent item go first, the others after them, and each side is split again until it has at most `delta`
    records. No part is split by an item that fewer than `least` of its records hold, nor by one that all of them hold: that is what
    ignoring the items of earlier splits amounts to.

    The smaller side becomes a part of its own, which is split to its end before the other side, which remains where it is. So a record is
    copied at most log2(records) times. `counts` and `size` of a part are always those of the rows that remain in it.
    """
    _load(data, supports, limits, parts, entries, rows)
    depth, done = np.int64(0), np.int64(0)
    while depth >= 0:
        if control[STOP]:
            return
        item = _splitting_item(depth, limits, parts)
        if item < 0:
            done += parts.size[depth]
            control[DONE] = done
            _close(depth, limits, parts, rows, is_end)
            depth -= 1
            continue
        low, size = _move_smaller_side(depth, item, parts, entries)
        _count_moved(depth, size, parts, entries)
        if size <= limits.delta:
            _write_cluster(depth, low, size, parts, rows)
            is_end[low + size - 1] = True
            done += size
            continue
        depth += 1
        parts.low[depth], parts.size[depth] = low, size
        filled = parts.borders[parts.first_row[depth]]
        needed = _lay_out(depth, limits, parts)
        while needed > len(entries.items):
            entries = Entries(doubled(entries.items, filled), doubled(entries.rows, filled))
        _copy_moved(depth, parts, entries)


@kernel
def _load(data, supports, limits, parts, entries, rows):
    """Make part 0 of all records, in the order of `rows`."""
    parts.size[0] = len(rows)
    parts.used[0] = len(supports)
    found, counts = parts.found[0], parts.counts[0]
    for item in range(len(supports)):
        found[item] = item
        counts[item] = supports[item]
    _lay_out(np.int64(0), limits, parts)
    offsets, codes = data.offsets, data.items
    ends, records, borders = parts.ends[0], parts.records, parts.borders
    state, waiting = parts.state, parts.waiting
    items, holders = entries.items, entries.rows
    filled = 0
    for row in range(len(rows)):
        records[row] = rows[row]
        state[row], waiting[row] = REMAINS, row
        for at in range(offsets[rows[row]], offsets[rows[row] + 1]):
            item = codes[at]
            if counts[item] > 0:
                items[filled] = item
                filled += 1
                holders[ends[item]] = row
                ends[item] += 1
        borders[row + 1] = filled
    parts.first_row[1] = parts.listed[0] = len(rows)


@kernel
def _lay_out(depth, limits, parts):
    """Drop the items that cannot split a new part, give the others a place for their rows, and return where these places end."""
    found, counts, begins, ends = parts.found[depth], parts.counts[depth], parts.begins[depth], parts.ends[depth]
    size = parts.size[depth]
    place = parts.borders[parts.first_row[depth]]
    used = 0
    for at in range(parts.used[depth]):
        item = found[at]
        if limits.least <= counts[item] < size:
            found[used] = item
            used += 1
            begins[item] = ends[item] = place
            place += counts[item]
        else:
            counts[item] = 0
    parts.used[depth] = parts.left[depth] = used
    return place


@kernel
def _splitting_item(depth, limits, parts):
    """Return the most frequent item of a part that may split it, the first one of several; -1 if there is none, or nothing to split.

    Counts only fall, and an item that all rows hold is in all rows that remain: items that cannot split the part never can later on.
    """
    found, counts, size = parts.found[depth], parts.counts[depth], parts.size[depth]
    if size <= limits.delta:
        return np.int64(-1)
    best, most = np.int64(-1), 0
    at, left = 0, parts.left[depth]
    while at < left:
        item = found[at]
        count = counts[item]
        if limits.least <= count < size:
            if count > most or (count == most and item < best):
                best, most = np.int64(item), count
            at += 1
        else:
            left -= 1
            found[at], found[left] = found[left], item
    parts.left[depth] = left
    return best


@kernel
def _move_smaller_side(depth, item, parts, entries):
    """Take the rows with an item out of a part, or those without it if they are fewer; return where they belong, and their number."""
    state, moved, waiting, holders = parts.state, parts.moved, parts.waiting, entries.rows
    low, count = parts.low[depth], np.int64(parts.counts[depth, item])
    size = np.int64(0)
    if 2 * count <= parts.size[depth]:
        for place in range(parts.begins[depth, item], parts.ends[depth, item]):
            row = holders[place]
            if state[row] == REMAINS:
                state[row] = GONE
                moved[size] = row
                size += 1
        parts.low[depth] += count
    else:
        for place in range(parts.begins[depth, item], parts.ends[depth, item]):
            row = holders[place]
            if state[row] == REMAINS:
                state[row] = MARKED
        first, kept = parts.first_row[depth], 0
        for place in range(first, first + parts.listed[depth]):
            row = waiting[place]
            if state[row] == MARKED:
                state[row] = REMAINS
                waiting[first + kept] = row
                kept += 1
            elif state[row] == REMAINS:
                state[row] = GONE
                moved[size] = row
                size += 1
        parts.listed[depth] = kept
        low += count
    parts.size[depth] -= size
    return low, size


@kernel
def _count_moved(depth, size, parts, entries):
    """Count the items of the moved rows in a new part, and no longer in the one that they leave."""
    before, after, found = parts.counts[depth], parts.counts[depth + 1], parts.found[depth + 1]
    moved, borders, items = parts.moved, parts.borders, entries.items
    used = 0
    for place in range(size):
        row = moved[place]
        for at in range(borders[row], borders[row + 1]):
            item = items[at]
            before[item] -= 1
            if after[item] == 0:
                found[used] = item
                used += 1
            after[item] += 1
    parts.used[depth + 1] = used


@kernel
def _copy_moved(depth, parts, entries):
    """Copy the moved rows to a new part, with the items that may split it."""
    counts, ends, state, waiting = parts.counts[depth], parts.ends[depth], parts.state, parts.waiting
    moved, records, borders, items, holders = parts.moved, parts.records, parts.borders, entries.items, entries.rows
    to = parts.first_row[depth]
    filled = borders[to]
    for place in range(parts.size[depth]):
        row = moved[place]
        records[to] = records[row]
        state[to], waiting[to] = REMAINS, to
        for at in range(borders[row], borders[row + 1]):
            item = items[at]
            if counts[item] > 0:
                items[filled] = item
                filled += 1
                holders[ends[item]] = to
                ends[item] += 1
        to += 1
        borders[to] = filled
    parts.first_row[depth + 1] = to
    parts.listed[depth] = parts.size[depth]


@kernel
def _write_cluster(depth, low, size, parts, rows):
    """Write the records of the moved rows where they belong; they are no part of their own, so their counts are taken back."""
    moved, records, found, counts = parts.moved, parts.records, parts.found[depth + 1], parts.counts[depth + 1]
    for place in range(size):
        rows[low + place] = records[moved[place]]
    for at in range(parts.used[depth + 1]):
        counts[found[at]] = 0


@kernel
def _close(depth, limits, parts, rows, is_end):
    """Write the records that remain in a part where they belong, as one cluster or several even ones, and take its counts back."""
    waiting, state, records = parts.waiting, parts.state, parts.records
    found, counts = parts.found[depth], parts.counts[depth]
    place = parts.low[depth]
    first = parts.first_row[depth]
    for at in range(first, first + parts.listed[depth]):
        row = waiting[at]
        if state[row] == REMAINS:
            rows[place] = records[row]
            place += 1
    _mark_even_ends(parts.low[depth], place, limits, is_end)
    for at in range(parts.used[depth]):
        counts[found[at]] = 0


@kernel
def _mark_even_ends(first, end, limits, is_end):
    """Mark the end of one cluster, or of several of about the same size if there are more than `delta` records; none of no records."""
    size = end - first
    clusters = max(min(-(-size // limits.delta), size // limits.least), min(size, 1))
    for cluster in range(1, clusters + 1):
        is_end[first + size * cluster // clusters - 1] = True


@kernel
def list_holders(data, rows, ends, holders):
    """List the records of each item, in the order of `rows`; `ends` holds where the list of each begins, and then where it ends."""
    offsets, items = data.offsets, data.items
    for place in range(len(rows)):
        record = rows[place]
        for at in range(offsets[record], offsets[record + 1]):
            holders[ends[items[at]]] = record
            ends[items[at]] += 1


@kernel
def split_flat(data, holders, limits, counts, rows, is_end, control):
    """Do the same without recursion: repeatedly take at most `delta` records with the most frequent item of those left.

    `rows` is at first the order in which records are taken, and at the end the order of clusters. `counts`, the number of records that
    hold each item, is used up: it is always the number among the records left.
    """
    offsets, items, starts, records = data.offsets, data.items, holders.starts, holders.records
    taken = np.zeros(len(rows), np.bool_)
    order = np.empty(len(rows), np.int64)
    done = np.int64(0)
    while done < len(rows):
        control[DONE] = done
        if control[STOP]:
            return
        best = 0
        for item in range(len(counts)):
            if counts[item] > counts[best]:
                best = item
        if len(counts) == 0 or counts[best] < limits.least:
            break
        first = done
        for place in range(starts[best], starts[best + 1]):
            record = records[place]
            if taken[record]:
                continue
            taken[record] = True
            order[done] = record
            done += 1
            for at in range(offsets[record], offsets[record + 1]):
                counts[items[at]] -= 1
            if done - first == limits.delta:
                break
        is_end[done - 1] = True
    first = done
    for place in range(len(rows)):
        if not taken[rows[place]]:
            order[done] = rows[place]
            done += 1
    _mark_even_ends(first, done, limits, is_end)
    for place in range(len(rows)):
        rows[place] = order[place]


@kernel
def joined(ends, k):
    """Let each cluster below k records join the one before it, and the first ones the next; return how many clusters there are."""
    kept, begin = 0, 0
    for cluster in range(len(ends)):
        size = ends[cluster] - begin
        begin = ends[cluster]
        if kept > 0 and (size < k or ends[0] < k):
            ends[kept - 1] = begin  # the first cluster may still be below k: then it takes the next
        else:
            ends[kept] = begin
            kept += 1
    return kept
