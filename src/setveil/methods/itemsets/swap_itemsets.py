"""SW: pairs of records that hold different named itemsets swap items of these itemsets. A baseline: it guarantees nothing.

Paper    gunawan2021 (references.bib), algorithms 1 to 4.
Departs  equation 2 prints Max where algorithm 2 and the text say Min; here the smallest coefficient counts. The paper does not say what
         happens to records with several named itemsets: `one` swaps one item per record, `all` enough items to break every itemset. Nor
         does it say what happens to records without a partner: they stay unchanged. All named itemsets are treated, frequent or not. The
         paper's "repeat" for items that the partner holds always ends: a record that holds all items of the itemset cannot be the partner.
Cost     quadratic in the number of records that hold a named itemset if most of them share an item, nearly linear otherwise.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import picked, read_only
from setveil.kernels.threads import run
from setveil.methods.base import Baseline, Outcome
from setveil.methods.itemsets.base import HidesItemsets
from setveil.methods.swapping import swap_items

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.itemsets._swap_itemsets_kernels import Held


class SwapItemsets(HidesItemsets, Baseline):
    """Swap items of named itemsets between pairs of records that hold different ones; a baseline that guarantees nothing."""

    name = "swap-itemsets"
    title = "SW"
    paper = "gunawan2021"
    truthful = "no"

    reading: Literal["one", "all"] = parameter(
        "one",
        public=True,
        description="What each record of a pair gives: one item (one), or enough items to break every named itemset "
        "that it holds (all).",
    )

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Find the records, pair them in random order, choose items, and swap them in both directions at once."""
        from setveil.kernels.bits import WORD_BITS  # noqa: PLC0415 - imports Numba: only when a kernel runs
        from setveil.methods.itemsets import _swap_itemsets_kernels as kernels  # noqa: PLC0415 - the same
        from setveil.methods.itemsets._supporters import NOBODY, find_supporters  # noqa: PLC0415 - the same

        supporters = find_supporters(data, self.occurring(data).itemsets)
        order = rng.permutation(np.arange(len(supporters.numbers)))
        chosen = supporters.records.take(order)
        held = _held_by(supporters.held, order)
        n, rows = len(order), kernels.Rows(chosen.offsets, chosen.items)
        partner = np.full(n, NOBODY, np.int64)
        words = [np.empty(n, np.int64), np.empty(n, np.int64)]
        kernels.sign(*rows, read_only(_hot_bits(chosen.supports, WORD_BITS)), words[0])
        kernels.sign(held.starts, held.sets, read_only(np.arange(len(self.itemsets)) % WORD_BITS), words[1])

        def unmarked() -> kernels.Marks:
            items, sets = (np.full(size, NOBODY, np.int64) for size in (len(data.vocabulary), len(self.itemsets)))
            return kernels.Marks(items, sets, votes=np.zeros(len(items), np.int64))

        free_with = np.bincount(held.sets, minlength=len(self.itemsets))
        work = partial(kernels.pair, rows, held, kernels.Words(*map(read_only, words)), unmarked(), free_with, partner)
        run("finding partners", work, total=n)

        given = np.zeros(chosen.occurrences, np.bool_)
        every = self.reading == "all"
        work = partial(kernels.choose, rows, held, data.supports, read_only(partner), every, unmarked(), given)
        run("choosing items", work, total=n)

        swapped = swap_items(chosen, partner, given)
        published = supporters.replaced(swapped.take(np.argsort(order)))
        alone = int(np.count_nonzero(partner == NOBODY))
        account = {
            "records-with-a-named-itemset": n,
            "pairs": (n - alone) // 2,
            "records-without-a-partner": alone,
            "items-exchanged": int(np.count_nonzero(given)),
        }
        return Outcome(published, Alignment.identity(data.records), account)


def _held_by(held: Held, records: NDArray[np.int64]) -> Held:
    """Return the named itemsets of the given records, in their order."""
    starts, places = picked(held.starts, records)
    return held._replace(starts=read_only(starts), sets=read_only(held.sets[places]))


def _hot_bits(supports: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Return a bit number for each of the most frequent items, -1 for the others."""
    bit = np.full(len(supports), -1, np.int64)
    hottest = np.argsort(-supports, kind="stable")[:bits]
    bit[hottest] = np.arange(len(hottest))
    return bit
