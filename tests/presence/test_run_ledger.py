"""The ledger of runs: a second run that would tell real users from dummies is refused, whatever happened to the first."""

import json
import os
import subprocess
import sys

import pytest

from setveil.data.joined.population import Population
from setveil.errors import BadData, BadParameter, OutputRefused
from setveil.presence.run_ledger import RunLedger

from parties import HASHES

PEER, POLICY, DATA, OTHER, MORE = HASHES[:5]
NAMES = [f"person {number}" for number in range(50)]
RUN = {"peer": PEER, "population": Population.of(NAMES), "policy": POLICY, "data": DATA}
STRANGERS = Population.of([f"stranger {number}" for number in range(70)])
IN_A_PROCESS = (
    "import json, sys; from pathlib import Path; from setveil.data.joined.population import Population\n"
    "from setveil.presence.run_ledger import RunLedger\n"
    "ledger, run = RunLedger(Path(sys.argv[1])), json.loads(sys.argv[2])\n"
    "run['population'] = Population.of(run['population'])\n"
)


def as_json(run):
    return json.dumps(run | {"population": run["population"].ids.to_pylist()})


@pytest.fixture
def ledger(tmp_path):
    """Give a ledger whose file is not there yet."""
    return RunLedger(tmp_path / "runs.jsonl")


def test_a_run_and_its_end_are_noted(ledger):
    assert ledger.events() == []
    ledger.begin(**RUN).finished()
    run = ledger.begin(**RUN)
    run.failed()
    run.finished()  # only its first end counts
    events = ledger.events()
    assert [event.outcome for event in events] == ["begun", "finished", "begun", "failed"]
    assert events[0].run == events[1].run != events[2].run == events[3].run
    assert {(event.peer, event.population, event.policy, event.data) for event in events} == {
        (PEER, RUN["population"].sha256, POLICY, DATA)
    }
    assert len(ledger.path.read_text().splitlines()) == 4
    assert ledger.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("how", ["finished", "failed", None])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"data": OTHER}, "with other data."),
        ({"policy": OTHER}, "with another policy."),
        ({"data": OTHER, "policy": MORE}, "with other data and another policy."),
        ({"peer": OTHER}, "with another peer."),
    ],
)
def test_a_second_run_with_a_change_is_refused_however_the_first_ended(ledger, notes, how, change, said):
    run = ledger.begin(**RUN)
    if how:
        getattr(run, how)()
    with pytest.raises(BadParameter) as refused:
        ledger.begin(**RUN | change)
    assert said in str(refused.value)
    assert "say --again if you accept this" in str(refused.value)
    assert not any(digits in str(refused.value) for digits in (DATA, OTHER))
    assert notes() == ""
    ledger.begin(**RUN | change, again=True)
    assert "can tell real users from dummies" in notes()
    ledger.begin(**RUN | change)  # that run was made, and the same again tells nothing new
    ledger.begin(**RUN)


def test_a_refused_run_is_not_noted(ledger):
    ledger.begin(**RUN)
    before = ledger.path.read_bytes()
    with pytest.raises(BadParameter):
        ledger.begin(**RUN | {"data": OTHER})
    assert ledger.path.read_bytes() == before


def test_what_would_be_refused_is_told_without_noting_it(ledger, notes):
    ledger.refuse(**RUN)
    assert ledger.events() == []
    ledger.begin(**RUN)
    before = ledger.path.read_bytes()
    ledger.refuse(**RUN)
    ledger.refuse(**RUN | {"data": OTHER}, again=True)
    with pytest.raises(BadParameter, match="with other data"):
        ledger.refuse(**RUN | {"data": OTHER})
    assert ledger.path.read_bytes() == before
    assert notes() == ""


def test_a_population_of_other_people_is_another_matter(ledger, notes):
    ledger.begin(**RUN)
    ledger.begin(**RUN | {"population": STRANGERS, "policy": OTHER, "data": MORE, "peer": MORE})
    ledger.begin(**RUN, again=True)
    assert notes() == ""


@pytest.mark.parametrize(
    ("names", "shared"),
    [
        ([*NAMES, "somebody more"], "50 of these 51 people were"),
        (NAMES[:-1], "49 of these 49 people were"),
        (NAMES[::-1], "50 of these 50 people were"),
        (["a stranger", NAMES[7], "another"], "1 of these 3 people were"),
    ],
    ids=["one more", "one fewer", "another order", "one in common"],
)
def test_a_population_with_some_of_the_same_people_is_refused(ledger, notes, names, shared):
    """A list that is refreshed has another checksum, and the people in it go to the same sides as before."""
    ledger.begin(**RUN).finished()
    ledger.begin(**RUN | {"population": STRANGERS, "policy": MORE}).finished()
    refreshed = RUN | {"population": Population.of(names), "policy": OTHER}
    for asked in (ledger.refuse, ledger.begin):
        with pytest.raises(BadParameter) as refused:
            asked(**refreshed)
        assert f"{shared} in a run that was begun on " in str(refused.value)
        assert ", with another population. Whoever" in str(refused.value)
    with pytest.raises(BadParameter, match="with another population and other data and another peer"):
        ledger.begin(**refreshed | {"data": OTHER, "peer": MORE})
    assert notes() == ""
    ledger.begin(**refreshed, again=True)
    assert "can tell real users from dummies" in notes()
    ledger.begin(**refreshed)
    ledger.begin(**RUN)


