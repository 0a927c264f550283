"""Disassociated data: made from Python or from records, put in an order that tells nothing, and refused where arrays do not fit."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.data.forms import comparing
from setveil.data.forms.disassociated import LEFT_OUT, TERM_CHUNK

from support.any_clusters import some_clusters
from support.random_data import as_sets, make, seeds


def content(cluster):
    """Return what a cluster tells, whatever the order."""
    chunks = [Counter() for _chunk in cluster["record_chunks"]]
    for bag, chunk in zip(chunks, cluster["record_chunks"], strict=True):
        for items, count in chunk:
            bag[frozenset(items)] += count
    told = sorted(repr(sorted((sorted(items), count) for items, count in bag.items())) for bag in chunks)
    return repr((cluster["size"], told, sorted(cluster["term_chunk"])))


@given(clusters=some_clusters())
def test_what_goes_in_comes_out(clusters):
    data = sv.Disassociated.from_clusters(clusters)
    assert sorted(map(content, data.to_clusters())) == sorted(map(content, clusters))
    assert data.records == sum(cluster["size"] for cluster in clusters)
    assert data.chunks == sum(len(cluster["record_chunks"]) for cluster in clusters)
    sizes = [sum(count for _items, count in chunk) for cluster in clusters for chunk in cluster["record_chunks"]]
    assert data.chunk_sizes.tolist() == sizes


@given(clusters=some_clusters(), seed=seeds)
def test_the_order_tells_nothing(clusters, seed):
    rng = np.random.default_rng(seed)

    def shuffled(things):
        return [things[place] for place in rng.permutation(len(things))]

    other = [
        {
            "size": cluster["size"],
            "record_chunks": shuffled([shuffled(chunk) for chunk in cluster["record_chunks"]]),
            "term_chunk": shuffled(cluster["term_chunk"]),
        }
        for cluster in shuffled(clusters)
    ]
    one, moved = sv.Disassociated.from_clusters(clusters).arranged()
    two, _moved = sv.Disassociated.from_clusters(other).arranged()
    assert one == two
    assert one.checksum() == two.checksum()
    assert sorted(map(content, one.to_clusters())) == sorted(map(content, clusters))
    assert [cluster["size"] for cluster in one.to_clusters()] == [clusters[place]["size"] for place in moved]
    assert one.arranged()[0] == one
    used = {item for cluster in clusters for chunk in cluster["record_chunks"] for items, _n in chunk for item in items}
    assert set(one.vocabulary) == used.union(*(cluster["term_chunk"] for cluster in clusters))


@given(seed=seeds, in_blocks=st.booleans())
def test_records_are_taken_apart(seed, in_blocks):
    data = make(seed)[0].without_empty()
    if not data.records:
        return
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 3, data.records)
    cluster = np.unique(cluster, return_inverse=True)[1]
    chunk_of = rng.integers(LEFT_OUT, 3, (3, len(data.vocabulary)))
    chunk = chunk_of[np.repeat(cluster, data.lengths), data.items]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "BLOCK", 5 if in_blocks else 1 << 22)
        made, rows = sv.Disassociated.of_records(data, cluster, chunk)
    assert sorted(rows.tolist()) == list(range(data.records))
    records, at = as_sets(data), 0
    for found in made.to_clusters():
        mine = rows[at : at + found["size"]]
        at += found["size"]
        number = cluster[mine[0]]
        assert (cluster[mine] == number).all()
        domains = [
            {data.vocabulary[item] for item in np.flatnonzero(chunk_of[number] == j)} for j in (TERM_CHUNK, 0, 1, 2)
        ]
        held = set().union(*(records[row] for row in mine))
        assert set(found["term_chunk"]) == domains[0] & held
        wanted = [
            Counter(frozenset(records[r] & domain) for r in mine if records[r] & domain) for domain in domains[1:]
        ]
        there = [Counter({frozenset(items): count for items, count in bag}) for bag in found["record_chunks"]]
        assert sorted(map(repr, map(_plain, there))) == sorted(map(repr, map(_plain, filter(None, wanted))))


def test_data_without_records_give_no_clusters():
    none = np.empty(0, np.int64)
    made, rows = sv.Disassociated.of_records(sv.from_lists([]), none, none)
    assert (made.clusters, len(rows)) == (0, 0)


def _plain(bag):
    return sorted((sorted(items), count) for items, count in bag.items())


def test_supports_are_what_is_known_for_certain():
    data = sv.Disassociated.from_clusters(
        [
            {"size": 3, "record_chunks": [[(["a", "b"], 2), (["a"], 1)]], "term_chunk": ["c"]},
            {"size": 2, "record_chunks": [], "term_chunk": ["a", "c"]},
        ]
    )
    assert dict(zip(data.vocabulary, data.supports.tolist(), strict=True)) == {"a": 4, "b": 2, "c": 2}
    assert data.occurrences == 5 + 3
    assert repr(data) == "Disassociated(2 clusters, 1 record chunk, 5 records, 3 items)"
    assert data.with_unit("person").unit == "person"


WRONG = {
    "no size": ({"sizes": []}, "every cluster must have a size"),
    "a size of 0": ({"sizes": [0]}, "whole numbers of at least 1"),
    "a count of 0": ({"counts": [2, 0]}, "whole numbers of at least 1"),
    "a count too few": ({"counts": [2]}, "every subrecord must have a count"),
    "an empty chunk": ({"chunk_starts": [0, 0, 2]}, "every chunk must have a subrecord"),
    "a chunk too many": ({"chunk_starts": [0, 1, 2]}, "must be in one cluster"),
    "no term chunk": ({"term_starts": [0]}, "one term chunk"),
    "terms that fall": ({"terms": [1, 0], "term_starts": [0, 2]}, "must be strictly increasing"),
    "a term twice": ({"terms": [1, 1], "term_starts": [0, 2]}, "must be strictly increasing"),
    "a term that nobody knows": ({"terms": [7]}, "outside the vocabulary"),
    "a size with a fraction": ({"sizes": [1.5]}, "whole numbers"),
}


@pytest.mark.parametrize(("changed", "says"), WRONG.values(), ids=WRONG)
def test_arrays_that_do_not_fit_are_refused(changed, says):
    right = {
        "subrecords": sv.from_lists([["a"], ["a", "b"]]),
        "counts": [2, 1],
        "chunk_starts": [0, 2],
        "cluster_starts": [0, 1],
        "sizes": [3],
        "term_starts": [0, 1],
        "terms": [1],
    }
    assert (
        sv.Disassociated(**{name: np.array(x) if isinstance(x, list) else x for name, x in right.items()}).records == 3
    )
    values = right | changed
    with pytest.raises(sv.BadData, match=says):
        sv.Disassociated(**{name: np.array(x) if isinstance(x, list) else x for name, x in values.items()})
