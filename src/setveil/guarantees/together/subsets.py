"""All sets of some items in records, as arrays: records of the same length are treated at once."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import distinct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

BLOCK = 1 << 21
"""The number of sets in a block."""


def count_sets(lengths: NDArray[np.int64], size: int) -> int:
    """Return the number of sets of this size in records of these lengths, each record counted by itself."""
    return sum(comb(length, size) * number for length, number in enumerate(np.bincount(lengths).tolist()) if number)


def sets_in(
    data: Transactions, records: NDArray[np.int64], size: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield blocks of the sets of this size in the records: the record of each set, and its item codes in rising order."""
    lengths = data.lengths[records]
    for length in distinct(lengths[lengths >= size]).tolist():
        chosen = np.array(list(combinations(range(length), size)), dtype=np.int64)
        mine = records[lengths == length]
        step = max(BLOCK // len(chosen), 1)
        for first in range(0, len(mine), step):
            block = mine[first : first + step]
            items = data.items[data.offsets[block][:, None] + np.arange(length)]
            yield np.repeat(block, len(chosen)), items[:, chosen].reshape(-1, size).astype(np.int64)


def numbered(sets: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return a number for each set, equal for equal sets; `width` is the number of item codes."""
    number = np.zeros(len(sets), dtype=np.int64)
    most = 1
    for column in sets.T:
        if most > np.iinfo(np.int64).max // (width * width):  # it would not fit
            number = np.unique(number, return_inverse=True)[1]
            most = len(number) + 1
        number, most = number * width + column, most * width
    return number
