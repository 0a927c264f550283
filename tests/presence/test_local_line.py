"""A line in one process keeps what a line over the network keeps."""

import pytest

from setveil.errors import PeerFailed
from setveil.presence.channel import Traffic
from setveil.presence.transport.local import local_pair

from support.parties import Task, without_waiting


def test_messages_arrive_in_order_and_are_counted():
    one, other = local_pair("a", "b")
    assert one.in_one_process
    assert (one.peer, other.peer) == ("b", "a")
    changing = bytearray(b"first")
    one.send("x", changing)
    changing[:] = b"later"
    one.send("y", memoryview(b"second"))
    one.send("z", b"")
    assert [other.receive("x", 5), other.receive_at_most("y", 10), other.receive("z", 0)] == [b"first", b"second", b""]
    assert one.traffic == Traffic(3, 0, 11, 0)
    assert other.traffic == Traffic(0, 3, 0, 11)


def test_a_thread_that_waits_hears_an_abort_at_once():
    one, other = local_pair("a", "b")
    waiting = Task(other.receive, "x", 5)
    with without_waiting():
        one.abort("the table is empty")
        with pytest.raises(PeerFailed, match=r"^provider A stopped: the table is empty$"):
            waiting.result()
    with pytest.raises(PeerFailed, match="stopped: the table is empty"):
        other.send("x", b"")


def test_a_thread_that_waits_hears_the_end_of_the_line_at_once():
    one, other = local_pair("a", "b")
    waiting = Task(other.receive, "x", 5)
    with without_waiting():
        one.close()
        with pytest.raises(PeerFailed, match="provider A closed the line, while 'x' of 5 bytes was awaited"):
            waiting.result()


def test_who_closes_from_another_thread_wakes_its_own_receiver():
    one, _other = local_pair("a", "b")
    waiting = Task(one.receive, "x", 5)
    with without_waiting():
        one.close()
        with pytest.raises(PeerFailed, match="closed on this side"):
            waiting.result()


def test_what_was_sent_before_the_end_still_arrives():
    one, other = local_pair("a", "b")
    one.send("x", b"12345")
    one.close()
    assert other.receive("x", 5) == b"12345"
    with pytest.raises(PeerFailed, match="closed the line"):
        other.receive("x", 5)


def test_a_sender_hears_why_the_other_stopped():
    one, other = local_pair("a", "c")
    other.send("ignored", b"123")
    other.abort("it was stopped by hand")
    with pytest.raises(PeerFailed, match="the collector stopped: it was stopped by hand"):
        one.send("x", b"")


def test_silence_ends_the_wait():
    one, _other = local_pair("a", "b", timeout=0.1)
    with without_waiting(), pytest.raises(PeerFailed, match=r"provider B sent nothing for 0\.1 seconds, while 'x'"):
        one.receive("x", 5)


def test_the_wrong_kind_or_length_ends_the_line():
    one, other = local_pair("a", "b")
    one.send("x", b"12")
    with pytest.raises(PeerFailed, match="sent 'x' of 2 bytes where 'x' of 3 bytes was due"):
        other.receive("x", 3)
    with pytest.raises(PeerFailed, match="sent 'x' of 2 bytes"):
        other.receive("x", 2)


def test_a_line_has_two_parties():
    with pytest.raises(ValueError, match="a line connects two different parties"):
        local_pair("a", "a")
