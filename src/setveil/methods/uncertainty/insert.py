"""Insert: suppress all sensitive occurrences, then restore as many as stay safe. Our own method.

Paper    none. Compare it with the partial suppression of jia2014 (references.bib): the same guarantee, and in our benchmarks it keeps less.
Idea     A table without sensitive items is safe. Restoring one occurrence can only strengthen a few rules, and all of these are examined
         exactly (`_limit_kernels`). So the table is safe after every step.
Order    Sensitive items one by one, those in the most records of the original first. For each item, the records that lost it are grouped by
         their present content. Short contents come first, and the item is restored in as many records of each content as stay safe. Passes
         over all items repeat until one restores nothing. Then no single suppressed occurrence can be restored, except for those with too
         many rules to examine: these are counted.
Parts    The records can be divided at random into parts that are restored alone. The union of safe parts is safe (`_division`).
Cost     for each distinct content that lost an item, a look at the contents that already hold the item. The records with the content are
         counted only if these allow the item.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.base.display import quantity
from setveil.data.records.ragged import BLOCK, offsets_of, record_ranges, sums_within
from setveil.kernels.threads import number_of_threads
from setveil.methods.base import Outcome
from setveil.methods.uncertainty._division import at_most_one_per_record, divide, join
from setveil.methods.uncertainty._restoring import Restoring, account_of, announce, improve, outcome_of, run_passes
from setveil.methods.uncertainty.base import SuppressesOccurrences
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class Insert(SuppressesOccurrences):
    """Suppress all sensitive items, then restore as many occurrences as stay safe."""

    name = "insert"
    title = "Insert"
    paper = "jia2014"
    truthful = "subset"
    removed: ClassVar[dict[str, str]] = {"jitter": "it did not prevent attackers from finding the limit of an item"}

    order: Literal["frequent", "rarest"] = parameter(
        "frequent",
        public=True,
        description="Which sensitive items to restore first: those in the most records (frequent) or in the fewest (rarest).",
    )
    rounds: int = parameter(
        0,
        ge=0,
        public=True,
        description="Number of improvement rounds. A round suppresses some sensitive items again, restores occurrences in a new order, and "
        "keeps the new result unless it has fewer occurrences. In benchmarks, each round added 10 to 50 % to the time without rounds "
        "and gained little.",
    )
    parts: int = parameter(
        1,
        ge=1,
        public=True,
        description="Number of parts to split the records into, at random. Each part is restored alone. More parts take less time and "
        "suppress more.",
    )

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Suppress all sensitive occurrences, and restore them until no single one can be added."""
        is_sensitive = self.sensitive.among(data)
        hidden = is_sensitive[data.items]
        if self.rho.share == 1 or not hidden.any():
            return outcome_of(data, np.ones(data.occurrences, np.bool_), is_sensitive, {})
        number = at_most_one_per_record(self.parts, data)
        if number == 1:
            tables = [self._table(data, is_sensitive, rng)]
        else:
            division = divide(data, number, rng)
            tables = [self._table(part.records, is_sensitive, np.random.default_rng(part.seed)) for part in division]
        run_passes(tables, report=partial(_announce, number))
        account = {"parts": number, "gained-in-rounds": improve(tables, self.rounds), **account_of(tables)}
        kept = [table.present for table in tables]
        present = kept[0] if number == 1 else join(division, kept, data.occurrences)
        return outcome_of(data, present, is_sensitive, account)

    def bound_in(self, data: Transactions) -> str:
        """Return how many sensitive occurrences no choice can keep.

        All non-sensitive items are published. If those of a record are in so few records that one of these is already a share above rho,
        knowing them would reveal any sensitive item that the record keeps.
        """
        is_sensitive = self.sensitive.among(data)
        total, lost = int(data.supports[is_sensitive].sum()), 0
        if not total:
            return "no record holds a sensitive item"
        for first, last in record_ranges(data.offsets, BLOCK, BLOCK):
            some = data.take(np.arange(first, last), ids=None)
            sensitive = sums_within(some.offsets, is_sensitive[some.items].astype(np.int64))
            holding = np.flatnonzero(sensitive)
            of_holders = some.take(holding)
            shown = ~is_sensitive[of_holders.items]
            counts = sums_within(of_holders.offsets, shown.astype(np.int64))
            alike = supports(data, (offsets_of(counts), of_holders.items[shown]))
            too_few = alike * self.rho.share.numerator < self.rho.share.denominator
            lost += int(sensitive[holding][too_few & ((counts > 0) | self.include_empty)].sum())
        why = "the limit is 0 %"
        if self.rho.share:
            why = f"the other items of their records are in fewer than {float(1 / self.rho.share):.3g} records"
        return f"at least {lost:,} of {quantity(total, 'sensitive occurrence')} cannot be kept: {why}"

    def turns(self, data: Transactions, left: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sensitive items that are missing anywhere, those in the most records of the original first, or in the fewest."""
        codes = np.flatnonzero(self.sensitive.among(data) & (left < data.supports))
        supports = data.supports[codes]
        return codes[np.argsort(supports if self.order == "rarest" else -supports, kind="stable")]

    def _table(self, data: Transactions, is_sensitive: NDArray[np.bool_], rng: Generator) -> Restoring:
        """Return records without sensitive items, which are to be restored in the order that was asked for."""
        order = self.turns(data, np.where(is_sensitive, 0, data.supports))
        return Restoring(data, ~is_sensitive[data.items], order, self, rng)


def _announce(parts: int, seconds: float, examined: float) -> None:
    """Note how long all parts will take, and how many parts would be fast, if the first one takes so long."""
    seconds *= parts / min(number_of_threads(), parts)
    advice = f" Use `parts={parts_for(seconds, parts)}` to finish in about a minute; more items are then suppressed."
    announce(seconds, examined, advice)


def parts_for(seconds: float, parts: int) -> int:
    """Return the number of parts that would take about a minute, if these take so long: time falls with their number.

    >>> parts_for(65, 1), parts_for(600, 1), parts_for(600, 4)
    (2, 10, 40)
    """
    return max(math.ceil(parts * seconds / 60), parts + 1)
