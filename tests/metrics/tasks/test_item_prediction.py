"""Prediction of an item: areas equal the definition, and what is learned from noise is worth nothing."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.metrics.pair import Pair
from setveil.metrics.tasks import item_prediction as module
from setveil.metrics.tasks.heldout import Heldout

from oracle import recommenders as oracle
from support.exhaustive import examples
from support.random_data import seeds
from support.taste_groups import people_of_tastes


@settings(max_examples=examples(80), deadline=None)
@given(seed=seeds)
def test_the_area_is_the_probability_that_a_holder_is_higher(seed):
    rng = np.random.default_rng(seed)
    holds = rng.permutation(np.arange(int(rng.integers(2, 20))) < rng.integers(1, 10))
    if holds.all():
        holds[0] = False
    scores = rng.integers(0, 5, len(holds)).astype(float)
    area, parts = module.auroc(scores, holds)
    assert area == pytest.approx(oracle.auroc(scores, holds))
    assert parts.mean() == pytest.approx(0)


def test_what_a_person_adds_is_the_change_with_a_little_more_of_them():
    rng = np.random.default_rng(4)
    holds, scores = rng.random(30) < 0.4, rng.integers(0, 9, 30).astype(float)
    area, parts = module.auroc(scores, holds)
    for person in range(30):
        copies = np.full(30, 1000)
        copies[person] += 1
        more = oracle_area(scores, holds, copies)
        assert (more - area) * copies.sum() == pytest.approx(parts[person], rel=0.01, abs=1e-3)


def oracle_area(scores, holds, copies):
    """Return the area if there are several copies of each person."""
    return sum(
        copies[i] * copies[j] * ((scores[i] > scores[j]) + (scores[i] == scores[j]) / 2)
        for i in np.flatnonzero(holds)
        for j in np.flatnonzero(~holds)
    ) / (copies[holds].sum() * copies[~holds].sum())


@pytest.fixture(scope="module")
def heldout():
    data = people_of_tastes(3, 1500)
    return Heldout(data.take(range(1000)), data.take(range(1000, 1500)))


def test_a_release_like_the_original_is_worth_it_and_noise_is_not(heldout):
    train = heldout.original
    metric = sv.ItemPrediction(targets=6)
    same = metric.of(Pair(train, train, heldout=heldout))
    assert same.value == 1
    assert same.details["auroc"]["original"] > 0.7
    assert len(same.details["by-item"]) == same.details["targets"] == 6
    rng = np.random.default_rng(0)
    shuffled = sv.Transactions.from_codes(train.offsets, rng.permutation(train.items), train.vocabulary)
    noise = metric.of(Pair(train, shuffled, heldout=heldout))
    assert noise.interval[0] < noise.value < noise.interval[1] < 0.5
    nothing = metric.of(Pair(train, sv.from_lists([[]] * 5), heldout=heldout))
    assert nothing.value == 0
    assert {one["release"] for one in nothing.details["by-item"].values()} == {0.5}


def test_the_target_is_not_among_what_it_is_predicted_from(heldout):
    """An item that is always held with another is predicted by it, and by itself never."""
    train, test = heldout.original, heldout.people
    alone = sv.Transactions.from_codes(np.arange(train.records + 1), np.arange(train.records) % 5, [*"abcde"])
    people = sv.Transactions.from_codes(np.arange(test.records + 1), np.arange(test.records) % 5, [*"abcde"])
    measured = sv.ItemPrediction(targets=5).of(Pair(alone, alone, heldout=people))
    assert measured.details["auroc"]["original"] == 1.0  # nobody without another item holds it
    table = heldout.table(5)
    scores = module._predicted(table, table, 0)
    hidden = module._without(table, 0)
    assert scores.tolist() == module._predicted(table, hidden, 0).tolist()


def test_at_most_some_rows_are_learned_from(heldout, monkeypatch):
    monkeypatch.setattr(module, "ROWS", 50)
    learned = []
    real = module._predicted
    monkeypatch.setattr(
        module, "_predicted", lambda known, *given: learned.append(known.shape[0]) or real(known, *given)
    )
    fresh = Heldout(heldout.original, heldout.people)
    sv.ItemPrediction(targets=2).of(Pair(heldout.original, heldout.original, heldout=fresh))
    assert learned == [50] * 4


def test_without_scikit_learn_it_says_what_to_install(heldout, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(sv.Missing, match=r"requires scikit-learn, .*; install it with: pip install 'setveil\[learn\]'"):
        sv.ItemPrediction()(heldout.original, heldout.original)
    (measured,) = sv.measure(heldout.original, heldout.original, ["item-prediction"])
    assert "requires scikit-learn" in measured.reason
