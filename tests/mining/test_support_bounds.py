"""What disassociated data tell of supports: equal to the definitions, and true of every reconstruction."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.mining import support_bounds as module
from setveil.mining.itemsets import Itemsets
from setveil.mining.support_bounds import support_bounds

from oracle import support_bounds as oracle
from support.disassociated_cases import some_clusters, some_questions
from support.exhaustive import examples
from support.random_data import make, seeds


def check(data, clusters, asked, **options):
    found = support_bounds(data, asked, **options)
    true = oracle.bounds(clusters, asked)
    for name in ("inside", "certain", "possible"):
        assert getattr(found, name).dtype == np.int64
        assert getattr(found, name).tolist() == true[name], name
    assert found.expected.tolist() == pytest.approx([float(value) for value in true["expected"]], rel=1e-12)
    return found


@pytest.mark.plain_python
@settings(max_examples=examples(150), deadline=None)
@given(seed=seeds)
def test_bounds_equal_the_definitions(seed):
    clusters = some_clusters(seed)
    data = sv.Disassociated.from_clusters(clusters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SETS_AT_ONCE", 1 + seed % 7)
        check(data, clusters, some_questions(seed, [f"i{j}" for j in range(8)]))


@pytest.mark.plain_python
@pytest.mark.parametrize("density", [0.1, 0.5, 0.95])
def test_large_clusters_and_chunks_of_many_subrecords(density):
    clusters = some_clusters(3, clusters=30, items=14, most_records=300, density=density)
    asked = some_questions(4, [f"i{j}" for j in range(14)], 120, 6)
    check(sv.Disassociated.from_clusters(clusters), clusters, asked)


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_no_reconstruction_has_fewer_or_more_and_on_average_they_have_what_is_expected(seed):
    (cluster,) = some_clusters(seed, clusters=1, items=5, most_records=4)
    cluster["term_chunk"] = cluster["term_chunk"][:2]
    cluster["record_chunks"] = cluster["record_chunks"][:2]
    data = sv.Disassociated.from_clusters([cluster])
    asked = [one for one in some_questions(seed, [f"i{j}" for j in range(5)], 6) if one]
    found = support_bounds(data, asked)
    for place, one in enumerate(asked):
        bounds, full, mean = oracle.by_reconstruction(cluster, one)
        assert bounds == (found.certain[place], found.possible[place])
        assert found.inside[place] <= found.possible[place]
        assert found.expected[place] == pytest.approx(float(mean), rel=1e-12)
        if full is not None:  # a record of which nothing is told must still hold something, which leaves fewer ways
            assert found.certain[place] <= full[0] <= full[1] <= found.possible[place]


def test_that_no_record_is_empty_can_bind():
    """Two subrecords for two records: they cannot meet, though one alone could stand beside the other."""
    cluster = {"size": 2, "record_chunks": [[(["a"], 1)], [(["b"], 1)]], "term_chunk": []}
    found = support_bounds(sv.Disassociated.from_clusters([cluster]), [["a", "b"]])
    bounds, full, mean = oracle.by_reconstruction(cluster, ["a", "b"])
    assert (found.certain[0], found.possible[0]) == bounds == (0, 1)
    assert full == (0, 0)
    assert mean == Fraction(1, 2) == found.expected[0]


@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_every_form_of_itemsets_gives_the_same(seed):
    data = sv.Disassociated.from_clusters(some_clusters(seed, clusters=4))
    labels = data.vocabulary
    if not labels:
        return
    asked = [sorted(set(one) - {"unknown"}) for one in some_questions(seed, labels)]
    codes = [sorted(labels.index(item) for item in one) for one in asked]
    offsets = np.concatenate(([0], np.cumsum([len(one) for one in codes]))).astype(np.int64)
    flat = np.array([code for one in codes for code in one], dtype=np.int32)
    other = tuple(reversed(labels))
    rotated = np.array([other.index(labels[code]) for code in flat], dtype=np.int32)
    no_supports = np.zeros(len(asked), np.int64)
    expected = support_bounds(data, asked)
    for form in (
        (offsets, flat),
        Itemsets(offsets, flat, no_supports, labels, data.records),
        Itemsets(offsets, rotated, no_supports, other, data.records),
    ):
        found = support_bounds(data, form)
        for name in oracle.READINGS:
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_records_that_stay_whole_tell_their_supports(seed):
    data, _categories = make(seed)
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, max(data.records // 4, 1), data.records)
    clusters = np.unique(clusters, return_inverse=True)[1]
    released, _rows = sv.Disassociated.of_records(data, clusters, np.zeros(data.occurrences, np.int64))
    asked = some_questions(seed, data.vocabulary or ("a",))
    found = support_bounds(released, asked)
    for name in oracle.READINGS:
        assert getattr(found, name).tolist() == sv.supports(data, asked).tolist()


def test_clusters_that_no_records_can_have_made_are_refused():
    twice = {"size": 3, "record_chunks": [[(["a", "b"], 2)], [(["b"], 1)]], "term_chunk": []}
    term = {"size": 3, "record_chunks": [[(["a"], 2)]], "term_chunk": ["a"]}
    crowded = {"size": 3, "record_chunks": [[(["a"], 2), (["b"], 2)]], "term_chunk": []}
    fine = {"size": 3, "record_chunks": [[(["a"], 2), (["b"], 1)]], "term_chunk": []}
    for wrong, words in (
        (twice, "cluster 2 has an item in two"),
        (term, "cluster 2 has an item in two"),
        (crowded, "cluster 2 has a record chunk with more subrecords"),
    ):
        with pytest.raises(sv.BadData, match=words):
            support_bounds(sv.Disassociated.from_clusters([fine, wrong]), [["a"]])


def test_no_cluster_and_no_question():
    nothing = sv.Disassociated.from_clusters([])
    assert support_bounds(nothing, [[], ["a"]]).possible.tolist() == [0, 0]
    assert len(support_bounds(nothing, [])) == 0
    bare = sv.Disassociated.from_clusters([{"size": 2, "record_chunks": [], "term_chunk": []}])
    assert support_bounds(bare, [[], ["a"]]).inside.tolist() == [2, 0]
    with pytest.raises(sv.BadData, match="outside the vocabulary"):
        support_bounds(bare, (np.array([0, 1]), np.array([0])))


@pytest.mark.realdata
def test_one_thread_or_three_on_real_data(real_data):
    data = real_data("bms-webview-1")
    rng = np.random.default_rng(7)
    cluster = rng.permutation(data.records) // 20
    chunk = rng.integers(-1, 3, len(data.vocabulary))[data.items]
    released, _rows = sv.Disassociated.of_records(data, cluster, chunk)
    asked = [data.record(r)[:4] for r in rng.integers(0, data.records, 20_000)]
    one, three = (support_bounds(released, asked, threads=threads) for threads in (1, 3))
    for name in oracle.READINGS:
        assert np.array_equal(getattr(one, name), getattr(three, name))
    some = [asked[place] for place in rng.integers(0, len(asked), 30)]
    check(released, released.to_clusters(), some)
