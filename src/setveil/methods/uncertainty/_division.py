"""Records divided at random into parts, and what the parts keep joined again.

If every part is safe, the union is safe (jia2014, Lemma 1): for any known items, the records of the union that hold them are those of the
parts, and so are the ones among them that also hold a sensitive item. So the confidence in the union is a mean of the confidences in the
parts, weighted by their records with the known items. This includes the empty set, which all records hold, and records with exactly the
same non-sensitive items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.records.ragged import picked
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.random import Generator
    from numpy.typing import NDArray


class DataPart(NamedTuple):
    """Some records of the data, in random order."""

    records: Transactions
    places: NDArray[np.int64]
    """The position of each occurrence in the data."""
    seed: np.uint64
    """The part's own seed, so that results do not depend on the order in which parts are treated."""


def at_most_one_per_record(parts: int, data: Transactions) -> int:
    """Return the number of parts, at most one per record."""
    return max(min(parts, data.records), 1)


def divide(data: Transactions, number: int, rng: Generator) -> list[DataPart]:
    """Divide the records at random into parts of nearly the same number of records."""
    order = rng.permutation(data.records)
    borders = np.arange(number + 1) * data.records // number
    seeds = rng.integers(1, 2**64, number, np.uint64)
    return [
        DataPart(data.take(rows, ids=None), picked(data.offsets, rows)[1], seed)
        for rows, seed in zip(np.split(order, borders[1:-1]), seeds, strict=True)
    ]


def join(parts: Iterable[DataPart], present: Iterable[NDArray[np.bool_]], occurrences: int) -> NDArray[np.bool_]:
    """Return for each occurrence of the data whether its part has it."""
    joined = np.ones(occurrences, np.bool_)
    for part, kept in zip(parts, present, strict=True):
        joined[part.places] = kept
    return joined
