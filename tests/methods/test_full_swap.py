"""FullSwap: records of one category change owners."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.engines.local import LocalEngine

from oracle import tendency as oracle
from random_data import as_sets, make, seeds


def exchanged(counts, *, full_min=2, seed=0):
    """Return data of one-category records, so many of each, and what FullSwap makes of it."""
    lists = [[f"{g}{i}" for i in range(r % 3 + 2)] for g, count in counts.items() for r in range(count)]
    data = sv.from_lists([*lists, ["x0", "y0", "z0"]])
    categories = sv.Categories({i: i[0] for i in data.vocabulary})
    method = sv.FullSwap(categories=categories, full_min=full_min)
    return data, categories, method.apply(data, rng=np.random.default_rng(seed), engine=LocalEngine())


@pytest.mark.parametrize(
    ("counts", "unhidden"),
    [
        ({"a": 3, "b": 3}, 0),
        ({"a": 2, "b": 2, "c": 1}, 0),
        ({"a": 5, "b": 5, "c": 10}, 0),
        ({"a": 4, "b": 2, "c": 1}, 1),
        ({"a": 9, "b": 1}, 8),
        ({"a": 4}, 4),
    ],
)
def test_all_are_hidden_unless_one_category_has_more_than_half(counts, unhidden):
    data, categories, outcome = exchanged(counts)
    assert outcome.account["not-hidden"] == unhidden
    found = oracle.violations(as_sets(data), as_sets(outcome.published), categories, "whole")
    assert {kind for kind, _ in found} <= {"not-hidden"}
    assert len(found) == unhidden
    assert bool(outcome.advice) == bool(unhidden)


def test_whole_records_are_exchanged_so_that_the_records_stay_the_same_ones():
    data, _categories, outcome = exchanged({"a": 4, "b": 5, "c": 3})
    assert sorted(map(sorted, data.to_lists())) == sorted(map(sorted, outcome.published.to_lists()))
    assert data.to_lists() != outcome.published.to_lists()


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_single_items_join_when_asked(seed):
    data, categories = make(seed)
    method = sv.FullSwap(categories=categories, full_min=1)
    outcome = method.apply(data, rng=np.random.default_rng(seed), engine=LocalEngine())
    found = oracle.violations(as_sets(data), as_sets(outcome.published), categories, "whole", full_min=1)
    assert len(found) == outcome.account["not-hidden"]
    assert {kind for kind, _ in found} <= {"not-hidden"}


def test_it_is_refused_where_rows_stand_for_nobody():
    data, categories, _outcome = exchanged({"a": 3, "b": 3})
    with pytest.raises(sv.BadParameter, match="--ids pseudonym"):
        sv.publish(data, sv.FullSwap(categories=categories), ids="drop")
