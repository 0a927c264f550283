# mypy: ignore-errors
# (Numba infers the types)
"""Exact swapping: items leave records, the cheapest first, until every named itemset is at its target.

An *entry* is an item of an open named itemset in a record that holds that itemset. Entries wait in a heap by what their leaving would lose
for each open itemset that it breaks. The figures grow old while supports change: the first entry is computed again and goes back if it is
no longer about the first; those around a set that was just lost have become cheaper, and move ahead.
"""

from __future__ import annotations

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
    search,
)
from setveil.methods.itemsets._heap_kernels import sift_down, sift_up
from setveil.methods.itemsets._tracking_kernels import (
    ABSENT,
    LOOK_EVERY,
    holds,
    members_of,
    sets_around,
    sets_of_record,
)

MOST_ENTRIES = 62
"""Entries of one record that are looked at together: each has a bit."""
ENOUGH, TINY = 1.3, 1e-3
"""An entry may be so much dearer than the next one was when it was last computed, and is still taken."""
CHEAPER = 0.5
"""How much cheaper an entry is taken to be when a set that it takes part in was lost: it was part of its key with 1 at most."""


@kernel
def find_holders(
    rarest, offsets, items, starts, held_by, secret_offsets, secret_items, holder_secret, holder_record, control
):
    """List which records hold which named itemset, and return how many there are."""
    total = 0
    for secret in range(len(rarest)):
        control[DONE] = secret
        if control[STOP] != 0:
            return total
        for at in range(starts[rarest[secret]], starts[rarest[secret] + 1]):
            record = held_by[at]
            whole = True
            for place in range(secret_offsets[secret], secret_offsets[secret + 1]):
                if not holds(offsets[record], offsets[record + 1], items, secret_items[place]):
                    whole = False
                    break
            if whole:
                holder_secret[total] = secret
                holder_record[total] = record
                total += 1
    return total


@kernel
def list_entries(is_open, secret_offsets, secret_items, group_starts, group, entry_record, entry_item, entry_starts):
    """List each item of each open named itemset that a record holds, once a record, in groups of one record; return how many there are.

    A group has at most as many entries as a word has bits.
    """
    total = 0
    n_groups = 0
    for record in range(len(group_starts) - 1):
        first = total
        for at in range(group_starts[record], group_starts[record + 1]):
            secret = group[at]
            if not is_open[secret]:
                continue
            for place in range(secret_offsets[secret], secret_offsets[secret + 1]):
                if not holds(first, total, entry_item, secret_items[place]):
                    if (total - first) % MOST_ENTRIES == 0:
                        entry_starts[n_groups] = total
                        n_groups += 1
                    entry_record[total] = record
                    entry_item[total] = secret_items[place]
                    total += 1
    entry_starts[n_groups] = total
    return total, n_groups


@kernel
def _closes(record, item, secret_offsets, secret_items, secret_supports, targets, driving, group_starts, group, alive):
    """Return how many open named itemsets the record no longer holds without the item, and one of them."""
    total = 0
    first = np.int64(ABSENT)
    for at in range(group_starts[record], group_starts[record + 1]):
        secret = group[at]
        if not alive[at] or not driving[secret] or secret_supports[secret] <= targets[secret]:
            continue
        if holds(secret_offsets[secret], secret_offsets[secret + 1], secret_items, item):
            total += 1
            if first < 0:
                first = np.int64(secret)
    return total, first


