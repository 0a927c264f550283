"""Minimal infrequent itemsets: equal to the definition, however the work is cut, and to a plain count on real data."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.mining import border as module
from setveil.mining.border import minimal_infrequent
from setveil.mining.frequent import mine
from setveil.mining.itemsets import Itemsets

from oracle import hiding_metrics as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def found_in(data, count):
    found = minimal_infrequent(mine(data, count), data)
    as_dict = {frozenset(labels): support for labels, support in found}
    assert len(as_dict) == len(found)
    assert all(
        list(labels) == [data.vocabulary[c] for c in sorted(data.code_of[i] for i in labels)] for labels, _ in found
    )
    assert (np.diff(found.lengths) >= 0).all()
    assert found.records == data.records
    return as_dict


@settings(max_examples=examples(250), deadline=None)
@given(seeds)
def test_it_equals_the_definition(seed):
    rng = np.random.default_rng(seed)
    data, _categories = make(seed, records=int(rng.integers(0, 40)), items=int(rng.integers(1, 10)))
    for count in (1, 2, 3, 1 + int(rng.integers(max(data.records, 1)))):
        assert found_in(data, count) == oracle.minimal_infrequent(as_sets(data), count)


# 0 counts every set with `supports`, a large number every pair within records.
@pytest.mark.parametrize("cost", [0, 10**9])
@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_however_the_work_is_cut(cost, seed):
    data, _categories = make(seed, items=9)
    with pytest.MonkeyPatch.context() as patch, using_engine(LocalEngine(1 + seed % 50)):
        patch.setattr(module, "LOOKUP_COST", cost)
        for name in ("JOINS_AT_ONCE", "SETS_AT_ONCE"):
            patch.setattr(module, name, 1 + seed % 5)
        assert found_in(data, 2) == oracle.minimal_infrequent(as_sets(data), 2)


def test_by_hand():
    data = sv.from_lists([["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["d"], []])
    assert found_in(data, 2) == {frozenset("d"): 1, frozenset("abc"): 1}
    assert found_in(data, 1) == {frozenset("ad"): 0, frozenset("bd"): 0, frozenset("cd"): 0}
    assert found_in(data, 3) == {frozenset("d"): 1, frozenset("ab"): 2, frozenset("ac"): 2, frozenset("bc"): 2}
    assert found_in(data, 4) == {frozenset("a"): 3, frozenset("b"): 3, frozenset("c"): 3, frozenset("d"): 1}


def test_an_item_that_no_record_holds_is_not_known():
    data = sv.from_lists([["a", "b"], ["a"], ["c"]])
    without_c = data.take(np.array([0, 1]))
    assert without_c.vocabulary == ("a", "b", "c")
    assert found_in(without_c, 2) == {frozenset("b"): 1}


@pytest.mark.parametrize("lists", [[], [[]], [[], []], [["a"], ["a"]], [["a", "b", "c"]] * 3])
def test_where_there_is_no_border(lists):
    data = sv.from_lists(lists)
    found = minimal_infrequent(mine(data, 1), data)
    assert len(found) == 0
    assert found.supports.dtype == np.int64


def test_itemsets_that_are_not_all_frequent_ones_are_refused():
    data = sv.from_lists([["a", "b", "c"]] * 4 + [["a", "b"], ["d"], ["d", "a"]])
    for options in ({"kind": "closed"}, {"kind": "maximal"}, {"max_length": 2}, {"min_length": 2}):
        with pytest.raises(sv.BadParameter, match="needs all frequent itemsets"):
            minimal_infrequent(mine(data, 2, **options), data)
    with pytest.raises(sv.BadParameter, match="the items of the frequent itemsets differ from those of the data"):
        minimal_infrequent(mine(data, 2), sv.from_lists([["a", "x"]]))


def test_too_many_joins_are_refused_before_they_are_made(monkeypatch):
    data = sv.from_lists([[f"i{j:04}"] for j in range(200)] * 2)
    frequent = mine(data, 2)
    assert len(minimal_infrequent(frequent, data, limit=19_900)) == 19_900
    monkeypatch.setattr(module, "_pairs", None)
    with pytest.raises(sv.BadParameter, match="19,900 itemsets may be minimal infrequent; the limit is 19,899"):
        minimal_infrequent(frequent, data, limit=19_899)


def test_no_frequent_itemset_at_all():
    data = sv.from_lists([["a", "b"], ["c"]])
    nothing = Itemsets(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64), data.vocabulary, 2)
    assert minimal_infrequent(nothing, data).to_lists() == [["a"], ["b"], ["c"]]


@pytest.mark.realdata
def test_pairs_of_real_data_by_counting_each(real_data):
    data = real_data("bms-webview-1")
    found = minimal_infrequent(mine(data, 60), data)
    holders = [set() for _ in data.vocabulary]
    for number, record in enumerate(data.to_lists()):
        for label in record:
            holders[data.code_of[label]].add(number)
    common = [code for code, rows in enumerate(holders) if len(rows) >= 60]
    pairs = {(a, b): len(holders[a] & holders[b]) for a, b in combinations(common, 2)}
    table = found.items[found.offsets[:-1][found.lengths == 2][:, None] + np.arange(2)]
    expected = {pair: held for pair, held in pairs.items() if held < 60}
    assert dict(zip(map(tuple, table.tolist()), found.supports[found.lengths == 2].tolist(), strict=True)) == expected
    assert np.bincount(found.lengths).tolist() == [0, 154, 57_080, 8_301, 1_014, 79, 1]
    often = {pair for pair, held in pairs.items() if held >= 60}
    threes = [(a, b, c) for a, b in often for c in common if {(b, c), (a, c)} <= often]
    rare = sorted(one for one in threes if len(set.intersection(*(holders[code] for code in one))) < 60)
    assert rare == sorted(
        tuple(data.code_of[label] for label in labels) for labels, _ in found.take(found.lengths == 3)
    )
    # The longer ones by the definition, from the lists of records: not frequent, and each part with one item less frequent.
    for labels, support in found.take(found.lengths > 2):
        sets = [holders[data.code_of[label]] for label in labels]
        assert len(set.intersection(*sets)) == support < 60
        assert all(len(set.intersection(*(sets[:i] + sets[i + 1 :]))) >= 60 for i in range(len(sets)))


@pytest.mark.realdata
def test_over_a_million_pairs_of_rare_items(real_data):
    data = real_data("foodmart")
    found = minimal_infrequent(mine(data, 2), data)
    assert np.bincount(found.lengths).tolist() == [0, 0, 1_212_533, 39]
    assert found.supports.max() == 1
