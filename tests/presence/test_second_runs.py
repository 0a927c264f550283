"""Real programs that run again over the same people: refused unless nothing changed or both providers allow it, and all hear why."""

import csv
import re
import secrets
import shutil
import sqlite3
import time
from functools import cache

import pytest

from setveil.presence.home import Home

from support.presence_programs import Programs, programs, recorded
from support.program import HANG_SECONDS, call, ended


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """Give the folder of parties after one run."""
    parties = programs(tmp_path_factory.mktemp("first"))
    found = parties.run()
    assert {role: one.code for role, one in found.items()} == dict.fromkeys("abc", 0), found
    return parties


@pytest.fixture
def parties(first_run, tmp_path):
    """Give a copy of these parties, who bear much longer than a test may take: nobody may wait for a timeout."""
    folder = tmp_path / "parties"
    shutil.copytree(first_run.folder, folder)
    again = Programs(folder, first_run.ports, {})
    again.wait = again.timeout = 4 * HANG_SECONDS
    return again


def run(parties, order="cba", gap=0.0, **more):
    """Run all three again, started in an order, and see that nobody waited for a timeout."""
    since = time.monotonic()
    started = {}
    for role in order:
        started[role] = parties.start(role, "--force", *more.get(role, ()))
        time.sleep(gap)
    found = {role: ended(process) for role, process in started.items()}
    assert time.monotonic() - since < 2 * HANG_SECONDS
    return found


def codes(found):
    return {role: one.code for role, one in found.items()}


