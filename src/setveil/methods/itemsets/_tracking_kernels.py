# mypy: ignore-errors
# (Numba infers the types)
"""Frequent itemsets whose supports are kept up to date while rows change.

Items that matter, the frequent and the named ones, are numbered: their *rank*. A tracked set is found step by step: a table tells which set
a set becomes with one more item, by the exact pair of both, so that nothing is taken for something else. As all parts of a frequent set are
frequent, the sets that a row holds around an item are met by going from each only to its tracked neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

ABSENT, ZERO, ONE = np.int64(-1), np.int64(0), np.int64(1)
COUNTED, BUDGET, WORK = 0, 1, 2
"""Places of `counters`: how many sets were counted, for how many more records that may go on, and how many sets were looked at."""
LOOK_EVERY = 1023
"""A mask: control arrays are looked at when a number that is counted up has none of these bits."""


class Rows(NamedTuple):
    """The records as codes of items, -1 where one left, and the rank of each code, -1 if it does not matter."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    rank: NDArray[np.int32]


class Index(NamedTuple):
    """Where items are: the record of each place, the records of each ranked item, and counts of pairs.

    `held_by` lists the records of each ranked item at the start, from `starts` on; those that it entered later are chained from
    `entered_head`. Either may have lost it again. `pairs[pair_row[a], b]` records hold a and b; `pair_row` is -1 where that is not counted.
    `seen` has a stamp for each record, and last of all the stamp of the last count.
    """

    record_of: NDArray[np.int32]
    starts: NDArray[np.int64]
    held_by: NDArray[np.int32]
    entered_head: NDArray[np.int64]
    entered_next: NDArray[np.int64]
    entered_record: NDArray[np.int32]
    pair_row: NDArray[np.int64]
    pairs: NDArray[np.int32]
    seen: NDArray[np.int64]


class Named(NamedTuple):
    """The items of each named itemset, and the named itemsets of each item."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    of_item_starts: NDArray[np.int64]
    of_item: NDArray[np.int32]


class Tree(NamedTuple):
    """The set of each ranked item alone, -1 if it is not tracked, and a table of which set a set becomes with one more item."""

    single: NDArray[np.int64]
    keys: NDArray[np.int64]
    values: NDArray[np.int32]


class Sets(NamedTuple):
    """The tracked sets: how to find them, their items, their supports before and now, and what losing a record costs.

    `cost` is `weights` at the present support, or 0 for a set that does not matter; `is_level` marks the supports that are thresholds, and
    `lowest` is the least of these; `lost_for` names the named itemset for which a set fell below that last.
    """

    tree: Tree
    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    before: NDArray[np.int64]
    supports: NDArray[np.int64]
    cost: NDArray[np.float64]
    matters: NDArray[np.bool_]
    weights: NDArray[np.float64]
    is_level: NDArray[np.bool_]
    lost_for: NDArray[np.int64]
    lowest: np.int64


class Room(NamedTuple):
    """Room for one row: ranks of its items and of a set's, a stack of lists of items and sets with bits, and the sets found with theirs."""

    members: NDArray[np.int32]
    parts: NDArray[np.int32]
    list_items: NDArray[np.int32]
    list_sets: NDArray[np.int64]
    list_bits: NDArray[np.int64]
    frames: NDArray[np.int64]
    found: NDArray[np.int32]
    found_bits: NDArray[np.int64]


class World(NamedTuple):
    """The records, where items are in them, the tracked sets, room, and counters."""

    rows: Rows
    index: Index
    sets: Sets
    room: Room
    counters: NDArray[np.int64]


@kernel
def lay_out(rows, index, filled, free, control):
    """List the records of each ranked item and the places of the others, and count pairs of ranked items; return how many are free."""
    offsets, items, rank = rows
    n_free = 0
    for record in range(len(offsets) - 1):
        if record & LOOK_EVERY == 0:
            control[DONE] = record
            if control[STOP] != 0:
                return n_free
        for place in range(offsets[record], offsets[record + 1]):
            index.record_of[place] = record
            item = rank[items[place]]
            if item < 0:
                free[n_free] = place
                n_free += 1
                continue
            index.held_by[index.starts[item] + filled[item]] = record
            filled[item] += 1
            row = index.pair_row[item]
            if row < 0:
                continue
            for other in range(offsets[record], offsets[record + 1]):
                second = rank[items[other]]
                if second >= 0:
                    index.pairs[row, second] += 1
    control[DONE] = len(offsets) - 1
    return n_free


