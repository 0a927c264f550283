"""The frequent itemsets of one data set, mined once for all metrics of a release.

Each metric first states the support that it needs (`Metric.plan`). The data are mined once at the lowest of these supports. A metric that
asks for a higher one gets the more frequent of the itemsets found. If there are too many itemsets at the lowest support, the next one is
tried, so that every metric gets what it would get alone.

A release that only removes items is not mined if the original is mined at these supports or lower ones: the itemsets of the original are
counted in it.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import sums_within
from setveil.errors import TooManyItemsets
from setveil.mining.frequent import count_or_at_least, first_of, mine_up_to, top
from setveil.mining.supports import supports
from setveil.mining.whole_parts import without_items

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.mining.itemsets import Itemsets

LEAST = 2
"""Minimum support of the most frequent itemsets: in one record, every part of every record would count."""

MOST_COUNTED = 10_000
"""Maximum number of itemsets of the original that are counted in the release; mining it takes less time than counting more."""


class Undefined(Exception):
    """There is no figure; the text is the reason for users."""


class Mined:
    """The frequent itemsets of one data set.

    `name` names the data in reasons. `whole` returns the itemsets of data with the same vocabulary in which no itemset is less frequent, or
    None if there are no such data.
    """

    def __init__(self, data: Transactions, name: str, whole: Callable[[], Mined | None] = lambda: None) -> None:
        self.data = data
        self._name = name
        self._whole = whole
        self._planned: dict[int, int] = {}
        self._found: Itemsets | None = None
        self._lowest = sys.maxsize
        """The minimum support of the itemsets found; higher than any support if there are none."""
        self._is_mined = False

    def plan(self, count: int, limit: int) -> None:
        """Plan for a metric that needs the itemsets in at least `count` records, unless there are more than `limit`."""
        self._planned[count] = max(limit, self._planned.get(count, 0))

    def listed(self, count: int, limit: int, *, without: NDArray[np.bool_] | None = None) -> Itemsets:
        """Return the itemsets in at least `count` records; raise `Undefined` if there are more than `limit`.

        `without` is a mask of items: only itemsets without any of them are returned.
        """
        found = self._at(count)
        if found is None and without is not None:
            return Mined(without_items(self.data, without), self._name).listed(count, limit)
        if found is None:
            number, is_all = count_or_at_least(self.data, count)  # much faster than listing if there are many
            found = mine_up_to(self.data, count, limit) if number <= limit else None
        else:
            if without is not None:
                found = found.take(sums_within(found.offsets, without[found.items]) == 0)
            number, is_all = len(found), True
        if found is None or number > limit:
            raise Undefined(
                f"{_number_text(number, is_all=is_all)} itemsets are in at least {count:,} records of the {self._name}; the limit is "
                f"{limit:,}; choose a higher min_support"
            )
        return found

    def number(self, count: int) -> int:
        """Return the number of itemsets in at least `count` records, even if there are too many to list."""
        found = self._at(count)
        if found is not None:
            return len(found)
        number, is_all = count_or_at_least(self.data, count)
        if is_all and number <= sys.float_info.max:
            return number
        raise Undefined(
            f"{_number_text(number, is_all=is_all)} itemsets are in at least {count:,} records of the {self._name}, too many to count; "
            "choose a higher min_support"
        )

    def top(self, how_many: int, limit: int, *, length: int | None = None) -> Itemsets:
        """Return the `how_many` most frequent itemsets in at least two records, and all as frequent as the last of them.

        They have `length` items, if given. Raise `Undefined` if there are more than `limit`.
        """
        self._mine()
        found = self._at(max(self._lowest, LEAST))
        if found is not None and length is not None:
            found = found.take(found.lengths == length)
        try:
            if found is not None and (len(found) >= how_many or self._lowest <= LEAST):
                found = first_of(found, how_many, ties=True)
            else:
                lengths: dict[str, Any] = {} if length is None else {"min_length": length, "max_length": length}
                found = top(self.data, how_many, **lengths, least=LEAST, ties=True, limit=limit)
        except TooManyItemsets:
            found = None
        if found is None or len(found) > limit:
            raise Undefined(f"more than {limit:,} itemsets are as frequent as the {how_many:,}th; choose another top")
        return found

    def _at(self, count: int) -> Itemsets | None:
        """Return the itemsets in at least `count` records, or None if those found are more frequent."""
        self._mine()
        if self._found is None or count < self._lowest:
            return None
        return self._found.first(int(np.searchsorted(-self._found.supports, -count, side="right")))

    def _mine(self) -> None:
        """Mine the data at the lowest planned support at which there are not too many itemsets."""
        if self._is_mined:
            return
        self._is_mined = True
        for place, (count, limit) in enumerate(sorted(self._planned.items())):
            # After the first, count before listing: the reason of each metric without a figure states this number.
            if place and count_or_at_least(self.data, count)[0] > limit:
                continue
            found = self._counted(count)
            if found is None:
                found = mine_up_to(self.data, count, limit)
            if found is not None and len(found) <= limit:
                self._found, self._lowest = found.take(np.argsort(-found.supports, kind="stable")), count
                return

    def _counted(self, count: int) -> Itemsets | None:
        """Return the itemsets in at least `count` records, counted among those of the whole data; None if these are unknown or many."""
        whole = self._whole()
        candidates = whole._at(count) if whole else None  # noqa: SLF001 - same class
        if candidates is None or len(candidates) > MOST_COUNTED:
            return None
        counted = replace(candidates, supports=supports(self.data, candidates), records=self.data.records)
        return counted.take(counted.supports >= count)


def _number_text(found: int, *, is_all: bool) -> str:
    return f"{found:,}" if is_all else f"at least {found:,}"
