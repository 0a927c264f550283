"""Where an attacker who knows items of a person looks for them in a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.records.ragged import among, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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

    def common(self, items: Sequence[int]) -> NDArray[np.int64]:
        """Return the places that may hold all of these items."""
        return next(places for _number, places in self.searches([items]))

    def searches(self, sought: Sequence[Sequence[int]]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the number of each itemset with the places that may hold all of its items.

        Itemsets with the same most common item follow each other, so that its places are marked once.
        """
        lengths = [len(one) for one in self.lists]
        rising = [sorted(items, key=lengths.__getitem__) for items in sought]
        holds = np.zeros(len(self.sizes), np.bool_)
        marked: int | None = None
        for number in sorted(range(len(rising)), key=lambda number: rising[number][-1]):
            rarest, most = rising[number][0], rising[number][-1]
            if most != marked:
                if marked is not None:
                    holds[self.lists[marked]] = False
                holds[self.lists[most]] = True
                marked = most
            places = self.lists[rarest][holds[self.lists[rarest]]]
            for other in rising[number][1:-1]:
                places = places[among(places, self.lists[other])]
            yield number, places


def united(lists: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the numbers that are in any of some increasing lists."""
    if len(lists) == 1:
        return lists[0]
    return distinct(np.concatenate([*lists, np.empty(0, np.int64)]))
