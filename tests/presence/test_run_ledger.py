"""The ledger of runs: a second run that would tell real users from dummies is refused, whatever happened to the first."""

import json
import re
import sqlite3
import subprocess
import sys
from dataclasses import asdict, replace

import pyarrow as pa
import pytest

from setveil.data.joined.population import Population
from setveil.errors import BadParameter, OutputRefused
from setveil.presence.event_chain import Damaged
from setveil.presence.marks import Marks, of_customers, of_ids
from setveil.presence.run_ledger import PlannedRun, RunLedger

from parties import HASHES

PEER, POLICY, DATA, THEIRS, OTHER, MORE = HASHES[:6]
HOME = HASHES[6]
KEY = b"a secret of the home" * 2
NAMES = [f"person {number}" for number in range(50)]
STRANGE_NAMES = [f"stranger {number}" for number in range(70)]
RUN_IDS = (f"{number:032x}" for number in range(1_000_000))
IN_A_PROCESS = (
    "import json, secrets, sys; from pathlib import Path\n"
    "from setveil.presence.marks import Marks\n"
    "from setveil.presence.run_ledger import PlannedRun, RunLedger\n"
    f"ledger, run = RunLedger(Path(sys.argv[1]), {HOME!r}), json.loads(sys.argv[2])\n"
    "marks = {name: Marks(bytes.fromhex(run[name])) for name in ('ids', 'customers')}\n"
    "run = PlannedRun(**run | marks)\n"
    "begin = lambda: ledger.begin(run, run=secrets.token_hex(16))\n"
)


def ids(names):
    return of_ids(Population.of(names))


def customers(names):
    return of_customers(pa.array([f"C-{name}" for name in names], pa.large_string()), KEY)


RUN = PlannedRun(
    peer=PEER,
    party="provider A",
    peer_party="provider B",
    population=HASHES[7],
    policy=POLICY,
    data=DATA,
    key="1" * 64,
    draws=1,
    peer_data=THEIRS,
    peer_run=None,
    ids=ids(NAMES),
    customers=customers(NAMES[:20]),
    person="customer",
)
STRANGERS = replace(
    RUN, population=HASHES[8], policy=MORE, ids=ids(STRANGE_NAMES), customers=customers(STRANGE_NAMES[:30])
)


def as_json(run):
    plain = {name: value for name, value in vars(run).items() if not isinstance(value, Marks)}
    return json.dumps(plain | {name: getattr(run, name).content.hex() for name in ("ids", "customers")})


@pytest.fixture
def ledger(tmp_path):
    """Give a new ledger."""
    made = RunLedger(tmp_path / "ledger.sqlite", HOME)
    made.create()
    return made


def begin(ledger, run=RUN, **more):
    return ledger.begin(run, run=next(RUN_IDS), **more)


def test_a_run_and_its_end_are_recorded(ledger, tmp_path):
    assert ledger.events() == []
    begin(ledger).finished()
    run = begin(ledger)
    run.failed()
    run.finished()  # only its first end counts
    events = ledger.events()
    assert [event.outcome for event in events] == ["begun", "finished", "begun", "failed"]
    assert events[0].run == events[1].run != events[2].run == events[3].run
    assert {
        (one.peer, one.population, one.policy, one.data, one.peer_data, one.person, one.people) for one in events
    } == {(PEER, RUN.population, POLICY, DATA, THEIRS, "customer", 50)}
    assert ledger.last_run(PEER) == events[2].run
    assert ledger.last_run(OTHER) is None
    for file in tmp_path.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600
        assert not [name for name in NAMES if name.encode() in file.read_bytes()]


