"""The backend `mpyc`: the providers and the collector compute together with the library MPyC, each in its own process.

Two of the three must not cooperate: A and the collector together could reveal the users of B, and B and the collector the users of A.

The collector takes part in every step, so it must receive the public part of each. The providers order the population in a way that only
they know, so that the collector sees groups of positions, not of ids: their sizes, their divisions, and the owners of cuts.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.errors import BadParameter, PeerFailed, SetveilError
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.secure import mpyc_frames as frames
from setveil.presence.secure.base import CollectorSide, Level, Provider, Session
from setveil.presence.secure.mpyc_relay import PATIENCE, Relay
from setveil.presence.secure.rules import MOST_RING_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.presence.channel import Channel
    from setveil.presence.secure.rules import Rules

    Arrays = Sequence[NDArray[Any]]

NAME = "mpyc"
_STEP, _ORDER = "mpyc-step", "mpyc-order"
_KEY_BYTES = 32
_NUMBER_OF = {"b": 1, "c": 2}


class MpycSession(Session):
    """One provider's end."""

    name = NAME

    def __init__(
        self, role: Provider, rules: Rules, peer: Channel, collector: Channel, *, patience: float = PATIENCE
    ) -> None:
        super().__init__(role, rules)
        _refuse_wide(rules)
        self._peer = peer
        self._collector = collector
        self._place = np.zeros(0, np.int64)
        self._ended = False
        self._relay = Relay(role, rules, [peer, collector], patience=patience)

    def begin(self, existing: NDArray[np.bool_], sensitive: NDArray[np.int64] | None) -> None:
        """Agree with the other provider on an order of the population, and secret-share which ids are users."""
        self._place = self._agree_on_order(len(existing))
        by_place = np.argsort(self._place)
        mine = existing
        if self.role == "b":
            assert sensitive is not None
            mine = existing[:, None] & (sensitive[:, None] == np.arange(self.rules.values))
        self._step({"step": "begin"}, [], [mine[by_place]])

    def root(self) -> bool:
        """Open whether the whole population satisfies the rules of the root."""
        return bool(self._step({"step": "root"}, [], [])[0].all())

    def wider(self, mine: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Open for each group whether A's number is at least B's."""
        wider: NDArray[np.bool_] = self._step({"step": "wider"}, [], [mine.astype(np.int64)])[0] == 1
        return wider

    def winners(
        self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_], scores: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Open for each group the first candidate with the highest score."""
        header = {"step": "winners", "candidates": scores.shape[1]}
        mine = [lower[self._in_places(level)], scores.astype(np.int64)]
        return self._step(header, [owned_by_a], mine)[0]

    def verdicts(self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Open for each group whether both parts satisfy the rules."""
        return self._step({"step": "verdicts"}, [owned_by_a], [lower[self._in_places(level)]])[0]

    def descend(self, level: Level, passed: NDArray[np.bool_], lower: NDArray[np.bool_]) -> None:
        """Continue with the parts of the groups that passed; nothing about the other groups is sent."""
        known = lower[self._in_places(level)][np.repeat(passed, level.sizes)]
        self._step({"step": "descend"}, [passed, known], [])

    def counts(self, order: NDArray[np.int64], to: Literal["b", "c"]) -> NDArray[np.int64] | None:
        """Open the numbers of common users of the final groups to B or to the collector; this ends the session."""
        opened = self._step({"step": "counts", "to": _NUMBER_OF[to]}, [order.astype(np.int64)], [])
        self._ended = True
        return opened[0] if opened else None

    def close(self) -> None:
        """End the process, and inform a collector that still takes part that there are no more steps."""
        if not self._ended:
            self._ended = True
            with contextlib.suppress(SetveilError):
                self._collector.send(_STEP, frames.pack({"step": "stop", "public": 0}))
        self._relay.close()

    def _step(self, header: dict[str, Any], public: Arrays, mine: Arrays) -> list[NDArray[Any]]:
        """Send the collector the public part of a step, and do the step."""
        header["public"] = len(public)
        try:
            self._collector.send(_STEP, frames.pack(header, public))
            return self._relay.ask(header, [*public, *mine])
        except BaseException as error:
            self._ended = True
            self._relay.abort(error)
            raise

    def _agree_on_order(self, population: int) -> NDArray[np.int64]:
        """Return the position of each id in an order that A draws and sends to B only."""
        if self.role == "a":
            key = secrets.token_bytes(_KEY_BYTES)
            self._peer.send(_ORDER, key)
        else:
            key = self._peer.receive(_ORDER, _KEY_BYTES)
        drawn = np.frombuffer(hashlib.shake_256(key).digest(8 * population), "<u8")
        place = np.empty(population, np.int64)
        place[np.argsort(drawn, kind="stable")] = np.arange(population)
        return place

    def _in_places(self, level: Level) -> NDArray[np.int64]:
        """Return the order in which the processes hold the ids of a level: by group, then by position."""
        group = np.repeat(np.arange(level.groups), level.sizes)
        return np.lexsort((self._place[level.ids], group))


class MpycCollectorSide(CollectorSide):
    """The collector's end: the third party in every step, which learns the counts if they are opened to it."""

    def __init__(self, a: Channel, b: Channel, rules: Rules, *, patience: float = PATIENCE) -> None:
        _refuse_wide(rules)
        self._lines = (a, b)
        self._rules = rules
        self._counts: NDArray[np.int64] | None = None
        self._followed = False
        self._relay = Relay("c", rules, [a, b], patience=patience)

    def follow(self) -> None:
        """Take part in the providers' steps until they open the counts or end their sessions."""
        if self._followed:
            return
        self._followed = True
        try:
            while (step := self._next_step()) is not None:
                header, arrays = step
                answer = self._relay.ask(header, arrays)
                if header["step"] == "counts":
                    self._counts = answer[0] if answer else None
                    return
        except BaseException as error:
            self._relay.abort(error)
            raise

    def _next_step(self) -> tuple[dict[str, Any], list[NDArray[Any]]] | None:
        """Wait for the public part of the next step, which both providers send; None if there are no more steps."""
        # The longest step has one byte per id and one per group, or one number per final group.
        most = 1024 + 8 * self._rules.population
        message, other = (line.receive_at_most(_STEP, most) for line in self._lines)
        if message != other:
            raise PeerFailed(PARTY_NAMES["b"], "is at another step of the secure computation than provider A")
        try:
            header, arrays = frames.unpack(message)
            return None if header["step"] == "stop" else (header, arrays)
        except (ValueError, KeyError):
            raise PeerFailed(PARTY_NAMES["a"], "sent an unknown step of the secure computation") from None

    def counts(self, groups: int, values: int) -> NDArray[np.int64]:
        """Return the counts that were opened to the collector."""
        self.follow()
        if self._counts is None:
            raise PeerFailed(PARTY_NAMES["a"], "opened no counts to the collector")
        if self._counts.shape != (groups, values):
            raise PeerFailed(PARTY_NAMES["a"], "opened counts for another number of groups than it announced")
        return self._counts

    def close(self) -> None:
        """End the process."""
        self._relay.close()


def _refuse_wide(rules: Rules) -> None:
    if rules.ring_bits > MOST_RING_BITS:
        raise BadParameter(
            f"the rules require numbers of {rules.ring_bits} bits; at most {MOST_RING_BITS} are supported. Give the limits as fractions "
            "with smaller denominators"
        )
