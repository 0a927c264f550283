"""Bounds on how many tendencies swapping can hide, found by counting, so that a refusal can name its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.base.advice import Advice
from setveil.base.display import quantity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class Leanings(NamedTuple):
    """The data, the category of each item, and the categories to hide in each record: the start of each record's list, and the lists."""

    data: Transactions
    category: NDArray[np.int32]
    hidden_starts: NDArray[np.int64]
    hidden: NDArray[np.int32]

    def of(self, record: int) -> NDArray[np.int32]:
        """Return the categories to hide in a record."""
        return self.hidden[self.hidden_starts[record] : self.hidden_starts[record + 1]]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Two lower bounds on the number of records that cannot be hidden.

    A record leans to each of the categories to hide in it.
    *Crowd*: of m records, c lean to the same category. If each record gets the block of one other, at most 2(m - c) are hidden, and each
    helper adds at most one.
    *Item*: an item may only go to a record that does not lean to its category. If it occurs more often than there are such records, the
    records with the remaining occurrences are not hidden. This bound holds for any kind of swap.
    """

    taking_part: int
    crowd: int
    crowd_category: str
    helpers: int
    item_excess: NDArray[np.int64]
    crowd_code: int
    leanings: Leanings

    @classmethod
    def of(cls, leanings: Leanings, names: tuple[str, ...], record: NDArray[np.int64], helpers: int) -> Bounds:
        """Compute the bounds from the number of participating records that lean to each category."""
        data = leanings.data
        takes_part = np.zeros(data.records, np.bool_)
        takes_part[record] = True
        listed = leanings.hidden[np.repeat(takes_part, np.diff(leanings.hidden_starts))]
        leaning = np.bincount(listed, minlength=max(len(names), 1))
        crowd = int(leaning.argmax())
        excess = np.maximum(data.supports - (data.records - leaning[leanings.category]), 0)
        return cls(len(record), int(leaning[crowd]), names[crowd] if names else "", helpers, excess, crowd, leanings)

    @property
    def by_crowd(self) -> int:
        """Minimum number of records that stay unhidden if the records to hide swap blocks among themselves."""
        return max(0, 2 * self.crowd - self.taking_part)

    @property
    def by_crowd_with_helpers(self) -> int:
        """The same minimum if every record without a tendency helps."""
        return max(0, self.by_crowd - self.helpers)

    @property
    def by_item(self) -> int:
        """Minimum number of records that stay unhidden with any kind of swap."""
        return int(self.item_excess.max(initial=0))

    def __str__(self) -> str:
        of = quantity(self.taking_part, "record")
        least = max(self.by_crowd_with_helpers, self.by_item)
        if least:
            return f"at least {least:,} of {of} to hide cannot be hidden by swapping"
        return f"counting rules out none of {of} to hide"

    def reasons(self, failed: NDArray[np.int64]) -> dict[str, int]:
        """Count the reasons why records were not hidden: an item too common, a category too crowded, or no place found."""
        counts = {"item-too-common": 0, "category-too-crowded": 0, "not-found": 0}
        data, category = self.leanings.data, self.leanings.category
        for r in failed:
            items = data.items[data.offsets[r] : data.offsets[r + 1]]
            leans_to = self.leanings.of(r)
            if self.item_excess[items[np.isin(category[items], leans_to)]].any():
                counts["item-too-common"] += 1
            elif self.by_crowd and self.crowd_code in leans_to:
                counts["category-too-crowded"] += 1
            else:
                counts["not-found"] += 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for the dossier."""
        return {
            "taking-part": self.taking_part,
            "largest-group-with-one-top": self.crowd,
            "possible-helpers": self.helpers,
            "at-least-unhidden-by-exchange": self.by_crowd,
            "at-least-unhidden-with-helpers": self.by_crowd_with_helpers,
            "at-least-unhidden-by-item": self.by_item,
        }

    def explain(self, left: int, *, whole: bool) -> Advice:
        """Return why records were not hidden and what to do. With `whole`, only records of a single category are swapped."""
        due = quantity(self.taking_part, "record") + (" of a single category" if whole else " with a tendency")
        text = f"{left:,} of {due} could not be hidden. "
        if self.by_crowd:
            helped = ""
            if self.helpers and not whole:
                helped = f" ({self.by_crowd_with_helpers:,} if all {self.helpers:,} records without a tendency help)"
                if self.helpers == 1:
                    helped = f" ({self.by_crowd_with_helpers:,} if the only record without a tendency helps)"
            text += (
                f"{self.crowd:,} of these {self.taking_part:,} lean to the category {self.crowd_category!r}, so at least "
                f"{self.by_crowd:,} of them cannot be hidden by swapping{helped}. "
            )
        if self.by_item:
            text += f"One item is so frequent that at least {quantity(self.by_item, 'record')} cannot be hidden by any swap. "
        if not self.by_crowd and not self.by_item:
            text += "No bound rules out hiding all of them, but the search found no record that can take the items. "
        steps = ["use finer categories (`level=`)", *([] if whole else ["add adopt or suppress to `leftovers=`"])]
        accept = "this record" if left == 1 else "these records"
        steps.append(f"accept {accept} with `allow_failures={left}`")
        return Advice(text.rstrip(), steps, {"not-hidden": left, **self.to_dict()})
