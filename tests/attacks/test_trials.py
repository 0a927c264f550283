"""The statistics of attacks, against SciPy and against what they state."""

import numpy as np
import pytest
from scipy.stats import binomtest

from setveil.attacks.base import FOUND, TOO_FEW, TOO_WEAK, Finding
from setveil.attacks.trials import Excess, Trial, difference


@pytest.mark.parametrize(("right", "tried"), [(0, 10), (1, 10), (5, 10), (10, 10), (37, 2000), (1999, 2000)])
def test_the_interval_is_that_of_wilson(right, tried):
    wanted = binomtest(right, tried).proportion_ci(method="wilson")
    assert Trial(right, tried).interval == pytest.approx((wanted.low, wanted.high))


def test_a_known_rate_has_no_interval_and_no_guesses_tell_nothing():
    assert Trial.known(0.2).interval == (0.2, 0.2)
    assert Trial(0, 0).interval == (0.0, 1.0)


def test_the_best_of_several_has_a_wider_interval():
    one, best = Trial(30, 100).interval, Trial(30, 100, best_of=3).interval
    assert best[0] < one[0] < one[1] < best[1]


@pytest.mark.parametrize(("p", "q"), [(0.02, 0.01), (0.3, 0.3), (0.9, 0.5), (0.01, 0.01)])
def test_differences_are_covered(p, q):
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(400):
        low, high = difference(Trial(rng.binomial(500, p), 500), Trial(rng.binomial(300, q), 300))
        inside += low <= p - q <= high
    assert inside >= 0.92 * 400


def test_the_excess_is_a_share_of_what_the_control_leaves_open():
    found = Excess.of(Trial(60, 100), Trial(20, 100))
    assert found.value == pytest.approx(0.5)
    assert found.low < 0.5 < found.high <= 1
    assert Excess.of(Trial(10, 10), Trial.known(1.0)).value == 0


@pytest.mark.parametrize(
    ("main", "naive", "control", "verdict"),
    [
        (Trial(300, 1000), Trial.known(0.1), None, FOUND),
        (Trial(100, 1000), Trial.known(0.1), None, TOO_WEAK),
        (Trial(1, 10), Trial.known(0.1), None, TOO_FEW),
        (Trial(300, 1000), Trial.known(0.1), Trial(100, 1000), FOUND),
        (Trial(3000, 10000), Trial.known(0.1), Trial(3000, 10000), TOO_WEAK),
        (Trial(3000, 10000), Trial.known(0.3), Trial(1000, 10000), TOO_WEAK),
    ],
)
def test_what_a_finding_says(main, naive, control, verdict):
    found = Finding("an-attack", {}, main, naive, control)
    said = found.verdict
    assert said == verdict or {said, verdict} == {TOO_FEW, TOO_WEAK}
    assert (said == FOUND) == (verdict == FOUND)
    assert "safe" not in found.sentence


def test_a_limit_is_judged_on_the_upper_end():
    found = Finding("an-attack", {}, Trial(10, 1000), Trial.known(0.0))
    low, high = found.excess.low, found.excess.high
    assert not found.exceeds(high)
    assert found.exceeds((low + high) / 2)
    assert not Finding("an-attack", reason="nothing to attack").exceeds(0.0)


def test_a_bound_is_exceeded_with_more_than_chance():
    assert Finding("an-attack", {}, Trial(600, 1000), Trial.known(0.1), bound=0.5).above_bound
    assert not Finding("an-attack", {}, Trial(510, 1000), Trial.known(0.1), bound=0.5).above_bound
