"""Loops of partial suppression: records lose items until no record's own items betray a sensitive one.

A rule q → e is *unsafe* if p of the s records with q hold e too and p den > s num. Everything about safety is in whole numbers; fractions
only rank the items that could go.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.uncertainty._occurrences_kernels import LEFT, REMOVED, RULES, SERIAL, holders, remove_some
from setveil.methods.uncertainty._sorting_kernels import sort_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

NONE = np.int64(-1)


class Aim(NamedTuple):
    """The highest confidence num/den, and whether supports should keep their proportions."""

    num: int
    den: int
    by_distribution: bool


class Unsafe(NamedTuple):
    """Rules to make safe: the known items of each, sorted, and the sensitive one."""

    offsets: NDArray[np.int64]
    known: NDArray[np.int64]
    inferred: NDArray[np.int64]


class Room(NamedTuple):
    """Scratch, left as it was found: -1 in `ranks`, 0 in `tally`."""

    rows: NDArray[np.int64]
    ranks: NDArray[np.int64]
    tally: NDArray[np.int64]
    keys: NDArray[np.int64]
    q: NDArray[np.int64]
    seen: NDArray[np.int64]
    heads: NDArray[np.int64]
    links: NDArray[np.int64]
    is_kept: NDArray[np.bool_]
    touched: NDArray[np.int64]


@kernel
def missing_from(row, other, offsets, now):
    """Return which item of a record another lacks, by its number in the record: -1 for none, -2 for more than one."""
    held, lengths = now.held, now.lengths
    found = NONE
    place = offsets[other]
    end = place + lengths[other]
    for k in range(lengths[row]):
        item = held[offsets[row] + k]
        while place < end and held[place] < item:
            place += 1
        if place == end or held[place] != item:
            if found >= 0:
                return np.int64(-2)
            found = k
    return found


@kernel
def betrayed(row, aim, original, now, room):
    """Return the first sensitive item that all other items of a record betray, or -1."""
    held, lists, supports, words = now.held, now.lists, now.supports, now.words
    keys, q, num, den = room.keys, room.q, aim.num, aim.den
    first, size = original.offsets[row], now.lengths[row]
    secrets = 0
    for k in range(size):
        secrets += original.is_sensitive[held[first + k]]
    if size < 2 or secrets == 0:
        return NONE
    rarest = np.int64(0)
    for k in range(size):
        keys[k] = 0
        if supports[held[first + k]] < supports[held[first + rarest]]:
            rarest = k
    # A record that lacks only one item, and not the rarest, is in the list of the rarest.
    both = np.int64(0)
    word = words[row]
    start = original.starts[held[first + rarest]]
    for at in range(start, start + supports[held[first + rarest]]):
        other = np.int64(lists[at])
        lacks = word & ~words[other]
        if now.lengths[other] < size - 1 or (lacks != 0 and (lacks & (lacks - np.uint64(1))) != 0):
            continue
        k = missing_from(row, other, original.offsets, now)
        if k == -1:
            both += 1
        elif k >= 0:
            keys[k] += 1
    for k in range(size):
        if not original.is_sensitive[held[first + k]]:
            continue
        if k != rarest:
            unsafe = both * den > (both + keys[k]) * num
        else:
            number = np.int64(0)
            for other in range(size):
                if other != k:
                    q[number] = held[first + other]
                    number += 1
            unsafe = fewer_hold(q, number, both, aim, room.rows, original, now)
        if unsafe:
            return np.int64(held[first + k])
    return NONE


@kernel
def fewer_hold(q, size, both, aim, rows, original, now):
    """Return whether so few records hold q that `both` among them are too many; q is sorted and not empty."""
    if both == 0 or aim.num == 0:
        return both > 0
    enough = (both * aim.den + aim.num - 1) // aim.num
    if size == 1:
        return now.supports[q[0]] < enough
    return holders(q, size, enough, rows, original, now) < enough


@kernel
def shrink(size, e, aim, original, now, room):
    """Leave items out of q, the first `size` of room's, while q → e stays unsafe, most frequent first; q is sorted after it.

    One pass over the list of the rarest item z does for all other items. Items have ranks, in the order in which they are tried. A record
    with z counts from the step on at which the last item that it lacks goes, and never if one that it lacks stays. So each
    record is looked at once more, at the highest rank that it lacks.
    """
    rank_items(size, now.supports, room)
    q, ranks, is_kept = room.q, room.ranks, room.is_kept
    total, with_e = sort_records(size, e, original, now, room)
    offsets, held, lengths, heads, links = original.offsets, now.held, now.lengths, room.heads, room.links
    start = original.starts[q[size - 1]]
    staying = 0
    for k in range(size - 1):
        more = more_with_e = 0
        at = heads[k]
        while at >= 0:
            row = now.lists[start + at]
            at = links[at]
            met = 0
            has_e = False
            for place in range(offsets[row], offsets[row] + lengths[row]):
                item = held[place]
                if ranks[item] >= 0:
                    met += ranks[item] < k and is_kept[ranks[item]]
                elif item == e:
                    has_e = True
            if met == staying:
                more += 1
                more_with_e += has_e
        if (with_e + more_with_e) * aim.den > (total + more) * aim.num:
            total += more
            with_e += more_with_e
            is_kept[k] = False
        else:
            staying += 1
    number = np.int64(0)
    for k in range(size):
        ranks[q[k]] = -1
        if is_kept[k]:
            q[number] = q[k]
            number += 1
    if number > 1:
        sort_values(q, number - 1)
        both = pairs(q, number - 1, e, original, now, room)
        if fewer_hold(q, number - 1, both, aim, room.rows, original, now):
            return number - 1
    sort_values(q, number)
    return number


@kernel
def rank_items(size, supports, room):
    """Bring the first `size` items of q into the order in which they are tried, and write their ranks."""
    keys, q = room.keys, room.q
    width = len(supports)
    for k in range(size):
        keys[k] = q[k] - supports[q[k]] * width
    sort_values(keys, size)
    for k in range(size):
        q[k] = keys[k] % width
        room.ranks[q[k]] = k
        room.heads[k] = -1
        room.is_kept[k] = True


@kernel
def sort_records(size, e, original, now, room):
    """Link the records with the last item of q by the highest rank that they lack; return how many lack none, and those with e."""
    offsets, held, lengths, totals = original.offsets, now.held, now.lengths, now.totals
    ranks, seen, heads = room.ranks, room.seen, room.heads
    z = room.q[size - 1]
    with_e = total = 0
    for at in range(now.supports[z]):
        row = now.lists[original.starts[z] + at]
        totals[SERIAL] += 1
        has_e = False
        for place in range(offsets[row], offsets[row] + lengths[row]):
            item = held[place]
            if ranks[item] >= 0:
                seen[ranks[item]] = totals[SERIAL]
            elif item == e:
                has_e = True
        k = size - 2
        while k >= 0 and seen[k] == totals[SERIAL]:
            k -= 1
        if k < 0:
            total += 1
            with_e += has_e
        else:
            room.links[at] = heads[k]
            heads[k] = at
    return total, with_e


@kernel
def pairs(q, size, e, original, now, room):
    """List the records that hold q and e in room's rows, and return how many these are."""
    longer = room.keys
    k = np.int64(0)
    while k < size and q[k] < e:
        longer[k] = q[k]
        k += 1
    longer[k] = e
    while k < size:
        longer[k + 1] = q[k]
        k += 1
    return holders(longer, size + 1, np.int64(len(room.rows)), room.rows, original, now)


