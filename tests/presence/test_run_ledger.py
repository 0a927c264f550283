"""The ledger of runs: a second run that would separate real users from dummies is refused, whatever happened to the first."""

import re
from dataclasses import replace

import pyarrow as pa
import pytest

from setveil.errors import BadParameter
from setveil.presence.marks import of_customers

from support.presence_ledgers import (
    DATA,
    KEY,
    MORE,
    NAMES,
    OTHER,
    PEER,
    POLICY,
    RUN,
    STRANGE_NAMES,
    STRANGERS,
    THEIRS,
    begin,
    customers,
    ids,
    new_ledger,
)


@pytest.fixture
def ledger(tmp_path):
    """Give a new ledger."""
    return new_ledger(tmp_path)


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
    assert "allow this run at both providers with `again=True`" in str(refused.value)
    assert not any(digits in str(refused.value) for digits in (DATA, OTHER))
    assert "some of the same people" in refused.value.to_others
    assert said.replace("this provider", "provider A").removesuffix(".") in refused.value.to_others
    assert not re.search(r"\d", refused.value.to_others.replace("again=True", ""))
    assert notes() == ""
    begin(ledger, changed, again=True)
    assert "separates real users from dummies" in notes()
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
