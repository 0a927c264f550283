# mypy: ignore-errors
# (Numba infers the types)
"""The search below a path that few items can extend: a record is a word there, one bit an item.

A row is a word of the items that may still come (`words`), and, where closed sets are wanted, of those that must not be in all rows of a
path: in the lower bits of the same word those that were passed on the way here, in some more words (`backs`) those from before. Rows
that are equal in what may come are one row with the sum of their weights and the intersection of the rest.

For each node one pass counts all pairs of its bits: so each of its children knows its own extensions before it has rows. When these are
few, a table of all their combinations is summed up, and nothing is searched any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from setveil.kernels.bits import WORD_BITS, bit_count, lowest_bit
from setveil.kernels.jit import kernel
from setveil.mining._writing_kernels import (
    ALL,
    CLOSED,
    MAXIMAL,
    NODES,
    NONE,
    PATH,
    PERFECT,
    RUNNING,
    STATUS,
    grown,
    is_shallow,
    note,
    pop,
    push,
    put_in,
    visit,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEW_ROWS = 4
"""Fewer rows are not worth looking for equal ones."""
FIRST, LAST, LIVE, LEFT, STEP, PASSED_PERFECT, BACKS, COVERED = range(8)
"""The numbers of a level: where its rows begin and end, which of its bits are alive and which of these are still to visit, the bit that
leads to the level below, how many perfect items there were before it, how many words of what came before a row has. For maximal sets also
the live bits of the last frequent set that was found by looking ahead."""
N_NUMBERS = 8


class Words(NamedTuple):
    """Rows as words: what may come, what came before (some words per row), and how many records a row stands for. The arrays grow."""

    words: NDArray[np.int64]
    backs: NDArray[np.int64]
    weights: NDArray[np.int64]


class Node(NamedTuple):
    """The rows below a path: those from `first` to before `last` that have the bits `must`; and which bits come before its last one."""

    first: int
    last: int
    n_backs: int
    must: int
    before: int


class BitRoom(NamedTuple):
    """Items and supports of the bits, the numbers, pairs and frequent partners of each level, and room for the steps of a node."""

    names: NDArray[np.int32]
    supports: NDArray[np.int64]
    levels: NDArray[np.int64]
    pairs: NDArray[np.int64]
    partners: NDArray[np.int64]
    slots: NDArray[np.int64]
    sums: NDArray[np.int64]
    places: NDArray[np.int64]
    bits: NDArray[np.int64]
    common: NDArray[np.int64]


@kernel
def move_row(row, to, n_backs, table):
    """Copy a row to another place."""
    backs = table.backs
    table.words[to] = table.words[row]
    table.weights[to] = table.weights[row]
    for back in range(n_backs):
        backs[to * n_backs + back] = backs[row * n_backs + back]


@kernel
def merge_rows(first, last, live, n_backs, table, slots):
    """Make one row of those that are equal in the live bits, with the intersection of what came before; return where the rows end now."""
    if last - first < FEW_ROWS:
        return last
    words, backs, weights = table.words, table.backs, table.weights
    size = 8
    while size < 2 * (last - first):
        size *= 2
    for slot in range(size):
        slots[slot] = -1
    end = first
    for row in range(first, last):
        key = words[row] & live
        slot = ((key ^ (key >> 29)) * 0x1E3779B97F4A7C15 >> 20) & (size - 1)
        while slots[slot] >= 0 and words[slots[slot]] & live != key:
            slot = (slot + 1) & (size - 1)
        same = slots[slot]
        if same >= 0:
            weights[same] += weights[row]
            words[same] &= words[row]
            for back in range(n_backs):
                backs[same * n_backs + back] &= backs[row * n_backs + back]
        else:
            slots[slot] = end
            move_row(row, end, n_backs, table)
            end += 1
    return end


@kernel
def write_bits(word, bits):
    """Write the places of the bits of a word; return how many there are."""
    count = 0
    while word:
        bits[count] = lowest_bit(word)
        count += 1
        word &= word - 1
    return count


@kernel
def count_pairs(level, min_count, table, room):
    """Count for each live bit of a level the weight of the rows that have it and an earlier bit, and note its frequent partners."""
    words, weights, levels, bits = table.words, table.weights, room.levels, room.bits
    pairs, partners = room.pairs[level], room.partners[level]
    live = levels[level, LIVE]
    n_bits = write_bits(live, bits)
    for a in range(n_bits):
        partners[bits[a]] = 0
        for b in range(bits[a], WORD_BITS):
            pairs[bits[a], b] = 0
    for row in range(levels[level, FIRST], levels[level, LAST]):
        weight = weights[row]
        width = write_bits(words[row] & live, bits)
        for a in range(width - 1):
            for b in range(a + 1, width):
                pairs[bits[a], bits[b]] += weight
    for b in range(write_bits(live, bits)):
        for a in range(b):
            if pairs[bits[a], bits[b]] >= min_count:
                partners[bits[a]] |= 1 << bits[b]
                partners[bits[b]] |= 1 << bits[a]


@kernel
def is_held_back(node, table, common):
    """Tell whether all rows of a node have an item in common that came before them: then a larger set has the same records."""
    words, backs, n_backs, must = table.words, table.backs, node.n_backs, node.must
    lower = node.before
    is_first = True
    for row in range(node.first, node.last):
        if words[row] & must != must:
            continue
        lower &= words[row]
        left = lower
        for back in range(n_backs):
            common[back] = backs[row * n_backs + back] if is_first else common[back] & backs[row * n_backs + back]
            left |= common[back]
        is_first = False
        if left == 0:
            return False
    return True


@kernel
def support_of(node, table):
    """Return the weight of the rows of a node."""
    words, must = table.words, node.must
    support = 0
    for row in range(node.first, node.last):
        if words[row] & must == must:
            support += table.weights[row]
    return support


@kernel
def are_frequent_pairs(partners, bits):
    """Return whether each two of some bits are together often enough: otherwise all of them together are not."""
    left = bits
    while left:
        if bits & ~(left & -left) & ~partners[lowest_bit(left)]:
            return False
        left &= left - 1
    return True


@kernel
def fill_table(node, extensions, table, sums, places):
    """Sum up, for each combination of extensions, the weight of the rows that have it; return how many extensions there are."""
    words, weights, must = table.words, table.weights, node.must
    width = 0
    word = extensions
    while word:
        places[lowest_bit(word)] = width
        width += 1
        word &= word - 1
    size = 1 << width
    for index in range(size):
        sums[index] = 0
    for row in range(node.first, node.last):
        if words[row] & must != must:
            continue
        index = 0
        word = words[row] & extensions
        while word:
            index |= 1 << places[lowest_bit(word)]
            word &= word - 1
        sums[index] += weights[row]
    step = 1
    while step < size:
        for start in range(0, size, 2 * step):
            for index in range(start, start + step):
                sums[index] += sums[index + step]
        step *= 2
    return width


@kernel
def can_grow(combination, width, sums, enough):
    """Tell whether one more extension leaves a combination of the table with enough records."""
    for place in range(width):
        if not combination >> place & 1 and sums[combination | 1 << place] >= enough:
            return True
    return False


@kernel
def write_with(bits, names, search):
    """Write the path with the items of some bits to `base`; return how many they are."""
    base, length = search.base, search.state[PATH]
    for place in range(length):
        base[place] = search.path[place]
    while bits:
        put_in(base, NONE, length, names[lowest_bit(bits)])
        length += 1
        bits &= bits - 1
    return length


@kernel
def note_table(node, extensions, table, room, search, found):
    """Note every combination of the extensions that is asked for."""
    asked, state, tally, sums = search.asked, search.state, search.tally, room.sums
    min_count, kind = asked.min_count, asked.kind
    width = fill_table(node, extensions, table, sums, room.places)
    no_bound = asked.min_length <= state[PATH] + 1 and asked.max_length >= state[PATH] + width + state[PERFECT]
    if kind == ALL and not asked.listing and no_bound:
        frequent = 0
        for combination in range(1, 1 << width):
            frequent += sums[combination] >= min_count
        tally[min(state[PATH] + 1, len(tally) - 1), state[PERFECT]] += frequent
        return
    write_bits(extensions, room.bits)
    for combination in range(1, 1 << width):
        support = sums[combination]
        if support < min_count:
            continue
        if kind != ALL and can_grow(combination, width, sums, min_count if kind == MAXIMAL else support):
            continue
        chosen = 0
        word = combination
        while word:
            chosen |= 1 << room.bits[lowest_bit(word)]
            word &= word - 1
        length = write_with(chosen, room.names, search)
        if kind != MAXIMAL and length > asked.max_length:
            continue
        held = Node(node.first, node.last, node.n_backs, node.must | chosen, node.before)
        if kind == CLOSED and is_held_back(held, table, room.common):
            continue
        note(search.base, length, support, search, found)
        if state[STATUS] != RUNNING:
            break


@kernel
def look_ahead(node, extensions, table, room, search, found):
    """Return whether the path with all its extensions is frequent, and note this set if it is: every set below the path is within it."""
    held = Node(node.first, node.last, node.n_backs, node.must | extensions, node.before)
    support = support_of(held, table)
    if support < search.asked.min_count:
        return False
    length = write_with(extensions, room.names, search)
    note(search.base, length, support, search, found)
    return True


@kernel
def find_extensions(bit, level, room):
    """Return the support of a bit of a level, the later bits that extend it, and the later bits that are in all of its rows."""
    levels, pairs = room.levels, room.pairs
    support = room.supports[bit] if level == 0 else pairs[level - 1, levels[level - 1, STEP], bit]
    extensions, perfect = room.partners[level, bit] & ~((2 << bit) - 1), 0
    word = extensions
    while word:
        other = lowest_bit(word)
        word &= word - 1
        if pairs[level, bit, other] == support:
            perfect |= 1 << other
    return support, extensions & ~perfect, perfect


@kernel
def enter(bit, perfect_bits, names, search):
    """Go one bit deeper, and add the items that all of its rows hold to the perfect ones."""
    state = search.state
    push(names[bit], search)
    while perfect_bits:
        search.perfect[state[PERFECT]] = names[lowest_bit(perfect_bits)]
        state[PERFECT] += 1
        perfect_bits &= perfect_bits - 1


@kernel
def with_room(last, most, n_backs, table):
    """Return the table with room for `most` rows, of which those before `last` are used."""
    words, backs, weights = table.words, table.backs, table.weights
    if most > len(words):
        words, weights = grown(words, last, most), grown(weights, last, most)
    if most * n_backs > len(backs):
        backs = grown(backs, last * n_backs, most * n_backs)
    return Words(words, backs, weights)


@kernel
def set_level(level, first, last, live, n_backs, levels):
    """Write the numbers of a level of which no bit has been visited."""
    levels[level, FIRST], levels[level, LAST] = first, last
    levels[level, LIVE], levels[level, LEFT] = live, live
    levels[level, BACKS], levels[level, COVERED] = n_backs, 0


@kernel
def write_level(level, node, extensions, asked, table, room):
    """Write the rows of a node as a level of their own, behind the others: cut down to the extensions and what came before, and merged."""
    words, n_backs, last = table.words, node.n_backs, node.last
    keep = extensions | node.before if asked.looks_back else extensions
    end = last
    for row in range(node.first, last):
        if words[row] & node.must and words[row] & extensions:
            move_row(row, end, n_backs, table)
            words[end] &= keep
            end += 1
    end = merge_rows(last, end, extensions, n_backs, table, room.slots)
    set_level(level, last, end, extensions, n_backs, room.levels)
    count_pairs(level, asked.min_count, table, room)


@kernel
def search_bits(n_rows, n_backs, width, table, room, search, found):
    """Find the sets that extend the path by the items of the `width` bits; return the table, which may have grown.

    The first `n_rows` rows of the table are those of the path, each with `n_backs` words of what came before; no two are equal in what
    may come. Before each round, the path holds the items of the steps above the current level, and the levels up to it stand one behind the
    other in the table.
    """
    asked, state, levels, names = search.asked, search.state, room.levels, room.names
    kind, min_count = asked.kind, asked.min_count
    whole = (1 << width) - 1
    node = Node(NONE, n_rows, n_backs, NONE, NONE)
    if width <= asked.table_bits:
        state[NODES] += 1
        note_table(node, whole, table, room, search, found)
        return table
    if kind == MAXIMAL and look_ahead(node, whole, table, room, search, found):
        return table
    set_level(NONE, NONE, n_rows, whole, n_backs, levels)
    count_pairs(NONE, min_count, table, room)
    level = NONE
    while state[STATUS] == RUNNING:
        if levels[level, LEFT] == 0:
            level -= 1
            if level < 0:
                break
            pop(names[levels[level, STEP]], search)
            state[PERFECT] = levels[level, PASSED_PERFECT]
            continue
        bit = lowest_bit(levels[level, LEFT])
        levels[level, LEFT] &= levels[level, LEFT] - 1
        support, extensions, perfect_bits = find_extensions(bit, level, room)
        reach = 1 << bit | extensions | perfect_bits
        if kind == MAXIMAL and reach & ~levels[level, COVERED] == 0:  # all of it is within a larger frequent set
            continue
        node = Node(levels[level, FIRST], levels[level, LAST], levels[level, BACKS], 1 << bit, (1 << bit) - 1)
        if not visit(search) or (asked.looks_back and is_held_back(node, table, room.common)):
            continue
        levels[level, STEP], levels[level, PASSED_PERFECT] = bit, state[PERFECT]
        enter(bit, perfect_bits, names, search)
        deeper = extensions != 0 and is_shallow(search)
        if kind != MAXIMAL or not deeper:
            note(search.path, state[PATH], support, search, found)
        if kind == MAXIMAL and deeper and are_frequent_pairs(room.partners[level], extensions):
            deeper = not look_ahead(node, extensions, table, room, search, found)
            if not deeper:
                levels[level, COVERED] = reach
        if deeper and bit_count(extensions) > asked.table_bits:
            most = 2 * node.last - node.first
            if most > len(table.words) or most * node.n_backs > len(table.backs):
                table = with_room(node.last, most, node.n_backs, table)
            level += 1
            write_level(level, node, extensions, asked, table, room)
            continue
        if deeper and state[STATUS] == RUNNING:
            state[NODES] += 1
            note_table(node, extensions, table, room, search, found)
        pop(names[bit], search)
        state[PERFECT] = levels[level, PASSED_PERFECT]
    return table
