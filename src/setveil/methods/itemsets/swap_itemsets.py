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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import picked, places_of, read_only
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.methods.base import Baseline, Outcome
from setveil.methods.itemsets.base import HidesItemsets
from setveil.methods.swapping import swap_items

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.methods.itemsets._swap_itemsets_kernels import Held
    from setveil.parameters.named_itemsets import NamedItemsets

NOBODY = -1
"""The partner of a record that has none."""


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

        held_by_all = held_itemsets(data, self.occurring(data).itemsets)
        record = rng.permutation(np.flatnonzero(np.diff(held_by_all.starts)))
        chosen = data.take(record, ids=None)
        held = _held_by(held_by_all, record)
        n, rows = len(record), kernels.Rows(chosen.offsets, chosen.items)
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

        published = _swap_between(data, record, partner, given)
        alone = int(np.count_nonzero(partner == NOBODY))
        account = {
            "records-with-a-named-itemset": n,
            "pairs": (n - alone) // 2,
            "records-without-a-partner": alone,
            "items-exchanged": int(np.count_nonzero(given)),
        }
        return Outcome(published, Alignment.identity(data.records), account)


def held_itemsets(data: Transactions, itemsets: NamedItemsets) -> Held:
    """Find the named itemsets that each record holds, in no particular order."""
    from setveil.methods.itemsets import _swap_itemsets_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    starts_and_codes = itemsets.bind(data)
    set_starts, set_items = read_only(starts_and_codes[0]), read_only(starts_and_codes[1])
    v = len(data.vocabulary)
    # Support and code as one number, so that the minimum is the rarest item; no itemset is empty.
    rarest = np.minimum.reduceat(data.supports[set_items] * v + set_items, set_starts[:-1]) % v
    rarest_starts, by_rarest = places_of(rarest, v)
    rows = kernels.Rows(data.offsets, data.items)
    named = kernels.Named(set_starts, set_items, read_only(rarest_starts), read_only(by_rarest, np.int32))
    starts = np.zeros(data.records + 1, np.int64)

    def find(control: Any) -> NDArray[np.int32]:
        kernels.find_held(rows, named, np.full(v, NOBODY, np.int64), starts, np.empty(0, np.int32), False, control)
        np.cumsum(starts, out=starts)
        sets = np.empty(starts[-1], np.int32)
        kernels.find_held(rows, named, np.full(v, NOBODY, np.int64), starts, sets, True, control)
        return sets

    sets = run("finding the named itemsets", find, total=data.records)
    return kernels.Held(read_only(starts), read_only(sets), set_starts, set_items)


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


def _swap_between(
    data: Transactions,
    record: NDArray[np.int64],
    partner: NDArray[np.int64],
    given: NDArray[np.bool_],
) -> Transactions:
    """Let the records that have a partner swap items; `partner` and `given` are in the order of `record`."""
    n = data.records
    partner_of = np.full(n, NOBODY, np.int64)
    partner_of[record] = np.where(partner == NOBODY, NOBODY, record[partner])
    given_in_data = np.zeros(data.occurrences, np.bool_)
    given_in_data[picked(data.offsets, record)[1][given]] = True
    return swap_items(data, partner_of, given_in_data)
