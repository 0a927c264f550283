"""The loss by suppression and by generalization, against its slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.data.forms.generalized import Generalized
from setveil.data.records.alignment import Alignment
from setveil.metrics.generalization import LossSplit

from oracle.global_suppression import loss_split
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def disturbed(data, rng, names):
    """Return rows of random records, some twice and some never, that lost and gained items and nodes."""
    records = as_sets(data)
    rows = rng.integers(0, len(records), int(rng.integers(1, 2 * len(records) + 1)))
    released = []
    for row in rows.tolist():
        kept = {item for item in records[row] if rng.random() < 0.6}
        released.append(kept | {name for name in names if rng.random() < 0.15})
    return rows, released


@settings(max_examples=examples(150))
@given(seed=seeds)
def test_it_agrees_with_the_oracle(seed):
    data, _categories = make(seed, items=12)
    if not data.occurrences:
        return
    rng = np.random.default_rng(seed)
    covered = [label for label in data.vocabulary if rng.random() < 0.8] or list(data.vocabulary)
    tree = sv.Hierarchy.balanced(covered, int(rng.integers(2, 4)))
    parent_of = tree.parent_of()
    rows, released = disturbed(data, rng, [*sorted(set(parent_of.values())), "unheard of"])
    for published, above in ((Generalized(sv.from_lists(released), tree), parent_of), (sv.from_lists(released), {})):
        measured = LossSplit()(data, published, Alignment(rows))
        gone, generalized = loss_split(as_sets(data), rows.tolist(), released, above)
        assert measured.details["occurrences-suppressed"] == gone
        assert measured.details["suppression"] == pytest.approx(gone / data.occurrences)
        assert measured.details["generalization"] == pytest.approx(float(generalized) / data.occurrences)
        assert measured.value == pytest.approx((gone + float(generalized)) / data.occurrences)


def test_an_example_by_hand():
    """Of 5 occurrences one is gone; two are shown as one of two items of three, which loses 1/2 each; the root loses all."""
    data = sv.from_lists([["a", "b", "s"], ["a"], ["c"]])
    tree = sv.Hierarchy({"a": "ab", "b": "ab", "ab": "top", "c": "top"})
    published = Generalized(sv.from_lists([["ab"], ["a"], ["top"]]), tree)
    measured = LossSplit()(data, published, Alignment.identity(3))
    assert measured.details == {"suppression": 1 / 5, "generalization": 2 / 5, "occurrences-suppressed": 1}
    assert measured.value == pytest.approx(3 / 5)


def test_a_tree_over_a_single_item_loses_nothing():
    data = sv.from_lists([["a"], ["a"]])
    published = Generalized(sv.from_lists([["top"], []]), sv.Hierarchy({"a": "top"}))
    measured = LossSplit()(data, published, Alignment.identity(2))
    assert measured.details == {"suppression": 1 / 2, "generalization": 0.0, "occurrences-suppressed": 1}


def test_without_items_there_is_no_figure():
    data = sv.from_lists([[]])
    assert LossSplit()(data, data, Alignment.identity(1)).reason == "the original holds no item"
