# mypy: ignore-errors
# (Numba infers the types)
"""Exact swapping: items leave records, the cheapest first, until every named itemset is at its target.

An *entry* is an item of an open named itemset in a record that holds that itemset. Entries wait in a heap by what their leaving would lose
for each open itemset that it breaks. The figures grow old while supports change: the first entry is computed again and goes back if it is
no longer about the first; those around a set that was just lost have become cheaper, and move ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.itemsets._exchange_kernels import (
    FALLEN,
    LEFT_OUT,
    OPEN,
    STEPS,
    SWAPPED,
    change,
    loss,
    loss_around,
    search,
)
from setveil.methods.itemsets._heap_kernels import second_key, sift_down, sift_up, take_first
from setveil.methods.itemsets._tracking_kernels import ABSENT, LOOK_EVERY, ONE, ZERO, holds, sets_of_record

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ENTRIES = 62
"""Entries of one record that are looked at together: each has a bit."""
ENOUGH, TINY = 1.3, 1e-3
"""An entry may be so much dearer than the next one was when it was last computed, and is still taken."""
CHEAPER = 0.5
"""How much cheaper an entry is taken to be when a set that it takes part in was lost: it was part of its key with 1 at most."""


class Entries(NamedTuple):
    """The record, the item and the key of each entry, and where the groups of entries of one record begin."""

    starts: NDArray[np.int64]
    record: NDArray[np.int32]
    item: NDArray[np.int32]
    keys: NDArray[np.float64]


class Around(NamedTuple):
    """The sets that each entry takes part in: those from `first` to before `last`, which is -1 where there was no room for them.

    They are right as long as the record was not `touched`.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    sets: NDArray[np.int32]
    touched: NDArray[np.bool_]


class Part(NamedTuple):
    """One part of the weighing: its number of how many, the end of its stretch of sets, and in how many lists there each set is."""

    number: np.int64
    parts: np.int64
    end: np.int64
    taking_part: NDArray[np.int64]


class TakingPart(NamedTuple):
    """The entries that take part in each set at risk, and room for the sets that fell below a threshold."""

    starts: NDArray[np.int64]
    entries: NDArray[np.int32]
    fallen: NDArray[np.int64]


@kernel
def find_holders(rarest, rows, index, named, holder_secret, holder_record, control):
    """List which records hold which named itemset, and return how many there are."""
    offsets = rows.offsets
    total = 0
    for secret in range(len(rarest)):
        control[DONE] = secret
        if control[STOP] != 0:
            return total
        for at in range(index.starts[rarest[secret]], index.starts[rarest[secret] + 1]):
            record = index.held_by[at]
            whole = True
            for place in range(named.offsets[secret], named.offsets[secret + 1]):
                if not holds(offsets[record], offsets[record + 1], rows.items, named.items[place]):
                    whole = False
                    break
            if whole:
                holder_secret[total] = secret
                holder_record[total] = record
                total += 1
    return total


@kernel
def list_entries(is_open, named, group_starts, group, entries):
    """List each item of each open named itemset that a record holds, once a record, in groups of one record; return how many there are.

    A group has at most as many entries as a word has bits.
    """
    total = ZERO
    n_groups = ZERO
    for record in range(len(group_starts) - 1):
        first = total
        for at in range(group_starts[record], group_starts[record + 1]):
            secret = group[at]
            if not is_open[secret]:
                continue
            for place in range(named.offsets[secret], named.offsets[secret + 1]):
                if not holds(first, total, entries.item, named.items[place]):
                    if (total - first) % MOST_ENTRIES == 0:
                        entries.starts[n_groups] = total
                        n_groups += 1
                    entries.record[total] = record
                    entries.item[total] = named.items[place]
                    total += 1
    entries.starts[n_groups] = total
    return total, n_groups


@kernel
def closes(record, item, goals):
    """Return how many open named itemsets the record no longer holds without the item, and one of them."""
    total = 0
    first = ABSENT
    for at in range(goals.group_starts[record], goals.group_starts[record + 1]):
        secret = goals.group[at]
        if not goals.alive[at] or not goals.driving[secret] or goals.supports[secret] <= goals.targets[secret]:
            continue
        if holds(goals.named.offsets[secret], goals.named.offsets[secret + 1], goals.named.items, item):
            total += 1
            if first < 0:
                first = np.int64(secret)
    return total, first


@kernel
def cost_alone(number, swaps, single, cost):
    """Return what a ranked item alone loses when it leaves a record: nothing where it is swapped, since another record gets it."""
    if swaps or single[number] < 0:
        return 0.0
    return cost[single[number]]


