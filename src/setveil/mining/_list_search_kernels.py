# mypy: ignore-errors
# (Numba infers the types)
"""The search from the whole data down to where words of bits are enough.

Items are numbered by rising support; a record is a row of numbers that rise. A set is found at its rarest item: below an item, the
records that hold it are looked at, and what may come is what stands behind it. One pass over these counts all extensions (*occurrence
deliver*). Where closed sets are wanted a pass also counts what stands before (for single items, each pair is counted once, from its
rarer item): an item that all these records hold shows that the set is
not closed and that nothing below it is. For maximal sets, what earlier items make larger is removed later (`_contained_kernels.py`).

Rows below a path keep the items that are still frequent there, numbered anew; rows that are equal in what may come are one row with the sum
of their weights and the intersection of what came before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.bits import WORD_BITS
from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import sort
from setveil.mining._bit_search_kernels import N_NUMBERS, BitRoom, Words, search_bits
from setveil.mining._contained_kernels import keep_maximal, rank_items
from setveil.mining._row_kernels import (
    END,
    ENTRY,
    MIDDLE,
    SPAN,
    START,
    WEIGHT,
    Rows,
    are_equal,
    hash_of,
    index_entries,
    intersected,
    set_span,
)
from setveil.mining._writing_kernels import (
    FULL,
    MAXIMAL,
    MORE_SETS,
    N_STATES,
    NODES,
    NONE,
    PART,
    PATH,
    PERFECT,
    PLACES,
    RUNNING,
    SETS,
    STATUS,
    Found,
    Search,
    grown,
    is_shallow,
    make_room,
    note,
    pop,
    push,
    visit,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOP_ROW, _TOP_PLACE, _TOP_ENTRY, _TOP_NAME, _TOP_START = range(5)
"""The first free row, place, entry, name and item start of the levels: now, and when a level was written."""
_TOPS = 5
_WIDTH, _NEXT, _STEP, _PERFECT = range(_TOPS, 9)
"""What is kept of a level behind its tops: the end of its items, the next one, the path's last one, perfect ones before."""
_START = 1 << 12
"""Arrays that grow begin with so many places."""
_ROOM, _ROOM_FOR_ITEMS = 1 << 18, 1 << 20
"""Room for sets and their items at first. A search that needs more repeats a part of its work; room that is not used takes no memory."""


class Pairs(NamedTuple):
    """The frequent pairs: where the partners of each item begin, the partners in order, and the supports of the pairs.

    Without places where they begin, the pairs are not known.
    """

    begins: NDArray[np.int64]
    partners: NDArray[np.int32]
    supports: NDArray[np.int64]


class Items(NamedTuple):
    """Numbers of each item of the level at hand, and lists of items.

    How often it was counted (0 before and after), its new code (-1), its bit (0), which word of those from before has this bit (0); the
    items seen, and those kept.
    """

    counts: NDArray[np.int64]
    codes: NDArray[np.int32]
    masks: NDArray[np.int64]
    backs: NDArray[np.int32]
    seen: NDArray[np.int32]
    kept: NDArray[np.int32]


class Node(NamedTuple):
    """An item of a level: its entries, its code in the data, its support, and where the names of the level begin."""

    item: int
    first: int
    last: int
    name: int
    support: int
    at_name: int


class Levels(NamedTuple):
    """The numbers of each level, the tops of the arrays that hold the levels, and room to look for equal rows."""

    levels: NDArray[np.int64]
    tops: NDArray[np.int64]
    slots: NDArray[np.int64]


@kernel
def count_behind(first, last, rows, items):
    """Count the items behind some entries in their rows; return how many different ones were seen."""
    spans, entries, places, counts, seen = rows.spans, rows.entries, rows.places, items.counts, items.seen
    n_seen = NONE
    for entry in range(first, last):
        span = entries[ENTRY * entry]
        for place in range(entries[ENTRY * entry + 1] + 1, spans[span + END]):
            item = places[place]
            if counts[item] == 0:
                seen[n_seen] = item
                n_seen += 1
            counts[item] += spans[span + WEIGHT]
    return n_seen


