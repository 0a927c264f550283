"""Arrays, lists and texts that grow: in memory while they are small, in files without names once they are large."""

import errno
import os
import tempfile
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.engines import growing
from setveil.engines.growing import GrowingArray, GrowingLists, GrowingTexts, Parts, room, scratch_array
from setveil.engines.scratch import refuse_unless_free, using_scratch
from setveil.errors import OutputRefused

from support.large_data import is_mapped, small_disk  # noqa: F401 - a fixture

LIMITS = pytest.mark.parametrize("limit", [0, 9, 1000])
pieces = st.lists(st.lists(st.integers(-9, 9), max_size=5), max_size=6)


def column(values):
    return pa.array(values, pa.large_string())


@LIMITS
@given(pieces)
def test_an_array_is_its_pieces(limit, parts):
    array = GrowingArray(np.int32, limit)
    for part in parts:
        array.append(np.array(part, np.int64))
    whole = [value for part in parts for value in part]
    assert len(array) == len(whole)
    found = array.finish()
    assert found.tolist() == whole
    assert found.dtype == np.int32
    assert not found.flags.writeable
    assert is_mapped(found) == (4 * len(whole) > limit)


@LIMITS
@given(st.lists(st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=4), max_size=4))
def test_lists_are_those_of_their_pieces(limit, parts):
    lists = GrowingLists(np.uint8, limit)
    for part in parts:
        ends = np.cumsum([7, *map(len, part)])  # the offsets of a piece may begin anywhere
        lists.append(ends, np.array([value for one in part for value in one]))
    offsets, values = lists.finish()
    whole = [one for part in parts for one in part]
    assert [values[a:b].tolist() for a, b in pairwise(offsets)] == whole


@LIMITS
@given(st.lists(st.lists(st.sampled_from(["", "a", "ä", "milk"]), max_size=4), max_size=4))
def test_texts_are_those_of_their_pieces(limit, parts):
    texts = GrowingTexts(limit)
    for part in parts:
        texts.append(column(["before", *part]).slice(1))
    found = texts.finish()
    found.validate(full=True)
    assert found.to_pylist() == [text for part in parts for text in part]


def test_values_that_change_later_are_kept_as_they_were():
    values, array = np.arange(3), GrowingArray(np.int64, 1000)
    array.append(values)
    values[:] = 0
    assert array.finish().tolist() == [0, 1, 2]


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), max_size=6), max_size=4))
def test_rows_are_divided_in_their_order(batches):
    parts = Parts(4, np.int32, str)
    for batch in batches:
        numbers = np.array([number for number, _ in batch], np.uint8)
        parts.add(numbers, numbers.astype(np.int32) * 2, column([text for _, text in batch]))
    found = [[*zip(numbers.tolist(), texts.to_pylist(), strict=True)] for numbers, texts in parts]
    rows = [row for batch in batches for row in batch]
    assert found == [[(2 * part, text) for part_of, text in rows if part_of == part] for part in range(4)]


@pytest.mark.parametrize("make", [scratch_array, room])
def test_room_is_zeros_that_can_be_written(make, monkeypatch):
    monkeypatch.setattr(growing, "LARGE", 20)
    assert make(0, np.int64).tolist() == []
    array = make(3, np.int64)
    assert is_mapped(array)
    array[[2, 0]] += 5
    assert array.tolist() == [5, 0, 5]
    assert not is_mapped(room(2, np.int64))


# -- the disk ----------------------------------------------------------------------------------------------------------


def test_files_are_in_the_scratch_folder_without_names(tmp_path, monkeypatch):
    taken = []
    plain = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **asked: taken.append(asked["dir"]) or plain(**asked))
    with using_scratch(tmp_path):
        array = GrowingArray(np.int64, 0)
        array.append(np.arange(9))
        assert list(tmp_path.iterdir()) == []
        assert array.finish().sum() == 36
    assert taken == [tmp_path]
    assert list(tmp_path.iterdir()) == []


def fill(array):
    for _ in range(64):
        array.append(np.zeros(1 << 14))
    return array.finish()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_refused_with_what_to_do(monkeypatch, code):
    def full(*_values):
        raise OSError(code, os.strerror(code))

    class Full:
        write = full

        def close(self):
            pass

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_asked: Full())
    with pytest.raises(
        OutputRefused, match=r"is full; free some space, or choose a folder on another disk with `scratch=`"
    ):
        fill(GrowingArray(np.float64, 0))


@pytest.mark.parametrize(
    "work",
    [lambda: fill(GrowingArray(np.float64, 0)), lambda: scratch_array(1 << 20, np.int64)],
    ids=["in pieces", "at any place"],
)
def test_a_disk_that_is_really_full_is_refused(small_disk, work):  # noqa: F811 - the fixture
    with using_scratch(small_disk), pytest.raises(OutputRefused, match="the folder for temporary files, is full"):
        work()
    assert list(small_disk.iterdir()) == []


def test_work_that_does_not_fit_is_refused_before_it_starts(small_disk):  # noqa: F811 - the fixture
    with using_scratch(small_disk):
        refuse_unless_free(1 << 10, "this")
        with pytest.raises(OutputRefused, match=r"this needs about 2\.\d+ MB .* has 1\.\d+ MB left; free some space"):
            refuse_unless_free(1 << 21, "this")
