"""ExactSwap: all named itemsets are hidden by swapping single items between records; other frequent itemsets are kept where possible.

Paper    gunawan2021 (references.bib): the idea of swapping items instead of suppressing them.
Departs  the paper pairs records that hold different named itemsets. It fails where there is no partner, or where a swap completes another
         named itemset. Here any record without the item may take it, no swap may complete a named itemset, and an item that no swap can
         move is suppressed. So every step lowers a support that is too high, and raises none that must be low. The method chooses the
         item and the record by what would be lost. See docs/methods/exact-swap.md and docs/decisions/0014.
Cost     one mining run, one pass over the data, and for each excess record a look at the frequent itemsets that it holds. Measured in
         benchmarks/bench_itemsets.py.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator

from setveil.base.declaration import parameter, split_commas
from setveil.data.records.alignment import Alignment
from setveil.data.records.in_blocks import as_records, in_blocks
from setveil.data.records.ragged import sums_within
from setveil.guarantees.hidden_itemsets import HiddenItemsets
from setveil.methods.base import Outcome
from setveil.methods.itemsets.base import HidesItemsets
from setveil.parameters.shares import MinSupport
from setveil.parameters.targets import RANDOM, Targets

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.engines.blocks import BlockKey


class ExactSwap(HidesItemsets):
    """Swap single items between records until no named itemset is above its target; keep other frequent itemsets where possible."""

    name = "exact-swap"
    title = "ExactSwap"
    paper = "gunawan2021"
    truthful = "no"

    target: Targets = parameter(
        Targets(RANDOM),
        public=False,
        description="Maximum number of records that may hold each named itemset: drawn from half the threshold to one below it (random), "
        "one below the threshold (border), one number for all, or one number per itemset.",
    )
    afi: Literal["forbid", "cost", "off"] = parameter(
        "cost",
        public=True,
        description="Swaps that make another itemset frequent: never (forbid), only if no better swap is found (cost), or not checked "
        "(off).",
    )
    repair: Literal["swap", "suppress"] = parameter(
        "swap",
        public=True,
        description="Swap items (swap), or only suppress them (suppress): records stay true, but items are lost.",
    )
    levels: Annotated[tuple[MinSupport, ...], BeforeValidator(split_commas)] = parameter(
        (),
        public=False,
        description="Further thresholds at which no frequent itemset should be lost or become frequent, such as 0.5%,1%.",
    )
    plan: Literal["greedy", "ilp"] = parameter(
        "greedy",
        public=True,
        description="Choose items step by step (greedy), or first compute the choice that loses least (ilp, for small data).",
    )
    plan_seconds: int = parameter(
        60, public=True, ge=1, le=86_400, description="Time limit for the plan in seconds; applies to plan ilp only."
    )
    max_scan: int = parameter(
        256,
        public=True,
        ge=1,
        le=1_000_000,
        description="Maximum number of swaps to try for an item before it is suppressed.",
    )

    @property
    def guarantee(self) -> HiddenItemsets:
        """The guarantee that the release is checked for. It has targets as soon as they are drawn."""
        drawn = self.target.numbers(len(self.itemsets))
        return HiddenItemsets(itemsets=self.itemsets, min_support=self.min_support, targets=drawn)

    def frequent_from(self, data: Transactions) -> int:
        """Return the minimum number of records of a frequent itemset, if as many records as possible become empty."""
        return self.min_support.count(data.records - data.empty_records - self._may_become_empty(data))

    def _may_become_empty(self, data: Transactions) -> int:
        """Count the records that could lose all their items. The last item can only go if it is a named itemset by itself."""
        present = self.occurring(data).itemsets
        alone = [one[0] for one in present if len(one) == 1]
        if not alone:
            return 0
        named, single = (np.zeros(len(data.vocabulary), dtype=bool) for _ in range(2))
        named[[data.code_of[label] for one in present for label in one]] = True
        single[[data.code_of[label] for label in alone]] = True
        count = partial(_count_emptied, named, single)
        return int(in_blocks(data).fold("counting records that may become empty", count)[0])

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check the targets against the data, and draw random targets."""
        del linked
        found = self.named_supports(data)
        frequent_from = self.frequent_from(data)
        targets = self.target.of(len(self.itemsets), frequent_from, rng)
        if self.target.text == RANDOM:
            targets[found < frequent_from] = frequent_from - 1  # these were rare before, so nothing reveals them
        return self.model_copy(update={"target": Targets(targets.tolist())})

    def thresholds(self, data: Transactions) -> tuple[int, ...]:
        """Return, in increasing order, all numbers of records at which a recipient may call an itemset frequent."""
        filled = data.records - data.empty_records
        counts = {self.frequent_from(data), self.min_support.count(filled), self.min_support.count(data.records)}
        return tuple(sorted(counts | {level.count(filled) for level in self.levels}))

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Weigh the items that could be moved, and move the cheapest until every named itemset is at its target."""
        from setveil.methods.itemsets._hiding import Hiding  # noqa: PLC0415 - imports Numba: only when a kernel runs

        frequent_from = self.frequent_from(data)
        present = self.occurring(data)
        targets = present.target.of(len(present.itemsets), frequent_from)
        hiding = Hiding(data, present.itemsets.bind(data), targets, self.thresholds(data), frequent_from)
        hiding.weigh(swaps=self.repair == "swap")
        planned = None
        about_plan: dict[str, Any] = {}
        if self.plan == "ilp":
            from setveil.methods.itemsets._planning import least_loss  # noqa: PLC0415 - imports SciPy: only for a plan

            planned, about_plan = least_loss(hiding, seconds=self.plan_seconds)
        hiding.hide(afi=self.afi, most=self.max_scan, rng=rng, planned=planned)
        account = {"frequent-from": frequent_from, **about_plan, **hiding.account()}
        return Outcome(hiding.result(), Alignment.identity(data.records), account)


def _count_emptied(named: NDArray[np.bool_], single: NDArray[np.bool_], block: Any, key: BlockKey) -> NDArray[np.int64]:
    """Count the records of a block whose items are all in named itemsets, and one is a named itemset by itself."""
    del key
    data = as_records(block, ())
    all_named = sums_within(data.offsets, ~named[data.items]) == 0
    return np.array([np.count_nonzero(all_named & (sums_within(data.offsets, single[data.items]) > 0))])
