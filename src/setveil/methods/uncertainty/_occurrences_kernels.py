"""Loops over records that lose items one by one: what each still holds, who holds an item, and who holds all of several.

`fixed` are the records as they came (offsets, items), where the list of records of each item starts, the supports at the start, and which
items are sensitive. `state` is what changes: the items that each record still holds, packed to the front of its place in `held`, how many
these are, the lists of records by item, where in its list each occurrence stands (by its place in the original), supports, a word
for each record with a bit for each item (by which most records that lack one are told apart), which occurrences are gone, the random state,
and totals.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel
from setveil.kernels.rows import bit_of, first_not_below

LEFT, REMOVED, RULES, SERIAL = 0, 1, 2, 3
"""Totals: occurrences that are left, that were removed, rules that were made safe, and a number that never comes twice."""


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
def remove(row, item, fixed, state):
    """Let a record lose an item that it holds."""
    offsets, items, list_starts, _first_support, _sensitive = fixed
    held, length, lists, spot, support, words, gone, _random, totals = state
    origin = first_not_below(items, offsets[row], offsets[row + 1], item)
    gone[origin] = True
    # The last record of the item's list takes the place of this one.
    support[item] -= 1
    last = lists[list_starts[item] + support[item]]
    lists[spot[origin]] = last
    spot[first_not_below(items, offsets[last], offsets[last + 1], item)] = spot[origin]
    end = offsets[row] + length[row]
    place = first_not_below(held, offsets[row], end, item)
    for k in range(place, end - 1):
        held[k] = held[k + 1]
    length[row] -= 1
    word = np.uint64(0)
    for k in range(offsets[row], end - 1):
        word |= bit_of(held[k])
    words[row] = word
    totals[LEFT] -= 1
    totals[REMOVED] += 1


@kernel
def remove_some(item, rows, number, many, fixed, state):
    """Let so many of these records, drawn at random, lose an item that all of them hold."""
    random = state[7]
    for k in range(many):
        other = k + below(random, number - k)
        rows[k], rows[other] = rows[other], rows[k]
        remove(rows[k], item, fixed, state)


@kernel
def remove_cases(starts, rows, items, many, fixed, state):
    """For each case, an item and records that hold it, let so many of the records lose the item."""
    for case in range(len(items)):
        first, last = starts[case], starts[case + 1]
        remove_some(items[case], rows[first:last], last - first, many[case], fixed, state)


@kernel
def fill(fixed, state):
    """Make the lists, the words and the totals of records that hold all that they came with."""
    offsets, items, list_starts, _first_support, _sensitive = fixed
    _held, length, lists, spot, support, words, _gone, _random, totals = state
    for row in range(len(length)):
        word = np.uint64(0)
        for place in range(offsets[row], offsets[row + 1]):
            item = items[place]
            word |= bit_of(item)
            spot[place] = list_starts[item] + support[item]
            lists[spot[place]] = row
            support[item] += 1
        words[row] = word
        length[row] = offsets[row + 1] - offsets[row]
    totals[LEFT] = len(items)


@kernel
def holders(q, size, limit, rows, fixed, state):
    """List the records that hold all of q, which is sorted and not empty; the first `limit` that are found are enough."""
    offsets, list_starts = fixed[0], fixed[2]
    held, length, lists, _spot, support, words = state[:6]
    word = np.uint64(0)
    rarest = q[0]
    for k in range(size):
        word |= bit_of(q[k])
        if support[q[k]] < support[rarest]:
            rarest = q[k]
    number = 0
    for at in range(list_starts[rarest], list_starts[rarest] + support[rarest]):
        if number >= limit:
            break
        row = lists[at]
        if (words[row] & word) != word:
            continue
        place = offsets[row]
        end = place + length[row]
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
