"""Mutants of the product: a fault is planted, and the detection that finds nothing in an honest run finds it."""

import contextlib
import socket
import threading
from dataclasses import replace
from functools import partialmethod

import numpy as np
import pytest

from setveil.presence import parties as product_parties
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.protocol import ProviderProtocol
from setveil.presence.secure.rules import Linear
from setveil.presence.secure.two_party import correlated, tables
from setveil.presence.secure.two_party.hashing import Tweaks
from setveil.presence.secure.two_party.opening import Opened
from setveil.presence.secure.two_party.session import TwoPartySession
from setveil.presence.transport.tls import TlsChannel, connect

from support.parties import LOOPBACK, PATIENCE_SECONDS, Task, homes, listener
from support.presence_detections import (
    broken_promises,
    counted_tweaks,
    early_ids,
    ids_not_of_passed_groups,
    order_of_the_tree,
    other_than_the_slow_twin,
    readable_on_the_wire,
    reused_tweaks,
    uneven_kinds,
    unexpected_kinds,
)
from support.presence_recordings import honest, known_base_transfers, play
from support.presence_worlds import world

LOOSE = {"min_a": "0", "max_a": "1", "min_b": "0", "max_b": "1", "k": 1, "scope": "qi", "candidates": 4}
NARROW = {"min_a": "1/5", "max_a": "9/10", "min_b": "1/10", "max_b": "3/4", "backend": "clear", "candidates": 4}


@pytest.fixture(autouse=True)
def _quick():
    with known_base_transfers():
        yield


def secure_run():
    """Return a run with many groups, and how often tweaks were used in it."""
    with counted_tweaks() as used:
        played = honest(DummyUsers(**LOOSE), world(1, 90))
    return played, used


MESSAGES = {
    "ids before the bit": lambda played, _: early_ids(played),
    "failed ids told": lambda played, _: ids_not_of_passed_groups(played),
    "no mask": lambda played, _: uneven_kinds(played),
    "reused tweak": lambda _, used: reused_tweaks(used),
    "counts to A": lambda played, _: unexpected_kinds(played, "b"),
    "unshuffled groups": lambda played, _: order_of_the_tree(played),
}


@pytest.fixture(scope="module")
def untouched():
    with known_base_transfers():
        return secure_run()


@pytest.mark.parametrize("name", MESSAGES)
def test_nothing_is_found_in_the_messages_of_an_honest_run(name, untouched):
    played, used = untouched
    assert played.results["a"].divided.groups.groups > 10
    assert MESSAGES[name](played, used) == []


def all_ids_exchanged(self, level, mine, lower):
    """Send the ids of all own groups, whatever the check says, and receive those of the peer's groups."""
    send, receive = np.repeat(mine, level.sizes), np.repeat(~mine, level.sizes)
    known = lower & send
    if np.any(mine):
        self._peer.send("ids", np.packbits(lower[send]).tobytes())
    if not np.all(mine):
        count = int(receive.sum())
        packed = self._peer.receive("ids", (count + 7) // 8)
        known[receive] = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=count).astype(np.bool_)
    return known


def level_that_tells_ids(self, open_, final, *, first):
    """Do a level of the protocol in which the ids of all groups are sent, before the check or after it."""
    level, ways = open_.level, open_.ways
    rows = self._cutter.rows(level, ways)
    attribute, width = self._cutter.widths(level, rows)
    owned_by_a = self._session.wider(width)
    mine = owned_by_a if self._role == "a" else ~owned_by_a
    self._openings.note("side", ways, ["a" if is_a else "b" for is_a in owned_by_a], "ab")
    place, lower = self._chosen(open_, rows, attribute, mine, owned_by_a)
    known = all_ids_exchanged(self, level, mine, lower) if first else None
    passed = self._session.verdicts(level, owned_by_a, lower)
    known = all_ids_exchanged(self, level, mine, lower) if known is None else known
    self._openings.note("pass", ways, passed.tolist(), "ab")
    self._session.descend(level, passed, known)
    final.take(open_, ~passed)
    return self._children(open_, passed, mine, attribute, place, known)


