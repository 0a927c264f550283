"""Links across chunks, counted as the oracle lists them."""

import numpy as np
from hypothesis import given, settings

import setveil as sv
from setveil.mining.chunk_links import chunk_links

from oracle import km_anonymity as oracle
from support.exhaustive import examples
from support.random_clusters import any_cluster, clusters_of
from support.random_data import as_sets, make, seeds


def assert_as_the_oracle_lists(clusters):
    found = chunk_links(sv.Disassociated.from_clusters(clusters))
    certain, to_terms, forced = oracle.links(clusters)
    assert (found.certain, found.certain_to_terms, found.forced) == (len(certain), len(to_terms), len(forced))
    assert found.clusters_with_certain == len({link[0] for link in certain})
    assert found.clusters_with_certain_to_terms == len({link[0] for link in to_terms})
    return certain, to_terms, forced - certain


@settings(max_examples=examples(200), deadline=None)
@given(seeds)
def test_links_are_counted(seed):
    rng = np.random.default_rng(seed)
    assert_as_the_oracle_lists([any_cluster(rng, 2, most_records=8, most_items=8) for _ in range(rng.integers(0, 5))])


def test_all_kinds_of_links_come_up():
    """Else the test above would show little."""
    rng = np.random.default_rng(1)
    kinds = [0, 0, 0]
    for _ in range(50):
        for kind, links in enumerate(assert_as_the_oracle_lists([any_cluster(rng, 2) for _ in range(3)])):
            kinds[kind] += len(links)
    assert all(kinds)


def test_links_of_clusters_that_are_safe():
    for seed in range(20):
        data, _categories = make(seed)
        assert_as_the_oracle_lists(clusters_of(as_sets(data), 2, 2, np.random.default_rng(seed)))


def test_very_many_links_are_counted_at_once():
    half = [f"a{j}" for j in range(3000)], [f"b{j}" for j in range(3000)]
    chunks = [[(items, 5)] for items in half]
    found = chunk_links(
        sv.Disassociated.from_clusters([{"size": 5, "record_chunks": chunks, "term_chunk": ["x", "y"]}])
    )
    assert (found.certain, found.forced, found.certain_to_terms) == (9_000_000, 9_000_000, 12_000)
