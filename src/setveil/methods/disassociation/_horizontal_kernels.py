"""Loops that put records into clusters by their most frequent items."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, doubled_rows, first_not_below


@kernel
def list_holders(offsets, items, rows, ends, holders):
    """List the records of each item, in the order of `rows`; `ends` tells where the list of each begins, and then where it ends."""
    for place in range(len(rows)):
        record = rows[place]
        for at in range(offsets[record], offsets[record + 1]):
            holders[ends[items[at]]] = record
            ends[items[at]] += 1


@kernel
def split_by_frequency(offsets, items, starts, holders, width, k, delta, safe, rows, ends, control):
    """Order `rows` so that clusters stand together, and tell where each ends; return how many there are.

    Records with the most frequent item go first, the others after them, and each side is split again until it has at most `delta`
    records. An item that is in all records of a part cannot split it: that is what ignoring the items split on before comes to.
    `starts` and `holders` tell the records of each item. With `safe` no part is split by an item that fewer than k of its records hold.
    """
    clusters, depth = 0, 0
    room = 8
    low, high, used = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    counts = np.zeros((room, width), np.int32)
    seen = np.empty((room, width), np.int32)
    held = np.zeros(len(rows), np.bool_)
    aside = np.empty(len(rows), np.int64)
    low[0], high[0] = 0, len(rows)
    used[0] = _count(offsets, items, rows, 0, len(rows), counts[0], seen[0])
    while depth >= 0:
        if control[STOP]:
            return clusters
        here, end = low[depth], high[depth]
        size = end - here
        best, most = -1, 0
        if size > delta:
            left = 0
            for place in range(used[depth]):
                item = seen[depth, place]
                count = counts[depth, item]
                if count == 0:
                    continue
                seen[depth, left] = item
                left += 1
                if count < size and (count > most or (count == most and item < best)):
                    best, most = item, count
            used[depth] = left
        if best < 0 or (safe and most < k):
            if size > 0:
                clusters = _emit_evenly(here, end, k, delta, safe, ends, clusters)
                control[DONE] = end
            for place in range(used[depth]):
                counts[depth, seen[depth, place]] = 0
            depth -= 1
            continue
        _mark(offsets, items, starts, holders, rows, here, end, best, held, True)
        _holders_first(rows, here, end, held, aside)
        _mark(offsets, items, starts, holders, rows, here, end, best, held, False)
        if depth + 1 == room:
            low, high, used = doubled(low, room), doubled(high, room), doubled(used, room)
            counts, seen = doubled_rows(counts), doubled_rows(seen)
            room *= 2
        below = depth + 1
        low[below], high[below] = here, here + most
        used[below] = _count(offsets, items, rows, here, here + most, counts[below], seen[below])
        for place in range(used[below]):
            item = seen[below, place]
            counts[depth, item] -= counts[below, item]
        low[depth] = here + most
        depth = below
    return clusters


@kernel
def split_flat(offsets, items, starts, holders, k, delta, safe, counts, rows, ends, control):
    """Do the same in one go: take again and again at most `delta` records with the most frequent item of those left.

    `rows` comes in the order in which records are taken and leaves in the order of clusters; `counts` tells how many records hold each
    item, and is used up.
    """
    clusters, done = 0, 0
    number = np.empty(len(rows), np.int64)
    for place in range(len(rows)):
        number[rows[place]] = place
    taken = np.zeros(len(rows), np.bool_)
    order = np.empty(len(rows), np.int64)
    while done < len(rows):
        control[DONE] = done
        if control[STOP]:
            return clusters
        best = 0
        for item in range(len(counts)):
            if counts[item] > counts[best]:
                best = item
        if len(counts) == 0 or counts[best] == 0 or (safe and counts[best] < k):
            break
        first = done
        for place in range(starts[best], starts[best + 1]):
            record = holders[place]
            if taken[record]:
                continue
            taken[record] = True
            order[done] = record
            done += 1
            for at in range(offsets[record], offsets[record + 1]):
                counts[items[at]] -= 1
            if done - first == delta:
                break
        ends[clusters] = done
        clusters += 1
    first = done
    for place in range(len(rows)):
        if not taken[rows[place]]:
            order[done] = rows[place]
            done += 1
    if done > first:
        clusters = _emit_evenly(first, done, k, delta, safe, ends, clusters)
    for place in range(len(rows)):
        rows[place] = order[place]
    return clusters


@kernel
def joined(ends, clusters, k):
    """Let each cluster below k records join the one before it, and the first ones the next; return how many clusters there are."""
    kept, begin = 0, 0
    for cluster in range(clusters):
        size = ends[cluster] - begin
        begin = ends[cluster]
        if kept > 0 and (size < k or ends[0] < k):
            ends[kept - 1] = begin  # the first cluster may still be below k: then it takes the next
        else:
            ends[kept] = begin
            kept += 1
    return kept


@kernel
def _count(offsets, items, rows, here, end, counts, seen):
    """Count the items of some records; note which occur, and return how many these are."""
    used = 0
    for place in range(here, end):
        for at in range(offsets[rows[place]], offsets[rows[place] + 1]):
            item = items[at]
            if counts[item] == 0:
                seen[used] = item
                used += 1
            counts[item] += 1
    return used


@kernel
def _mark(offsets, items, starts, holders, rows, here, end, item, held, value):
    """Note of records that they hold an item, or take the note back: by its list, or record by record where these are fewer."""
    if starts[item + 1] - starts[item] < 8 * (end - here):
        for place in range(starts[item], starts[item + 1]):
            held[holders[place]] = value
        return
    for place in range(here, end):
        record = rows[place]
        last = offsets[record + 1]
        at = first_not_below(items, offsets[record], last, item)
        held[record] = value and at < last and items[at] == item


@kernel
def _holders_first(rows, here, end, held, aside):
    """Move the records that are marked before the others; both keep their order."""
    kept, rest = here, 0
    for place in range(here, end):
        record = rows[place]
        if held[record]:
            rows[kept] = record
            kept += 1
        else:
            aside[rest] = record
            rest += 1
    for place in range(rest):
        rows[kept + place] = aside[place]


@kernel
def _emit_evenly(here, end, k, delta, safe, ends, clusters):
    """Note one cluster, or several of about the same size where there are more than `delta` records."""
    size = end - here
    parts = -(-size // delta)
    if safe and parts > size // k:
        parts = size // k
    parts = max(parts, 1)
    for part in range(1, parts + 1):
        ends[clusters] = here + size * part // parts
        clusters += 1
    return clusters
