"""The most frequent itemsets and rules, and what became of them: equal to the definitions, whatever labels say about ties."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.metrics import ranks as module
from setveil.metrics.ranks import FrequentRanks, TopKDeviation, TopRules, competition_ranks
from setveil.mining.frequent import top

from oracle import ranks as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def pair(seed):
    """Return two small data sets, the second with some occurrences less, some more, and records left out."""
    rng = np.random.default_rng(seed)
    data, _categories = make(seed, records=int(rng.integers(1, 50)), items=8)
    lists = []
    for record in as_sets(data):
        changed = {item for item in record if rng.random() < 0.85}
        if rng.random() < 0.2:
            changed.add(f"{rng.choice(['h', 'i'])}{rng.integers(10):03}")
        lists.append(sorted(changed))
    return data, sv.from_lists(lists[: int(rng.integers(0, len(lists) + 1))] if rng.random() < 0.3 else lists)


@settings(max_examples=examples(120))
@given(seeds, st.sampled_from([1, 3, 10, 40, 1000]))
def test_tkd_is_the_definition(seed, how_many):
    data, published = pair(seed)
    measured = TopKDeviation(top=how_many)(data, published)
    expected = oracle.tkd(as_sets(data), as_sets(published), how_many)
    if expected is None:
        assert measured.reason == "no itemset is in at least two records, before or after"
    else:
        assert measured.value == pytest.approx(float(expected))
        assert measured.details["kept"] <= min(measured.details["before"], measured.details["after"])


@settings(max_examples=examples(120))
@given(seeds, st.sampled_from([1, 2, 3]), st.sampled_from([1, 5, 17]))
def test_ranks_are_the_definition(seed, length, how_many):
    data, published = pair(seed)
    measured = FrequentRanks(length=length, top=how_many)(data, published)
    table = oracle.rank_table(as_sets(data), as_sets(published), length, how_many)
    if not table:
        assert (
            measured.reason
            == f"no itemset of {length} item{'s' * (length > 1)} is in at least two records of the original"
        )
        return
    shown = {frozenset(line[0]): tuple(line[1:]) for line in measured.details["by-itemset"]}
    assert shown == table
    assert measured.details["itemsets"] == len(table)
    assert measured.value == pytest.approx(sum(abs(r - after) for _, r, _, after in table.values()) / len(table))
    change = sum(abs(c - after) / c for c, _, after, _ in table.values()) / len(table)
    assert measured.details["support-change"] == pytest.approx(change)
    counts = [line[1] for line in measured.details["by-itemset"]]
    assert counts == sorted(counts, reverse=True)


@settings(max_examples=examples(120))
@given(seeds, st.sampled_from(["2", "10%", "0.1%"]), st.sampled_from([1, 6, 50]))
def test_top_rules_are_the_definition(seed, min_support, how_many):
    data, published = pair(seed)
    measured = TopRules(top=how_many, min_support=min_support, min_confidence="60%")(data, published)
    count = max({"2": 2, "10%": -(-data.records // 10), "0.1%": 1}[min_support], 2)
    table = oracle.rule_table(as_sets(data), as_sets(published), count, Fraction(3, 5), how_many)
    if not table:
        assert measured.reason == "no rule holds in the original"
        return
    assert measured.details["rules"] == len(table)
    assert measured.details["count"] == count
    shown = {(frozenset(line[0]), line[1]): tuple(line[2:]) for line in measured.details["by-rule"]}
    assert len(shown) == min(len(table), module.SHOWN)
    assert shown.items() <= table.items()
    assert measured.value == pytest.approx(sum(abs(c - after) / c for c, after, _, _ in table.values()) / len(table))
    apart = [abs(c / held - after / held_after) for c, after, held, held_after in table.values() if held_after]
    if apart:
        assert measured.details["confidence-difference"] == pytest.approx(sum(apart) / len(apart))
    else:
        assert "confidence-difference" not in measured.details


@settings(max_examples=examples(40))
@given(seeds)
def test_labels_decide_nothing(seed):
    """Other names for the items, in another order, change no figure."""
    data, published = pair(seed)
    labels = sorted({*data.vocabulary, *published.vocabulary})
    names = dict(zip(labels, np.random.default_rng(seed).permutation(labels).tolist(), strict=True))
    renamed = [sv.from_lists([[names[x] for x in record] for record in one.to_lists()]) for one in (data, published)]
    for metric in (TopKDeviation(top=5), FrequentRanks(top=4), TopRules(top=3)):
        one, other = metric(data, published), metric(*renamed)
        assert (one.value is None) == (other.value is None)
        if one.value is not None:
            assert one.value == pytest.approx(other.value)


def test_equals_share_a_rank():
    assert competition_ranks(np.array([7, 9, 7, 1, 9, 0])).tolist() == [3, 1, 3, 5, 1, 6]
    assert competition_ranks(np.array([], np.int64)).tolist() == []


def test_too_many_that_are_equally_frequent_are_not_compared(monkeypatch):
    data = sv.from_lists([[f"i{j}" for j in range(12)]] * 3)
    monkeypatch.setattr(module, "LIMIT", 100)
    for metric in (TopKDeviation(top=5), FrequentRanks(length=3, top=5), TopRules(top=5)):
        measured = metric(data, data)
        assert measured.value is None
        assert measured.reason.startswith(("more than 100 itemsets are", "4,095 itemsets are in at least 2 records"))
    assert FrequentRanks(length=2, top=5)(data, data).value == 0


def test_top_with_ties_and_from_a_support_on():
    data = sv.from_lists([["a", "b"], ["a", "b"], ["c", "d"], ["c"], ["e"]])
    assert top(data, 1, ties=True).to_lists() == [["a"], ["b"], ["c"], ["a", "b"]]
    assert top(data, 1).to_lists() == [["a"]]
    assert len(top(data, 5, ties=True)) == 7
    assert len(top(data, 100, least=2, ties=True)) == len(top(data, 100, least=2)) == 4
    assert len(top(data, 100, least=3)) == 0
