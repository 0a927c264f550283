"""A simulator: a provider's whole view made from that provider's own input and its ledger of openings, with nobody at the other end.

The provider itself is the real one. What it would receive is drawn: points of the curve, random bytes in the place of what is hidden, and
shares of openings that fit what the ledger says was opened. A view that looks the same reveals nothing beyond the ledger.
"""

import hashlib
import secrets
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

from setveil.presence import coin, parties
from setveil.presence.channel import Traffic
from setveil.presence.libraries import curve
from setveil.presence.parties import run_provider
from setveil.presence.secure.backends import open_session
from setveil.presence.secure.two_party.base_ot import POINT, SECURITY, _scalar
from setveil.presence.secure.two_party.correlated import ChosenRows
from setveil.presence.secure.two_party.tables import Choice
from setveil.presence.tables.joined_files import csv_sha256

from support.presence_recordings import Recording, Seen

PURPOSES = (b"hash key", b"group order")


class Line:
    """An end of a line that leads to nobody."""

    in_one_process = True

    def __init__(self, role, peer):
        self.role, self.peer, self.traffic = role, peer, Traffic()
        self.last = {}

    def send(self, kind, payload):
        self.last[str(kind)] = bytes(payload)

    def close(self):
        pass

    abort = close


class SimulatedProvider(Line):
    """Says what the other provider might say."""

    def __init__(self, role, result):
        super().__init__(role, "b" if role == "a" else "a")
        self.share = None
        """The share that this provider is about to open, which the simulator knows, as it runs the provider."""
        self._groups = result.divided.groups.groups
        entries = result.divided.openings.entries
        told = {
            kind: [one.value for one in entries if one.kind == kind] for kind in ("root", "winner", "pass", "counts")
        }
        told["side"] = [one.value == "a" for one in entries if one.kind == "side"]
        names = {"open-root": "root", "open-wider": "side", "open-winner": "winner", "open-verdict": "pass"}
        self._opened = {kind: iter(told[name]) for kind, name in names.items()}
        known = [counts for counts in told["counts"] if counts is not None]  # none where another learned them
        self._counts = np.array(known, dtype=np.uint32)
        self._ids = iter(told_ids(result, self.peer))
        self._coins = [secrets.token_bytes(32) for _ in range(2)]
        self._commits = iter([coin.commitment(self.peer, *pair) for pair in zip(PURPOSES, self._coins, strict=True)])
        self._coins_left = iter(self._coins)
        self._table = shown_table(result.table)

    def receive(self, kind, size):
        kind = str(kind)
        made = self._made(kind, size)
        assert len(made) == size, kind
        return made

    def _made(self, kind, size):
        if kind == "coin-commit":
            return next(self._commits)
        if kind == "coin":
            return next(self._coins_left)
        if kind == "shown":
            return hashlib.sha256(b"".join(self._table)).digest()
        if kind in ("base-ot-offer", "base-ot-answer"):
            assert size in (POINT, POINT * SECURITY)
            return b"".join(curve().crypto_scalarmult_ed25519_base_noclamp(_scalar()) for _ in range(size // POINT))
        if kind == "ids":
            return next(self._ids)
        if kind == "open-counts":
            return (self._counts[self._order()] - self.share).astype("<u4").tobytes()
        if kind in self._opened:
            values = np.array([next(self._opened[kind]) for _ in range(self.share.shape[1])], dtype=np.int64)
            bits = values >> np.arange(len(self.share))[:, None] & 1
            return np.packbits(bits.astype(np.bool_) ^ self.share).tobytes()
        assert kind in ("ot-extension", "ot-products", "ot-tables", "garbled"), kind
        return secrets.token_bytes(size)

    def _order(self):
        """Return the order of groups that both coins gave."""
        parts = {self.role: self.last["coin"], self.peer: self._coins[1]}
        return parties._shuffled(self._groups, coin.joined(PURPOSES[1], parts))


def told_ids(result, teller):
    """Return the messages of ids of a provider, as they follow from who ended in which group, level by level."""
    divided = result.divided
    ends = [divided.ways[group].decode() for group in divided.groups.group_of]
    by_kind = {
        kind: {one.way: one.value for one in divided.openings.entries if one.kind == kind} for kind in ("side", "pass")
    }
    level, messages = [("", list(range(len(ends))))], []
    while level:
        told, below = [], []
        for way, ids in level:
            if by_kind["pass"][way]:
                lower = [ends[one][len(way)] == "0" for one in ids]
                told += lower if by_kind["side"][way] == teller else []
                below += [
                    (way + part, [one for one, low in zip(ids, lower, strict=True) if low == (part == "0")])
                    for part in "01"
                ]
        messages += [np.packbits(told).tobytes()] if told else []
        level = below
    return messages


def shown_table(table):
    """Return the messages by which the collector shows a table."""
    return [
        table.groups.to_bytes(8, "little"),
        *(np.ascontiguousarray(edges, dtype="<i4").tobytes() for edges in (table.lows, table.highs)),
        np.ascontiguousarray(table.counts, dtype="<i8").tobytes(),
    ]


class SimulatedCollector(Line):
    """Says what the collector says, which is the table that all see in the end."""

    def __init__(self, role, table):
        super().__init__(role, "c")
        self._said = iter([*shown_table(table), bytes.fromhex(csv_sha256(table))])

    def receive(self, _kind, _size):
        return next(self._said)


def simulated_view(role, policy, table, population, key, result):
    """Return what a provider sees, and how its run ends, given its own input and what the ledger holds."""
    seen, peer = [], SimulatedProvider(role, result)

    def opened_session(*given):
        session = open_session(*given)
        real = session.openings.reveal

        def reveal(what, share, to):
            peer.share = share
            return real(what, share, to)

        session.openings.reveal = reveal
        return session

    with patch.object(parties, "open_session", opened_session):
        ended = run_provider(
            role, policy, table, population, key,
            peer=Recording(peer, seen), collector=Recording(SimulatedCollector(role, result.table), seen),
        )  # fmt: skip
    return seen, ended


@contextmanager
def noted_shares():
    """Let views hold what a chooser makes of messages too: its shares of products, and the entries it took from tables."""
    real_share, real_receive = ChosenRows.share, Choice.receive

    def noted(chooser, kind, found):
        chooser.line.seen.append(Seen(False, chooser.line.peer, kind, found.tobytes()))
        return found

    with (
        patch.object(
            ChosenRows, "share", lambda self, *given: noted(self._chooser, "taken-products", real_share(self, *given))
        ),
        patch.object(Choice, "receive", lambda self: noted(self._chooser, "taken-entries", real_receive(self))),
    ):
        yield
