# mypy: ignore-errors
# (Numba infers the types)
"""One item leaves a record: which exchange is cheapest, and what it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.jit import kernel
from setveil.methods.itemsets._tracking_kernels import (
    ABSENT,
    ONE,
    WORK,
    ZERO,
    Named,
    holds,
    members_of,
    new_sets,
    sets_around,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

GONE = -1
ONE_LESS = np.int64(-1)
OPEN, STEPS, SCANNED, SWAPPED, LEFT_OUT, ENTERED, FALLEN, TURN_FREE, TURN_OTHERS, TURN_REMEMBERED = range(3, 13)
"""Places of `counters`, after those of the tracking of sets."""
N_COUNTERS = 13
FORBID, COST, OFF = 0, 1, 2
MOST_COUNTS = np.int64(64)
"""Sets that are counted for one exchange."""
MOST_WORK = 30_000
"""Sets that are looked at in each round of a search: where records hold thousands of them, few exchanges are tried."""
N_REMEMBERED = 8
"""Exchanges that are looked at again, with counting, where none else was found."""


class Goals(NamedTuple):
    """What each named itemset needs: its items, its support now, its target, and whether it must be worked on for that.

    `group` lists from `group_starts` on the named itemsets that each record held at the start; `alive` tells of which it still holds all.
    `swapped` and `left_out` count the items that were moved for each.
    """

    named: Named
    supports: NDArray[np.int64]
    targets: NDArray[np.int64]
    driving: NDArray[np.bool_]
    group_starts: NDArray[np.int64]
    group: NDArray[np.int32]
    alive: NDArray[np.bool_]
    swapped: NDArray[np.int64]
    left_out: NDArray[np.int64]


class Offers(NamedTuple):
    """Whether items are swapped at all; places of items that may be given in return, and how long to search among them.

    `free` has those of items without a rank and `others` those of the others; the last number of either is the step from one to the next.
    `patience` tells for each rank how many to try, never more than `most`. `afi` is FORBID, COST or OFF.
    """

    swaps: bool
    free: NDArray[np.int64]
    others: NDArray[np.int64]
    remembered: NDArray[np.int64]
    patience: NDArray[np.int64]
    most: np.int64
    afi: np.int64


@kernel
def completes(record, item, left_out, rows, named):
    """Tell whether a record that gets an item and loses another would then hold a named itemset with that item."""
    first, last = rows.offsets[record], rows.offsets[record + 1]
    for at in range(named.of_item_starts[item], named.of_item_starts[item + 1]):
        secret = named.of_item[at]
        whole = True
        for place in range(named.offsets[secret], named.offsets[secret + 1]):
            wanted = named.items[place]
            if wanted != item and (wanted == left_out or not holds(first, last, rows.items, wanted)):
                whole = False
                break
        if whole:
            return True
    return False


@kernel
def loss(first, last, sets, cost):
    """Return what it costs if each of these sets has a record less."""
    total = 0.0
    for at in range(first, last):
        total += cost[sets[at]]
    return total


@kernel
def loss_around(record, item, rows, tree, cost, room):
    """Return what it costs if a record loses an item, but for the item alone."""
    n_members = members_of(record, item, item, rows, room.members)
    n_found = sets_around(rows.rank[item], n_members, tree, room)
    return loss(ZERO, n_found, room.found, cost)


@kernel
def can_exchange(record, item, place, rows, record_of):
    """Return whether an item can go to where another is: to another record, where neither then holds an item twice."""
    offsets, items = rows.offsets, rows.items
    given = items[place]
    donor = record_of[place]
    if given < 0 or donor == record or holds(offsets[donor], offsets[donor + 1], items, item):
        return False
    return not holds(offsets[record], offsets[record + 1], items, given)


@kernel
def sets_made_frequent(record, item, place, exact, afi, named, world):
    """Return how many sets an exchange makes frequent and how many more it may, or ABSENT for the first if it must not be made."""
    rows = world.rows
    given = rows.items[place]
    donor = world.index.record_of[place]
    total = ZERO
    undecided = ZERO
    for side in range(2):
        # Either side: who gets, what it gets, what it gives.
        one, gets, gives = (donor, item, given) if side == 0 else (record, given, item)
        if completes(one, gets, gives, rows, named):
            return ABSENT, undecided
        if rows.rank[gets] < 0 or afi == OFF:
            continue
        n_members = members_of(one, gets, gives, rows, world.room.members)
        new, possible = new_sets(rows.rank[gets], n_members, exact, world)
        if new > 0 and afi == FORBID:
            return ABSENT, undecided
        total += new
        undecided += possible
    return total, undecided


@kernel
def search(record, item, offers, named, world):
    """Return the place of the cheapest exchange that may be made, or ABSENT.

    First among the places of items that matter to nobody, then of others, then among those of which it is only not known whether a new set
    would become frequent: there it is counted.
    """
    rows, record_of, sets, counters = world.rows, world.index.record_of, world.sets, world.counters
    patience = offers.patience[rows.rank[item]]
    best = ABSENT
    best_price = np.inf
    n_remembered = 0
    for phase in range(3):
        begun = counters[WORK]
        if phase == 0:
            places, turn = offers.free, TURN_FREE
        elif phase == 1:
            places, turn = offers.others, TURN_OTHERS
        else:
            places, turn = offers.remembered, TURN_REMEMBERED
            counters[turn] = -1
        n_places = n_remembered if phase == 2 else len(places) - 1
        if n_places <= 0 or (phase == 2 and best >= 0):
            continue
        stride = ONE if phase == 2 else places[n_places]
        exact = MOST_COUNTS if phase == 2 else ZERO
        for _ in range(min(patience, n_places)):
            if counters[WORK] - begun > MOST_WORK:
                break
            counters[turn] += stride
            if counters[turn] >= n_places:
                counters[turn] -= n_places
            place = places[counters[turn]]
            counters[SCANNED] += 1
            if not can_exchange(record, item, place, rows, record_of):
                continue
            new, undecided = sets_made_frequent(record, item, place, exact, offers.afi, named, world)
            if new < 0:
                continue
            if undecided > 0 and (offers.afi == FORBID or phase < 2):
                if phase < 2 and n_remembered < N_REMEMBERED:
                    offers.remembered[n_remembered] = place
                    n_remembered += 1
                continue
            price = float(new + undecided)
            given = rows.items[place]
            if rows.rank[given] >= 0:
                price += loss_around(record_of[place], given, rows, sets.tree, sets.cost, world.room)
            if price < best_price:
                best = place
                best_price = price
                if price == 0:
                    return best
    return best


@kernel
def count_around(record, item, step, world):
    """Add a step to the counts of the pairs and tracked sets of a record with an item; return how many sets there are in `room`."""
    rows, index, sets, room, _ = world
    members, pair_row, pairs = room.members, index.pair_row, index.pairs
    number = rows.rank[item]
    n_members = members_of(record, item, item, rows, members)
    for m in range(n_members):
        if pair_row[number] >= 0:
            pairs[pair_row[number], members[m]] += step
        if pair_row[members[m]] >= 0:
            pairs[pair_row[members[m]], number] += step
    n_found = sets_around(number, n_members, sets.tree, room)
    for f in range(n_found):
        sets.supports[room.found[f]] += step
    return n_found


@kernel
def close(record, item, goals, counters):
    """Count the named itemsets that a record no longer holds without the item; one that reaches its target is open no longer."""
    named = goals.named
    for at in range(goals.group_starts[record], goals.group_starts[record + 1]):
        secret = goals.group[at]
        if goals.alive[at] and holds(named.offsets[secret], named.offsets[secret + 1], named.items, item):
            goals.alive[at] = False
            goals.supports[secret] -= 1
            if goals.driving[secret] and goals.supports[secret] == goals.targets[secret]:
                counters[OPEN] -= 1


@kernel
def change(record, item, place, secret, goals, fallen, world):
    """Exchange an item with what stands at a place, or leave it out where that is ABSENT, and keep all supports up to date.

    Sets that fall below a threshold are listed in `fallen`.
    """
    rows, index, sets, room, counters = world
    items, found = rows.items, room.found
    own = rows.offsets[record]
    while items[own] != item:
        own += 1
    donor = index.record_of[place] if place >= 0 else record
    given = items[place] if place >= 0 else np.int32(GONE)
    for turn in range(4):
        # First both leave, then both enter; what is left out neither enters nor has a partner.
        who = donor if turn % 2 else record
        what = given if 0 < turn < 3 else item
        if turn == 2:
            items[own] = given
            if place >= 0:
                items[place] = item
        if (turn > 0 and place < 0) or rows.rank[what] < 0:
            continue
        number = rows.rank[what]
        step = ONE_LESS if turn < 2 else ONE
        n_found = count_around(who, what, step, world)
        if place < 0 and sets.tree.single[number] >= 0:
            found[n_found] = sets.tree.single[number]
            sets.supports[found[n_found]] += step
            n_found += 1
        for f in range(n_found):
            one = found[f]
            if step < 0 and sets.is_level[sets.supports[one] + 1]:
                fallen[counters[FALLEN]] = one
                counters[FALLEN] += 1
                if sets.supports[one] + 1 == sets.lowest:
                    sets.lost_for[one] = secret
            if sets.matters[one]:
                sets.cost[one] = sets.weights[sets.supports[one]]
        if step < 0:
            close(who, what, goals, counters)
        else:
            at = counters[ENTERED]
            counters[ENTERED] += 1
            index.entered_record[at] = who
            index.entered_next[at] = index.entered_head[number]
            index.entered_head[number] = at
