"""Two runs: fresh dummies give people away, keyed ones do not."""

import numpy as np
import pytest

from setveil.presence.attack.two_runs import compared, moving_scores, two_runs
from setveil.presence.trial import policy_of, simulate

import presence_attack_runs as runs


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


def test_ids_that_never_were_in_a_division_of_the_other_have_no_score():
    first, second = runs.trial().b.divided, runs.trial(seed=9).b.divided
    scores, splits, alike = moving_scores(first, second, "a")
    assert splits > 0 == alike
    assert np.isfinite(scores).all()
