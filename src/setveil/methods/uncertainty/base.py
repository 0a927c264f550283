"""What the methods that reach ρ-uncertainty share: which items are sensitive, and how sure anybody may become of them."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Literal, Self

from setveil.data.sensitive_items import SensitiveItems
from setveil.declaration import parameter
from setveil.guarantees.rho_uncertainty import RhoUncertainty
from setveil.methods.base import Method
from setveil.mining.threshold import MaxConfidence

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.transactions import Transactions


class ReachesUncertainty(Method, ABC):
    """A method after which no known items betray a sensitive one with a confidence above ρ."""

    sensitive: SensitiveItems = parameter(public=False, description="The items that nobody may infer.")
    rho: MaxConfidence = parameter(
        public=True, description="The highest confidence with which a sensitive item may be inferred."
    )
    include_empty: bool = parameter(
        True,
        public=True,
        description="Whether somebody who knows nothing of a person may not infer a sensitive item either.",
    )
    knows: Literal["subset", "whole"] = parameter(
        "subset",
        public=True,
        description="What somebody may know of a person: some items of the record, or also that there are no other items that are not "
        "sensitive.",
    )

    @property
    def guarantee(self) -> RhoUncertainty:
        """What the release will be checked for."""
        return RhoUncertainty(
            sensitive=self.sensitive, rho=self.rho, include_empty=self.include_empty, knows=self.knows
        )

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check that the data hold every sensitive item that was named."""
        del linked, rng
        self.sensitive.bind(data)
        return self
