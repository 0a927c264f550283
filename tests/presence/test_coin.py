"""The joint coin: the same at both ends, new each time, and nobody gets one that it chose."""

import hashlib

import pytest

from setveil.errors import PeerFailed
from setveil.presence.coin import toss
from setveil.presence.transport.local import local_pair

from support.parties import Task


def test_a_coin_is_the_same_at_both_and_new_each_time():
    a, b = local_pair("a", "b")
    seen = set()
    for _ in range(20):
        there = Task(toss, "b", b, b"x")
        mine = toss("a", a, b"x")
        assert mine == there.result()
        assert len(mine) == 32
        seen.add(mine)
    assert len(seen) == 20


def test_who_reveals_another_coin_than_it_committed_to_is_named():
    a, b = local_pair("a", "b")
    tossing = Task(toss, "a", a, b"x")
    b.send("coin-commit", hashlib.sha256(b"anything").digest())
    b.receive("coin-commit", 32)
    b.send("coin", bytes(32))
    with pytest.raises(PeerFailed, match="provider B tossed another coin than it had committed to"):
        tossing.result()
    b.receive("coin", 32)
    with pytest.raises(PeerFailed, match="provider A stopped: seen from provider A: provider B tossed another coin"):
        b.receive("x", 1)


def test_who_sends_back_what_it_got_does_not_get_a_coin_that_it_knows():
    a, b = local_pair("a", "b")
    tossing = Task(toss, "a", a, b"x")
    b.send("coin-commit", b.receive("coin-commit", 32))
    b.send("coin", b.receive("coin", 32))
    with pytest.raises(PeerFailed, match="tossed another coin"):
        tossing.result()
