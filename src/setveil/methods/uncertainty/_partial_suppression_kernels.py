"""Loops of partial suppression: records lose items until no record's own items betray a sensitive one.

A rule q → e is *unsafe* if p of the s records with q hold e too and p den > s num. Everything about safety is in whole numbers; fractions
only rank the items that could go. `fixed` and `state` are those of `_occurrences_kernels`; `room` is scratch, left as it was found: -1
in `rank`, 0 in `tally`.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import math

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.uncertainty._occurrences_kernels import LEFT, REMOVED, RULES, SERIAL, holders, remove_some


@kernel
def missing_from(row, other, fixed, state):
    """Return which item of a record another lacks, by its number in the record: -1 for none, -2 for more than one."""
    offsets = fixed[0]
    held, length = state[:2]
    found = -1
    place = offsets[other]
    end = place + length[other]
    for k in range(length[row]):
        item = held[offsets[row] + k]
        while place < end and held[place] < item:
            place += 1
        if place == end or held[place] != item:
            if found >= 0:
                return -2
            found = k
    return found


@kernel
def betrayed(row, num, den, fixed, state, room):
    """Return the first sensitive item that all other items of a record betray, or -1."""
    offsets, _items, list_starts, _first_support, sensitive = fixed
    held, length, lists, _spot, support, words = state[:6]
    rows, _rank, _tally, keys, q = room[:5]
    first, size = offsets[row], length[row]
    secrets = 0
    for k in range(size):
        secrets += sensitive[held[first + k]]
    if size < 2 or secrets == 0:
        return -1
    rarest = 0
    for k in range(size):
        keys[k] = 0
        if support[held[first + k]] < support[held[first + rarest]]:
            rarest = k
    # Who lacks only one item, and not the rarest, is in the list of the rarest.
    both = 0
    word = words[row]
    start = list_starts[held[first + rarest]]
    for at in range(start, start + support[held[first + rarest]]):
        other = lists[at]
        lacks = word & ~words[other]
        if length[other] < size - 1 or (lacks != 0 and (lacks & (lacks - np.uint64(1))) != 0):
            continue
        k = missing_from(row, other, fixed, state)
        if k == -1:
            both += 1
        elif k >= 0:
            keys[k] += 1
    for k in range(size):
        item = held[first + k]
        if not sensitive[item]:
            continue
        if k != rarest:
            unsafe = both * den > (both + keys[k]) * num
        else:
            number = 0
            for other in range(size):
                if other != k:
                    q[number] = held[first + other]
                    number += 1
            unsafe = fewer_hold(q, number, both, num, den, rows, fixed, state)
        if unsafe:
            return item
    return -1


@kernel
def fewer_hold(q, size, both, num, den, rows, fixed, state):
    """Tell whether so few records hold q that `both` among them are too many; q is sorted and not empty."""
    if both == 0 or num == 0:
        return both > 0
    enough = (both * den + num - 1) // num
    if size == 1:
        return state[4][q[0]] < enough
    return holders(q, size, enough, rows, fixed, state) < enough


@kernel
def shrink(size, e, num, den, fixed, state, room):
    """Leave items out of q, the first `size` of room's, while q → e stays unsafe, most frequent first; q is sorted after it.

    One pass over the list of the rarest item z does for all other items. Items have ranks, in the order in which they are tried. A record
    with z counts from the step on at which the last item that it lacks goes, and never if one that it lacks stays. So each
    record is looked at once more, at the highest rank that it lacks.
    """
    offsets, _items, list_starts, _first_support, _sensitive = fixed
    held, length, lists, _spot, support = state[:5]
    totals = state[8]
    rows, rank, _tally, keys, q, seen, head, link, kept, _touched = room
    width = len(support)
    for k in range(size):
        keys[k] = q[k] - support[q[k]] * width
    keys[:size].sort()
    for k in range(size):
        q[k] = keys[k] % width
        rank[q[k]] = k
        head[k] = -1
        kept[k] = True
    last = size - 1
    z = q[last]
    with_e = total = 0
    for at in range(support[z]):
        row = lists[list_starts[z] + at]
        totals[SERIAL] += 1
        has_e = False
        for place in range(offsets[row], offsets[row] + length[row]):
            item = held[place]
            if rank[item] >= 0:
                seen[rank[item]] = totals[SERIAL]
            elif item == e:
                has_e = True
        k = last - 1
        while k >= 0 and seen[k] == totals[SERIAL]:
            k -= 1
        if k < 0:
            total += 1
            with_e += has_e
        else:
            link[at] = head[k]
            head[k] = at
    staying = 0
    for k in range(last):
        more = more_with_e = 0
        at = head[k]
        while at >= 0:
            row = lists[list_starts[z] + at]
            at = link[at]
            met = 0
            has_e = False
            for place in range(offsets[row], offsets[row] + length[row]):
                item = held[place]
                if rank[item] >= 0:
                    met += rank[item] < k and kept[rank[item]]
                elif item == e:
                    has_e = True
            if met == staying:
                more += 1
                more_with_e += has_e
        if (with_e + more_with_e) * den > (total + more) * num:
            total += more
            with_e += more_with_e
            kept[k] = False
        else:
            staying += 1
    number = 0
    for k in range(size):
        rank[q[k]] = -1
        if kept[k]:
            q[number] = q[k]
            number += 1
    if number > 1:
        q[: number - 1].sort()
        both = pairs(q, number - 1, e, keys, rows, fixed, state)
        if fewer_hold(q, number - 1, both, num, den, rows, fixed, state):
            return number - 1
    q[:number].sort()
    return number


@kernel
def pairs(q, size, e, longer, rows, fixed, state):
    """Count the records that hold q and e."""
    k = 0
    while k < size and q[k] < e:
        longer[k] = q[k]
        k += 1
    longer[k] = e
    while k < size:
        longer[k + 1] = q[k]
        k += 1
    return holders(longer, size + 1, len(rows), rows, fixed, state)


@kernel
def sanitize(size, e, num, den, by_distribution, fixed, state, room):
    """Make the unsafe rule q → e safe, q being the first `size` of room's: shrink it, then remove one item from as many records as must."""
    offsets, _items, _list_starts, first_support, sensitive = fixed
    held, length = state[:2]
    support, totals = state[4], state[8]
    rows, rank, tally, keys, q, _seen, _head, _link, _kept, touched = room
    size = shrink(size, e, num, den, fixed, state, room)
    total = holders(q, size, len(rows), rows, fixed, state)
    for k in range(size):
        rank[q[k]] = k
    number = 0
    for at in range(total):
        row = rows[at]
        for place in range(offsets[row], offsets[row] + length[row]):
            item = held[place]
            if sensitive[item] and rank[item] < 0:
                if tally[item] == 0:
                    touched[number] = item
                    number += 1
                tally[item] += 1
    for k in range(size):
        rank[q[k]] = -1
    touched[:number].sort()
    best = 0.0
    victim = betrayed_item = -1
    for at in range(number):
        other = touched[at]
        excess = tally[other] * den - total * num
        if excess <= 0:
            continue
        for k in range(-1, size):
            d = other if k < 0 else q[k]
            needed = excess / den if k < 0 else excess / (den - num)
            if by_distribution:
                share = support[d] / totals[LEFT]
                value = -share * math.log(share / (first_support[d] / len(held))) / needed
            else:
                value = support[d] / first_support[d] * needed
            if victim < 0 or value < best:
                best, victim, betrayed_item = value, d, other
    if victim == betrayed_item:
        many = tally[victim] - total * num // den
    else:
        many = (tally[betrayed_item] * den - total * num + den - num - 1) // (den - num)
    for at in range(number):
        tally[touched[at]] = 0
    number = pairs(q, size, betrayed_item, keys, rows, fixed, state)
    rows[:number].sort()
    remove_some(victim, rows, number, many, fixed, state)
    totals[RULES] += 1


