"""Frames: only the next message of this run is read, and nothing is made room for before that is known."""

import struct

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from setveil.errors import PeerFailed
from setveil.presence.transport.frames import (
    HEADER_BYTES,
    MAGIC,
    MOST_ABORT_BYTES,
    NO_NONCE,
    VERSION,
    Expected,
    Incoming,
    Outgoing,
    abort_payload,
)
from setveil.presence.transport.local import local_pair

from support.exhaustive import examples

NONCE = bytes(range(16))


def header(*, magic=MAGIC, version=VERSION, sender=b"a", nonce=NO_NONCE, sequence=0, kind=b"sums", length=8):
    """Write a header as the page of the format says, apart from the code under test."""
    return struct.pack(">8sBc16sQ16sQ", magic, version, sender, nonce, sequence, kind, length)


def test_a_header_is_as_it_is_written_down():
    out = Outgoing("a")
    assert out.header("sums", 8) == header()
    out.nonce = NONCE
    assert out.header("sums", 1 << 40) == header(nonce=NONCE, sequence=1, length=1 << 40)
    assert len(header()) == HEADER_BYTES


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"magic": b"GET / HT"},
            "provider A sent bytes that are not a message of this protocol; check that it runs setveil",
        ),
        (
            {"version": 2},
            "provider A sends messages of version 2, this program reads version 1; use the same version of setveil",
        ),
        ({"sender": b"b"}, "provider A sent a message in the name of another party"),
        ({"nonce": NONCE}, "provider A sent a message of another run"),
        ({"sequence": 1}, "provider A sent a message out of turn: number 1 where 0 is due"),
        ({"kind": b"other"}, "provider A sent a message 'other' where 'sums' of 8 bytes was due"),
        ({"kind": b"s\x1b[2J"}, "provider A sent a message whose kind cannot be read"),
        ({"kind": b""}, "provider A sent a message whose kind cannot be read"),
        ({"kind": b"su\0ms"}, "provider A sent a message whose kind cannot be read"),
        ({"length": 7}, "provider A sent 'sums' of 7 bytes where 'sums' of 8 bytes was due"),
        ({"length": 1 << 63}, f"provider A sent 'sums' of {1 << 63:,} bytes where 'sums' of 8 bytes was due"),
        ({"kind": b"abort", "length": 401}, "provider A stopped with a reason of 401 bytes; at most 400 are allowed"),
    ],
)
def test_what_is_not_the_next_message_is_refused(wrong, said):
    with pytest.raises(PeerFailed) as refused:
        Incoming("a").length(header(**wrong), Expected("sums", 8, 8))
    assert str(refused.value) == said


def test_a_message_is_read_once():
    reader, seen = Incoming("a"), header()
    assert reader.length(seen, Expected("sums", 8, 8)) == (False, 8)
    with pytest.raises(PeerFailed, match="a message a second time: number 0 where 1 is due"):
        reader.length(seen, Expected("sums", 8, 8))


def test_after_the_nonce_only_an_abort_may_come_without_it():
    reader = Incoming("a")
    reader.nonce = NONCE
    with pytest.raises(PeerFailed, match="of another run"):
        reader.length(header(), Expected("sums", 8, 8))
    assert reader.length(header(kind=b"abort"), Expected("sums", 8, 8)) == (True, 8)


def test_a_length_within_limits_is_read():
    assert Incoming("a").length(header(length=0), Expected("sums", 0, 8)) == (False, 0)
    with pytest.raises(PeerFailed, match="'sums' of 9 bytes where 'sums' of at most 8 bytes was due"):
        Incoming("a").length(header(length=9), Expected("sums", 0, 8))


@pytest.mark.parametrize("kind", ["", "a" * 17, "with space", "ümlaut", "a\n"])
def test_a_kind_that_no_header_holds_is_a_mistake_of_the_caller(kind):
    with pytest.raises(ValueError, match="is not a kind of message"):
        Outgoing("a").header(kind, 0)


def test_a_reason_is_cut_and_cleaned_at_both_ends():
    assert abort_payload("a\x1b[31m\nb") == b"a?[31m?b"
    long = abort_payload("ö" * 500)
    assert len(long) <= MOST_ABORT_BYTES
    assert long.decode().endswith("ö...")
    assert str(Incoming("b").stopped(b"\x07x\xff\xe2\x80\xae")) == "provider B stopped: ?x\N{REPLACEMENT CHARACTER}?"


@settings(max_examples=examples(1000))
@given(
    st.one_of(
        st.binary(max_size=200),
        st.binary(max_size=80).map(lambda tail: header() + tail),
        st.binary(max_size=40).map(lambda tail: header(kind=b"abort", length=len(tail)) + tail),
        st.tuples(st.integers(0, HEADER_BYTES - 1), st.integers(0, 255)).map(
            lambda change: header()[: change[0]] + bytes([change[1]]) + header()[change[0] + 1 :] + bytes(8)
        ),
    )
)
@example(b"")
@example(header())
def test_any_stream_of_bytes_is_a_message_or_an_error_that_names_the_party(stream):
    sender, receiver = local_pair("a", "b", timeout=0.5)
    if stream:
        sender._outbox.put([stream])
    sender.close()
    whole = header() + stream[HEADER_BYTES:][:8]
    if stream[: len(whole)] == whole and len(whole) == HEADER_BYTES + 8:
        assert receiver.receive("sums", 8) == whole[HEADER_BYTES:]
    else:
        with pytest.raises(PeerFailed) as refused:
            receiver.receive("sums", 8)
        assert refused.value.party == "provider A"
        assert str(refused.value).isprintable()
