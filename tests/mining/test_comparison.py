"""Two collections of itemsets side by side: exact, by label, over vocabularies that differ."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.kernels.threads import using_threads
from setveil.mining import lookup
from setveil.mining.comparison import compare
from setveil.mining.itemsets import Itemsets

from oracle import mining as oracle
from support.exhaustive import examples
from support.random_data import seeds


def itemsets(sets):
    """Return these sets of labels as `Itemsets`, with a vocabulary of the labels that occur."""
    data = sv.from_lists(sets)
    return Itemsets(data.offsets, data.items, np.arange(len(sets), dtype=np.int64), data.vocabulary, len(sets))


def drawn(rng, labels):
    """Return some distinct sets of labels, never empty."""
    sets = {frozenset(rng.choice(labels, int(rng.integers(1, 5)), replace=False).tolist()) for _ in range(40)}
    return sorted(map(sorted, sets), key=lambda one: (len(one), one))


def as_sets(found):
    return {frozenset(labels) for labels, _support in found}


@pytest.mark.plain_python
@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_kept_lost_and_new_equal_the_definition(seed):
    rng = np.random.default_rng(seed)
    # Numbers are ordered as numbers, until a label that is none joins them: then codes come in another order.
    numbers = [str(n) for n in range(5, 13)]
    before = drawn(rng, numbers)
    after = drawn(rng, [*numbers[2:], "new"] if rng.random() < 0.7 else numbers)
    found = compare(itemsets(before), itemsets(after))
    kept, lost, new = oracle.compare(before, after)
    assert (as_sets(found.kept_sets()), as_sets(found.lost_sets()), as_sets(found.new_sets())) == (kept, lost, new)
    assert (found.kept, found.lost, found.new) == (len(kept), len(lost), len(new))
    assert found.similarity == pytest.approx(float(oracle.jaccard(map(frozenset, before), map(frozenset, after))))


@pytest.mark.parametrize("threads", [1, 3])
def test_sets_with_equal_hashes_are_told_apart(threads, monkeypatch):
    monkeypatch.setattr(lookup, "_random_words", lambda how_many: np.full(how_many, 12345, np.uint64))
    monkeypatch.setattr(lookup, "SETS_AT_ONCE", 3)
    rng = np.random.default_rng(1)
    before, after = drawn(rng, list("abcdefgh")), drawn(rng, list("cdefghij"))
    with using_threads(threads):
        found = compare(itemsets(before), itemsets(after))
    assert (as_sets(found.kept_sets()), as_sets(found.lost_sets()), as_sets(found.new_sets())) == oracle.compare(
        before, after
    )


def test_nothing_beside_something():
    some, none = itemsets([["a"], ["a", "b"]]), itemsets([])
    assert (compare(some, none).kept, compare(some, none).lost, compare(some, none).new) == (0, 2, 0)
    assert (compare(none, some).kept, compare(none, some).lost, compare(none, some).new) == (0, 0, 2)
    assert compare(none, some).similarity == 0
    assert compare(none, none).similarity is None
    assert compare(some, some).similarity == 1