@pytest.mark.parametrize("how", ["finished", "failed", None])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"data": OTHER}, "with other data of this provider."),
        ({"peer_data": OTHER}, "with other data of provider B."),
        ({"policy": OTHER}, "with another policy."),
        ({"data": OTHER, "policy": MORE}, "with other data of this provider and another policy."),
        ({"peer": OTHER}, "with another peer."),
        ({"key": OTHER, "data": MORE}, "with another key of dummies."),
        ({"draws": 2}, "with another way to draw dummies (another version of setveil)."),
    ],
)
def test_a_second_run_with_a_change_is_refused_however_the_first_ended(ledger, notes, how, change, said):
    run = begin(ledger)
    if how:
        getattr(run, how)()
    changed = replace(RUN, **change)
    assert ledger.refusal(changed).by_peer == ("peer_data" in change)
    with pytest.raises(BadParameter) as refused:
        begin(ledger, changed)
    assert "50 of these 50 people were in a run on 2" in str(refused.value)
    assert said in str(refused.value)
    assert "allow this run at both providers with again=True" in str(refused.value)
    assert not any(digits in str(refused.value) for digits in (DATA, OTHER))
    assert "some of the same people" in refused.value.to_others
    assert said.replace("this provider", "provider A").removesuffix(".") in refused.value.to_others
    assert not re.search(r"\d", refused.value.to_others.replace("again=True", ""))
    assert notes() == ""
    begin(ledger, changed, again=True)
    assert "tells real users from dummies" in notes()
    assert ledger.events()[-1].again
    begin(ledger, changed)  # that run was made, and the same again reveals nothing new
    begin(ledger)
    assert not ledger.events()[-1].again


def test_a_run_whose_peer_was_not_met_yet_is_judged_without_its_data(ledger):
    begin(ledger)
    assert ledger.refusal(replace(RUN, peer_data=None)) is None
    assert ledger.refusal(replace(RUN, peer_data=None, data=OTHER)) is not None


def test_a_refused_run_is_not_recorded(ledger):
    begin(ledger)
    before = ledger.events()
    with pytest.raises(BadParameter):
        begin(ledger, replace(RUN, data=OTHER))
    assert ledger.refusal(replace(RUN, data=OTHER)) is not None
    assert ledger.events() == before


def test_a_population_of_other_people_is_another_matter(ledger, notes):
    begin(ledger)
    begin(ledger, replace(STRANGERS, data=MORE, peer=MORE))
    begin(ledger, again=True)
    assert notes() == ""


@pytest.mark.parametrize(
    ("names", "shared"),
    [
        ([*NAMES, "somebody more"], "50 of these 51 people were"),
        (NAMES[:-1], "49 of these 49 people were"),
        (["a stranger", NAMES[7], "another"], "1 of these 3 people were"),
    ],
    ids=["one more", "one fewer", "one in common"],
)
def test_a_population_with_some_of_the_same_people_is_refused(ledger, notes, names, shared):
    """A list that is refreshed has another checksum, and the people in it go to the same sides as before."""
    begin(ledger).finished()
    begin(ledger, STRANGERS).finished()
    refreshed = replace(RUN, population=OTHER, policy=OTHER, ids=ids(names))
    with pytest.raises(BadParameter) as refused:
        begin(ledger, refreshed)
    assert f"{shared} in a run on " in str(refused.value)
    assert ", with another population. Comparing" in str(refused.value)
    with pytest.raises(BadParameter, match="with another population and other data of this provider and another peer"):
        begin(ledger, replace(refreshed, data=OTHER, peer=MORE))
    assert notes() == ""
    begin(ledger, refreshed, again=True)
    begin(ledger, refreshed)
    begin(ledger)


def renamed(how):
    return [how(name) for name in NAMES]


@pytest.mark.parametrize(
    "how",
    [str.upper, "2026-".__add__, lambda name: f"{hash(name):x}"],
    ids=["other letters", "a prefix", "pseudonyms"],
)
def test_people_under_other_ids_are_recognized_by_the_providers_own_key(ledger, how):
    begin(ledger)
    run = replace(RUN, population=OTHER, policy=OTHER, data=OTHER, ids=ids(renamed(how)))
    with pytest.raises(BadParameter) as refused:
        begin(ledger, run)
    assert "20 of these 20 users were in a run on " in str(refused.value)
    assert "under other ids, by the column 'customer', with another population" in str(refused.value)
    assert not re.search(r"\d", refused.value.to_others)
    one = replace(run, customers=customers([*STRANGE_NAMES, NAMES[3]]))
    with pytest.raises(BadParameter, match="1 of these 71 users were in a run"):
        begin(ledger, one)
    begin(ledger, replace(run, customers=customers(NAMES[20:])))  # none of these was a user then


