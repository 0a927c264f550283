"""The processes of the backend `mpyc`: none is left over, and all parties are informed of any failure."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from setveil.errors import BadParameter, Missing, PeerFailed, SetveilError
from setveil.presence import libraries
from setveil.presence.secure.mpyc_session import MpycCollectorSide, MpycSession
from setveil.presence.secure.rules import Linear, Rules

from support.mpyc_lines import play, triangle
from support.program import HANG_SECONDS


def rules_of(population, weight=0):
    linear = Linear(np.array([[weight, 0, 0]]), np.array([0]))
    return Rules(population, 1, 1, linear, linear, 1, 0.3)


def sessions(lines, rules, after, relays):
    """Three parties; the providers run `after` once all have begun."""
    size = rules.population

    def provider(role):
        session = MpycSession(role, rules, lines[role, "b" if role == "a" else "a"], lines[role, "c"])
        relays[role] = session._relay
        try:
            session.begin(np.ones(size, bool), None if role == "a" else np.zeros(size, np.int64))
            return after(session)
        finally:
            session.close()

    def collector():
        side = MpycCollectorSide(lines["c", "a"], lines["c", "b"], rules)
        relays["c"] = side._relay
        try:
            side.follow()
            return side.counts(1, 1)
        finally:
            side.close()

    return {"a": lambda: provider("a"), "b": lambda: provider("b"), "c": collector}


@pytest.mark.parametrize("victim", ["a", "b", "c"])
def test_a_killed_process_ends_all_three_parties(victim):
    relays = {}

    def after(session):
        if session.role == "a":
            while len(relays) < 3:
                time.sleep(0.01)
            os.kill(relays[victim].process_id, signal.SIGKILL)
        while True:
            session.root()

    results = play(sessions(triangle(), rules_of(2000), after, relays), seconds=HANG_SECONDS)
    assert "MPyC process of this party ended" in str(results.pop(victim))
    assert all(isinstance(result, PeerFailed) for result in results.values())
    assert len(results) == 2
    assert all(relay._process.poll() is not None for relay in relays.values())


def test_what_a_process_cannot_do_is_told_without_values():
    relays = {}
    results = play(sessions(triangle(), rules_of(5), lambda session: session.counts(np.array([77]), "c"), relays))
    assert all(isinstance(result, SetveilError) for result in results.values())
    assert any("failed: ValueError in line" in str(result) for result in results.values())
    assert not any("77" in str(result) for result in results.values())
    assert all(relay._process.poll() is not None for relay in relays.values())


def test_providers_that_end_early_let_the_collector_go():
    results = play(sessions(triangle(), rules_of(5), lambda session: session.root(), {}))
    assert results["a"] is results["b"] is True
    assert "opened no counts to the collector" in str(results["c"])


def test_providers_at_different_steps_are_told_apart():
    def after(session):
        return session.root() if session.role == "a" else session.wider(np.array([1]))

    results = play(sessions(triangle(), rules_of(5), after, {}))
    assert "provider B is at another step" in str(results["c"])
    assert all(isinstance(result, PeerFailed) for result in results.values())


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (b"\x07", "sent bytes that are not part of the secure computation"),
        (b"\x00" + (2).to_bytes(2, "little") + bytes(48), "sent bytes that are not part of the secure computation"),
    ],
    ids=["no such mark", "a peer that says it is another"],
)
def test_what_no_process_sends_is_laid_to_the_peer(message, words):
    lines = triangle()
    session = MpycSession("b", rules_of(5), lines["b", "a"], lines["b", "c"])
    lines["a", "b"].send("mpyc-order", bytes(32))
    lines["a", "b"].send("mpyc", message)
    with pytest.raises(PeerFailed, match=f"provider A {words}"):
        session.begin(np.ones(5, bool), np.zeros(5, np.int64))
    assert session._relay._process.poll() is not None
    session.close()


@pytest.mark.parametrize("message", [b"", b"\xff\xff\xff\xff", b"\x02\x00\x00\x00{}", b"\x02\x00\x00\x00[]"])
def test_a_step_that_is_none_is_laid_to_the_provider(message):
    lines = triangle()
    side = MpycCollectorSide(lines["c", "a"], lines["c", "b"], rules_of(5))
    for provider in "ab":
        lines[provider, "c"].send("mpyc-step", message)
    with pytest.raises(PeerFailed, match="provider A sent an unknown step of the secure computation"):
        side.follow()
    side.close()


def test_a_silent_peer_is_not_waited_for_without_end():
    lines = triangle()
    session = MpycSession("a", rules_of(3), lines["a", "b"], lines["a", "c"], patience=1.0)
    with pytest.raises(SetveilError, match="nor a peer sent anything for 1 seconds"):
        session.begin(np.ones(3, bool), None)
    assert session._relay._process.poll() is not None
    with pytest.raises(SetveilError):
        session.root()
    session.close()


PARTY = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np
from support.mpyc_lines import triangle
from setveil.presence.secure.mpyc_session import MpycSession
from setveil.presence.secure.rules import Linear, Rules
linear = Linear(np.zeros((1, 3), np.int64), np.zeros(1, np.int64))
lines = triangle()
session = MpycSession("a", Rules(3, 1, 1, linear, linear, 1, 0.3), lines["a", "b"], lines["a", "c"])
print(session._relay.process_id, flush=True)
session.begin(np.ones(3, bool), None)
"""


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_its_party(tmp_path, blow):
    path = tmp_path / "party.py"
    path.write_text(PARTY.format(tests=str(Path(__file__).parents[1])))
    with subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as party:
        child = int(party.stdout.readline())
        time.sleep(0.5)
        if blow == signal.SIGINT:
            os.killpg(party.pid, blow)  # as a terminal does
        else:
            party.kill()
        assert party.wait(HANG_SECONDS) != 0
    deadline = time.monotonic() + HANG_SECONDS
    while _lives(child):
        assert time.monotonic() < deadline, "the process is an orphan"
        time.sleep(0.05)


def _lives(process):
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(libraries.importlib.util, "find_spec", lambda _name: None)
    lines = triangle()
    with pytest.raises(Missing, match=r"pip install 'setveil\[mpyc\]'"):
        MpycSession("a", rules_of(3), lines["a", "b"], lines["a", "c"])


def test_numbers_that_are_too_wide_are_refused():
    lines = triangle()
    with pytest.raises(BadParameter, match="at most 62 are supported"):
        MpycSession("a", rules_of(9, weight=1 << 60), lines["a", "b"], lines["a", "c"])


def test_the_library_is_not_imported_by_the_party():
    code = "import sys, setveil.presence.secure.mpyc_session as s; sys.exit(any(n.split('.')[0] == 'mpyc' for n in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