@kernel
def count_before(first, last, rows, items, n_seen):
    """Count the items before some entries in their rows; return how many different ones were seen, with those from before the call."""
    spans, entries, places, counts, seen = rows.spans, rows.entries, rows.places, items.counts, items.seen
    for entry in range(first, last):
        span = entries[ENTRY * entry]
        for place in range(spans[span + START], entries[ENTRY * entry + 1]):
            item = places[place]
            if counts[item] == 0:
                seen[n_seen] = item
                n_seen += 1
            counts[item] += spans[span + WEIGHT]
    return n_seen


@kernel
def forget_counts(n_seen, items):
    """Set the counts of the items seen to 0."""
    for at in range(n_seen):
        items.counts[items.seen[at]] = 0


@kernel
def room_for_items(n_items):
    """Return room for numbers and lists of this number of items."""
    codes = np.empty(n_items, np.int32)
    for item in range(n_items):
        codes[item] = -1
    masks, backs = np.zeros(n_items, np.int64), np.zeros(n_items, np.int32)
    return Items(
        np.zeros(n_items, np.int64), codes, masks, backs, np.empty(n_items, np.int32), np.empty(n_items, np.int32)
    )


@kernel
def find_pairs(first_item, last_item, rows, min_count, control):
    """Find the frequent pairs of each item from `first_item` to before `last_item` with a later one.

    Return the number of pairs of each item, and of each pair the later item, in order, and the support.
    """
    items = room_for_items(len(rows.names))
    counts, seen = items.counts, items.seen
    lengths = np.zeros(last_item - first_item, np.int64)
    others, supports = np.empty(_START, np.int32), np.empty(_START, np.int64)
    end = NONE
    for item in range(first_item, last_item):
        if control[STOP] != 0:
            break
        n_seen = count_behind(rows.item_starts[item], rows.item_starts[item + 1], rows, items)
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
        forget_counts(n_seen, items)
        lengths[item - first_item] = end - start
        control[DONE] += 1
    return lengths, others[:end], supports[:end]


@kernel
def find_pairs_by_row(rows, min_count, control):
    """Find the frequent pairs of each item with a later one, as `find_pairs` does; the rows are read once, in order."""
    spans, places, n_items = rows.spans, rows.places, len(rows.names)
    table = np.zeros(n_items * n_items, np.int64)
    for span in range(0, len(spans), SPAN):
        if control[STOP] != 0:
            break
        end, weight = spans[span + END], spans[span + WEIGHT]
        for place in range(spans[span + START], end - 1):
            first = n_items * places[place]
            for later in range(place + 1, end):
                table[first + places[later]] += weight
        control[DONE] += 1
    number = NONE
    for cell in range(len(table)):
        number += table[cell] >= min_count
    lengths, others, supports = np.zeros(n_items, np.int64), np.empty(number, np.int32), np.empty(number, np.int64)
    end = NONE
    for item in range(n_items):
        start = end
        for other in range(item + 1, n_items):
            if table[n_items * item + other] >= min_count:
                others[end], supports[end] = other, table[n_items * item + other]
                end += 1
        lengths[item] = end - start
    return lengths, others, supports


@kernel
def list_partners(starts, later, supports):
    """Return the partners of each item, earlier and later ones in order, from its frequent pairs with later items."""
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
    return Pairs(begins, partners, both)


@kernel
def take_partners(item, looks_back, pairs, items):
    """Take the counts of the items behind an item and, if the search looks back, of those before it; return how many there are."""
    n_seen = NONE
    for at in range(pairs.begins[item], pairs.begins[item + 1]):
        other = pairs.partners[at]
        if looks_back or other > item:
            items.seen[n_seen] = other
            items.counts[other] = pairs.supports[at]
            n_seen += 1
    return n_seen


@kernel
def count_partners(node, level, looks_back, rows, pairs, items):
    """Count the items behind a node and, if the search looks back, those before it; return how many were seen."""
    if level == 0 and len(pairs.begins) > 0:
        return take_partners(node.item, looks_back, pairs, items)
    n_seen = count_behind(node.first, node.last, rows, items)
    if looks_back:
        n_seen = count_before(node.first, node.last, rows, items, n_seen)
    return n_seen