def test_customer_keys_are_compared_without_case_and_spaces_and_need_the_secret():
    keys = pa.array(["Straße 1", " ａ2", "x"], pa.large_string())
    again = pa.array(["STRASSE 1 ", "A2", "y"], pa.large_string())
    one, two = of_customers(keys, KEY).content, of_customers(again, KEY).content
    marks = [{content[at : at + 8] for at in range(0, 24, 8)} for content in (one, two)]
    assert len(marks[0] & marks[1]) == 2
    assert not marks[0] & {of_customers(keys, KEY[::-1]).content[at : at + 8] for at in range(0, 24, 8)}


def test_people_who_cannot_be_compared_are_taken_for_the_same(ledger):
    begin(ledger)
    other_column = replace(STRANGERS, person="account")
    with pytest.raises(BadParameter, match="recognized by the column 'customer' then, and by 'account' now"):
        begin(ledger, other_column)
    begin(ledger, STRANGERS)


def test_a_run_that_only_the_peer_remembers_is_a_sign_of_an_older_copy(ledger):
    begin(ledger)
    known = ledger.last_run(PEER)
    assert ledger.refusal(replace(STRANGERS, peer_run=known)) is None
    lacking = replace(STRANGERS, peer_run="f" * 32)
    with pytest.raises(BadParameter, match="provider B remembers a run that is not in the ledger of this provider"):
        begin(ledger, lacking)
    begin(ledger, replace(RUN, peer_run="f" * 32))  # the same run as before reveals nothing new
    both = ledger.refusal(replace(lacking, ids=RUN.ids))
    assert "remembers a run" in both.sentence
    assert "50 of these 50 people were in a run on" in both.sentence  # one reason does not hide another
    begin(ledger, lacking, again=True)
    nobody = replace(STRANGERS, ids=ids(["n"]), customers=customers(["n"]), population=OTHER, policy=OTHER)
    with pytest.raises(BadParameter, match=r"runs before 2.* may be missing from this ledger"):
        begin(ledger, nobody)  # the gap stays known


def test_a_run_that_the_peer_did_not_record_does_not_count(ledger):
    begin(ledger).void()
    assert ledger.last_run(PEER) is None
    assert ledger.refusal(replace(RUN, data=OTHER)) is None
    begin(ledger, replace(RUN, data=OTHER)).failed()
    assert ledger.refusal(RUN) is not None


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
    "last event gone": (spoil("DELETE FROM events WHERE number = 4"), "had 4 events at least and has 3"),
    "event in the middle gone": (spoil("DELETE FROM events WHERE number = 2"), "was changed at event 2"),
    "event changed": (
        spoil("UPDATE events SET event = event || ' ' WHERE number = 1"),
        "was changed at event 1",
    ),
    "no tables": (spoil("DROP TABLE events"), "no such table"),
    "noise": (lambda path: path.write_bytes(bytes(range(256)) * 40), "is damaged"),
    "half": (lambda path: path.write_bytes(path.read_bytes()[:6000]), "is damaged"),
    "head gone": (lambda path: path.with_name("ledger.sqlite.head").unlink(), "lacks the file ledger.sqlite.head"),
    "head noise": (
        lambda path: path.with_name("ledger.sqlite.head").write_text("0"),
        "lacks the file ledger.sqlite.head",
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
        assert "renew the ledger with setveil presence ledger (recover=True)" in str(refused.value)
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
    with pytest.raises(Damaged, match="was shortened or replaced: it had 4 events at least and has 2"):
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
    with pytest.raises(BadParameter, match="the ledger lacks the people of a run on "):
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
