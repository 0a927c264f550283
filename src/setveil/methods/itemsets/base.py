"""What the methods that hide itemsets share: which itemsets, and from which support on they would be found."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from setveil.base import progress
from setveil.base.declaration import parameter
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
    """A method that hides itemsets which a person named."""

    itemsets: NamedItemsets = parameter(public=False, description="The itemsets to hide.")
    min_support: MinSupport = parameter(
        public=False,
        description="From which support on an itemset is frequent; a share is of the records that hold an item, rounded up.",
    )

    def frequent_from(self, data: Transactions) -> int:
        """Return the number of records from which on an itemset is frequent: a share is of those that are not empty."""
        return self.min_support.count(data.records - data.empty_records)

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Note how many itemsets are not frequent anyway."""
        del linked, rng
        self.named_supports(data)
        return self

    def named_supports(self, data: Transactions) -> NDArray[np.int64]:
        """Count the records that hold each itemset, and say how many itemsets are not frequent."""
        found = supports(data, self.itemsets)
        frequent_from = self.frequent_from(data)
        rare = int(np.count_nonzero(found < frequent_from))
        if rare:
            progress.note(
                f"not frequent, that is in fewer than {frequent_from:,} records, and left so: {rare:,} of the {len(self.itemsets):,} named "
                "itemsets"
            )
        return found

    def occurring(self, data: Transactions) -> Self:
        """Return the method for the itemsets that occur in the data: no record can hold the others."""
        places = self.itemsets.places_in(data)
        if len(places) == len(self.itemsets):
            return self
        chosen: dict[str, Any] = {"itemsets": self.itemsets.take(places)}
        if isinstance(target := getattr(self, "target", None), Targets):
            chosen["target"] = target.take(places)
        return self.model_copy(update=chosen)
