"""Real programs of which one does what it must not: dies in the last moment, lies about numbers or tables, or is asked to end."""

import re
import signal
import time
from pathlib import Path

import pytest

from support.forked import Forked
from support.presence_programs import programs, recorded
from support.program import HANG_SECONDS, call, ended, hidden_in

SENDING = """
import os, sys, time
import numpy as np
from setveil.cli import main
from setveil.presence.transport.tls import TlsChannel

honest = TlsChannel.send

def send(line, kind, payload):
    {instead}
    honest(line, kind, payload)
    {then}

TlsChannel.send = send
main.main()
"""
DIES_AFTER_ITS_YES = SENDING.format(instead="pass", then="if kind == 'kept': time.sleep(0.3); os._exit(9)")
SAYS_YES_LATER = SENDING.format(instead="if kind == 'kept': time.sleep(2)", then="pass")
COUNTS_OUT_OF_THE_AIR = SENDING.format(
    instead="payload = np.full(len(payload) // 8, 2**31 - 1, '<i8').tobytes() if kind == 'counts' else payload",
    then="pass",
)
ANNOUNCES_ANOTHER_NUMBER = SENDING.format(
    instead="payload = (7777).to_bytes(8, 'little') if kind == 'groups' else payload", then="pass"
)
SHOWS_TWO_TABLES = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from support.presence_meddling import TwoTables
from setveil.presence.tables.sample import sample_schema
two = TwoTables("a", sample_schema())
""" + SENDING.format(instead="payload = two.instead(kind, payload) if line.peer == 'a' else payload", then="pass")
NEVER_SAYS_YES = SENDING.format(instead="if kind == 'kept': time.sleep(60)", then="pass")


@pytest.fixture
def parties(tmp_path):
    return programs(tmp_path)


def run(parties, **instead):
    """Run all three, some of them with another program; return how each ended."""
    started = {role: started_one(parties, role, instead.get(role)) for role in "cba"}
    return {role: ended(process) for role, process in started.items()}


def started_one(parties, role, program):
    if program is None:
        return parties.start(role)
    return Forked(*parties.arguments(role), cwd=parties.folder, code=program)


def test_a_provider_that_dies_after_its_yes_neither_undoes_the_table_nor_keeps_it_from_the_other(parties):
    found = run(parties, a=DIES_AFTER_ITS_YES, b=SAYS_YES_LATER)
    assert found["a"].code == 9
    assert found["b"].code == found["c"].code == 0, found
    assert "provider A is gone" in found["c"].err
    assert "provider A may not have been informed" in found["c"].err
    assert "joined/ holds" in found["c"].out
    assert parties.left() == ["joined", "joined.private", "run-b"]
    assert recorded(parties.folder / "b") == ["begun", "finished"]
    again = parties.run(b=("--force",), c=("--force",))  # the same run once more gives A what it lacks
    assert {role: one.code for role, one in again.items()} == dict.fromkeys("abc", 0), again
    assert parties.left() == ["joined", "joined.private", "run-a", "run-b"]


def test_numbers_out_of_the_air_are_refused_before_a_line_is_written(parties):
    """A group of two thousand million records would fill a disk."""
    since = time.monotonic()
    found = run(parties, b=COUNTS_OUT_OF_THE_AIR)
    assert time.monotonic() - since < HANG_SECONDS
    assert found["a"].code == found["c"].code == 3, found
    assert found["c"].sentence().startswith("provider A found that the table violates the policy on its side")
    assert parties.left() == []
    assert hidden_in(parties.folder) == []


def test_who_is_wrong_about_the_number_of_groups_is_not_guessed(parties):
    found = run(parties, a=ANNOUNCES_ANOTHER_NUMBER)
    assert found["c"].code == 4
    assert re.match(
        "one of the providers announced a wrong number of groups: provider A 7,777, provider B", found["c"].sentence()
    )
    assert parties.left() == []


@pytest.mark.parametrize("backend", ["two-party", "mpyc"])
def test_a_collector_that_shows_two_tables_is_refused_by_both_providers(parties, backend):
    """Each table satisfies the policy for the provider that sees it, and the collector claims to have published each of them."""
    text = (parties.folder / "trial/policy.toml").read_text()
    (parties.folder / "p.toml").write_text(text.replace('"two-party"', f'"{backend}"'))
    parties.policies = dict.fromkeys("abc", "p.toml")
    parties.timeout = 2 * HANG_SECONDS
    found = run(parties, c=SHOWS_TWO_TABLES)
    for role, other in ("aB", "bA"):
        assert found[role].code == 4, found
        assert (
            found[role].sentence().startswith(f"the collector showed provider {other} another table than this provider")
        )
        assert found[role].sentence().endswith("nothing was written")
        assert recorded(parties.folder / role) == ["begun", "failed"]
    assert found["c"].code == 4, found
    assert parties.left() == []
    assert hidden_in(parties.folder) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_collector_that_is_asked_to_end_leaves_nothing_and_tells_the_others(parties, number):
    started = {role: started_one(parties, role, NEVER_SAYS_YES if role == "a" else None) for role in "cba"}
    parties.await_lines()
    time.sleep(2)  # until the collector waits for A's yes
    started["c"].send_signal(number)
    found = {role: ended(process) for role, process in started.items() if role != "a"}
    started["a"].kill()
    ended(started["a"])
    assert found["c"].code == 128 + number
    assert found["c"].sentence() == "stopped; nothing was written"
    assert found["b"].code == 4
    assert found["b"].sentence().startswith("the collector ")
    assert parties.left() == []
    assert hidden_in(parties.folder) == []


def test_a_policy_that_cannot_be_computed_is_no_run(parties):
    text = (parties.folder / "trial/policy.toml").read_text()
    fine = re.sub("^max_a = .*$", 'max_a = "0.899999999"', text, flags=re.MULTILINE)
    (parties.folder / "fine.toml").write_text(
        re.sub("^margin = .*$", 'margin = "1/999999937"', fine, flags=re.MULTILINE)
    )
    parties.policies = dict.fromkeys("ab", "fine.toml")
    parties.wait = 1
    for role in "ab":
        refused = call(*parties.arguments(role), cwd=parties.folder)
        assert refused.code == 2
        assert "too many digits" in refused.sentence()
        assert recorded(parties.folder / role) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc, where nobody can make a folder")
@pytest.mark.parametrize(("role", "option"), [("a", "--private"), ("c", "--out")])
def test_a_place_that_cannot_be_written_is_found_before_anybody_is_called(parties, role, option):
    arguments = list(parties.arguments(role))
    arguments[arguments.index(option) + 1] = "/proc/new"
    refused = call(*arguments, cwd=parties.folder)
    assert refused.code == 2
    assert refused.sentence().startswith("/proc cannot be written")
