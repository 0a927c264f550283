"""Loops of Insert: occurrences that were left out come back, as long as every rule stays safe.

The *table* is what is there at a time: `present` tells for each occurrence of the original whether it is. For an item t the records that lost
it are grouped by their content K. Adding t to x records of a group can only make two kinds of rules stronger (spec, L5):

  first    q → t, q within K, if t is sensitive: x more records hold q and t, and as many as before hold q;
  second   q + t → f, f a sensitive item of K and q within K without f: x more records hold q and t, all of them with f.

Only sets q count that are all that some holders of t have in common with K, and K itself. A *holder* is a distinct content among the records
that hold t; it goes by the bits of the items that it shares with K. Its *slack* is the number of records that hold all its other items and
not t: no part of it has fewer. So holders in the order of their slack bound the first kind of rule without a look at any q.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.bits import bit_count
from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

ADDED, REFUSED, EVALUATED, SEARCHED, NODES, SCANS = 0, 1, 2, 3, 4, 5
"""What is counted on the way."""
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE = np.uint64(1)


@kernel
def mixed(item):
    """Return a word of well mixed bits for an item."""
    word = np.uint64(item) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
    word ^= word >> np.uint64(29)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    return word ^ (word >> np.uint64(32))


@kernel
def set_up(offsets, items, present, list_starts, held, lists, words, sums, hot, bits):
    """Lay out the table: which records hold each item, and a word of bits and a sum by which contents are told apart."""
    for row in range(len(offsets) - 1):
        for place in range(offsets[row], offsets[row + 1]):
            if present[place]:
                put(row, items[place], list_starts, held, lists, words, sums, hot, bits)


@kernel
def put(row, item, list_starts, held, lists, words, sums, hot, bits):
    """Let a record hold one more item."""
    lists[list_starts[item] + held[item]] = row
    held[item] += 1
    word = mixed(item)
    words[row] |= ONE << (word & np.uint64(63))
    sums[row] += word
    if hot[item] >= 0:
        bits[hot[item], row >> 6] |= ONE << np.uint64(row & 63)


@kernel
def content(row, offsets, items, present, into):
    """Write what a record holds now, and return how much that is."""
    size = 0
    for place in range(offsets[row], offsets[row + 1]):
        if present[place]:
            into[size] = items[place]
            size += 1
    return size


@kernel
def holds(row, item, offsets, items, present):
    """Tell whether a record holds an item now."""
    place, end = offsets[row], offsets[row + 1]
    while place < end:
        middle = (place + end) >> 1
        if items[middle] < item:
            place = middle + 1
        else:
            end = middle
    return place < offsets[row + 1] and items[place] == item and present[place] != 0


@kernel
def records_with(q, size, offsets, items, present, list_starts, held, lists, words, hot, bits):
    """Count the records that hold all of q, which is not empty."""
    rarest = q[0]
    all_hot = True
    for k in range(size):
        if held[q[k]] < held[rarest]:
            rarest = q[k]
        all_hot &= hot[q[k]] >= 0
    if size == 1 or held[rarest] == 0:
        return held[rarest]
    total = 0
    if all_hot and held[rarest] > bits.shape[1]:
        for w in range(bits.shape[1]):
            word = bits[hot[rarest], w]
            for k in range(size):
                word &= bits[hot[q[k]], w]
            if word:
                total += bit_count(word)
        return total
    word = np.uint64(0)
    for k in range(size):
        word |= ONE << (mixed(q[k]) & np.uint64(63))
    for at in range(list_starts[rarest], list_starts[rarest] + held[rarest]):
        row = lists[at]
        if (words[row] & word) != word:
            continue
        fits = True
        for k in range(size):
            item = q[k]
            if item == rarest:
                continue
            if hot[item] >= 0:
                fits = (bits[hot[item], row >> 6] >> np.uint64(row & 63)) & ONE != 0
            else:
                fits = holds(row, item, offsets, items, present)
            if not fits:
                break
        if fits:
            total += 1
    return total


@kernel
def same_content(row, other, offsets, items, present):
    """Tell whether two records hold the same items now."""
    a, b = offsets[row], offsets[other]
    while True:
        while a < offsets[row + 1] and not present[a]:
            a += 1
        while b < offsets[other + 1] and not present[b]:
            b += 1
        if a == offsets[row + 1] or b == offsets[other + 1]:
            return a == offsets[row + 1] and b == offsets[other + 1]
        if items[a] != items[b]:
            return False
        a += 1
        b += 1


@kernel
def group(rows, n_rows, offsets, items, present, sums, table, firsts, sizes, following):
    """Group records by content: `firsts` and `sizes` of each group, and for each record the next one of its group.

    `table` is as long as a power of two above twice the records, and 0 everywhere, before and after.
    """
    n_groups = 0
    mask = np.uint64(len(table) - 1)
    for at in range(n_rows):
        row = rows[at]
        slot = (sums[row] ^ (sums[row] >> np.uint64(31))) & mask
        while True:
            known = table[slot]
            if known == 0:
                table[slot] = n_groups + 1
                firsts[n_groups] = at
                sizes[n_groups] = 1
                following[at] = -1
                n_groups += 1
                break
            first = rows[firsts[known - 1]]
            if sums[first] == sums[row] and same_content(row, first, offsets, items, present):
                following[at] = firsts[known - 1]  # in front: the one seen last comes first
                firsts[known - 1] = at
                sizes[known - 1] += 1
                break
            slot = (slot + ONE) & mask
    for at in range(n_rows):
        row = rows[at]
        slot = (sums[row] ^ (sums[row] >> np.uint64(31))) & mask
        while table[slot] != 0:
            table[slot] = 0
            slot = (slot + ONE) & mask
    return n_groups


@kernel
def first_kind(
    x, k_items, used, n_used, full, base, n_touched, masks, weights, slacks, num, den, limit, is_sensitive, counts,
    offsets, items, present, list_starts, held, lists, words, hot, bits,
):  # fmt: skip
    """Return how many of x records can take t so that no rule q → t becomes unsafe; -1 where the search was given up.

    `base` is how many records hold K without t after x were added. Holders are given by mask, weight and slack, in the order of slack; `used`
    are the places in K that the bits of the masks stand for.
    """
    forever = False
    room = np.empty(4 * n_touched + 16, np.int64)
    tops = np.empty((n_used + 2, 4), np.int64)  # first and last holder, the set, the next bit
    sets = np.empty(n_used + 2, np.uint64)
    q = np.empty(n_used + 1, np.int64)
    for at in range(n_touched):
        room[at] = at
    level, first, last, core, q_before = 0, 0, n_touched, -1, np.uint64(0)
    nodes = 0
    entering = True
    while True:
        if entering:
            entering = False
            nodes += 1
            if nodes > limit:
                counts[NODES] += nodes
                return -1, False
            with_t = x
            worst = False
            closed = full
            for at in range(first, last):
                with_t += weights[room[at]]
                closed &= masks[room[at]]
                worst |= with_t * (den - num) > num * max(base, slacks[room[at]])
            go_on = worst
            if core >= 0 and (closed & ~q_before) & ((ONE << np.uint64(core)) - ONE):
                go_on = False  # reached by a smaller bit already
            if go_on and closed != np.uint64(0):
                least = max(base, slacks[room[last - 1]])
                if with_t * (den - num) > num * least:
                    size = 0
                    plain = True
                    for b in range(n_used):
                        if (closed >> np.uint64(b)) & ONE:
                            q[size] = k_items[used[b]]
                            plain &= not is_sensitive[q[size]]
                            size += 1
                    counts[SCANS] += 1
                    all_of_them = records_with(q, size, offsets, items, present, list_starts, held, lists, words, hot, bits)
                    most = num * all_of_them // den - (with_t - x)
                    if most < x:
                        x = most
                        forever = plain
                        if x <= 0:
                            counts[NODES] += nodes
                            return 0, forever
            tops[level, 0] = first
            tops[level, 1] = last
            tops[level, 2] = core + 1 if go_on else n_used
            sets[level] = closed
        bit = tops[level, 2]
        while bit < n_used and (sets[level] >> np.uint64(bit)) & ONE:
            bit += 1
        if bit >= n_used:
            level -= 1
            if level < 0:
                counts[NODES] += nodes
                return x, False
            continue
        tops[level, 2] = bit + 1
        first = tops[level, 1]
        needed = first + tops[level, 1] - tops[level, 0]
        if needed > len(room):
            larger = np.empty(2 * needed, np.int64)
            larger[:first] = room[:first]
            room = larger
        last = first
        for at in range(tops[level, 0], tops[level, 1]):
            if (masks[room[at]] >> np.uint64(bit)) & ONE:
                room[last] = room[at]
                last += 1
        if last == first:
            continue
        q_before = sets[level]
        core = bit
        level += 1
        entering = True


@kernel
def second_kind(x, f_bit, rest, full_rest, all_with_t, n_touched, masks, weights, num, den, limit, counts):
    """Return how many of x records can take t so that no rule q + t → f becomes unsafe; -1 where the search was given up.

    `rest` are the bits of K without f; `full_rest` tells whether every item of K without f has a bit.
    """
    f = ONE << np.uint64(f_bit)
    fewest = 0  # holders of t with all of K but f: every q has at least these
    with_f = 0
    n_with = 0
    room = np.empty(4 * n_touched + 16, np.int64)
    for at in range(n_touched):
        if masks[at] & f:
            with_f += weights[at]
            room[n_with] = at
            n_with += 1
        elif full_rest and (masks[at] & rest) == rest:
            fewest += weights[at]
    if full_rest and rest == np.uint64(0):
        fewest = all_with_t - with_f  # those count too that share nothing with K
    if (with_f + x) * (den - num) <= num * fewest:
        return x
    x = min(x, num * fewest // (den - num))
    if x <= 0:
        return 0
    counts[SEARCHED] += 1
    tops = np.empty((66, 3), np.int64)
    sets = np.empty(66, np.uint64)
    level, first, last, core, q_before = 0, 0, n_with, -1, np.uint64(0)
    nodes = 0
    entering = True
    while True:
        if entering:
            entering = False
            nodes += 1
            if nodes > limit:
                counts[NODES] += nodes
                return -1
            with_f = 0
            closed = rest
            for at in range(first, last):
                with_f += weights[room[at]]
                closed &= masks[room[at]]
            go_on = (with_f + x) * (den - num) > num * fewest
            if core >= 0 and (closed & ~q_before) & ((ONE << np.uint64(core)) - ONE):
                go_on = False
            if go_on:
                without_f = 0
                if closed == np.uint64(0):
                    without_f = all_with_t - with_f
                else:
                    for at in range(n_touched):
                        if not masks[at] & f and (masks[at] & closed) == closed:
                            without_f += weights[at]
                x = min(x, num * without_f // (den - num) - with_f)
                if x <= 0:
                    counts[NODES] += nodes
                    return 0
            tops[level, 0] = first
            tops[level, 1] = last
            tops[level, 2] = core + 1 if go_on else 64
            sets[level] = closed
        bit = tops[level, 2]
        while bit < 64 and (not (rest >> np.uint64(bit)) & ONE or (sets[level] >> np.uint64(bit)) & ONE):
            bit += 1
        if bit >= 64:
            level -= 1
            if level < 0:
                counts[NODES] += nodes
                return x
            continue
        tops[level, 2] = bit + 1
        first = tops[level, 1]
        needed = first + tops[level, 1] - tops[level, 0]
        if needed > len(room):
            larger = np.empty(2 * needed, np.int64)
            larger[:first] = room[:first]
            room = larger
        last = first
        for at in range(tops[level, 0], tops[level, 1]):
            if (masks[room[at]] >> np.uint64(bit)) & ONE:
                room[last] = room[at]
                last += 1
        if last == first:
            continue
        q_before = sets[level]
        core = bit
        level += 1
        entering = True


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
    order, starts, rows_of, places_of, dead, for_good, part_of, part_sizes, whole, include_empty, plain_is_fixed, nums, den, limit,
    offsets, items, present, is_sensitive, list_starts, held, lists, words, sums, hot, bits,
    versions, evaluated, clock, table, heads, entries_next, entries_holder, part_counts, longest, counts, control,
):  # fmt: skip
    """Go once through the items in their order, and put back as many occurrences of each as stay safe.

    `rows_of` and `places_of` list the original holders of each item and where the item stands in them. `dead` records can take no sensitive
    item, `for_good` are occurrences that cannot come back, which is known only where items that are not sensitive never do. `versions` tells when an item last came back anywhere, `evaluated` when an
    occurrence was last looked at: one is looked at again only if something came back that it depends on.
    """
    most = 0
    for t in order:
        most = max(most, starts[t + 1] - starts[t])
    rows = np.empty(most, np.int64)
    spots = np.empty(most, np.int64)
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
    k_items = np.empty(longest + 1, np.int64)
    q = np.empty(longest + 1, np.int64)
    used = np.empty(64, np.int64)
    lengths = np.zeros(longest + 2, np.int64)
    for t in order:
        if control[STOP]:
            return
        t_sensitive = is_sensitive[t]
        # Who lost t and may take it again.
        n_lost = 0
        n_held = 0
        for at in range(starts[t], starts[t + 1]):
            row, place = rows_of[at], places_of[at]
            if present[place]:
                firsts[n_held] = row
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
            spots[n_lost] = place
            n_lost += 1
        if n_lost > 0:
            put_back_item(
                t, t_sensitive, n_lost, n_held, part_of, part_sizes, whole, include_empty, plain_is_fixed, nums, den, limit, for_good,
                offsets, items, present, is_sensitive, list_starts, held, lists, words, sums, hot, bits,
                versions, evaluated, clock, table, heads, entries_next, entries_holder, part_counts, counts,
                rows, spots, following, firsts, sizes, by_length, h_row, h_weight, h_length, h_slack, h_mask,
                touched, masks, weights, slacks, k_items, q, used, lengths,
            )  # fmt: skip
        if whole and t_sensitive:
            for at in range(starts[t], starts[t + 1]):
                part_counts[part_of[rows_of[at]]] = 0
        control[DONE] += 1


@kernel
def put_back_item(
    t, t_sensitive, n_lost, n_held, part_of, part_sizes, whole, include_empty, plain_is_fixed, nums, den, limit, for_good,
    offsets, items, present, is_sensitive, list_starts, held, lists, words, sums, hot, bits,
    versions, evaluated, clock, table, heads, entries_next, entries_holder, part_counts, counts,
    rows, spots, following, firsts, sizes, by_length, h_row, h_weight, h_length, h_slack, h_mask,
    touched, masks, weights, slacks, k_items, q, used, lengths,
):  # fmt: skip
    """Put back as many occurrences of one item as stay safe; `firsts` starts with the records that hold it already."""
    n_records = len(offsets) - 1
    num = nums[t]
    # The holders, and under each item those that have it.
    n_entries = 0
    n_holders = 0
    slots = np.int64(2)
    while slots < 2 * max(n_held, n_lost):
        slots *= 2
    if n_held > 0:
        for at in range(n_held):
            touched[at] = firsts[at]
        n_holders = group(touched, n_held, offsets, items, present, sums, table[:slots], firsts, sizes, following)
        for number in range(n_holders):
            row = touched[firsts[number]]
            h_row[number] = row
            h_weight[number] = sizes[number]
            size = content(row, offsets, items, present, k_items)
            h_length[number] = size - 1
            h_slack[number] = 0
            if t_sensitive and size > 1:
                together = records_with(k_items, size, offsets, items, present, list_starts, held, lists, words, hot, bits)
                rest = 0
                for k in range(size):
                    if k_items[k] != t:
                        q[rest] = k_items[k]
                        rest += 1
                h_slack[number] = (
                    records_with(q, rest, offsets, items, present, list_starts, held, lists, words, hot, bits) - together
                )
            n_entries = add_holder(row, t, number, offsets, items, present, heads, entries_next, entries_holder, n_entries)
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
        n_touched = 0
        holder_of_k = -1
        with_all = 0
        if x > 0 and size > 0 and (t_sensitive or n_sensitive > 0):
            # What the holders share with K.
            n_used = 0
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
                counts[REFUSED] += sizes[g]
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
                    f_num = nums[k_items[used[b]]]
                    x = second_kind(x, b, rest, n_used == size, held[t], n_touched, masks, weights, f_num, den, limit, counts)
                    if x < 0:
                        counts[REFUSED] += sizes[g]
                if n_used < size and x > 0:
                    for k in range(size):  # a sensitive item that no holder has: they must not all come with it
                        if is_sensitive[k_items[k]] and heads[k_items[k]] < 0:
                            f_num = nums[k_items[k]]
                            x = second_kind_of_new(x, size, held[t], n_used, full, n_touched, masks, weights, f_num, den)
                if x > 0 and t_sensitive and n_touched > 0:
                    base = together - with_all - x
                    total = 0
                    for at in range(n_touched):
                        total += weights[at]
                    if (total + x) * (den - num) > num * base:
                        counts[SEARCHED] += 1
                        for at in range(n_touched):
                            holder = touched[at]
                            slacks[at] = h_slack[holder]
                            if bit_count(masks[at]) == h_length[holder]:
                                slacks[at] -= x  # its counterparts may be those that get t
                        by_slack = np.argsort(slacks[:n_touched], kind="mergesort")
                        x, forever = first_kind(
                            x, k_items, used, n_used, full, base, n_touched, masks[by_slack], weights[by_slack], slacks[by_slack],
                            num, den, limit, is_sensitive, counts,
                            offsets, items, present, list_starts, held, lists, words, hot, bits,
                        )  # fmt: skip
                        if x < 0:
                            counts[REFUSED] += sizes[g]
            for at in range(n_touched):
                if x > 0 and bit_count(h_mask[touched[at]]) == h_length[touched[at]]:
                    h_slack[touched[at]] -= x
        # Give t to the first x records of the group; the others were looked at now.
        clock[0] += 1
        left = max(x, 0)
        at = firsts[g]
        given_to = -1
        while at >= 0:
            row = rows[at]
            if left > 0:
                left -= 1
                present[spots[at]] = 1
                put(row, t, list_starts, held, lists, words, sums, hot, bits)
                counts[ADDED] += 1
                versions[t] = clock[0]
                given_to = row
                if whole and t_sensitive:
                    part_counts[part_of[row]] += 1
            else:
                for_good[spots[at]] = forever and plain_is_fixed
                evaluated[spots[at]] = clock[0]
            at = following[at]
        for at in range(n_touched):
            h_mask[touched[at]] = np.uint64(0)
        if given_to >= 0:
            if holder_of_k >= 0:
                h_weight[holder_of_k] += x
            else:
                h_row[n_holders] = given_to
                h_weight[n_holders] = x
                h_length[n_holders] = size
                h_slack[n_holders] = together - with_all - x
                n_entries = add_holder(
                    given_to, t, n_holders, offsets, items, present, heads, entries_next, entries_holder, n_entries
                )
                n_holders += 1
    # Leave no entry behind.
    for holder in range(n_holders):
        row = h_row[holder]
        for place in range(offsets[row], offsets[row + 1]):
            heads[items[place]] = -1


@kernel
def second_kind_of_new(x, size, all_with_t, n_used, full, n_touched, masks, weights, num, den):
    """Return how many of x records can take t beside a sensitive item that no holder of t has: its rules start with this one."""
    if n_used < size - 1:
        return 0  # another item of K is in no holder either: nobody holds all the others and t
    without = all_with_t if size == 1 else 0
    for at in range(n_touched):
        if masks[at] == full:
            without += weights[at]
    return min(x, num * without // (den - num))
