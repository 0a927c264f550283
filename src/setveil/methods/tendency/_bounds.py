"""What counting alone says about how many tendencies an exchange can hide, so that a refusal can name its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class Leanings(NamedTuple):
    """The data, the category of each item, and the hidden categories of each record: where its list starts, and the lists."""

    data: Transactions
    category: NDArray[np.int32]
    hidden_starts: NDArray[np.int64]
    hidden: NDArray[np.int32]

    def of(self, record: int) -> NDArray[np.int32]:
        """Return the hidden categories of a record."""
        return self.hidden[self.hidden_starts[record] : self.hidden_starts[record + 1]]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Two lower bounds on the number of records that stay unhidden.

    A record leans to each of its hidden categories.
    *Crowd*: of m records, c lean to the same category. If each gets the block of one other, at most 2(m - c) are hidden, and each helper
    adds at most one.
    *Item*: an item may only end in a record that does not lean to its category. If it occurs more often than there are such records,
    the rest stays where it hides nothing. This one holds for any exchange at all.
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
        """Count the records that take part by the categories they lean to."""
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
        """At least so many stay unhidden when blocks are exchanged among the records that must be hidden."""
        return max(0, 2 * self.crowd - self.taking_part)

    @property
    def by_crowd_with_helpers(self) -> int:
        """The same, if every record without a tendency helps."""
        return max(0, self.by_crowd - self.helpers)

    @property
    def by_item(self) -> int:
        """At least so many stay unhidden whatever is exchanged."""
        return int(self.item_excess.max(initial=0))

    def reasons(self, failed: NDArray[np.int64]) -> dict[str, int]:
        """Count why records were not hidden: their item is too common, their category too crowded, or no place was found."""
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
        """Return the figures."""
        return {
            "taking-part": self.taking_part,
            "largest-group-with-one-top": self.crowd,
            "possible-helpers": self.helpers,
            "at-least-unhidden-by-exchange": self.by_crowd,
            "at-least-unhidden-with-helpers": self.by_crowd_with_helpers,
            "at-least-unhidden-by-item": self.by_item,
        }

    def explain(self, left: int, *, whole: bool) -> str:
        """Return a few sentences: why records were not hidden and what helps. `whole`: only records of one category are exchanged."""
        due = f"{self.taking_part:,} records " + ("of a single category" if whole else "with a tendency")
        text = f"{left:,} of {due} could not be hidden. "
        if self.by_crowd:
            helped = f" ({self.by_crowd_with_helpers:,} if every one of the {self.helpers:,} records without a tendency helps)"
            text += (
                f"{self.crowd:,} of these {self.taking_part:,} lean to the category {self.crowd_category!r}. By counting alone, "
                f"at least {self.by_crowd:,} of them cannot be exchanged{'' if whole else helped}. "
            )
        if self.by_item:
            text += (
                f"One item occurs so often that at least {self.by_item:,} must stay unhidden whatever is exchanged. "
            )
        if not self.by_crowd and not self.by_item:
            text += "No bound forbids hiding them all, but no place was found for these. "
        steps = "" if whole else "let adopt or suppress be a step of `leftovers=`, "
        return text + f"Use finer categories (`level=`), {steps}or accept them with `allow_failures={left}`."