@kernel
def _slot(key, size):
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & (size - 1)


@kernel
def enter_children(offsets, items, parents, rank, tree):
    """Enter in a table which set each set becomes with one more item."""
    keys, width = tree.keys, len(tree.single)
    for one in range(len(offsets) - 1):
        for place in range(offsets[one], offsets[one + 1]):
            if parents[place] < 0:
                continue
            key = parents[place] * width + rank[items[place]]
            at = _slot(key, len(keys))
            while keys[at] >= 0:
                at = (at + 1) & (len(keys) - 1)
            keys[at] = key
            tree.values[at] = one


@kernel
def child(one, item, tree):
    """Return the set that a set becomes with one more item, or ABSENT."""
    keys = tree.keys
    key = one * len(tree.single) + item
    at = _slot(key, len(keys))
    while keys[at] >= 0:
        if keys[at] == key:
            return np.int64(tree.values[at])
        at = (at + 1) & (len(keys) - 1)
    return ABSENT


@kernel
def mark_supersets(offsets, items, is_named, named, count, matters, supersets):
    """Tell which sets hold no named itemset; the others cannot be kept, and each named itemset gets their number and the first of them."""
    of_item_starts, of_item = named.of_item_starts, named.of_item
    for one in range(len(offsets) - 1):
        for place in range(offsets[one], offsets[one + 1]):
            item = items[place]
            for at in range(of_item_starts[item], of_item_starts[item + 1]):
                secret = of_item[at]
                count[secret] += 1
                if count[secret] < named.offsets[secret + 1] - named.offsets[secret]:
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
    """Return whether an item is among those from one place to before another."""
    for place in range(first, last):
        if items[place] == item:
            return True
    return False


@kernel
def members_of(record, left_out, also_left_out, rows, members):
    """Write the ranks of the items of a row but two codes, and return how many there are."""
    offsets, items, rank = rows
    found = ZERO
    for place in range(offsets[record], offsets[record + 1]):
        item = items[place]
        if item >= 0 and item != left_out and item != also_left_out and rank[item] >= 0:  # noqa: PLR1714 - a loop over arrays
            members[found] = rank[item]
            found += 1
    return found


@kernel
def sets_from(start, own, first, n_members, n_entries, n_found, tree, room):
    """Write the tracked sets that add to set `start` some members from `first` on, after those found; return how many there are then.

    Each gets the bits `own`, and of those of its added members that are entries, which are the first members. Sets of one list on the stack
    differ in their last item only; each is extended by the items of those after it, so that every set is met once. There is one way out,
    and no call but of `child`, so that Numba counts no references here.
    """
    members, found, found_bits = room.members, room.found, room.found_bits
    list_items, list_sets, list_bits, frames = room.list_items, room.list_sets, room.list_bits, room.frames
    top = ZERO
    for m in range(first, n_members if start >= 0 else first):
        one = child(start, members[m], tree)
        if one >= 0:
            list_items[top] = members[m]
            list_sets[top] = one
            list_bits[top] = own | (ONE << m) if m < n_entries else own
            found[n_found] = one
            found_bits[n_found] = list_bits[top]
            n_found += 1
            top += 1
    depth = ZERO
    frames[0, 0] = 0
    frames[0, 1] = top
    while depth >= 0:
        at, end = frames[depth, 0], frames[depth, 1]
        if at >= end - 1:
            depth -= 1
            continue
        frames[depth, 0] = at + 1
        longer = end
        for later in range(at + 1, end):
            one = child(list_sets[at], list_items[later], tree)
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
def sets_around(item, n_members, tree, room):
    """Write the tracked sets of two items and more that hold the item and else only members; return how many there are."""
    return sets_from(tree.single[item], ONE, ZERO, n_members, ZERO, ZERO, tree, room)


