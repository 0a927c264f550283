"""What a provider asks of secure computation, and nothing more.

A session stands between two providers who call the same functions in the same order, each with what it alone knows. Only what a function
returns becomes known, and each provider writes that to its ledger of openings. Everything else stays shared between them.

The numbers of a group g: a = users of A, b[s] = users of B with sensitive value s, c[s] = users of both with that value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from setveil.presence.secure.rules import Rules

Provider = Literal["a", "b"]


@dataclass(frozen=True, repr=False)
class Level:
    """The open groups of one level, as both providers know them."""

    ids: NDArray[np.int64]
    """Positions in the population, group after group; the order within a group is public."""
    starts: NDArray[np.int64]
    """Where each group begins in `ids`, and the end of the last."""

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many ids each group has."""
        return self.starts[1:] - self.starts[:-1]


class Session(ABC):
    """One provider's end of the secure computation.

    The order of calls: `begin`, `root`, and then for each level `wider`, perhaps `winners`, `verdicts`; at the end `counts`. Groups of the
    next level are the lower and the upper part of each group that passed, in the order of the groups. A group that did not pass is final;
    final groups are numbered in the order in which they became so.
    """

    name: str

    def __init__(self, role: Provider, rules: Rules) -> None:
        self.role = role
        self.rules = rules

    @abstractmethod
    def begin(self, existing: NDArray[np.bool_], sensitive: NDArray[np.int64] | None) -> None:
        """Take in who of the population exists here, and at B the sensitive value of each (-1 for those who do not)."""

    @abstractmethod
    def root(self) -> bool:
        """Open whether the whole population as one group keeps the rules of the root."""

    @abstractmethod
    def wider(self, mine: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Open for each group whether A's number is at least B's; numbers are from 0 to `rules.widest`."""

    @abstractmethod
    def winners(
        self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_], scores: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Open for each group the candidate cut with the highest score, the first of equal ones.

        `lower` (ids x candidates) says who would be in the lower part, and `scores` (groups x candidates) holds the owner's part of the
        score; both count at the groups that this provider owns. To these the part of the other's dummies is added, with d of them in the
        lower part and e in the upper: `rules.entropy(size)[d] + rules.entropy(size)[e]`.
        """

    @abstractmethod
    def verdicts(self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Open for each group whether both parts keep the rules; `lower` (ids) counts at the groups that this provider owns."""

    @abstractmethod
    def descend(self, level: Level, passed: NDArray[np.bool_], lower: NDArray[np.bool_]) -> None:
        """Take note of the parts of the groups that passed, which both know now (`lower` holds for all of their ids)."""

    @abstractmethod
    def counts(self, order: NDArray[np.int64], to: Literal["b", "c"]) -> NDArray[np.int64] | None:
        """Open c[s] of the final groups, in that order (groups x values), to B or to the collector alone; others get None."""

    @abstractmethod
    def close(self) -> None:
        """End what the session started, such as child processes."""


class CollectorSide(ABC):
    """What the collector does in the secure computation: with most backends, receive the counts and no more."""

    def follow(self) -> None:  # noqa: B027 - most backends have nothing to do here
        """Take part in what the providers compute, until they open the counts or end; called when the providers' sessions begin.

        Until it returns, the lines to both providers belong to the secure computation.
        """

    @abstractmethod
    def counts(self, groups: int, values: int) -> NDArray[np.int64]:
        """Return c[s] of the final groups, in the order that the providers chose (groups x values)."""

    @abstractmethod
    def close(self) -> None:
        """End what it started."""