@kernel
def score_records(part, entries, around, goals, swaps, world, control):
    """Score the entries of one part of the records, and write which sets each takes part in, as long as there is room for that.

    Each part has its own stretch of `around`, before its end, and counts in how many such lists each set is.
    """
    rows, sets, room = world.rows, world.sets, world.room
    cost, found = sets.cost, room.found
    written = part.end - len(around.sets) // part.parts
    # Parts lie side by side: were they dealt out in turn, threads would write to the same cache lines.
    groups = len(entries.starts) - 1
    begin = part.number * groups // part.parts
    for group in range(begin, (part.number + 1) * groups // part.parts):
        if group & LOOK_EVERY == 0:
            control[DONE] = group - begin
            if control[STOP] != 0:
                return
        first, last = entries.starts[group], entries.starts[group + 1]
        record = entries.record[first]
        n_found = sets_of_record(record, first, last, entries.item, rows, sets.tree, room)
        for entry in range(first, last):
            fits = written + n_found <= part.end
            around.first[entry] = written
            bit = ONE << (entry - first)
            total = 0.0
            for f in range(n_found):
                if room.found_bits[f] & bit != 0 and cost[found[f]] > 0:
                    total += cost[found[f]]
                    if fits:
                        around.sets[written] = found[f]
                        written += 1
                        part.taking_part[found[f]] += 1
            around.last[entry] = written if fits else ABSENT
            item = entries.item[entry]
            total += cost_alone(rows.rank[item], swaps, sets.tree.single, cost)
            closed, _ = closes(record, item, goals)
            entries.keys[entry] = total / max(closed, 1)


@kernel
def list_taking_part(around, starts, filled, entries):
    """List for each set the entries that take part in it, where `starts` leaves room for them."""
    for entry in range(len(around.first)):
        for at in range(around.first[entry], around.last[entry]):
            one = around.sets[at]
            if starts[one + 1] > starts[one]:
                entries[starts[one] + filled[one]] = entry
                filled[one] += 1


@kernel
def move_ahead(keys, heap, taking_part, counters):
    """Make what takes part in a set that was just lost cheaper: it would wait too far behind."""
    while counters[FALLEN] > 0:
        counters[FALLEN] -= 1
        one = taking_part.fallen[counters[FALLEN]]
        for at in range(taking_part.starts[one], taking_part.starts[one + 1]):
            other = taking_part.entries[at]
            if heap.where[other] >= 0 and keys[other] > 0:
                keys[other] = max(0.0, keys[other] - CHEAPER)
                heap.keys[heap.where[other]] = keys[other]
                sift_up(heap.where[other], heap)


@kernel
def hide(entries, around, heap, taking_part, goals, offers, world, control):
    """Take items away, the cheapest first, until every named itemset is at its target; entries with a key below 0 are planned.

    The heap holds the entries that were not taken yet. A search that finds an exchange makes the next ones for this item longer, one that
    finds none makes them shorter.
    """
    rows, sets, counters, touched = world.rows, world.sets, world.counters, around.touched
    size = len(heap.order)
    for at in range(size - 1, -1, -1):
        sift_down(at, size, heap)
    while size > 0 and counters[OPEN] > 0:
        counters[STEPS] += 1
        if counters[STEPS] & LOOK_EVERY == 0:
            control[DONE] = counters[SWAPPED] + counters[LEFT_OUT]
            if control[STOP] != 0:
                return
        entry = heap.order[0]
        record, item = entries.record[entry], entries.item[entry]
        number = rows.rank[item]
        closed, secret = closes(record, item, goals)
        if closed > 0:
            if around.last[entry] >= 0 and not touched[record]:
                now = loss(around.first[entry], around.last[entry], around.sets, sets.cost)
            else:
                now = loss_around(record, item, rows, sets.tree, sets.cost, world.room)
            now = (now + cost_alone(number, offers.swaps, sets.tree.single, sets.cost)) / closed
            if 0 <= heap.keys[0] < now and now > second_key(size, heap) * ENOUGH + TINY:
                entries.keys[entry] = now
                heap.keys[0] = now
                sift_down(ZERO, size, heap)
                continue
            place = ABSENT
            if offers.swaps:
                place = search(record, item, offers, goals.named, world)
            touched[record] = True
            if place >= 0:
                touched[world.index.record_of[place]] = True
                counters[SWAPPED] += 1
                goals.swapped[secret] += 1
                offers.patience[number] = min(offers.most, 2 * offers.patience[number])
            else:
                counters[LEFT_OUT] += 1
                goals.left_out[secret] += 1
                offers.patience[number] = max(1, offers.patience[number] // 2)
            change(record, item, place, secret, goals, taking_part.fallen, world)
        take_first(size, heap)
        size -= 1
        move_ahead(entries.keys, heap, taking_part, counters)


@kernel
def tidy(rows, was, new_offsets, new_items):
    """Write the records without what is gone, each in rising order; return how many items they hold."""
    offsets, items = rows.offsets, rows.items
    total = 0
    for record in range(len(offsets) - 1):
        first = total
        changed = False
        for place in range(offsets[record], offsets[record + 1]):
            changed |= items[place] != was[place]
            if items[place] >= 0:
                new_items[total] = items[place]
                total += 1
        if changed:
            for place in range(first + 1, total):
                item = new_items[place]
                at = place
                while at > first and new_items[at - 1] > item:
                    new_items[at] = new_items[at - 1]
                    at -= 1
                new_items[at] = item
        new_offsets[record + 1] = total
    return total