@kernel
def score_records(
    part, n_parts, entry_starts, entry_record, entry_item, entry_keys, swaps, around_first, around_last, around,
    around_end, taking_part, rows, tracked, secrets, room, control,
):  # fmt: skip
    """Score the entries of one part of the records, and write which sets each takes part in, as long as there is room for that.

    Each part has its own stretch of `around`, before `around_end`, and counts in how many such lists each set is.
    """
    offsets, items, rank = rows
    single, keys, values, _, cost = tracked
    members, list_items, list_sets, list_bits, frames, found, found_bits = room
    written = around_end - len(around) // n_parts
    # Parts lie side by side: were they dealt out in turn, threads would write to the same cache lines.
    groups = len(entry_starts) - 1
    begin = part * groups // n_parts
    for group in range(begin, (part + 1) * groups // n_parts):
        if group & LOOK_EVERY == 0:
            control[DONE] = group - begin
            if control[STOP] != 0:
                return
        first, last = entry_starts[group], entry_starts[group + 1]
        record = entry_record[first]
        n_found = sets_of_record(
            first, last, entry_item, offsets[record], offsets[record + 1], items, rank, single, keys, values,
            members, list_items, list_sets, list_bits, frames, found, found_bits,
        )  # fmt: skip
        for entry in range(first, last):
            fits = written + n_found <= around_end
            around_first[entry] = written
            bit = np.int64(1) << (entry - first)
            total = 0.0
            for f in range(n_found):
                if found_bits[f] & bit != 0 and cost[found[f]] > 0:
                    total += cost[found[f]]
                    if fits:
                        around[written] = found[f]
                        written += 1
                        taking_part[found[f]] += 1
            around_last[entry] = written if fits else ABSENT
            alone = single[rank[entry_item[entry]]]
            if not swaps and alone >= 0:
                total += cost[alone]
            closed, _ = _closes(record, entry_item[entry], *secrets)
            entry_keys[entry] = total / max(closed, 1)


@kernel
def list_taking_part(around_first, around_last, around, starts, filled, entries):
    """List for each set the entries that take part in it, where `starts` leaves room for them."""
    for entry in range(len(around_first)):
        for at in range(around_first[entry], around_last[entry]):
            one = around[at]
            if starts[one + 1] > starts[one]:
                entries[starts[one] + filled[one]] = entry
                filled[one] += 1


@kernel
def hide(
    entry_record, entry_item, entry_keys, ranks, heap, around_first, around_last, around, touched,
    swaps, afi, most, patience, free, others_places, rows, index, tracked, more_tracked, secrets, more_secrets, room, more_room, control,
):  # fmt: skip
    """Take items away, the cheapest first, until every named itemset is at its target; entries with a key below 0 are planned."""
    offsets, items, rank = rows
    record_of, starts, held_by, entered_head, entered_next, entered_record, pair_row, pairs = index
    single, keys, values, supports, cost = tracked
    set_offsets, set_items, before, matters, weights, is_level, lowest, lost_for = more_tracked
    secret_offsets, secret_items, secret_supports, targets, driving, group_starts, group, alive = secrets
    of_item_starts, of_item, swapped, left_out = more_secrets
    members, list_items, list_sets, _, frames, found, _ = room
    others, seen, counters, remembered, where, taking_part_starts, taking_part, fallen = more_room
    size = len(heap)
    for at in range(size - 1, -1, -1):
        sift_down(heap, size, at, entry_keys, ranks, where)
    while size > 0 and counters[OPEN] > 0:
        counters[STEPS] += 1
        if counters[STEPS] & LOOK_EVERY == 0:
            control[DONE] = counters[SWAPPED] + counters[LEFT_OUT]
            if control[STOP] != 0:
                return
        entry = heap[0]
        record, item = entry_record[entry], entry_item[entry]
        closed, secret = _closes(record, item, *secrets)
        if closed > 0:
            if around_last[entry] >= 0 and not touched[record]:
                now = loss(around_first[entry], around_last[entry], around, cost)
            else:
                n_members = members_of(offsets[record], offsets[record + 1], items, rank, item, item, members)
                n_around = sets_around(
                    rank[item], members, n_members, single, keys, values, list_items, list_sets, frames, found
                )  # fmt: skip
                now = loss(0, n_around, found, cost)
            alone = single[rank[item]]
            if not swaps and alone >= 0:
                now += cost[alone]
            now /= closed
            second = np.inf
            for below in range(1, min(3, size)):
                second = min(second, entry_keys[heap[below]])
            if 0 <= entry_keys[entry] < now and now > second * ENOUGH + TINY:
                entry_keys[entry] = now
                sift_down(heap, size, 0, entry_keys, ranks, where)
                continue
            place = np.int64(ABSENT)
            if swaps:
                place = search(
                    record, item, patience[rank[item]], afi, free, others_places,
                    offsets, items, record_of, rank, starts, held_by, entered_head, entered_next, entered_record, pair_row, pairs,
                    set_offsets, set_items, single, keys, values, supports, cost, before, is_level, lowest,
                    secret_offsets, secret_items, of_item_starts, of_item,
                    members, others, list_items, list_sets, frames, found, seen, counters, remembered,
                )  # fmt: skip
            touched[record] = True
            if place >= 0:
                touched[record_of[place]] = True
                counters[SWAPPED] += 1
                swapped[secret] += 1
                patience[rank[item]] = min(most, 2 * patience[rank[item]])
            else:
                counters[LEFT_OUT] += 1
                left_out[secret] += 1
                patience[rank[item]] = max(1, patience[rank[item]] // 2)
            change(
                record, item, place, secret,
                offsets, items, record_of, rank, entered_head, entered_next, entered_record, pair_row, pairs,
                single, keys, values, supports, cost, matters, weights, is_level, lowest, lost_for,
                secret_offsets, secret_items, secret_supports, targets, driving, group_starts, group, alive,
                members, list_items, list_sets, frames, found, fallen, counters,
            )  # fmt: skip
        size -= 1
        where[entry] = ABSENT
        heap[0] = heap[size]
        if size > 0:
            sift_down(heap, size, 0, entry_keys, ranks, where)
        # What takes part in a set that was just lost has become cheaper, and would wait too far behind.
        while counters[FALLEN] > 0:
            counters[FALLEN] -= 1
            one = fallen[counters[FALLEN]]
            for at in range(taking_part_starts[one], taking_part_starts[one + 1]):
                other = taking_part[at]
                if where[other] >= 0 and entry_keys[other] > 0:
                    entry_keys[other] = max(0.0, entry_keys[other] - CHEAPER)
                    sift_up(heap, where[other], entry_keys, ranks, where)


@kernel
def tidy(offsets, items, was, new_offsets, new_items):
    """Write the records without what is gone, each in rising order; return how many items they hold."""
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
