# mypy: ignore-errors
# (Numba infers the types)
"""Frequent itemsets whose supports are kept up to date while rows change.

Items that matter, the frequent and the named ones, are numbered: their *rank*. A tracked set is found step by step: a table tells which set
a set becomes with one more item, by the exact pair of both, so that nothing is taken for something else. As all parts of a frequent set are
frequent, the sets that a row holds around an item are met by going from each only to its tracked neighbours.
"""

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

ABSENT = -1
COUNTED, BUDGET, WORK = 0, 1, 2
"""Places of `counters`: how many sets were counted, for how many more records that may go on, and how many sets were looked at."""
LOOK_EVERY = 1023
"""A mask: control arrays are looked at when a number that is counted up has none of these bits."""


@kernel
def lay_out(offsets, items, rank, starts, filled, pair_row, record_of, held_by, free, pairs, control):
    """List the records of each ranked item and the places of the others, and count pairs of ranked items; return how many are free."""
    n_free = 0
    for record in range(len(offsets) - 1):
        if record & LOOK_EVERY == 0:
            control[DONE] = record
            if control[STOP] != 0:
                return n_free
        for place in range(offsets[record], offsets[record + 1]):
            record_of[place] = record
            item = rank[items[place]]
            if item < 0:
                free[n_free] = place
                n_free += 1
                continue
            held_by[starts[item] + filled[item]] = record
            filled[item] += 1
            row = pair_row[item]
            if row < 0:
                continue
            for other in range(offsets[record], offsets[record + 1]):
                second = rank[items[other]]
                if second >= 0:
                    pairs[row, second] += 1
    control[DONE] = len(offsets) - 1
    return n_free


@kernel
def _slot(key, size):
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & (size - 1)


@kernel
def enter_children(offsets, items, parents, rank, width, keys, values):
    """Enter in a table which set each set becomes with one more item."""
    for one in range(len(offsets) - 1):
        for place in range(offsets[one], offsets[one + 1]):
            if parents[place] < 0:
                continue
            key = parents[place] * width + rank[items[place]]
            at = _slot(key, len(keys))
            while keys[at] >= 0:
                at = (at + 1) & (len(keys) - 1)
            keys[at] = key
            values[at] = one


@kernel
def child(one, item, width, keys, values):
    key = one * width + item
    at = _slot(key, len(keys))
    while keys[at] >= 0:
        if keys[at] == key:
            return np.int64(values[at])
        at = (at + 1) & (len(keys) - 1)
    return np.int64(ABSENT)


@kernel
def mark_supersets(offsets, items, is_named, secret_offsets, of_item_starts, of_item, count, matters, supersets):
    """Tell which sets hold no named itemset; the others cannot be kept, and each named itemset gets their number and the first of them."""
    for one in range(len(offsets) - 1):
        for place in range(offsets[one], offsets[one + 1]):
            item = items[place]
            for at in range(of_item_starts[item], of_item_starts[item + 1]):
                secret = of_item[at]
                count[secret] += 1
                if count[secret] < secret_offsets[secret + 1] - secret_offsets[secret]:
                    continue
                matters[one] = False
                if not is_named[one]:
                    supersets[secret, 0] += 1
                    if supersets[secret, 0] < supersets.shape[1]:
                        supersets[secret, supersets[secret, 0]] = one
        for place in range(offsets[one], offsets[one + 1]):
            item = items[place]
            for at in range(of_item_starts[item], of_item_starts[item + 1]):
                count[of_item[at]] = 0


@kernel
def holds(first, last, items, item):
    for place in range(first, last):
        if items[place] == item:
            return True
    return False


@kernel
def members_of(first, last, items, rank, left_out, also_left_out, members):
    """Write the ranks of the items of a row but two codes, and return how many there are."""
    found = 0
    for place in range(first, last):
        item = items[place]
        if item >= 0 and item != left_out and item != also_left_out and rank[item] >= 0:  # noqa: PLR1714 - a loop over arrays
            members[found] = rank[item]
            found += 1
    return found


@kernel
def sets_around(item, members, n_members, single, keys, values, list_items, list_sets, frames, found):
    """Write the tracked sets of two items and more that hold the item and else only members; return how many there are."""
    if single[item] < 0:
        return 0
    width = len(single)
    n_found = 0
    top = 0
    for m in range(n_members):
        one = child(single[item], members[m], width, keys, values)
        if one >= 0:
            list_items[top] = members[m]
            list_sets[top] = one
            top += 1
            found[n_found] = one
            n_found += 1
    depth = 0
    frames[0, 0] = 0
    frames[0, 1] = top
    while depth >= 0:
        at = frames[depth, 0]
        end = frames[depth, 1]
        if at >= end - 1:
            depth -= 1
            continue
        frames[depth, 0] = at + 1
        longer = end
        for later in range(at + 1, end):
            one = child(list_sets[at], list_items[later], width, keys, values)
            if one >= 0:
                list_items[longer] = list_items[later]
                list_sets[longer] = one
                longer += 1
                found[n_found] = one
                n_found += 1
        if longer > end + 1:
            depth += 1
            frames[depth, 0] = end
            frames[depth, 1] = longer
    return n_found


