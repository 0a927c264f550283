"""The bootstrap draws people with replacement, and its intervals hold what they should."""

import numpy as np
import pytest

from setveil.metrics.tasks import resampling as module


@pytest.mark.parametrize("at_once", [1, 1 << 19])
def test_every_sample_has_as_many_people(at_once, monkeypatch):
    drawn = np.concatenate(list(module.weights(7, 0)))
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    assert np.array_equal(np.concatenate(list(module.weights(7, 0))), drawn)
    assert drawn.shape == (module.DRAWS, 7)
    assert drawn.sum(axis=1) == pytest.approx(1)
    times = drawn * 7
    assert times == pytest.approx(np.round(times))
    # The number of times that a person is drawn is binomial with 7 draws of probability 1/7.
    assert times.var() == pytest.approx(6 / 7, abs=0.05)


def test_the_interval_of_a_share_of_a_gain_holds_it():
    rng, held, trials = np.random.default_rng(3), 0, 100
    for seed in range(trials):
        baseline = rng.normal(0, 1, 100)
        before = baseline + rng.normal(1, 1, 100)
        after = baseline + 0.6 * (before - baseline) + rng.normal(0, 0.5, 100)
        scores = np.stack([after, before, baseline], axis=1)
        kept = module.gain_kept(scores.mean(axis=0), module.resampled_means(scores, seed))
        held += kept.interval[0] <= 0.6 <= kept.interval[1]
        assert kept.of_original[0] > 0
    assert 0.89 * trials <= held <= trials


def test_no_share_of_a_gain_that_may_be_none():
    scores = np.random.default_rng(0).normal(0, 1, (50, 3))
    kept = module.gain_kept(scores.mean(axis=0), module.resampled_means(scores, 0))
    assert kept.of_original[0] <= 0
    assert np.isnan(kept.share)
