"""Supports in bulk: equal to the definition, whatever form the itemsets come in and however the work is cut."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.mining import supports as module
from setveil.mining.itemsets import Itemsets
from setveil.mining.supports import supports

from oracle import mining as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def questions(data, seed, how_many=40):
    """Return itemsets that records hold, that none holds, with unknown and with repeated items, and the empty one."""
    rng = np.random.default_rng(seed)
    lists = [record for record in data.to_lists() if record]
    asked = [[], ["unknown"]]
    for _ in range(how_many):
        pool = lists[rng.integers(len(lists))] if lists and rng.random() < 0.7 else list(data.vocabulary)
        size = int(rng.integers(0, min(len(pool), 6) + 1))
        one = [str(item) for item in rng.choice(pool, size, replace=False)] if pool else []
        if rng.random() < 0.1:
            one += ["unknown", *one]
        if one and rng.random() < 0.1:
            one += one[:1]
        asked.append(one)
    return asked


# One record in so many makes an item hot: with 1 hardly any is, with 10,000 all are, and in between both kinds meet in a set.
@pytest.mark.parametrize("hot", [1, 4, 10_000])
@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_supports_equal_the_definition(hot, seed):
    data, _categories = make(seed)
    asked = questions(data, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HOT", hot)
        patch.setattr(module, "SETS_AT_ONCE", 1 + seed % 7)
        patch.setattr(module, "MANY", 1 + seed % 4)
        patch.setattr(module, "OCCURRENCES_AT_ONCE", (1 << 20, 40, 1)[seed % 3])
        found = supports(data, asked)
    assert found.dtype == np.int64
    assert found.tolist() == oracle.supports(as_sets(data), asked)


@pytest.mark.plain_python
@pytest.mark.parametrize("many", [2, 1000])
@pytest.mark.parametrize("hot", [1, 32])
@pytest.mark.parametrize("occurrences", [300, 1 << 20])
def test_rows_beyond_a_word_and_lists_much_longer_than_others(hot, many, occurrences, monkeypatch):
    monkeypatch.setattr(module, "OCCURRENCES_AT_ONCE", occurrences)
    monkeypatch.setattr(module, "HOT", hot)
    monkeypatch.setattr(module, "MANY", many)
    data, _categories = make(5, records=400, items=12, hot=1.5)
    rare = sv.from_lists([*data.to_lists(), ["rare", *data.vocabulary[:5]], ["rare", data.vocabulary[0]]])
    asked = [["rare", *one] for one in questions(data, 1, 20)] + questions(data, 2, 30)
    assert supports(rare, asked).tolist() == oracle.supports(as_sets(rare), asked)


@settings(max_examples=examples(40), deadline=None)
@given(seeds)
def test_every_form_of_itemsets_gives_the_same(seed):
    data, _categories = make(seed)
    asked = [sorted(set(one) - {"unknown"}) for one in questions(data, seed)]
    expected = oracle.supports(as_sets(data), asked)
    codes = [sorted(data.code_of[item] for item in one) for one in asked]
    offsets = np.concatenate(([0], np.cumsum([len(one) for one in codes]))).astype(np.int64)
    flat = np.array([code for one in codes for code in one], dtype=np.int32)
    as_itemsets = Itemsets(offsets, flat, np.zeros(len(asked), np.int64), data.vocabulary, data.records)
    for form in (asked, map(tuple, asked), (offsets, flat), as_itemsets):
        assert supports(data, form).tolist() == expected
    other, _categories = make(seed + 1)  # another vocabulary: matched by label, not by code
    assert supports(other, as_itemsets).tolist() == oracle.supports(as_sets(other), asked)


def test_an_unknown_code_is_minus_one():
    data = sv.from_lists([["a"], ["a", "b"]])
    assert supports(data, (np.array([0, 2, 3]), np.array([0, -1, 0]))).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("offsets", "codes", "words"),
    [
        ([0, 2], [0, 2], "outside the vocabulary"),
        ([0, 1], [-2], "outside the vocabulary"),
        ([1, 2], [0, 1], "must start at 0"),
        ([0, 1], [0, 1], "end at the number of codes"),
        ([0, 2, 1, 2], [0, 1], "never fall"),
        ([], [], "must start at 0"),
        ([0, 1], [0.5], "whole numbers"),
        ([[0, 1]], [0], "whole numbers"),
    ],
)
def test_wrong_arrays_are_refused(offsets, codes, words):
    data = sv.from_lists([["a"], ["a", "b"]])
    kind = np.int64 if not offsets else None
    with pytest.raises(sv.BadData, match=words):
        supports(data, (np.array(offsets, dtype=kind), np.array(codes, dtype=kind)))


def test_a_text_is_no_itemset():
    with pytest.raises(sv.BadData, match="expected a list of items"):
        supports(sv.from_lists([["a"]]), ["ab"])


@pytest.mark.parametrize("records", [[], [[]], [[], ["a"]]])
def test_little_data(records):
    data = sv.from_lists(records)
    asked = [[], ["a"], ["b"]]
    assert supports(data, asked).tolist() == oracle.supports([set(one) for one in records], asked)
    assert supports(data, []).tolist() == []


@pytest.mark.realdata
def test_one_thread_or_three_on_real_data(real_data):
    data = real_data("retail")
    rng = np.random.default_rng(4)
    asked = [data.record(r)[:: int(rng.integers(1, 4))][:5] for r in rng.integers(0, data.records, 20_000)]
    one = supports(data, asked, threads=1)
    assert np.array_equal(one, supports(data, asked, threads=3))
    sets = as_sets(data)
    some = rng.integers(0, len(asked), 40)
    assert one[some].tolist() == oracle.supports(sets, [asked[i] for i in some])
