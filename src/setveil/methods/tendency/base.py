"""Shared by methods that hide tendencies: the category of each item, and the swap of blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Self

from setveil.base.declaration import parameter
from setveil.methods.base import Method, Outcome
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions

Order = Literal["hard", "seeded", "file"]
Ties = Literal["first", "all"]
Step = Literal["cycle", "helper", "adopt", "suppress"]


class OverCategories(Method, ABC):
    """A method that requires a category for each item."""

    categories: Categories = parameter(public=False, description="The category of each item.")

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check that every item has a category."""
        del linked, rng
        self.categories.bind(data)
        return self


class SwapPlan(NamedTuple):
    """Which records swap their blocks, and how."""

    categories: Categories
    mixed: bool
    """Whether records of several categories take part."""
    full_min: int
    """Minimum number of items in a record of a single category that takes part; 0 if none does."""
    order: Order = "hard"
    ties: Ties = "first"
    strict: bool = False
    """Whether partners must have no category above the mean in common."""
    one_sided: bool = False
    """Whether only the block of the record that searches must be new to its partner."""
    steps: tuple[Step, ...] = ()
    """What is tried for records without a partner."""


class SwapsOfBlocks(OverCategories, ABC):
    """A method in which records swap their blocks, as its plan says."""

    runs_in_blocks: ClassVar[bool] = True

    @property
    @abstractmethod
    def plan(self) -> SwapPlan:
        """Which records swap, and how."""

    def bound_in(self, data: Transactions) -> str:
        """Return how many records cannot be hidden by swapping."""
        from setveil.methods.tendency._swap_in_blocks import bounds_in  # noqa: PLC0415 - imports Numba: only when a kernel runs

        return str(bounds_in(data, self.plan))

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Pair the records, swap blocks, treat records without a partner, and rebuild the records."""
        from setveil.methods.tendency._block_swap import outcome_of, swapped  # noqa: PLC0415 - the same

        return outcome_of(swapped(data, self.plan, rng), self.plan)

    def apply_in_blocks(self, data: Transactions, *, rng_of: Callable[[int], Generator]) -> Outcome:
        """Swap inside each block of the data; then let the records that are left over swap with all blocks."""
        from setveil.methods.tendency._swap_in_blocks import SwapInBlocks  # noqa: PLC0415 - the same

        return SwapInBlocks(data, self.plan, rng_of).outcome()
