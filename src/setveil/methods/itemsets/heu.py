"""HEU: as many records that hold a named itemset as its target requires lose one item of it. A baseline: it guarantees nothing.

Paper    gunawan2021 (references.bib), section IV, which compares with it; after Gunawan and Guanling 2015.
Departs  the 2015 paper was not available, and gunawan2021 describes HEU in two sentences. Here the itemsets are treated in the given order.
         The record to change is the one with the most itemsets above their targets, then the shortest, then the first in the data. The
         item to suppress is the one in the most such itemsets of the record, then the rarest in the original, then the first in label
         order. The paper has one threshold; here each itemset can have its own, lower target.
Cost     linear in the data and in the records that hold each itemset; the records of an itemset are ranked again whenever an itemset
         reaches its target.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import owner_of, places_of, read_only
from setveil.kernels.threads import run
from setveil.methods.base import Baseline, Outcome
from setveil.methods.itemsets.base import HidesItemsets
from setveil.parameters.targets import RANDOM, Targets

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.itemsets._supporters import Supporters


class HEU(HidesItemsets, Baseline):
    """Suppress one item of each named itemset in as few records as its target requires; a baseline that guarantees nothing."""

    name = "heu"
    title = "HEU"
    paper = "gunawan2021"
    truthful = "subset"

    target: Targets = parameter(
        Targets("border"),
        public=False,
        description="Maximum number of records that may hold each named itemset: one below the threshold (border), drawn from half the "
        "threshold to one below it (random), one number for all, or one number per itemset.",
    )

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check the targets against the data, and draw random targets."""
        bound = super().bind(data, linked=linked, rng=rng)
        targets = self.target.of(len(self.itemsets), self.frequent_from(data), rng)
        return bound.model_copy(update={"target": Targets(targets)}) if self.target.text == RANDOM else bound

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Suppress items until no named itemset is above its target."""
        from setveil.methods.itemsets import _heu_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs
        from setveil.methods.itemsets._supporters import find_supporters  # noqa: PLC0415 - the same
        from setveil.methods.itemsets._swap_itemsets_kernels import Rows  # noqa: PLC0415 - the same

        del rng
        present = self.occurring(data)
        sets = len(present.itemsets)
        target = present.target.of(sets, self.frequent_from(data))
        supporters = find_supporters(data, present.itemsets)
        held, records = supporters.held, supporters.records
        count = np.bincount(held.sets, minlength=sets)
        links = kernels.Links(*map(read_only, (owner_of(held.starts), *places_of(held.sets, sets))))
        tally = kernels.Tally(
            read_only(target),
            count,
            np.zeros(len(held.sets), np.bool_),
            records.lengths.copy(),
            np.zeros(records.records, np.int64),
        )
        room = kernels.Room(
            np.zeros(len(data.vocabulary), np.int64),
            np.empty(max(int(records.lengths.max(initial=0)), sets) + 2, np.int64),
            *(np.empty(int(count.max()), np.int64) for _ in range(2)),
        )
        suppressed = np.zeros(records.occurrences, np.bool_)
        rows = Rows(records.offsets, records.items)
        work = partial(kernels.hide, rows, data.supports, held, links, tally, room, suppressed)
        run("suppressing items", work, total=sets)
        return suppress(supporters, suppressed)


def suppress(supporters: Supporters, suppressed: NDArray[np.bool_]) -> Outcome:
    """Return the data without the suppressed occurrences of the supporters, and the account."""
    before = supporters.records
    after = before.keeping(~suppressed)
    account = {
        "records-with-fewer-items": int(np.count_nonzero(after.lengths < before.lengths)),
        "records-made-empty": after.empty_records - before.empty_records,
        "items-left-out": before.occurrences - after.occurrences,
    }
    return Outcome(supporters.replaced(after), Alignment.identity(supporters.data.records), account)
