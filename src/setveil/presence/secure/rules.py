"""The public rules of a run, as numbers: what both parts of a group must keep, and how scores are counted.

A rule says that a sum of the numbers of a group, each times a public whole number, is not negative: `c >= k`, `d*c >= n*a` and so on.
Nothing is divided, so nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDEST = 1 << 20
"""Widths of attributes are told as shares of this."""
SCORE_UNIT = 1 << 16
"""Scores are whole numbers; this is one."""
MOST_RING_BITS = 62


@dataclass(frozen=True)
class Linear:
    """Rules of a group: a row each. With v = (a, b[0..S-1], c[0..S-1]), `weights @ v + constants` must not be negative anywhere."""

    weights: NDArray[np.int64]
    constants: NDArray[np.int64]

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what must not be negative, for groups of known numbers (groups x (1 + 2S))."""
        return numbers @ self.weights.T + self.constants


@dataclass(frozen=True)
class Rules:
    """What a run agrees on, in the numbers that secure computation needs."""

    population: int
    values: int
    """S: how many sensitive values there are."""
    candidates: int
    """How many cuts are scored in a group."""
    root: Linear
    part: Linear
    least_values: int
    """l: how many sensitive values at least occur among the common users of a part; 1 asks for nothing that k does not."""
    entropy_weight: float
    """What the dummies' entropy of one provider weighs in the score, divided by its bound 2/e: (1 - alpha) / 2 * e / 2."""

    entropy_of: Literal["parent", "child"] = "parent"
    """Whether dummies count as a share of the group, or of the part they are in."""
    normalise: Literal["constant", "max"] = "constant"
    """Whether an entropy is divided by its bound 2/e, or by the largest of a group's candidates."""

    widest: int = WIDEST

    @property
    def faithful(self) -> bool:
        """Whether scores are counted as printed, which only the clear computation can."""
        return self.entropy_of == "child" or self.normalise == "max"

    @property
    def ring_bits(self) -> int:
        """The bits of a signed number that holds every value of every rule, and the size of the population."""
        most = self.population + 1
        for linear in (self.root, self.part):
            weights = np.abs(linear.weights)
            of_a, of_b, of_both = np.split(weights, [1, 1 + self.values], axis=1)
            reach = sum(part.max(axis=1).astype(object) for part in (of_a, of_b, of_both)) * self.population
            most = max([most, *map(int, reach + np.abs(linear.constants))])
        return 1 + most.bit_length()

    @property
    def score_bits(self) -> int:
        """The bits of a signed number that holds the difference of any two scores."""
        return 2 + (4 * SCORE_UNIT).bit_length()

    def entropy(self, size: int) -> NDArray[np.int64]:
        """Return for 0 to `size` dummies in one part of a group of that size what they add to the score."""
        return self.entropies(np.arange(size + 1), np.full(size + 1, size))

    def entropies(self, dummies: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for numbers of dummies in one part of groups of those sizes what they add to the score, all at once."""
        share = dummies.astype(np.float64) / np.maximum(sizes, 1)
        logs = np.log(share, out=np.zeros(share.shape), where=share > 0)
        return np.rint(-share * logs * self.entropy_weight * SCORE_UNIT).astype(np.int64)
