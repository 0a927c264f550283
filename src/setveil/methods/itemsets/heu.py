"""HEU: of the records that hold a named itemset, as many as must lose one item of it. A baseline: it promises nothing.

Paper    gunawan2021 (references.bib), section IV, which compares with it; after Gunawan and Guanling 2015.
Departs  the 2015 paper could not be had, and gunawan2021 gives two sentences. Ours: itemsets in the order in which they were named; of the
         records that hold one, that with most itemsets still above their targets, then the shortest, then the first in the data; of the
         itemset's items, that in most such itemsets of the record, then the rarest in the original, then the first in label order. The
         paper knows one threshold; targets can be lower, and differ.
Cost     linear in the data and in the records that hold each itemset; the records of an itemset are ranked once more whenever an itemset
         comes down to its target.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import owner_of, places_of, read_only
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.methods.base import Baseline, Outcome
from setveil.methods.itemsets.base import HidesItemsets
from setveil.methods.itemsets.swap_itemsets import held_itemsets
from setveil.parameters.targets import RANDOM, Targets

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


class HEU(HidesItemsets, Baseline):
    """Leave out one item of each named itemset from as few records as bring it to its target; a baseline that promises nothing."""

    name = "heu"
    title = "HEU"
    paper = "gunawan2021"
    truthful = "subset"

    target: Targets = parameter(
        Targets("border"),
        public=False,
        description="At most how many records may hold each named itemset: just below the threshold (border), drawn from half of "
        "that on (random), or a number for all or one for each.",
    )

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check the targets against the data, and draw random targets."""
        bound = super().bind(data, linked=linked, rng=rng)
        targets = self.target.of(len(self.itemsets), self.frequent_from(data), rng)
        return bound.model_copy(update={"target": Targets(targets)}) if self.target.text == RANDOM else bound

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Leave out items until every named itemset is at its target or below."""
        from setveil.methods.itemsets import _heu_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        del rng
        present = self.occurring(data)
        sets = len(present.itemsets)
        target = present.target.of(sets, self.frequent_from(data))
        held = held_itemsets(data, present.itemsets)
        count = np.bincount(held.sets, minlength=sets)
        links = [read_only(one) for one in (owner_of(held.starts), *places_of(held.sets, sets))]
        lengths, open_held = data.lengths.copy(), np.zeros(data.records, np.int64)
        votes = np.zeros(len(data.vocabulary), np.int64)
        tally = np.empty(max(int(lengths.max(initial=0)), sets) + 2, np.int64)
        room = [np.empty(int(count.max()), np.int64) for _ in range(2)]
        leaves = np.zeros(data.occurrences, np.bool_)
        fixed = (
            data.offsets,
            data.items,
            data.supports,
            held.starts,
            held.sets,
            *links,
            held.set_starts,
            held.set_items,
        )
        changing = (count, np.zeros(len(held.sets), np.bool_), lengths, open_held, votes, tally, *room, leaves)
        run("leaving out items", partial(kernels.hide, *fixed, read_only(target), *changing), total=sets)
        return without(data, leaves)


def without(data: Transactions, leaves: NDArray[np.bool_]) -> Outcome:
    """Return the data without the occurrences that leave, and an account of that."""
    published = data.keeping(~leaves)
    account = {
        "records-with-fewer-items": int(np.count_nonzero(published.lengths < data.lengths)),
        "records-made-empty": published.empty_records - data.empty_records,
        "items-left-out": data.occurrences - published.occurrences,
    }
    return Outcome(published, Alignment.identity(data.records), account)
