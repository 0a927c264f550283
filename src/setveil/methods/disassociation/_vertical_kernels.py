"""Loops that take the records of a cluster apart into chunks, each of them k^m-anonymous."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.forms.disassociated import LEFT_OUT, TERM_CHUNK
from setveil.kernels.bits import WORD_BITS, bit_count
from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, doubled_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOVED, GIVEN_UP = 0, 1
"""Places of the tally: clusters in which an item was moved to the term chunk, and searches that were given up."""
FITS, DOES_NOT_FIT, UNKNOWN = np.int64(1), np.int64(0), np.int64(-1)
"""What a search for rare sets finds out about an item; UNKNOWN if it was given up."""
ZERO, ONE = np.int64(0), np.int64(1)
"""Where a loop starts to count what it hands on: a 0 that is written out would compile what takes it a second time."""


class Clustered(NamedTuple):
    """Records in clusters: those of cluster c are `rows[starts[c]:starts[c + 1]]`.

    `fixed` says of an occurrence that it is LEFT_OUT, or that its item must go to the TERM_CHUNK of its cluster. Otherwise it is 0.
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    fixed: NDArray[np.int8]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]


class Limits(NamedTuple):
    """The k and m of the guarantee, and the maximum number of words for the record sets of one search."""

    k: int
    m: int
    room: int


class Items(NamedTuple):
    """Room for the items of one cluster, which are numbered in it."""

    number: NDArray[np.int32]
    """By item of the data: its number, -1 between clusters."""
    item: NDArray[np.int32]
    """By number: the item."""
    supports: NDArray[np.int64]
    """By number: how many records of the cluster hold it."""
    place: NDArray[np.int64]
    """By number: its place among the candidates, -1 if it is none."""
    chunk: NDArray[np.int64]
    """By number: its chunk."""


class Candidates(NamedTuple):
    """Items of a cluster that k records hold, most frequent first: their numbers, record sets as bits, and supports."""

    numbers: NDArray[np.int64]
    bits: NDArray[np.int64]
    supports: NDArray[np.int64]
    size: int
    """How many records the cluster has."""


class Found(NamedTuple):
    """Record sets that a search found, as bits, and how many records each has."""

    bits: NDArray[np.int64]
    sizes: NDArray[np.int64]


@kernel
def take_apart(clustered, first, last, limits, items, chunk, tally, control):
    """Write the chunk of each occurrence in the clusters from `first` to before `last`; see `_vertical` for what must hold for them."""
    starts = clustered.starts
    for cluster in range(first, last):
        control[DONE] = starts[cluster] - starts[first]
        if control[STOP]:
            return
        found = _count_items(cluster, clustered, items)
        numbers = _order_candidates(found, limits.k, items)
        candidates = _find_record_sets(cluster, numbers, clustered, items)
        chunk_of = np.empty(len(numbers), np.int64)
        chunks = _assign(candidates, limits, chunk_of, tally)
        if 0 < len(numbers) == found and not _can_fill_records(candidates, chunk_of, chunks, limits):
            chunk_of[len(numbers) - 1] = TERM_CHUNK
            tally[MOVED] += 1
        _write_chunks(cluster, candidates.numbers, chunk_of, clustered, items, chunk)
        _forget_items(found, items)


@kernel
def _count_items(cluster, clustered, items):
    """Count the records of each item of a cluster, and give it a number; an item that must go to the term chunk counts as rare."""
    offsets, codes, fixed, rows = clustered.offsets, clustered.items, clustered.fixed, clustered.rows
    number, item_of, supports, place_of, chunk_of = items
    found = ZERO
    for place in range(clustered.starts[cluster], clustered.starts[cluster + 1]):
        for at in range(offsets[rows[place]], offsets[rows[place] + 1]):
            if fixed[at] == LEFT_OUT:
                continue
            item = codes[at]
            if number[item] < 0:
                number[item] = found
                item_of[found] = item
                place_of[found] = -1
                chunk_of[found] = TERM_CHUNK
                supports[found] = 0
                found += 1
            if fixed[at] == TERM_CHUNK:
                supports[number[item]] = -len(rows) - 1
            supports[number[item]] += 1
    return found


