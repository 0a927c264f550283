"""What counting alone says about how many tendencies an exchange can hide, so that a refusal can name its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.transactions import Transactions


@dataclass(frozen=True, eq=False)
class Bounds:
    """Two lower bounds on the number of records that stay unhidden.

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
    top: NDArray[np.int32]
    category: NDArray[np.int32]
    crowd_code: int
    data: Transactions

    @classmethod
    def of(
        cls,
        data: Transactions,
        category: NDArray[np.int32],
        names: tuple[str, ...],
        top: NDArray[np.int32],
        record: NDArray[np.int64],
        helpers: int,
    ) -> Bounds:
        """Count."""
        leaning = np.bincount(top[record], minlength=max(len(names), 1))
        crowd = int(leaning.argmax())
        excess = np.maximum(data.supports - (data.records - leaning[category]), 0)
        return cls(
            len(record), int(leaning[crowd]), names[crowd] if names else "", helpers, excess, top, category, crowd, data
        )

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
        data = self.data
        for r in failed:
            items = data.items[data.offsets[r] : data.offsets[r + 1]]
            block = items[self.category[items] == self.top[r]]
            if self.item_excess[block].any():
                counts["item-too-common"] += 1
            elif self.by_crowd and self.top[r] == self.crowd_code:
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

    def explain(self, left: int, due: int) -> str:
        """Say in a few sentences why records were left and what would help."""
        text = f"{left:,} of {due:,} records with a tendency could not be hidden. "
        if self.by_crowd:
            text += (
                f"{self.crowd:,} of them lean to the category {self.crowd_category!r}; by counting, exchanging blocks must leave at least "
                f"{self.by_crowd:,} of these ({self.by_crowd_with_helpers:,} if every one of the {self.helpers:,} records without a "
                "tendency helps). "
            )
        if self.by_item:
            text += (
                f"One item occurs so often that at least {self.by_item:,} must stay unhidden whatever is exchanged. "
            )
        if not self.by_crowd and not self.by_item:
            text += "No bound forbids hiding them all, but no place was found for these. "
        return text + (
            f"Use finer categories (--level), let adopt or suppress be a step of --leftovers, or accept them with --allow-failures {left}."
        )
