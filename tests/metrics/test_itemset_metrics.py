"""Metrics of frequent itemsets, rules and counting queries: equal to their definitions, and blind to what they say they are."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.metrics import itemsets as module
from setveil.metrics import mined
from setveil.metrics.itemsets import FiSimilarity, FrequentItemsets, NonSensitiveRules, RuleSimilarity
from setveil.metrics.queries import QueryError, drawn_itemsets
from setveil.mining import frequent
from setveil.mining.frequent import count_or_at_least, mine
from setveil.parameters.shares import MinConfidence, MinSupport

from oracle import mining as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

SHARES = ["5%", "10%", "0.15", "30%", "3", "2"]


def pair(seed):
    """Return two data sets: records of the second partly differ, some are split, and there are items that the first does not hold."""
    rng = np.random.default_rng(seed)
    data, _categories = make(seed, records=int(rng.integers(1, 50)), items=9)
    lists = as_sets(data)
    for t in lists:
        if t and rng.random() < 0.3:
            t.discard(min(t))
        if rng.random() < 0.3:
            t.add(
                f"{rng.choice(['h', 'i'])}{rng.integers(12):03}"
            )  # before and among the others in label order: codes shift
    split = [
        part for t in lists for part in ([t] if rng.random() < 0.8 else [set(sorted(t)[::2]), set(sorted(t)[1::2])])
    ]
    rng.shuffle(split)
    return data, sv.from_lists(split)


def counts_of(data, published, share):
    return MinSupport(share).count(data.records), MinSupport(share).count(published.records)


@settings(max_examples=examples(150), deadline=None)
@given(seeds)
def test_itemsets_kept_lost_and_new_equal_the_definition(seed):
    data, published = pair(seed)
    share = SHARES[seed % len(SHARES)]
    count, count_after = counts_of(data, published, share)
    measured, counted = (kind(min_support=share)(data, published) for kind in (FiSimilarity, FrequentItemsets))
    if min(count, count_after) < 2:
        assert measured.value is counted.value is None
        assert f"at {share}, one of the" in measured.reason == counted.reason
        return
    before, after = oracle.frequent(as_sets(data), count), oracle.frequent(as_sets(published), count_after)
    assert counted.value == len(after)
    assert counted.details == {"before": len(before), "count": count, "count-after": count_after}
    kept, lost, new = oracle.compare(before, after)
    expected = oracle.jaccard(before, after)
    if expected is None:
        assert measured.value is None
        assert measured.reason == "no itemset is frequent before or after"
        return
    assert math.isclose(measured.value, float(expected))
    sizes = {"before": len(before), "after": len(after), "count": count, "count-after": count_after}
    assert measured.details == {"kept": len(kept), "lost": len(lost), "new": len(new), **sizes}
    assert measured.parameters == {"min_support": share}


@settings(max_examples=examples(150), deadline=None)
@given(seeds)
def test_rules_kept_lost_and_new_equal_the_definition(seed):
    data, published = pair(seed)
    share, confidence = SHARES[seed % len(SHARES)], ["30%", "0.5", "80%"][seed % 3]
    count, count_after = counts_of(data, published, share)
    measured = RuleSimilarity(min_support=share, min_confidence=confidence)(data, published)
    if min(count, count_after) < 2:
        assert measured.value is None
        return
    least = MinConfidence(confidence).share
    before = oracle.rules(as_sets(data), count, least)
    after = oracle.rules(as_sets(published), count_after, least)
    expected = oracle.jaccard(before, after)
    if expected is None:
        assert measured.reason == "no rule holds before or after"
        return
    kept = before.keys() & after.keys()
    assert math.isclose(measured.value, float(expected))
    found = dict(measured.details)
    apart = found.pop("confidence-difference", None)
    assert found == {
        "kept": len(kept),
        "lost": len(before) - len(kept),
        "new": len(after) - len(kept),
        "before": len(before),
        "after": len(after),
        "count": count,
        "count-after": count_after,
    }
    if kept:
        assert math.isclose(apart, float(sum(abs(before[r][1] - after[r][1]) for r in kept) / len(kept)), abs_tol=1e-12)
    else:
        assert apart is None


@settings(max_examples=examples(100), deadline=None)
@given(seeds)
def test_errors_of_queries_equal_the_definition(seed):
    data, published = pair(seed)
    metric = QueryError(queries=50, max_length=1 + seed % 4, sanity=SHARES[seed % len(SHARES)], seed=seed % 10)
    measured = metric(data, published)
    if not data.occurrences:
        assert measured.reason == "the original holds no item"
        return
    offsets, codes = drawn_itemsets(data, 50, metric.max_length, np.random.default_rng(metric.seed))
    asked = [{data.vocabulary[c] for c in codes[a:b]} for a, b in pairwise(offsets)]
    assert all(1 <= len(one) <= metric.max_length for one in asked)
    assert all(any(one <= record for record in as_sets(data)) for one in asked)
    sanity = metric.sanity.count(data.records)
    errors = sorted(oracle.relative_errors(as_sets(data), as_sets(published), asked, sanity))
    assert math.isclose(measured.value, float(sum(errors) / 50), abs_tol=1e-12)
    assert math.isclose(measured.details["median"], float((errors[24] + errors[25]) / 2), abs_tol=1e-12)
    assert math.isclose(measured.details["max"], float(errors[-1]), abs_tol=1e-12)


def test_records_lengths_and_items_are_drawn_uniformly():
    data = sv.from_lists([["a", "b", "c", "d"], [], ["e"]])
    offsets, codes = drawn_itemsets(data, 40_000, 3, np.random.default_rng(1))
    lengths = np.diff(offsets)
    first = codes[offsets[:-1]] < 4
    assert abs(first.mean() - 0.5) < 0.01
    assert np.allclose(np.bincount(lengths[first])[1:] / first.sum(), 1 / 3, atol=0.01)
    assert np.allclose(np.bincount(codes[codes < 4]) / np.count_nonzero(codes < 4), 1 / 4, atol=0.01)
    assert (lengths[~first] == 1).all()
    assert all(len(set(codes[a:b])) == b - a for a, b in pairwise(offsets))


def test_the_seed_decides_which_questions_are_asked():
    data, published = pair(8)
    values = [QueryError(queries=20, seed=seed)(data, published).value for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_a_share_is_of_each_data_sets_own_records():
    data = sv.from_lists([["a", "b"]] * 6 + [["c"]] * 14)
    halves = sv.from_lists([["a"]] * 6 + [["b"]] * 6 + [["c"]] * 14)
    measured = FiSimilarity(min_support="25%")(data, halves)
    assert measured.details["count"] == 5
    assert measured.details["count-after"] == 7  # 25 % of 26: a and b, in 6 records each, are lost by the larger number
    assert measured.details["kept"] == 1
    assert FiSimilarity(min_support=5)(data, halves).details["kept"] == 3


def test_exchanging_whole_records_is_not_seen():
    data = sv.from_lists(make(7, records=60, items=6)[0].to_lists() + [["x", "y"], ["x", "y", "z"]] * 10)
    shuffled = data.take(np.random.default_rng(0).permutation(80))
    assert FiSimilarity(min_support="5%")(data, shuffled).value == 1
    assert RuleSimilarity(min_support="5%")(data, shuffled).value == 1
    assert QueryError()(data, shuffled).value == 0


def test_false_combinations_are_never_asked_for():
    data = sv.from_lists([["a"], ["b"]] * 30)
    joined = sv.from_lists([["a", "b"], []] * 30)
    assert QueryError()(data, joined).value == 0
    assert FiSimilarity(min_support="5%")(data, joined).details["new"] == 1


def test_too_many_itemsets_are_counted_and_not_compared(monkeypatch):
    data, published = make(4, records=60, items=12)[0], make(5, records=60, items=12)[0]
    sets = len(mine(data, 2))
    monkeypatch.setattr(module, "LIMIT", sets - 1)
    monkeypatch.setattr(module, "RULE_LIMIT", sets - 1)
    for metric in (FiSimilarity(min_support=2), RuleSimilarity(min_support=2)):
        measured = metric(data, published)
        assert measured.value is None
        assert measured.reason == (
            f"{sets:,} itemsets are in at least 2 records of the original; the limit is {sets - 1:,}; choose a higher"
            " min_support"
        )
    assert FrequentItemsets(min_support=2)(published, data).value == sets


def test_a_number_that_is_only_known_from_below_is_no_figure(monkeypatch):
    monkeypatch.setattr(mined, "count_or_at_least", lambda _data, _count: (12_345_678, False))
    monkeypatch.setattr(module, "LIMIT", 1)
    monkeypatch.setattr(module, "RULE_LIMIT", 1)
    data, published = pair(1)
    for kind in (FrequentItemsets, FiSimilarity, RuleSimilarity):
        measured = kind(min_support=2)(data, published)
        assert measured.value is None
        assert measured.reason.startswith("at least 12,345,678 itemsets are in at least 2 records of the original")


def test_what_was_not_all_counted_is_listed_if_it_can_be(monkeypatch):
    data, _categories = make(4, records=60, items=12)
    sets = len(mine(data, 2))
    monkeypatch.setattr(mined, "count_or_at_least", lambda _data, _count: (1, False))
    assert FiSimilarity(min_support=2)(data, data).details["kept"] == sets
    monkeypatch.setattr(module, "LIMIT", sets - 1)
    assert FiSimilarity(min_support=2)(data, data).reason.startswith("at least 1 itemsets are in at least 2 records")


def test_itemsets_are_counted_once_and_not_listed_where_they_are_too_many(monkeypatch):
    data, published = make(4, records=60, items=12)[0], make(5, records=60, items=12)[0]
    monkeypatch.setattr(module, "LIMIT", 5)
    FrequentItemsets(min_support=2)(data, published)
    monkeypatch.setattr(frequent, "_Search", None)  # whoever searched again would fail
    expected = count_or_at_least(data, 2)
    assert expected == (FrequentItemsets(min_support=2)(published, data).value, True)
    assert FiSimilarity(min_support=2)(data, published).reason.startswith(f"{expected[0]:,} itemsets are in at least 2")


def test_figures_are_the_same_in_any_blocks(monkeypatch):
    data, published = make(4, records=60, items=12)[0], make(5, records=60, items=12)[0]
    named, sensitive = mine(data, 8, min_length=2).take(np.arange(3)).to_lists(), list(data.vocabulary[:2])
    # With a limit of 1,100 sets, those without sensitive items are mined once more.
    for limit in (1100, module.RULE_LIMIT):
        monkeypatch.setattr(module, "RULE_LIMIT", limit)
        metrics = [
            FrequentItemsets(min_support=4),
            FiSimilarity(min_support=4),
            NonSensitiveRules(sensitive=sensitive, min_support=2, min_confidence="60%"),
            sv.BorderExposure(itemsets=named, min_support=4),
            sv.MissesCost(itemsets=named, min_support=4),
            sv.TopKDeviation(top=20),
        ]
        whole = [metric(data, published) for metric in metrics]
        assert all(measured.value is not None for measured in whole)
        for block in (7, 59):
            with using_engine(LocalEngine(block)):
                for metric, expected in zip(metrics, whole, strict=True):
                    fresh = [one.take(np.arange(60)) for one in (data, published)]  # which remember nothing
                    assert metric(*fresh) == expected


@pytest.mark.realdata
def test_the_smallest_support_on_real_data(real_data):
    data = real_data("bms-webview-2")
    measured = FiSimilarity(min_support="0.2%")(data, data.take(np.arange(0, data.records, 2)))
    assert (measured.details["count"], measured.details["before"]) == (156, 3683)
    assert measured.details["count-after"] == 78
    assert 0.5 < measured.value < 1


def test_a_number_of_itemsets_that_no_float_holds_is_no_figure():
    record = [f"i{j:04}" for j in range(1100)]
    data = sv.from_lists([record, record, ["x"]])
    measured = FrequentItemsets(min_support=2)(data, data)
    assert measured.value is None
    assert "too many to count" in measured.reason
