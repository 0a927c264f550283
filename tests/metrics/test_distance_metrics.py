"""The tree edit distance as a metric: its value, its spread over orders, and what it says where it would take too long."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.catalog import METRICS
from setveil.metrics.distance import SEED, TreeEditDistance
from setveil.mining.tree_distance import TreeDistance

from oracle import tree_distance as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def pair(seed):
    rng = np.random.default_rng(seed)
    data, _categories = make(seed, records=int(rng.integers(1, 20)), items=10)
    return data, data.keeping(rng.random(data.occurrences) < 0.7)


@settings(max_examples=examples(40))
@given(seeds)
def test_value_and_spread_are_the_definition(seed):
    data, published = pair(seed)
    measured = TreeEditDistance(orders=3)(data, published)
    assert measured.value == oracle.tree_distance(as_sets(data), as_sets(published))
    details = dict(measured.details)
    assert (details["nodes"], details["nodes-after"]) == (data.occurrences, published.occurrences)
    total = data.occurrences + published.occurrences
    assert ("relative" in details) == (total > 0)
    if total:
        assert details["relative"] == pytest.approx(measured.value / total)
    labels = sorted({item for record in as_sets(data) for item in record})
    distances = []
    for number in range(3):
        order = np.random.default_rng([SEED, number]).permutation(len(labels))
        place = {labels[at]: rank for rank, at in enumerate(order)}
        sides = ([{place[item] for item in record} for record in as_sets(one)] for one in (data, published))
        distances.append(oracle.tree_distance(*sides))
    spread = details["other-orders"]
    assert (spread["least"], spread["largest"], spread["orders"]) == (min(distances), max(distances), 3)
    assert spread["mean"] == pytest.approx(sum(distances) / 3)


def test_without_orders_there_is_no_spread():
    data, published = pair(5)
    measured = TreeEditDistance(orders=0)(data, published)
    assert set(measured.details) == {"nodes", "nodes-after", "relative"}
    assert METRICS["tree-edit-distance"].variants == ({},)  # a dossier tells the spread over five orders
    assert TreeEditDistance().orders == 5


def test_where_it_would_take_too_long_it_is_an_upper_bound():
    rng = np.random.default_rng(9)
    data, _categories = make(9, records=300, items=30)
    published = data.keeping(rng.random(data.occurrences) < 0.7)
    exact = TreeEditDistance(orders=0)(data, published)
    measured = TreeEditDistance(orders=2, budget=10)(data, published)
    assert (measured.status, measured.remark) == ("upper bound", "upper bound")
    assert exact.value < measured.value
    assert measured.details["relative"] == measured.value / (data.occurrences + published.occurrences)
    assert measured.details["steps-needed"] > 10
    assert set(measured.details) == {"nodes", "nodes-after", "relative", "steps-needed"}
    (in_full,) = sv.measure(data, published, [TreeEditDistance(orders=0, budget=10)], exact=True)
    assert (in_full.value, in_full.details, in_full.status) == (exact.value, exact.details, "exact")


def test_orders_that_take_too_long_are_counted(monkeypatch):
    data, published = pair(12)
    from setveil.metrics import distance as module  # noqa: PLC0415 - patched here alone

    real = module.bounded_tree_distance

    def limited(*args, order=None, **rest):
        found = real(*args, order=order, **rest)
        return found if order is None else TreeDistance(found.nodes, found.most - 1, found.most, 7)

    monkeypatch.setattr(module, "bounded_tree_distance", limited)
    measured = TreeEditDistance(orders=2)(data, published)
    assert measured.value is not None
    assert measured.details["orders-left-out"] == 2
    assert "other-orders" not in measured.details


def test_it_is_measured_by_name_and_not_handed_over(tmp_path):
    """It stands in the private folder, in words too, and nowhere in the released one."""
    data, _categories = make(21, records=120, items=30)
    method = sv.RandSwap(categories={item: f"g{k % 4}" for k, item in enumerate(data.vocabulary)})
    release = sv.publish(data, method, seed=2**70, no_guarantee=True, metrics=["tree-edit-distance:orders=1"])
    (measured,) = release.measurements
    assert measured.value is not None
    assert measured.details["other-orders"]["orders"] == 1
    release.save(tmp_path / "out")
    private = "".join(f.read_text("utf-8") for f in sorted((tmp_path / "out.private").glob("*.json")))
    assert "tree-edit-distance" in private
    for file in (tmp_path / "out").rglob("*"):
        assert b"tree-edit" not in (file.read_bytes() if file.is_file() else b"")