@kernel
def sets_of_record(
    first, last, entry_item, row_first, row_last, items, rank, single, keys, values,
    members, list_items, list_sets, list_bits, frames, found, found_bits,
):  # fmt: skip
    """Write the tracked sets in a row that hold one of its entries, and as bits which of these; return how many there are.

    Each is met once, at the first of its entries: these come before all other items.
    """
    width = len(single)
    n_entries = last - first
    for e in range(n_entries):
        members[e] = rank[entry_item[first + e]]
    n_members = n_entries
    for place in range(row_first, row_last):
        item = items[place]
        if rank[item] >= 0 and not holds(first, last, entry_item, item):
            members[n_members] = rank[item]
            n_members += 1
    n_found = 0
    for e in range(n_entries):
        start = single[members[e]]
        if start < 0:
            continue
        own = np.int64(1) << e
        top = 0
        for m in range(e + 1, n_members):
            one = child(start, members[m], width, keys, values)
            if one >= 0:
                list_items[top] = members[m]
                list_sets[top] = one
                list_bits[top] = own | (np.int64(1) << m) if m < n_entries else own
                found[n_found] = one
                found_bits[n_found] = list_bits[top]
                n_found += 1
                top += 1
        depth = 0
        frames[0, 0] = 0
        frames[0, 1] = top
        while depth >= 0:
            at = frames[depth, 0]
            end = frames[depth, 1]
            if at >= end - 1:
                depth -= 1
                continue
            frames[depth, 0] = at + 1
            longer = end
            for later in range(at + 1, end):
                one = child(list_sets[at], list_items[later], width, keys, values)
                if one >= 0:
                    list_items[longer] = list_items[later]
                    list_sets[longer] = one
                    list_bits[longer] = list_bits[at] | list_bits[later]
                    found[n_found] = one
                    found_bits[n_found] = list_bits[longer]
                    n_found += 1
                    longer += 1
            if longer > end + 1:
                depth += 1
                frames[depth, 0] = end
                frames[depth, 1] = longer
    return n_found


@kernel
def _count_records(
    first, others, n_others, offsets, items, rank, starts, held_by, entered_head, entered_next, entered_record, seen
):
    """Count the records that hold an item and all others, as rows are now; `seen` ends with the stamp of the last count."""
    stamp = seen[-1] + 1
    seen[-1] = stamp
    total = 0
    listed = starts[first + 1] - starts[first]
    turn = 0
    entered = entered_head[first]
    while turn < listed or entered >= 0:
        if turn < listed:
            record = held_by[starts[first] + turn]
            turn += 1
        else:
            record = entered_record[entered]
            entered = entered_next[entered]
        if seen[record] == stamp:
            continue
        seen[record] = stamp
        own = False
        matched = 0
        for place in range(offsets[record], offsets[record + 1]):
            item = items[place]
            if item < 0 or rank[item] < 0:
                continue
            if rank[item] == first:
                own = True
                continue
            for o in range(n_others):
                if others[o] == rank[item]:
                    matched += 1
                    break
        if own and matched == n_others:
            total += 1
    return total


@kernel
def new_sets(
    item, members, n_members, exact,
    offsets, items, rank, starts, held_by, entered_head, entered_next, entered_record, pair_row, pairs,
    set_offsets, set_items, single, keys, values, supports, before, is_level, lowest,
    others, list_items, list_sets, frames, seen, counters,
):  # fmt: skip
    """Return how many sets become frequent when the item joins the members, and how many more may."""
    row = pair_row[item]
    start = single[item]
    width = len(single)
    new = 0
    possible = 0
    untracked = 0
    top = 0
    for m in range(n_members):
        other = members[m]
        held = pairs[row, other]
        if held < lowest - 1:
            continue
        one = np.int64(ABSENT)
        if start >= 0:
            one = child(start, other, width, keys, values)
        if is_level[held + 1] and (one < 0 or before[one] <= held):
            new += 1
        elif one < 0:
            untracked += 1
        if one >= 0:
            list_items[top] = other
            list_sets[top] = one
            top += 1
    if untracked > 0 and untracked + top > 1:
        possible += untracked  # they are frequent now, and nobody looks at the larger sets that hold them
    depth = 0
    frames[0, 0] = 0
    frames[0, 1] = top
    while depth >= 0:
        at = frames[depth, 0]
        end = frames[depth, 1]
        if at >= end - 1:
            depth -= 1
            continue
        frames[depth, 0] = at + 1
        base = list_sets[at]
        longer = end
        counters[WORK] += end - at
        for later in range(at + 1, end):
            one = child(base, list_items[later], width, keys, values)
            if one >= 0:
                held = supports[one]
                if held < lowest - 1:
                    continue
                if is_level[held + 1] and before[one] <= held:
                    new += 1
                list_items[longer] = list_items[later]
                list_sets[longer] = one
                longer += 1
            elif exact <= 0 or counters[BUDGET] <= 0:
                possible += 1
            else:
                exact -= 1
                # The rarest of the items comes last, and its records are looked through.
                n_others = 1
                others[0] = list_items[later]
                for place in range(set_offsets[base], set_offsets[base + 1]):
                    part = rank[set_items[place]]
                    others[n_others] = part
                    if (
                        starts[part + 1] - starts[part]
                        > starts[others[n_others - 1] + 1] - starts[others[n_others - 1]]
                    ):
                        others[n_others] = others[n_others - 1]
                        others[n_others - 1] = part
                    n_others += 1
                rarest = others[n_others - 1]
                counters[COUNTED] += 1
                counters[BUDGET] -= starts[rarest + 1] - starts[rarest]
                held = _count_records(
                    rarest, others, n_others - 1, offsets, items, rank, starts, held_by, entered_head, entered_next, entered_record, seen
                )  # fmt: skip
                if held >= lowest - 1:
                    new += 1
        if longer > end + 1:
            depth += 1
            frames[depth, 0] = end
            frames[depth, 1] = longer
    return new, possible