def no_pads(hashing, permuted, tweaks, values, dtype):
    del hashing, tweaks
    return np.zeros((len(permuted), values), dtype=dtype)


def always_the_same(self, use, *shape, only=None):
    self._next[use] = 0
    return real_take(self, use, *shape, only=only)


real_take = Tweaks.take


def counts_to_both(self, order, to):
    found = self.openings.reveal(Opened.COUNTS, self._state.final[order].astype(np.uint32), "both")
    return found.astype(np.int64) if (self.role, to) == ("b", "b") else None


MESSAGE_MUTANTS = {
    "ids before the bit": (ProviderProtocol, "_level", partialmethod(level_that_tells_ids, first=True)),
    "failed ids told": (ProviderProtocol, "_level", partialmethod(level_that_tells_ids, first=False)),
    "no mask": (correlated, "_numbers", no_pads),
    "reused tweak": (Tweaks, "take", always_the_same),
    "counts to A": (TwoPartySession, "counts", counts_to_both),
    "unshuffled groups": (product_parties, "_shuffled", lambda groups, _coin: np.arange(groups)),
}


@pytest.mark.parametrize("name", MESSAGE_MUTANTS)
def test_a_fault_in_the_messages_is_found(name, monkeypatch):
    monkeypatch.setattr(*MESSAGE_MUTANTS[name])
    assert MESSAGES[name](*secure_run())


def test_tables_without_pads_are_found(monkeypatch):
    """The sender leaves the tables as they are; what the chooser makes of them does not matter here."""
    real_send = tables.send

    def send(sender, sizes, made):
        line, bare = sender.line, np.concatenate([one.reshape(-1) for one in made]) if len(sizes) else None

        class Bare:
            def __getattr__(self, name):
                return getattr(line, name)

            def send(self, kind, payload):
                line.send(kind, bare.astype("<u4").tobytes() if kind == "ot-tables" else payload)

        sender.line = Bare()
        try:
            real_send(sender, sizes, made)
        finally:
            sender.line = line

    monkeypatch.setattr(tables, "send", send)
    played = play(DummyUsers(**LOOSE), world(1, 90))
    assert ("a", "ot-tables") in uneven_kinds(played) or ("b", "ot-tables") in uneven_kinds(played)


class Case:
    """A policy and a world, with enough groups or a root that does not pass."""

    def __init__(self, seed, people, *, chance=(0.7, 0.6), **method):
        self.method = DummyUsers(**(NARROW | method))
        self.originals = world(seed, people, chance=chance, values=2)

    def found(self):
        played = play(self.method, self.originals)
        return other_than_the_slow_twin(self.method, self.originals, played) + broken_promises(
            self.method, self.originals, played
        )


DECISIONS = {
    "inclusive": [Case(seed, 60, k=3, scope="qi") for seed in range(3)],
    "both children": [Case(seed, 60, **(LOOSE | {"k": 4, "backend": "two-party"})) for seed in range(4)],
    "order of shares": [Case(seed, 80, scope="qi", min_a="2/5", max_b="1", min_b="1/4") for seed in range(3)],
    "sensitive cells": [Case(seed, 120, min_b="1/4") for seed in range(3)],
    "margin": [Case(seed, 120, scope="qi", margin="1/10") for seed in range(3)],
    "outsiders": [Case(seed, 60, outsiders=25) for seed in range(3)],
}


@pytest.mark.parametrize("name", DECISIONS)
def test_nothing_is_decided_otherwise_than_by_the_slow_twin(name):
    assert [case.found() for case in DECISIONS[name]] == [[] for _ in DECISIONS[name]]


real_limits, real_rules, real_rule_numbers = DummyUsers._limits, DummyUsers.rules, TwoPartySession._rule_numbers


def strict(self, limits, values):
    made = real_limits(self, limits, values)
    return Linear(made.weights, made.constants - 1)


def k_of_the_lower_part_alone(self, linear, parts):
    """Leave the rule on k, which is the first, out of the rules of the upper part."""
    numbers = real_rule_numbers(self, linear, parts)
    if len(parts) > 1:
        numbers[len(linear.constants)] = 0
    return numbers