@kernel
def sort_out(node, n_seen, min_count, names, items, search):
    """Note which of the seen items are perfect and keep the other frequent ones, in order.

    Return how many are kept, and how many of them came before; if one that came before is in all records, nothing is kept: (-1, 0).
    """
    counts, kept, state = items.counts, items.kept, search.state
    n_kept, n_before = NONE, NONE
    for at in range(n_seen):
        other = items.seen[at]
        if counts[other] == node.support:
            if other < node.item:
                return -1, 0
            search.perfect[state[PERFECT]] = names[node.at_name + other]
            state[PERFECT] += 1
        elif counts[other] >= min_count:
            kept[n_kept] = other
            n_kept += 1
            n_before += other < node.item
    sort(kept, NONE, n_kept)
    return n_kept, n_before


@kernel
def words_for(count):
    """Return how many words hold this number of bits."""
    return (count + WORD_BITS - 1) // WORD_BITS


@kernel
def set_bits(n_before, n_kept, items):
    """Give the kept items their bits: those from before in words of their own."""
    for at in range(n_before):
        items.masks[items.kept[at]] = 1 << at % WORD_BITS
        items.backs[items.kept[at]] = at // WORD_BITS
    for at in range(n_before, n_kept):
        items.masks[items.kept[at]] = 1 << (at - n_before)


@kernel
def forget_bits(n_kept, items):
    """Take the bits of the kept items away."""
    for at in range(n_kept):
        items.masks[items.kept[at]] = 0
        items.backs[items.kept[at]] = 0


@kernel
def write_before(entry, row, n_backs, rows, items, backs):
    """Write the items before an entry in its row as the words of a row of the table."""
    spans, entries, places = rows.spans, rows.entries, rows.places
    base = row * n_backs
    for back in range(n_backs):
        backs[base + back] = 0
    # No branch: most items have no bit, and which ones have cannot be foreseen.
    for place in range(spans[entries[ENTRY * entry] + START], entries[ENTRY * entry + 1]):
        item = places[place]
        backs[base + items.backs[item]] |= items.masks[item]


@kernel
def intersect_before(row, other, n_backs, backs):
    """Keep, of what came before a row, what came before another one too; return whether anything is left."""
    left = 0
    for back in range(n_backs):
        backs[row * n_backs + back] &= backs[other * n_backs + back]
        left |= backs[row * n_backs + back]
    return left != 0


@kernel
def write_words(node, n_backs, rows, items, table, slots):
    """Write the rows of a node as a word of what may come and words of what came before; return how many there are.

    Rows with the same word are one row, as `merge_rows` makes them. Their intersection is soon empty, and then no further one is computed:
    a frequent item has many rows, and many words of what came before.
    """
    spans, entries, places, masks = rows.spans, rows.entries, rows.places, items.masks
    words, backs = table.words, table.backs
    size = 8
    while size < 2 * (node.last - node.first):
        size *= 2
    for slot in range(size):
        slots[slot] = -1
    count = 0
    for entry in range(node.first, node.last):
        span, at = entries[ENTRY * entry], entries[ENTRY * entry + 1]
        word = 0
        for place in range(at + 1, spans[span + END]):
            word |= masks[places[place]]
        if word == 0:
            continue
        slot = ((word ^ (word >> 29)) * 0x1E3779B97F4A7C15 >> 20) & (size - 1)
        while slots[slot] >= 0 and words[slots[slot] >> 1] != word:
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            slots[slot] = count << 1 | (n_backs == 0)  # the lowest bit: nothing that came before is left
            words[count], table.weights[count] = word, spans[span + WEIGHT]
            if n_backs > 0:
                write_before(entry, count, n_backs, rows, items, backs)
            count += 1
            continue
        same = slots[slot] >> 1
        table.weights[same] += spans[span + WEIGHT]
        if slots[slot] & 1 == 0:
            write_before(entry, count, n_backs, rows, items, backs)  # behind the rows
            slots[slot] |= not intersect_before(same, count, n_backs, backs)
    return count


@kernel
def write_row(entry, source, whole, codes, to, target):
    """Write the row of an entry in new codes; return where the part that may come begins and where it ends."""
    spans, places = source.spans, source.places
    span, at = source.entries[ENTRY * entry], source.entries[ENTRY * entry + 1]
    if whole:
        for place in range(spans[span + START], at):
            code = codes[places[place]]
            if code >= 0:
                target[to] = code
                to += 1
    middle = to
    for place in range(at + 1, spans[span + END]):
        code = codes[places[place]]
        if code >= 0:
            target[to] = code
            to += 1
    return middle, to


