"""The numbers of groups: sums over their ids, and which groups are open or final.

The clear backend stores the numbers of common users here, the two-party backend its shares of them. Sums wrap around with the type of the
numbers, as shares require.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.errors import BadParameter
from setveil.presence.secure.rules import MOST_RING_BITS, SCORE_UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.secure.base import Level
    from setveil.presence.secure.rules import Rules

MOST_POPULATION = 1 << 31
MOST_SCORE = 4 * SCORE_UNIT
"""The largest absolute value of an owner's part of a score; twice this, with the part of the dummies, fits the bits of a score."""


def group_sums(values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the sum of the rows of each group; 0 for a group without rows."""
    if not len(values):
        return np.zeros((len(starts) - 1, *values.shape[1:]), dtype=values.dtype)
    if (starts[1:] > starts[:-1]).all():
        return np.add.reduceat(values, starts[:-1], axis=0, dtype=values.dtype)
    running = np.zeros((len(values) + 1, *values.shape[1:]), dtype=values.dtype)
    np.cumsum(values, axis=0, dtype=values.dtype, out=running[1:])
    return running[starts[1:]] - running[starts[:-1]]


def group_of_each(level: Level) -> NDArray[np.int64]:
    """Return for each id of a level the number of its group."""
    return np.repeat(np.arange(level.groups), level.sizes)


def checked_rules(rules: Rules) -> Rules:
    """Return the rules unchanged; refuse rules that need too many bits, and populations that are empty or too large."""
    bits = rules.ring_bits
    if bits > MOST_RING_BITS:
        raise BadParameter(
            f"the rules require numbers of {bits} bits; at most {MOST_RING_BITS} are supported. Give the limits as fractions with smaller "
            "denominators"
        )
    if not 0 < rules.population < MOST_POPULATION:
        raise BadParameter(f"the population has {rules.population:,} ids; allowed is 1 to {MOST_POPULATION - 1:,}")
    return rules


def checked_scores(scores: NDArray[np.int64], owned: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the owner's part of the scores, 0 for groups that the peer owns; refuse numbers that do not fit the bits of a score."""
    mine = np.where(owned[:, None], scores, 0)
    if mine.size and np.abs(mine).max() > MOST_SCORE:
        raise BadParameter(
            f"a score is outside its limits; allowed is -{MOST_SCORE:,} to {MOST_SCORE:,}, which fits the bits of a score"
        )
    return mine


def checked_widths(mine: NDArray[np.int64], widest: int) -> NDArray[np.int64]:
    """Return the widths unchanged; refuse widths outside their limits."""
    if mine.size and (mine.min() < 0 or mine.max() > widest):
        raise BadParameter(f"a width is outside its limits; allowed is a whole number from 0 to {widest:,}")
    return mine


class CommonUsers:
    """c[s] of the open and of the final groups, or one provider's shares of these numbers."""

    def __init__(self, root: NDArray[Any]) -> None:
        self.open = root[None, :]
        self.lower: NDArray[Any] | None = None
        """The numbers of the lower parts of the last verdicts."""
        self._final: list[NDArray[Any]] = []

    def descend(self, passed: NDArray[np.bool_]) -> None:
        """Replace the groups that passed by their parts; the other groups are final."""
        if self.lower is None or len(passed) != len(self.open):
            raise BadParameter("descend() must follow verdicts(), with one bit for each of the same groups")
        lower = self.lower[passed]
        self._final.append(self.open[~passed])
        parts = np.stack([lower, self.open[passed] - lower], axis=1)
        self.open = parts.reshape(-1, self.open.shape[1])
        self.lower = None

    @property
    def final(self) -> NDArray[Any]:
        """The numbers of the final groups, in the order in which they became final."""
        return np.concatenate([self.open[:0], *self._final])
