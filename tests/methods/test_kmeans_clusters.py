"""Clusters by k-means: every record once, none too small, decided by the seed alone, and a clear message if scikit-learn is missing."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.kernels.threads import using_threads
from setveil.methods.disassociation import _kmeans
from setveil.methods.disassociation._groups import of_groups
from setveil.methods.disassociation._kmeans import by_kmeans

from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def some_data(seed, **sizes):
    """Draw data without empty records."""
    data, _categories = make(seed, **sizes)
    return data.take(data.lengths > 0)


def run(data, k=2, delta=5, seed=0, threads=1, *, safe=True):
    with using_threads(threads):
        clustering, account = by_kmeans(data, k, delta, safe=safe, mode="recursive", rng=np.random.default_rng(seed))
    return [clustering.rows[a:b].tolist() for a, b in pairwise(clustering.starts.tolist())], account


@settings(max_examples=examples(40))
@given(seed=seeds, k=st.integers(1, 5), delta=st.integers(5, 12), safe=st.booleans())
def test_every_record_is_in_one_cluster_and_none_is_too_small(seed, k, delta, safe):
    data = some_data(seed)
    if data.records < k:
        return
    clusters, account = run(data, k, delta, seed, safe=safe)
    assert sorted(r for cluster in clusters for r in cluster) == list(range(data.records))
    sizes = [len(cluster) for cluster in clusters]
    assert min(sizes) >= (k if safe else 1)
    assert safe or max(sizes) <= delta
    assert account["centres"] == -(-data.records // delta)
    assert 1 <= account["centres-with-records"] <= account["centres"]


def test_similar_records_are_in_the_same_cluster():
    """Five kinds of records that share nothing: as many clusters as centres, and each holds one kind."""
    kinds = [[f"{letter}{j}" for j in range(4)] for letter in "abcde"]
    data = sv.from_lists([kinds[r % 5] for r in range(50)])
    clusters, account = run(data, k=3, delta=10, seed=1)
    lists = data.to_lists()
    assert [len({tuple(lists[r]) for r in cluster}) for cluster in clusters] == [1] * 5
    assert account == {
        "centres": 5,
        "centres-with-records": 5,
        "groups-split": 0,
        "groups-joined-to-the-rest": 0,
        "records-of-the-rest": 0,
    }


@pytest.mark.parametrize("safe", [True, False])
def test_large_groups_are_cut_and_small_ones_join_the_rest(safe):
    data = sv.from_lists([["a", f"b{r % 3}"] for r in range(21)] + [["z"], ["z"]])
    group = np.array([0] * 21 + [2] * 2)  # nothing is in group 1
    asked = {"safe": safe, "mode": "recursive"}
    clustering, account = of_groups(data, group, data.content_order(), 3, 8, **asked)
    # Two records are too few for a cluster of their own, and so is the pool that they would join.
    assert clustering.sizes.tolist() == ([7, 7, 9] if safe else [8, 8, 5, 2])
    assert sorted(clustering.rows.tolist()) == list(range(23))
    assert clustering.rows[:7].tolist() == list(range(0, 21, 3))
    assert list(account.values()) == ([1, 1, 2] if safe else [1, 0, 0])


@settings(max_examples=examples(15))
@given(seed=seeds)
def test_the_seed_decides_and_neither_threads_nor_the_order_of_records(seed):
    data = some_data(seed, records=60, items=30)
    clusters, account = run(data, seed=seed)
    assert run(data, seed=seed, threads=2) == (clusters, account)
    shuffled = data.take(np.random.default_rng(seed).permutation(data.records))
    others, noted = run(shuffled, seed=seed)
    assert noted == account
    lists, in_other_order = as_sets(data), as_sets(shuffled)
    assert [[lists[r] for r in one] for one in clusters] == [[in_other_order[r] for r in one] for one in others]


def test_different_seeds_give_different_clusters():
    data = some_data(3, records=200, items=40)
    assert len({str(run(data, seed=seed)[0]) for seed in range(5)}) > 1


def test_more_items_than_fit_into_memory_mean_fewer_centres(monkeypatch):
    data = some_data(5, records=50, items=30)
    monkeypatch.setattr(_kmeans, "MOST_NUMBERS", 4 * len(data.vocabulary))
    clusters, account = run(data)
    assert account["centres"] == 4
    assert sum(map(len, clusters)) == data.records


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    method = sv.Disassociation(k=2, m=2, delta=5, partition="kmeans")
    with pytest.raises(sv.Missing, match=r"pip install 'setveil\[learn\]'"):
        method.apply(some_data(5), rng=np.random.default_rng(0))


def test_the_method_takes_its_clusters_from_k_means():
    data = some_data(5, records=50)
    method = sv.Disassociation(k=2, m=2, delta=5, partition="kmeans")
    with using_threads(2):
        outcome = method.apply(data, rng=np.random.default_rng(0))
    clusters, account = run(data)
    assert account.items() <= outcome.account.items()
    assert outcome.account["clusters"] == len(clusters)
    with using_threads(1):
        assert outcome.published == method.apply(data, rng=np.random.default_rng(0)).published


def test_it_stops_on_request_between_batches():
    """The loop tests the stop flag before each batch: if it is set at the start, nothing is fitted."""
    data = some_data(5, records=50)
    control = np.zeros(8, np.int64)
    control[1] = 1
    label = _kmeans._labels(data.distinct()[0], np.zeros(9, np.int64), 2, 4, 0, control)
    assert not label.any()


@pytest.mark.realdata
def test_it_ends_on_real_clicks_and_threads_change_nothing(real_data):
    data = real_data("bms-webview-1").take(np.arange(20_000)).compacted()
    clusters, account = run(data, k=3, delta=50, seed=1)
    assert run(data, k=3, delta=50, seed=1, threads=2) == (clusters, account)
    assert account["centres"] == 400
    assert min(map(len, clusters)) >= 3
