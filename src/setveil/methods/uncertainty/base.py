"""Bases of the methods that reach ρ-uncertainty: the sensitive items, and the highest confidence with which they may be inferred."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from setveil.base.advice import Advice
from setveil.guarantees.rho_uncertainty import InferenceLimit, RhoUncertainty
from setveil.methods.base import Method, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class ReachesUncertainty(InferenceLimit, Method, ABC):
    """A method after which no known items reveal a sensitive one with a confidence above ρ."""

    @property
    def guarantee(self) -> RhoUncertainty:
        """The guarantee that the release is checked for."""
        return RhoUncertainty(
            sensitive=self.sensitive, rho=self.rho, include_empty=self.include_empty, knows=self.knows
        )


class SuppressesOccurrences(ReachesUncertainty, ABC):
    """A method that suppresses single occurrences, restores those that stay safe, and can do so in blocks of the data."""

    runs_in_blocks = True

    @abstractmethod
    def turns(self, data: Transactions, left: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items that may be restored, in their order, if this number of occurrences is left of each item."""

    def advice_on(self, account: dict[str, Any]) -> Advice:
        """Return why the data are not safe; empty if they are."""
        del account
        return Advice()

    def apply_in_blocks(self, data: Transactions, *, rng_of: Callable[[int], Generator]) -> Outcome:
        """Make each block safe by itself, and restore what stays safe in view of all blocks."""
        from setveil.methods.uncertainty._union import suppress_in_blocks  # noqa: PLC0415 - it imports this module

        return suppress_in_blocks(self, data, rng_of)
