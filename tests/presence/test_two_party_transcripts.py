"""What an eavesdropping provider sees: sizes that depend on public sizes alone, bytes that look random, tweaks that never repeat."""

from collections import Counter

import numpy as np
import pytest

from setveil.errors import PeerFailed
from setveil.presence.secure.base import Level
from setveil.presence.secure.two_party.collector import TwoPartyCollectorSide
from setveil.presence.secure.two_party.hashing import FixedKeyHash, Use
from setveil.presence.secure.two_party.opening import Opened
from setveil.presence.secure.two_party.session import TwoPartySession

from support.presence_lines import line, together
from support.presence_play import World, linear, random_world, rules_of, walk, walk_both

# Points of the curve are not even as bytes: their highest bits are those of numbers below 2^255 - 19.
NOT_RANDOM = {"base-ot-answer", "open-root", "open-wider", "open-winner", "open-verdict"}


def sizes(end):
    return [(kind, len(payload)) for kind, payload in end.sent]


def always_passing(in_a, in_b, sensitive, to="b"):
    """Return a world whose openings do not depend on the users: no rules, and scores that no entropy changes."""
    rules = rules_of(len(in_a), 3, candidates=4, part=linear([(0, 0, 1)], [0], 3))
    return World(rules, in_a, in_b, sensitive, seed=11, levels=3, to=to)


@pytest.mark.parametrize("to", ["b", "c"])
def test_messages_have_the_same_kinds_and_sizes_whoever_exists(to):
    nobody, everybody = np.zeros(70, dtype=bool), np.ones(70, dtype=bool)
    half = np.arange(70) % 2 == 0
    transcripts = []
    for in_a, in_b in ((nobody, nobody), (everybody, everybody), (half, everybody), (everybody, half), (half, ~half)):
        for value in (0, 2):
            world = always_passing(in_a, in_b, np.where(in_b, value, -1), to)
            answers, _, ends = walk_both(TwoPartySession, TwoPartyCollectorSide, world)
            assert all(all(passed) for name, passed in answers if name == "verdicts")
            transcripts.append([sizes(end) for end in ends])
    assert all(transcript == transcripts[0] for transcript in transcripts)
    assert len(transcripts[0][0]) > 15


def surprise(payload):
    """Return how far the bytes are from even, as chi-square less its mean in standard deviations."""
    counts = np.bincount(np.frombuffer(payload, dtype=np.uint8), minlength=256)
    expected = len(payload) / 256
    return (((counts - expected) ** 2 / expected).sum() - 255) / np.sqrt(2 * 255)


@pytest.mark.parametrize("everybody", [False, True])
def test_long_messages_look_random_even_if_all_inputs_are_zero(everybody):
    count = 3000
    existing = np.full(count, everybody)
    rules = rules_of(count, 2, candidates=4, part=linear([(0, 0, 1)], [0], 2))
    level = Level(np.arange(count), np.linspace(0, count, 31).astype(np.int64))
    owned, lower = np.arange(30) % 2 == 0, np.zeros((count, 4), dtype=bool)

    def run(role, end):
        session = TwoPartySession(role, rules, end)
        session.begin(existing, np.where(existing, 0, -1))
        session.root()
        session._state.open = np.zeros((30, 2), dtype=session._ring)
        for _ in range(2):
            session.wider(np.zeros(30, dtype=np.int64))
            session.winners(level, owned, lower, np.zeros((30, 4), dtype=np.int64))
            session.verdicts(level, owned, lower[:, 0])
        session.descend(level, np.zeros(30, dtype=bool), lower[:, 0])
        session.counts(np.arange(30), "b")

    at_a, at_b = line()
    together(lambda: run("a", at_a), lambda: run("b", at_b))
    seen = Counter()
    for end in (at_a, at_b):
        messages = [payload for kind, payload in end.sent if kind not in NOT_RANDOM and len(payload) >= 2000]
        assert len(set(messages)) == len(messages)
        for kind, payload in end.sent:
            if kind not in NOT_RANDOM and len(payload) >= 2000:
                seen[kind] += 1
                assert abs(surprise(payload)) < 7, kind
    assert set(seen) == {"ot-extension", "ot-products", "ot-tables", "garbled"}


def test_a_message_that_repeats_a_byte_would_be_noticed():
    assert surprise(bytes(4000)) > 1000
    assert surprise(np.random.default_rng(0).integers(0, 128, 4000).astype(np.uint8).tobytes()) > 100


class Watched(FixedKeyHash):
    """The hash of one end, which remembers what tweaks it was used with, and how often."""

    def __init__(self, key):
        super().__init__(key)
        self.used = Counter()

    def of_permuted(self, permuted, tweaks):
        seen = np.broadcast_to(tweaks, np.broadcast_shapes(permuted.shape, tweaks.shape)).reshape(-1, 2)
        self.used.update(map(tuple, seen.tolist()))
        return super().of_permuted(permuted, tweaks)


def test_a_holder_of_one_block_uses_a_tweak_once_and_a_holder_of_both_uses_it_twice(monkeypatch):
    monkeypatch.setattr("setveil.presence.secure.two_party.session.FixedKeyHash", Watched)
    world = random_world(5, 60, 3, candidates=3, part=linear([(0, 0, 1)], [0], 3), least_values=2)
    sessions = {}

    def backend(role, rules, *lines):
        sessions[role] = TwoPartySession(role, rules, *lines)
        return sessions[role]

    walk_both(backend, TwoPartyCollectorSide, world)
    for session in sessions.values():
        times, sends = session._sender.hash.used, 1 if session.role == "a" else 2
        for (_, place), count in times.items():
            direction, use = divmod(place, 256)
            both_blocks = direction == sends and use != Use.TABLE_ENTRIES
            assert count == (2 if both_blocks else 1), (session.role, direction, use)
        assert {place % 256 for _, place in times} == set(Use)


def test_whatever_is_opened_is_counted_by_name():
    world = random_world(6, 40, 2, candidates=4, part=linear([(0, 0, 1)], [-1], 2))
    sessions = {}

    def backend(role, rules, *lines):
        sessions[role] = TwoPartySession(role, rules, *lines)
        return sessions[role]

    answers, counts, _ = walk_both(backend, TwoPartyCollectorSide, world)
    asked = {
        name: sum(len(answer) for told, answer in answers if told == name) for name in ("wider", "winners", "verdicts")
    }
    for session in sessions.values():
        assert dict(session.openings.tally) == {
            Opened.ROOT: 1,
            Opened.WIDER: asked["wider"],
            Opened.WINNER: 2 * asked["winners"],  # the bits of a number below 4
            Opened.VERDICT: asked["verdicts"],
            Opened.COUNTS: 2 * len(counts),
        }


@pytest.mark.parametrize(
    ("kind", "words"),
    [("open-counts", "opened counts beyond the population"), ("open-winner", "a candidate that does not exist")],
)
def test_openings_that_cannot_be_are_told_apart(kind, words):
    world = random_world(6, 40, 2, candidates=3, part=linear([(0, 0, 1)], [-1], 2))
    at_a, at_b = line()
    honest = at_a.send

    def send(told, payload):
        honest(told, bytes(byte ^ 255 for byte in payload) if told == kind else payload)

    at_a.send = send

    def run(role, end):
        return walk(TwoPartySession(role, world.rules, end), world)

    with pytest.raises(PeerFailed, match=words):
        together(lambda: run("a", at_a), lambda: run("b", at_b))
