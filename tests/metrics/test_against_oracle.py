"""The metrics against their definitions, and what each can and cannot see."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.data.alignment import Alignment
from setveil.engines.local import LocalEngine
from setveil.metrics.distribution import Dissimilarity
from setveil.metrics.records import FalseContent, RecordLoss
from setveil.metrics.tendency import StillOnTop, TendencyPosterior

from oracle import tendency as oracle
from random_data import as_sets, make, seeds


def shaken(data, seed):
    """Return data of the same number of records that partly differ, and the rows they came from."""
    rng = np.random.default_rng(seed)
    lists = as_sets(data)
    for t in lists:
        if t and rng.random() < 0.4:
            t.discard(min(t))
        if rng.random() < 0.4:
            t.add(f"i{rng.integers(60):03}")
    rows = rng.permutation(len(lists))
    return lists, sv.from_lists([lists[r] for r in rows]), Alignment(rows)


def same(value, expected):
    return value is None if expected is None else math.isclose(value, float(expected), abs_tol=1e-12)


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_every_figure_equals_its_definition(seed):
    data, categories = make(seed)
    original = as_sets(data)
    released, published, alignment = shaken(data, seed)
    assert same(RecordLoss()(data, published, alignment).value, oracle.record_loss(original, released))
    if any(released):
        assert same(FalseContent()(data, published, alignment).value, oracle.false_content(original, released))
    if any(original):
        for form in ("per-item", "printed"):
            value = Dissimilarity(form=form)(data, published).value
            assert same(value, oracle.dissimilarity(original, released, form))
        known = {i: categories[i] for i in data.vocabulary}
        expected = oracle.still_on_top(original, released, known)
        assert same(StillOnTop(categories=categories)(data, published, alignment).value, expected)


def test_the_printed_form_lets_gains_and_losses_cancel():
    before, after = sv.from_lists([["a", "b"]]), sv.from_lists([["a", "c"]])
    assert Dissimilarity(form="printed")(before, after).value == 0
    assert Dissimilarity()(before, after).value == 1


def test_shuffling_whole_records_is_seen_by_record_loss_alone():
    data, _categories = make(11, records=50, items=30)
    rows = np.roll(np.arange(50), 1)
    shuffled = data.take(rows)
    assert Dissimilarity()(data, shuffled).value == 0
    assert RecordLoss()(data, shuffled, Alignment.identity(50)).value > 0.5


def leaning(groups, people, seed):
    """Return people who each lean to one category, and have one item of every third other."""
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(people):
        g = int(rng.integers(groups))
        others = [h for h in range(groups) if h != g and rng.random() < 0.3]
        lists.append(
            [f"g{g}-{i}" for i in rng.choice(40, 3, replace=False)] + [f"g{h}-{rng.integers(40)}" for h in others]
        )
    data = sv.from_lists(lists)
    return data, sv.Categories({i: i.split("-")[0] for i in data.vocabulary})


def posterior(data, published, categories):
    return TendencyPosterior(categories=categories)(data, published, Alignment.identity(data.records))


def test_an_attacker_names_every_tendency_that_was_not_hidden():
    data, categories = leaning(8, 3000, 1)
    measured = posterior(data, data, categories)
    assert measured.value > 0.99
    assert 0.1 < measured.details["base-rate"] < 0.2


@pytest.mark.parametrize("groups", [3, 5, 20])
def test_fewer_categories_tell_more_by_what_is_absent(groups):
    data, categories = leaning(groups, 4000, 2)
    method = sv.PartSwap(categories=categories)
    published = method.apply(data, rng=np.random.default_rng(0), engine=LocalEngine()).published
    measured = posterior(data, published, categories)
    # The hidden category is one of those absent from the row: with 3 there is hardly a choice, with 20 there are many.
    assert measured.value > measured.details["base-rate"]
    assert {3: measured.value > 0.5, 5: 0.25 < measured.value < 0.6, 20: measured.value < 0.2}[groups]


def test_suppressing_blocks_tells_the_attacker_as_much_as_swapping_by_absence():
    data, categories = leaning(10, 3000, 3)
    rest = [[i for i in t if categories[i] != oracle.top(t, categories)] for t in map(set, data.to_lists())]
    measured = posterior(data, sv.from_lists(rest), categories)
    assert measured.details["absent"] > measured.details["base-rate"]
    assert measured.value == max(measured.details[k] for k in ("absent", "beside-heaviest", "bayes"))
