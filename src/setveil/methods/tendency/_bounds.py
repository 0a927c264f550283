"""Bounds on how many tendencies swapping can hide, found by counting, so that a refusal can name its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.base.advice import Advice
from setveil.base.display import quantity

if TYPE_CHECKING:
    from numpy.typing import NDArray

KINDS = ("empty", "single", "full", "partial", "uniform")


class Tally(NamedTuple):
    """What is counted in records, so that the counts of parts of the data can be summed."""

    kinds: NDArray[np.int64]
    """The number of records of each kind."""
    taking_part: NDArray[np.int64]
    """The number of records that take part, alone in an array."""
    leaning: NDArray[np.int64]
    """How many of these lean to each category."""
    supports: NDArray[np.int64]
    """The number of records that hold each item."""

    @property
    def numbers(self) -> NDArray[np.int64]:
        """All counts in one array."""
        return np.concatenate(self)

    @classmethod
    def of(cls, numbers: NDArray[np.int64], categories: int) -> Tally:
        """Return the counts that are in one array."""
        kinds = len(KINDS)
        return cls(*np.split(numbers, [kinds, kinds + 1, kinds + 1 + categories]))


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

    @classmethod
    def of(cls, tally: Tally, category: NDArray[np.int32], names: tuple[str, ...]) -> Bounds:
        """Compute the bounds from counts, the category of each item and the names of the categories."""
        leaning = tally.leaning if names else np.zeros(1, np.int64)
        crowd = int(leaning.argmax())
        excess = np.maximum(tally.supports - (tally.kinds.sum() - leaning[category]), 0)
        helpers = int(tally.kinds[KINDS.index("uniform")])
        return cls(
            int(tally.taking_part[0]), int(leaning[crowd]), names[crowd] if names else "", helpers, excess, crowd
        )

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

    def reasons(self, too_common: NDArray[np.bool_], crowded: NDArray[np.bool_]) -> dict[str, int]:
        """Count the reasons why records were not hidden: an item too common, a category too crowded, or no place found.

        `too_common` says for each of these records whether its block holds an item with an excess, `crowded` whether it leans to the
        category of the crowd.
        """
        crowded = crowded & ~too_common & bool(self.by_crowd)
        common, crowd = int(np.count_nonzero(too_common)), int(np.count_nonzero(crowded))
        return {
            "item-too-common": common,
            "category-too-crowded": crowd,
            "not-found": len(too_common) - common - crowd,
        }

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
