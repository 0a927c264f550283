"""The dummy user protocol as one provider runs it, level by level, connected to the other provider.

Steps of a level, for all open groups at once: dummies get new rows; the providers compare the widths of their widest attributes, and the
one with the wider attribute owns the cut; cuts are scored and the best is chosen (formula 3); the rules are checked on the hidden parts,
and one bit per group is opened; only for groups that passed, the owner sends which ids are in the lower part. A group that did not pass is
final.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from setveil.base import progress
from setveil.data.records.ragged import offsets_of
from setveil.errors import GuaranteeViolated, PeerFailed
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.costs import LevelCost, stopwatch
from setveil.presence.cutting import Cutter
from setveil.presence.openings import Openings
from setveil.presence.secure.base import Level
from setveil.presence.tables.originals import SideGroups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.channel import Channel
    from setveil.presence.policy import Policy
    from setveil.presence.secure.base import Provider, Session
    from setveil.presence.tables.population import Population
    from setveil.presence.tables.provider_table import ProviderTable

ROOT_VIOLATES = (
    "the population as a whole does not satisfy the policy, so there is nothing to publish: there are fewer than k common users, or their "
    "share of a provider's users is outside its limits, or there are too few sensitive values or too few people at neither provider. Which "
    "of these is the case is not revealed. Find wider limits for the policy in a trial"
)


@dataclass(frozen=True)
class Divided:
    """The result of the division at one provider."""

    groups: SideGroups
    ways: tuple[bytes, ...]
    """The path from the root to each final group."""
    failed_lower: NDArray[np.int8] = field(repr=False)
    """For each id of the population: 1 for the lower and 0 for the upper part of the failed cut of its group, if this provider owned the
    cut; -1 otherwise."""
    levels: tuple[LevelCost, ...]
    unforeseen: int | None
    """The number of own cuts in which another candidate won than by the own part of the score: there the winner reveals most about the
    other provider's dummies. None for the score as printed in the paper, where the clear computation adds the parts of both providers."""
    openings: Openings = field(repr=False, default_factory=Openings)


@dataclass(repr=False)
class _Open:
    """The groups that may still be divided, as this provider knows them."""

    level: Level
    ways: list[bytes]
    lows: NDArray[np.int32]
    highs: NDArray[np.int32]


