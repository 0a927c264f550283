"""Lines over TLS on loopback: what is sent arrives, and a peer that fails in any way is named at once."""

import signal
import socket
import threading
import time

import numpy as np
import pytest

from setveil.errors import PeerFailed
from setveil.presence.channel import Traffic
from setveil.presence.transport.frames import HEADER_BYTES, Outgoing
from setveil.presence.transport.line import MOST_UNASKED_BYTES

from support.parties import (
    LOOPBACK,
    PATIENCE_SECONDS,
    Task,
    ended_with_the_test,
    lines,
    listener,
    raw_line,
    started,
    without_waiting,
)

CALL_B = """
channel = connect(home.credentials(), "b", "127.0.0.1", int(sys.argv[2]))
channel.receive("go", 0)
"""


def test_messages_of_all_sizes_go_both_ways_and_are_counted():
    random = np.random.default_rng(8)
    sizes = [0, 1, 16_383, 16_384, 16_385, 70_000, 3_000_000, 5, 0, 1 << 20]
    messages = [random.bytes(size) for size in sizes]
    with lines() as (a, b):
        assert not a.in_one_process
        for message in messages:
            a.send("there", memoryview(message))
        for message in messages:
            assert b.receive("there", len(message)) == message
            b.send("back", bytearray(message))
        for message in messages:
            assert a.receive_at_most("back", 1 << 22) == message
        total = sum(sizes)
        assert a.traffic == b.traffic == Traffic(len(sizes), len(sizes), total, total)
        sent, received = a.wire_bytes
        assert received > total
        assert sent > total


def test_two_large_messages_at_once_do_not_wait_for_each_other():
    size = 100_000_000
    blocks = [np.random.default_rng(seed).bytes(1 << 20) * 96 for seed in (1, 2)]
    mine, yours = (block[:size] for block in blocks)
    with lines() as (a, b):
        with without_waiting():  # sending returns although nobody reads
            a.send("big", mine)
            b.send("big", yours)
        there = Task(b.receive, "big", len(mine))
        assert a.receive("big", len(yours)) == yours
        assert there.result() == mine


def test_three_parties_in_a_circle_do_not_wait_for_each_other():
    size = 30_000_000
    with lines("a", "b") as (ab, ba), lines("b", "c") as (bc, cb), lines("a", "c") as (ac, ca):
        for there in (ab, bc, ca):
            there.send("round", bytes(size))
        waiting = [Task(line.receive, "round", size) for line in (ba, cb, ac)]
        assert [len(task.result()) for task in waiting] == [size] * 3


def test_a_peer_that_sends_unasked_is_held_up():
    with lines() as (a, b):
        a.send("big", bytes(8 * MOST_UNASKED_BYTES))
        time.sleep(0.5)
        assert b._line._in_inbox <= MOST_UNASKED_BYTES + (1 << 20)
        assert len(b.receive("big", 8 * MOST_UNASKED_BYTES)) == 8 * MOST_UNASKED_BYTES


def test_what_was_sent_before_closing_arrives():
    with lines() as (a, b):
        a.send("big", bytes(50_000_000))
        closing = Task(a.close)
        assert len(b.receive("big", 50_000_000)) == 50_000_000
        closing.result()
        with (
            without_waiting(),
            pytest.raises(PeerFailed, match=r"^provider A closed the line, while 'more' of 1 byte was awaited$"),
        ):
            b.receive("more", 1)
        with pytest.raises(PeerFailed, match="provider A closed the line"):
            b.send("more", b"")
        with pytest.raises(PeerFailed, match="provider B is no longer connected: the line was closed on this side"):
            a.send("more", b"")


def test_closing_says_if_something_never_arrives():
    with lines(timeout=0.5) as (a, _b), without_waiting():
        a.send("big", bytes(200_000_000))
        with pytest.raises(PeerFailed, match=r"provider B accepted no data for 0\.5 seconds"):
            a.close()


def test_an_abort_is_heard_with_its_reason_by_who_waits_and_by_who_sends():
    with lines() as (a, b):
        waiting = Task(b.receive, "x", 1)
        with without_waiting():
            a.abort("k must be\n at least 2")
            with pytest.raises(PeerFailed, match=r"^provider A stopped: k must be\? at least 2$"):
                waiting.result()
    with lines() as (a, b):
        a.send("skipped", b"12")
        a.abort("its table changed")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while b.alive and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(PeerFailed, match=r"^provider A stopped: its table changed$"):
            b.send("x", b"")


def test_an_abort_does_not_wait_long_for_a_peer_that_does_not_read():
    with lines() as (a, _b):
        a.send("big", bytes(100_000_000))
        with without_waiting():
            a.abort("enough")


def test_a_silent_peer_is_given_up():
    with (
        lines(timeout=0.3) as (a, _b),
        without_waiting(),
        pytest.raises(
            PeerFailed, match=r"^provider B sent nothing for 0\.3 seconds, while 'x' of 5 bytes was awaited$"
        ),
    ):
        a.receive("x", 5)


