# mypy: ignore-errors
# (Numba infers the types)
"""One item leaves a record: which exchange is cheapest, and what it changes."""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel
from setveil.methods.itemsets._tracking_kernels import ABSENT, WORK, holds, members_of, new_sets, sets_around

GONE = -1
OPEN, STEPS, SCANNED, SWAPPED, LEFT_OUT, ENTERED, FALLEN, TURN_FREE, TURN_OTHERS, TURN_REMEMBERED = range(3, 13)
"""Places of `counters`, after those of the tracking of sets."""
N_COUNTERS = 13
FORBID, COST, OFF = 0, 1, 2
MOST_COUNTS = 64
"""Sets that are counted for one exchange."""
MOST_WORK = 30_000
"""Sets that are looked at in each round of a search: where records hold thousands of them, few exchanges are tried."""
N_REMEMBERED = 8
"""Exchanges that are looked at again, with counting, where none else was found."""


@kernel
def completes(first, last, items, item, left_out, secret_offsets, secret_items, of_item_starts, of_item):
    """Tell whether a row that gets an item and loses another would then hold a named itemset with that item."""
    for at in range(of_item_starts[item], of_item_starts[item + 1]):
        secret = of_item[at]
        whole = True
        for place in range(secret_offsets[secret], secret_offsets[secret + 1]):
            wanted = secret_items[place]
            if wanted != item and (wanted == left_out or not holds(first, last, items, wanted)):
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
def search(
    record, item, patience, afi, free, others_places,
    offsets, items, record_of, rank, starts, held_by, entered_head, entered_next, entered_record, pair_row, pairs,
    set_offsets, set_items, single, keys, values, supports, cost, before, is_level, lowest,
    secret_offsets, secret_items, of_item_starts, of_item,
    members, others, list_items, list_sets, frames, found, seen, counters, remembered,
):  # fmt: skip
    """Return the place of the cheapest exchange that may be made, or ABSENT.

    First among the places of items that matter to nobody, then of others, then among those of which it is only not known whether a new set
    would become frequent: there it is counted.
    """
    best = np.int64(ABSENT)
    best_price = np.inf
    n_remembered = 0
    for phase in range(3):
        begun = counters[WORK]
        if phase == 0:
            places, turn = free, TURN_FREE
        elif phase == 1:
            places, turn = others_places, TURN_OTHERS
        else:
            places, turn = remembered, TURN_REMEMBERED
            counters[turn] = -1
        n_places = n_remembered if phase == 2 else len(places) - 1
        if n_places <= 0 or (phase == 2 and best >= 0):
            continue
        stride = 1 if phase == 2 else places[n_places]
        for _ in range(min(patience, n_places)):
            if counters[WORK] - begun > MOST_WORK:
                break
            counters[turn] += stride
            if counters[turn] >= n_places:
                counters[turn] -= n_places
            place = places[counters[turn]]
            counters[SCANNED] += 1
            given = items[place]
            donor = record_of[place]
            if given < 0 or donor == record:
                continue
            first, last = offsets[donor], offsets[donor + 1]
            if holds(first, last, items, item) or holds(offsets[record], offsets[record + 1], items, given):
                continue
            may = True
            price = 0.0
            undecided = 0
            for side in range(2):
                # Either side: who gets, what it gets, what it gives.
                one, gets, gives = (donor, item, given) if side == 0 else (record, given, item)
                first, last = offsets[one], offsets[one + 1]
                if completes(first, last, items, gets, gives, secret_offsets, secret_items, of_item_starts, of_item):
                    may = False
                    break
                if rank[gets] < 0 or afi == OFF:
                    continue
                n_members = members_of(first, last, items, rank, gets, gives, members)
                new, possible = new_sets(
                    rank[gets], members, n_members, MOST_COUNTS if phase == 2 else 0,
                    offsets, items, rank, starts, held_by, entered_head, entered_next, entered_record, pair_row, pairs,
                    set_offsets, set_items, single, keys, values, supports, before, is_level, lowest,
                    others, list_items, list_sets, frames, seen, counters,
                )  # fmt: skip
                if new > 0 and afi == FORBID:
                    may = False
                    break
                price += new
                undecided += possible
            if not may:
                continue
            if undecided > 0 and (afi == FORBID or phase < 2):
                if phase < 2 and n_remembered < N_REMEMBERED:
                    remembered[n_remembered] = place
                    n_remembered += 1
                continue
            price += undecided
            if rank[given] >= 0:
                n_members = members_of(offsets[donor], offsets[donor + 1], items, rank, given, given, members)
                n_found = sets_around(
                    rank[given], members, n_members, single, keys, values, list_items, list_sets, frames, found
                )  # fmt: skip
                price += loss(0, n_found, found, cost)
            if price < best_price:
                best = place
                best_price = price
                if price == 0:
                    return best
    return best


@kernel
def change(
    record, item, place, secret,
    offsets, items, record_of, rank, entered_head, entered_next, entered_record, pair_row, pairs,
    single, keys, values, supports, cost, matters, weights, is_level, lowest, lost_for,
    secret_offsets, secret_items, secret_supports, targets, driving, group_starts, group, alive,
    members, list_items, list_sets, frames, found, fallen, counters,
):  # fmt: skip
    """Exchange an item with what stands at a place, or leave it out where that is ABSENT, and keep all supports up to date."""
    own = offsets[record]
    while items[own] != item:
        own += 1
    donor = record_of[place] if place >= 0 else record
    given = items[place] if place >= 0 else np.int32(GONE)
    for turn in range(4):
        # First both leave, then both enter; what is left out neither enters nor has a partner.
        who = donor if turn % 2 else record
        what = given if 0 < turn < 3 else item
        step = -1 if turn < 2 else 1
        if turn == 2:
            items[own] = given
            if place >= 0:
                items[place] = item
        if turn > 0 and place < 0:
            continue
        number = rank[what]
        if number < 0:
            continue
        n_members = members_of(offsets[who], offsets[who + 1], items, rank, what, what, members)
        for m in range(n_members):
            if pair_row[number] >= 0:
                pairs[pair_row[number], members[m]] += step
            if pair_row[members[m]] >= 0:
                pairs[pair_row[members[m]], number] += step
        n_found = sets_around(number, members, n_members, single, keys, values, list_items, list_sets, frames, found)
        if place < 0 and single[number] >= 0:
            found[n_found] = single[number]
            n_found += 1
        for f in range(n_found):
            one = found[f]
            if step < 0 and is_level[supports[one]]:
                fallen[counters[FALLEN]] = one
                counters[FALLEN] += 1
                if supports[one] == lowest:
                    lost_for[one] = secret
            supports[one] += step
            if matters[one]:
                cost[one] = weights[supports[one]]
        if step > 0:
            at = counters[ENTERED]
            counters[ENTERED] += 1
            entered_record[at] = who
            entered_next[at] = entered_head[number]
            entered_head[number] = at
            continue
        for at in range(group_starts[who], group_starts[who + 1]):
            other = group[at]
            if alive[at] and holds(secret_offsets[other], secret_offsets[other + 1], secret_items, what):
                alive[at] = False
                secret_supports[other] -= 1
                if driving[other] and secret_supports[other] == targets[other]:
                    counters[OPEN] -= 1
