"""Loops of permutation: an order in which records with common items stand near each other, and groups made along it.

Records and the items of the pattern are the nodes of one graph, records first; `near` lists the neighbours of each node, those with few
neighbours first.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.uncertainty._sorting_kernels import sort_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

OUT, BACK = np.int64(-1), np.int64(1)
"""Steps of `move`."""


class Ordered(NamedTuple):
    """Records in their order: the items that are not sensitive, and the sensitive ones, each numbered from 0."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    hidden_offsets: NDArray[np.int64]
    hidden: NDArray[np.int32]


class Room(NamedTuple):
    """Room for making groups.

    `before` and `after` link the remaining records. `left` counts for each sensitive item the remaining records that hold it, `many` how
    many sensitive items each number is true of. `own` and `taken` mark sensitive items of a record and of its group, `known` its other
    items. `candidates`, `keys` and `places` are for the records that may join it.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    left: NDArray[np.int64]
    many: NDArray[np.int64]
    own: NDArray[np.int64]
    taken: NDArray[np.int64]
    known: NDArray[np.int64]
    candidates: NDArray[np.int64]
    keys: NDArray[np.int64]
    places: NDArray[np.int64]


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
def make_groups(ordered, p, side, room, group_of, control):
    """Write the group of each record to `group_of`, and leave those in no group at -1; return how many groups there are and two counts.

    `side` is how many candidates are looked at before a record and how many after it. The counts are of records that could start a group
    and found too few partners, and of those that had to stay for the others' sake.
    """
    hidden_offsets, hidden, many, before, after = (
        ordered.hidden_offsets, ordered.hidden, room.many, room.before, room.after
    )  # fmt: skip
    records = len(group_of)
    most = 0
    for s in range(len(room.left)):
        most = max(most, room.left[s])
    members = np.empty(p, np.int64)
    remaining, groups, lonely, held_back = records, 0, 0, 0
    for t in range(records):
        if t % 64 == 0 and control[STOP]:
            break
        control[DONE] = t
        if group_of[t] >= 0 or hidden_offsets[t] == hidden_offsets[t + 1]:
            continue
        if choose_members(t, side, members, ordered, room, control) < p:
            lonely += 1
            continue
        move(members, hidden_offsets, hidden, room.left, many, OUT)
        # Members share no sensitive item, so that each is left at most once less.
        highest = most if many[most] else most - 1
        if highest * p > remaining - p:
            move(members, hidden_offsets, hidden, room.left, many, BACK)
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
def choose_members(t, side, members, ordered, room, control):
    """Write the members of a group for record t, itself first; return how many were found, at most as many as there is room for."""
    offsets, items, hidden_offsets, hidden = ordered.offsets, ordered.items, ordered.hidden_offsets, ordered.hidden
    taken, known, keys = room.taken, room.known, room.keys
    for k in range(hidden_offsets[t], hidden_offsets[t + 1]):
        room.own[hidden[k]] = t
        taken[hidden[k]] = t
    for k in range(offsets[t], offsets[t + 1]):
        known[items[k]] = t
    found = find_candidates(t, side, ordered, room, control)
    for c in range(found):
        common = 0
        for k in range(offsets[room.candidates[c]], offsets[room.candidates[c] + 1]):
            common += known[items[k]] == t
        keys[c] -= common * (2 * side)  # more common items first, then the nearer one, then the one before
    sort_places(keys, found, room.places)
    members[0] = t
    chosen = 1
    for c in range(found):
        if chosen == len(members):
            break
        r = room.candidates[room.places[c]]
        if not any_marked(r, hidden_offsets, hidden, taken, t):
            members[chosen] = r
            chosen += 1
            for k in range(hidden_offsets[r], hidden_offsets[r + 1]):
                taken[hidden[k]] = t
    return chosen


@kernel
def find_candidates(t, side, ordered, room, control):
    """List the nearest remaining records without a sensitive item of t, `side` before it and as many after it; return their number."""
    records = len(ordered.offsets) - 1
    found = np.int64(0)
    for is_after in range(2):
        near = room.after if is_after else room.before
        rank = 0
        r = near[t]
        while 0 <= r < records and rank < side and not control[STOP]:
            if not any_marked(r, ordered.hidden_offsets, ordered.hidden, room.own, t):
                room.candidates[found] = r
                room.keys[found] = 2 * rank + is_after
                found += 1
                rank += 1
            r = near[r]
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