def swapped_sides(self, limits, values):
    return real_limits(self, {"a": limits["b"], "b": limits["a"]}, values)


def swapped_ends(self, limits, values):
    return real_limits(self, {side: (high, low) for side, (low, high) in limits.items()}, values)


def without_cells(self, limits, values):
    return real_limits(self.model_copy(update={"scope": "qi"}), limits, values)


def without_margin(self, side):
    return getattr(self, f"min_{side}").share, getattr(self, f"max_{side}").share


def without_outsiders(self, values, population):
    made = real_rules(self, values, population)
    return replace(made, root=Linear(made.root.weights[:-1], made.root.constants[:-1]))


DECISION_MUTANTS = [
    ("inclusive", DummyUsers, "_limits", strict),
    ("both children", TwoPartySession, "_rule_numbers", k_of_the_lower_part_alone),
    ("order of shares", DummyUsers, "_limits", swapped_sides),
    ("order of shares", DummyUsers, "_limits", swapped_ends),
    ("sensitive cells", DummyUsers, "_limits", without_cells),
    ("margin", DummyUsers, "drawn_in", without_margin),
    ("outsiders", DummyUsers, "rules", without_outsiders),
]


@pytest.mark.parametrize(
    ("name", "where", "what", "mutant"), DECISION_MUTANTS, ids=lambda one: getattr(one, "__name__", "")
)
def test_a_fault_in_the_decisions_is_found(name, where, what, mutant, monkeypatch):
    monkeypatch.setattr(where, what, mutant)
    assert any(case.found() for case in DECISIONS[name])


def captured(made):
    """Return the bytes that an eavesdropper reads while two parties use lines that `made` makes."""
    taken = bytearray()

    def pump(source, target):
        with contextlib.suppress(OSError):
            while chunk := source.recv(1 << 16):
                taken.extend(chunk)
                target.sendall(chunk)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    with socket.create_server((LOOPBACK, 0)) as ear, made(ear.getsockname()[1]) as (port, ends):
        met = Task(ear.accept)
        talking = Task(ends)
        near = met.result()[0]
        far = socket.create_connection((LOOPBACK, port))
        with near, far:
            pumps = [threading.Thread(target=pump, args=pair, daemon=True) for pair in ((near, far), (far, near))]
            for one in pumps:
                one.start()
            calling, called = talking.result()
            calling.send("ids", SECRET)
            assert called.receive("ids", len(SECRET)) == SECRET
            calling.close()
            called.close()
            for one in pumps:
                one.join(PATIENCE_SECONDS)
    return bytes(taken)


SECRET = b"who is in the lower part"


@contextlib.contextmanager
def over_tls(relay):
    with listener(timeout=PATIENCE_SECONDS) as ear:
        accepted = Task(ear.accept, PATIENCE_SECONDS)

        def ends():
            return connect(homes()["a"].credentials(), "b", LOOPBACK, relay), accepted.result()["a"]

        yield ear.port, ends


class Plain(socket.socket):
    """A socket that has what a line asks of one with TLS, and encrypts nothing."""

    def unwrap(self):
        return self


@contextlib.contextmanager
def over_a_plaintext_socket(relay):
    def plain(connected):
        return Plain(fileno=connected.detach())

    with socket.create_server((LOOPBACK, 0)) as ear:
        accepted = Task(lambda: plain(ear.accept()[0]))

        def ends():
            calling = TlsChannel("a", "b", plain(socket.create_connection((LOOPBACK, relay))), PATIENCE_SECONDS)
            return calling, TlsChannel("b", "a", accepted.result(), PATIENCE_SECONDS)

        yield ear.getsockname()[1], ends


def test_nothing_can_be_read_between_the_parties_and_a_plaintext_socket_is_found():
    assert readable_on_the_wire(captured(over_tls), SECRET, b"ids") == []
    assert SECRET in readable_on_the_wire(captured(over_a_plaintext_socket), SECRET, b"ids")
