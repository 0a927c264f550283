"""Three programs over mutual TLS on loopback: the same table as a trial, and nothing left behind when one of them fails."""

import json
import re
import signal
import socket
import time

import pytest

from setveil.presence.tables.joined_files import read_joined

from support.presence_programs import HOST, MANY, programs, recorded
from support.program import HANG_SECONDS, call, ended, hidden_in


@pytest.fixture
def parties(tmp_path):
    return programs(tmp_path)


def changed(parties, name, pattern, replacement):
    """Write a policy in which one line is another."""
    text = (parties.folder / "trial/policy.toml").read_text()
    (parties.folder / name).write_text(re.sub(pattern, replacement, text, flags=re.MULTILINE))
    return name


@pytest.mark.parametrize("policy", ["", "counts_to", "own"])
def test_three_programs_and_a_trial_give_the_same_table(parties, policy):
    if policy:
        change = (
            (r'^counts_to = "b"', 'counts_to = "c"') if policy == "counts_to" else (r'^score = "both"', 'score = "own"')
        )
        parties.policies = dict.fromkeys("abc", changed(parties, "p.toml", *change))
    parties.forked = bool(policy)
    found = parties.run()
    assert {role: one.code for role, one in found.items()} == dict.fromkeys("abc", 0), found
    assert parties.left() == ["joined", "joined.private", "run-a", "run-b"]
    files = (
        "trial/a.csv",
        "trial/b.csv",
        "--population",
        "trial/population.csv",
        "--policy",
        parties.policies.get("a", "trial/policy.toml"),
    )
    homes = ("--home-a", "a", "--home-b", "b")
    for backend in ("two-party", "clear"):
        again = call("presence", "simulate", *files, *homes, "--out", backend, "--backend", backend, cwd=parties.folder)
        assert again.code == 0, again
        assert (parties.folder / backend / "data.csv").read_bytes() == (parties.folder / "joined/data.csv").read_bytes()
        kept = [(parties.folder / place / "openings.jsonl").read_text() for place in ("run-a", f"{backend}.private/a")]
        assert kept[0] == kept[1]
    sides = ("--a", "trial/a.csv", "--private-a", "run-a", "--b", "trial/b.csv", "--private-b", "run-b")
    checked = call(
        "presence", "check", "joined", "--population", "trial/population.csv", *sides, "--json", cwd=parties.folder
    )
    assert checked.json["kept"]
    assert [one["guarantee"] for one in checked.json["verdicts"]] == ["k-anonymity", "site-presence"]


def test_mpyc_in_three_programs_gives_the_same_table(parties):
    parties.policies = dict.fromkeys("abc", changed(parties, "p.toml", r'^backend = "two-party"', 'backend = "mpyc"'))
    parties.timeout = 120
    found = parties.run()
    assert {role: one.code for role, one in found.items()} == dict.fromkeys("abc", 0), found
    files = ("trial/a.csv", "trial/b.csv", "--population", "trial/population.csv", "--policy", "p.toml")
    again = call(
        "presence",
        "simulate",
        *files,
        "--home-a",
        "a",
        "--home-b",
        "b",
        "--out",
        "clear",
        "--backend",
        "clear",
        cwd=parties.folder,
    )
    assert again.code == 0, again
    assert (parties.folder / "clear/data.csv").read_bytes() == (parties.folder / "joined/data.csv").read_bytes()


def test_parties_that_disagree_on_the_policy_stop_and_say_so(parties):
    parties.policies = {"b": changed(parties, "other.toml", r"^k = 2", "k = 3")}
    parties.wait = 8
    found = parties.run()
    assert found["a"].code == found["b"].code == 4
    assert found["a"].sentence().startswith("provider B ")
    assert found["b"].sentence().startswith("provider A ")
    assert "policy" in found["a"].sentence()
    assert found["c"].code == 4
    assert parties.left() == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("victim", ["a", "b", "c"])
