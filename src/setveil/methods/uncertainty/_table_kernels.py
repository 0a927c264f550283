"""A table that changes: which records hold an item now, and how many hold several.

`present` tells for each occurrence of the original whether it is there. `lists` has room for all records that ever held an item, of which
the first `held` hold it now. `words` have a bit an item, by which most records that lack one are told apart; `sums` tell most contents
apart; items that many records hold have a bit a record in `bits`, in the row that `hot` names.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.bits import bit_count
from setveil.kernels.jit import kernel
from setveil.kernels.rows import first_not_below

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
    place = first_not_below(items, offsets[row], offsets[row + 1], item)
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
def comes_first(one, other, keys):
    """Tell whether one place has the lower key, of equals whether it is the lower place."""
    return keys[one] < keys[other] or (keys[one] == keys[other] and one < other)


@kernel
def sorted_places(keys, size, places):
    """Write the places of the first keys in their order, by a heap: NumPy's sorting takes seconds to compile."""
    for at in range(size):
        places[at] = at
        child = at
        while child > 0 and comes_first(places[(child - 1) >> 1], places[child], keys):
            parent = (child - 1) >> 1
            places[parent], places[child] = places[child], places[parent]
            child = parent
    for end in range(size - 1, 0, -1):
        places[0], places[end] = places[end], places[0]
        parent = 0
        while True:
            child = 2 * parent + 1
            if child >= end:
                break
            if child + 1 < end and comes_first(places[child], places[child + 1], keys):
                child += 1
            if not comes_first(places[parent], places[child], keys):
                break
            places[parent], places[child] = places[child], places[parent]
            parent = child