@kernel
def with_room_for_rows(node, source, below, tops):
    """Return the levels with room for the rows of a node."""
    spans, places = below.spans, below.places
    top_row, top_place = tops[_TOP_ROW], tops[_TOP_PLACE]
    needed = top_place
    for entry in range(node.first, node.last):
        span = source.entries[ENTRY * entry]
        needed += source.spans[span + END] - source.spans[span + START]
    if needed > len(places):
        places = grown(places, top_place, needed)
    most = top_row + node.last - node.first
    if SPAN * most > len(spans):
        spans = grown(spans, SPAN * top_row, SPAN * most)
    return Rows(spans, places, below.item_starts, below.entries, below.names, below.supports)


@kernel
def write_rows(node, source, below, codes, looks_back, levels):
    """Write the rows of a node in new codes behind those of the other levels, equal ones merged; return where rows and places end."""
    spans, places = below.spans, below.places
    slots, size = levels.slots, 8
    while size < 2 * (node.last - node.first):
        size *= 2
    for slot in range(size):
        slots[slot] = -1
    row_end, place_end = levels.tops[_TOP_ROW], levels.tops[_TOP_PLACE]
    for entry in range(node.first, node.last):
        weight = source.spans[source.entries[ENTRY * entry] + WEIGHT]
        middle, end = write_row(entry, source, looks_back, codes, place_end, places)
        if end == middle:
            continue
        slot = (hash_of(places, middle, end) >> 7) & (size - 1)
        while slots[slot] >= 0 and not are_equal(
            places, middle, end, spans[slots[slot] + MIDDLE], spans[slots[slot] + END]
        ):
            slot = (slot + 1) & (size - 1)
        same = slots[slot]
        if same >= 0:
            spans[same + WEIGHT] += weight
            if looks_back:
                spans[same + START] = intersected(places, spans[same + START], spans[same + MIDDLE], place_end, middle)
        else:
            slots[slot] = SPAN * row_end
            set_span(SPAN * row_end, place_end, middle, end, weight, spans)
            row_end += 1
            place_end = end
    return row_end, place_end


@kernel
def with_room_for_index(n_entries, n_items, below, tops):
    """Return the levels with room for some more entries and items."""
    item_starts, entries, names, supports = below.item_starts, below.entries, below.names, below.supports
    entry_end, start_end = tops[_TOP_ENTRY] + n_entries, tops[_TOP_START] + n_items + 1
    name_end = tops[_TOP_NAME] + n_items
    if ENTRY * entry_end > len(entries):
        entries = grown(entries, ENTRY * tops[_TOP_ENTRY], ENTRY * entry_end)
    if start_end > len(item_starts):
        item_starts = grown(item_starts, tops[_TOP_START], start_end)
    if name_end > len(names):
        names, supports = grown(names, tops[_TOP_NAME], name_end), grown(supports, tops[_TOP_NAME], name_end)
    return Rows(below.spans, below.places, item_starts, entries, names, supports)


@kernel
def write_level(node, n_kept, looks_back, source, below, items, levels):
    """Write the rows of a node as a level of its own behind the others, with its index; return the levels, which may have grown."""
    tops, kept = levels.tops, items.kept
    below = with_room_for_rows(node, source, below, tops)
    top_row, at_name = tops[_TOP_ROW], tops[_TOP_NAME]
    for at in range(n_kept):
        items.codes[kept[at]] = at
    row_end, place_end = write_rows(node, source, below, items.codes, looks_back, levels)
    for at in range(n_kept):
        items.codes[kept[at]] = -1
    n_entries = NONE
    for row in range(top_row, row_end):
        n_entries += below.spans[SPAN * row + END] - below.spans[SPAN * row + MIDDLE]
    below = with_room_for_index(n_entries, n_kept, below, tops)
    for at in range(n_kept):
        below.names[at_name + at] = source.names[node.at_name + kept[at]]
        below.supports[at_name + at] = items.counts[kept[at]]
    index_entries(top_row, row_end, n_kept, tops[_TOP_START], tops[_TOP_ENTRY], below)
    tops[_TOP_ROW], tops[_TOP_PLACE] = row_end, place_end
    tops[_TOP_ENTRY] += n_entries
    tops[_TOP_NAME] += n_kept
    tops[_TOP_START] += n_kept + 1
    return below


