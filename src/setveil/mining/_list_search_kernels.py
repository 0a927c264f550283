# mypy: ignore-errors
# (Numba infers the types)
"""The search from the whole data down to where words of bits are enough.

Items are numbered by rising support; a record is a row of numbers that rise. A set is found at its rarest item: below an item, the
records that hold it are looked at, and what may come is what stands behind it. One pass over these counts all extensions (*occurrence
deliver*). Where closed sets are wanted a pass also counts what stands before (for single items, each pair is counted once, from its
rarer item): an item that all these records hold shows that the set is
not closed and that nothing below it is, and one that enough of them hold shows that it is not maximal.

Rows below a path keep the items that are still frequent there, numbered anew; rows that are equal in what may come are one row with the sum
of their weights and the intersection of what came before; for maximal sets, where it matters how often an item came before, only rows that
are equal in all are merged.

Layout of rows, a tuple of arrays: `item_starts`, `entry_rows`, `entry_places`, `starts`, `ends`, `weights`, `places`, `names`, `supports`.
A row is from `starts` to `ends` in `places` and stands for `weights` records. An item has its entries, the row and the place in it, from
`item_starts[i]` to `item_starts[i + 1]`; `names` is its code in the data and `supports` its support below the path.
"""

from __future__ import annotations

import numpy as np

from setveil.kernels.bits import WORD_BITS
from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.mining._bit_search_kernels import search_bits
from setveil.mining._row_kernels import are_equal, hash_of, index_entries, intersected, sort
from setveil.mining._writing_kernels import (
    ALL,
    BUDGET,
    CLOSED,
    KIND,
    MAX_LENGTH,
    MAXIMAL,
    MIN_COUNT,
    NODES,
    NONE,
    OUT_OF_BUDGET,
    PATH,
    PERFECT,
    PLACES,
    RUNNING,
    SETS,
    STATUS,
    STOPPED,
    TABLE_BITS,
    grown,
    note,
    pop,
    push,
)

_WIDTH, _NEXT, _STEP, _PERFECT = range(5, 9)
"""What is kept of a level behind the five tops of its arrays: its items, the next one, the path's last one, perfect ones before."""
_START = 1 << 12
"""Arrays that grow begin with so many places."""


@kernel
def count_behind(first, last, rows, counts, seen):
    """Count the items behind some entries in their rows; return how many different ones were seen."""
    _, entry_rows, entry_places, _, ends, weights, places, _, _ = rows
    n_seen = 0
    for entry in range(first, last):
        row = entry_rows[entry]
        for place in range(entry_places[entry] + 1, ends[row]):
            item = places[place]
            if counts[item] == 0:
                seen[n_seen] = item
                n_seen += 1
            counts[item] += weights[row]
    return n_seen


@kernel
def count_before(first, last, rows, counts, seen, n_seen):
    """Count the items before some entries in their rows; return how many different ones were seen, with those from before the call."""
    _, entry_rows, entry_places, starts, _, weights, places, _, _ = rows
    for entry in range(first, last):
        row = entry_rows[entry]
        for place in range(starts[row], entry_places[entry]):
            item = places[place]
            if counts[item] == 0:
                seen[n_seen] = item
                n_seen += 1
            counts[item] += weights[row]
    return n_seen


@kernel
def find_pairs(first_item, last_item, rows, min_count, control):
    """Find the frequent pairs of each item from `first_item` to before `last_item` with a later one.

    Return the number of pairs of each item, and of each pair the later item, in order, and the support.
    """
    n_items = len(rows[7])
    counts, seen = np.zeros(n_items, np.int64), np.empty(n_items, np.int32)
    lengths = np.zeros(last_item - first_item, np.int64)
    others, supports = np.empty(_START, np.int32), np.empty(_START, np.int64)
    end = NONE
    for item in range(first_item, last_item):
        if control[STOP] != 0:
            break
        n_seen = count_behind(rows[0][item], rows[0][item + 1], rows, counts, seen)
        if end + n_seen > len(others):
            others, supports = grown(others, end, end + n_seen), grown(supports, end, end + n_seen)
        start = end
        for at in range(n_seen):
            if counts[seen[at]] >= min_count:
                others[end] = seen[at]
                end += 1
        sort(others, start, end)
        for at in range(start, end):
            supports[at] = counts[others[at]]
        for at in range(n_seen):
            counts[seen[at]] = 0
        lengths[item - first_item] = end - start
        control[DONE] += 1
    return lengths, others[:end], supports[:end]


