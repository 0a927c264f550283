"""What the methods that reach ρ-uncertainty share: which items are sensitive, and how sure anybody may become of them."""

from __future__ import annotations

from abc import ABC

from setveil.guarantees.rho_uncertainty import InferenceLimit, RhoUncertainty
from setveil.methods.base import Method


class ReachesUncertainty(InferenceLimit, Method, ABC):
    """A method after which no known items betray a sensitive one with a confidence above ρ."""

    @property
    def guarantee(self) -> RhoUncertainty:
        """What the release will be checked for."""
        return RhoUncertainty(
            sensitive=self.sensitive, rho=self.rho, include_empty=self.include_empty, knows=self.knows
        )