class ProviderProtocol:
    """One provider's run of the protocol."""

    def __init__(
        self,
        role: Provider,
        policy: Policy,
        table: ProviderTable,
        population: Population,
        key: bytes,
        session: Session,
        peer: Channel,
    ) -> None:
        policy.refuse_other(population)
        self._role: Provider = role
        self._policy = policy
        self._session = session
        self._peer = peer
        self._size = len(population)
        attributes = policy.schema.of(role)
        places = population.places(table.ids)
        codes = np.full((self._size, len(attributes)), -1, dtype=np.int32)
        codes[places] = table.codes
        self._existing = codes[:, 0] >= 0
        self._sensitive: NDArray[np.int64] | None = None
        if role == "b":
            assert table.sensitive is not None
            self._sensitive = np.full(self._size, -1, dtype=np.int64)
            self._sensitive[places] = table.sensitive
        self._cutter = Cutter(
            policy.method,
            session.rules,
            attributes,
            codes,
            population.blocks,
            key,
            bytes.fromhex(policy.division_sha256),
        )
        self._cells = np.array([one.cells for one in attributes], dtype=np.int32)
        self._openings = Openings()
        self._unforeseen = None if session.rules.faithful and policy.method.score == "both" else 0

    def divide(self) -> Divided:
        """Divide groups as long as both parts satisfy the rules."""
        session = self._session
        with progress.step("setting up the secure computation"):
            session.begin(self._existing, self._sensitive)
            kept = session.root()
        self._openings.note("root", [b""], [kept], "ab")
        if not kept:
            raise GuaranteeViolated(ROOT_VIOLATES)
        width = len(self._cells)
        open_ = _Open(
            Level(np.arange(self._size, dtype=np.int64), np.array([0, self._size], dtype=np.int64)),
            [b""],
            np.zeros((1, width), dtype=np.int32),
            self._cells[None, :].copy(),
        )
        final = _Final(self._size)
        levels: list[LevelCost] = []
        with progress.step("dividing groups", self._size) as advance:
            while open_.level.groups:
                with stopwatch(self._peer.traffic, levels, open_.level):
                    open_ = self._level(open_, final)
                advance(self._size - len(open_.level.ids))
        groups = SideGroups(final.group_of, np.vstack(final.lows), np.vstack(final.highs))
        return Divided(groups, tuple(final.ways), final.failed_lower, tuple(levels), self._unforeseen, self._openings)

    def _level(self, open_: _Open, final: _Final) -> _Open:
        level, ways = open_.level, open_.ways
        rows = self._cutter.rows(level, ways)
        attribute, width = self._cutter.widths(level, rows)
        owned_by_a = self._session.wider(width)
        self._openings.note("side", ways, ["a" if is_a else "b" for is_a in owned_by_a], "ab")
        mine = owned_by_a if self._role == "a" else ~owned_by_a
        place, lower = self._chosen(open_, rows, attribute, mine, owned_by_a)
        passed = self._session.verdicts(level, owned_by_a, lower)
        self._openings.note("pass", ways, passed.tolist(), "ab")
        failed_ids = level.ids[np.repeat(~passed & mine, level.sizes)]
        final.failed_lower[failed_ids] = lower[np.repeat(~passed & mine, level.sizes)]
        lower = self._exchange(level, passed & mine, passed & ~mine, lower)
        self._session.descend(level, passed, lower)
        final.take(open_, ~passed)
        return self._children(open_, passed, mine, attribute, place, lower)

    def _chosen(
        self,
        open_: _Open,
        rows: NDArray[np.int32],
        attribute: NDArray[np.int64],
        mine: NDArray[np.bool_],
        owned_by_a: NDArray[np.bool_],
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Choose the cut of each group; return its place and, for own cuts, the ids that would be in the lower part."""
        level, method = open_.level, self._policy.method
        cuts = self._cutter.cuts(level, open_.ways, rows, attribute)
        if method.score == "own":
            winners = cuts.scores.argmax(axis=1)
        else:
            candidates = cuts.lower(level)
            candidates[~np.repeat(mine, level.sizes)] = False
            scores = np.where(mine[:, None], cuts.scores, 0)
            winners = self._session.winners(level, owned_by_a, candidates, scores)
            self._openings.note("winner", open_.ways, winners.tolist(), "ab")
            if self._unforeseen is not None:
                self._unforeseen += int(np.count_nonzero(mine & (winners != cuts.scores.argmax(axis=1))))
        place, lower = cuts.chosen(level, np.where(mine, winners, 0))
        lower &= np.repeat(mine, level.sizes)
        return place, lower

    def _exchange(
        self, level: Level, sent: NDArray[np.bool_], received: NDArray[np.bool_], lower: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Send which ids are in the lower parts of the own groups that passed, and receive the same for the peer's groups."""
        send, receive = np.repeat(sent, level.sizes), np.repeat(received, level.sizes)
        if np.any(sent):
            self._peer.send("ids", np.packbits(lower[send]).tobytes())
        known = lower & send
        if np.any(received):
            count = int(receive.sum())
            packed = self._peer.receive("ids", (count + 7) // 8)
            known[receive] = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=count).astype(np.bool_)
        passed = sent | received
        parts = np.add.reduceat(known, level.starts[:-1], dtype=np.int64)
        if np.any(passed & ((parts == 0) | (parts == level.sizes))):
            other = PARTY_NAMES["b" if self._role == "a" else "a"]
            raise PeerFailed(
                other, "sent a division with an empty part, which cannot have passed the check; nothing was written"
            )
        return known

    def _children(
        self,
        open_: _Open,
        passed: NDArray[np.bool_],
        mine: NDArray[np.bool_],
        attribute: NDArray[np.int64],
        place: NDArray[np.int64],
        lower: NDArray[np.bool_],
    ) -> _Open:
        """Return the parts of the groups that passed: first the lower, then the upper part of each."""
        level = open_.level
        chosen = np.flatnonzero(passed)
        parts = np.add.reduceat(lower, level.starts[:-1], dtype=np.int64)[chosen]
        sizes = np.column_stack((parts, level.sizes[chosen] - parts)).reshape(-1)
        group = np.repeat(np.arange(level.groups), level.sizes)
        kept = np.flatnonzero(passed[group])
        order = kept[np.argsort(group[kept] * 2 + ~lower[kept], kind="stable")]
        self._openings.note("ids", [open_.ways[g] for g in chosen], parts.tolist(), "ab")
        lows, highs = np.repeat(open_.lows[chosen], 2, axis=0), np.repeat(open_.highs[chosen], 2, axis=0)
        own = np.flatnonzero(mine[chosen])
        highs[2 * own, attribute[chosen[own]]] = place[chosen[own]]
        lows[2 * own + 1, attribute[chosen[own]]] = place[chosen[own]]
        ways = [open_.ways[g] + part for g in chosen for part in (b"0", b"1")]
        return _Open(Level(level.ids[order], offsets_of(sizes)), ways, lows, highs)


class _Final:
    """The final groups, in the order in which they became final."""

    def __init__(self, population: int) -> None:
        self.group_of = np.full(population, -1, dtype=np.int64)
        self.failed_lower = np.full(population, -1, dtype=np.int8)
        self.lows: list[NDArray[np.int32]] = []
        self.highs: list[NDArray[np.int32]] = []
        self.ways: list[bytes] = []

    def take(self, open_: _Open, done: NDArray[np.bool_]) -> None:
        """Add the groups that will not be divided again."""
        numbers = np.full(open_.level.groups, -1, dtype=np.int64)
        numbers[done] = len(self.ways) + np.arange(int(done.sum()))
        of_id = np.repeat(numbers, open_.level.sizes)
        self.group_of[open_.level.ids[of_id >= 0]] = of_id[of_id >= 0]
        self.lows.append(open_.lows[done])
        self.highs.append(open_.highs[done])
        self.ways += [way for way, is_done in zip(open_.ways, done, strict=True) if is_done]
