"""Frequent, closed and maximal itemsets against their definitions."""

import os
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.records.transactions import from_lists
from setveil.errors import BadParameter, TooManyItemsets
from setveil.mining import _bit_search_kernels, _list_search_kernels, frequent, searching
from setveil.mining.frequent import count, mine, top

from oracle import mining as oracle
from support.exhaustive import IS_EXHAUSTIVE
from support.random_data import as_sets, make, seeds

# Tests of little data also run with the compiler off, where every index is checked; hashing wraps around there with a warning.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

KINDS = {"all": oracle.frequent, "closed": oracle.closed, "maximal": oracle.maximal}


@pytest.fixture(autouse=True, scope="module")
def ranges_of_little_work():
    """Let little data be cut into as many ranges as much data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_LEAST_WORK", 1)
        yield


def as_dict(itemsets):
    found = {frozenset(labels): support for labels, support in itemsets}
    assert len(found) == len(itemsets), "a set was found twice"
    return found


def dense(seed, *, records, items, share, everywhere=0):
    """Make records that hold many items each, some of them in all records."""
    rng = np.random.default_rng(seed)
    table = rng.random((records, items)) < share
    table[:, :everywhere] = True
    return from_lists([[f"i{j:02}" for j in np.flatnonzero(row)] for row in table])


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, data=st.data())
def test_equals_the_definition(kind, seed, data):
    records = data.draw(st.integers(1, 14))
    items, share = data.draw(st.integers(1, 9)), data.draw(st.sampled_from([0.2, 0.5, 0.8, 0.95]))
    transactions = dense(seed, records=records, items=items, share=share, everywhere=data.draw(st.integers(0, 2)))
    min_count = data.draw(st.integers(1, max(1, records // 2)))
    expected = KINDS[kind](as_sets(transactions), min_count)
    assert as_dict(mine(transactions, min_count, kind=kind)) == expected
    assert count(transactions, min_count, kind=kind) == len(expected)
    shortest = data.draw(st.integers(1, 4))
    longest = data.draw(st.integers(shortest, 7))
    bounds = {"min_length": shortest, "max_length": longest}
    bounded = {itemset: n for itemset, n in expected.items() if shortest <= len(itemset) <= longest}
    assert as_dict(mine(transactions, min_count, kind=kind, **bounds)) == bounded
    assert count(transactions, min_count, kind=kind, **bounds) == len(bounded)
    assert count(transactions, min_count, kind=kind, min_length=shortest) == sum(len(s) >= shortest for s in expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6 if IS_EXHAUSTIVE else 2))
def test_equals_the_definition_where_many_items_are_left(kind, seed):
    # More items than a word has bits, before and behind each other.
    transactions = dense(seed, records=40, items=150, share=0.12)
    expected = KINDS[kind](as_sets(transactions), 3)
    assert as_dict(mine(transactions, 3, kind=kind)) == expected
    assert count(transactions, 3, kind=kind) == len(expected)
    short = {itemset: n for itemset, n in expected.items() if len(itemset) <= 2}
    assert as_dict(mine(transactions, 3, kind=kind, max_length=2)) == short


@pytest.mark.plain_python
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word_bits", [1, 3])
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") != "1", reason="the length of a word is compiled in")
def test_lists_of_all_depths_equal_the_definition(kind, word_bits, monkeypatch):
    monkeypatch.setattr(_list_search_kernels, "WORD_BITS", word_bits)
    monkeypatch.setattr(_bit_search_kernels, "WORD_BITS", word_bits)
    monkeypatch.setitem(frequent._TABLE_BITS, True, 1)
    monkeypatch.setitem(frequent._TABLE_BITS, False, 1)
    for seed in range(12):
        transactions = dense(seed, records=12, items=9, share=(0.4, 0.6, 0.8)[seed % 3], everywhere=seed % 2)
        expected = KINDS[kind](as_sets(transactions), 2)
        assert as_dict(mine(transactions, 2, kind=kind)) == expected
        assert count(transactions, 2, kind=kind) == len(expected)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_threads_change_no_byte(kind, seed):
    transactions, _ = make(seed)
    one, two = (mine(transactions, 2, kind=kind, max_length=4, threads=threads) for threads in (1, 2))
    assert one.offsets.tobytes() == two.offsets.tobytes()
    assert one.items.tobytes() == two.items.tobytes()
    assert one.supports.tobytes() == two.supports.tobytes()


@pytest.mark.realdata
@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_no_byte_of_real_data(real_data, kind):
    transactions = real_data("bms-webview-1")
    one, two = (mine(transactions, "0.1%", kind=kind, threads=threads) for threads in (1, 2))
    assert len(one) > 1000
    assert one.offsets.tobytes() == two.offsets.tobytes()
    assert one.items.tobytes() == two.items.tobytes()
    assert one.supports.tobytes() == two.supports.tobytes()


@given(seed=seeds, how_many=st.integers(1, 40))
def test_the_most_frequent(seed, how_many):
    transactions = dense(seed, records=10, items=6, share=0.5)
    found = top(transactions, how_many)
    records = as_sets(transactions)
    assert found.supports.tolist() == oracle.top(records, how_many)
    assert as_dict(found).items() <= oracle.frequent(records, 1).items()
    assert found.to_lists() == found.ordered().to_lists()


def test_the_most_frequent_of_a_kind_and_length():
    transactions = dense(3, records=30, items=8, share=0.6)
    pairs = top(transactions, 5, kind="closed", min_length=2, max_length=3)
    closed = oracle.closed(as_sets(transactions), 1)
    best = sorted((n for itemset, n in closed.items() if 2 <= len(itemset) <= 3), reverse=True)[:5]
    assert pairs.supports.tolist() == best


@pytest.mark.plain_python
def test_the_order_of_people():
    transactions = from_lists([["b", "a"], ["a", "b", "10"], ["9", "a"], ["9"]])
    assert [(*labels, n) for labels, n in mine(transactions, 1).ordered()] == [
        ("a", 3),
        ("9", 2),
        ("b", 2),
        ("a", "b", 2),
        ("10", 1),
        ("10", "a", 1),
        ("10", "b", 1),
        ("9", "a", 1),
        ("10", "a", "b", 1),
    ]


@pytest.mark.plain_python
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lists", [[], [[]], [[], []], [["a"]], [["a", "b"]] * 3, [["a"], [], ["b"]]])
def test_little_data(kind, lists):
    transactions = from_lists(lists)
    expected = KINDS[kind]([set(one) for one in lists], 1) if lists else {}
    assert as_dict(mine(transactions, 1, kind=kind)) == expected
    assert as_dict(mine(transactions, 5, kind=kind)) == {}
    assert count(transactions, 1, kind=kind) == len(expected)


def test_more_sets_than_any_word_counts_are_counted():
    long = [f"i{j:03}" for j in range(200)]
    transactions = from_lists([long, long, ["x"]])
    assert count(transactions, 2) == 2**200 - 1
    assert count(transactions, 2, max_length=3) == 200 + comb(200, 2) + comb(200, 3)
    assert count(transactions, 2, min_length=199) == 201
    assert mine(transactions, 2, kind="maximal").lengths.tolist() == [200]
    with pytest.raises(
        TooManyItemsets,
        match=r"there are 1,606,938,044,258,990,275,541,962,092,341,162,602,522,202,993,782,792,835,301,375 ",
    ):
        mine(transactions, 2)
    assert len(mine(transactions, 2, max_length=2)) == 200 + comb(200, 2)


@pytest.mark.plain_python
@pytest.mark.parametrize("threads", [1, 2])
def test_too_many_are_refused_with_their_number_and_what_to_try(threads):
    transactions = dense(1, records=30, items=12, share=0.8)
    there_are = len(oracle.frequent(as_sets(transactions), 2))
    with pytest.raises(TooManyItemsets) as refused:
        mine(transactions, 2, limit=there_are - 1, threads=threads)
    assert (refused.value.found, refused.value.exact, refused.value.exit_code) == (there_are, True, 2)
    assert str(refused.value) == (
        f"there are {there_are:,} frequent itemsets with a support of at least 2 of 30 records; the limit is {there_are - 1:,}. "
        "Try a higher support, kind 'closed' or 'maximal', a maximum length or a higher limit"
    )
    assert len(mine(transactions, 2, limit=there_are, threads=threads)) == there_are


@pytest.mark.plain_python
def test_a_small_limit_ends_the_search_before_anything_is_written_beyond_it():
    transactions = dense(2, records=20, items=16, share=0.6)
    for limit in (0, 1, 5, 100):
        with pytest.raises(TooManyItemsets):
            mine(transactions, 2, limit=limit)


def test_counting_ends_where_it_would_take_too_long(monkeypatch):
    monkeypatch.setattr(frequent, "_COUNT_BUDGET", 50)
    transactions = dense(2, records=60, items=40, share=0.5)
    with pytest.raises(TooManyItemsets, match=r"there are more than [\d,]+ frequent itemsets") as refused:
        mine(transactions, 2, limit=10)
    assert not refused.value.exact
    assert 10 < refused.value.found < count(transactions, 2)


@pytest.mark.realdata
def test_what_a_click_stream_explodes_into(real_data):
    transactions = real_data("bms-webview-1")
    with pytest.raises(
        TooManyItemsets, match=r"there are 35,349,566,550,691 frequent itemsets .* at least 30 of 59,602 records"
    ):
        mine(transactions, "0.05%")
    assert len(mine(transactions, "0.05%", kind="closed")) == 127_131
    assert len(mine(transactions, "0.05%", kind="maximal")) == 11_371


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"min_support": 0}, "the support '0' is neither"),
        ({"min_support": "2", "kind": "some"}, "the kind of itemsets is 'some'; allowed is all | closed | maximal"),
        ({"min_support": "2", "min_length": 0}, "the length of the shortest itemset is 0; it must be at least 1"),
        ({"min_support": "2", "max_length": 0}, "the length of the longest itemset is 0; it must be at least 1"),
        (
            {"min_support": "2", "min_length": 3, "max_length": 2},
            "max_length is 2 and min_length is 3; the maximum must be at least the minimum",
        ),
        ({"min_support": "2", "threads": 0}, "0 threads were asked for"),
        ({"min_support": "2", "limit": -1}, "the limit is -1 itemsets; it must be 0 or more"),
    ],
)
def test_what_cannot_be_asked_for(wrong, sentence):
    with pytest.raises(BadParameter) as refused:
        mine(from_lists([["a"]]), **wrong)
    assert sentence in str(refused.value)


def test_what_cannot_be_asked_for_of_the_most_frequent():
    with pytest.raises(BadParameter, match="the number of most frequent itemsets is 0; it must be at least 1"):
        top(from_lists([["a"]]), 0)
    with pytest.raises(BadParameter, match="the most frequent maximal itemsets are not defined"):
        top(from_lists([["a"]]), 1, kind="maximal")


def test_bounds_beyond_any_word_are_bounds():
    transactions = from_lists([[f"i{j:02}" for j in range(70)]] * 2)
    with pytest.raises(TooManyItemsets, match=r"the limit is 1,000,000,000,000,000,000,000,000,000,000\."):
        mine(transactions, 2, limit=10**30)
    assert len(mine(transactions, 2, limit=10**30, max_length=1)) == 70
    assert len(mine(transactions, 2, min_length=69, max_length=10**30)) == 71
    assert len(mine(transactions, 2, min_length=10**30)) == 0
    assert len(mine(transactions, 10**17)) == 0


def test_few_sets_among_very_many_are_found():
    transactions = from_lists([[f"i{j:04}" for j in range(1100)]] * 2)
    assert len(mine(transactions, 2, min_length=1099)) == 1101
    assert len(mine(transactions, 2, max_length=1)) == 1100
    with pytest.raises(TooManyItemsets):
        mine(transactions, 2, min_length=1095)
