"""FullSwap: records of a single category change owners, whole.

Paper    gunawan2019 (references.bib), section 4.4 and algorithm 4.
Departs  the paper searches the least similar record; between two categories every coefficient is 0, so there is nothing to search: the
         records are sorted by category, shuffled within, and moved on by half. That hides all of them if no category has more than half,
         and as many as can be hidden otherwise.
Cost     a sort of the records of one category.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from setveil.base.declaration import parameter
from setveil.data.records.alignment import Alignment
from setveil.errors import BadParameter
from setveil.guarantees.hidden_tendency import HiddenTendency
from setveil.methods.base import Outcome
from setveil.methods.tendency.base import OverCategories
from setveil.methods.tendency.part_swap import check_categories

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions


class FullSwap(OverCategories):
    """Exchange records of a single category whole, between categories."""

    name = "full-swap"
    title = "FullSwap"
    paper = "gunawan2019"
    truthful = "no"
    about_people = True

    full_min: int = parameter(
        2,
        public=True,
        ge=1,
        le=2,
        description="From how many items on a record of one category is exchanged; 1 includes single items.",
    )

    @property
    def guarantee(self) -> HiddenTendency:
        """What the release is checked for: the records of one category alone."""
        return HiddenTendency(categories=self.categories, records="whole", full_min=self.full_min)

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check the categories; without ids on the rows there is nothing to exchange."""
        del rng
        if not linked:
            raise BadParameter(
                "full-swap exchanges whole records between people; rows without ids stand for nobody, so that nothing would change. "
                "Publish with `ids='pseudonym'`, or use part-swap"
            )
        check_categories(self.name, self.categories, data)
        return self

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Exchange the records of one category."""
        from setveil.methods.tendency._exchange import Exchange  # noqa: PLC0415 - imports Numba: only when a kernel runs

        exchange = Exchange(data, self.categories)
        exchange.enlist_whole(self.full_min, rng)
        exchange.find_partners(strict=False, one_sided=False)
        exchange.rotate_whole(rng)
        return Outcome(
            exchange.result(), Alignment.identity(data.records), exchange.account(), exchange.advice(whole=True)
        )
