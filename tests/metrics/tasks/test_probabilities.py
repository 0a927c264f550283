"""R² of the probabilities of pairs equals the definition, and its interval what counting anew in each sample gives."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.metrics.pair import Pair
from setveil.metrics.tasks import probabilities as module
from setveil.metrics.tasks.heldout import Heldout
from setveil.metrics.tasks.resampling import DRAWS, weights

from oracle import recommenders as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds
from support.taste_groups import people_of_tastes


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_it_equals_the_definition(seed):
    original, test, release = (make(seed + number, items=8)[0] for number in range(3))
    measured = sv.PairProbabilities().of(Pair(original, release, heldout=test))
    labels = [label for label, support in zip(original.vocabulary, original.supports, strict=True) if support]
    seen, before, after = (oracle.shares(as_sets(data), labels) for data in (test, original, release))
    if measured.value is None:
        spread = {seen[frozenset(pair)] for pair in combinations(labels, 2)}
        assert measured.reason
        assert len(spread) <= 1
        return
    pairs, items = oracle.pair_fit(after, seen)
    assert (measured.value, measured.details["items"]) == pytest.approx((pairs, items))
    true = dict(zip(("pairs", "items"), oracle.pair_fit(before, seen), strict=True))
    assert measured.details["original"] == pytest.approx(true)


def test_each_bootstrap_sample_is_as_if_counted_anew():
    data = people_of_tastes(2, 500, items=12)
    train, test = data.take(range(300)), data.take(range(300, 500))
    heldout = Heldout(train, test)
    seen = heldout.once(module._seen, 12, 0)
    shares = train.pair_supports(heldout.labels(12)).counts / 300
    drawn = module._drawn_fits(seen, shares, heldout.once(module._drawn, 12, 0), 0)
    assert len(drawn) == DRAWS
    table, above = heldout.table(12).toarray(), np.triu_indices(12, 1)
    for sample, fit in list(zip(np.concatenate(list(weights(200, 0))), drawn, strict=True))[::97]:
        counted = (table.T * sample @ table)[above]
        spread = ((counted - counted.mean()) ** 2).sum()
        assert fit == pytest.approx(1 - ((counted - shares[above]) ** 2).sum() / spread)


def test_fewer_people_are_drawn_if_their_records_are_long(monkeypatch):
    data = people_of_tastes(2, 500)
    train, test = data.take(range(300)), data.take(range(300, 500))
    monkeypatch.setattr(module, "MOST_PAIRS", 500)
    measured = sv.PairProbabilities().of(Pair(train, train, heldout=test))
    assert 20 < measured.details["sample"] < 100


def test_the_interval_holds_the_figure_for_other_people():
    """Of the people of one population, some are tested; R² of all of them should be in 95 % of the intervals, or nearly."""
    population = people_of_tastes(11, 8_000, items=12)
    train, rng = population.take(range(400)), np.random.default_rng(0)
    # What is estimated depends on the number of people tested, whose own spread adds to what is missed.
    drawn = [population.take(rng.choice(np.arange(400, 8_000), 400, replace=False)) for _time in range(40)]
    measured = [sv.PairProbabilities().of(Pair(train, train.take(range(200)), heldout=people)) for people in drawn]
    expected = np.mean([one.value for one in measured])
    assert sum(one.interval[0] <= expected <= one.interval[1] for one in measured) >= 34
    assert np.mean([one.interval[1] - one.interval[0] for one in measured]) < 0.5
