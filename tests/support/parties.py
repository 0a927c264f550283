"""Parties for tests: homes that know each other, lines between them over loopback, and callers that break the rules."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from setveil.presence.home import CERTIFICATE, KEY, Home
from setveil.presence.transport.listening import Listener
from setveil.presence.transport.tls import WELCOME, connect

from support.program import HANG_SECONDS

LOOPBACK = "127.0.0.1"
PATIENCE_SECONDS = 120.0
"""How long a line waits for its peer, unless a test says otherwise: longer than a test that must not wait for that."""
"""A test that takes longer hangs."""
HASHES = [f"{number:064x}" for number in range(1, 10)]


@cache
def homes() -> dict[str, Home]:
    """Return the homes of three parties, made once a session, each with the certificates of the others pinned."""
    folder = Path(mkdtemp(prefix="setveil-homes-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = {role: Home.create(folder / role, role, name=f"test {role}") for role in "abc"}
    return {role: with_pins(home, made) for role, home in made.items()}


def with_pins(home: Home, others: dict[str, Home]) -> Home:
    """Return a home with the certificates of the others pinned."""
    for role, other in others.items():
        if role != home.role:
            home = home.pin(role, other.folder / CERTIFICATE)
    return home


class Task(threading.Thread):
    """Something that goes on beside the test; `result` waits for it and raises what it raised."""

    def __init__(self, function, *arguments, **named):
        super().__init__(daemon=True)
        self._work = lambda: function(*arguments, **named)
        self._returned = None
        self._raised = None
        self.start()

    def run(self):
        try:
            self._returned = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again where it is asked for
            self._raised = error

    def result(self, seconds=PATIENCE_SECONDS):
        self.join(seconds)
        assert not self.is_alive(), "it hangs"
        if self._raised is not None:
            raise self._raised
        return self._returned


def listener(role="b", awaited=("a",), **named):
    """Return a listener of a party on loopback."""
    return Listener(homes()[role].credentials(), awaited, host=LOOPBACK, **named)


@contextlib.contextmanager
def lines(first="a", second="b", *, timeout=PATIENCE_SECONDS):
    """Give both ends of a line over TLS: of the one who connects, and of the one who listens."""
    with listener(second, (first,), timeout=timeout) as ear:
        accepted = Task(ear.accept, PATIENCE_SECONDS)
        calling = connect(homes()[first].credentials(), second, LOOPBACK, ear.port, timeout=timeout)
        called = accepted.result()[first]
    try:
        yield calling, called
    finally:
        for end in (calling, called):
            end.abort("the test is over")


def caller_context(home: Home | None, version=ssl.TLSVersion.TLSv1_3):
    """Return how a caller speaks TLS that checks nothing; without a home it shows no certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    if home is not None:
        context.load_cert_chain(home.folder / CERTIFICATE, home.folder / KEY)
    return context


def raw_caller(port, home: Home | None, version=ssl.TLSVersion.TLSv1_3):
    """Return a bare TLS socket that says what the test writes to it."""
    plain = socket.create_connection((LOOPBACK, port), timeout=PATIENCE_SECONDS)
    try:
        return caller_context(home, version).wrap_socket(plain)
    except BaseException:
        plain.close()
        raise


@contextlib.contextmanager
def raw_line(*, timeout=PATIENCE_SECONDS):
    """Give a bare TLS socket that B takes for A, and B's end of the line."""
    with listener(timeout=timeout) as ear:
        accepted = Task(ear.accept, PATIENCE_SECONDS)
        with raw_caller(ear.port, homes()["a"]) as raw:
            assert raw.recv(len(WELCOME)) == WELCOME
            called = accepted.result()["a"]
            try:
                yield raw, called
            finally:
                called.abort("the test is over")


_AS_PARTY = """
import sys, time, os
from pathlib import Path
from setveil.presence.home import Home
from setveil.presence.transport.listening import Listener
from setveil.presence.transport.tls import connect
home = Home.open(Path(sys.argv[1]))
"""


def started(role, script, *arguments, before=()):
    """Start a party in a process of its own: a script that finds its opened home as `home`."""
    return subprocess.Popen(
        [*before, sys.executable, "-W", "error", "-c", _AS_PARTY + script, homes()[role].folder, *map(str, arguments)],
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def ended_with_the_test(process):
    """Give a process that is gone after the block, whatever happened."""
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def without_waiting():
    """Fail if the block takes as long as only a hang, or the wait for a silent peer, does."""
    since = time.monotonic()
    yield
    assert time.monotonic() - since < HANG_SECONDS
