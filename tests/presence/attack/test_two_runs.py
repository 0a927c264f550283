"""Two runs: fresh dummies give people away, keyed ones do not."""

import numpy as np
import pytest

from setveil.presence.attack.two_runs import PULL, Seen, compared, moving_scores, two_runs, with_one_more
from setveil.presence.attack.view import owners
from setveil.presence.trial import policy_of, simulate

import presence_attack_runs as runs
from oracle import presence_moving as oracle


@pytest.fixture(scope="module")
def found():
    there = runs.originals()
    policy = policy_of(runs.method(), there)
    results = two_runs(policy, there, runs.keys(1), runs.keys(9), runs.trial())
    return {(one.case, one.attacker): one for one in results}


@pytest.mark.parametrize("attacker", ["a", "b"])
def test_the_same_keys_and_policy_tell_nothing(found, attacker):
    same = found["same", attacker]
    assert same.everybody.auc == 0.5
    assert same.own.auc == 0.5
    assert same.alike == same.splits > 0


@pytest.mark.parametrize("case", ["fresh", "again", "refreshed"])
@pytest.mark.parametrize("attacker", ["a", "b"])
def test_dummies_that_are_drawn_anew_give_people_away(found, case, attacker):
    one = found[case, attacker]
    assert one.alike == 0
    assert one.everybody.auc > 0.75
    assert one.own.auc > 0.75
    assert one.own.lowest < one.own.prior / 3
    assert one.to_dict()["own"]["auc"] == one.own.auc


def test_a_way_that_gives_no_table_is_left_out():
    there = runs.originals()
    common = int((there.existing("a") & there.existing("b")).sum())
    policy = policy_of(runs.method(k=common), there)
    first = simulate(policy, there, runs.keys(1))
    assert {one.case for one in two_runs(policy, there, runs.keys(1), runs.keys(9), first)} == {
        "fresh",
        "refreshed",
        "same",
    }


def test_another_backend_or_receiver_of_counts_changes_nothing():
    there = runs.originals()
    other = runs.trial(counts_to="c")
    assert compared("same", "b", runs.trial(), other, there).everybody.auc == 0.5


def plain(trial):
    """Return a run as the oracle takes it."""
    divided = trial.a.divided
    ways = [divided.ways[group].decode() for group in divided.groups.group_of]
    return ways, owners(divided)


@pytest.mark.parametrize(("attacker", "owner"), ["ab", "ba"])
def test_scores_are_those_of_comparing_ids_one_by_one(attacker, owner):
    """All divisions of the runs differ; the population of one of them ends with one person more."""
    there = {"people": 600, "scope": "qi"}
    larger = with_one_more(runs.originals(600))
    grown = simulate(policy_of(runs.method(scope="qi"), larger), larger, runs.keys(1))
    first, fresh = (runs.trial(seed, **there) for seed in (1, 9))
    for one, two in ((first, fresh), (fresh, first), (first, grown), (grown, first)):
        found, alike = moving_scores(Seen.of(one, attacker), Seen.of(two, attacker))
        assert alike == 0
        assert found == pytest.approx(oracle.scores(plain(one), plain(two), owner, PULL))
        assert np.abs(found).max() > 1