@kernel
def _order_candidates(found, k, items):
    """Return the items of a cluster that k records hold, most frequent first, then in label order; and note their places."""
    supports, labels, place_of = items.supports, items.item, items.place
    order = np.empty(found, np.int64)
    used = 0
    for item in range(found):
        if supports[item] < k:
            continue
        place = used
        while place > 0 and (
            supports[order[place - 1]] < supports[item]
            or (supports[order[place - 1]] == supports[item] and labels[order[place - 1]] > labels[item])
        ):
            order[place] = order[place - 1]
            place -= 1
        order[place] = item
        used += 1
    for place in range(used):
        place_of[order[place]] = place
    return order[:used].copy()


@kernel
def _find_record_sets(cluster, numbers, clustered, items):
    """Return the candidates of a cluster with the sets of their records."""
    offsets, codes, fixed, rows = clustered.offsets, clustered.items, clustered.fixed, clustered.rows
    number, place_of = items.number, items.place
    begin, end = clustered.starts[cluster], clustered.starts[cluster + 1]
    bits = np.zeros((len(numbers), (end - begin + WORD_BITS - 1) // WORD_BITS), np.int64)
    for place in range(begin, end):
        word, bit = (place - begin) // WORD_BITS, ONE << ((place - begin) % WORD_BITS)
        for at in range(offsets[rows[place]], offsets[rows[place] + 1]):
            if fixed[at] != LEFT_OUT:
                candidate = place_of[number[codes[at]]]
                if candidate >= 0:
                    bits[candidate, word] |= bit
    supports = np.empty(len(numbers), np.int64)
    support_of = items.supports
    for candidate in range(len(numbers)):
        supports[candidate] = support_of[numbers[candidate]]
    return Candidates(numbers, bits, supports, end - begin)


@kernel
def _assign(candidates, limits, chunk_of, tally):
    """Put each candidate into the first chunk that stays k^m-anonymous; return how many chunks there are.

    Items with the same records are one: they go wherever the first of them goes, since a set with several of them has the support of a
    smaller one. Before each chunk is filled, `waiting` lists the others that fit into none so far.
    """
    supports, size = candidates.supports, candidates.size
    first_alike = np.empty(len(chunk_of), np.int64)
    waiting = np.empty(len(chunk_of), np.int64)
    left = _list_different(candidates, first_alike, waiting)
    inside = np.empty(left, np.int64)
    found = Found(np.empty((64, candidates.bits.shape[1]), np.int64), np.empty(64, np.int64))
    chunks = ZERO
    while left > 0:
        turns = left
        within, left = ZERO, ZERO
        for turn in range(turns):
            candidate = waiting[turn]
            fits = FITS
            if supports[candidate] < size:
                fits, found = _stays_anonymous(candidate, candidates, inside[:within], limits, found)
                if fits == FITS:
                    inside[within] = candidate
                    within += 1
                elif fits == UNKNOWN:
                    tally[GIVEN_UP] += 1
            if fits == FITS:
                chunk_of[candidate] = chunks
            else:
                waiting[left] = candidate
                left += 1
        chunks += 1
    for candidate in range(len(chunk_of)):
        chunk_of[candidate] = chunk_of[first_alike[candidate]]
    return chunks


@kernel
def _list_different(candidates, first_alike, different):
    """Find for each candidate the first one with the same records, list these first ones, and return how many there are."""
    bits, supports = candidates.bits, candidates.supports
    used = ZERO
    for candidate in range(len(first_alike)):
        first_alike[candidate] = candidate
        for at in range(used - 1, -1, -1):
            if supports[different[at]] != supports[candidate]:
                break
            if _equal(bits, different[at], candidate):
                first_alike[candidate] = different[at]
                break
        if first_alike[candidate] == candidate:
            different[used] = candidate
            used += 1
    return used


@kernel
def _equal(bits, one, other):
    for word in range(bits.shape[1]):
        if bits[one, word] != bits[other, word]:
            return False
    return True


@kernel
def _stays_anonymous(candidate, candidates, inside, limits, found):
    """Return whether a chunk with the items `inside` stays k^m-anonymous with one more, and the room for record sets.

    Only sets with the new item can be rare. They are searched by the records that hold them, each record set once and first by as few
    items as lead to it: the number of items matters through the number of steps alone. `inside` has falling supports.
    """
    bits, supports = candidates.bits, candidates.supports
    words = bits.shape[1]
    sets, sizes = found.bits, found.sizes
    most = max(limits.room // max(words, 1), 16)
    for word in range(words):
        sets[0, word] = bits[candidate, word]
    sizes[0] = supports[candidate]
    slots = np.full(64 if limits.m > 2 else 0, -1, np.int64)  # with fewer steps, no set leads to others
    used, level_start, known = ONE, ZERO, 1
    while known < limits.m and level_start < used:
        # However the items are chosen that may still be added, they leave out no more than the rarest of them do.
        misses = 0
        for rarest in range(1, min(limits.m - known, len(inside)) + 1):
            misses += candidates.size - supports[inside[len(inside) - rarest]]
        level_end = used
        for place in range(level_start, level_end):
            if sizes[place] - misses >= limits.k:
                continue
            for at in range(len(inside)):
                if used >= most:
                    return UNKNOWN, Found(sets, sizes)
                if used == len(sizes):
                    sets, sizes = doubled_rows(sets), doubled(sizes, used)
                total = ZERO
                for word in range(words):
                    common = sets[place, word] & bits[inside[at], word]
                    sets[used, word] = common
                    total += bit_count(common)
                if total == 0 or total == sizes[place]:
                    continue
                if total < limits.k:
                    return DOES_NOT_FIT, Found(sets, sizes)
                if known + 1 < limits.m:
                    if 2 * used >= len(slots):
                        slots = _hash_all(sets, used, 4 * len(slots))
                    if _is_new(sets, used, slots):
                        sizes[used] = total
                        used += 1
        level_start = level_end
        known += 1
    return FITS, Found(sets, sizes)


@kernel
def _slot(sets, place, slots):
    """Return where a record set is in the hash table, or where it would be."""
    code = ZERO
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
    """Add a record set to the hash table, and return whether it was not there before."""
    at = _slot(sets, place, slots)
    if slots[at] >= 0:
        return False
    slots[at] = place
    return True


@kernel
def _hash_all(sets, used, room):
    """Return a larger hash table with the record sets that were found so far."""
    slots = np.full(room, -1, np.int64)
    for place in range(used):
        slots[_slot(sets, place, slots)] = place
    return slots


@kernel
def _can_fill_records(candidates, chunk_of, chunks, limits):
    """Return whether there are enough subrecords to fill every record, whichever m items an attacker knows (Lemma 2)."""
    bits, total = candidates.bits, ZERO
    for chunk in range(chunks):
        for word in range(bits.shape[1]):
            held = ZERO
            for candidate in range(len(chunk_of)):
                if chunk_of[candidate] == chunk:
                    held |= bits[candidate, word]
            total += bit_count(held)
    return total >= candidates.size + limits.k * (min(limits.m, chunks) - 1)


@kernel
def _write_chunks(cluster, numbers, chunk_of_candidate, clustered, items, chunk):
    """Write the chunk of each occurrence of a cluster."""
    offsets, codes, fixed, rows = clustered.offsets, clustered.items, clustered.fixed, clustered.rows
    number, chunk_of = items.number, items.chunk
    for place in range(len(numbers)):
        chunk_of[numbers[place]] = chunk_of_candidate[place]
    for place in range(clustered.starts[cluster], clustered.starts[cluster + 1]):
        for at in range(offsets[rows[place]], offsets[rows[place] + 1]):
            item = number[codes[at]]
            # An occurrence that is left out of a chunk is shown if its item is in the term chunk, which shows no counts.
            shown = item >= 0 and (fixed[at] != LEFT_OUT or chunk_of[item] == TERM_CHUNK)
            chunk[at] = chunk_of[item] if shown else LEFT_OUT


@kernel
def _forget_items(found, items):
    """Take back the numbers of the items of a cluster."""
    number, item_of = items.number, items.item
    for at in range(found):
        number[item_of[at]] = -1
