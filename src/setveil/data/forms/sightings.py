"""Where an attacker who knows items of a person looks for them in a release."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.records.ragged import among, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class Sightings(NamedTuple):
    """The places of a release that may hold each of some items. A place is a row, or a cluster of records."""

    lists: Sequence[NDArray[np.int64]]
    """For each item: the numbers of the places, in increasing order."""
    sizes: NDArray[np.int64]
    """The number of records at each place."""
    place_of: NDArray[np.int64]
    """The place of each released row, in the order of the alignment."""

    @classmethod
    def in_rows(cls, rows: Transactions, labels: Iterable[Iterable[str]]) -> Sightings:
        """Return the rows that hold any of the labels that may stand for each item."""
        starts, holders = rows.holders
        lists = []
        for named in labels:
            codes = [rows.code_of[label] for label in named if label in rows.code_of]
            lists.append(united([holders[starts[code] : starts[code + 1]] for code in codes]))
        return cls(lists, np.ones(rows.records, np.int64), np.arange(rows.records))

    def common(self, items: Iterable[int]) -> NDArray[np.int64]:
        """Return the places that may hold all of these items."""
        lists = sorted((self.lists[item] for item in items), key=len)
        return reduce(lambda short, long: short[among(short, long)], lists)


def united(lists: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the numbers that are in any of some increasing lists."""
    if len(lists) == 1:
        return lists[0]
    return distinct(np.concatenate([*lists, np.empty(0, np.int64)]))