@kernel
def room_for_search(part, perfect, longest_row, asked, control):
    """Return the search of a part at its start: an empty path, and the items that all records hold as perfect ones."""
    state = np.zeros(N_STATES, np.int64)
    state[PERFECT], state[PART] = len(perfect), part.number
    room = longest_row + len(perfect) + 2
    path, own_perfect = np.empty(room, np.int32), np.empty(room, np.int32)
    base, choice = np.empty(room, np.int32), np.empty(room, np.int32)
    for at in range(len(perfect)):
        own_perfect[at] = perfect[at]
    return Search(asked, state, path, own_perfect, base, choice, part.tally, part.shared, control)


@kernel
def room_for_levels(part, longest_row, item_starts):
    """Return room for the levels of a part, and the largest number of rows of one of its items."""
    most_rows = np.int64(4)
    for item in range(part.first, part.last):
        most_rows = max(most_rows, item_starts[item + 1] - item_starts[item])
    size = 8
    while size < 2 * most_rows:
        size *= 2
    numbers = np.zeros((9, longest_row + 3), np.int64)
    return Levels(numbers, np.zeros(_TOPS, np.int64), np.empty(size, np.int64)), most_rows


@kernel
def room_for_bits(n_items, table_bits, slots):
    """Return room for the search in words."""
    names, supports = np.empty(WORD_BITS, np.int32), np.empty(WORD_BITS, np.int64)
    levels = np.empty((WORD_BITS + 2, N_NUMBERS), np.int64)
    pairs, partners = np.empty((WORD_BITS, WORD_BITS, WORD_BITS), np.int64), np.empty((WORD_BITS, WORD_BITS), np.int64)
    size = max(WORD_BITS, 1 << table_bits)
    sums, places, bits = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    common = np.empty(words_for(n_items) + 1, np.int64)
    return BitRoom(names, supports, levels, pairs, partners, slots, sums, places, bits, common)


@kernel
def no_rows():
    """Return the levels below the whole data before there are any."""
    numbers = np.empty(_START, np.int64)
    places, names = np.empty(_START, np.int32), np.empty(_START, np.int32)
    return Rows(numbers, places, numbers.copy(), numbers.copy(), names, numbers.copy())


@kernel
def next_node(level, rows, levels):
    """Return the next item of a level as a node, and move on."""
    numbers = levels.levels
    item, at_name, at_start = numbers[_NEXT, level], numbers[_TOP_NAME, level], numbers[_TOP_START, level]
    numbers[_NEXT, level] += 1
    first, last = rows.item_starts[at_start + item], rows.item_starts[at_start + item + 1]
    return Node(item, first, last, rows.names[at_name + item], rows.supports[at_name + item], at_name)


@kernel
def set_level(level, first_item, last_item, levels):
    """Write the numbers of a level whose items from the first to before the last are to be visited."""
    for at in range(_TOPS):
        levels.levels[at, level] = levels.tops[at]
    levels.levels[_WIDTH, level], levels.levels[_NEXT, level] = last_item, first_item


@kernel
def close_level(level, levels, search):
    """Free the room of a level, and come back to the path of the level above."""
    numbers = levels.levels
    for at in range(_TOPS):
        levels.tops[at] = numbers[at, level]
    if level > 0:
        pop(np.int32(numbers[_STEP, level - 1]), search)
        search.state[PERFECT] = numbers[_PERFECT, level - 1]


@kernel
def name_bits(node, n_before, n_kept, names, items, room):
    """Write the items and supports of the bits."""
    for at in range(n_before, n_kept):
        room.names[at - n_before] = names[node.at_name + items.kept[at]]
        room.supports[at - n_before] = items.counts[items.kept[at]]


