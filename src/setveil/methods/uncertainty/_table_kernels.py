"""A table that changes: which records hold an item now, and how many hold several."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.bits import bit_count
from setveil.kernels.jit import kernel
from setveil.kernels.rows import first_not_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE = np.uint64(1)
ZERO = np.int64(0)
"""Where a loop starts to count what it hands on: a 0 that is written out would compile what takes it a second time."""
ALL = np.int64(2**62)
"""The limit of a count that has none."""


class Table(NamedTuple):
    """Records of the original, and which of their occurrences are present.

    `lists` has room for all records that ever held an item, from `starts` on, of which the first `held` hold it now. `words` have one bit
    per item of the original record, so that most records that lack an item are skipped; `list_words` repeats them beside the lists.
    `sums` tell most contents apart. Items that many records hold have one bit per record in `bits`, in the row that `hot` names.
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    is_sensitive: NDArray[np.bool_]
    starts: NDArray[np.int64]
    hot: NDArray[np.int64]
    present: NDArray[np.uint8]
    held: NDArray[np.int64]
    lists: NDArray[np.int64]
    list_words: NDArray[np.uint64]
    words: NDArray[np.uint64]
    sums: NDArray[np.uint64]
    bits: NDArray[np.uint64]


class Groups(NamedTuple):
    """Records grouped by content: their positions in a list of rows (`members`), the last member of each group, and its size.

    `before` has for each member the one of its group that comes before it, or -1. `slots` is room for a hash table, 0 everywhere:
    a power of two, at least twice the members. `order` is room for an order of the groups.
    """

    members: NDArray[np.int64]
    before: NDArray[np.int64]
    lasts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    order: NDArray[np.int64]
    slots: NDArray[np.int64]


@kernel
def mixed(item):
    """Return a word of well mixed bits for an item."""
    word = np.uint64(item) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
    word ^= word >> np.uint64(29)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    return word ^ (word >> np.uint64(32))


@kernel
def set_up(table):
    """Write the words of all records, and let the present occurrences be held."""
    offsets, items, present, words = table.offsets, table.items, table.present, table.words
    for row in range(len(offsets) - 1):
        word = np.uint64(0)
        for place in range(offsets[row], offsets[row + 1]):
            word |= ONE << (mixed(np.int64(items[place])) & np.uint64(63))
        words[row] = word
        for place in range(offsets[row], offsets[row + 1]):
            if present[place]:
                put(row, np.int64(items[place]), table)


@kernel
def put(row, item, table):
    """Let a record hold one more item."""
    held, hot = table.held, table.hot
    at = table.starts[item] + held[item]
    held[item] += 1
    table.lists[at] = row
    table.list_words[at] = table.words[row]
    table.sums[row] += mixed(item)
    if hot[item] >= 0:
        table.bits[hot[item], row >> 6] |= ONE << np.uint64(row & 63)


@kernel
def content(row, table, into):
    """Write what a record holds now, and return how much that is."""
    items, present = table.items, table.present
    size = ZERO
    for place in range(table.offsets[row], table.offsets[row + 1]):
        if present[place]:
            into[size] = items[place]
            size += 1
    return size


@kernel
def records_with(q, size, enough, table):
    """Count the records that hold all of q, which is not empty; `enough` of them need not be counted further."""
    held, hot, bits = table.held, table.hot, table.bits
    rarest = q[0]
    all_hot = True
    word = np.uint64(0)
    for k in range(size):
        if held[q[k]] < held[rarest]:
            rarest = q[k]
        all_hot &= hot[q[k]] >= 0
        word |= ONE << (mixed(q[k]) & np.uint64(63))
    if size == 1 or held[rarest] == 0:
        return held[rarest]
    total = ZERO
    if all_hot and held[rarest] > bits.shape[1]:
        for w in range(bits.shape[1]):
            common = bits[hot[rarest], w]
            k = 0
            while common and k < size:
                common &= bits[hot[q[k]], w]
                k += 1
            if common:
                total += np.int64(bit_count(common))
                if total >= enough:
                    break
        return total
    offsets, items, present = table.offsets, table.items, table.present
    lists, list_words = table.lists, table.list_words
    first = table.starts[rarest]
    for at in range(first, first + held[rarest]):
        if (list_words[at] & word) != word:
            continue
        row = lists[at]
        k = 0
        while k < size:
            if hot[q[k]] >= 0:
                if not (bits[hot[q[k]], row >> 6] >> np.uint64(row & 63)) & ONE:
                    break
            elif q[k] != rarest:
                place = first_not_below(items, offsets[row], offsets[row + 1], q[k])
                if place == offsets[row + 1] or items[place] != q[k] or not present[place]:
                    break
            k += 1
        if k == size:
            total += 1
            if total >= enough:
                break
    return total


@kernel
def same_content(row, other, table):
    """Return whether two records hold the same items now."""
    items, present = table.items, table.present
    a, b = table.offsets[row], table.offsets[other]
    end_a, end_b = table.offsets[row + 1], table.offsets[other + 1]
    while True:
        while a < end_a and not present[a]:
            a += 1
        while b < end_b and not present[b]:
            b += 1
        if a == end_a or b == end_b:
            return a == end_a and b == end_b
        if items[a] != items[b]:
            return False
        a += 1
        b += 1


@kernel
def group(number, rows, table, groups):
    """Group the first `number` members by the content of their rows; return the number of groups."""
    members, before, lasts, sizes, slots = groups.members, groups.before, groups.lasts, groups.sizes, groups.slots
    sums = table.sums
    n_groups = ZERO
    size = 2
    while size < 2 * number:
        size *= 2
    mask = np.uint64(size - 1)
    for at in range(number):
        row = rows[members[at]]
        key = sums[row]
        slot = (key ^ (key >> np.uint64(31))) & mask
        known = slots[slot] - 1
        while known >= 0:
            other = rows[members[lasts[known]]]
            if sums[other] == key and same_content(row, other, table):
                break
            slot = (slot + ONE) & mask
            known = slots[slot] - 1
        if known < 0:
            known = n_groups
            n_groups += 1
            slots[slot] = n_groups
            sizes[known] = 0
            lasts[known] = -1
        before[at] = lasts[known]
        lasts[known] = at
        sizes[known] += 1
    for at in range(number):
        key = sums[rows[members[at]]]
        slot = (key ^ (key >> np.uint64(31))) & mask
        while slots[slot] != 0:
            slots[slot] = 0
            slot = (slot + ONE) & mask
    return n_groups
