"""The public rules of a run, as numbers: the conditions on both parts of a group, and the computation of scores.

A rule requires that a sum of the numbers of a group, each times a public whole number, is not negative: `c >= k`, `d*c >= n*a` and so on.
Nothing is divided, so nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDEST = 1 << 20
"""Widths of attributes are expressed as shares of this number."""
SCORE_UNIT = 1 << 16
"""The whole number that represents a score of 1."""
MOST_RING_BITS = 62


@dataclass(frozen=True)
class Linear:
    """The rules of a group, one row each. With v = (a, b[0..S-1], c[0..S-1]), no entry of `weights @ v + constants` may be negative."""

    weights: NDArray[np.int64]
    constants: NDArray[np.int64]

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the values that must not be negative, for groups with known numbers (groups x (1 + 2S))."""
        return numbers @ self.weights.T + self.constants


@dataclass(frozen=True)
class Rules:
    """The agreed rules of a run, as the numbers that secure computation needs."""

    population: int
    values: int
    """S: the number of sensitive values."""
    candidates: int
    """The number of cuts that are scored per group."""
    root: Linear
    part: Linear
    least_values: int
    """l: the minimum number of different sensitive values among the common users of a part; 1 requires nothing beyond k."""
    entropy_weight: float
    """The weight of the entropy of one provider's dummies in the score, divided by its bound 2/e: (1 - alpha) / 2 * e / 2."""

    entropy_of: Literal["parent", "child"] = "parent"
    """Whether dummies count as a share of the group (parent), or of the part that they are in (child)."""
    normalise: Literal["constant", "max"] = "constant"
    """Whether an entropy is divided by its bound 2/e (constant), or by the largest of the group's candidates (max)."""

    widest: int = WIDEST

    @property
    def faithful(self) -> bool:
        """Whether scores are computed as printed in the paper, which only the clear backend can."""
        return self.entropy_of == "child" or self.normalise == "max"

    @property
    def ring_bits(self) -> int:
        """The number of bits of a signed number that can hold every value of every rule, and the size of the population."""
        most = self.population + 1
        for linear in (self.root, self.part):
            weights = np.abs(linear.weights)
            of_a, of_b, of_both = np.split(weights, [1, 1 + self.values], axis=1)
            reach = sum(part.max(axis=1).astype(object) for part in (of_a, of_b, of_both)) * self.population
            most = max([most, *map(int, reach + np.abs(linear.constants))])
        return 1 + most.bit_length()

    @property
    def score_bits(self) -> int:
        """The number of bits of a signed number that can hold the difference of any two scores."""
        return 2 + (4 * SCORE_UNIT).bit_length()

    def entropy(self, size: int) -> NDArray[np.int64]:
        """Return the score contributions of 0 to `size` dummies in one part of a group of that size."""
        return self.entropies(np.arange(size + 1), np.full(size + 1, size))

    def entropies(self, dummies: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the score contributions of numbers of dummies in one part of groups of the given sizes."""
        share = dummies.astype(np.float64) / np.maximum(sizes, 1)
        logs = np.log(share, out=np.zeros(share.shape), where=share > 0)
        return np.rint(-share * logs * self.entropy_weight * SCORE_UNIT).astype(np.int64)
