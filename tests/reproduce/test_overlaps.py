"""The estimated bound: as its definition says, whatever the number of threads, and never above what a safe release keeps."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.kernels.threads import using_threads
from setveil.reproduce import overlaps
from setveil.reproduce.overlaps import best_overlaps, estimated_bound, most_needed, needed_others

from oracle import overlaps as plain
from oracle.uncertainty import subsets, unsafe_items
from support.exhaustive import examples

RECORDS = st.lists(st.sets(st.integers(0, 9), max_size=7), min_size=1, max_size=25)
RHOS = [Fraction(share, 10) for share in range(1, 10)]


def as_lists(records):
    return [[f"i{item}" for item in sorted(record)] for record in records]


@settings(max_examples=examples(150), deadline=None)
@given(RECORDS, st.integers(1, 5))
def test_overlaps_are_those_of_all_pairs(records, k):
    data = sv.from_lists(as_lists(records))
    assert best_overlaps(data, k).tolist() == plain.best_overlaps(records, k)


def test_threads_and_parts_change_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    records = [set(np.minimum(rng.zipf(1.3, 1 + n % 9), 40).tolist()) for n in range(600)]
    data = sv.from_lists(as_lists(records))
    expected = plain.best_overlaps(records, 4)
    for threads, at_once in product((1, 2), (7, 500)):
        monkeypatch.setattr(overlaps, "AT_ONCE", at_once)
        with using_threads(threads):
            assert best_overlaps(data, 4).tolist() == expected


@settings(max_examples=examples(100), deadline=None)
@given(RECORDS, st.sets(st.integers(0, 9)), st.sampled_from(RHOS))
def test_the_bound_is_that_of_the_definition(records, sensitive, rho):
    data = sv.from_lists(as_lists(records))
    is_sensitive = np.array([int(label[1:]) in sensitive for label in data.vocabulary], np.bool_)
    found = best_overlaps(data, most_needed([rho]))
    assert estimated_bound(data, is_sensitive, rho, found) == pytest.approx(
        plain.estimated_bound(records, sensitive, rho)
    )


@pytest.mark.parametrize("rho", [Fraction(3, 10), Fraction(1, 2), Fraction(7, 10)])
def test_no_release_of_the_records_that_is_safe_keeps_more(rho):
    records = [{0, 1, 2}, {0, 1}, {2, 3}, {0, 2}]
    sensitive = {2}
    data = sv.from_lists(as_lists(records))
    is_sensitive = np.array([label == "i2" for label in data.vocabulary])
    bound = estimated_bound(data, is_sensitive, rho, best_overlaps(data, 3))
    total = sum(map(len, records))
    least = total
    kept = [[*subsets(record)] for record in records]
    for release in product(*kept):
        if not unsafe_items([*release], sensitive, rho, include_empty=False):
            least = min(least, total - sum(map(len, release)))
    assert bound <= least / total
    assert least > 0


def test_how_many_others_are_needed():
    assert [needed_others(rho) for rho in RHOS] == [9, 4, 3, 2, 1, 1, 1, 1, 1]
    assert most_needed(RHOS) == 9
    assert needed_others(Fraction(1)) == 0
    assert most_needed([Fraction(1)]) == 1
