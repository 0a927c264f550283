"""Mining disassociated data: all itemsets of brute enumeration and no others, with their figures, in all four readings."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.mining import disassociated_itemsets as module
from setveil.mining.disassociated_itemsets import mine_bounds, top_bounds

from oracle import support_bounds as oracle
from support.disassociated_cases import some_clusters
from support.exhaustive import examples
from support.random_data import make, seeds

readings = st.sampled_from(oracle.READINGS)


def as_found(result):
    columns = [getattr(result.bounds, name).tolist() for name in oracle.READINGS]
    return {frozenset(items): row for items, row in zip(result.to_lists(), zip(*columns, strict=True), strict=True)}


def assert_same(found, true):
    assert found.keys() == true.keys()
    for itemset, row in true.items():
        assert found[itemset][:3] == row[:3]
        assert found[itemset][3] == pytest.approx(float(row[3]), rel=1e-12)


@pytest.mark.plain_python
@settings(max_examples=examples(120), deadline=None)
@given(seed=seeds, reading=readings, least=st.integers(1, 6), longest=st.sampled_from([None, 1, 2, 3]))
def test_all_frequent_itemsets_are_found(seed, reading, least, longest):
    clusters = some_clusters(seed, items=6)
    data = sv.Disassociated.from_clusters(clusters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ITEMS_AT_ONCE", 1 + seed % 3)
        patch.setattr(module, "TRIED_AT_ONCE", 1 + seed % 5)
        found = mine_bounds(data, least, support=reading, max_length=longest)
    assert len(found) == len(set(map(tuple, found.to_lists())))
    assert_same(as_found(found), oracle.frequent(clusters, least, reading, longest or 6))


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_no_figure_rises_when_an_item_is_added(seed):
    clusters = some_clusters(seed, clusters=3, items=6)
    every = oracle.frequent(clusters, 0, "possible", 4)
    for itemset, row in every.items():
        for item in itemset:
            if len(itemset) > 1:
                assert all(less <= more for less, more in zip(row, every[itemset - {item}], strict=True))


@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds, reading=readings, how_many=st.integers(1, 30), length=st.sampled_from([1, 2]))
def test_the_top_ones_are_the_first_of_all(seed, reading, how_many, length):
    data = sv.Disassociated.from_clusters(some_clusters(seed, clusters=5, items=6))
    every = mine_bounds(data, 1, support=reading, min_length=length).ordered()
    found = top_bounds(data, how_many, support=reading, min_length=length)
    assert found.to_lists() == every.to_lists()[:how_many]
    figures = found.bounds.of(reading)
    assert (np.diff(figures) <= 0).all()


def test_what_is_expected_is_not_lost_by_rounding():
    """Ten clusters that expect a tenth of a record each: the sum is a little below 1."""
    cluster = {"size": 10, "record_chunks": [[(["a"], 1)], [(["b"], 1)]], "term_chunk": []}
    data = sv.Disassociated.from_clusters([cluster] * 10)
    found = mine_bounds(data, 1)
    assert found.to_lists() == [["a"], ["b"], ["a", "b"]]
    assert found.bounds.expected[2] == pytest.approx(1)
    assert mine_bounds(data, 2).to_lists() == [["a"], ["b"]]


def test_the_result_is_laid_out_like_others():
    chunks = [[(["milk", "tea"], 2), (["tea"], 2)], [(["rum"], 3)]]
    data = sv.Disassociated.from_clusters([{"size": 4, "record_chunks": chunks, "term_chunk": ["wine"]}])
    found = mine_bounds(data, "50%", support="possible", min_length=2).ordered()
    assert repr(found) == "BoundedItemsets(11 sets of up to 4 items, in 4 records)"
    table = found.to_table()
    assert table.column_names == ["items", "expected", "certain", "possible", "inside"]
    assert table.schema.field("expected").type == pa.float64()
    assert table.to_pylist()[0]["possible"] == found.bounds.possible.max()
    assert found.take(np.array([1])).to_lists() == found.to_lists()[1:2]


def test_too_many_are_refused_soon():
    """All parts of one record of 60 items: no list holds them."""
    cluster = {"size": 2, "record_chunks": [[([f"i{j:02}" for j in range(60)], 2)]], "term_chunk": []}
    data = sv.Disassociated.from_clusters([cluster])
    for limit in (5, 59, 100, 2000, 100_000):
        with pytest.raises(sv.TooManyItemsets, match=f"more than {limit:,} itemsets.*Try a higher support") as refused:
            mine_bounds(data, 2, support="certain", limit=limit)
        assert refused.value.found > limit
        assert not refused.value.exact
    assert len(mine_bounds(data, 2, max_length=2, limit=60 + 60 * 59 // 2)) == 60 + 60 * 59 // 2
    with pytest.raises(sv.TooManyItemsets):
        mine_bounds(data, 2, max_length=2, limit=60 + 60 * 59 // 2 - 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"support": "likely"}, r"the support is 'likely'; allowed is expected \| certain"),
        ({"min_length": 0}, "the shortest itemset is 0"),
        ({"max_length": 0}, "the longest itemset is 0"),
        ({"min_length": 3, "max_length": 2}, "max_length is 2 and min_length is 3"),
        ({"limit": -1}, "the limit is -1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options, words):
    data = sv.Disassociated.from_clusters([])
    for search in (mine_bounds, top_bounds):
        with pytest.raises(sv.BadParameter, match=words):
            search(data, 1, **options)


def test_little_data():
    assert mine_bounds(sv.Disassociated.from_clusters([]), 1).to_lists() == []
    bare = sv.Disassociated.from_clusters([{"size": 3, "record_chunks": [], "term_chunk": ["a", "b"]}])
    assert mine_bounds(bare, 1, support="inside").to_lists() == []
    assert mine_bounds(bare, 3, support="possible").to_lists() == [["a"], ["b"], ["a", "b"]]
    assert top_bounds(bare, 5, support="inside").to_lists() == []
    with pytest.raises(sv.BadParameter, match="it must be at least 1"):
        top_bounds(bare, 0)


def test_any_number_of_threads_finds_the_same():
    data, _categories = make(5, records=400, items=30)
    rng = np.random.default_rng(3)
    chunk = rng.integers(-1, 2, len(data.vocabulary))[data.items]
    released, _rows = sv.Disassociated.of_records(data, np.arange(data.records) // 20, chunk)
    for reading in oracle.READINGS:
        one, three = (mine_bounds(released, 8, support=reading, max_length=3, threads=n) for n in (1, 3))
        assert len(one) > 10
        assert one.to_table().equals(three.to_table())