@kernel
def sanitize_rule(items, e, num, den, by_distribution, fixed, state, room):
    """Make a rule safe if it is not; its items are sorted."""
    rows, keys, q = room[0], room[3], room[4]
    size = len(items)
    if size == 0 or size >= len(q):  # nothing to leave out of, or longer than any record
        return
    for k in range(size):
        q[k] = items[k]
    both = pairs(q, size, e, keys, rows, fixed, state)
    if fewer_hold(q, size, both, num, den, rows, fixed, state):
        sanitize(size, e, num, den, by_distribution, fixed, state, room)


@kernel
def sweep(num, den, by_distribution, fixed, state, room, control):
    """Go through the records until no record's own items betray a sensitive one."""
    offsets = fixed[0]
    held, length = state[:2]
    totals = state[8]
    q = room[4]
    before = -1
    while before != totals[REMOVED]:
        before = totals[REMOVED]
        for row in range(len(length)):
            while True:
                if control[STOP]:
                    return
                e = betrayed(row, num, den, fixed, state, room)
                if e < 0:
                    break
                size = 0
                for place in range(offsets[row], offsets[row] + length[row]):
                    if held[place] != e:
                        q[size] = held[place]
                        size += 1
                sanitize(size, e, num, den, by_distribution, fixed, state, room)
            control[DONE] = max(control[DONE], row + 1)
