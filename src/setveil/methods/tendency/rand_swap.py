"""RandSwap: records exchange random items, in random pairs. A baseline: it promises nothing.

Paper    gunawan2019 (references.bib), section 5, as a baseline; after Reiss 1984, "Practical data-swapping".
Departs  the paper gives no detail of it. `plain` is our reading: pairs of all records, r items each way, r drawn from 1 to the length of
         the shorter record. `matched` moves as much as PartSwap does, so that the two can be compared: each record with a tendency
         exchanges as many random items as its block has, or its partner if that is less, with a partner among all records.
Cost     linear: two shuffles of the records, one random number an occurrence, two passes.
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
from setveil.methods.exchanging import exchanged
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


NOBODY = -1


class RandSwap(Baseline):
    """Exchange random items between random pairs of records; a baseline that promises nothing."""

    name = "rand-swap"
    title = "RandSwap"
    paper = "gunawan2019"
    truthful = "no"
    about_people = True

    mode: Literal["plain", "matched"] = parameter(
        "plain",
        public=True,
        description="Who exchanges how much: all records a random number of items (plain), or those with a tendency as many "
        "as their block has, with any other (matched).",
    )
    categories: Categories = parameter(
        Categories({}),
        public=False,
        description="Which category each item belongs to; needed by mode matched, else for the metrics alone.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.mode == "matched" and not self.categories:
            raise ValueError("mode 'matched' needs categories: they say which records have a tendency")
        return self

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check that every item has a category, where categories were given."""
        del linked, rng
        if self.categories:
            self.categories.bind(data)
        return self

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Pair, choose, exchange at once in both directions.

        With mode `matched` those seek a partner that have a tendency: PARTIAL records, of several categories with one above the mean, and
        FULL ones, of several items in one category, whose block is the whole record.
        """
        shuffled = rng.permutation(data.records)
        if self.mode == "plain":
            seeking = data.records
            pairs = data.records // 2
            one, other = shuffled[0 : 2 * pairs : 2], shuffled[1 : 2 * pairs : 2]
            most = np.minimum(data.lengths[one], data.lengths[other])
            # An empty record has nothing to give, and takes nothing: an exchange goes both ways.
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
        published = _exchanged(data, partner, gives, rng)
        account = {
            "seeking-a-partner": seeking,
            "pairs": pairs,
            "items-given": int(gives.sum()),
            "items-lost-in-collisions": data.occurrences - published.occurrences,
        }
        return Outcome(published, Alignment.identity(data.records), account)


def _blocks(data: Transactions, categories: Categories) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the records with a tendency, and for all records how many items their heaviest category has."""
    from setveil.methods.tendency import _tendency_kernels as shape  # noqa: PLC0415 - imports Numba: only when a kernel runs
    from setveil.methods.tendency._exchange import Exchange  # noqa: PLC0415 - the same

    leaning = Exchange(data, categories)
    in_block = leaning.category[data.items] == np.repeat(leaning.top, data.lengths)
    return np.flatnonzero(np.isin(leaning.kind, (shape.PARTIAL, shape.FULL))), sums_within(data.offsets, in_block)


def _pairs(seeking: NDArray[np.int64], candidates: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair each of those that seek, in this order, with the first candidate that is free; return both sides."""
    from setveil.methods.tendency import _rand_swap_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    one, other = np.empty(len(seeking), np.int64), np.empty(len(seeking), np.int64)
    paired = np.zeros(len(candidates), np.bool_)
    work = partial(kernels.pair, read_only(seeking), read_only(candidates), paired, one, other)
    pairs = run("pairing records", work, total=len(seeking))
    return one[:pairs], other[:pairs]


def _exchanged(
    data: Transactions, partner: NDArray[np.int64], gives: NDArray[np.int64], rng: Generator
) -> Transactions:
    """Let each record give so many random items to its partner."""
    from setveil.methods.tendency import _rand_swap_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    n = data.records
    leaves = np.zeros(data.occurrences, np.bool_)
    draws = read_only(rng.random(data.occurrences))
    run("choosing items", partial(kernels.choose, data.offsets, read_only(gives), draws, leaves), total=n)
    return exchanged(data, partner, leaves)
