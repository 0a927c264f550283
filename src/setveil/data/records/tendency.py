"""What a record leans to: the definitions of gunawan2019, sections 3 and 4.1, computed with plain array operations.

The guarantee and the metrics use this module; the methods do not: they have kernels of their own, so that a slip in one is seen by the
other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import owner_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class Kind(IntEnum):
    """What kind of record it is, by its categories."""

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
    """For each record its kind and its top category (-1 for an empty one): of equally heavy ones that with the lowest code."""

    kind: NDArray[np.int8]
    top: NDArray[np.int32]
    top_weight: NDArray[np.int64]
    heaviest: tuple[NDArray[np.int64], NDArray[np.int64]]
    """All heaviest categories, as pairs of record and category code; by record, then category."""

    def among_heaviest(self, record: NDArray[np.int64], cat: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each pair of record and category whether no category of the record is heavier."""
        found: NDArray[np.bool_] = cat == self.top[record]
        one, other = self.heaviest
        several = np.flatnonzero((np.bincount(one, minlength=len(self.top)) > 1)[record] & ~found)
        width = int(max(other.max(initial=0), cat.max(initial=0))) + 1
        found[several] = np.isin(record[several] * width + cat[several], one * width + other)
        return found


def weights(data: Transactions, category: NDArray[np.int32], categories: int) -> tuple[NDArray[np.int64], ...]:
    """Return the non-zero weights as three arrays: record, category, number of items; by record, then category."""
    key = owner_of(data.offsets) * max(categories, 1) + category[data.items]
    key, weight = np.unique(key, return_counts=True)
    return key // max(categories, 1), key % max(categories, 1), weight.astype(np.int64)


def tendencies(data: Transactions, category: NDArray[np.int32], categories: int) -> Tendencies:
    """Classify every record; all comparisons are between whole numbers."""
    n = data.records
    record, cat, weight = weights(data, category, categories)
    top = np.full(n, -1, dtype=np.int32)
    top_weight = np.zeros(n, dtype=np.int64)
    present = np.bincount(record, minlength=n)
    if len(record):
        starts = np.flatnonzero(np.concatenate(([True], record[1:] != record[:-1])))
        # The heaviest category, and among equals the lowest code: the maximum of weight first, then of the code counted down.
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
