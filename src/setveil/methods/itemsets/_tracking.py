"""The frequent itemsets of the original, stored so that their supports can be updated while records change."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from setveil.base import progress
from setveil.base.display import quantity
from setveil.errors import TooManyItemsets
from setveil.mining.frequent import mine
from setveil.mining.lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.itemsets._tracking_kernels import Named
    from setveil.mining.itemsets import Itemsets

TRACKED_LIMIT = 500_000
"""If more itemsets are frequent, only the short ones are tracked."""
SHORTER = (3, 2, 1)
"""The maximum lengths to try then, in this order."""
EXAMPLES = 3
"""Number of example sets in the account of each named itemset."""


class Tracked:
    """The itemsets that are frequent at the lowest of the given thresholds, and the cost of losing a record at each support."""

    def __init__(
        self,
        data: Transactions,
        levels: Sequence[int],
        named: tuple[NDArray[np.int64], NDArray[np.int32]],
    ) -> None:
        self.lowest = min(levels)
        self.longest_tracked: int | None = None
        """The maximum length of tracked sets; None if all are tracked."""
        self.itemsets = self._mined(data)
        self.before = self.itemsets.supports
        self.supports = self.before.copy()
        self.lost_for = np.full(len(self.itemsets), -1, dtype=np.int64)
        """For each set, the named itemset that was being hidden when the set last fell below the lowest threshold; -1 if it never did."""
        top = int(data.supports.max(initial=0)) + 2
        self.is_level = np.zeros(top + 1, dtype=bool)
        self.is_level[[level for level in levels if level <= top]] = True
        self.weights = _weights(np.sort(levels), top)
        self.named = named
        self.lookup = Lookup(self.itemsets.offsets, self.itemsets.items, len(data.vocabulary))
        self.named_places = self.lookup.places(*named)
        """The number of the set that equals each named itemset; -1 if the named itemset is not frequent."""

    def _mined(self, data: Transactions) -> Itemsets:
        """Return the frequent itemsets, or only the short ones if there are too many."""
        try:
            return mine(data, self.lowest, limit=TRACKED_LIMIT)
        except TooManyItemsets as error:
            found = f"{'' if error.exact else 'more than '}{error.found:,}"
        for length in SHORTER:
            try:
                short = mine(data, self.lowest, max_length=length, limit=TRACKED_LIMIT)
            except TooManyItemsets:
                continue
            self.longest_tracked = length
            progress.note(
                f"{found} itemsets are frequent, too many to protect all of them; only those of at most {quantity(length, 'item')} are "
                "protected against loss"
            )
            return short
        return mine(data, data.records + 1)

    def excess(self, targets: NDArray[np.int64]) -> int:
        """Return by how many records the frequent named itemsets exceed their targets, in total."""
        frequent = self.named_places >= 0
        return int(np.maximum(self.before[self.named_places[frequent]] - targets[frequent], 0).sum())

    def lay_out(self, rank: NDArray[np.int32], ranks: int, named: Named, frequent_from: int) -> None:
        """Store the sets by rank of their items, and mark those that contain a named itemset: they cannot stay frequent."""
        from setveil.methods.itemsets import _tracking_kernels as kernels  # noqa: PLC0415 - imports Numba

        sets = self.itemsets
        least = np.zeros(int(self.before.max(initial=0)) + 1, dtype=np.int64)
        parents = self.lookup.places_of_parts(self.before, least)
        is_named = self.before < frequent_from  # frequent at a lower level only, where they may be kept
        is_named[self.named_places[self.named_places >= 0]] = True
        size = 1 << max(4 * int(np.count_nonzero(parents >= 0)), 4).bit_length()
        tree = kernels.Tree(
            np.full(ranks, -1, dtype=np.int64), np.full(size, -1, dtype=np.int64), np.empty(size, dtype=np.int32)
        )
        alone = np.flatnonzero(sets.lengths == 1)
        tree.single[rank[sets.items[sets.offsets[alone]]]] = alone
        kernels.enter_children(sets.offsets, sets.items, parents, rank, tree)
        self.matters = np.ones(len(sets), dtype=bool)
        n_named = len(self.named_places)
        self.supersets = np.zeros((n_named, 1 + EXAMPLES), dtype=np.int64)
        count = np.zeros(n_named, dtype=np.int64)
        kernels.mark_supersets(sets.offsets, sets.items, is_named, named, count, self.matters, self.supersets)
        self.sets = kernels.Sets(
            tree=tree,
            offsets=sets.offsets,
            items=sets.items,
            before=self.before,
            supports=self.supports,
            cost=np.where(self.matters, self.weights[self.before], 0.0),
            matters=self.matters,
            weights=self.weights,
            is_level=self.is_level,
            lost_for=self.lost_for,
            lowest=np.int64(self.lowest),
        )

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Whether each set is no longer frequent, although it could have been kept."""
        return self.matters & (self.supports < self.lowest)

    def labels(self, one: int) -> list[str]:
        """Return the items of a set."""
        sets = self.itemsets
        return [sets.vocabulary[code] for code in sets.items[sets.offsets[one] : sets.offsets[one + 1]]]


def _weights(levels: NDArray[np.int64], top: int) -> NDArray[np.float64]:
    """Return the cost of losing a record at each support: 1 at a threshold, less the farther above it, 0 below all thresholds."""
    weights = np.zeros(top + 1)
    for level, above in pairwise([*levels.tolist(), top + 1]):
        weights[level:above] = 1 / np.arange(1, max(above - level, 0) + 1)[: max(top + 1 - level, 0)]
    return weights
