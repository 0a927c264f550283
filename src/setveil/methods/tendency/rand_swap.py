"""RandSwap: random pairs of records swap random items. A baseline: it guarantees nothing.

Paper    gunawan2019 (references.bib), section 5, as a baseline; after Reiss 1984, "Practical data-swapping".
Departs  the paper gives no details. `plain` is our reading: all records are paired, and each pair swaps r items, where r is drawn from 1
         to the length of the shorter record. `matched` moves as many items as PartSwap, so that the two can be compared: each record with
         a tendency swaps random items with a partner drawn from all records, as many as its block holds, or as its partner holds if that
         is fewer.
Cost     linear: two shuffles of the records, one random number per occurrence, two passes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import model_validator

from setveil.base.declaration import parameter
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import read_only, sums_within
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.methods.base import Baseline, Outcome
from setveil.methods.in_blocks import applied_to_each
from setveil.methods.swapping import swap_items
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray


NOBODY = -1
"""The partner of a record that has none."""


class RandSwap(Baseline):
    """Swap random items between random pairs of records; a baseline that guarantees nothing."""

    name = "rand-swap"
    title = "RandSwap"
    paper = "gunawan2019"
    truthful = "no"
    about_people = True
    runs_in_blocks = True

    mode: Literal["plain", "matched"] = parameter(
        "plain",
        public=True,
        description="Which records swap, and how many items: every record, a random number (plain); or each record with a tendency, as "
        "many items as it has in the category that it leans to (matched).",
    )
    categories: Categories = parameter(
        Categories({}),
        public=False,
        description="The category of each item. Mode matched requires it; mode plain uses it only for metrics of tendencies.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.mode == "matched" and not self.categories:
            raise ValueError(
                "mode 'matched' needs categories: they define which records have a tendency; give `categories=`, or use `mode='plain'`"
            )
        return self

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """If categories are given, check that every item has one."""
        del linked, rng
        if self.categories:
            self.categories.bind(data)
        return self

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Pair the records, choose items, and swap them in both directions at once.

        With mode `matched`, the records with a tendency seek a partner: PARTIAL records (several categories, one above the mean) and FULL
        records (several items of a single category, so that the block is the whole record).
        """
        shuffled = rng.permutation(data.records)
        if self.mode == "plain":
            seeking = data.records
            pairs = data.records // 2
            one, other = shuffled[0 : 2 * pairs : 2], shuffled[1 : 2 * pairs : 2]
            most = np.minimum(data.lengths[one], data.lengths[other])
            # An empty record has nothing to give, so it receives nothing: a swap goes both ways.
            numbers = np.where(most > 0, rng.integers(1, np.maximum(most, 1), endpoint=True), 0)
        else:
            leaning, sizes = _blocks(data, self.categories)
            seeking = len(leaning)
            one, other = _pairs(rng.permutation(leaning), shuffled)
            pairs = len(one)
            numbers = np.minimum(sizes[one], data.lengths[other])
        gives = np.zeros(data.records, np.int64)
        gives[one] = gives[other] = numbers
        partner = np.full(data.records, NOBODY, np.int64)
        partner[one], partner[other] = other, one
        published = _swap_random_items(data, partner, gives, rng)
        account = {
            "seeking-a-partner": seeking,
            "pairs": pairs,
            "items-given": int(gives.sum()),
            "items-lost-in-collisions": data.occurrences - published.occurrences,
        }
        return Outcome(published, Alignment.identity(data.records), account)

    def apply_in_blocks(self, data: Transactions, *, rng_of: Callable[[int], Generator]) -> Outcome:
        """Let records of the same data block swap."""
        return applied_to_each(self, data, rng_of)


def _blocks(data: Transactions, categories: Categories) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the records with a tendency and, for every record, the number of items in its heaviest category."""
    from setveil.methods.tendency import _tendency_kernels as shape  # noqa: PLC0415 - imports Numba: only when a kernel runs
    from setveil.methods.tendency._block_swap import BlockSwap  # noqa: PLC0415 - the same

    leaning = BlockSwap(data, categories)
    in_block = leaning.category[data.items] == np.repeat(leaning.top, data.lengths)
    return np.flatnonzero(np.isin(leaning.kind, (shape.PARTIAL, shape.FULL))), sums_within(data.offsets, in_block)


def _pairs(seeking: NDArray[np.int64], candidates: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair each record of `seeking`, in this order, with the first free candidate; return the two sides of the pairs."""
    from setveil.methods.tendency import _rand_swap_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    one, other = np.empty(len(seeking), np.int64), np.empty(len(seeking), np.int64)
    paired = np.zeros(len(candidates), np.bool_)
    work = partial(kernels.pair, read_only(seeking), read_only(candidates), paired, one, other)
    pairs = run("pairing records", work, total=len(seeking))
    return one[:pairs], other[:pairs]


def _swap_random_items(
    data: Transactions, partner: NDArray[np.int64], gives: NDArray[np.int64], rng: Generator
) -> Transactions:
    """Let each record r give `gives[r]` random items to its partner."""
    from setveil.methods.tendency import _rand_swap_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    n = data.records
    given = np.zeros(data.occurrences, np.bool_)
    draws = read_only(rng.random(data.occurrences))
    run("choosing items", partial(kernels.choose, data.offsets, read_only(gives), draws, given), total=n)
    return swap_items(data, partner, given)
