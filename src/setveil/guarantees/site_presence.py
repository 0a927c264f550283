"""δ-site-presence of a joined table: neither provider can tell from it who is a customer of the other."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from setveil.declaration import Declaration, parameter
from setveil.mining.threshold import Share

Scope = Literal["qi+sa", "qi"]


class PresenceLimit(Declaration):
    """Between which shares of a provider's users in a group the common ones may lie."""

    max_a: Share = parameter(
        public=True, description="Of A's users in a group, the largest share that may be at B too."
    )
    min_a: Share = parameter(
        public=True, description="Of A's users in a group, the smallest share that may be at B too."
    )
    max_b: Share = parameter(
        public=True, description="Of B's users in a group, the largest share that may be at A too."
    )
    min_b: Share = parameter(
        public=True, description="Of B's users in a group, the smallest share that may be at A too."
    )
    scope: Scope = parameter(
        "qi+sa",
        public=True,
        description="Whether B's shares hold for each sensitive value of a group (qi+sa), or for groups as a whole (qi: weaker).",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for side, least, most in (("a", self.min_a, self.max_a), ("b", self.min_b, self.max_b)):
            if least.share > most.share:
                raise ValueError(f"min_{side} is {least} and max_{side} is {most}; expected that min is not above max")
        return self
