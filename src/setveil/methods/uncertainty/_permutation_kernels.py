"""Loops of permutation: an order in which records with common items stand near each other, and groups made along it.

Records and the items of the pattern are the nodes of one graph, records first; `near` lists the neighbours of each node, those with few
neighbours first.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel


@kernel
def breadth_first(starts, near, first, queue, control):
    """Fill the queue with all nodes: from each node of `first` that was not reached yet, level by level. Return how many there are."""
    reached = np.zeros(len(queue), np.bool_)
    filled = 0
    for k in range(len(first)):
        if reached[first[k]]:
            continue
        reached[first[k]] = True
        queue[filled] = first[k]
        at = filled
        filled += 1
        while at < filled:
            if at % 1024 == 0 and control[STOP]:
                return filled
            control[DONE] = at
            node = queue[at]
            at += 1
            for place in range(starts[node], starts[node + 1]):
                other = near[place]
                if not reached[other]:
                    reached[other] = True
                    queue[filled] = other
                    filled += 1
    return filled


@kernel
def make_groups(offsets, items, hidden_offsets, hidden, types, width, p, side, group_of, control):
    """Write the group of each record to `group_of`, and leave those in no group at -1; return how many groups there are and two counts.

    Records are numbered in their order. `items` are those that are not sensitive, `hidden` the sensitive ones, and `side` is how many
    candidates are looked at before a record and how many after it. The counts are of records that could start a group and found too few
    partners, and of those that had to stay for the others' sake.
    """
    records = len(group_of)
    before = np.arange(-1, records)
    after = np.arange(1, records + 2)  # of the remaining records; place `records` is the end
    left = np.zeros(types, np.int64)
    for k in range(len(hidden)):
        left[hidden[k]] += 1
    many = np.zeros(records + 1, np.int64)  # how many sensitive items are left in just so many records
    most = 0
    for s in range(types):
        many[left[s]] += 1
        most = max(most, left[s])
    own = np.full(types, -1, np.int64)
    taken = np.full(types, -1, np.int64)
    known = np.full(width, -1, np.int64)
    list_of = np.empty(2 * side, np.int64)
    keys = np.empty(2 * side, np.int64)
    members = np.empty(p, np.int64)
    remaining, groups, lonely, held_back = records, 0, 0, 0
    for t in range(records):
        if t % 64 == 0 and control[STOP]:
            break
        control[DONE] = t
        if group_of[t] >= 0 or hidden_offsets[t] == hidden_offsets[t + 1]:
            continue
        for k in range(hidden_offsets[t], hidden_offsets[t + 1]):
            own[hidden[k]] = t
            taken[hidden[k]] = t
        for k in range(offsets[t], offsets[t + 1]):
            known[items[k]] = t
        found = candidates(t, side, before, after, hidden_offsets, hidden, own, list_of, keys, control)
        for c in range(found):
            common = 0
            for k in range(offsets[list_of[c]], offsets[list_of[c] + 1]):
                common += known[items[k]] == t
            keys[c] -= common * (2 * side)  # more common items first, then the nearer one, then the one before
        chosen = 1
        members[0] = t
        order = np.argsort(keys[:found])
        for c in range(found):
            if chosen == p:
                break
            r = list_of[order[c]]
            if not any_marked(r, hidden_offsets, hidden, taken, t):
                members[chosen] = r
                chosen += 1
                for k in range(hidden_offsets[r], hidden_offsets[r + 1]):
                    taken[hidden[k]] = t
        if chosen < p:
            lonely += 1
            continue
        move(members, hidden_offsets, hidden, left, many, -1)
        highest = (
            most if many[most] else most - 1
        )  # members share no sensitive item, so that each is left once less at most
        if highest * p > remaining - p:
            move(members, hidden_offsets, hidden, left, many, 1)
            held_back += 1
            continue
        most = highest
        remaining -= p
        for m in range(p):
            r = members[m]
            group_of[r] = groups
            if before[r] >= 0:
                after[before[r]] = after[r]
            before[after[r]] = before[r]
        groups += 1
    control[DONE] = records
    return groups, lonely, held_back


@kernel
def candidates(t, side, before, after, hidden_offsets, hidden, own, list_of, keys, control):
    """List the nearest remaining records without a sensitive item of t: so many before it and so many after it."""
    records = len(before) - 1
    found = 0
    rank = 0
    r = before[t]
    while r >= 0 and rank < side and not control[STOP]:
        if not any_marked(r, hidden_offsets, hidden, own, t):
            list_of[found] = r
            keys[found] = 2 * rank
            found += 1
            rank += 1
        r = before[r]
    rank = 0
    r = after[t]
    while r < records and rank < side and not control[STOP]:
        if not any_marked(r, hidden_offsets, hidden, own, t):
            list_of[found] = r
            keys[found] = 2 * rank + 1
            found += 1
            rank += 1
        r = after[r]
    return found


@kernel
def any_marked(r, hidden_offsets, hidden, mark, t):
    """Tell whether a record holds a sensitive item that is marked with t."""
    for k in range(hidden_offsets[r], hidden_offsets[r + 1]):
        if mark[hidden[k]] == t:
            return True
    return False


@kernel
def move(members, hidden_offsets, hidden, left, many, step):
    """Take the members out of the remaining records (-1), or put them back (1)."""
    for m in range(len(members)):
        for k in range(hidden_offsets[members[m]], hidden_offsets[members[m] + 1]):
            s = hidden[k]
            many[left[s]] -= 1
            left[s] += step
            many[left[s]] += 1
