"""Several runs: fresh dummies give people away, and so do dummies of changed groups; those of the same run do not."""

from contextlib import contextmanager
from itertools import islice, permutations

import numpy as np
import pytest

from setveil.base import progress
from setveil.presence.attack.ranking import ranking
from setveil.presence.attack.two_runs import (
    CASES,
    LOST,
    PULL,
    Seen,
    compared,
    losing,
    moving_scores,
    two_runs,
    with_one_more,
)
from setveil.presence.attack.view import other_than, owners
from setveil.presence.trial import policy_of, simulate

from oracle import presence_moving as oracle
from support import presence_attack_runs as runs
from support.adult_tables import adult


def tried(**values):
    """Return what all cases give, by case, attacker and number of runs."""
    there = runs.originals()
    policy = policy_of(runs.method(**values), there)
    results = two_runs(policy, there, runs.keys(1), runs.keys(9), runs.trial(**values))
    found = {(one.case, one.attacker, one.runs): one for one in results}
    assert len(found) == len(results)
    return found


class Listener(progress.Silent):
    """Notes how far steps came."""

    def __init__(self):
        self.steps = {}

    @contextmanager
    def step(self, label, total):
        yield lambda done: self.steps.__setitem__(label, (done, total))


@pytest.fixture(scope="module")
def listener():
    return Listener()


@pytest.fixture(scope="module")
def found(listener):
    with progress.reporting(listener):
        return tried()


@pytest.mark.parametrize("attacker", ["a", "b"])
def test_the_same_keys_and_policy_tell_nothing(found, attacker):
    same = found["same", attacker, 2]
    assert same.everybody.auc == 0.5
    assert same.own.auc == 0.5
    assert same.alike == same.splits > 0


@pytest.mark.parametrize("case", ["fresh", "again", "refreshed"])
@pytest.mark.parametrize("attacker", ["a", "b"])
def test_dummies_that_are_drawn_anew_give_people_away(found, case, attacker):
    one = found[case, attacker, 2]
    assert one.alike == 0
    assert one.everybody.auc > 0.85
    assert one.own.auc > 0.85
    assert one.own.lowest < one.own.prior / 3
    assert one.to_dict()["own"]["auc"] == one.own.auc


@pytest.mark.parametrize(
    ("attacker", "case", "least"),
    [
        ("b", "lost_user", (0.70, 0.77, 0.88)),
        ("b", "lost_1_percent", (0.77, 0.87, 0.95)),
        ("b", "lost_5_percent", (0.77, 0.87, 0.95)),
        *(("a", case, (0.88, 0.96, 0.99)) for case in LOST),
    ],
)
def test_a_changed_table_of_the_attacker_gives_people_away_and_more_with_each_run(found, attacker, case, least):
    rows = [found[case, attacker, number] for number in (2, 3, 6)]
    for auc in ([row.everybody.auc for row in rows], [row.own.auc for row in rows]):
        assert auc == sorted(auc)
        assert (np.array(auc) > least).all()
    for row in rows:
        assert row.alike < row.splits
        assert row.own.users == len(runs.originals().table(attacker))  # also those who left since the first run
        assert row.to_dict()["runs"] == row.runs


def test_each_further_run_is_simulated_once_and_counted(found, listener):
    assert len(found) == 4 * 2 + len(LOST) * 2 * 3
    assert {case for case, _attacker, _number in found} == CASES.keys()
    assert listener.steps["running again"] == (34, 34)  # four second runs, and five more for each loss and attacker


@pytest.mark.parametrize("party", ["a", "b"])
@pytest.mark.parametrize(("percent", "each"), [(0, {"a": 1, "b": 1}), (1, {"a": 15, "b": 11}), (5, {"a": 78, "b": 58})])
def test_the_attacker_loses_more_users_before_each_run_and_nothing_else_changes(party, percent, each):
    there = runs.originals()
    before = there
    for number, now in enumerate(losing(there, party, percent), 1):
        assert (now.schema, now.population) == (there.schema, there.population)
        assert now.table(other_than(party)) is there.table(other_than(party))
        assert len(now.table(party)) == len(there.table(party)) - number * each[party]
        stays = now.existing(party)
        assert not (stays & ~before.existing(party)).any()
        assert (now.codes(party)[stays] == there.codes(party)[stays]).all()
        assert (now.sensitive()[now.existing("b")] == there.sensitive()[now.existing("b")]).all()
        before = now
    assert number == 5
    again = [one.table(party).checksum() for one in losing(there, party, percent)]
    assert again[-1] == before.table(party).checksum()
    assert len(set(again)) == 5


