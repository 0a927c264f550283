"""One provider's end of the two-party computation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.data.records.ragged import offsets_of
from setveil.errors import BadParameter, PeerFailed
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.coin import toss
from setveil.presence.secure.base import Level, Provider, Session
from setveil.presence.secure.tallies import CommonUsers, checked_rules, checked_scores, checked_widths
from setveil.presence.secure.two_party import circuits, half_gates, scoring
from setveil.presence.secure.two_party.extension import Chooser, Sender
from setveil.presence.secure.two_party.gates import ands_of, bits_of
from setveil.presence.secure.two_party.hashing import FixedKeyHash, Tweaks
from setveil.presence.secure.two_party.opening import Opened, Openings
from setveil.presence.secure.two_party.people import People

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.channel import Channel
    from setveil.presence.secure.rules import Linear, Rules
    from setveil.presence.secure.two_party.gates import Circuit

NAME = "two-party"
MOST_ANDS = 1 << 20
"""ANDs that are garbled at a time: messages of 32 MiB."""


class TwoPartySession(Session):
    """One provider's end. A is the garbler, B the evaluator; in oblivious transfers, each is the sender of one direction."""

    name = NAME

    def __init__(self, role: Provider, rules: Rules, peer: Channel, collector: Channel | None = None) -> None:
        super().__init__(role, checked_rules(rules))
        self._ring = np.dtype(np.uint32 if rules.ring_bits <= 32 else np.uint64)
        self._peer = peer
        self.openings = Openings(role, peer, collector)
        self._root_circuit = self._rules_circuit(rules.root, parts=1)
        self._part_circuit = self._rules_circuit(rules.part, parts=2)
        self._people: People | None = None
        self._common: CommonUsers | None = None

    def begin(self, existing: NDArray[np.bool_], sensitive: NDArray[np.int64] | None) -> None:
        """Draw the key of the hash with a joint coin, do the base transfers of both directions, and make the fixed rows."""
        people = People(self.role, self.rules, existing, sensitive)
        coin = toss(self.role, self._peer, b"hash key")
        hashing = FixedKeyHash(coin[:16])
        from_a = (self._peer, coin + b"from a", hashing, Tweaks(1))
        from_b = (self._peer, coin + b"from b", hashing, Tweaks(2))
        if self.role == "a":
            self._sender = Sender(*from_a)
            self._chooser = Chooser(*from_b)
        else:
            self._chooser = Chooser(*from_a)
            self._sender = Sender(*from_b)
        people.exchange(self._sender, self._chooser)
        self._people = people

    def root(self) -> bool:
        """Open whether the whole population satisfies the rules of the root, after sharing its c[s]."""
        everyone = np.arange(self.rules.population)
        starts = np.array([0, len(everyone)])
        people = self._begun
        if self.role == "b":
            shares = people.lower_of_mine(everyone, starts, np.ones(len(everyone), dtype=np.bool_), self._ring)
        else:
            shares = people.lower_of_theirs(everyone, starts, self._ring)
        self._common = CommonUsers(self._common_of(shares)[0])
        numbers = self._whole(everyone, starts, self._common.open)
        kept = self._opened(Opened.ROOT, self._root_circuit, self._rule_numbers(self.rules.root, [numbers]), self._bits)
        return bool(kept[0, 0])

    def wider(self, mine: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Open for each group whether A's number is at least B's."""
        numbers = checked_widths(mine, self.rules.widest)
        signed = numbers if self.role == "a" else -numbers
        return self._opened(Opened.WIDER, circuits.not_negative, signed[None], self.rules.widest.bit_length() + 1)[0, :]

    def winners(
        self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_], scores: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Open for each group the first of the best cuts."""
        candidates = self.rules.candidates
        mine = owned_by_a if self.role == "a" else ~owned_by_a
        shares = checked_scores(scores, mine).astype(np.uint32)
        if candidates == 1 or not level.groups:
            return np.zeros(level.groups, dtype=np.int64)
        of_mine, at_mine = self._some(level, mine)
        of_theirs, _ = self._some(level, ~mine)
        asked = scoring.OwnScores(self._begun, self._chooser, of_mine, lower[at_mine])
        shares[~mine] = scoring.answer(self._begun, self._sender, self.rules, of_theirs)
        shares[mine] += asked.receive()
        # If the number of candidates is not a power of two, copies of the last candidate are added, which lose against it.
        places = np.minimum(np.arange(1 << (candidates - 1).bit_length()), candidates - 1)
        bits = self._opened(Opened.WINNER, circuits.best_candidate, shares.T[places], self.rules.score_bits)
        found = (bits * (1 << np.arange(len(bits)))[:, None]).sum(axis=0)
        if found.max() >= candidates:
            raise PeerFailed(PARTY_NAMES[self._peer.peer], "opened a candidate that does not exist")
        return np.asarray(found)

    def verdicts(self, level: Level, owned_by_a: NDArray[np.bool_], lower: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Open for each group whether both parts satisfy the rules."""
        state, people = self._state, self._begun
        mine = owned_by_a if self.role == "a" else ~owned_by_a
        of_mine, at_mine = self._some(level, mine)
        of_theirs, _ = self._some(level, ~mine)
        below = np.empty((level.groups, 1 + 2 * self.rules.values), dtype=self._ring)
        below[mine] = people.lower_of_mine(of_mine.ids, of_mine.starts, lower[at_mine], self._ring)
        below[~mine] = people.lower_of_theirs(of_theirs.ids, of_theirs.starts, self._ring)
        state.lower = self._common_of(below)
        above = self._whole(level.ids, level.starts, state.open) - below
        numbers = self._rule_numbers(self.rules.part, [below, above])
        return self._opened(Opened.VERDICT, self._part_circuit, numbers, self._bits)[0, :]

    def descend(self, level: Level, passed: NDArray[np.bool_], lower: NDArray[np.bool_]) -> None:  # noqa: ARG002
        """Continue with the parts of the groups that passed."""
        self._state.descend(passed)

    def counts(self, order: NDArray[np.int64], to: Literal["b", "c"]) -> NDArray[np.int64] | None:
        """Open c[s] of the final groups; a population is below 2^32, so shares are sent modulo 2^32 whatever the ring."""
        found = self.openings.reveal(Opened.COUNTS, self._state.final[order].astype(np.uint32), to)
        if found is not None and found.size and found.sum(dtype=np.uint64) > self.rules.population:
            raise PeerFailed(PARTY_NAMES[self._peer.peer], "opened counts beyond the population")
        return None if found is None else found.astype(np.int64)

    def close(self) -> None:
        """Nothing was started."""

    @property
    def _begun(self) -> People:
        if self._people is None:
            raise BadParameter("the session has not begun; call begin() first")
        return self._people

    @property
    def _state(self) -> CommonUsers:
        if self._common is None:
            raise BadParameter("the session has no groups yet; call root() first")
        return self._common

    @property
    def _bits(self) -> int:
        return self.rules.ring_bits

    def _rules_circuit(self, linear: Linear, parts: int) -> Circuit:
        rules = parts * len(linear.constants)
        return partial(circuits.keeps_rules, rules=rules, parts=parts, least_values=self.rules.least_values)

    def _common_of(self, numbers: NDArray[Any]) -> NDArray[Any]:
        return numbers[:, 1 + self.rules.values :].copy()

    def _whole(self, ids: NDArray[np.int64], starts: NDArray[np.int64], common: NDArray[Any]) -> NDArray[Any]:
        """Return the own share of the numbers of groups that both know."""
        numbers = self._begun.whole(ids, starts, self._ring)
        numbers[:, 1 + self.rules.values :] = common
        return numbers

    def _rule_numbers(self, linear: Linear, parts: list[NDArray[Any]]) -> NDArray[Any]:
        """Return the own share of the values that must not be negative (numbers x groups), as input of the rules circuit."""
        weights = linear.weights.astype(self._ring)
        # Only A adds the constants, because the shares are added.
        constants, one = linear.constants.astype(self._ring), np.ones(1, dtype=self._ring)
        if self.role == "b":
            constants, one = 0 * constants, 0 * one
        numbers = [(part @ weights.T + constants).T for part in parts]
        if self.rules.least_values > 1:
            occurring = np.stack([self._common_of(part).T - one for part in parts], axis=1)
            numbers.append(occurring.reshape(-1, occurring.shape[2]))
        return np.concatenate(numbers)

    def _some(self, level: Level, which: NDArray[np.bool_]) -> tuple[scoring.Some, NDArray[np.bool_]]:
        """Return the selected groups, and which ids of the level belong to them."""
        sizes = level.sizes
        at = np.repeat(which, sizes)
        return scoring.Some(level.ids[at], offsets_of(sizes[which])), at

    def _opened(self, what: Opened, circuit: Circuit, numbers: NDArray[Any], width: int) -> NDArray[np.bool_]:
        """Run a circuit on shared numbers (numbers x batch) and open its answer (bits x batch)."""
        count, batch = numbers.shape
        at_once = max(1, MOST_ANDS // max(1, ands_of(circuit, width, count)))
        answers = []
        for begin in range(0, batch, at_once):
            mine = bits_of(numbers[:, begin : begin + at_once], width)
            if self.role == "a":
                share = half_gates.garble(self._sender, circuit, mine)
            else:
                share = half_gates.evaluate(self._chooser, circuit, mine)
            answers.append(self.openings.reveal(what, share, "both"))
        return np.concatenate([answer for answer in answers if answer is not None] or [numbers[:1] > 0], axis=1)
