"""Loops that cut the records of a search down to the items that may still come, and choose the records that make most of these needless.

A record at hand is a row of `spans`: its number, and where the items that are left of it start and end in `held`.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROW, START, END = 0, 1, 2
MOST_PICKED = 16
"""Of how many records a pivot is at most."""
NOBODY = np.int64(-1)


class Held(NamedTuple):
    """The records at hand, the items that are left of them, and the weights of all records."""

    spans: NDArray[np.int64]
    items: NDArray[np.int64]
    weights: NDArray[np.int64]


@kernel
def more_spans(spans, used):
    """Return a copy with twice the room, of which so many rows are used."""
    larger = np.empty((2 * len(spans), 3), np.int64)
    for at in range(used):
        for column in range(3):
            larger[at, column] = spans[at, column]
    return larger


@kernel
def common(k, begin, first, last, held, mark):
    """Mark the items that some records of weight k hold, from the record at `begin` on always the one with most of these next.

    An item that all of them hold has the returned number in `mark`, which is 0 elsewhere before; 0 if there are none. Returns also how many
    items these are, and the steps that took.
    """
    spans, items, weights = held.spans, held.items, held.weights
    size = spans[begin, END] - spans[begin, START]
    weight = weights[spans[begin, ROW]]
    for place in range(spans[begin, START], spans[begin, END]):
        mark[items[place]] = 1
    picked = 1
    steps = size
    while weight < k and size > 0 and picked < MOST_PICKED:
        best = NOBODY
        size = 0
        for at in range(first, last):
            if spans[at, END] - spans[at, START] <= size:
                continue
            both = 0
            steps += spans[at, END] - spans[at, START]
            for place in range(spans[at, START], spans[at, END]):
                if mark[items[place]] == picked:
                    both += 1
            # A record that was picked before holds them all: it is told by its sign.
            if both > size and spans[at, ROW] >= 0 and at != begin:
                size = both
                best = at
        if best < 0:
            break
        weight += weights[spans[best, ROW]]
        for place in range(spans[best, START], spans[best, END]):
            if mark[items[place]] == picked:
                mark[items[place]] = picked + 1
        picked += 1
        spans[best, ROW] = -1 - spans[best, ROW]
    for at in range(first, last):
        if spans[at, ROW] < 0:
            spans[at, ROW] = -1 - spans[at, ROW]
    if weight < k:
        size = 0
    return picked, size, steps


@kernel
def cut_down(k, depth, first, last, held_end, held, allowed):
    """Write the records behind the last one anew, with the items that are allowed at this depth only; without those that are empty then.

    Returns the end of the records, the end of the items, the longest record, and the longest of weight k or -1.
    """
    spans, items, weights = held.spans, held.items, held.weights
    kept = last
    longest = NOBODY
    heavy = NOBODY
    for at in range(first, last):
        spans[kept, START] = held_end
        for place in range(spans[at, START], spans[at, END]):
            if allowed[items[place]] == depth:
                items[held_end] = items[place]
                held_end += 1
        length = held_end - spans[kept, START]
        if length == 0:
            continue
        spans[kept, ROW] = spans[at, ROW]
        spans[kept, END] = held_end
        if longest < 0 or length > spans[longest, END] - spans[longest, START]:
            longest = kept
        if weights[spans[kept, ROW]] >= k and (heavy < 0 or length > spans[heavy, END] - spans[heavy, START]):
            heavy = kept
        kept += 1
    return kept, held_end, longest, heavy


@kernel
def put_last(k, longest, heavy, first, last, held, candidates, mark):
    """Put the candidates that all records of a pivot hold behind the others; returns how many others there are, and the steps that took."""
    picked, shared, steps = common(k, longest, first, last, held, mark)
    if heavy >= 0 and held.spans[heavy, END] - held.spans[heavy, START] > shared:
        for place in range(len(candidates)):
            mark[candidates[place]] = 0
        picked, shared, more = common(k, heavy, first, last, held, mark)
        steps += more
    to_try = len(candidates)
    if shared > 0:
        to_try = 0
        for place in range(len(candidates)):
            item = candidates[place]
            if mark[item] != picked:
                candidates[place] = candidates[to_try]
                candidates[to_try] = item
                to_try += 1
    for place in range(len(candidates)):
        mark[candidates[place]] = 0
    return to_try, steps