@kernel
def sets_of_record(record, first, last, entry_item, rows, tree, room):
    """Write the tracked sets in a row that hold one of its entries, and as bits which of these; return how many there are.

    Each is met once, at the first of its entries: these come before all other items.
    """
    members, rank = room.members, rows.rank
    n_entries = last - first
    for e in range(n_entries):
        members[e] = rank[entry_item[first + e]]
    n_members = n_entries
    for place in range(rows.offsets[record], rows.offsets[record + 1]):
        item = rows.items[place]
        if rank[item] >= 0 and not holds(first, last, entry_item, item):
            members[n_members] = rank[item]
            n_members += 1
    n_found = ZERO
    for e in range(n_entries):
        n_found = sets_from(tree.single[members[e]], ONE << e, e + 1, n_members, n_entries, n_found, tree, room)
    return n_found


@kernel
def count_records(n_parts, rows, index, parts, counters):
    """Count the records that hold all of some ranked items, as rows are now; the records of the rarest item are looked through."""
    offsets, items, rank = rows
    starts, seen = index.starts, index.seen
    rarest = parts[0]
    for p in range(1, n_parts):
        if starts[parts[p] + 1] - starts[parts[p]] < starts[rarest + 1] - starts[rarest]:
            rarest = parts[p]
    listed = starts[rarest + 1] - starts[rarest]
    counters[COUNTED] += 1
    counters[BUDGET] -= listed
    stamp = seen[-1] + 1
    seen[-1] = stamp
    total = 0
    turn = 0
    entered = index.entered_head[rarest]
    while turn < listed or entered >= 0:
        if turn < listed:
            record = index.held_by[starts[rarest] + turn]
            turn += 1
        else:
            record = index.entered_record[entered]
            entered = index.entered_next[entered]
        if seen[record] == stamp:
            continue
        seen[record] = stamp
        matched = 0
        for place in range(offsets[record], offsets[record + 1]):
            item = items[place]
            if item < 0 or rank[item] < 0:
                continue
            for p in range(n_parts):
                if parts[p] == rank[item]:
                    matched += 1
                    break
        if matched == n_parts:
            total += 1
    return total


@kernel
def new_sets(item, n_members, exact, world):
    """Return how many sets become frequent when the item joins the members, and how many more may: at most `exact` sets are counted."""
    rows, index, sets, room, counters = world
    list_items, list_sets, frames, parts = room.list_items, room.list_sets, room.frames, room.parts
    row = index.pair_row[item]
    start = sets.tree.single[item]
    new = 0
    untracked = 0
    top = ZERO
    for m in range(n_members):
        other = room.members[m]
        held = np.int64(index.pairs[row, other])
        if held < sets.lowest - 1:
            continue
        one = ABSENT
        if start >= 0:
            one = child(start, other, sets.tree)
        if sets.is_level[held + 1] and (one < 0 or sets.before[one] <= held):
            new += 1
        elif one < 0:
            untracked += 1
        if one >= 0:
            list_items[top] = other
            list_sets[top] = one
            top += 1
    # Untracked pairs are frequent now, and nobody looks at the larger sets that hold them.
    possible = untracked if untracked + top > 1 else 0
    depth = ZERO
    frames[0, 0] = 0
    frames[0, 1] = top
    while depth >= 0:
        at, end = frames[depth, 0], frames[depth, 1]
        if at >= end - 1:
            depth -= 1
            continue
        frames[depth, 0] = at + 1
        base = list_sets[at]
        longer = end
        counters[WORK] += end - at
        for later in range(at + 1, end):
            one = child(base, list_items[later], sets.tree)
            if one >= 0:
                held = sets.supports[one]
                if held < sets.lowest - 1:
                    continue
                if sets.is_level[held + 1] and sets.before[one] <= held:
                    new += 1
                list_items[longer] = list_items[later]
                list_sets[longer] = one
                longer += 1
            elif exact <= 0 or counters[BUDGET] <= 0:
                possible += 1
            else:
                exact -= 1
                parts[0] = list_items[later]
                n_parts = ONE
                for place in range(sets.offsets[base], sets.offsets[base + 1]):
                    parts[n_parts] = rows.rank[sets.items[place]]
                    n_parts += 1
                if count_records(n_parts, rows, index, parts, counters) >= sets.lowest - 1:
                    new += 1
        if longer > end + 1:
            depth += 1
            frames[depth, 0] = end
            frames[depth, 1] = longer
    return new, possible