def test_a_population_of_which_nothing_is_known_any_more_is_refused(ledger):
    ledger.begin(**RUN)
    (marks,) = (ledger.path.parent / "people").iterdir()
    assert marks.stat().st_mode & 0o777 == 0o600
    assert marks.parent.stat().st_mode & 0o777 == 0o700
    assert marks.stat().st_size == 8 * len(NAMES)
    other = RUN | {"population": STRANGERS, "policy": OTHER}
    marks.write_bytes(b"torn")
    with pytest.raises(BadData, match="does not hold the marks of a population"):
        ledger.begin(**other)
    marks.unlink()
    with pytest.raises(BadParameter, match=r"another population, and .*\.marks, which says who was in it, is missing"):
        ledger.begin(**other)
    ledger.begin(**RUN)  # the same run again, which puts back what is missing
    ledger.begin(**other)


def test_people_who_cannot_be_noted_are_a_sentence_and_the_run_does_not_begin(ledger):
    (ledger.path.parent / "people").write_text("a file in the way")
    with pytest.raises(OutputRefused, match=r"\.marks cannot be written"):
        ledger.begin(**RUN)
    assert ledger.events() == []


def test_a_last_line_that_was_torn_is_forgotten(ledger):
    ledger.begin(**RUN).finished()
    whole = ledger.path.read_bytes()
    for cut in range(1, len(whole.splitlines()[1]) + 1, 7):
        ledger.path.write_bytes(whole[:-cut])
        assert [event.outcome for event in ledger.events()] == ["begun"]
        with pytest.raises(BadParameter):
            ledger.begin(**RUN | {"data": OTHER})
        ledger.begin(**RUN)
        assert [event.outcome for event in ledger.events()] == ["begun", "begun"]


def test_nothing_of_a_long_torn_line_stays(ledger):
    ledger.begin(**RUN)
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + bytes(5000))  # as some file systems leave it
    ledger.begin(**RUN)
    assert ledger.path.read_bytes().startswith(whole)
    assert ledger.path.read_bytes().endswith(b"}\n")
    assert len(ledger.path.read_bytes()) == 2 * len(whole)


@pytest.mark.parametrize("line", ["{", "[]", "{}", "null", '{"run": 1}', "[" * 5000, "\x00\xff"])
def test_a_line_that_was_changed_is_refused(ledger, line):
    ledger.begin(**RUN)
    good = ledger.path.read_text()
    ledger.path.write_text(good + line + "\n" + good)
    with pytest.raises(BadData, match=r"runs\.jsonl, line 2: is not an event of a run"):
        ledger.begin(**RUN)


def test_an_outcome_that_is_none_is_refused(ledger):
    ledger.begin(**RUN)
    event = json.loads(ledger.path.read_text())
    ledger.path.write_text(json.dumps(event | {"outcome": "perhaps"}) + "\n")
    with pytest.raises(BadData, match="line 1"):
        ledger.events()


@pytest.mark.parametrize("name", ["peer", "policy", "data"])
def test_a_run_is_named_by_hashes(ledger, name):
    with pytest.raises(BadParameter, match=f"the {name} of a run is named by a SHA-256"):
        ledger.begin(**RUN | {name: "short"})


def test_two_processes_do_not_write_over_each_other(ledger):
    script = IN_A_PROCESS + "for _ in range(40): ledger.begin(**run).finished()"
    command = [sys.executable, "-c", script, ledger.path, as_json(RUN)]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    outcomes = [event.outcome for event in ledger.events()]
    assert outcomes.count("begun") == outcomes.count("finished") == 120


def test_only_one_of_two_processes_may_begin_with_a_change(ledger):
    script = IN_A_PROCESS + "ledger.begin(**run)"
    runs = [RUN, RUN | {"data": OTHER}, RUN | {"population": Population.of(NAMES[1:]), "policy": MORE}]
    processes = [
        subprocess.Popen([sys.executable, "-c", script, ledger.path, as_json(run)], stderr=subprocess.DEVNULL)
        for run in runs
    ]
    assert sorted(process.wait(60) for process in processes) == [0, 1, 1]
    assert len(ledger.events()) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits are set in a process of its own")
def test_a_disk_that_is_full_is_a_sentence_that_names_the_ledger(ledger):
    ledger.begin(**RUN)  # so that the marks are there
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))\nledger.begin(**run)"
    )
    command = [sys.executable, "-c", IN_A_PROCESS + script, ledger.path, as_json(RUN)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "OutputRefused" in ended.stderr
    assert "runs.jsonl cannot be written: File too large" in ended.stderr
