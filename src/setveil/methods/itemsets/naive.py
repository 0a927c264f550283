"""NV: every record that holds a named itemset loses all items of it. A baseline: it guarantees nothing.

Paper    gunawan2021 (references.bib), section II, which compares with it; after Oliveira and Zaiane 2002.
Departs  not knowingly. The itemsets of a record are looked up in the original, so their order does not matter. All named itemsets are
         treated, frequent or not.
Cost     linear in the data, and in the records that hold each itemset times its length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import owner_of, picked
from setveil.methods.base import Baseline, Outcome
from setveil.methods.itemsets.base import HidesItemsets
from setveil.methods.itemsets.heu import suppress

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions


class Naive(HidesItemsets, Baseline):
    """Suppress all items of each named itemset in the records that hold it; a baseline that guarantees nothing."""

    name = "naive"
    title = "NV"
    paper = "gunawan2021"
    truthful = "subset"

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Suppress every item of every named itemset that a record holds."""
        from setveil.methods.itemsets._supporters import find_supporters  # noqa: PLC0415 - imports Numba: only when a kernel runs

        del rng
        supporters = find_supporters(data, self.occurring(data).itemsets)
        held, records = supporters.held, supporters.records
        offsets, parts = picked(held.set_starts, held.sets)
        # Record and item as one number: it increases through the records, so that the occurrences to suppress can be found by bisection.
        v = len(data.vocabulary)
        present = owner_of(records.offsets) * v + records.items
        wanted = owner_of(held.starts)[owner_of(offsets)] * v + held.set_items[parts]
        suppressed = np.zeros(records.occurrences, np.bool_)
        suppressed[np.searchsorted(present, wanted)] = True
        return suppress(supporters, suppressed)
