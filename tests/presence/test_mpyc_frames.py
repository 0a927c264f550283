"""Frames on the pipe, and steps sent to the collector: they are read as they were written, and everything else is refused."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from setveil.presence.secure import mpyc_frames as frames
from setveil.presence.secure.rules import Linear, Rules

from support.exhaustive import examples

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
ARRAYS = st.lists(hnp.arrays(np.int64, SHAPES) | hnp.arrays(np.bool_, SHAPES), max_size=4)
HEADERS = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4) | st.none(), max_size=3)


@settings(deadline=None)
@given(HEADERS, ARRAYS)
def test_headers_and_arrays_come_back(header, arrays):
    told, back = frames.unpack(frames.pack(header, arrays))
    assert told == header
    assert [(one.dtype, one.shape, one.tolist()) for one in back] == [
        (one.dtype, one.shape, one.tolist()) for one in arrays
    ]


@settings(deadline=None, max_examples=examples(300))
@given(HEADERS, ARRAYS, st.data())
def test_spoilt_bytes_are_refused_or_read_without_harm(header, arrays, data):
    payload = bytearray(frames.pack(header, arrays))
    for _ in range(data.draw(st.integers(1, 3))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(payload)))
    for spoilt in (bytes(payload), bytes(payload[:cut]), bytes(payload) + b"\0"):
        try:
            told, back = frames.unpack(spoilt)
        except ValueError:
            continue
        assert isinstance(told, dict)
        assert sum(one.nbytes for one in back) <= len(spoilt)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"header": {}, "arrays": [["object", [1]]]}',
        b'{"header": {}, "arrays": [["int64", [-1]]]}',
        b'{"header": {}, "arrays": [["int64", [1000000000, 1000000000, 1000000000]]]}',
        b'{"header": [], "arrays": []}',
        b'{"header": {}, "arrays": [[["int64"], [1]]]}',
    ],
)
def test_headers_of_no_use_are_refused(text):
    with pytest.raises(ValueError):
        frames.unpack(len(text).to_bytes(4, "little") + text + bytes(8))


def test_a_frame_that_is_cut_or_too_long_is_none():
    stream = io.BytesIO()
    frames.write_frame(stream, frames.TALK, b"whole")
    whole = stream.getvalue()
    assert frames.read_frame(io.BytesIO(whole)) == (frames.TALK, b"whole")
    for length in range(len(whole)):
        assert frames.read_frame(io.BytesIO(whole[:length])) is None
    assert frames.read_frame(io.BytesIO(whole[:1] + b"\xff" * 8 + whole[9:])) is None


def test_rules_come_back():
    root = Linear(np.array([[1, 2, 3]]), np.array([-1]))
    part = Linear(np.array([[4, 5, 6], [7, 8, 9]]), np.array([0, 1 << 40]))
    rules = Rules(9, 1, 4, root, part, 2, 0.123456789, widest=77)
    back = frames.unpack_rules(frames.pack_rules(rules))
    assert repr(back) == repr(rules)
