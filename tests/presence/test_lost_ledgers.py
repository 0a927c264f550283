"""The file of the ledger: what was lost, shortened or changed is an error, and is recovered whole or not at all."""

import sqlite3
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from setveil.errors import BadParameter, OutputRefused
from setveil.presence.event_chain import Damaged
from setveil.presence.run_ledger import RunLedger

from support.presence_ledgers import (
    HOME,
    IN_A_PROCESS,
    OTHER,
    RUN,
    STRANGERS,
    as_json,
    begin,
    customers,
    ids,
    new_ledger,
)


@pytest.fixture
def ledger(tmp_path):
    """Give a new ledger."""
    return new_ledger(tmp_path)


def spoil(statement):
    def change(path):
        with sqlite3.connect(path) as file:
            file.execute(statement)
        file.close()

    return change


SPOILT = {
    "missing": (lambda path: path.unlink(), "is missing"),
    "no bytes": (lambda path: path.write_bytes(b""), "was emptied"),
    "no events": (spoil("DELETE FROM events"), "was emptied"),
    "last event gone": (spoil("DELETE FROM events WHERE number = 4"), "had at least 4 events and now has 3"),
    "event in the middle gone": (spoil("DELETE FROM events WHERE number = 2"), "was changed at event 2"),
    "event changed": (
        spoil("UPDATE events SET event = event || ' ' WHERE number = 1"),
        "was changed at event 1",
    ),
    "no tables": (spoil("DROP TABLE events"), "no such table"),
    "noise": (lambda path: path.write_bytes(bytes(range(256)) * 40), "is damaged"),
    "half": (lambda path: path.write_bytes(path.read_bytes()[:6000]), "is damaged"),
    "head gone": (
        lambda path: path.with_name("ledger.sqlite.head").unlink(),
        "does not have the file ledger.sqlite.head",
    ),
    "head noise": (
        lambda path: path.with_name("ledger.sqlite.head").write_text("0"),
        "does not have the file ledger.sqlite.head",
    ),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_ledger_that_was_lost_or_shortened_is_an_error_that_can_be_recovered(ledger, tmp_path, how, notes):
    begin(ledger).finished()
    begin(ledger, STRANGERS).finished()
    path = tmp_path / "ledger.sqlite"
    change, said = SPOILT[how]
    change(path)
    for ask in (ledger.events, lambda: ledger.refusal(RUN), lambda: begin(ledger)):
        with pytest.raises(Damaged) as refused:
            ask()
        assert said in str(refused.value)
        assert "ledger.sqlite" in str(refused.value)
        assert "recover the ledger with Home.ledger.recover() or setveil presence ledger (`recover=True`)" in str(
            refused.value
        )
    assert ledger.recover()
    left = [path.name for path in tmp_path.glob("*damaged*")]
    assert len(left) == (how != "missing")
    assert not left or left[0] in notes()
    assert ledger.events()[-1].outcome == "recovered"
    nobody = replace(STRANGERS, ids=ids(["n"]), customers=customers(["n"]), population=OTHER, policy=OTHER)
    with pytest.raises(BadParameter, match=r"runs before 2.* may be missing from this ledger, which was recovered"):
        begin(ledger, nobody)
    begin(ledger, nobody, again=True)
    begin(ledger, nobody)
    assert not ledger.recover()
    survived = [event.outcome for event in ledger.events()][:-3]
    assert survived == {
        "last event gone": ["begun", "finished", "begun"],
        "event in the middle gone": ["begun"],
        "head gone": ["begun", "finished", "begun", "finished"],
        "head noise": ["begun", "finished", "begun", "finished"],
    }.get(how, [])


@pytest.mark.parametrize("limit", [0, 12_000, 30_000])
def test_a_ledger_that_could_not_be_recovered_stays_damaged(ledger, tmp_path, limit):
    """A renewed ledger without its events would allow every run."""
    begin(ledger, replace(RUN, ids=ids([f"person {number}" for number in range(4_000)]))).finished()
    (tmp_path / "ledger.sqlite.head").unlink()
    script = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))\nledger.recover()"
    command = [sys.executable, "-c", IN_A_PROCESS + script, tmp_path / "ledger.sqlite", as_json(RUN)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "OutputRefused" in ended.stderr
    with pytest.raises(Damaged):
        ledger.events()
    assert ledger.recover()
    assert [event.outcome for event in ledger.events()] == ["begun", "finished", "recovered"]


@pytest.mark.parametrize("step", ["create", "rename", "unlink"])
def test_a_recovery_that_was_killed_leaves_a_damaged_ledger(ledger, tmp_path, step):
    begin(ledger).finished()
    (tmp_path / "ledger.sqlite").write_bytes((tmp_path / "ledger.sqlite").read_bytes()[:-4096])
    script = (
        "import os\nfrom pathlib import Path\nfrom setveil.presence.event_chain import EventChain\n"
        f"owner = EventChain if {step!r} == 'create' else Path\nhonest = getattr(owner, {step!r})\n"
        "def once(*given, **named):\n    honest(*given, **named)\n    os._exit(9)\n"
        f"setattr(owner, {step!r}, once)\nledger.recover()"
    )
    command = [sys.executable, "-c", IN_A_PROCESS + script, tmp_path / "ledger.sqlite", as_json(RUN)]
    assert subprocess.run(command, check=False).returncode == 9
    with pytest.raises(Damaged):
        ledger.events()
    assert ledger.recover()
    assert ledger.events()[-1].outcome == "recovered"


def test_an_older_copy_of_the_ledger_is_noticed(ledger, tmp_path):
    begin(ledger).finished()
    older = (tmp_path / "ledger.sqlite").read_bytes()
    begin(ledger, STRANGERS).finished()
    (tmp_path / "ledger.sqlite").write_bytes(older)
    with pytest.raises(Damaged, match="was shortened or replaced: it had at least 4 events and now has 2"):
        ledger.refusal(RUN)


@pytest.mark.usefixtures("ledger")
def test_the_ledger_of_another_home_is_refused(tmp_path):
    other = RunLedger(tmp_path / "ledger.sqlite", OTHER)
    with pytest.raises(Damaged, match="is not the file of this home"):
        other.events()


def test_a_head_that_is_behind_is_no_harm(ledger, tmp_path):
    """The system may fall after the event was written and before the head was."""
    begin(ledger)
    head = tmp_path / "ledger.sqlite.head"
    behind = head.read_bytes()
    begin(ledger, STRANGERS)
    head.write_bytes(behind)
    assert len(ledger.events()) == 2
    begin(ledger).finished()
    assert head.read_text().startswith("4 ")


@pytest.mark.parametrize("table", ["DELETE FROM lists", "UPDATE lists SET content = x'00'"])
def test_people_of_whom_nothing_is_known_any_more_are_taken_for_the_same(ledger, tmp_path, table):
    begin(ledger)
    spoil(table)(tmp_path / "ledger.sqlite")
    with pytest.raises(BadParameter, match="the ledger does not hold the people of a run on "):
        begin(ledger, STRANGERS)
    begin(ledger)


def test_two_processes_do_not_write_over_each_other(ledger, tmp_path):
    script = IN_A_PROCESS + "for _ in range(20): begin().finished()"
    command = [sys.executable, "-c", script, tmp_path / "ledger.sqlite", as_json(RUN)]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    outcomes = [event.outcome for event in ledger.events()]
    assert outcomes.count("begun") == outcomes.count("finished") == 60
    assert (tmp_path / "ledger.sqlite.head").read_text().startswith("120 ")


def test_only_one_of_three_processes_may_begin_with_a_change(ledger, tmp_path):
    runs = [RUN, replace(RUN, data=OTHER), replace(RUN, peer_data=OTHER)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", IN_A_PROCESS + "begin()", tmp_path / "ledger.sqlite", as_json(run)],
            stderr=subprocess.DEVNULL,
        )
        for run in runs
    ]
    assert sorted(process.wait(60) for process in processes) == [0, 1, 1]
    assert len(ledger.events()) == 1


@pytest.mark.parametrize("limit", [0, 20_000])
def test_a_disk_that_is_full_is_a_sentence_that_names_the_ledger(ledger, tmp_path, limit):
    begin(ledger)
    before = [asdict(event) for event in ledger.events()]
    run = replace(STRANGERS, ids=ids([f"new {number}" for number in range(5_000)]))
    script = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))\nbegin()"
    command = [sys.executable, "-c", IN_A_PROCESS + script, tmp_path / "ledger.sqlite", as_json(run)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "OutputRefused" in ended.stderr
    assert "ledger.sqlite cannot be written" in ended.stderr
    assert [asdict(event) for event in ledger.events()] == before


def test_no_right_to_write_is_a_sentence(tmp_path):
    with pytest.raises(OutputRefused, match=r"nowhere.*cannot be written"):
        RunLedger(tmp_path / "nowhere" / "ledger.sqlite", HOME).create()
