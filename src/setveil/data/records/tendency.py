"""The tendency of a record: the definitions of gunawan2019, sections 3 and 4.1, with plain array operations.

The guarantee and the metrics use this module. The methods have their own kernels, so that a check can find an error in either.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import among, changes, owner_of, record_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


BLOCK = 1 << 17
"""The number of occurrences that are weighed at a time: their sort keys fit into a cache."""
MOST_CATEGORIES = 1 << 32
"""Category codes are below this number."""


class Kind(IntEnum):
    """The kind of a record, by its categories."""

    EMPTY = 0
    SINGLE = 1
    """One item."""
    FULL = 2
    """Several items, all of one category."""
    PARTIAL = 3
    """Several categories, one of them above the mean weight: a tendency."""
    UNIFORM = 4
    """Several categories of equal weight: no tendency."""


@dataclass(frozen=True, eq=False)
class Tendencies:
    """The kind and the top category of each record: the heaviest one, the lowest code among ties, and -1 for an empty record."""

    kind: NDArray[np.int8]
    top: NDArray[np.int32]
    top_weight: NDArray[np.int64]
    heaviest: tuple[NDArray[np.int64], NDArray[np.int64]]
    """All heaviest categories as pairs of record and category code, sorted by record, then category."""

    def among_heaviest(self, record: NDArray[np.int64], cat: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each pair of record and category whether the category is among the heaviest of the record."""
        found: NDArray[np.bool_] = cat == self.top[record]
        is_tied, keys = self._ties
        open_ones = np.flatnonzero(is_tied[record] & ~found)
        found[open_ones] = among(record[open_ones] * MOST_CATEGORIES + cat[open_ones], keys)
        return found

    @cached_property
    def _ties(self) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Whether each record has several heaviest categories, and a rising key of each of these pairs."""
        record, cat = self.heaviest
        is_tied = np.bincount(record, minlength=len(self.top)) > 1
        tied = is_tied[record]
        return is_tied, record[tied] * MOST_CATEGORIES + cat[tied]


def weights(data: Transactions, category: NDArray[np.int32], categories: int) -> tuple[NDArray[np.int64], ...]:
    """Return the non-zero weights as arrays of record, category and number of items, sorted by record, then category."""
    width = max(categories, 1)
    parts = [(np.empty(0, np.int64),) * 3]
    for first, last in record_ranges(data.offsets, BLOCK, BLOCK):
        offsets = data.offsets[first : last + 1]
        key = owner_of(offsets - offsets[0])
        key *= width
        key += category[data.items[offsets[0] : offsets[-1]]]
        key.sort()
        at = np.flatnonzero(changes(key))
        record = key[at] // width
        parts.append((first + record, key[at] - record * width, np.diff(at, append=len(key))))
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def tendencies(data: Transactions, category: NDArray[np.int32], categories: int) -> Tendencies:
    """Classify every record, with integer comparisons only. The result is cached in the data: two checks and the metrics need it."""
    key = (tendencies.__qualname__, category.tobytes(), categories)
    if key not in data.remembered:
        data.remembered[key] = _classified(data, category, categories)
    found: Tendencies = data.remembered[key]
    return found


def _classified(data: Transactions, category: NDArray[np.int32], categories: int) -> Tendencies:
    n = data.records
    record, cat, weight = weights(data, category, categories)
    top = np.full(n, -1, dtype=np.int32)
    top_weight = np.zeros(n, dtype=np.int64)
    present = np.bincount(record, minlength=n)
    if len(record):
        starts = np.flatnonzero(np.concatenate(([True], record[1:] != record[:-1])))
        # The heaviest category, the lowest code among ties: maximize the weight first, then the reversed code.
        best = np.maximum.reduceat(weight * categories + (categories - 1 - cat), starts)
        top[record[starts]] = categories - 1 - best % categories
        top_weight[record[starts]] = best // categories
    kind = np.full(n, Kind.UNIFORM, dtype=np.int8)
    kind[top_weight * present > data.lengths] = Kind.PARTIAL
    kind[present == 1] = Kind.FULL
    kind[data.lengths == 1] = Kind.SINGLE
    kind[data.lengths == 0] = Kind.EMPTY
    heaviest = weight == top_weight[record]
    return Tendencies(kind, top, top_weight, (record[heaviest], cat[heaviest]))