@kernel
def list_partners(starts, later, supports):
    """List the partners of each item, earlier and later ones in order, from its frequent pairs with later items.

    Return where each item's partners begin, the partners, and the supports of the pairs.
    """
    n_items = len(starts) - 1
    ends = np.zeros(n_items + 1, np.int64)
    for item in range(n_items):
        ends[item + 1] += starts[item + 1] - starts[item]
        for at in range(starts[item], starts[item + 1]):
            ends[later[at] + 1] += 1
    for item in range(n_items):
        ends[item + 1] += ends[item]
    begins = ends.copy()
    partners, both = np.empty(2 * len(later), np.int32), np.empty(2 * len(later), np.int64)
    for item in range(n_items):  # its earlier partners are there already
        for at in range(starts[item], starts[item + 1]):
            other = later[at]
            partners[ends[item]], both[ends[item]] = other, supports[at]
            partners[ends[other]], both[ends[other]] = item, supports[at]
            ends[item] += 1
            ends[other] += 1
    return begins, partners, both


@kernel
def take_partners(item, pairs, counts, seen):
    """Take the counts of an item's partners from the list of pairs; return how many there are."""
    begins, partners, both = pairs
    first = begins[item]
    n_seen = begins[item + 1] - first
    for at in range(n_seen):
        seen[at] = partners[first + at]
        counts[seen[at]] = both[first + at]
    return n_seen