@kernel
def search_lists(part, whole_rows, pairs, longest_row, perfect, asked, control):
    """Find the sets whose rarest item is one of a part; return sets and state.

    Where the arrays of the sets are full, they are made larger, and the item at hand is searched again.

    `whole_rows` are the data. `pairs` are the frequent pairs; where they are not known, they are counted here. `perfect` are the items that
    all records hold, which are no items here. Before each round, the path holds the items of the steps above the current level, the numbers
    of all items are unset.
    """
    kind = asked.kind
    search = room_for_search(part, perfect, longest_row, asked, control)
    state = search.state
    levels, most_rows = room_for_levels(part, longest_row, whole_rows.item_starts)
    items, numbers = room_for_items(len(whole_rows.names)), levels.levels
    table = Words(np.empty(most_rows, np.int64), np.empty(most_rows, np.int64), np.empty(most_rows, np.int64))
    room = room_for_bits(len(whole_rows.names), asked.table_bits, levels.slots)
    found = Found(np.empty(_ROOM_FOR_ITEMS, np.int32), np.empty(_ROOM, np.int32), np.empty(_ROOM, np.int64))
    below = no_rows()
    root = part.first
    while root < part.last:
        sets, places, nodes, n_perfect = state[SETS], state[PLACES], state[NODES], state[PERFECT]
        level = NONE
        set_level(level, root, root + 1, levels)  # the whole data: one item is visited, its names and starts begin at 0
        while level >= 0:
            if numbers[_NEXT, level] == numbers[_WIDTH, level]:
                close_level(level, levels, search)
                level -= 1
                continue
            rows = below
            if level == 0:
                rows = whole_rows
            node = next_node(level, rows, levels)
            if not visit(search):
                break
            numbers[_STEP, level], numbers[_PERFECT, level] = node.name, state[PERFECT]
            n_seen = count_partners(node, level, asked.looks_back, rows, pairs, items)
            n_kept, n_before = sort_out(node, n_seen, asked.min_count, rows.names, items, search)
            deeper = False
            if n_kept >= 0:
                push(node.name, search)
                deeper = n_kept > n_before and is_shallow(search)
                if kind != MAXIMAL or not deeper:
                    note(search.path, state[PATH], node.support, search, found)
            if deeper and state[STATUS] == RUNNING:
                if n_kept - n_before <= WORD_BITS:
                    n_backs = words_for(n_before)
                    if (node.last - node.first) * n_backs > len(table.backs):
                        backs = grown(table.backs, NONE, (node.last - node.first) * n_backs)
                        table = Words(table.words, backs, table.weights)
                    name_bits(node, n_before, n_kept, rows.names, items, room)
                    set_bits(n_before, n_kept, items)
                    n_rows = write_words(node, n_backs, rows, items, table, levels.slots)
                    forget_bits(n_kept, items)
                    table = search_bits(n_rows, n_backs, n_kept - n_before, table, room, search, found)
                    deeper = False
                else:
                    set_level(level + 1, n_before, n_kept, levels)
                    below = write_level(node, n_kept, asked.looks_back, rows, below, items, levels)
            forget_counts(n_seen, items)
            if state[STATUS] != RUNNING:
                break
            if deeper:
                level += 1
                continue
            if n_kept >= 0:
                pop(node.name, search)
            state[PERFECT] = numbers[_PERFECT, level]
        if state[STATUS] == FULL:
            counted = state[SETS] + state[MORE_SETS]
            if kind == MAXIMAL and counted > asked.limit:  # some may be within others
                counted, sets, places = keep_maximal(sets, rank_items(whole_rows.names, perfect), search, found)
            found = make_room(counted, search, found)
            state[SETS], state[PLACES], state[NODES], state[PERFECT], state[PATH] = sets, places, nodes, n_perfect, 0
            for at in range(_TOPS):
                levels.tops[at] = 0
        elif state[STATUS] == RUNNING:
            control[DONE] += 1
            root += 1
        if state[STATUS] != RUNNING:
            break
    return found.items[: state[PLACES]], found.lengths[: state[SETS]], found.supports[: state[SETS]], state


@kernel
def search_root(part, support, perfect, asked, control):
    """Find the sets of the items that all records hold alone; return sets and state."""
    search = room_for_search(part, perfect, NONE, asked, control)
    state = search.state
    found = Found(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int64))
    note(search.path, NONE, support, search, found)
    if state[STATUS] == FULL:
        found = make_room(state[SETS] + state[MORE_SETS], search, found)
        if state[STATUS] == RUNNING:
            note(search.path, NONE, support, search, found)
    return found.items[: state[PLACES]], found.lengths[: state[SETS]], found.supports[: state[SETS]], state
