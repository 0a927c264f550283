"""Metrics that measure the same release share their work; each gives what it gives alone."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.data.forms.generalized import lowest_shown
from setveil.data.records.alignment import Alignment
from setveil.metrics import hiding, itemsets, mined, ranks, tendency
from setveil.metrics.pair import Pair
from setveil.mining import uniqueness
from setveil.release.measuring import all_metrics, measure_all

from support.exhaustive import examples
from support.random_data import make, seeds

LISTS = {"sensitive": ["i000", "i003"], "itemsets": [["i000", "i001"], ["i002"]], "rules": [["i000", "i001"]]}


def released(seed, records=60):
    """Return data, the same with some items lost, in another order, and the parameters of all metrics."""
    data, categories = make(seed, records=records, items=12)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(data.records)
    published = data.keeping(rng.random(data.occurrences) < 0.8).take(rows, ids=None)
    numbers = {"min_support": "10%", "k": 2, "rho": "60%"}
    return data, published, Alignment(rows), {**LISTS, **numbers, "categories": categories}


def alone(metrics, *compared):
    """Return what each metric measures alone."""
    return [metric(*compared) for metric in metrics]


@settings(max_examples=examples(25))
@given(seeds)
def test_together_as_alone(seed):
    data, published, alignment, known = released(seed)
    metrics, lacking = all_metrics(known, heldout=True)
    assert {one.name for one in lacking} == {"tree-edit-distance"}
    together = measure_all(data, published, alignment, metrics)
    assert together == alone(metrics, data, published, alignment)


@pytest.mark.parametrize("limit", [0, 75, 200, 800, 2000])
def test_too_many_at_the_lowest_support_take_nothing_from_the_others(limit, monkeypatch):
    for module in (hiding, itemsets, ranks):
        monkeypatch.setattr(module, "LIMIT", limit)
    monkeypatch.setattr(itemsets, "RULE_LIMIT", limit // 2)
    data, published, alignment, known = released(5)
    metrics, _lacking = all_metrics(known)
    metrics += [sv.FiSimilarity(min_support=count) for count in range(2, 30, 3)]
    together = measure_all(data, published, alignment, metrics)
    assert together == alone(metrics, data, published, alignment)
    assert any(one.value is None and "the limit is" in one.reason for one in together)
    assert limit == 0 or any(one.name == "fi-similarity" and one.value is not None for one in together)


@pytest.mark.parametrize("change", ["removed", "added", "split", "other vocabulary", "wrong alignment"])
@pytest.mark.parametrize("most", [0, 10_000])
def test_a_release_that_only_removes_items_is_counted_instead_of_mined(change, most, monkeypatch):
    monkeypatch.setattr(mined, "MOST_COUNTED", most)
    mined_data = []
    real = mined.mine_up_to
    monkeypatch.setattr(mined, "mine_up_to", lambda *given: mined_data.append(given[0]) or real(*given))
    for seed in range(12):
        data, published, alignment, known = released(seed)
        rows = alignment.rows
        if change == "added":
            lists = published.to_lists()
            lists[0] = sorted(
                {*lists[0], next(label for label in data.vocabulary if label not in data.to_lists()[rows[0]])}
            )
            published = sv.from_lists(lists)
        elif change == "split":
            rows = np.append(rows, rows[:1])
            published = published.take(np.append(np.arange(published.records), 0), ids=None)
        elif change == "other vocabulary":
            published = sv.from_lists(
                [[label for label in record if label != "i000"] for record in published.to_lists()]
            )
        elif change == "wrong alignment":
            rows = np.full(len(rows), rows[0])
        metrics = [
            one for one in all_metrics(known)[0] if "alignment" not in one.needs and "categories" not in one.needs
        ]
        mined_data.clear()
        found = measure_all(data, published, Alignment(rows), metrics)
        assert any(one is published for one in mined_data) == (change != "removed" or most == 0)
        assert found == measure_all(data, published, None, metrics)


def test_each_data_set_is_mined_once(monkeypatch):
    calls = []
    real = mined.mine_up_to
    monkeypatch.setattr(mined, "mine_up_to", lambda *given: calls.append(given[1]) or real(*given))
    monkeypatch.setattr(mined, "top", None)  # a search of its own would fail
    data, published, alignment, known = released(3, records=300)
    monkeypatch.setattr(mined, "MOST_COUNTED", 0)
    metrics, _lacking = all_metrics(known)
    assert all(one.value is not None for one in measure_all(data, published, alignment, metrics) if one.name == "tkd")
    assert calls == [2, 2]  # 0.1 % of 300 for top-rules is at least 2, and so is 0.2 % for fi-similarity


def test_the_original_is_mined_once_for_several_sets(monkeypatch):
    data, _categories = make(5, records=80, items=12)
    method = sv.Reassociation(copies=3)
    release = sv.publish(sv.publish(data, sv.Disassociation(k=2, m=1), metrics=[]), method, metrics=[])
    metrics, _lacking = all_metrics({}, type(release.data))
    calls = []
    real = mined.mine_up_to
    monkeypatch.setattr(mined, "mine_up_to", lambda *given: calls.append(given[0]) or real(*given))
    together = measure_all(data, release.data, None, metrics)
    assert [one is data for one in calls].count(True) == 1
    assert together == alone(metrics, data, release.data)


@pytest.mark.parametrize("split", [False, True])
def test_loss_follows_from_shared_items_where_no_record_is_split(split):
    for seed in range(20):
        data, published, alignment, _known = released(seed)
        if split:
            rows = np.repeat(np.arange(published.records), 2)
            published, alignment = published.take(rows, ids=None), Alignment(alignment.rows[rows])
        gone = np.count_nonzero(lowest_shown(data, published, alignment)[1] < 0)
        assert sv.LossSplit()(data, published, alignment).details["occurrences-suppressed"] == gone
        assert Pair(data, published, alignment).has_split_records == split


def test_large_data_are_estimated_from_a_sample_with_an_interval(monkeypatch):
    data, categories = make(7, records=6000, items=40)
    rng = np.random.default_rng(7)
    published = data.keeping(rng.random(data.occurrences) < 0.7)
    metric, alignment = sv.TendencyPosterior(categories=categories), Alignment.identity(data.records)
    exact = metric(data, published, alignment)
    assert (exact.status, exact.interval, exact.remark) == ("exact", None, "")
    inside, widths = 0, []
    for seed in range(40):
        monkeypatch.setattr(tendency, "MOST_TESTED", 400)
        monkeypatch.setattr(tendency, "SEED", seed)
        found = metric(data, published, alignment)
        assert found == metric(data, published, alignment)
        assert (found.status, found.details["sample"]) == ("estimate", 800)
        low, high = found.interval
        inside += low <= exact.value <= high
        widths.append(high - low)
        assert low <= found.value <= high
        assert found.remark.startswith("estimate from 800 records, 95 % interval ")
        (in_full,) = measure_all(data, published, alignment, [metric], exact=True)
        assert in_full == exact
    assert inside >= 33  # of 40; 38 are expected
    assert max(widths) < 0.08


def test_a_sample_of_all_records_would_be_exact(monkeypatch):
    data, categories = make(7, records=300, items=40)
    metric, alignment = sv.TendencyPosterior(categories=categories), Alignment.identity(data.records)
    exact = metric(data, data, alignment)
    for half in (150, 300):
        monkeypatch.setattr(tendency, "MOST_TESTED", half)
        assert metric(data, data, alignment) == exact


def test_the_report_and_the_metric_look_once_for_records_that_are_singled_out(monkeypatch):
    looked_at = []
    count = uniqueness.unique_by_level
    monkeypatch.setattr(uniqueness, "unique_by_level", lambda data, *more: looked_at.append(data) or count(data, *more))
    data = sv.from_lists([["a", "b"], ["a", "c"], ["d"], ["d"]])
    release = sv.publish(data, sv.Insert(sensitive=["b"], rho="40%"), metrics="full")
    assert release.singled_out["before"] == 0.5
    assert release.singled_out["after"] == 0.25
    assert looked_at == [release.data, data]
