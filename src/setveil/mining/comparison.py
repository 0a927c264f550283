"""Compare two collections of itemsets: which are kept, lost or new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from setveil.mining.lookup import Lookup, recoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.mining.itemsets import Itemsets


@dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of two collections of itemsets. Supports do not matter."""

    before: Itemsets
    after: Itemsets
    places: NDArray[np.int64]
    """For each set of `after`: its number in `before`, or -1 if it is new."""

    @property
    def is_kept(self) -> NDArray[np.bool_]:
        """For each set of `before`: whether it is in `after` too."""
        mask = np.zeros(len(self.before), dtype=bool)
        mask[self.places[self.places >= 0]] = True
        return mask

    @property
    def is_new(self) -> NDArray[np.bool_]:
        """For each set of `after`: whether it is not in `before`."""
        return self.places < 0

    @property
    def kept(self) -> int:
        """The number of sets in both."""
        return int(np.count_nonzero(self.places >= 0))

    @property
    def lost(self) -> int:
        """The number of sets in `before` only."""
        return len(self.before) - self.kept

    @property
    def new(self) -> int:
        """The number of sets in `after` only."""
        return len(self.after) - self.kept

    @property
    def similarity(self) -> float | None:
        """The number of sets in both, divided by the number of sets in either; None if there are none."""
        either = self.kept + self.lost + self.new
        return self.kept / either if either else None

    def kept_sets(self) -> Itemsets:
        """Return the sets in both, with their supports in `before`."""
        return self.before.take(self.is_kept)

    def lost_sets(self) -> Itemsets:
        """Return the sets in `before` only."""
        return self.before.take(~self.is_kept)

    def new_sets(self) -> Itemsets:
        """Return the sets in `after` only."""
        return self.after.take(self.is_new)


def common_codes(before: Sequence[str], after: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """Return codes for the labels of `after`, equal to those of `before` where it has the label, and the total number of codes."""
    if before == after:
        return np.arange(len(before), dtype=np.int64), len(before)
    code_of = {label: code for code, label in enumerate(before)}
    codes = np.array([code_of.setdefault(label, len(code_of)) for label in after], dtype=np.int64)
    return codes, len(code_of)


def compare(before: Itemsets, after: Itemsets) -> Comparison:
    """Match two collections of distinct itemsets by the labels of their items.

    >>> from setveil import from_lists, mine
    >>> before, after = from_lists([["a", "b"], ["a", "b"]]), from_lists([["a", "c"], ["a", "c"]])
    >>> found = compare(mine(before, 2), mine(after, 2))
    >>> found.kept, found.lost, found.new
    (1, 2, 2)
    """
    code, width = common_codes(before.vocabulary, after.vocabulary)
    lookup = Lookup(before.offsets, before.items, width)
    return Comparison(before, after, lookup.places(after.offsets, recoded(after.offsets, after.items, code, width)))