@kernel
def write_words(first, last, rows, codes, n_before, words, backs, row_weights):
    """Write the rows of some entries as a word of what may come and words of what came before; return how many there are."""
    _, entry_rows, entry_places, starts, ends, weights, places, _, _ = rows
    n_backs = words_for(n_before)
    count = 0
    for entry in range(first, last):
        row = entry_rows[entry]
        word = 0
        for place in range(entry_places[entry] + 1, ends[row]):
            code = codes[places[place]]
            if code >= 0:
                word |= 1 << np.int64(code - n_before)
        if word == 0:
            continue
        words[count] = word
        row_weights[count] = weights[row]
        if n_before > 0:
            for back in range(n_backs):
                backs[count * n_backs + back] = 0
            for place in range(starts[row], entry_places[entry]):
                code = np.int64(codes[places[place]])
                if code >= 0:
                    backs[count * n_backs + code // WORD_BITS] |= 1 << code % WORD_BITS
        count += 1
    return count


@kernel
def words_for(count):
    """Return how many words hold so many bits."""
    return (count + WORD_BITS - 1) // WORD_BITS


@kernel
def write_row(row, at, starts, ends, places, whole, codes, to, target):
    """Write one row in new codes; return where the part that may come begins and where it ends."""
    if whole:
        for place in range(starts[row], at):
            code = codes[places[place]]
            if code >= 0:
                target[to] = code
                to += 1
    middle = to
    for place in range(at + 1, ends[row]):
        code = codes[places[place]]
        if code >= 0:
            target[to] = code
            to += 1
    return middle, to


@kernel
def write_level(first, last, rows, below, middles, kind, codes, kept, n_kept, at_name, counts, tops, slots):
    """Write the rows of some entries as a level of its own: in new codes, equal ones merged, with their index.

    `tops` are the first free row, place, entry, name and item start of `below`, and are moved on. Return arrays that may have grown.
    """
    _, source_rows, source_places, source_starts, source_ends, source_weights, source, source_names, _ = rows
    item_starts, entry_rows, entry_places, starts, ends, weights, places, names, supports = below
    top_row, top_place, top_entry, top_name, top_start = tops[0], tops[1], tops[2], tops[3], tops[4]
    needed = 0
    for entry in range(first, last):
        needed += source_ends[source_rows[entry]] - source_starts[source_rows[entry]]
    if top_place + needed > len(places):
        places = grown(places, top_place, top_place + needed)
    most = top_row + last - first
    if most > len(starts):
        starts, middles = grown(starts, top_row, most), grown(middles, top_row, most)
        ends, weights = grown(ends, top_row, most), grown(weights, top_row, most)
    size = 8
    while size < 2 * (last - first):
        size *= 2
    for slot in range(size):
        slots[slot] = -1
    row_end, place_end = top_row, top_place
    for entry in range(first, last):
        row = source_rows[entry]
        middle, end = write_row(
            row, source_places[entry], source_starts, source_ends, source, kind != ALL, codes, place_end, places
        )
        if end == middle:
            continue
        compared = place_end if kind == MAXIMAL else middle
        slot = (hash_of(places, compared, end) >> 7) & (size - 1)
        while slots[slot] >= 0:
            same = slots[slot]
            if are_equal(places, compared, end, starts[same] if kind == MAXIMAL else middles[same], ends[same]):
                break
            slot = (slot + 1) & (size - 1)
        same = slots[slot]
        if same >= 0:
            weights[same] += source_weights[row]
            if kind == CLOSED:
                starts[same] = intersected(places, starts[same], middles[same], place_end, middle)
        else:
            slots[slot] = row_end
            starts[row_end], middles[row_end], ends[row_end] = place_end, middle, end
            weights[row_end] = source_weights[row]
            row_end += 1
            place_end = end
    entries = 0
    for row in range(top_row, row_end):
        entries += ends[row] - starts[row]
    if top_entry + entries > len(entry_rows):
        entry_rows = grown(entry_rows, top_entry, top_entry + entries)
        entry_places = grown(entry_places, top_entry, top_entry + entries)
    if top_start + n_kept + 1 > len(item_starts):
        item_starts = grown(item_starts, top_start, top_start + n_kept + 1)
    if top_name + n_kept > len(names):
        names, supports = grown(names, top_name, top_name + n_kept), grown(supports, top_name, top_name + n_kept)
    for at in range(n_kept):
        names[top_name + at] = source_names[at_name + kept[at]]
        supports[top_name + at] = counts[kept[at]]
    index_entries(
        n_kept, top_row, row_end, starts, ends, places, item_starts, top_start, entry_rows, entry_places, top_entry
    )
    tops[0], tops[1], tops[2] = row_end, place_end, top_entry + entries
    tops[3], tops[4] = top_name + n_kept, top_start + n_kept + 1
    return (item_starts, entry_rows, entry_places, starts, ends, weights, places, names, supports), middles


@kernel
def sort_out(item, support, min_count, at_name, names, counts, seen, n_seen, kept, state, perfect):
    """Note which of the seen items are perfect and keep the other frequent ones, in order.

    Return how many are kept, and how many of them came before; if one that came before is in all records, nothing is kept: (-1, 0).
    """
    n_kept, n_before = NONE, NONE
    for at in range(n_seen):
        other = seen[at]
        if counts[other] == support:
            if other < item:
                return -1, 0
            perfect[state[PERFECT]] = names[at_name + other]
            state[PERFECT] += 1
        elif counts[other] >= min_count:
            kept[n_kept] = other
            n_kept += 1
            n_before += other < item
    sort(kept, NONE, n_kept)
    return n_kept, n_before


@kernel
def search_lists(
    first_item, last_item, whole_rows, pairs, longest_row, perfect, wanted, tally, shared, own, control,
):  # fmt: skip
    """Find the sets whose rarest item is one from `first_item` to before `last_item`; return sets and state.

    `whole_rows` are the data: index, rows, and for each item its code in the data and its support. `pairs` are
    the frequent pairs, as `list_partners` returns them; where all sets are wanted, they are counted here instead. `perfect` are the items
    that all records hold, which are no items here.
    """
    min_count, kind, longest = wanted[MIN_COUNT], wanted[KIND], wanted[MAX_LENGTH]
    n_items, room = len(whole_rows[7]), longest_row + len(perfect) + 2
    state = np.zeros(8, np.int64)
    path, own_perfect = np.empty(room, np.int32), np.empty(room, np.int32)
    scratch = np.empty(room, np.int32), np.empty(room, np.int32)
    for at in range(len(perfect)):
        own_perfect[at] = perfect[at]
    state[PERFECT] = len(perfect)
    out = np.empty(_START, np.int32), np.empty(_START, np.int32), np.empty(_START, np.int64)
    # For the search in words.
    most_rows = 4
    for item in range(first_item, last_item):
        most_rows = max(most_rows, whole_rows[0][item + 1] - whole_rows[0][item])
    words = np.empty(most_rows, np.int64), np.empty(most_rows, np.int64), np.empty(most_rows, np.int64)
    size = 8
    while size < 2 * most_rows:
        size *= 2
    slots = np.empty(size, np.int64)
    levels_of_bits = np.empty(WORD_BITS + 2, np.int64)
    stacks = (
        levels_of_bits, levels_of_bits.copy(), levels_of_bits.copy(), levels_of_bits.copy(), levels_of_bits.copy(),
        levels_of_bits.copy(), levels_of_bits.copy(),
    )  # fmt: skip
    bit_pairs = np.empty((WORD_BITS, WORD_BITS, WORD_BITS), np.int64)
    line = np.empty(max(WORD_BITS, 1 << wanted[TABLE_BITS]), np.int64)
    table = line, line.copy(), line.copy()
    bit_counts = np.empty((words_for(n_items) + 1) * WORD_BITS, np.int64)
    bit_names, bit_supports = np.empty(WORD_BITS, np.int32), np.empty(WORD_BITS, np.int64)
    # Of the items below a path: how often they were counted, their new codes, and lists of them.
    counts, codes = np.zeros(n_items, np.int64), np.empty(n_items, np.int32)
    for item in range(n_items):
        codes[item] = -1
    seen, kept = np.empty(n_items, np.int32), np.empty(n_items, np.int32)
    # The levels below the whole data, one behind the other in arrays that grow.
    numbers = np.empty(_START, np.int64)
    below = (
        numbers, numbers.copy(), numbers.copy(), numbers.copy(), numbers.copy(), numbers.copy(),
        np.empty(_START, np.int32), np.empty(_START, np.int32), numbers.copy(),
    )  # fmt: skip
    middles = numbers.copy()
    # For each level the tops of `below` when it is written, then its number of items, its next one, the path's last item, the perfect ones.
    levels = np.zeros((9, longest_row + 3), np.int64)
    tops = np.zeros(5, np.int64)
    for root in range(first_item, last_item):
        item, level = root, 0
        while True:
            if level > 0:
                if levels[_NEXT, level] == levels[_WIDTH, level]:
                    for at in range(5):
                        tops[at] = levels[at, level]
                    level -= 1
                    pop(path, state, np.int32(levels[_STEP, level]))
                    state[PERFECT] = levels[_PERFECT, level]
                    if level == 0:
                        break
                    continue
                item = levels[_NEXT, level]
                levels[_NEXT, level] += 1
            rows = below
            if level == 0:
                rows = whole_rows
            at_name, at_start = levels[3, level], levels[4, level]
            if control[STOP] != 0:
                state[STATUS] = STOPPED
            state[NODES] += 1
            if wanted[BUDGET] and state[NODES] > wanted[BUDGET]:
                state[STATUS] = OUT_OF_BUDGET
            if state[STATUS] != RUNNING:
                break
            first, last = rows[0][at_start + item], rows[0][at_start + item + 1]
            name, support = rows[7][at_name + item], rows[8][at_name + item]
            levels[_STEP, level], levels[_PERFECT, level] = name, state[PERFECT]
            if level == 0 and kind != ALL:
                n_seen = take_partners(item, pairs, counts, seen)
            else:
                n_seen = count_behind(first, last, rows, counts, seen)
                if kind != ALL:
                    n_seen = count_before(first, last, rows, counts, seen, n_seen)
            n_kept, n_before = sort_out(
                item, support, min_count, at_name, rows[7], counts, seen, n_seen, kept, state, own_perfect
            )
            deeper = False
            if n_kept >= 0:
                push(path, state, name)
                if kind != MAXIMAL or n_kept == 0:
                    out = note(
                        state, wanted, path, state[PATH], own_perfect, support, out, scratch[1], tally, shared, own
                    )
                n_after = n_kept - n_before
                deeper = n_after > 0 and state[PATH] + (0 if kind == ALL else state[PERFECT]) < longest
            if deeper:
                for at in range(n_kept):
                    codes[kept[at]] = at
                if n_after <= WORD_BITS:
                    n_backs = words_for(n_before)
                    if (last - first) * n_backs > len(words[1]):
                        words = words[0], grown(words[1], NONE, (last - first) * n_backs), words[2]
                    for at in range(n_after):
                        bit_names[at] = rows[7][at_name + kept[n_before + at]]
                        bit_supports[at] = counts[kept[n_before + at]]
                    n_words = write_words(first, last, rows, codes, n_before, words[0], words[1], words[2])
                    words, out = search_bits(
                        n_words, n_backs, n_after, bit_names, bit_supports, wanted, state, path, own_perfect, scratch, words, slots,
                        stacks, bit_pairs, table, bit_counts, out, tally, shared, own, control,
                    )  # fmt: skip
                    deeper = False
                else:
                    for at in range(5):
                        levels[at, level + 1] = tops[at]
                    levels[_WIDTH, level + 1], levels[_NEXT, level + 1] = n_kept, n_before
                    below, middles = write_level(
                        first, last, rows, below, middles, kind, codes, kept, n_kept, at_name, counts, tops, slots
                    )
                for at in range(n_kept):
                    codes[kept[at]] = -1
            for at in range(n_seen):
                counts[seen[at]] = 0
            if state[STATUS] != RUNNING:
                break
            if deeper:
                level += 1
                continue
            if n_kept >= 0:
                pop(path, state, name)
            state[PERFECT] = levels[_PERFECT, level]
            if level == 0:
                break
        if state[STATUS] != RUNNING:
            break
        control[DONE] += 1
    return out[0][: state[PLACES]], out[1][: state[SETS]], out[2][: state[SETS]], state


@kernel
def search_root(perfect, support, wanted, tally, shared):
    """Find the sets of the items that all records hold alone; return sets and state."""
    state = np.zeros(8, np.int64)
    state[PERFECT] = len(perfect)
    out = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int64)
    path, choice = np.empty(0, np.int32), np.empty(len(perfect) + 1, np.int32)
    out = note(state, wanted, path, NONE, perfect, support, out, choice, tally, shared, NONE)
    return out[0][: state[PLACES]], out[1][: state[SETS]], out[2][: state[SETS]], state
