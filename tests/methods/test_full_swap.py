"""FullSwap: whole records of a single category are swapped."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv

from oracle import tendency as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def full_swap(counts, *, full_min=2, seed=0):
    """Return data with the given number of single-category records per category, and the outcome of FullSwap."""
    lists = [[f"{g}{i}" for i in range(r % 3 + 2)] for g, count in counts.items() for r in range(count)]
    data = sv.from_lists([*lists, ["x0", "y0", "z0"]])
    categories = sv.Categories({i: i[0] for i in data.vocabulary})
    method = sv.FullSwap(categories=categories, full_min=full_min)
    return data, categories, method.apply(data, rng=np.random.default_rng(seed))


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
    data, categories, outcome = full_swap(counts)
    assert outcome.account["not-hidden"] == unhidden
    found = oracle.violations(as_sets(data), as_sets(outcome.published), categories, "whole")
    assert {kind for kind, _ in found} <= {"not-hidden"}
    assert len(found) == unhidden
    assert bool(outcome.advice) == bool(unhidden)


def test_swapping_whole_records_keeps_the_set_of_records():
    data, _categories, outcome = full_swap({"a": 4, "b": 5, "c": 3})
    assert sorted(map(sorted, data.to_lists())) == sorted(map(sorted, outcome.published.to_lists()))
    assert data.to_lists() != outcome.published.to_lists()


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_full_min_1_includes_single_items(seed):
    data, categories = make(seed)
    method = sv.FullSwap(categories=categories, full_min=1)
    outcome = method.apply(data, rng=np.random.default_rng(seed))
    found = oracle.violations(as_sets(data), as_sets(outcome.published), categories, "whole", full_min=1)
    assert len(found) == outcome.account["not-hidden"]
    assert {kind for kind, _ in found} <= {"not-hidden"}


def test_rows_without_ids_are_refused():
    data, categories, _outcome = full_swap({"a": 3, "b": 3})
    with pytest.raises(sv.BadParameter, match="`ids='pseudonym'`"):
        sv.publish(data, sv.FullSwap(categories=categories), ids="drop")


def test_unchanged_records_are_on_the_card_and_counted_as_not_covered(tmp_path):
    one = [[f"{g}{i}" for i in range(2)] for g in "abab"]
    several = [["a0", "a1", "b0"], ["b0", "b1", "c0"], ["c0", "d0"], ["d1"]]
    data = sv.from_lists([*one, *several], ids=[f"p{r}" for r in range(8)])
    categories = sv.Categories({i: i[0] for i in data.vocabulary})
    release = sv.publish(data, sv.FullSwap(categories=categories), seed=2**90, metrics=[])
    assert (release.verdict.reach.covered, release.verdict.reach.total) == (4, 8)
    assert release.verdict.counts["not-covered"] == 2
    assert "2 have a tendency that is not covered" in str(release.verdict)
    promise = release.save(tmp_path / "release").guarantee
    assert promise.reach.covered == 4
    assert promise.published_unchanged == 4
    assert "Records of several categories are not covered" in promise.statement
    assert promise.not_covered[0].startswith("records of several categories, even with a tendency")
    assert "single category" in promise.inference


def test_a_refusal_suggests_only_parameters_of_the_method():
    _data, _categories, outcome = full_swap({"a": 9, "b": 1})
    assert "8 of 10 records of a single category could not be hidden" in outcome.advice
    assert "9 of these 10 lean to the category 'a'" in outcome.advice
    assert "leftovers" not in outcome.advice
    assert "help" not in outcome.advice
