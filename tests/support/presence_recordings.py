"""Runs of the whole protocol of which everything is kept: what each party sent and received, in its own order, and how it ended."""

import threading
import time
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from unittest.mock import patch

from setveil.presence.libraries import curve
from setveil.presence.parties import run_collector, run_provider
from setveil.presence.secure.two_party import base_ot
from setveil.presence.tables.joined_files import csv_sha256
from setveil.presence.transport.local import local_pair
from setveil.presence.trial import policy_of

from support.presence_worlds import KEYS

PATIENCE_SECONDS = 60.0
"""A party that has not ended by then hangs."""
POINT_FUNCTIONS = (
    "crypto_core_ed25519_add",
    "crypto_core_ed25519_is_valid_point",
    "crypto_core_ed25519_sub",
    "crypto_scalarmult_ed25519_base_noclamp",
    "crypto_scalarmult_ed25519_noclamp",
)


@dataclass(frozen=True)
class Seen:
    """A message as one party saw it go or come."""

    sent: bool
    peer: str
    kind: str
    payload: bytes = field(repr=False)

    @property
    def shape(self):
        return ("to" if self.sent else "from", self.peer, self.kind, len(self.payload))


class Recording:
    """A line that notes what goes over it; `meddle` may put other messages in the place of one that is sent."""

    def __init__(self, line, seen, meddle=None):
        self.line = line
        self.seen = seen
        self.meddle = meddle

    def __getattr__(self, name):
        return getattr(self.line, name)

    def send(self, kind, payload):
        self.seen.append(Seen(True, self.line.peer, str(kind), bytes(payload)))
        if self.meddle is None:
            self.line.send(kind, payload)
        else:
            self.meddle(self.line, str(kind), bytes(payload))

    def receive(self, kind, size):
        return self._noted(kind, self.line.receive(kind, size))

    def receive_at_most(self, kind, most):
        return self._noted(kind, self.line.receive_at_most(kind, most))

    def _noted(self, kind, payload):
        self.seen.append(Seen(False, self.line.peer, str(kind), payload))
        return payload


@dataclass
class Played:
    """What is left of a run."""

    seen: dict = field(default_factory=lambda: {role: [] for role in "abc"})
    results: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)
    staged: list = field(default_factory=list)
    """Tables that the collector wrote to its hidden place."""
    published: list = field(default_factory=list)
    """Tables that got their own place."""
    hanging: list = field(default_factory=list)
    seconds: float = 0.0

    def shapes(self, role):
        """Return kinds, lengths and directions, in the order in which a party saw them."""
        return [message.shape for message in self.seen[role]]

    def received(self, role, peer=None):
        return [one for one in self.seen[role] if not one.sent and peer in (None, one.peer)]


def play(method, originals, keys=KEYS, *, timeout=20.0, collector_timeout=None, meddle=None, publish=None):
    """Run all three parties, each in a thread; `meddle` is asked for (sender, receiver) of a line and may be None."""
    played, policy = Played(), policy_of(method, originals)
    lines = {}
    for one, other in ("ab", "ac", "bc"):
        for end in local_pair(one, other, timeout=timeout):
            if end.role == "c" and collector_timeout is not None:
                end.timeout = collector_timeout
            other_hand = meddle and meddle(end.role, end.peer)
            lines[end.role + end.peer] = Recording(end, played.seen[end.role], other_hand)

    def publishing(table):
        played.staged.append(table)
        commit = publish(table) if publish else lambda: csv_sha256(table)

        def committed():
            played.published.append(table)
            return commit()

        return committed

    def provider(role, other):
        return run_provider(
            role, policy, originals.table(role), originals.population, getattr(keys, role),
            peer=lines[role + other], collector=lines[role + "c"], cpu_clock=time.thread_time,
        )  # fmt: skip

    works = {
        "a": lambda: provider("a", "b"),
        "b": lambda: provider("b", "a"),
        "c": lambda: run_collector(policy, lines["ca"], lines["cb"], publishing, cpu_clock=time.thread_time),
    }
    began = time.monotonic()
    threads = {
        role: threading.Thread(
            target=copy_context().run, args=(_party, role, works, lines, played), name=role, daemon=True
        )
        for role in works
    }
    for thread in threads.values():
        thread.start()
    for role, thread in threads.items():
        thread.join(max(0.0, began + PATIENCE_SECONDS - time.monotonic()))
        if thread.is_alive():
            played.hanging.append(role)
    return played


def _party(role, works, lines, played):
    """Run a party as the program does: it closes its lines, and breaks them off where it failed."""
    own = [line for name, line in lines.items() if name[0] == role]
    try:
        played.results[role] = works[role]()
        for line in own:
            line.close()
    except BaseException as error:  # noqa: BLE001 - the test looks at it
        played.errors[role] = error
        for line in own:
            with suppress(Exception):
                line.abort("stopped")


def honest(method, originals, keys=KEYS, **how):
    """Run in which nothing may fail."""
    played = play(method, originals, keys, **how)
    assert not played.hanging
    for error in played.errors.values():
        raise error
    return played


@cache
def _remembering():
    return SimpleNamespace(**{name: cache(getattr(curve(), name)) for name in POINT_FUNCTIONS})


@contextmanager
def known_base_transfers():
    """Let base transfers take their secret numbers from a short list, so that arithmetic on the curve is remembered and runs are quick.

    Everything else of a run stays as it is, randomness included. Not for tests that look at points of the curve.
    """
    turns = threading.local()

    def scalar():
        # Of each party the same numbers in the same order; never the same as the other party's, since points may not fall together.
        turns.next = getattr(turns, "next", 0) + 1
        return bytes([turns.next % 256, turns.next // 256, *threading.current_thread().name[0].encode(), *[7] * 28, 0])

    with patch.object(base_ot, "curve", _remembering), patch.object(base_ot, "_scalar", scalar):
        yield
