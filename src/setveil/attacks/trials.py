"""How often an attacker is right, with intervals: the statistics that all attacks share.

An attack is tried three times, as in anonymeter (giomi2023): the main attack with the release, a naive attack without it, and, where it
makes sense, a control attack on people who are not in the release. What the main attack finds beyond the control comes from the release.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

LEVEL = 0.95
"""The confidence level of all intervals."""
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True)
class Trial:
    """A number of guesses and how many were right; a sum of chances to be right gives an interval that is too wide, never too narrow."""

    right: float
    tried: int
    is_exact: bool = False
    """Whether the rate is known and not estimated, so that its interval is a point."""
    best_of: int = 1
    """Number of attackers of which this is the best one; the interval is wider for more (Bonferroni)."""

    @classmethod
    def known(cls, rate: float, tried: int = 1) -> Trial:
        """Return a trial whose rate is known."""
        return cls(rate * tried, tried, is_exact=True)

    @classmethod
    def from_dict(cls, noted: Mapping[str, Any]) -> Trial:
        """Return the trial that was noted as plain values."""
        return cls(**{one.name: noted[one.name] for one in fields(cls) if one.name in noted})

    @property
    def rate(self) -> float:
        """The share of guesses that were right."""
        return self.right / self.tried if self.tried else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the rate (Wilson)."""
        if self.is_exact:
            return self.rate, self.rate
        if not self.tried:
            return 0.0, 1.0
        n, rate, z = self.tried, self.rate, NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / self.best_of)
        middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * (rate * (1 - rate) / n + z * z / (4 * n * n)) ** 0.5
        return max(middle - half, 0.0), min(middle + half, 1.0)

    def beats(self, other: Trial) -> bool:
        """Return whether the rate is above another one, with more than chance."""
        return difference(self, other)[0] > 0


def difference(one: Trial, other: Trial) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two rates (Newcombe 1998, method 10)."""
    (low, high), (other_low, other_high) = one.interval, other.interval
    middle = one.rate - other.rate
    below = ((one.rate - low) ** 2 + (other_high - other.rate) ** 2) ** 0.5
    above = ((high - one.rate) ** 2 + (other.rate - other_low) ** 2) ** 0.5
    return middle - below, middle + above


@dataclass(frozen=True)
class Excess:
    """What an attack finds beyond its control, as a share of what the control leaves open: (main - control) / (1 - control)."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, main: Trial, control: Trial) -> Excess:
        """Return the excess of a trial over its control."""
        left = max(1 - control.rate, 1e-12)
        low, high = difference(main, control)
        bounded = (max(-1.0, min(one / left, 1.0)) for one in (main.rate - control.rate, low, high))
        return cls(*bounded)
