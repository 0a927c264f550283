"""The reconstruction error: that of the definition, and not defined where that is not."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.metrics.reconstruction import ReconstructionKl

from contract.forms import disturbed
from oracle import permutation as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

SMOOTHING = st.sampled_from([0.0, 0.5, 3.0])


def drawn(seed):
    data, _categories = make(seed)
    rng = np.random.default_rng(seed)
    return data, {label for label in data.vocabulary if rng.random() < 0.4}, rng


def agree(measured, expected):
    if expected is None:
        assert measured.value is None
        assert measured.reason
    else:
        assert measured.value == pytest.approx(expected, abs=1e-12)


@settings(max_examples=examples(150))
@given(seeds, st.integers(1, 5), SMOOTHING)
def test_of_grouped_data_it_is_that_of_the_definition(seed, cells, smoothing):
    data, sensitive, rng = drawn(seed)
    group = np.sort(rng.integers(0, 1 + data.records // 3, data.records))
    group = np.unique(group, return_inverse=True)[1]
    grouped = sv.Grouped.of_records(data, sv.SensitiveItems(sensitive).among(data), group)
    measured = ReconstructionKl(sensitive=sensitive, items_in_cell=cells, smoothing=smoothing)(data, grouped)
    records = as_sets(data)
    asked = oracle.most_frequent(records, sensitive, cells)
    told = oracle.estimate(grouped.to_groups(), asked)
    agree(measured, oracle.divergence(records, told, sensitive, asked, smoothing) if asked else None)


@settings(max_examples=examples(150))
@given(seeds, st.integers(1, 5), SMOOTHING)
def test_of_plain_records_it_is_that_of_the_definition(seed, cells, smoothing):
    data, sensitive, rng = drawn(seed)
    released, _alignment = disturbed(data, rng)
    measured = ReconstructionKl(sensitive=sensitive, items_in_cell=cells, smoothing=smoothing)(data, released)
    records = as_sets(data)
    asked = oracle.most_frequent(records, sensitive, cells)
    told = oracle.counted(as_sets(released), asked)
    agree(measured, oracle.divergence(records, told, sensitive, asked, smoothing) if asked else None)


def test_an_example_by_hand():
    """Of four records two hold s, both with a: in one group the release tells a with a half of them."""
    data = sv.from_lists([["a", "s"], ["a", "s"], ["b"], ["b"]])
    grouped = sv.Grouped.from_groups([([["a"], ["a"], ["b"], ["b"]], {"s": 2})])
    measured = ReconstructionKl(sensitive=["s"], items_in_cell=1)(data, grouped)
    assert measured.value == pytest.approx(log(2))
    assert measured.details == {
        "sensitive-items": 1,
        "cells": 2,
        "items-gone": 0,
        "items-with-lost-cells": 0,
        "largest": pytest.approx(log(2)),
    }


def test_lost_cells_and_lost_items_are_told_and_smoothing_helps():
    data = sv.from_lists([["a", "s"], ["s"], ["a", "t"], ["a"]])
    released = sv.from_lists([["a", "s"], [], ["a"], ["a"]])
    plain = ReconstructionKl(sensitive=["s", "t"])(data, released)
    assert plain.value is None
    assert plain.reason.startswith(
        "2 of 2 sensitive items are missing in cells where they occurred, 1 of them in all cells"
    )
    smooth = ReconstructionKl(sensitive=["s", "t"], smoothing=0.5)(data, released)
    assert smooth.value > 0
    assert smooth.details["items-gone"] == 1
    assert smooth.details["items-with-lost-cells"] == 2


@pytest.mark.parametrize(
    ("lists", "sensitive", "says"),
    [
        ([["a"]], [], "holds no sensitive item"),
        ([["a"]], ["b"], "holds no sensitive item"),
        ([["s"]], ["s"], "holds no item that is not sensitive"),
    ],
)
def test_it_is_not_defined_without_items(lists, sensitive, says):
    data = sv.from_lists(lists)
    measured = ReconstructionKl(sensitive=sensitive)(data, data)
    assert measured.value is None
    assert says in measured.reason


@settings(max_examples=examples(50))
@given(seeds)
def test_groups_of_one_tell_all_and_one_group_tells_least(seed):
    data, sensitive, _rng = drawn(seed)
    mask = sv.SensitiveItems(sensitive).among(data)
    metric = ReconstructionKl(sensitive=sensitive)
    single = metric(data, sv.Grouped.of_records(data, mask, np.arange(data.records)))
    whole = metric(data, sv.Grouped.of_records(data, mask, np.zeros(data.records, np.int64)))
    if single.value is not None:
        assert single.value == pytest.approx(0, abs=1e-12)
        assert whole.value >= -1e-12
