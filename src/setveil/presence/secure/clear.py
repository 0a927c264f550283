"""The clear backend: both providers send each other everything and count in the clear.

It defines the right answers, and is fast enough for hundreds of trials of the protocol. It protects nothing, so it runs only on lines
whose ends are in the same process.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.errors import BadParameter
from setveil.presence.secure.base import CollectorSide, Level, Provider, Session
from setveil.presence.secure.rules import SCORE_UNIT
from setveil.presence.secure.tallies import (
    CommonUsers,
    checked_rules,
    checked_scores,
    checked_widths,
    group_of_each,
    group_sums,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.channel import Channel
    from setveil.presence.secure.rules import Linear, Rules

NAME = "clear"


def _only_in_one_process(*lines: Channel | None) -> None:
    if not all(line.in_one_process for line in lines if line is not None):
        raise BadParameter(
            "the backend clear shows each provider the data of the other provider, so it runs inside one process only; choose two-party or "
            "mpyc for a run over a network"
        )


class ClearSession(Session):
    """One provider's end, which sees the data of both providers."""

    name = NAME

    def __init__(self, role: Provider, rules: Rules, peer: Channel, collector: Channel | None = None) -> None:
        super().__init__(role, checked_rules(rules))
        _only_in_one_process(peer, collector)
        self._peer = peer
        self._collector = collector
        self._in_a = self._in_b = np.empty(0, dtype=np.bool_)
        self._value = np.empty(0, dtype=np.int64)
        self._common: CommonUsers | None = None

    def begin(self, existing: NDArray[np.bool_], sensitive: NDArray[np.int64] | None) -> None:
        """Send the other provider which ids exist here, and receive the same."""
        self._in_a, self._in_b = self._both("existing", existing.astype(np.bool_))
        if self.role == "b":
            if sensitive is None:
                raise BadParameter("the sensitive values are missing; provider B must give one for each of its users")
            self._peer.send("sensitive", sensitive.astype("<i8").tobytes())
            self._value = np.where(self._in_b, sensitive, 0)
        else:
            received = np.frombuffer(self._peer.receive("sensitive", 8 * self.rules.population), dtype="<i8")
            self._value = np.where(self._in_b, received, 0)

    def root(self) -> bool:
        """Open whether the whole population satisfies the rules of the root."""
        everyone = Level(ids=np.arange(self.rules.population), starts=np.array([0, self.rules.population]))
        numbers = self._numbers(everyone, np.ones(self.rules.population, dtype=np.bool_))
        self._common = CommonUsers(numbers[0, 1 + self.rules.values :])
        return bool(self._satisfied(self.rules.root, numbers)[0])

    def wider(self, mine: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Open for each group whether A's number is at least B's."""
        of_a, of_b = self._both("wider", checked_widths(mine, self.rules.widest).astype("<i8"))
        return np.asarray(of_a >= of_b)

    def winners(
        self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_], scores: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Open for each group the first of the best cuts."""
        mine = owned_by_a if self.role == "a" else ~owned_by_a
        scores_of_a, scores_of_b = self._both("scores", checked_scores(scores, mine).astype("<i8"))
        lower_of_a, lower_of_b = self._both("lower", lower.astype(np.bool_))
        group = group_of_each(level)
        at_a = owned_by_a[group]
        chosen = np.where(at_a[:, None], lower_of_a, lower_of_b)
        dummy = ~np.where(at_a, self._in_b[level.ids], self._in_a[level.ids])
        own = np.where(owned_by_a[:, None], scores_of_a, scores_of_b)
        if self.rules.faithful:
            return np.asarray(np.argmax(own + self._printed_entropies(level, chosen), axis=1))
        below = group_sums((chosen & dummy[:, None]).astype(np.int32), level.starts)
        above = group_sums(dummy.astype(np.int32), level.starts)[:, None] - below
        sizes = level.sizes[:, None]
        entropy = self.rules.entropies(below, sizes) + self.rules.entropies(above, sizes)
        return np.asarray(np.argmax(own + entropy, axis=1))

    def _printed_entropies(self, level: Level, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the entropies of both providers' dummies as printed in the paper: relative to the part, or to the largest candidate."""
        sizes = level.sizes[:, None]
        members = group_sums(chosen.astype(np.int32), level.starts)
        parts = (sizes, sizes) if self.rules.entropy_of == "parent" else (members, sizes - members)
        total = np.zeros(members.shape, dtype=np.int64)
        for existing in (self._in_a, self._in_b):
            dummy = ~existing[level.ids]
            below = group_sums((chosen & dummy[:, None]).astype(np.int32), level.starts)
            above = group_sums(dummy.astype(np.int32), level.starts)[:, None] - below
            entropy = self.rules.entropies(below, parts[0]) + self.rules.entropies(above, parts[1])
            if self.rules.normalise == "max":
                # The weight includes the constant bound 2/e; dividing by the largest entropy instead gives it (1 - alpha) / 2.
                largest = np.maximum(entropy.max(axis=1, keepdims=True), 1)
                entropy = np.rint(entropy / largest * (self.rules.entropy_weight * 2 / math.e) * SCORE_UNIT).astype(
                    np.int64
                )
            total += entropy
        return total

    def verdicts(self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Open for each group whether both parts satisfy the rules."""
        state = self._state
        lower_of_a, lower_of_b = self._both("lower", lower.astype(np.bool_))
        chosen = np.where(owned_by_a[group_of_each(level)], lower_of_a, lower_of_b)
        below, above = self._numbers(level, chosen), self._numbers(level, ~chosen)
        state.lower = below[:, 1 + self.rules.values :]
        return self._satisfied(self.rules.part, below) & self._satisfied(self.rules.part, above)

    def descend(self, level: Level, passed: NDArray[np.bool_], lower: NDArray[np.bool_]) -> None:  # noqa: ARG002
        """Continue with the parts of the groups that passed."""
        self._state.descend(passed)

    def counts(self, order: NDArray[np.int64], to: Literal["b", "c"]) -> NDArray[np.int64] | None:
        """Open c[s] of the final groups; only B sends them to the collector, because both providers know the same counts."""
        numbers = self._state.final[order]
        if to == "b":
            return numbers if self.role == "b" else None
        if self._collector is None:
            raise BadParameter("counts_to is c, and there is no line to the collector; give the session a line to it")
        if self.role == "b":
            self._collector.send("counts", numbers.astype("<i8").tobytes())
        return None

    def close(self) -> None:
        """Nothing was started."""

    @property
    def _state(self) -> CommonUsers:
        if self._common is None:
            raise BadParameter("the session has no groups yet; call root() first")
        return self._common

    def _both(self, kind: str, mine: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Exchange arrays of the same shape with the peer, and return A's and B's."""
        self._peer.send(kind, mine.tobytes())
        theirs = np.frombuffer(self._peer.receive(kind, mine.nbytes), dtype=mine.dtype).reshape(mine.shape)
        return (mine, theirs) if self.role == "a" else (theirs, mine)

    def _numbers(self, level: Level, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return a, b[s] and c[s] of the chosen ids of each group."""
        ids, cells = level.ids[chosen], level.groups * self.rules.values
        group = group_of_each(level)[chosen]
        at_a, at_b = self._in_a[ids], self._in_b[ids]
        cell = group * self.rules.values + self._value[ids]
        a = np.bincount(group[at_a], minlength=level.groups)
        b = np.bincount(cell[at_b], minlength=cells).reshape(level.groups, -1)
        c = np.bincount(cell[at_a & at_b], minlength=cells).reshape(level.groups, -1)
        return np.concatenate([a[:, None], b, c], axis=1)

    def _satisfied(self, linear: Linear, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        occurring = (numbers[:, 1 + self.rules.values :] > 0).sum(axis=1)
        enough = occurring >= self.rules.least_values if self.rules.least_values > 1 else True
        return np.asarray((linear.values(numbers) >= 0).all(axis=1) & enough)


class ClearCollectorSide(CollectorSide):
    """The collector's end, which receives the counts from B."""

    def __init__(self, a: Channel, b: Channel) -> None:
        _only_in_one_process(a, b)
        self._b = b

    def counts(self, groups: int, values: int) -> NDArray[np.int64]:
        """Return c[s] of the final groups."""
        received = np.frombuffer(self._b.receive("counts", 8 * groups * values), dtype="<i8")
        return received.astype(np.int64).reshape(groups, values)

    def close(self) -> None:
        """Nothing was started."""