def test_slow_bytes_are_signs_of_life():
    with raw_line(timeout=0.6) as (raw, b):
        waiting = Task(b.receive, "x", 4)
        raw.sendall(Outgoing("a").header("x", 4))
        for _ in range(4):
            time.sleep(0.3)
            raw.sendall(b"y")
        assert waiting.result() == b"yyyy"


@pytest.mark.parametrize("size", [0, 5, HEADER_BYTES, HEADER_BYTES + 3])
def test_a_stream_that_ends_in_the_middle_is_an_error(size):
    with raw_line() as (raw, b):
        raw.sendall((Outgoing("a").header("x", 8) + bytes(8))[:size])
        raw.shutdown(socket.SHUT_RDWR)
        with (
            without_waiting(),
            pytest.raises(PeerFailed, match=r"^provider A is gone: its program died or the network failed, while 'x'"),
        ):
            b.receive("x", 8)


def test_a_replayed_and_a_reordered_message_are_refused():
    writer = Outgoing("a")
    first, second = (writer.header("x", 1) + b"1" for _ in range(2))
    with raw_line() as (raw, b):
        raw.sendall(first + first)
        assert b.receive("x", 1) == b"1"
        with pytest.raises(PeerFailed, match="sent a message a second time: number 0 where 1 is due"):
            b.receive("x", 1)
    with raw_line() as (raw, b):
        raw.sendall(second + first)
        with pytest.raises(PeerFailed, match="sent a message out of turn: number 1 where 0 is due"):
            b.receive("x", 1)


def test_a_length_beyond_all_memory_is_refused_from_the_header_alone():
    with raw_line() as (raw, b), without_waiting():
        raw.sendall(Outgoing("a").header("x", 1 << 62))
        with pytest.raises(PeerFailed, match="where 'x' of at most 1,000 bytes was due"):
            b.receive_at_most("x", 1000)


def test_bytes_that_break_the_encryption_are_the_peers_failure():
    with raw_line() as (raw, b), without_waiting():
        socket.socket.sendall(raw, b"\x17\x03\x03\x00\x20" + bytes(32))
        with pytest.raises(PeerFailed, match="provider A broke the encryption of the line"):
            b.receive("x", 1)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_peer_that_is_killed_is_named_at_once(number):
    with listener() as ear, ended_with_the_test(started("a", CALL_B, ear.port)) as process:
        b = ear.accept(PATIENCE_SECONDS)["a"]
        waiting = Task(b.receive, "x", 1)
        time.sleep(0.1)
        with without_waiting():
            process.send_signal(number)
            with pytest.raises(PeerFailed, match=r"^provider A is gone: its program died or the network failed"):
                waiting.result()
        with pytest.raises(PeerFailed, match="is gone"):
            b.send("go", b"")
        b.close()


def test_a_peer_that_is_killed_in_the_middle_of_a_large_message_is_named():
    script = CALL_B + "channel.send('big', bytes(400_000_000)); channel.close()"
    with listener() as ear, ended_with_the_test(started("a", script, ear.port)) as process:
        b = ear.accept(PATIENCE_SECONDS)["a"]
        waiting = Task(b.receive, "big", 400_000_000)
        b.send("go", b"")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while b.wire_bytes[1] < 20_000_000 and time.monotonic() < deadline:
            time.sleep(0.001)
        process.kill()
        with pytest.raises(PeerFailed, match=r"^provider A is gone"):
            waiting.result()
        b.abort("over")


def test_a_stopped_peer_is_given_up_after_the_timeout():
    with listener(timeout=0.5) as ear, ended_with_the_test(started("a", CALL_B, ear.port)) as process:
        b = ear.accept(PATIENCE_SECONDS)["a"]
        process.send_signal(signal.SIGSTOP)
        with without_waiting(), pytest.raises(PeerFailed, match=r"provider A sent nothing for 0\.5 seconds"):
            b.receive("x", 1)
        b.close()


def test_ctrl_c_is_heard_while_waiting():
    with listener() as ear, ended_with_the_test(started("a", "signalled = 1\n" + CALL_B, ear.port)) as process:
        b = ear.accept(PATIENCE_SECONDS)["a"]
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        with without_waiting(), pytest.raises(PeerFailed, match="is gone"):
            b.receive("x", 1)
        assert "KeyboardInterrupt" in process.communicate(timeout=PATIENCE_SECONDS)[1]


def test_ctrl_c_reaches_a_waiting_receiver():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with lines() as (a, b):

        def press():
            time.sleep(0.2)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        Task(press)
        with without_waiting(), pytest.raises(KeyboardInterrupt):
            a.receive("x", 1)
        a.abort("stopped by hand")
        with pytest.raises(PeerFailed, match="provider A stopped: stopped by hand"):
            b.receive("x", 1)


def test_lines_leave_no_thread_behind():
    before = {thread.ident for thread in threading.enumerate()}
    with lines() as (a, b):
        a.close()
        b.close()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while {thread.ident for thread in threading.enumerate()} - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not {thread.ident for thread in threading.enumerate()} - before


def test_small_messages_are_not_held_back():
    with lines() as (a, b):
        for line in (a, b):
            assert line._line._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert a._line._socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert a._line._socket.getpeername()[0] == LOOPBACK