def rewritten(path, change):
    """Write a CSV file again, with each row changed by `change`; a row for which it returns None is removed."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    changed = [row for row in map(change, rows) if row is not None]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(changed)


def lose_a_user(parties, role):
    first = []
    rewritten(parties.folder / f"trial/{role}.csv", lambda row: row if first else first.append(row))


def test_the_same_run_again_is_allowed(parties):
    assert codes(run(parties)) == dict.fromkeys("abc", 0)
    events = {role: Home.open(parties.folder / role).ledger.events() for role in "ab"}
    assert [event.outcome for event in events["a"]] == ["begun", "finished"] * 2
    assert [event.run for event in events["a"]] == [event.run for event in events["b"]]
    assert events["a"][0].data == events["b"][0].peer_data != events["b"][0].data == events["a"][0].peer_data


@pytest.mark.parametrize("order", ["bac", "acb", "abc"])
def test_everybody_hears_a_refusal_in_whatever_order_they_start(parties, order):
    lose_a_user(parties, "b")
    found = run(parties, order=order, gap=0.7)
    assert codes(found) == {"a": 4, "b": 2, "c": 4}, found
    for role in "ac":
        assert "the run is refused: some of the same people were in an earlier run" in found[role].sentence()
        assert "provider B" in found[role].sentence()


@pytest.mark.parametrize("changed", ["a", "b"])
def test_changed_data_of_the_peer_are_refused_by_the_one_that_would_be_attacked(parties, changed):
    lose_a_user(parties, changed)
    victim = "b" if changed == "a" else "a"
    peer, own = (f"provider {role.upper()}" for role in (changed, victim))
    found = run(parties, **{changed: ("--again",)})  # the one who gains allows it
    assert codes(found) == dict.fromkeys("abc", 4), found
    assert (
        found[victim]
        .sentence()
        .startswith(f"{peer} changed its data, so the run is refused: 600 of these 600 people were in a run on 2")
    )
    assert f"with other data of {peer}" in found[victim].sentence()
    assert "at both providers with --again" in found[victim].sentence()
    assert (
        found[changed]
        .sentence()
        .startswith(f"{own} does not allow a second run, so the run is refused: 600 of these 600 people were in")
    )
    assert "stopped: the run is refused: some of the same people were in an earlier run" in found["c"].sentence()
    assert "allow this run at both providers with --again" in found["c"].sentence()
    assert [recorded(parties.folder / role) for role in "ab"] == [["begun", "finished"]] * 2


def test_changed_data_need_the_word_of_both(parties):
    lose_a_user(parties, "b")
    found = run(parties)
    assert codes(found) == {"a": 4, "b": 2, "c": 4}, found
    assert "with other data of this provider. Comparing the runs separates real users" in found["b"].sentence()
    for role in "ac":
        assert "provider B stopped: the run is refused: some of the same people" in found[role].sentence()
    found = run(parties, a=("--again",))
    assert codes(found) == {"a": 4, "b": 2, "c": 4}, found
    found = run(parties, a=("--again",), b=("--again",))
    assert codes(found) == dict.fromkeys("abc", 0), found
    for role in "ab":
        assert "Both providers allowed it with --again" in found[role].err
    assert codes(run(parties)) == dict.fromkeys("abc", 0)  # now it is known to both


def test_renamed_ids_do_not_pass(parties):
    names = cache(lambda name: f"{name[-2:]}-{secrets.token_hex(8)}")  # as pseudonyms of this month
    for file in ("a", "b", "population"):
        rewritten(parties.folder / f"trial/{file}.csv", lambda row: row | {"id": names(row["id"])})
    files = ("--a", "trial/a.csv", "--b", "trial/b.csv", "--population", "trial/population.csv")
    drafted = call(
        "presence",
        "policy",
        *files,
        "--sensitive",
        "genre",
        "--person",
        "customer",
        "--out",
        "p.toml",
        cwd=parties.folder,
    )
    assert drafted.code == 0, drafted
    text = (parties.folder / "trial/policy.toml").read_text()
    population = re.search(r'^population = "(\w+)"', (parties.folder / "p.toml").read_text(), re.MULTILINE)[1]
    (parties.folder / "p.toml").write_text(re.sub(r'(?m)^population = "\w+"', f'population = "{population}"', text))
    parties.policies = dict.fromkeys("abc", "p.toml")
    found = run(parties)
    assert found["a"].code == found["b"].code == 2, found
    for role in "ab":
        assert re.search(
            r"(\d+) of these \1 users were in a run on 2\S* under other ids, by the column 'customer', with another population",
            found[role].sentence(),
        )
    assert "stopped: the run is refused: some of the same people" in found["c"].sentence()
    assert [recorded(parties.folder / role) for role in "ab"] == [["begun", "finished"]] * 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(("role", "how"), [("a", "emptied"), ("b", "missing"), ("b", "shortened")])
def test_a_ledger_that_was_lost_is_refused_until_it_is_recovered(parties, role, how):
    path = parties.folder / role / "ledger.sqlite"
    if how == "emptied":
        path.write_bytes(b"")
    elif how == "missing":
        path.unlink()
    else:
        with sqlite3.connect(path) as file:
            file.execute("DELETE FROM events WHERE number = 2")
        file.close()
    found = run(parties)
    party = f"provider {role.upper()}"
    assert found[role].code == 2
    assert f"{role}/ledger.sqlite: " in found[role].sentence()
    assert "setveil presence ledger (--recover)" in found[role].sentence()
    for other in set("abc") - {role}:
        assert found[other].code == 4
        assert f"{party} stopped: the run is refused: its ledger of runs cannot be used" in found[other].sentence()
    recovered = call("presence", "ledger", role, "--recover", cwd=parties.folder)
    assert recovered.code == 0
    assert "recovered" in recovered.out
    found = run(parties, **{role: ("--again",)})
    if how == "shortened":  # the beginning of the run is still there: it is the same run
        assert codes(found) == dict.fromkeys("abc", 0), found
        return
    assert found[role].code == 4
    assert "does not allow a second run, so the run is refused: " in found[role].sentence()
    assert codes(run(parties, a=("--again",), b=("--again",))) == dict.fromkeys("abc", 0)
    assert codes(run(parties)) == dict.fromkeys("abc", 0)


def test_an_older_copy_of_a_whole_home_is_noticed_by_what_the_peer_remembers(parties):
    shutil.copytree(parties.folder / "a", parties.folder / "older")
    lose_a_user(parties, "a")
    assert codes(run(parties, a=("--again",), b=("--again",))) == dict.fromkeys("abc", 0)
    shutil.rmtree(parties.folder / "a")
    (parties.folder / "older").rename(parties.folder / "a")
    lose_a_user(parties, "a")
    found = run(parties, a=("--again",))
    assert found["a"].code == 4
    assert "provider B remembers a run that is not in the ledger of this provider" in found["a"].sentence()


def test_a_home_of_an_earlier_version_is_told_how_to_go_on(parties):
    for name in ("ledger.sqlite", "ledger.sqlite.head"):
        (parties.folder / "a" / name).unlink()
    (parties.folder / "a/runs.jsonl").write_text("")
    found = run(parties)
    assert found["a"].code == 2
    assert "ledger.sqlite: is missing" in found["a"].sentence()
    assert call("presence", "ledger", "a", "--recover", cwd=parties.folder).code == 0
    assert codes(run(parties, a=("--again",), b=("--again",))) == dict.fromkeys("abc", 0)
