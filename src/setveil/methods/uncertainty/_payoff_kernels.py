"""Loops of the paper's payoff: which rules of one or two known items are unsafe, and which type of items leaves next.

A rule is a row: its known items, rising, and then the sensitive one. It is unsafe if more than num/den of the records with the known items
hold the sensitive one. Leaving out a type ends the rules that it is in and changes no other, so the list is made once.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Records(NamedTuple):
    """Records, the rows of each item from its start on, and which items are sensitive."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    is_sensitive: NDArray[np.bool_]


@kernel
def rules_of_one(first, last, records, num, den, most, control):
    """List the unsafe rules that know one item, from `first` to before `last`; at most so many and one more."""
    offsets, items, starts, rows = records.offsets, records.items, records.starts, records.rows
    rules = np.zeros((1024, 2), np.int32)
    used = 0
    count = np.zeros(len(starts) - 1, np.int64)
    for a in range(first, last):
        if control[STOP] or used > most:
            break
        for at in range(starts[a], starts[a + 1]):
            for place in range(offsets[rows[at]], offsets[rows[at] + 1]):
                count[items[place]] += 1
        for at in range(starts[a], starts[a + 1]):
            for place in range(offsets[rows[at]], offsets[rows[at] + 1]):
                e = items[place]
                if records.is_sensitive[e] and e != a and den * count[e] > num * (starts[a + 1] - starts[a]):
                    if used == len(rules):
                        rules = doubled_rows(rules)
                    rules[used, 0] = a
                    rules[used, 1] = e
                    used += 1
                count[e] = 0
        control[DONE] += 1
    return rules, used


@kernel
def rules_of_two(first, last, records, num, den, most, control):
    """List the unsafe rules that know two items, of which the lower is from `first` to before `last`; at most so many and some more."""
    offsets, items, starts, rows = records.offsets, records.items, records.starts, records.rows
    rules = np.zeros((1024, 3), np.int32)
    used = 0
    width = len(starts) - 1
    count = np.zeros(width, np.int64)
    begin = np.zeros(width, np.int64)
    for a in range(first, last):
        # The records with a, by their second known item.
        size = 0
        partners = 0
        for at in range(starts[a], starts[a + 1]):
            for place in range(offsets[rows[at]], offsets[rows[at] + 1]):
                if items[place] > a:
                    partners += count[items[place]] == 0
                    count[items[place]] += 1
                    size += 1
        second = np.empty(partners, np.int64)
        held = np.empty(partners, np.int64)
        grouped = np.empty(size, np.int64)
        partners = 0
        size = 0
        for at in range(starts[a], starts[a + 1]):
            for place in range(offsets[rows[at]], offsets[rows[at] + 1]):
                b = items[place]
                if b > a:
                    if count[b] > 0:
                        second[partners] = b
                        held[partners] = count[b]
                        partners += 1
                        begin[b] = size
                        size += count[b]
                        count[b] = 0
                    grouped[begin[b]] = rows[at]
                    begin[b] += 1
        end = 0
        for k in range(partners):
            if control[STOP] or used > most:
                return rules, used
            b = second[k]
            start = end
            end += held[k]
            for at in range(start, end):
                for place in range(offsets[grouped[at]], offsets[grouped[at] + 1]):
                    count[items[place]] += 1
            for at in range(start, end):
                for place in range(offsets[grouped[at]], offsets[grouped[at] + 1]):
                    e = items[place]
                    if records.is_sensitive[e] and e not in (a, b) and den * count[e] > num * held[k]:
                        if used == len(rules):
                            rules = doubled_rows(rules)
                        rules[used, 0] = a
                        rules[used, 1] = b
                        rules[used, 2] = e
                        used += 1
                    count[e] = 0
        control[DONE] += 1
    return rules, used


@kernel
def kill(rules, occurrences, killed, control):
    """Mark types until every rule has lost one: next that with most rules an occurrence, of equals that of the lowest code."""
    number, size = rules.shape
    width = len(occurrences)
    count = np.zeros(width, np.int64)
    for r in range(number):
        for k in range(size):
            count[rules[r, k]] += 1
    starts = np.zeros(width + 1, np.int64)
    for item in range(width):
        starts[item + 1] = starts[item] + count[item]
    filled = np.empty(width, np.int64)
    for item in range(width):
        filled[item] = starts[item]
    of_item = np.empty(starts[-1], np.int32)
    for r in range(number):
        for k in range(size):
            of_item[filled[rules[r, k]]] = r
            filled[rules[r, k]] += 1
    ended = np.zeros(number, np.bool_)
    left = number
    while left > 0 and not control[STOP]:
        best = -1
        for item in range(width):
            if count[item] > 0 and (best < 0 or count[item] * occurrences[best] > count[best] * occurrences[item]):
                best = item
        killed[best] = True
        for at in range(starts[best], starts[best + 1]):
            r = of_item[at]
            if not ended[r]:
                ended[r] = True
                left -= 1
                for k in range(size):
                    count[rules[r, k]] -= 1
        control[DONE] = number - left
