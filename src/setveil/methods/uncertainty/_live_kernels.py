"""Loops over a table in which whole types of sensitive items are alive or dead: whether some type can be inferred, and what can be kept.

The table lists the distinct records: codes that rise, filled up at the end with a code that is never alive. Sensitive codes may be dead,
all others are alive. `lists` names for each code the rows that hold it, dead or not. A dead type is not taken out of its rows; where rows
of e are searched, what is dead in them is written over with e, which no rule for e looks at, and put back afterwards.

Killing a type changes no support of a set without it. So a smaller choice of living types has only rules that a larger one has too.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.uncertainty._sorting_kernels import sort_places
from setveil.mining._rule_search_kernels import ALL, COMPLETE, SIZE, Records, records_with, search, signatures

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAFE, BETRAYED, UNDECIDED = np.int64(0), np.int64(1), np.int64(2)
ZERO, NONE = np.int64(0), np.int64(-1)


class Table(NamedTuple):
    """Rows of codes that may be written over, and which codes are sensitive and alive."""

    records: Records
    is_sensitive: NDArray[np.bool_]
    alive: NDArray[np.bool_]


class Parts(NamedTuple):
    """For each row one with the same non-sensitive items, and for such a row how many records have these; `held` is 0 everywhere."""

    of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    held: NDArray[np.int64]


class Split(NamedTuple):
    """The leaves of each row, and the codes that replace a node, one for each leaf under it from `first` on."""

    leaf_offsets: NDArray[np.int64]
    leaves: NDArray[np.int64]
    below: NDArray[np.int64]
    first: int


@kernel
def rows_of(code, table):
    """Return a copy of the rows that hold a code."""
    first = table.records.starts[code]
    rows = np.empty(table.records.starts[code + 1] - first, np.int64)
    for k in range(len(rows)):
        rows[k] = table.records.lists[first + k]
    return rows


@kernel
def uncover(e, row, saved, at, table):
    """Save a row that holds e and leave only what is alive in it, e as often as there is room; return how many others it holds."""
    items, alive = table.records.items, table.alive
    first, end = table.records.offsets[row], table.records.offsets[row + 1]
    others = 0
    for place in range(first, end):
        saved[at + place - first] = items[place]
        others += items[place] != e and alive[items[place]]
    to = first
    for k in range(at, at + end - first):
        if saved[k] < e and alive[saved[k]]:
            items[to] = saved[k]
            to += 1
    for _ in range(end - first - others):
        items[to] = e
        to += 1
    for k in range(at, at + end - first):
        if saved[k] > e and alive[saved[k]]:
            items[to] = saved[k]
            to += 1
    return others


@kernel
def restore(rows, saved, table):
    """Write saved rows back."""
    offsets, items = table.records.offsets, table.records.items
    at = 0
    for k in range(len(rows)):
        for place in range(offsets[rows[k]], offsets[rows[k] + 1]):
            items[place] = saved[at]
            at += 1


@kernel
def total_length(rows, offsets):
    """Return how many codes some rows have, and how many the longest has."""
    total = ZERO
    longest = ZERO
    for k in range(len(rows)):
        length = offsets[rows[k] + 1] - offsets[rows[k]]
        total += length
        longest = max(longest, length)
    return total, longest


@kernel
def alike(e, a, b, offsets, items):
    """Tell whether two uncovered rows hold the same others."""
    i, j = offsets[a], offsets[b]
    end_i, end_j = offsets[a + 1], offsets[b + 1]
    while True:
        while i < end_i and items[i] == e:
            i += 1
        while j < end_j and items[j] == e:
            j += 1
        if i == end_i or j == end_j:
            return i == end_i and j == end_j
        if items[i] != items[j]:
            return False
        i += 1
        j += 1


@kernel
def betrayed(e, rows, table, bounds, room, control):
    """Return whether some living items betray e to more than num/den, looking at sets that only these rows of e can share.

    First the largest rules, all others of a row, each once; then the closed sets among them, by at most `budget` steps. `items` is as it
    was when this returns.
    """
    offsets = table.records.offsets
    size, longest = total_length(rows, offsets)
    saved = np.empty(size, np.int32)
    kept = np.empty(len(rows), np.int64)
    n_kept = ZERO
    at = ZERO
    for k in range(len(rows)):
        if uncover(e, rows[k], saved, at, table) > 0:
            kept[n_kept] = rows[k]
            n_kept += 1
        at += offsets[rows[k] + 1] - offsets[rows[k]]
    status = largest_rules(e, kept, n_kept, longest, table, bounds, room.slack, control)
    if status == SAFE and n_kept > 0:
        by_slack = np.empty(n_kept, np.int64)
        places = np.empty(n_kept, np.int64)
        ranked = np.empty(n_kept, np.int64)
        for k in range(n_kept):
            by_slack[k] = room.slack[kept[k]]
        sort_places(by_slack, n_kept, places)
        for k in range(n_kept):
            ranked[k] = kept[places[k]]
        search(e, ranked, ZERO, table.records, bounds, room, control)
        if room.best[SIZE] > 0:
            status = BETRAYED
        elif room.best[COMPLETE] == 0:
            status = UNDECIDED
    restore(rows, saved, table)
    return status


@kernel
def largest_rules(e, kept, n_kept, longest, table, bounds, slack, control):
    """Return whether all others of some uncovered row betray e; write for each row how many records hold these others and not e."""
    records = table.records
    offsets, items = records.offsets, records.items
    mask = 15
    while mask < 2 * n_kept:
        mask = 2 * mask + 1
    seen = np.full(mask + 1, -1, np.int64)
    q = np.empty(longest + 1, np.int64)
    for k in range(n_kept):
        if control[STOP]:
            return UNDECIDED
        row = kept[k]
        others = ZERO
        key = ZERO
        for place in range(offsets[row], offsets[row + 1]):
            if items[place] != e:
                q[others] = items[place]
                key = (key * 1_000_003 + q[others]) & 0xFFFFFFFFFF
                others += 1
        slot = (key ^ (key >> 17)) & mask
        while seen[slot] >= 0 and not alike(e, seen[slot], row, offsets, items):
            slot = (slot + 1) & mask
        if seen[slot] >= 0:
            slack[row] = slack[seen[slot]]
            continue
        seen[slot] = row
        held = records.supports[q[0]]
        if others > 1:
            held, _steps = records_with(q, others, ALL, records)
        to = others
        while to > 0 and q[to - 1] > e:
            q[to] = q[to - 1]
            to -= 1
        q[to] = e
        both, _steps = records_with(q, others + 1, ALL, records)
        slack[row] = held - both
        if both * (bounds.den - bounds.num) - bounds.num * slack[row] > 0:
            return BETRAYED
    return SAFE


@kernel
def rows_by_type(rows, but, table, tally):
    """Return the living sensitive types of these rows but one, and for each the rows that hold it. `tally` is 0 everywhere."""
    offsets, items, sensitive, alive = table.records.offsets, table.records.items, table.is_sensitive, table.alive
    number = 0
    size = 0
    for k in range(len(rows)):
        for place in range(offsets[rows[k]], offsets[rows[k] + 1]):
            item = items[place]
            if sensitive[item] and alive[item] and item != but:
                number += tally[item] == 0
                tally[item] += 1
                size += 1
    codes = np.empty(number, np.int64)
    starts = np.zeros(number + 1, np.int64)
    grouped = np.empty(size, np.int64)
    number = 0
    for k in range(len(rows)):
        for place in range(offsets[rows[k]], offsets[rows[k] + 1]):
            item = items[place]
            if sensitive[item] and alive[item] and item != but:
                if tally[item] > 0:  # its first row: from here on its negative place is kept
                    codes[number] = item
                    starts[number + 1] = starts[number] + tally[item]
                    tally[item] = -starts[number] - 1
                    number += 1
                grouped[-tally[item] - 1] = rows[k]
                tally[item] -= 1
    for k in range(number):
        tally[codes[k]] = 0
    return codes, starts, grouped


@kernel
def bring_back(order, allowed, table, bounds, room, control):
    """Let dead types live again, in this order, each if it is allowed and everything stays safe by rules that could be searched."""
    alive = table.alive
    for k in range(len(order)):
        f = order[k]
        if control[STOP]:
            return
        if allowed[f] and not alive[f]:
            alive[f] = True
            rows = rows_of(f, table)
            # Rules for f; then new rules for another type g know f: what only rows with both can share.
            codes, starts, grouped = rows_by_type(rows, f, table, room.count)
            e = f
            g = ZERO
            status = SAFE
            while status == SAFE and g <= len(codes):
                status = betrayed(e, rows, table, bounds, room, control)
                if g < len(codes):
                    e = codes[g]
                    rows = grouped[starts[g] : starts[g + 1]]
                g += 1
            alive[f] = status == SAFE
        control[DONE] = k + 1


@kernel
def number_parts(rows, table, parts):
    """Find for each row one with the same of what is not sensitive, and how many records have that."""
    offsets, items, sensitive = table.records.offsets, table.records.items, table.is_sensitive
    pad = len(sensitive) - 1
    mask = 15
    while mask < 2 * len(rows):
        mask = 2 * mask + 1
    seen = np.full(mask + 1, -1, np.int64)
    for k in range(len(rows)):
        row = rows[k]
        key = ZERO
        for place in range(offsets[row], offsets[row + 1]):
            if not sensitive[items[place]] and items[place] != pad:
                key = (key * 1_000_003 + items[place]) & 0xFFFFFFFFFF
        slot = (key ^ (key >> 17)) & mask
        while seen[slot] >= 0 and not same_part(seen[slot], row, pad, sensitive, offsets, items):
            slot = (slot + 1) & mask
        if seen[slot] < 0:
            seen[slot] = row
            parts.sizes[row] = 0
        parts.of[row] = seen[slot]
        parts.sizes[seen[slot]] += table.records.weights[row]


@kernel
def same_part(a, b, pad, sensitive, offsets, items):
    """Tell whether two rows hold the same of what is not sensitive."""
    i, j = offsets[a], offsets[b]
    end_i, end_j = offsets[a + 1], offsets[b + 1]
    while True:
        while i < end_i and (sensitive[items[i]] or items[i] == pad):
            i += 1
        while j < end_j and (sensitive[items[j]] or items[j] == pad):
            j += 1
        if i == end_i or j == end_j:
            return i == end_i and j == end_j
        if items[i] != items[j]:
            return False
        i += 1
        j += 1


@kernel
def betrayed_by_part(rows, weights, parts, num, den):
    """Return whether of the records with one part more than num/den are among these rows."""
    part_of, held = parts.of, parts.held
    found = False
    for k in range(len(rows)):
        held[part_of[rows[k]]] += weights[rows[k]]
    for k in range(len(rows)):
        part = part_of[rows[k]]
        found |= den * held[part] > num * parts.sizes[part]
    for k in range(len(rows)):
        held[part_of[rows[k]]] = 0
    return found


@kernel
def write_below(u, rows, split, table):
    """Write for node u of these rows the nodes of `below` that they have leaves of; return what the rows held."""
    offsets, items, leaf_offsets, leaves, below = (
        table.records.offsets,
        table.records.items,
        split.leaf_offsets,
        split.leaves,
        split.below,
    )
    pad = len(table.alive) - 1
    size, _longest = total_length(rows, offsets)
    saved = np.empty(size, np.int32)
    at = 0
    for k in range(len(rows)):
        row = rows[k]
        first = at
        to = offsets[row]
        for place in range(offsets[row], offsets[row + 1]):
            saved[at] = items[place]
            at += 1
        for s in range(first, at):
            if saved[s] == pad:
                break
            if saved[s] != u:
                items[to] = saved[s]
                to += 1
                continue
            last = NONE
            for place in range(leaf_offsets[row], leaf_offsets[row + 1]):
                leaf = leaves[place] - split.first
                if 0 <= leaf < len(below) and below[leaf] != last:
                    last = below[leaf]
                    items[to] = last
                    to += 1
        signatures(row, row + 1, offsets, items, table.records.words)
    return saved


@kernel
def specialise(u, most_loss, split, parts, table, bounds, room, control):
    """Write the nodes of `below`, one for each leaf under u, for node u; kill what is betrayed then, rarest first, if not too much.

    Whole records count if there are parts. Return the records that lose a sensitive item, counted for each, or -1 where there were more
    than `most_loss` or the loop was stopped: then everything is as it was.
    """
    alive, supports = table.alive, table.records.supports
    rows = rows_of(u, table)
    saved = write_below(u, rows, split, table)
    whole = len(parts.of) > 0
    if whole:
        number_parts(rows, table, parts)
    codes, starts, grouped = rows_by_type(rows, NONE, table, room.count)
    rarity = np.empty(len(codes), np.int64)
    order = np.empty(len(codes), np.int64)
    for k in range(len(codes)):
        rarity[k] = supports[codes[k]] * len(alive) + codes[k]
    sort_places(rarity, len(codes), order)
    loss = ZERO
    refused = False
    for k in range(len(order)):
        e = codes[order[k]]
        of_e = grouped[starts[order[k]] : starts[order[k] + 1]]
        unsafe = whole and betrayed_by_part(of_e, table.records.weights, parts, bounds.num, bounds.den)
        if not unsafe:
            unsafe = betrayed(e, of_e, table, bounds, room, control) != SAFE
        if unsafe:
            alive[e] = False
            loss += supports[e]
        if loss > most_loss or control[STOP]:
            refused = True
            break
    if refused:
        for k in range(len(codes)):
            alive[codes[k]] = True
        restore(rows, saved, table)
        for k in range(len(rows)):
            signatures(rows[k], rows[k] + 1, table.records.offsets, table.records.items, table.records.words)
        return NONE
    return loss
