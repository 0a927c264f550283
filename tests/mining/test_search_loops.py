"""Loops of the search, each alone: choices, growing arrays, sorting and intersecting rows."""

from math import comb

import numpy as np
import pytest

from setveil.kernels import rows
from setveil.mining import _bit_search_kernels, _list_search_kernels, _row_kernels, _writing_kernels, searching

pytestmark = pytest.mark.plain_python


@pytest.mark.parametrize("perfect", [0, 1, 5, 12])
def test_choices_of_some_things_are_counted_up_to_what_is_enough(perfect):
    for least in range(perfect + 2):
        for most in range(perfect + 2):
            there_are = sum(comb(perfect, size) for size in range(least, most + 1))
            for enough in (0, 1, 2, 11, 12, 13, 66, there_are, there_are + 1, 10**6):
                counted = _writing_kernels.sets_between(perfect, least, most, enough)
                assert counted == min(there_are, enough + 1)


def test_choices_that_fall_from_very_many_are_counted_exactly():
    assert _writing_kernels.sets_between(200, 199, 200, 10**6) == 201
    assert _writing_kernels.sets_between(200, 198, 200, 10**6) == 201 + comb(200, 2)


def test_sets_that_other_parts_found_count_against_the_limit():
    asked = _writing_kernels.Asked(1, 1, 9, 9, _writing_kernels.ALL, 0, 1, limit=10, budget=0, table_bits=6)
    codes, shared = np.zeros(1, dtype=np.int32), np.array([5, 0, 3], dtype=np.int64)
    tally, control = np.zeros((1, 1), dtype=np.int64), np.zeros(8, dtype=np.int64)
    found = _writing_kernels.Found(codes, codes, np.zeros(1, dtype=np.int64))
    for sets, status, room in ((2, _writing_kernels.RUNNING, 2), (3, _writing_kernels.TOO_MANY, 1)):
        state = np.zeros(_writing_kernels.N_STATES, dtype=np.int64)
        state[_writing_kernels.PART] = 1
        state[_writing_kernels.STATUS] = _writing_kernels.FULL
        state[_writing_kernels.MORE_SETS], state[_writing_kernels.MORE_PLACES] = sets, 4
        search = _writing_kernels.Search(asked, state, codes, codes, codes, codes, tally, shared, control)
        _, lengths, supports = _writing_kernels.make_room(sets, search, found)
        assert (state[_writing_kernels.STATUS], shared[1]) == (status, sets)
        assert len(lengths) == len(supports) == room


def test_an_array_that_grows_keeps_what_was_used_and_is_twice_as_long_at_least():
    array = np.arange(5, dtype=np.int32)
    for used, needed, length in ((5, 6, 10), (4, 17, 17)):
        larger = _writing_kernels.grown(array, used, needed)
        assert (len(larger), larger.dtype) == (length, array.dtype)
        assert larger[:used].tolist() == array[:used].tolist()


@pytest.mark.parametrize("seed", range(8))
def test_rows_are_sorted_and_intersected_as_sets_are(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 50, size=60).astype(np.int32)
    expected = [*codes[:7], *sorted(codes[7:55]), *codes[55:]]
    rows.sort(codes, 7, 55)
    assert codes.tolist() == expected
    one, other = (np.flatnonzero(rng.random(12) < 0.6) for _ in range(2))
    places = np.concatenate([one, [99], other]).astype(np.int32)
    start = _row_kernels.intersected(places, 0, len(one), len(one) + 1, len(places))
    assert places[start : len(one)].tolist() == sorted(set(one) & set(other))
    assert places[len(one) :].tolist() == [99, *other]


def test_what_a_part_found_holds_no_room_that_is_not_used():
    room = np.zeros(1 << 10, np.int64)
    found = room[:3], room[3:5], room[:2], np.zeros(_writing_kernels.N_STATES, np.int64)
    part = searching.Part.of(found, np.zeros((1, 1), np.int64))
    assert [array.base is None for array in (part.items, part.lengths, part.supports)] == [True] * 3


def test_rows_that_are_equal_in_what_may_come_are_one_row():
    # Items 0 to 2 come before item 3, items 4 and 5 after it. One word of what came before holds two items here.
    records = [(0, 1, 3, 4), (0, 2, 3, 4), (1, 3, 4), (0, 2, 3, 5), (2, 3), (0, 2, 3, 5)]
    places = np.array([item for record in records for item in record], np.int32)
    spans, entries, start = [], [], 0
    for number, record in enumerate(records):
        spans += [start, start, start + len(record), number + 1]
        entries += [_row_kernels.SPAN * number, start + record.index(3)]
        start += len(record)
    empty = np.zeros(0, np.int64)
    rows_of_all = _row_kernels.Rows(
        np.array(spans), places, empty, np.array(entries), np.zeros(0, np.int32), np.zeros(0, np.int64)
    )
    items = _list_search_kernels.room_for_items(6)
    items.masks[:] = [1, 2, 1, 0, 1, 2]
    items.backs[:] = [0, 0, 1, 0, 0, 0]
    n_rows = len(records)
    table = _bit_search_kernels.Words(np.full(n_rows, -1), np.full(2 * n_rows, -1), np.full(n_rows, -1))
    node = _list_search_kernels.Node(3, 0, n_rows, 3, n_rows, 0)
    count = _list_search_kernels.write_words(node, 2, rows_of_all, items, table, np.zeros(16, np.int64))
    assert (count, table.words[:2].tolist(), table.weights[:2].tolist()) == (2, [1, 2], [1 + 2 + 3, 4 + 6])
    assert table.backs[:4].tolist() == [0, 0, 1, 1]  # nothing came before all of the first; 0 and 2 before the others
