"""Loops over records that lose items one by one: what each still holds, who holds an item, and who holds all of several."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.jit import kernel
from setveil.kernels.rows import bit_of, first_not_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEFT, REMOVED, RULES, SERIAL = 0, 1, 2, 3
"""Totals: occurrences that are left, that were removed, rules that were made safe, and a number that is never repeated."""


class Original(NamedTuple):
    """The records as they came, where the list of records of each item starts, the supports, and which items are sensitive."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    starts: NDArray[np.int64]
    supports: NDArray[np.int64]
    is_sensitive: NDArray[np.bool_]


class Now(NamedTuple):
    """What changes.

    The items that each record still holds, packed to the front of its place in `held`, and how many these are; the records of each item,
    and where in its list each occurrence stands (by its place in the original); supports; a word for each record with a bit for each item,
    so that most records that lack one are skipped; which occurrences are gone; the random state; and totals.
    """

    held: NDArray[np.int32]
    lengths: NDArray[np.int64]
    lists: NDArray[np.int32]
    spots: NDArray[np.int64]
    supports: NDArray[np.int64]
    words: NDArray[np.uint64]
    is_gone: NDArray[np.bool_]
    random: NDArray[np.uint64]
    totals: NDArray[np.int64]


@kernel
def below(random, bound):
    """Draw a whole number from 0 to before bound, which is less than 2^32."""
    word = random[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    random[0] = word
    return np.int64(((word >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel
def remove(row, item, original, now):
    """Let a record lose an item that it holds."""
    offsets, items, held, spots = original.offsets, original.items, now.held, now.spots
    origin = first_not_below(items, offsets[row], offsets[row + 1], item)
    now.is_gone[origin] = True
    # The last record of the item's list takes the place of this one.
    now.supports[item] -= 1
    last = np.int64(now.lists[original.starts[item] + now.supports[item]])
    now.lists[spots[origin]] = last
    spots[first_not_below(items, offsets[last], offsets[last + 1], item)] = spots[origin]
    end = offsets[row] + now.lengths[row]
    place = first_not_below(held, offsets[row], end, item)
    for k in range(place, end - 1):
        held[k] = held[k + 1]
    now.lengths[row] -= 1
    word = np.uint64(0)
    for k in range(offsets[row], end - 1):
        word |= bit_of(held[k])
    now.words[row] = word
    now.totals[LEFT] -= 1
    now.totals[REMOVED] += 1


@kernel
def remove_some(item, rows, number, many, original, now):
    """Let so many of these records, drawn at random, lose an item that all of them hold."""
    for k in range(many):
        other = k + below(now.random, number - k)
        rows[k], rows[other] = rows[other], rows[k]
        remove(rows[k], item, original, now)


@kernel
def remove_cases(starts, rows, items, many, original, now):
    """For each case, an item and records that hold it, let so many of the records lose the item."""
    for case in range(len(items)):
        first, last = starts[case], starts[case + 1]
        remove_some(items[case], rows[first:last], last - first, many[case], original, now)


@kernel
def fill(original, now):
    """Make the lists, the words and the totals of records that hold all that they came with."""
    offsets, items, spots, supports = original.offsets, original.items, now.spots, now.supports
    for row in range(len(now.lengths)):
        word = np.uint64(0)
        for place in range(offsets[row], offsets[row + 1]):
            item = items[place]
            word |= bit_of(item)
            spots[place] = original.starts[item] + supports[item]
            now.lists[spots[place]] = row
            supports[item] += 1
        now.words[row] = word
        now.lengths[row] = offsets[row + 1] - offsets[row]
    now.totals[LEFT] = len(items)


@kernel
def holders(q, size, limit, rows, original, now):
    """List the records that hold all of q, which is sorted and not empty; the first `limit` that are found are enough."""
    offsets, held, lengths = original.offsets, now.held, now.lengths
    lists, supports, words = now.lists, now.supports, now.words
    word = np.uint64(0)
    rarest = q[0]
    for k in range(size):
        word |= bit_of(q[k])
        if supports[q[k]] < supports[rarest]:
            rarest = q[k]
    number = np.int64(0)
    first = original.starts[rarest]
    for at in range(first, first + supports[rarest]):
        if number >= limit:
            break
        row = lists[at]
        if (words[row] & word) != word:
            continue
        place = offsets[row]
        end = place + lengths[row]
        k = 0
        while k < size:
            while place < end and held[place] < q[k]:
                place += 1
            if place == end or held[place] != q[k]:
                break
            k += 1
        if k == size:
            rows[number] = row
            number += 1
    return number
