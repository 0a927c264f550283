"""Shared by methods that hide itemsets: the named itemsets, and the minimum support of a frequent itemset."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from setveil.base import progress
from setveil.base.declaration import parameter
from setveil.base.display import quantity
from setveil.methods.base import Method
from setveil.mining.supports import supports
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.parameters.shares import MinSupport
from setveil.parameters.targets import Targets

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class HidesItemsets(Method, ABC):
    """A method that hides named itemsets."""

    runs_in_blocks = True
    same_in_blocks = True

    itemsets: NamedItemsets = parameter(public=False, description="The itemsets to hide.")
    min_support: MinSupport = parameter(
        public=False,
        description="Minimum support of a frequent itemset. A share is of the records that are not empty, rounded up.",
    )

    def frequent_from(self, data: Transactions) -> int:
        """Return the minimum number of records of a frequent itemset; a share is of the records that are not empty."""
        return self.min_support.count(data.records - data.empty_records)

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Note how many named itemsets are not frequent."""
        del linked, rng
        self.named_supports(data)
        return self

    def named_supports(self, data: Transactions) -> NDArray[np.int64]:
        """Return the support of each named itemset, and note how many are not frequent."""
        found = supports(data, self.itemsets)
        frequent_from = self.frequent_from(data)
        rare = int(np.count_nonzero(found < frequent_from))
        if rare:
            progress.note(
                f"{rare:,} of {quantity(len(self.itemsets), 'named itemset')} {'is' if rare == 1 else 'are'} not frequent in the original: "
                f"the minimum support is {quantity(frequent_from, 'record')}"
            )
        return found

    def bound_in(self, data: Transactions) -> str:
        """Return how many records must lose a named itemset."""
        found, limit = supports(data, self.itemsets), self.frequent_from(data) - 1
        excess = int((found - limit).max(initial=0))
        if excess <= 0:
            return "no named itemset is frequent: there is nothing to hide"
        return (
            f"at least {quantity(excess, 'record')} must change: {int(found.max()):,} hold the most frequent named itemset, and at most "
            f"{limit:,} may"
        )

    def occurring(self, data: Transactions) -> Self:
        """Return the method with only the itemsets whose items all occur in the data: no record can hold the others."""
        places = self.itemsets.places_in(data)
        if len(places) == len(self.itemsets):
            return self
        chosen: dict[str, Any] = {"itemsets": self.itemsets.take(places)}
        if isinstance(target := getattr(self, "target", None), Targets):
            chosen["target"] = target.take(places)
        return self.model_copy(update=chosen)