@kernel
def sanitize(size, e, aim, original, now, room):
    """Make the unsafe rule q → e safe, q being the first `size` of room's: shrink it, then remove one item from as many records as must."""
    num, den, rows, tally, q, touched = aim.num, aim.den, room.rows, room.tally, room.q, room.touched
    size = shrink(size, e, aim, original, now, room)
    total = holders(q, size, np.int64(len(rows)), rows, original, now)
    number = count_secrets(size, total, original, now, room)
    best = 0.0
    victim = inferred = NONE
    for at in range(number):
        other = touched[at]
        excess = tally[other] * den - total * num
        if excess <= 0:
            continue
        for k in range(-1, size):
            d = other if k < 0 else q[k]
            needed = excess / den if k < 0 else excess / (den - num)
            if aim.by_distribution:
                share = now.supports[d] / now.totals[LEFT]
                value = -share * math.log(share / (original.supports[d] / len(now.held))) / needed
            else:
                value = now.supports[d] / original.supports[d] * needed
            if victim < 0 or value < best:
                best, victim, inferred = value, d, other
    if victim == inferred:
        many = tally[victim] - total * num // den
    else:
        many = (tally[inferred] * den - total * num + den - num - 1) // (den - num)
    for at in range(number):
        tally[touched[at]] = 0
    number = pairs(q, size, inferred, original, now, room)
    sort_values(rows, number)
    remove_some(victim, rows, number, many, original, now)
    now.totals[RULES] += 1


@kernel
def count_secrets(size, total, original, now, room):
    """Count in how many of the first `total` rows each sensitive item outside q is; list these items, sorted, and return their number."""
    offsets, held, ranks, tally, touched = original.offsets, now.held, room.ranks, room.tally, room.touched
    for k in range(size):
        ranks[room.q[k]] = k
    number = np.int64(0)
    for at in range(total):
        row = room.rows[at]
        for place in range(offsets[row], offsets[row] + now.lengths[row]):
            item = held[place]
            if original.is_sensitive[item] and ranks[item] < 0:
                if tally[item] == 0:
                    touched[number] = item
                    number += 1
                tally[item] += 1
    for k in range(size):
        ranks[room.q[k]] = -1
    sort_values(touched, number)
    return number


@kernel
def sweep(unsafe, aim, original, now, room, control):
    """Make these rules safe where they are not; then go through the records until no record's own items betray a sensitive one."""
    offsets, held, lengths, totals, q = original.offsets, now.held, now.lengths, now.totals, room.q
    before = NONE
    rule = NONE
    row = np.int64(len(lengths))
    n_rules = len(unsafe.inferred)
    while True:
        # The next rule: one of those given, or what a record's own items betray.
        size = np.int64(0)
        e = NONE
        if control[STOP]:
            return
        if rule + 1 < n_rules:
            rule += 1
            first, last = unsafe.offsets[rule], unsafe.offsets[rule + 1]
            if 0 < last - first < len(q):  # neither empty nor longer than any record
                for at in range(first, last):
                    q[size] = unsafe.known[at]
                    size += 1
                both = pairs(q, size, unsafe.inferred[rule], original, now, room)
                if fewer_hold(q, size, both, aim, room.rows, original, now):
                    e = unsafe.inferred[rule]
        elif row < len(lengths):
            e = betrayed(row, aim, original, now, room)
            if e < 0:
                row += 1
                control[DONE] = max(control[DONE], row)
            else:
                for place in range(offsets[row], offsets[row] + lengths[row]):
                    if held[place] != e:
                        q[size] = held[place]
                        size += 1
        elif before != totals[REMOVED]:
            before = totals[REMOVED]
            row = np.int64(0)
        else:
            return
        if e >= 0:
            sanitize(size, e, aim, original, now, room)
