"""The interface between a provider and the secure computation.

A session connects two providers that call the same functions in the same order, each with the values that only it knows. Only the return
values become known, and each provider writes them to its ledger of openings. Everything else remains secret-shared between them.

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
    """Positions in the population, group by group; the order within a group is public."""
    starts: NDArray[np.int64]
    """The start of each group in `ids`, and the end of the last."""

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of ids in each group."""
        return self.starts[1:] - self.starts[:-1]


class Session(ABC):
    """One provider's end of the secure computation.

    The order of calls: `begin`, `root`; then for each level `wider`, `winners` (optional), `verdicts` and `descend`; at the end `counts`.
    The groups of the next level are the lower and the upper part of each group that passed, in the order of the groups. A group that did
    not pass is final; final groups are numbered in the order in which they became final.
    """

    name: str

    def __init__(self, role: Provider, rules: Rules) -> None:
        self.role = role
        self.rules = rules

    @abstractmethod
    def begin(self, existing: NDArray[np.bool_], sensitive: NDArray[np.int64] | None) -> None:
        """Input which ids of the population are users of this provider, and at provider B the sensitive value of each (-1 for the rest)."""

    @abstractmethod
    def root(self) -> bool:
        """Open whether the whole population, as one group, satisfies the rules of the root."""

    @abstractmethod
    def wider(self, mine: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Open for each group whether A's number is at least B's; numbers range from 0 to `rules.widest`."""

    @abstractmethod
    def winners(
        self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_], scores: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Open for each group the candidate cut with the highest score, the first of equal ones.

        `lower` (ids x candidates) states which ids would be in the lower part, and `scores` (groups x candidates) holds the owner's part of
        the score; both are used for the groups that this provider owns. The part of the other provider's dummies is added, with d of
        them in the lower part and e in the upper part: `rules.entropy(size)[d] + rules.entropy(size)[e]`.
        """

    @abstractmethod
    def verdicts(self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Open for each group whether both parts satisfy the rules; `lower` (ids) is used for the groups that this provider owns."""

    @abstractmethod
    def descend(self, level: Level, passed: NDArray[np.bool_], lower: NDArray[np.bool_]) -> None:
        """Continue with the parts of the groups that passed, which both providers know now (`lower` holds for all of their ids)."""

    @abstractmethod
    def counts(self, order: NDArray[np.int64], to: Literal["b", "c"]) -> NDArray[np.int64] | None:
        """Open c[s] of the final groups, in that order (groups x values), to B only or to the collector only; others get None."""

    @abstractmethod
    def close(self) -> None:
        """End what the session started, such as child processes."""


class CollectorSide(ABC):
    """The collector's end of the secure computation: with most backends, it only receives the counts."""

    def follow(self) -> None:  # noqa: B027 - most backends have nothing to do here
        """Take part in the providers' computation until they open the counts or end; called when the providers' sessions begin.

        Until it returns, only the secure computation may use the lines to both providers.
        """

    @abstractmethod
    def counts(self, groups: int, values: int) -> NDArray[np.int64]:
        """Return c[s] of the final groups, in the order that the providers chose (groups x values)."""

    @abstractmethod
    def close(self) -> None:
        """End what this side started, such as child processes."""
