"""Summaries: which set-ups no other one beats, and the worst status of the trials."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.comparison.results import ALL, SAMPLE, Estimate, compared, summarized
from setveil.comparison.running import titles

from comparison.made import trial


def summary(*trials, stage=ALL):
    return summarized("method", {}, "method", [*trials], stage=stage)


def test_a_summary_has_the_means_over_the_trials_and_of_the_ends_of_their_intervals():
    found = summary(trial(0.5, 0.1), trial(0.7, 0.3))
    assert found.task == pytest.approx(Estimate(0.6, 0.5, 0.7))
    assert found.excess == pytest.approx(Estimate(0.2, 0.1, 0.3))
    assert (found.attack, found.seconds, found.status) == ("find-record", 3.0, "holds")


def test_the_worst_status_of_the_trials_counts():
    found = summary(trial(), trial(status="refused"), trial(status="violated"))
    assert (found.status, found.reason) == ("violated", "in 2 of 3 trials: it is violated")
    assert found.fails


def test_the_strongest_attack_is_strongest_on_average():
    first, second = trial(excess=0.5, attack="a"), trial(excess=0.2, attack="a")
    second["findings"] += trial(excess=0.4, attack="b")["findings"]
    assert summary(first, second).attack == "b"


def beaten_by_none(points):
    """The definition: no other point is at least as good in both and better in one."""
    return {
        place
        for place, (task, excess) in enumerate(points)
        if not any(
            other_task >= task and other_excess <= excess and (other_task > task or other_excess < excess)
            for other_task, other_excess in points
        )
    }


shares = st.integers(-3, 5).map(lambda value: value / 5)


@given(st.lists(st.tuples(shares, shares), max_size=12))
def test_the_best_set_ups_are_those_of_the_definition(points):
    found = compared([summary(trial(*point)) for point in points], higher_is_better=True)
    assert {place for place, one in enumerate(found) if one.is_best} == beaten_by_none(points)
    lower = compared([summary(trial(-task, excess)) for task, excess in points], higher_is_better=False)
    assert [one.is_best for one in lower] == [one.is_best for one in found]


def test_what_does_not_hold_or_ran_on_a_sample_is_not_best_and_beats_nothing():
    found = compared(
        [
            summary(trial(0.9, 0.0, status="violated")),
            summary(trial(0.9, 0.0), stage=SAMPLE),
            summary(trial(0.9, 0.0, status="no guarantee")),
            summary(trial(0.2, 0.2)),
        ],
        higher_is_better=True,
    )
    assert [one.is_best for one in found] == [False, False, False, True]
    assert [one.task_rank for one in found] == [1, None, 1, 3]


def test_titles_have_the_parameters_that_differ_between_set_ups_of_a_method():
    set_ups = [("a", {"k": "2", "m": "1"}), ("a", {"k": "3", "m": "1"}), ("a", {"m": "1"}), ("b", {"k": "2"})]
    assert titles(set_ups) == ["a k=2", "a k=3", "a", "b"]
