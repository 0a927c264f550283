"""NV: all items of a named itemset leave every record that holds it. A baseline: it promises nothing.

Paper    gunawan2021 (references.bib), section II, which compares with it; after Oliveira and Zaiane 2002.
Departs  nothing known. What a record holds is looked up in the original, so that the order of the itemsets does not matter. All itemsets
         that were named are treated, whether they are frequent or not.
Cost     linear in the data, and in the records that hold each itemset times its length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import owner_of, picked
from setveil.methods.base import Baseline, Outcome
from setveil.methods.itemsets.base import HidesItemsets
from setveil.methods.itemsets.heu import without
from setveil.methods.itemsets.swap_itemsets import held_itemsets

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions


class Naive(HidesItemsets, Baseline):
    """Leave out all items of the named itemsets from the records that hold them; a baseline that promises nothing."""

    name = "naive"
    title = "NV"
    paper = "gunawan2021"
    truthful = "subset"

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Leave out every item of every named itemset that a record holds."""
        del rng
        held = held_itemsets(data, self.occurring(data).itemsets)
        offsets, parts = picked(held.set_starts, held.sets)
        # A record and an item in one number: these rise through the data, so that the items to leave out can be looked up.
        v = len(data.vocabulary)
        there = owner_of(data.offsets) * v + data.items
        gone = owner_of(held.starts)[owner_of(offsets)] * v + held.set_items[parts]
        leaves = np.zeros(data.occurrences, np.bool_)
        leaves[np.searchsorted(there, gone)] = True
        return without(data, leaves)
