"""Transactions as a Python sequence: compared with the list of tuples that they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.data.records import record_sequence

RECORDS = [("bread", "milk"), (), ("milk",), ("bread", "milk", "tea"), ("tea",)]
DATA = sv.from_lists(RECORDS, ids=["p", "q", "r", "s", "t"])


def test_a_record_is_a_tuple_of_labels():
    assert [DATA[place] for place in range(-5, 5)] == RECORDS + RECORDS
    assert DATA[np.int32(3)] == RECORDS[3]
    assert len(DATA) == 5


@pytest.mark.parametrize("place", [5, -6, 10**30])
def test_a_place_outside_is_an_index_error(place):
    with pytest.raises(IndexError, match="the data have 5 records, counted from 0"):
        DATA[place]


@pytest.mark.parametrize("place", ["milk", 1.0, None, (0, 1), slice("a", None)], ids=str)
def test_what_is_no_place_is_refused(place):
    with pytest.raises(sv.BadParameter, match=r"expected a whole number \(data\[0\]\) or a slice"):
        DATA[place]


@given(*[st.one_of(st.none(), st.integers(-7, 7))] * 2, st.sampled_from([None, 1, 2, 3, -1, -2]))
def test_a_slice_is_transactions_with_their_ids(start, stop, step):
    chosen = slice(start, stop, step)
    sliced = DATA[chosen]
    assert list(sliced) == RECORDS[chosen]
    assert sliced.ids.to_pylist() == ["p", "q", "r", "s", "t"][chosen]
    assert (sliced.vocabulary, sliced.unit) == (DATA.vocabulary, DATA.unit)


@pytest.mark.parametrize("at_once", [1, 2, 5, 100])
def test_iteration_gives_every_record_whatever_the_size_of_a_batch(at_once, monkeypatch):
    monkeypatch.setattr(record_sequence, "_RECORDS_AT_ONCE", at_once)
    assert list(DATA) == RECORDS
    assert list(reversed(DATA)) == RECORDS[::-1]
    assert DATA.to_lists() == [list(record) for record in RECORDS]
    assert sv.from_lists(DATA, ids=DATA.ids) == DATA


def test_data_without_records_or_items_are_empty_sequences():
    assert list(sv.from_lists([])) == []
    assert list(sv.from_lists([[], []])) == [(), ()]
    assert sv.from_lists([[], []])[1] == ()


def test_in_asks_for_a_whole_record_and_refuses_an_item():
    assert ("bread", "milk") in DATA
    assert () in DATA
    assert ("milk", "tea") not in DATA
    assert "milk" in DATA.vocabulary
    with pytest.raises(sv.BadParameter, match="is an item, not a record"):
        assert "milk" not in DATA