def test_a_killed_party_stops_the_others_and_leaves_nothing(tmp_path, victim):
    parties = programs(tmp_path, people=MANY)
    parties.timeout = 2 * HANG_SECONDS  # a party that waits for its timeout takes too long
    started = {role: parties.start(role) for role in "cba"}
    parties.await_lines()
    assert started[victim].poll() is None, "it was done before it could be killed"
    started[victim].send_signal(signal.SIGKILL)
    since = time.monotonic()
    found = {role: ended(process) for role, process in started.items()}
    assert time.monotonic() - since < HANG_SECONDS
    name = {"a": "provider A", "b": "provider B", "c": "the collector"}[victim]
    for role in set("abc") - {victim}:
        assert found[role].code == 4, found[role]
    assert any(found[role].sentence().startswith(name) for role in set("abc") - {victim}), found
    assert [place for place in parties.left() if not place.startswith(".")] == []


def test_a_person_who_stops_one_party_stops_all(tmp_path):
    parties = programs(tmp_path, people=MANY)
    started = {role: parties.start(role) for role in "cba"}
    parties.await_lines()
    started["a"].send_signal(signal.SIGINT)
    found = {role: ended(process) for role, process in started.items()}
    assert found["a"].code == 130
    assert found["b"].code == found["c"].code == 4
    assert parties.left() == []
    assert hidden_in(parties.folder) == []


@pytest.mark.exhaustive
def test_a_second_run_with_another_policy_is_refused_unless_asked_for(parties):
    assert all(one.code == 0 for one in parties.run().values())
    parties.policies = dict.fromkeys("abc", changed(parties, "p.toml", r"^k = 2", "k = 3"))
    refused = call(*parties.arguments("a", "--force"), cwd=parties.folder)
    assert refused.code == 2
    assert "--again" in refused.sentence()
    # Who gets the counts, and what computes, changes no dummy: that is the same run, which here nobody comes to.
    alike = changed(
        parties,
        "alike.toml",
        r"^(counts_to|backend) = .*$",
        lambda m: {"c": 'counts_to = "c"', "b": 'backend = "mpyc"'}[m[1][0]],
    )
    once, parties.policies, parties.wait = parties.policies, dict.fromkeys("abc", alike), 0.5
    assert call(*parties.arguments("a", "--force"), cwd=parties.folder).code == 4
    parties.policies, parties.wait = once, 60
    found = parties.run(a=("--again", "--force"), b=("--again", "--force"), c=("--force",))
    assert {role: one.code for role, one in found.items()} == dict.fromkeys("abc", 0), found
    assert "real users" in found["a"].err


def test_nobody_comes(parties):
    parties.wait = 0.5
    for role, missing in (("a", "provider B"), ("b", "provider A"), ("c", "provider A")):
        alone = call(*parties.arguments(role), cwd=parties.folder)
        assert alone.code == 4
        assert alone.sentence().startswith(missing)
    assert parties.left() == []
    assert [recorded(parties.folder / role) for role in "ab"] == [[], []], "nobody was met: it is no run"


def test_a_table_that_breaks_the_policy_is_published_by_nobody(parties):
    """Limits that the population as a whole does not keep."""
    parties.policies = dict.fromkeys("abc", changed(parties, "p.toml", r'^min_a = "0.1"', 'min_a = "0.8"'))
    found = parties.run()
    assert found["a"].code == found["b"].code == 3
    assert "does not satisfy the policy" in found["a"].sentence()
    assert found["c"].code == 4
    assert parties.left() == []


def test_the_release_tells_nothing_of_ids_and_the_collector_keeps_none(parties):
    assert all(one.code == 0 for one in parties.run().values())
    ids = (parties.folder / "trial/population.csv").read_text().splitlines()[1:]
    for folder in ("joined", "joined.private"):
        for path in (parties.folder / folder).iterdir():
            content = path.read_text()
            assert not [name for name in ids if name in content]
    table = read_joined(parties.folder / "joined")
    card = json.loads((parties.folder / "joined/card.json").read_text())
    assert card["counts"]["records"] == table.records
    assert "no outside review" in card["secure_computation"]


def test_a_busy_port_is_a_sentence(parties):
    parties.wait = 3
    with socket.create_server((HOST, parties.ports[1])):
        second = call(*parties.arguments("c"), cwd=parties.folder)
    assert second.code == 2
    assert str(parties.ports[1]) in second.sentence()
    assert HOST in second.sentence()
    assert parties.left() == []
