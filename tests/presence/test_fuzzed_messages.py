"""Messages of running protocols are corrupted: parties end with an error that names a party, or with a checked table."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

from setveil.errors import GuaranteeViolated, PeerFailed
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.parties import MOST_RECORDS
from setveil.presence.secure.two_party import base_ot

from support.exhaustive import examples
from support.presence_lines import line, together
from support.presence_meddling import WAYS, Meddler
from support.presence_recordings import honest, known_base_transfers, play
from support.presence_worlds import world

MESSAGES = examples(1000)
WORLDS = 3
AT_ONCE = 4
"""Runs beside each other: most of the time of a run with a lost message is waiting."""
TIMEOUT_SECONDS = 0.5
COLLECTOR_SECONDS = 4.0
"""The collector waits while the providers compute."""
LINES = ["ab"] * 5 + ["ba"] * 5 + ["ac", "bc", "ca", "cb"]
METHODS = [
    DummyUsers(min_a="0", max_a="1", min_b="0", max_b="1", k=6, scope="qi", candidates=2, score=score, counts_to=to)
    for score, to in (("both", "b"), ("own", "b"), ("both", "c"), ("own", "c"))
]


@cache
def usual(seed, method):
    """Return the world of a seed, and how many messages go in each direction."""
    originals = world(seed, 40, cells=((2,), (3,)))
    played = honest(METHODS[method], originals)
    return originals, Counter(role + one.peer for role in "abc" for one in played.seen[role] if one.sent)


def complaints(played):
    """Return what must not be, whatever a party was sent."""
    found = [f"{role} hangs" for role in played.hanging]
    for role, error in played.errors.items():
        if not isinstance(error, PeerFailed | GuaranteeViolated):
            found.append(f"{role} ended with {error!r}")
        if isinstance(error, PeerFailed) and error.party not in {*PARTY_NAMES.values(), "one of the providers"}:
            found.append(f"{role} names {error.party}")
        if error.__class__ is PeerFailed and error.party == PARTY_NAMES[role]:
            found.append(f"{role} blames itself")
        if not str(error).isprintable():
            found.append(f"{role} says what cannot be printed")
    agreed = [
        role
        for role in "ab"
        if any(one.sent and (one.kind, one.payload) == ("kept", b"\1") for one in played.seen[role])
    ]
    if played.published and len(agreed) < 2:
        found.append("published without both")
    if "c" in played.results and not played.published:
        found.append("the collector ended without a table")
    found += [
        f"{role} ended with a table that does not keep the policy"
        for role in set("ab") & played.results.keys()
        if not (played.published and all(played.results[role].verdicts))
    ]
    return found


def one_run(number):
    """Return the kind of the message that was spoilt, how, how the run ended, and what is wrong with that."""
    for patience in (1, 4, 16):  # where a busy machine lets a run time out before the message is due
        dice = random.Random(number)  # noqa: S311 - the same faults in every run
        method, seed = dice.randrange(len(METHODS)), dice.randrange(WORLDS)
        originals, counts = usual(seed, method)
        direction = dice.choice(LINES)
        meddler = Meddler(dice, direction, dice.randrange(counts[direction]), WAYS[number % len(WAYS)])
        waits = {"timeout": patience * TIMEOUT_SECONDS, "collector_timeout": patience * COLLECTOR_SECONDS}
        played = play(METHODS[method], originals, meddle=meddler, **waits)
        found = complaints(played)
        if meddler.done or found:
            break
    return meddler.done, meddler.way, bool(played.published), found


def test_spoilt_messages_crash_nothing_and_hang_nothing():
    with known_base_transfers():
        for seed in range(WORLDS):
            for method in range(len(METHODS)):
                usual(seed, method)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            ended = list(pool.map(one_run, range(MESSAGES)))
    assert [(number, *one) for number, one in enumerate(ended) if one[3]] == []
    assert all(done for done, _way, _published, _found in ended)
    kinds, ways = Counter(done for done, *_ in ended), Counter((way, published) for _, way, published, _ in ended)
    assert len(kinds) >= 18, kinds
    for way in WAYS:
        assert ways[way, False] > 0, way
    # A flipped bit of a share changes answers and is no crash: such runs come to an end, and their table was checked.
    assert ways["flipped", True] > 0


@pytest.mark.parametrize("sender", ["b", "c"])
@pytest.mark.parametrize(
    ("kind", "number", "numbers"),
    [
        ("boxes", 0, [-1]), ("boxes", 1, [1 << 20]), ("boxes", 1, [0]), ("counts", 0, [0]), ("counts", 0, [-5]),
        ("counts", 0, [MOST_RECORDS]), ("groups", 0, [0]), ("groups", 0, [1 << 62]),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_are_the_senders_fault(sender, kind, number, numbers):
    """For example boxes outside their attributes: the receiver names the sender, and nothing is published."""
    order = {"groups": 0, "boxes": 1 + number, "counts": 3}
    method, originals = METHODS[0], world(1, 40)

    def spoil(sender_, receiver):
        seen = Counter()

        def send(line_, told, payload):
            place, seen[told] = seen[told], seen[told] + 1
            hit = told == kind and place == number if sender == "b" else told == "table" and place == order[kind]
            if hit:
                kind_of = "<i4" if kind == "boxes" else "<i8"
                payload = np.resize(np.array(numbers, dtype=kind_of), len(payload) // int(kind_of[2])).tobytes()
            line_.send(told, payload)

        return send if (sender_, receiver) in {("b", "c"), ("c", "a")} and sender_ == sender else None

    with known_base_transfers():
        played = play(method, originals, timeout=5.0, meddle=spoil)
    assert not played.published
    error = played.errors["c" if sender == "b" else "a"]
    assert isinstance(error, PeerFailed)
    assert error.party == PARTY_NAMES[sender]
    assert complaints(played) == []


SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
]
NOT_OF_THE_SUBGROUP = [
    "0200000000000000000000000000000000000000000000000000000000000000",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ff" * 32,
]


@pytest.mark.parametrize("digits", [*SMALL_ORDER, *NOT_OF_THE_SUBGROUP])
@pytest.mark.parametrize("kind", ["base-ot-offer", "base-ot-answer"])
def test_points_that_are_invalid_or_of_small_order_are_refused(kind, digits):
    at_a, at_b = line()
    point = bytes.fromhex(digits)

    def chooser():
        if kind == "base-ot-answer":
            at_b.receive("base-ot-offer", 32)
            at_b.send("base-ot-answer", point * base_ot.SECURITY)
        else:
            with pytest.raises(PeerFailed, match="provider A sent a point that is not in the subgroup of the curve"):
                base_ot.choose(at_b, b"", [True] * base_ot.SECURITY)

    def sender():
        if kind == "base-ot-offer":
            at_a.send("base-ot-offer", point)
        else:
            with pytest.raises(PeerFailed, match="provider B sent a point that is not in the subgroup of the curve"):
                base_ot.send(at_a, b"")

    together(sender, chooser)


def test_an_answer_that_is_the_offer_itself_is_refused():
    """The second key would then be a hash of the neutral point, which anyone can compute."""
    at_a, at_b = line()

    def chooser():
        offer = at_b.receive("base-ot-offer", 32)
        at_b.send("base-ot-answer", offer * base_ot.SECURITY)

    def sender():
        with pytest.raises(PeerFailed, match="subgroup"):
            base_ot.send(at_a, b"")

    together(sender, chooser)
