"""How many items each record has in common with those other records that have most in common with it.

Records come as distinct contents with weights, their items rarest first. For a content the lists of its items are gone through in that
order. As soon as the k-th best count is at least the number of items that are left, no record that was not met can be among the best k:
what is left is then looked up only in records that were met and can still become better. So the long lists of frequent items are
seldom gone through.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

ZERO = np.int64(0)


class Contents(NamedTuple):
    """Distinct records and their weights, and for each item the contents that hold it."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    weights: NDArray[np.int64]
    starts: NDArray[np.int64]
    rows: NDArray[np.int64]


@kernel
def kth_best(by_count, longest, own, k, best):
    """Return the largest count that at least k other records reach, from `best` on."""
    while best < longest:
        reached = own
        for count in range(best + 1, longest + 1):
            reached += by_count[count]
        if reached < k:
            break
        best += 1
    return best


@kernel
def tail_in_common(one, one_end, other, other_end, items, least):
    """Count the items from code `least` on that two records have in common; both end with their highest codes."""
    a, b = one_end - 1, other_end - 1
    common = 0
    while a >= one and b >= other and items[a] >= least and items[b] >= least:
        if items[a] == items[b]:
            common += 1
            a -= 1
            b -= 1
        elif items[a] > items[b]:
            a -= 1
        else:
            b -= 1
    return common


@kernel
def best_overlaps(first, last, contents, best, control):
    """Write into `best` how many items the k nearest other records share with each content from `first` to `last`, most first.

    k is the number of columns.
    """
    offsets, items, weights, starts, rows = contents
    k = best.shape[1]
    n_contents = len(offsets) - 1
    longest = 0
    for row in range(n_contents):
        longest = max(longest, offsets[row + 1] - offsets[row])
    counts = np.zeros(n_contents, np.int32)
    met = np.empty(n_contents, np.int64)
    by_count = np.zeros(longest + 2, np.int64)
    for row in range(first, last):
        if control[STOP]:
            return
        begin, end = offsets[row], offsets[row + 1]
        length = end - begin
        own = weights[row] - 1
        by_count[: length + 1] = 0
        n_met = 0
        bound = kth_best(by_count, length, own, k, ZERO)
        place = begin
        while place < end and bound < end - place:
            item = items[place]
            for at in range(starts[item], starts[item + 1]):
                other = rows[at]
                if other == row:
                    continue
                count = counts[other]
                if count == 0:
                    met[n_met] = other
                    n_met += 1
                else:
                    by_count[count] -= weights[other]
                counts[other] = count + 1
                by_count[count + 1] += weights[other]
            bound = kth_best(by_count, length, own, k, bound)
            place += 1
        left = end - place
        for at in range(n_met):
            other = met[at]
            count = counts[other]
            counts[other] = 0
            if left and count + left > bound:
                more = tail_in_common(begin, end, offsets[other], offsets[other + 1], items, items[place])
                if more:
                    by_count[count] -= weights[other]
                    by_count[count + more] += weights[other]
                    bound = kth_best(by_count, length, own, k, bound)
        reached = own
        rank = 0
        for count in range(length, 0, -1):
            reached += by_count[count]
            while rank < k and rank < reached:
                best[row, rank] = count
                rank += 1
        control[DONE] += 1
