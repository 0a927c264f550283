"""Ragged arrays, compared with lists of lists."""

from bisect import bisect_left
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.data.records import ragged
from setveil.data.records.ragged import (
    distinct,
    inverted,
    offsets_of,
    order_of_sequences,
    owner_of,
    picked,
    places_of,
    ranks_of_sequences,
    read_only,
    record_ranges,
    rises_within_records,
    runs,
    sealed,
    sorted_within,
    starts_of,
    sums_within,
)
from setveil.data.records.transactions import Transactions

WIDTH = 12
DTYPES = st.sampled_from([np.int8, np.int32, np.int64])
numbers = st.lists(st.integers(0, WIDTH - 1), max_size=8)
lists_of_numbers = st.lists(numbers, max_size=12)


@pytest.fixture(scope="module", autouse=True, params=[0, ragged.FEW], ids=["many values", "few values"])
def number_of_values(request):
    """Invert small lists both ways: as few values, and as if they were many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "FEW", request.param)
        yield


def flat(lists, dtype=np.int64):
    """Return offsets and values."""
    offsets = np.array([0, *accumulate(map(len, lists))], dtype=np.int64)
    return offsets, np.array([value for one in lists for value in one], dtype=dtype)


def as_lists(offsets, values):
    return [values[a:b].tolist() for a, b in pairwise(offsets.tolist())]


def assert_whole_numbers(*arrays):
    assert all(array.dtype == np.int64 and array.flags.c_contiguous for array in arrays)


# -- offsets -----------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(lists_of_numbers, DTYPES)
def test_offsets_and_owners(lists, dtype):
    offsets, _values = flat(lists)
    for lengths in (np.array([len(one) for one in lists], dtype=dtype), [len(one) for one in lists]):
        found = offsets_of(lengths)
        assert_whole_numbers(found)
        assert found.tolist() == offsets.tolist()
    owners = owner_of(offsets)
    assert_whole_numbers(owners)
    assert owners.tolist() == [number for number, one in enumerate(lists) for _value in one]
    assert starts_of(owners.astype(dtype), len(lists)).tolist() == offsets.tolist()
    assert_whole_numbers(starts_of(owners.astype(dtype), len(lists)))


@settings(deadline=None)
@given(st.lists(st.booleans(), max_size=20))
def test_offsets_of_a_mask_count_what_is_true_before(mask):
    assert offsets_of(np.array(mask, dtype=bool)).tolist() == [sum(mask[:place]) for place in range(len(mask) + 1)]


def test_offsets_do_not_overflow_the_type_of_the_lengths():
    assert offsets_of(np.full(3, 2**31 - 1, dtype=np.int32)).tolist()[-1] == 3 * (2**31 - 1)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 6)), max_size=12), DTYPES)
def test_runs(chosen, dtype):
    starts, lengths = (np.array([pair[side] for pair in chosen], dtype=dtype) for side in (0, 1))
    found = runs(starts, lengths)
    assert_whole_numbers(found)
    assert found.tolist() == [place for start, length in chosen for place in range(start, start + length)]


@settings(deadline=None)
@given(st.data(), lists_of_numbers.filter(bool))
def test_picked_lists(data, lists):
    chosen = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=12))
    offsets, values = flat(lists)
    made, places = picked(offsets, np.array(chosen, dtype=np.int64))
    assert_whole_numbers(made, places)
    assert as_lists(made, values[places]) == [lists[number] for number in chosen]


@settings(deadline=None)
@given(lists_of_numbers, st.integers(1, 12), st.integers(1, 5))
def test_ranges_cover_all_records_in_order(lists, occurrences, most):
    offsets, _values = flat(lists)
    ranges = list(record_ranges(offsets, occurrences, most))
    assert [number for first, last in ranges for number in range(first, last)] == list(range(len(lists)))
    for first, last in ranges:
        assert 1 <= last - first <= most
        assert last - first == 1 or offsets[last] - offsets[first] <= occurrences


# -- values ------------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(lists_of_numbers, DTYPES)
def test_sums_and_sorting_within_lists(lists, dtype):
    offsets, values = flat(lists, dtype)
    sums = sums_within(offsets, values)
    assert_whole_numbers(sums)
    assert sums.tolist() == [sum(one) for one in lists]
    assert sums_within(offsets, values > 4).tolist() == [sum(value > 4 for value in one) for one in lists]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "AT_ONCE", 3)
        assert np.array_equal(sums_within(offsets, values), sums)
    rising = sorted_within(offsets, values, WIDTH)
    assert_whole_numbers(rising)
    assert as_lists(offsets, rising) == [sorted(one) for one in lists]
    assert distinct(values).tolist() == sorted({value for one in lists for value in one})


@settings(deadline=None)
@given(lists_of_numbers, st.integers(1, 5))
def test_what_rises_within_records(lists, block):
    tidy = [sorted(set(one)) for one in lists]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "BLOCK", block)
        assert rises_within_records(*flat(tidy))
        assert rises_within_records(*flat(lists)) == (lists == tidy)


# -- inverted lists ----------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(lists_of_numbers, DTYPES)
def test_inverted_lists(lists, dtype):
    starts, holders = inverted(*flat(lists, dtype), WIDTH)
    assert_whole_numbers(starts, holders)
    # A list that holds a number twice is named twice.
    assert as_lists(starts, holders) == [
        [number for number, one in enumerate(lists) for other in one if other == value] for value in range(WIDTH)
    ]


@settings(deadline=None)
@given(numbers, DTYPES)
def test_places_of_numbers(values, dtype):
    starts, places = places_of(np.array(values, dtype=dtype), WIDTH)
    assert_whole_numbers(starts, places)
    assert as_lists(starts, places) == [[at for at, one in enumerate(values) if one == value] for value in range(WIDTH)]
    assert places.tolist() == np.argsort(np.array(values, dtype=dtype), kind="stable").tolist()


@pytest.mark.parametrize("lists", [[], [[]], [[], []]])
def test_nothing_is_held_where_there_is_nothing(lists):
    starts, holders = inverted(*flat(lists, np.int32), 0)
    assert (starts.tolist(), holders.tolist()) == ([0], [])
    assert_whole_numbers(starts, holders)


@pytest.mark.parametrize("value", [WIDTH, -1])
def test_a_number_outside_the_width_is_refused(value):
    with pytest.raises(ValueError, match="indices must be"):
        inverted(*flat([[0], [value]]), WIDTH)


@settings(deadline=None)
@given(lists_of_numbers)
def test_data_know_the_holders_of_their_items(lists):
    data = Transactions.from_lists([[f"i{value:02}" for value in one] for one in lists])
    starts, records = data.holders
    assert as_lists(starts, records) == [
        [number for number, one in enumerate(data.to_lists()) if label in one] for label in data.vocabulary
    ]
    assert data.holders is data.holders
    for array in (starts, records):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


# -- order of lists ----------------------------------------------------------------------------------------------------


@settings(deadline=None)
@pytest.mark.parametrize("words", [(0, 1, 2), (7, 1 << 15, 1 << 20), (0, (1 << 31) - 1), (1, 1 << 40, (1 << 63) - 1)])
@given(data=st.data())
def test_lists_that_begin_alike_are_ordered_by_what_follows(words, data):
    numbers = st.lists(st.sampled_from(words), max_size=9)
    lists = data.draw(st.lists(st.tuples(st.sampled_from([0, 2, 3, 12, 40]), numbers), max_size=12))
    lists = [[words[1]] * times + rest for times, rest in lists]
    offsets, values = flat(lists, np.int32 if max(words) < 1 << 31 else np.int64)
    order, ranks = order_of_sequences(offsets, values), ranks_of_sequences(offsets, values)
    assert order.tolist() == sorted(range(len(lists)), key=lists.__getitem__)  # equal ones stay in order
    different = sorted({tuple(one) for one in lists})
    assert ranks.tolist() == [bisect_left(different, tuple(one)) for one in lists]


@given(lists_of_numbers, DTYPES)
def test_lists_are_put_in_the_order_of_dictionaries(lists, dtype):
    offsets, values = flat(lists, dtype)
    order, ranks = order_of_sequences(offsets, values), ranks_of_sequences(offsets, values)
    assert_whole_numbers(order, ranks)
    assert [lists[number] for number in order] == sorted(lists)
    different = [list(one) for one in sorted({tuple(one) for one in lists})]
    assert ranks.tolist() == [bisect_left(different, one) for one in lists]


# -- arrays that are not written to ------------------------------------------------------------------------------------


def test_what_is_sealed_cannot_be_written_to_by_anybody():
    given_array = np.arange(6)
    whole = sealed(given_array, np.int64)
    given_array[0] = 9
    assert whole.tolist() == [0, 1, 2, 3, 4, 5]
    assert not whole.flags.writeable
    assert sealed(whole, np.int64) is whole  # no copy where nobody can write
    assert np.shares_memory(sealed(whole[1:3], np.int64), whole)
    view = np.arange(6)[:3]
    view.flags.writeable = False
    assert not np.shares_memory(sealed(view, np.int64), view)  # its base can still be written to
    assert sealed([1, 2], np.int32).dtype == np.int32


def test_a_read_only_view_copies_nothing_and_leaves_its_array_as_it_is():
    array = np.arange(6)
    view = read_only(array)
    assert np.shares_memory(view, array)
    assert (view.flags.writeable, array.flags.writeable) == (False, True)
    assert read_only(array[::2]).flags.c_contiguous
    assert read_only([1, 2], np.int32).dtype == np.int32
