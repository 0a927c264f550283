"""Loops of Insert: occurrences that were left out come back, as long as every rule stays safe.

For an item t the records that lost it are grouped by what they hold now, and of each group as many take t as no rule forbids
(`_limit_kernels`). The *holders* of t, distinct contents of records that hold it, are listed under each of their items.

The slack of a holder is kept from one turn of t to the next (`slack_of`, with the number of items in `slack_size`, by the position of the
occurrence in the lists). Between two turns of t only other items are added, which makes it larger. So what was kept stays a valid bound
as long as the record holds the same items, and a record that gained none since holds as many as before.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.bits import bit_count
from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.uncertainty._limit_kernels import NODES, first_kind, second_kind, second_kind_of_new
from setveil.methods.uncertainty._table_kernels import (
    ONE,
    content,
    group,
    mixed,
    put,
    records_with,
    set_up,
    sorted_places,
)

__all__ = ["ADDED", "EVALUATED", "NODES", "REFUSED", "put_back", "set_up", "take_out"]

ADDED, REFUSED, EVALUATED = 0, 1, 2
"""Places in `counts`: occurrences put back, occurrences that were given up, contents looked at."""
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
ZERO = np.int64(0)
"""Where a loop starts to count what it hands on: a 0 that is written out would compile what takes it a second time."""


@kernel
def add_holder(row, t, number, offsets, items, present, heads, entries_next, entries_holder, n_entries):
    """List a new holder under each of its items; return how many entries there are then."""
    for place in range(offsets[row], offsets[row + 1]):
        if present[place] and items[place] != t:
            entries_holder[n_entries] = number
            entries_next[n_entries] = heads[items[place]]
            heads[items[place]] = n_entries
            n_entries += 1
    return n_entries


@kernel
def put_back(
    order, starts, rows_of, places_of, dead, for_good, part_of, part_sizes, whole, include_empty, plain_is_fixed, num, den, limit,
    offsets, items, present, is_sensitive, list_starts, held, lists, words, sums, hot, bits,
    versions, evaluated, clock, slack_of, slack_size, table, heads, entries_next, entries_holder, part_counts, longest, counts, control,
):  # fmt: skip
    """Go once through the items in their order, and put back as many occurrences of each as stay safe.

    `rows_of` and `places_of` list the original holders of each item and where the item stands in them. `dead` records can take no sensitive
    item; `for_good` are occurrences that cannot come back, which is known only where items that are not sensitive stay as they are.
    `versions` tells when an item last came back anywhere, `evaluated` when an occurrence was last looked at: one is looked at again only
    if something came back that it depends on.
    """
    most = 0
    for t in order:
        most = max(most, starts[t + 1] - starts[t])
    rows = np.empty(most, np.int64)
    spots = np.empty(most, np.int64)
    held_at = np.empty(most, np.int64)
    h_at = np.empty(most, np.int64)
    following = np.empty(most, np.int64)
    firsts = np.empty(most, np.int64)
    sizes = np.empty(most, np.int64)
    by_length = np.empty(most, np.int64)
    h_row = np.empty(most, np.int64)
    h_weight = np.empty(most, np.int64)
    h_length = np.empty(most, np.int64)
    h_slack = np.empty(most, np.int64)
    h_mask = np.zeros(most, np.uint64)
    touched = np.empty(most, np.int64)
    masks = np.empty(most, np.uint64)
    weights = np.empty(most, np.int64)
    slacks = np.empty(most, np.int64)
    by_slack = np.empty(most, np.int64)
    s_masks = np.empty(most, np.uint64)
    s_weights = np.empty(most, np.int64)
    s_slacks = np.empty(most, np.int64)
    k_items = np.empty(longest + 1, np.int64)
    q = np.empty(longest + 1, np.int64)
    used = np.empty(64, np.int64)
    lengths = np.zeros(longest + 2, np.int64)
    for t in order:
        if control[STOP]:
            return
        t_sensitive = is_sensitive[t]
        # Who lost t and may take it again.
        n_lost = ZERO
        n_held = ZERO
        for at in range(starts[t], starts[t + 1]):
            row, place = rows_of[at], places_of[at]
            if present[place]:
                touched[n_held] = row
                held_at[n_held] = at
                n_held += 1
                if whole and t_sensitive:
                    part_counts[part_of[row]] += 1
                continue
            if for_good[place] or (t_sensitive and dead[row]):
                continue
            if evaluated[place] >= 0:
                changed = versions[t] > evaluated[place]
                for other in range(offsets[row], offsets[row + 1]):
                    changed |= present[other] != 0 and versions[items[other]] > evaluated[place]
                if not changed:
                    continue
            rows[n_lost] = row
            spots[n_lost] = at
            n_lost += 1
        if n_lost > 0:
            put_back_item(
                t, t_sensitive, n_lost, n_held, part_of, part_sizes, whole, include_empty, plain_is_fixed, num, den, limit, for_good,
                offsets, items, present, is_sensitive, list_starts, held, lists, words, sums, hot, bits,
                versions, evaluated, clock, table, heads, entries_next, entries_holder, part_counts, counts,
                slack_of, slack_size, places_of, held_at, h_at,
                rows, spots, following, firsts, sizes, by_length, h_row, h_weight, h_length, h_slack, h_mask,
                touched, masks, weights, slacks, by_slack, s_masks, s_weights, s_slacks, k_items, q, used, lengths,
            )  # fmt: skip
        if whole and t_sensitive:
            for at in range(starts[t], starts[t + 1]):
                part_counts[part_of[rows_of[at]]] = 0
        control[DONE] += 1


@kernel
def take_out(
    order, starts, rows_of, places_of, for_good, offsets, present, held, sums, hot, bits, versions, evaluated, clock
):  # fmt: skip
    """Take every occurrence of some items out, which is safe for whole items; what they stood in the way of is looked at again.

    The words of the records keep their bits: they then let more pass, and nothing is missed.
    """
    clock[0] += 1
    for t in order:
        for at in range(starts[t], starts[t + 1]):
            row, place = rows_of[at], places_of[at]
            for_good[place] = False
            evaluated[place] = -1
            if present[place]:
                present[place] = 0
                sums[row] -= mixed(t)
                for other in range(offsets[row], offsets[row + 1]):
                    evaluated[other] = -1
        held[t] = 0
        versions[t] = clock[0]
        if hot[t] >= 0:
            for w in range(bits.shape[1]):
                bits[hot[t], w] = np.uint64(0)


@kernel
def put_back_item(
    t, t_sensitive, n_lost, n_held, part_of, part_sizes, whole, include_empty, plain_is_fixed, num, den, limit, for_good,
    offsets, items, present, is_sensitive, list_starts, held, lists, words, sums, hot, bits,
    versions, evaluated, clock, table, heads, entries_next, entries_holder, part_counts, counts,
    slack_of, slack_size, places_of, held_at, h_at,
    rows, spots, following, firsts, sizes, by_length, h_row, h_weight, h_length, h_slack, h_mask,
    touched, masks, weights, slacks, by_slack, s_masks, s_weights, s_slacks, k_items, q, used, lengths,
):  # fmt: skip
    """Put back as many occurrences of one item as stay safe; `touched` starts with the records that hold it already."""
    n_records = len(offsets) - 1
    # The holders, and under each item those that have it.
    n_entries = ZERO
    n_holders = ZERO
    slots = np.int64(2)
    while slots < 2 * max(n_held, n_lost):
        slots *= 2
    if n_held > 0:
        n_holders = group(touched, n_held, offsets, items, present, sums, table[:slots], firsts, sizes, following)
        for number in range(n_holders):
            row = touched[firsts[number]]
            h_row[number] = row
            h_at[number] = held_at[firsts[number]]
            h_weight[number] = sizes[number]
            size = content(row, offsets, items, present, k_items)
            h_length[number] = size - 1
            h_slack[number] = 0
            is_known = False
            at = firsts[number]
            while at >= 0 and not is_known:
                if slack_size[held_at[at]] == size:
                    h_slack[number] = slack_of[held_at[at]]
                    is_known = True
                at = following[at]
            if t_sensitive and size > 1 and not is_known:
                together = records_with(
                    k_items, size, offsets, items, present, list_starts, held, lists, words, hot, bits
                )
                rest = ZERO
                for k in range(size):
                    if k_items[k] != t:
                        q[rest] = k_items[k]
                        rest += 1
                h_slack[number] = (
                    records_with(q, rest, offsets, items, present, list_starts, held, lists, words, hot, bits)
                    - together
                )
            n_entries = add_holder(
                row, t, number, offsets, items, present, heads, entries_next, entries_holder, n_entries
            )
    n_groups = group(rows, n_lost, offsets, items, present, sums, table[:slots], firsts, sizes, following)
    # Shortest contents first.
    longest_here = 0
    for g in range(n_groups):
        size = content(rows[firsts[g]], offsets, items, present, k_items)
        by_length[g] = size
        longest_here = max(longest_here, size)
        lengths[size + 1] += 1
    for size in range(longest_here + 1):
        lengths[size + 1] += lengths[size]
    for g in range(n_groups):
        touched[lengths[by_length[g]]] = g
        lengths[by_length[g]] += 1
    for g in range(n_groups):
        by_length[g] = touched[g]
    for size in range(longest_here + 2):
        lengths[size] = 0

    for turn in range(n_groups):
        g = by_length[turn]
        first_row = rows[firsts[g]]
        counts[EVALUATED] += 1
        size = content(first_row, offsets, items, present, k_items)
        x = sizes[g]
        forever = False
        given_up = False
        n_sensitive = 0
        for k in range(size):
            n_sensitive += is_sensitive[k_items[k]]
        together = 0  # records that hold K
        if t_sensitive and include_empty:
            x = min(x, num * n_records // den - held[t])
        if t_sensitive and whole and (size > n_sensitive or include_empty):
            part = part_of[first_row]
            x = min(x, num * part_sizes[part] // den - part_counts[part])
        if t_sensitive and size > 0 and x > 0:
            together = records_with(k_items, size, offsets, items, present, list_starts, held, lists, words, hot, bits)
            x = min(x, num * together // den)
            forever = x <= 0 and n_sensitive == 0
        if x > 0 and n_sensitive > 0 and n_holders == 0:
            x = 0  # t would come with these sensitive items alone
        n_touched = ZERO
        holder_of_k = -1
        with_all = 0
        if x > 0 and size > 0 and (t_sensitive or n_sensitive > 0):
            # What the holders share with K.
            n_used = ZERO
            too_many = False
            for k in range(size):
                if heads[k_items[k]] < 0:
                    continue
                if n_used == 64:
                    too_many = True
                    break
                used[n_used] = k
                entry = heads[k_items[k]]
                while entry >= 0:
                    holder = entries_holder[entry]
                    if h_mask[holder] == np.uint64(0):
                        touched[n_touched] = holder
                        n_touched += 1
                    h_mask[holder] |= ONE << np.uint64(n_used)
                    entry = entries_next[entry]
                n_used += 1
            full = FULL if n_used == 64 else (ONE << np.uint64(n_used)) - ONE
            if too_many:
                x = 0
                given_up = True
            else:
                for at in range(n_touched):
                    holder = touched[at]
                    masks[at] = h_mask[holder]
                    weights[at] = h_weight[holder]
                    if n_used == size and masks[at] == full:
                        with_all += weights[at]
                        if h_length[holder] == size:
                            holder_of_k = holder
                if t_sensitive:
                    x = min(x, num * together // den - with_all)
                    forever = x <= 0 and n_sensitive == 0
                for b in range(n_used):
                    if x <= 0:
                        break
                    if not is_sensitive[k_items[used[b]]]:
                        continue
                    rest = full & ~(ONE << np.uint64(b))
                    x = second_kind(
                        x, b, rest, n_used == size, held[t], n_touched, masks, weights, num, den, limit, counts
                    )
                    given_up |= x < 0
                if n_used < size and x > 0:
                    for k in range(size):  # a sensitive item that no holder has: they must not all come with it
                        if is_sensitive[k_items[k]] and heads[k_items[k]] < 0:
                            x = second_kind_of_new(x, size, held[t], n_used, full, n_touched, masks, weights, num, den)
                if x > 0 and t_sensitive and n_touched > 0:
                    base = together - with_all - x
                    total = 0
                    for at in range(n_touched):
                        total += weights[at]
                    if (total + x) * (den - num) > num * base:
                        for at in range(n_touched):
                            holder = touched[at]
                            slacks[at] = h_slack[holder]
                            if bit_count(masks[at]) == h_length[holder]:
                                slacks[at] -= x  # its counterparts may be those that get t
                        sorted_places(slacks, n_touched, by_slack)
                        for at in range(n_touched):
                            s_masks[at] = masks[by_slack[at]]
                            s_weights[at] = weights[by_slack[at]]
                            s_slacks[at] = slacks[by_slack[at]]
                        x, forever = first_kind(
                            x, k_items, used, n_used, full, base, n_touched, s_masks, s_weights, s_slacks,
                            num, den, limit, is_sensitive, counts,
                            offsets, items, present, list_starts, held, lists, words, hot, bits,
                        )  # fmt: skip
                        given_up |= x < 0
            for at in range(n_touched):
                if x > 0 and bit_count(h_mask[touched[at]]) == h_length[touched[at]]:
                    h_slack[touched[at]] -= x
        # Give t to the first x records of the group; the others were looked at now, unless that was given up.
        clock[0] += 1
        if given_up:
            counts[REFUSED] += sizes[g]
        left = max(x, 0)
        at = firsts[g]
        given_to = -1
        given_at = -1
        while at >= 0:
            row = rows[at]
            place = places_of[spots[at]]
            if left > 0:
                left -= 1
                present[place] = 1
                put(row, t, list_starts, held, lists, words, sums, hot, bits)
                counts[ADDED] += 1
                versions[t] = clock[0]
                given_to = row
                given_at = spots[at]
                if whole and t_sensitive:
                    part_counts[part_of[row]] += 1
            else:
                for_good[place] = forever and plain_is_fixed
                evaluated[place] = -1 if given_up else clock[0]
            at = following[at]
        for at in range(n_touched):
            h_mask[touched[at]] = np.uint64(0)
        if given_to >= 0:
            if holder_of_k >= 0:
                h_weight[holder_of_k] += x
            else:
                h_row[n_holders] = given_to
                h_at[n_holders] = given_at
                h_weight[n_holders] = x
                h_length[n_holders] = size
                h_slack[n_holders] = together - with_all - x
                n_entries = add_holder(
                    given_to, t, n_holders, offsets, items, present, heads, entries_next, entries_holder, n_entries
                )
                n_holders += 1
    # Keep the slacks, and leave no entry behind.
    for holder in range(n_holders):
        row = h_row[holder]
        if t_sensitive:
            slack_of[h_at[holder]] = h_slack[holder]
            slack_size[h_at[holder]] = h_length[holder] + 1
        for place in range(offsets[row], offsets[row + 1]):
            heads[items[place]] = -1
