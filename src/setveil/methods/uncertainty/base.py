"""Base of the methods that reach ρ-uncertainty: the sensitive items, and the highest confidence with which they may be inferred."""

from __future__ import annotations

from abc import ABC

from setveil.guarantees.rho_uncertainty import InferenceLimit, RhoUncertainty
from setveil.methods.base import Method


class ReachesUncertainty(InferenceLimit, Method, ABC):
    """A method after which no known items reveal a sensitive one with a confidence above ρ."""

    @property
    def guarantee(self) -> RhoUncertainty:
        """The guarantee that the release is checked for."""
        return RhoUncertainty(
            sensitive=self.sensitive, rho=self.rho, include_empty=self.include_empty, knows=self.knows
        )
