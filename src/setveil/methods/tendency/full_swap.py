"""FullSwap: whole records of a single category are swapped between people.

Paper    gunawan2019 (references.bib), section 4.4 and algorithm 4.
Departs  the paper searches for the least similar record. Between two categories every coefficient is 0, so there is nothing to search.
         Here the records are sorted by category, shuffled within each category, and moved on by half of their number. That hides all of
         them if no category has more than half of them, and the maximum number otherwise.
Cost     one sort of the records of a single category.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from setveil.base.declaration import parameter
from setveil.errors import BadParameter
from setveil.guarantees.hidden_tendency import HiddenTendency
from setveil.methods.tendency.base import SwapPlan, SwapsOfBlocks
from setveil.methods.tendency.part_swap import check_categories

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions


class FullSwap(SwapsOfBlocks):
    """Swap whole records of a single category with records of another single category."""

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
        description="Minimum number of items in a record that is swapped; 1 includes single items.",
    )

    @property
    def guarantee(self) -> HiddenTendency:
        """The guarantee that the release is checked for; it covers records of a single category only."""
        return HiddenTendency(categories=self.categories, records="whole", full_min=self.full_min)

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check the categories, and refuse rows without ids: swapping them would change nothing."""
        del rng
        if not linked:
            raise BadParameter(
                "full-swap swaps whole records between people; without ids on the rows this changes nothing. "
                "Publish with `ids='pseudonym'`, or use part-swap"
            )
        check_categories(self.name, self.categories, data)
        return self

    @property
    def plan(self) -> SwapPlan:
        """Which records swap, and how."""
        return SwapPlan(self.categories, mixed=False, full_min=self.full_min)