def test_a_table_is_never_emptied():
    there = next(losing(runs.originals(), "b", 99))
    there = next(losing(there, "b", 60))
    assert len(there.table("b")) == 5
    assert [len(one.table("b")) for one in losing(there, "b", 0)] == [4, 3, 2, 1]


def test_a_way_that_gives_no_table_is_left_out():
    """All common users are needed for k: a provider that loses one gets no table, and 5 % always include one."""
    there = runs.originals()
    common = int((there.existing("a") & there.existing("b")).sum())
    cases = {case for case, _attacker, _number in tried(k=common)}
    assert {"fresh", "refreshed", "same"} <= cases
    assert not {"again", "lost_5_percent"} & cases


def test_runs_are_compared_up_to_the_first_that_gives_no_table():
    """5 % of B's users hold some 28 common ones, 5 % of A's hold as many: the third run has too few."""
    there = runs.originals()
    common = int((there.existing("a") & there.existing("b")).sum())
    found = tried(k=common - 40)
    assert [number for case, _attacker, number in found if case == "lost_5_percent"] == [2, 2]
    assert [number for case, _attacker, number in found if case == "lost_user"] == [2, 3, 6, 2, 3, 6]


def test_another_backend_or_receiver_of_counts_changes_nothing():
    there = runs.originals()
    other = runs.trial(counts_to="c")
    assert compared("same", "b", (runs.trial(), other), there)[0].everybody.auc == 0.5


def test_the_scores_of_all_ordered_pairs_of_runs_are_added_up():
    there = runs.originals()
    trials = [runs.trial(seed) for seed in (1, 2, 9)]
    pairs = permutations([Seen.of(one, "b") for one in trials], 2)
    scores = np.sum([moving_scores(*pair)[0] for pair in pairs], axis=0)
    two, three = compared("fresh", "b", trials, there)
    assert (two.runs, three.runs) == (2, 3)
    assert three.everybody.auc == pytest.approx(ranking(scores, there.existing("a")).auc, abs=1e-6)


def plain(trial):
    """Return a run as the oracle takes it."""
    divided = trial.a.divided
    ways = [divided.ways[group].decode() for group in divided.groups.group_of]
    return ways, owners(divided)


@pytest.mark.parametrize(("attacker", "owner"), ["ab", "ba"])
def test_scores_are_those_of_comparing_ids_one_by_one(attacker, owner):
    """With fresh keys and with one person more, at the end of the population, all divisions differ; where B lost users some are alike."""
    there = runs.originals(600)
    policy = policy_of(runs.method(scope="qi"), there)
    larger = with_one_more(there)
    first, fresh = (runs.trial(seed, people=600, scope="qi") for seed in (1, 9))
    grown = simulate(policy_of(policy.method, larger), larger, runs.keys(1))
    smaller = simulate(policy, next(losing(there, "b", 0)), runs.keys(1))
    pairs = ((first, fresh), (first, grown), (grown, first), (first, smaller), (smaller, first))
    for one, two in pairs:
        found, alike = moving_scores(Seen.of(one, attacker), Seen.of(two, attacker))
        assert (alike > 0) == (smaller in (one, two))
        assert found == pytest.approx(oracle.scores(plain(one), plain(two), owner, PULL))
        assert np.abs(found).max() > 0.5


@pytest.mark.realdata
def test_adult_is_given_away_by_a_changed_table_of_b(real_folder):
    there = adult(real_folder).originals
    policy = policy_of(runs.method(scope="qi"), there)
    trials = (simulate(policy, one, runs.keys(1)) for one in (there, *islice(losing(there, "b", 1), 2)))
    two, three = compared("lost_1_percent", "b", trials, there)
    assert two.everybody.auc > 0.63
    assert three.everybody.auc > 0.69
