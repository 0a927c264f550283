"""Loops that take the records of a cluster apart into chunks, each of them k^m-anonymous."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.data.forms.disassociated import LEFT_OUT, TERM_CHUNK
from setveil.kernels.bits import WORD_BITS, bit_count
from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, doubled_rows

MOVED, GIVEN_UP = 0, 1
"""Places of the tally: clusters in which an item was moved to the term chunk, and searches that were given up."""


@kernel
def take_apart(offsets, items, fixed, rows, starts, first, last, width, k, m, room, chunk, tally, control):
    """Tell the chunk of each occurrence in the clusters from `first` to before `last`; see `_vertical` for what is asked of them.

    The records of cluster c are `rows[starts[c]:starts[c + 1]]`. `fixed` tells of an occurrence that it is LEFT_OUT, or that its item is
    to go to the TERM_CHUNK of its cluster; 0 says nothing. `room` is for how many words of record sets a search may find.
    """
    local = np.full(width, -1, np.int32)
    names = np.empty(width, np.int32)
    supports = np.empty(width, np.int64)
    number = np.empty(width, np.int64)
    for cluster in range(first, last):
        control[DONE] = starts[cluster] - starts[first]
        if control[STOP]:
            return
        begin, end = starts[cluster], starts[cluster + 1]
        size = end - begin
        words = (size + WORD_BITS - 1) // WORD_BITS
        found = _count(offsets, items, fixed, rows, begin, end, local, names, supports)
        order = _candidates(names, supports, found, k)
        bits = _record_sets(offsets, items, fixed, rows, begin, end, local, found, order, words)
        for place in range(found):
            number[place] = TERM_CHUNK
        chunks = _chunks(order, bits, supports, size, k, m, room, number, tally)
        if 0 < len(order) == found and not _lemma(order, bits, number, chunks, size, k, m):
            number[order[len(order) - 1]] = TERM_CHUNK
            tally[MOVED] += 1
        for place in range(begin, end):
            for at in range(offsets[rows[place]], offsets[rows[place] + 1]):
                item = local[items[at]]
                # What is left out of a chunk is told nevertheless where its item is in the term chunk, which tells no numbers.
                told = item >= 0 and (fixed[at] != LEFT_OUT or number[item] == TERM_CHUNK)
                chunk[at] = number[item] if told else LEFT_OUT
        for place in range(found):
            local[names[place]] = -1


@kernel
def _count(offsets, items, fixed, rows, begin, end, local, names, supports):
    """Give the items of a cluster numbers and count their records; an item that must go to the term chunk counts as rare."""
    found = 0
    for place in range(begin, end):
        for at in range(offsets[rows[place]], offsets[rows[place] + 1]):
            if fixed[at] == LEFT_OUT:
                continue
            item = items[at]
            if local[item] < 0:
                local[item] = found
                names[found] = item
                supports[found] = 0
                found += 1
            if fixed[at] == TERM_CHUNK:
                supports[local[item]] = -len(rows) - 1
            supports[local[item]] += 1
    return found


@kernel
def _candidates(names, supports, found, k):
    """Return the items of a cluster that k records hold, most frequent first, then in label order."""
    order = np.empty(found, np.int64)
    used = 0
    for item in range(found):
        if supports[item] < k:
            continue
        place = used
        while place > 0 and (
            supports[order[place - 1]] < supports[item]
            or (supports[order[place - 1]] == supports[item] and names[order[place - 1]] > names[item])
        ):
            order[place] = order[place - 1]
            place -= 1
        order[place] = item
        used += 1
    return order[:used].copy()


@kernel
def _record_sets(offsets, items, fixed, rows, begin, end, local, found, order, words):
    """Return for each candidate the set of its records, as bits."""
    rank = np.full(found, -1, np.int64)
    for place in range(len(order)):
        rank[order[place]] = place
    bits = np.zeros((len(order), words), np.int64)
    for place in range(begin, end):
        word, bit = (place - begin) // WORD_BITS, np.int64(1) << ((place - begin) % WORD_BITS)
        for at in range(offsets[rows[place]], offsets[rows[place] + 1]):
            if fixed[at] != LEFT_OUT and rank[local[items[at]]] >= 0:
                bits[rank[local[items[at]]], word] |= bit
    return bits


@kernel
def _chunks(order, bits, supports, size, k, m, room, number, tally):
    """Put the candidates into chunks, each into the first that stays k^m-anonymous; return how many chunks there are.

    Items with the same records are one: they go wherever the first of them goes, since a set with several of them has the support of a
    smaller one.
    """
    waiting = np.empty(len(order), np.int64)
    first_alike = np.empty(len(order), np.int64)
    used = 0
    for place in range(len(order)):
        first_alike[place] = place
        for other in range(used - 1, -1, -1):
            if supports[order[waiting[other]]] != supports[order[place]]:
                break
            if _equal(bits, waiting[other], place):
                first_alike[place] = waiting[other]
                break
        if first_alike[place] == place:
            waiting[used] = place
            used += 1
    words = bits.shape[1]
    capacity = max(room // max(words, 1), 16)
    sets = np.empty((min(capacity, 64), words), np.int64)
    sizes = np.empty(len(sets), np.int64)
    inside = np.empty(used, np.int64)
    chunks = 0
    while used > 0:
        within, left = 0, 0
        for turn in range(used):
            item = waiting[turn]
            support = supports[order[item]]
            fits = support == size
            if not fits:
                outcome, sets, sizes = _stays_anonymous(item, bits, inside, within, size, k, m, capacity, sets, sizes)
                fits = outcome == 1
                if outcome < 0:
                    tally[GIVEN_UP] += 1
                if fits:
                    inside[within] = item
                    within += 1
            if fits:
                number[order[item]] = chunks
            else:
                waiting[left] = item
                left += 1
        used = left
        chunks += 1
    for place in range(len(order)):
        number[order[place]] = number[order[first_alike[place]]]
    return chunks


@kernel
def _equal(bits, one, other):
    for word in range(bits.shape[1]):
        if bits[one, word] != bits[other, word]:
            return False
    return True


@kernel
def _stays_anonymous(item, bits, inside, within, size, k, m, capacity, sets, sizes):
    """Tell whether a chunk stays k^m-anonymous with one item more: 1 yes, 0 no, -1 given up. Returns the room for record sets, too.

    Only sets with the new item can be rare. They are searched by the records that hold them, each record set once and first by as few
    items as lead to it: the number of items matters through the number of steps alone. `inside` has falling supports.
    """
    words = bits.shape[1]
    total = 0
    for word in range(words):
        sets[0, word] = bits[item, word]
        total += bit_count(bits[item, word])
    sizes[0] = total
    slots = np.full(64, -1, np.int64)
    found, level_start, known = 1, 0, 1
    while known < m and level_start < found:
        # However the items are chosen that may still be added, they leave out no more than the rarest of them do.
        misses = 0
        for rarest in range(1, min(m - known, within) + 1):
            lost = size
            for word in range(words):
                lost -= bit_count(bits[inside[within - rarest], word])
            misses += lost
        level_end = found
        for place in range(level_start, level_end):
            if sizes[place] - misses >= k:
                continue
            for other in range(within):
                if found >= capacity:
                    return -1, sets, sizes
                if found == len(sets):
                    sets, sizes = doubled_rows(sets), doubled(sizes, found)
                total = 0
                for word in range(words):
                    common = sets[place, word] & bits[inside[other], word]
                    sets[found, word] = common
                    total += bit_count(common)
                if total == 0 or total == sizes[place]:
                    continue
                if total < k:
                    return 0, sets, sizes
                if known + 1 < m:
                    if 2 * found >= len(slots):
                        slots = _hashed(sets, found, 4 * len(slots))
                    if _is_new(sets, found, slots):
                        sizes[found] = total
                        found += 1
        level_start = level_end
        known += 1
    return 1, sets, sizes


@kernel
def _slot(sets, place, slots):
    """Return where a record set stands in the table, or where it would."""
    code = np.int64(0)
    for word in range(sets.shape[1]):
        low, high = sets[place, word] & 0x7FFFFFFF, sets[place, word] >> 31
        code = (code * 69069 + low + high * 40503) % 2147483647  # no step of this exceeds 62 bits
    at = code & (len(slots) - 1)
    while slots[at] >= 0:
        if _equal(sets, slots[at], place):
            return at
        at = (at + 1) & (len(slots) - 1)
    return at


@kernel
def _is_new(sets, place, slots):
    """Note a record set, and tell whether it was not there before."""
    at = _slot(sets, place, slots)
    if slots[at] >= 0:
        return False
    slots[at] = place
    return True


@kernel
def _hashed(sets, found, room):
    """Return a larger table with the record sets that were found so far."""
    slots = np.full(room, -1, np.int64)
    for place in range(found):
        slots[_slot(sets, place, slots)] = place
    return slots


@kernel
def _lemma(order, bits, number, chunks, size, k, m):
    """Tell whether there are enough subrecords to fill every record, whichever m items somebody looks for (Lemma 2)."""
    total = 0
    words = bits.shape[1]
    for chunk in range(chunks):
        for word in range(words):
            held = np.int64(0)
            for place in range(len(order)):
                if number[order[place]] == chunk:
                    held |= bits[place, word]
            total += bit_count(held)
    return total >= size + k * (min(m, chunks) - 1)
