"""The dummy test finds dependence that is there, and none where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.presence.attack.dummy_test import dummy_test, side_scores, table_scores
from setveil.presence.attack.ranking import area_under_curve, ranking
from setveil.presence.attack.view import Split, owners, passed_splits

from support import presence_attack_runs as runs


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_the_area_counts_pairs_with_ties_halved(users):
    score, present = np.array([s for s, _p in users], dtype=float), np.array([p for _s, p in users])
    pairs = [(a, b) for a, is_a in users if is_a for b, is_b in users if not is_b]
    found = area_under_curve(score, present)
    if not pairs:
        assert found is None
    else:
        assert found == pytest.approx(sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs))


def test_tails_share_out_ties():
    score = np.array([0.0] * 10 + [1.0] * 90)
    present = np.array([True, False] * 50)
    found = ranking(score, present)
    assert (found.tail, found.lowest, found.prior) == (5, 0.5, 0.5)
    assert found.highest == pytest.approx(0.5)
    descending = ranking(-np.arange(100.0), np.arange(100) < 5)
    assert (descending.lowest, descending.highest, descending.auc) == (0.0, 1.0, 1.0)


def _planted(dependence, seed=1):
    """Return divisions by the other provider: users of both follow their first attribute as often as said, dummies never do."""
    rng = np.random.default_rng(seed)
    people = 4_000
    own, present = rng.random(people) < 0.7, rng.random(people) < 0.5
    features = np.column_stack((rng.integers(0, 2, people), rng.integers(0, 40, people)))
    splits = []
    for number in range(6):
        follows = present & (rng.random(people) < dependence)
        lower = np.where(follows, features[:, 0] == number % 2, rng.random(people) < 0.5)
        splits.append(Split("0" * number, np.arange(people), lower))
    return splits, own, features, present


def test_planted_dependence_is_found():
    splits, own, features, present = _planted(0.9)
    scores = side_scores(splits, own, features)
    assert area_under_curve(scores[own], present[own]) > 0.95
    assert not scores[~own].any()


@pytest.mark.parametrize("seed", range(3))
def test_without_dependence_nothing_is_found(seed):
    splits, own, features, present = _planted(0.0, seed)
    auc = area_under_curve(side_scores(splits, own, features)[own], present[own])
    assert abs(auc - 0.5) < 0.03  # three standard deviations of 2,800 users


def test_a_user_does_not_vote_for_itself():
    # Ten users in eight cells: who is alone in a cell has nobody alike, and nothing is learned from it.
    ids = np.arange(10)
    scores = side_scores([Split("", ids, ids % 2 == 0)], np.ones(10, dtype=bool), ids[:, None])
    assert scores[[0, 1, 2, 5, 6, 7]] == pytest.approx(0)
    assert (scores[[3, 4, 8, 9]] < -0.01).all()  # in twos, and each goes against the other


def test_divisions_are_those_of_the_ways():
    divided = runs.trial().b.divided
    owner_of = owners(divided)
    ways = [divided.ways[group].decode() for group in divided.groups.group_of]
    found = {split.way: split for owner in "ab" for split in passed_splits(divided, owner)}
    inner = {way[:length] for way in set(ways) for length in range(len(way))}
    assert set(found) == inner
    assert {split.way for split in passed_splits(divided, "a")} == {way for way in inner if owner_of[way] == "a"}
    for way, split in found.items():
        below = [place for place, whole in enumerate(ways) if whole.startswith(way)]
        assert split.ids.tolist() == below
        assert split.lower.tolist() == [ways[place][len(way)] == "0" for place in below]


def test_scores_of_the_table_are_shares_of_cells():
    trial, there = runs.trial(), runs.originals()
    divided, own, at_a = trial.b.divided, there.existing("b"), there.existing("a")
    scores = table_scores(divided, there, "b")
    user = int(np.flatnonzero(own)[17])
    group_of, value = divided.groups.group_of, there.sensitive()
    alike = own & (group_of == group_of[user]) & (value == value[user])
    common, rest = int((alike & at_a).sum()), int((alike & ~at_a).sum())
    assert np.exp(scores[user]) == pytest.approx((common + 0.5) / (rest + 0.5))


@pytest.mark.parametrize("attacker", ["a", "b"])
def test_on_the_sample_it_learns_something(attacker):
    found = dummy_test(runs.trial(), runs.originals(), attacker)
    assert found.together.auc > 0.55
    assert found.sides.users == len(runs.originals().table(attacker))
    assert found.to_dict()["sides"]["prior"] == found.table.prior


@pytest.mark.realdata
def test_adult_is_attacked_at_least_as_well_as_in_the_specification(real_folder):
    from setveil.presence.trial import policy_of, simulate  # noqa: PLC0415 - with the real data alone
    from setveil.reproduce.adult import adult_originals  # noqa: PLC0415 - the same

    there = adult_originals(real_folder)
    trial = simulate(policy_of(runs.method(), there), there, runs.keys(1))
    found = dummy_test(trial, there, "b")
    assert found.sides.auc > 0.66
    assert found.sides.lowest < 0.12 < found.sides.prior == 0.5
