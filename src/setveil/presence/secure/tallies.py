"""Numbers of groups: sums over their ids, and which groups are open or final.

Both the clear and the two-party backend keep the numbers of users of both providers here: the one as they are, the other its share of them.
Sums wrap around where the type of the numbers does, as shares must.
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
"""What an owner's part of a score may be at most, up or down; twice that, with the part of the dummies, fits the bits of a score."""


def group_sums(values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the sums of rows group after group; a group without rows has 0."""
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
    """Return rules as they are, or refuse those whose numbers are too long, and populations without end."""
    bits = rules.ring_bits
    if bits > MOST_RING_BITS:
        raise BadParameter(
            f"the rules need numbers of {bits} bits, and at most {MOST_RING_BITS} can be; give the shares as smaller fractions"
        )
    if not 0 < rules.population < MOST_POPULATION:
        raise BadParameter(f"a population has 1 to {MOST_POPULATION - 1} ids, and {rules.population} were given")
    return rules


def checked_scores(scores: NDArray[np.int64], owned: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the owner's part of the scores, 0 where another is the owner, or refuse numbers that the score's bits do not hold."""
    mine = np.where(owned[:, None], scores, 0)
    if mine.size and np.abs(mine).max() > MOST_SCORE:
        raise BadParameter(f"a score is given beyond {MOST_SCORE}, the most that a score's bits hold")
    return mine


def checked_widths(mine: NDArray[np.int64], widest: int) -> NDArray[np.int64]:
    """Return widths as they are, or refuse those outside their limits."""
    if mine.size and (mine.min() < 0 or mine.max() > widest):
        raise BadParameter(f"widths are whole numbers from 0 to {widest}, and others were given")
    return mine


class CommonUsers:
    """c[s] of the groups that are open and of those that are final, or one provider's share of these numbers."""

    def __init__(self, root: NDArray[Any]) -> None:
        self.open = root[None, :]
        self.lower: NDArray[Any] | None = None
        """Of the lower parts on which a verdict was given last."""
        self._final: list[NDArray[Any]] = []

    def descend(self, passed: NDArray[np.bool_]) -> None:
        """Put both parts of the groups that passed in their place; the others are final."""
        if self.lower is None or len(passed) != len(self.open):
            raise BadParameter("descend comes after verdicts, with a bit for each of the same groups")
        lower = self.lower[passed]
        self._final.append(self.open[~passed])
        parts = np.stack([lower, self.open[passed] - lower], axis=1)
        self.open = parts.reshape(-1, self.open.shape[1])
        self.lower = None

    @property
    def final(self) -> NDArray[Any]:
        """The numbers of the final groups, in the order in which they became so."""
        return np.concatenate([self.open[:0], *self._final])
