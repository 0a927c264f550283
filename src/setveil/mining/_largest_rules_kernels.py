"""Bounds for the rules q → e of one item e: how many records hold e together with pairs of other items, or with single ones."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

ZERO, NONE = np.int64(0), np.int64(-1)


class Contents(NamedTuple):
    """Distinct records, and how many records have each content."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    weights: NDArray[np.int64]


class Rules(NamedTuple):
    """The content of each rule, the highest and the lowest count of its pairs, and how many records at least hold the whole content."""

    rows: NDArray[np.int64]
    most: NDArray[np.int64]
    least: NDArray[np.int64]
    both: NDArray[np.int64]


class Counts(NamedTuple):
    """How many records hold each item, 0 between items e; and a hash table of pairs, with a key of -1 where it is free."""

    items: NDArray[np.int64]
    keys: NDArray[np.int64]
    pairs: NDArray[np.int64]


@kernel
def slot_of(first, second, size, counts):
    """Return the place of a pair in a table of this size, a power of two."""
    key = first * len(counts.items) + second
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(20)) & (size - 1)
    while counts.keys[slot] >= 0 and counts.keys[slot] != key:
        slot = (slot + 1) & (size - 1)
    return slot


@kernel
def bound_rules(codes, starts, rules, contents, most_pairs, control):
    """Write the bounds of the rules of some items; if one has more than `most_pairs` pairs in its contents, those by single items."""
    offsets, items, weights = contents.offsets, contents.items, contents.weights
    largest = ZERO
    for e in codes:
        n_pairs = pairs_of(e, starts, rules, contents)
        if n_pairs <= most_pairs:
            largest = max(largest, n_pairs)
    room = 2
    while room < 2 * largest:
        room *= 2
    counts = Counts(np.zeros(len(starts), np.int64), np.empty(room, np.int64), np.empty(room, np.int64))
    for e in codes:
        if control[STOP]:
            return
        n_pairs = pairs_of(e, starts, rules, contents)
        size = 2
        if n_pairs <= most_pairs:
            while size < 2 * n_pairs:
                size *= 2
            for slot in range(size):
                counts.keys[slot] = NONE
        for at in range(starts[e], starts[e + 1]):
            row = rules.rows[at]
            for place in range(offsets[row], offsets[row + 1]):
                item = np.int64(items[place])
                if item == e:
                    continue
                counts.items[item] += weights[row]
                if n_pairs > most_pairs:
                    continue
                for other in range(place + 1, offsets[row + 1]):
                    if items[other] != e:
                        slot = slot_of(item, np.int64(items[other]), size, counts)
                        if counts.keys[slot] < 0:
                            counts.keys[slot] = item * len(counts.items) + items[other]
                            counts.pairs[slot] = 0
                        counts.pairs[slot] += weights[row]
        for at in range(starts[e], starts[e + 1]):
            bound_rule(e, at, n_pairs <= most_pairs, size, counts, rules, contents)
        for at in range(starts[e], starts[e + 1]):
            row = rules.rows[at]
            for place in range(offsets[row], offsets[row + 1]):
                counts.items[items[place]] = 0
        control[DONE] += 1


@kernel
def pairs_of(e, starts, rules, contents):
    """Return how many pairs of other items the contents of e have in all."""
    total = ZERO
    for at in range(starts[e], starts[e + 1]):
        size = contents.offsets[rules.rows[at] + 1] - contents.offsets[rules.rows[at]] - 1
        total += size * (size - 1) // 2
    return total


@kernel
def bound_rule(e, at, by_pairs, size, counts, rules, contents):
    """Write the bounds of one rule."""
    row, items = rules.rows[at], contents.items
    begin, end = contents.offsets[row], contents.offsets[row + 1]
    n_others = end - begin - 1
    most, least = ZERO, np.int64(2**62)
    for place in range(begin, end):
        item = np.int64(items[place])
        if item == e:
            continue
        if n_others == 1 or not by_pairs:
            most = max(most, counts.items[item])
            least = min(least, counts.items[item])
            continue
        for other in range(place + 1, end):
            if items[other] != e:
                count = counts.pairs[slot_of(item, np.int64(items[other]), size, counts)]
                most = max(most, count)
                least = min(least, count)
    rules.most[at] = most
    rules.least[at] = least
    rules.both[at] = least if n_others == 1 or (n_others == 2 and by_pairs) else contents.weights[row]
