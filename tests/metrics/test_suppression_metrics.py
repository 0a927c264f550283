"""Metrics of leaving out items: equal to their definitions, on hand examples, and where there is no figure."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.metrics import suppression
from setveil.metrics.distribution import KullbackLeibler, SymmetricKl
from setveil.metrics.itemsets import NonSensitiveRules, RuleSimilarity
from setveil.metrics.suppression import InfoLoss, ItemsLost
from setveil.parameters.shares import MinConfidence, MinSupport

from oracle import mining
from oracle import suppression_metrics as oracle
from support.exhaustive import examples
from support.random_data import as_sets, seeds
from support.suppression_cases import case


def is_figure(measured, expected):
    """Tell whether a figure is as expected, or is lacking with a reason where none is."""
    json.dumps(measured.to_dict())
    if expected is None:
        return measured.value is None and bool(measured.reason)
    return measured.value is not None and math.isclose(measured.value, float(expected), rel_tol=1e-9, abs_tol=1e-14)


@settings(max_examples=examples(250), deadline=None)
@given(seeds)
def test_shares_that_were_lost_equal_their_definition(seed):
    data, published, sensitive = case(seed)
    before, after = as_sets(data), as_sets(published)
    measured = InfoLoss()(data, published)
    assert is_figure(measured, oracle.info_loss(before, after))
    if measured.value is not None:
        sizes = sum(map(len, before)), sum(map(len, after))
        assert measured.details == {"lost": sizes[0] - sizes[1], "occurrences": sizes[0]}

    items = set(data.vocabulary)
    lost, total = oracle.items_lost(before, after, items)
    measured = ItemsLost(sensitive=sensitive)(data, published)
    assert is_figure(measured, Fraction(lost, total) if total else None)
    if total:
        found = dict(measured.details)
        assert (found["sensitive-lost"], found["sensitive"]) == oracle.items_lost(before, after, sensitive)
        assert (found["others-lost"], found["others"]) == oracle.items_lost(before, after, items - sensitive)
        assert (found["lost"], found["occurrences"]) == (lost, total)
        assert math.isclose(found["trivial-loss"], found["sensitive"] / total)
        old, new = oracle.occurrences(before), oracle.occurrences(after)
        rows = [[i, old[i], new[i]] for i in sorted(sensitive & items) if old[i] > new[i]]
        assert found["by-item"] == sorted(rows, key=lambda row: row[2] - row[1])


@settings(max_examples=examples(250), deadline=None)
@given(seeds)
def test_divergences_equal_their_definition(seed):
    data, published, _sensitive = case(seed)
    before, after = as_sets(data), as_sets(published)
    items, items_after = (set().union(*rows) for rows in (before, after))
    measured = KullbackLeibler()(data, published)
    assert is_figure(measured, oracle.kl(before, after))
    assert measured.value is None or measured.details == {"items-gone": len(items - items_after)}
    measured = SymmetricKl()(data, published)
    assert is_figure(measured, oracle.symmetric_kl(before, after))
    if measured.value is not None:
        assert measured.details == {"items-gone": len(items - items_after), "items-new": len(items_after - items)}
        assert 0 <= measured.value <= math.log(2) + 1e-12
        back = SymmetricKl()(published, data).value
        assert math.isclose(measured.value, back, rel_tol=1e-9, abs_tol=1e-14)


@settings(max_examples=examples(120), deadline=None)
@given(seeds)
def test_rules_without_sensitive_items_equal_the_definition(seed):
    data, published, sensitive = case(seed)
    share, confidence = ["5%", "10%", "30%", "2"][seed % 4], ["30%", "0.5", "80%"][seed % 3]
    count, count_after = (MinSupport(share).count(one.records) for one in (data, published))
    metric = NonSensitiveRules(sensitive=sensitive, min_support=share, min_confidence=confidence)
    measured = metric(data, published)
    if min(count, count_after) < 2:
        assert f"at {share}, one of the" in measured.reason
        return
    least = MinConfidence(confidence).share
    before, after = (
        oracle.rules_without(mining.rules(as_sets(one), least_count, least), sensitive)
        for one, least_count in ((data, count), (published, count_after))
    )
    assert is_figure(measured, mining.jaccard(before, after))
    if measured.value is not None:
        kept = len(before.keys() & after.keys())
        sizes = {"kept": kept, "lost": len(before) - kept, "new": len(after) - kept}
        sizes |= {"before": len(before), "after": len(after), "count": count, "count-after": count_after}
        found = dict(measured.details)
        found.pop("confidence-difference", None)
        assert found == sizes
        assert measured.parameters == {"min_support": share, "min_confidence": confidence}


def test_by_hand():
    data = sv.from_lists([["a", "b", "s"], ["a", "s"], ["a", "b"], ["b"]])
    after = sv.from_lists([["a", "b"], ["a", "s"], ["a"], ["b"]])
    assert InfoLoss()(data, after).value == 2 / 8
    lost = ItemsLost(sensitive=["s"])(data, after)
    assert lost.value == 2 / 8
    assert lost.details == {
        "lost": 2, "occurrences": 8, "sensitive-lost": 1, "sensitive": 2, "others-lost": 1, "others": 6,
        "trivial-loss": 2 / 8, "by-item": [["s", 2, 1]],
    }  # fmt: skip
    # Shares: a 3/8, b 3/8, s 2/8 before and 3/6, 2/6, 1/6 after.
    expected = 1 / 2 * math.log(4 / 3) + 1 / 3 * math.log(8 / 9) + 1 / 6 * math.log(2 / 3)
    assert math.isclose(KullbackLeibler()(data, after).value, expected)
    assert SymmetricKl()(sv.from_lists([["a"]]), sv.from_lists([["b"]])).value == pytest.approx(math.log(2))
    # a → b holds in 2 of 3 records with a, b → a in 2 of 3; and of those with s one of two, which does not count.
    rules = NonSensitiveRules(sensitive=["s"], min_support=2, min_confidence="60%")
    assert rules(data, data).details["before"] == 2
    assert RuleSimilarity(min_support=2, min_confidence="60%")(data, data).details["before"] == 4
    assert rules(data, after).value == 0


def test_what_came_in_hides_losses_from_info_loss_alone():
    data, after = sv.from_lists([["a", "b"], ["c"]]), sv.from_lists([["a", "c"], ["c"]])
    assert InfoLoss()(data, after).value == 0
    lost = ItemsLost(sensitive=["b"])(data, after)
    assert (lost.value, lost.details["sensitive-lost"]) == (1 / 3, 1)
    more = sv.from_lists([["a", "b", "c"], ["c"]])
    assert InfoLoss()(data, more).reason.startswith("the release holds more occurrences than the original")
    assert ItemsLost(sensitive=["b"])(data, more).value == 0


def test_leaving_out_the_same_share_of_every_item_is_not_seen_by_divergences():
    data, after = sv.from_lists([["a", "b"]] * 4 + [["c"]] * 2), sv.from_lists([["a", "b"]] * 2 + [["c"]] + [[]] * 3)
    assert InfoLoss()(data, after).value == 1 / 2
    assert KullbackLeibler()(data, after).value == SymmetricKl()(data, after).value == 0


def test_where_there_is_no_figure():
    data, nothing, other = sv.from_lists([["a", "b"]]), sv.from_lists([[], []]), sv.from_lists([["a", "x"], ["x"]])
    for metric in (InfoLoss(), ItemsLost(sensitive=["a"]), KullbackLeibler(), SymmetricKl()):
        assert metric(nothing, data).reason == "the original holds no item"
    for metric in (KullbackLeibler(), SymmetricKl()):
        assert metric(data, nothing).reason == "the release holds no item"
    assert InfoLoss()(data, nothing).value == ItemsLost(sensitive=["a"])(data, nothing).value == 1
    assert KullbackLeibler()(data, other).reason == (
        "the release has 2 occurrences of items that the original does not hold"
    )


def test_at_most_so_many_sensitive_items_are_told_one_by_one():
    sensitive = [f"s{j:03}" for j in range(suppression.MOST_ROWS + 9)]
    data = sv.from_lists([[*sensitive[j:], "a"] for j in range(len(sensitive))])
    rows = ItemsLost(sensitive=sensitive)(data, sv.from_lists([["a"]] * data.records)).details["by-item"]
    assert rows == [[item, j + 1, 0] for j, item in reversed(list(enumerate(sensitive)))][: suppression.MOST_ROWS]


def test_sensitive_items_are_not_told():
    for kind in (ItemsLost, NonSensitiveRules):
        (parameter,) = [p for p in kind.parameters() if p.name == "sensitive"]
        assert (parameter.public, parameter.required) == (False, True)
        data = sv.from_lists([["s", "a"]] * 3)
        assert "sensitive" not in kind(sensitive=["s"])(data, data).parameters
