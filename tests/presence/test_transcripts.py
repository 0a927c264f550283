"""What a party sees of the whole protocol: nothing but the openings decides on the kinds, lengths and order of messages."""

import threading
from collections import Counter
from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.secure.base import Level
from setveil.presence.secure.rules import WIDEST
from setveil.presence.secure.tallies import MOST_SCORE
from setveil.presence.secure.two_party.session import TwoPartySession
from setveil.presence.tables.originals import Originals
from setveil.presence.tables.provider_table import ProviderTable

from support.exhaustive import examples
from support.presence_detections import HIDDEN_KINDS, LEAST_BYTES, uneven_kinds, unexpected_kinds
from support.presence_lines import line, together
from support.presence_play import rules_of, shares_between
from support.presence_recordings import honest, known_base_transfers, play
from support.presence_worlds import opened, with_backend, world

LOOSE = {"min_a": "0", "max_a": "1", "min_b": "0", "max_b": "1", "k": 2, "candidates": 4}
PLAIN_KINDS = {"ids", "table", "shown", "groups", "kept"}
"""Messages that are openings themselves: the same bytes where the openings are the same."""
LEAST_PAIRS = 6
MOST_TRIES = 80


@pytest.fixture(autouse=True)
def _quick():
    with known_base_transfers():
        yield


def changed(originals, side, dice):
    """Return a world in which other people exist at a provider: one goes, one comes, two change places, or change sensitive values."""
    existing, codes = originals.existing(side), originals.codes(side).copy()
    sensitive = originals.sensitive().copy() if side == "b" else None
    here, away = np.flatnonzero(existing), np.flatnonzero(~existing)
    one, other, stranger = dice.choice(here), dice.choice(here), dice.choice(away)
    way = dice.integers(4 if side == "b" else 3)
    if way == 3:
        sensitive[[one, other]] = sensitive[[other, one]]
    if way in (1, 2):
        existing[stranger], codes[stranger] = True, codes[one]
        if side == "b":
            sensitive[stranger] = sensitive[one]
    if way in (0, 2):
        existing[one] = False
    table = ProviderTable(
        originals.population.ids.filter(existing.tolist()),
        codes[existing],
        None if sensitive is None else sensitive[existing],
    )
    tables = {"a": originals.a, "b": originals.b, side: table}
    return Originals(originals.schema, originals.population, tables["a"], tables["b"])


def narrow(originals, side):
    """Return a world in which a provider uses few cells of its line: the other has the wider attributes, and most of the cuts."""
    tables = {"a": originals.a, "b": originals.b}
    tables[side] = replace(tables[side], codes=tables[side].codes % 2)
    return Originals(originals.schema, originals.population, tables["a"], tables["b"])


def outcome(played):
    """Return everything that was opened to any party: the entries of the ledger, the groups of ids, and the table."""
    if played.errors:
        return None
    ledgers = [(opened(played.results[role]), played.results[role].divided.groups.group_of.tolist()) for role in "ab"]
    table = played.published[0]
    return ledgers, table.lows.tolist(), table.highs.tolist(), table.counts.tolist()


def pairs(method, originals, side, seed):
    """Return worlds beside the given one, with other people at a provider and the same openings; others are thrown away."""
    clear, dice = with_backend(method, "clear"), np.random.default_rng(seed)
    wanted, found = outcome(honest(clear, originals)), []
    for _ in range(MOST_TRIES):
        other = changed(originals, side, dice)
        if len(found) < LEAST_PAIRS and outcome(play(clear, other)) == wanted:
            found.append(other)
    return found


@pytest.mark.parametrize(
    ("score", "counts_to", "scope"), [("both", "b", "qi"), ("both", "c", "qi+sa"), ("own", "b", "qi+sa")]
)
@pytest.mark.parametrize("side", ["a", "b"])
def test_who_exists_at_one_provider_changes_nothing_that_the_others_see(side, score, counts_to, scope):
    method = DummyUsers(**LOOSE, score=score, counts_to=counts_to, scope=scope)
    originals, watching = (
        narrow(world(2, 40, cells=((12,), (6, 5)) if side == "a" else ((6, 5), (12,))), side),
        "b" if side == "a" else "a",
    )
    others = pairs(method, originals, side, seed=1)
    assert len(others) == LEAST_PAIRS
    one = honest(method, originals)
    assert sum(kind == "ids" for _, _, kind, _ in one.shapes("a")) > 1
    assert unexpected_kinds(one, counts_to) == []
    for other in (honest(method, world_) for world_ in others):
        assert outcome(other) == outcome(one)
        for role in (watching, "c"):
            assert told_apart(one, other, role) == []
    existing = {tuple(other.existing(side)) for other in others}
    assert len(existing | {tuple(originals.existing(side))}) > LEAST_PAIRS // 2


def told_apart(one, other, role):
    """Return where a party sees a difference between two runs: in kinds, lengths or order, or in what was opened."""
    plain = [
        [message.payload for message in played.received(role) if message.kind in PLAIN_KINDS] for played in (one, other)
    ]
    shapes = [
        number for number, two in enumerate(zip_longest(one.shapes(role), other.shapes(role))) if two[0] != two[1]
    ]
    return shapes if plain[0] == plain[1] else [*shapes, "plain"]


def test_a_message_as_long_as_the_number_of_users_is_told(monkeypatch):
    method = DummyUsers(**LOOSE, scope="qi")
    originals = narrow(world(2, 40, cells=((6, 5), (12,))), "b")
    others = pairs(method, originals, "b", seed=1)
    real = TwoPartySession.begin

    def begin(self, existing, sensitive):
        real(self, existing, sensitive)
        if self.role == "b":
            self._peer.send("users", bytes(int(existing.sum())))
        else:
            self._peer.receive_at_most("users", len(existing))

    monkeypatch.setattr(TwoPartySession, "begin", begin)
    one = honest(method, originals)
    assert any(told_apart(one, honest(method, other), "a") for other in others)
    assert unexpected_kinds(one, "b") == [("a", "b", "users")]


def alike(originals, *, at_b):
    """Return a world in which all people are at A, rows differ only in A's first column, and a given number of people are at B."""
    people = len(originals.population)
    rows = np.zeros((people, 2), dtype=np.int32)
    rows[people // 2 :, 0] = 1
    at_a = ProviderTable(originals.population.ids, rows, None)
    chosen = np.arange(people) % (people // at_b) == 0
    table = ProviderTable(
        originals.population.ids.filter(chosen.tolist()),
        np.zeros((int(chosen.sum()), 2), dtype=np.int32),
        np.zeros(int(chosen.sum()), dtype=np.int64),
    )
    return Originals(originals.schema, originals.population, at_a, table)


@pytest.mark.parametrize("at_b", [240, 4], ids=["everybody at both", "hardly anybody at B"])
def test_long_messages_look_random_however_plain_the_tables_are(at_b):
    method = DummyUsers(**(LOOSE | {"k": 1}), scope="qi", outsiders=0)
    played = honest(method, alike(world(1, 240), at_b=at_b))
    assert played.results["a"].divided.groups.groups > 1
    seen = Counter()
    for role in "ab":
        for message in played.received(role):
            seen[message.kind] += len(message.payload)
    assert all(seen[kind] > LEAST_BYTES for kind in HIDDEN_KINDS)
    assert uneven_kinds(played) == []
    hidden = [one for role in "ab" for one in played.received(role, "ab"[role == "a"]) if one.kind not in PLAIN_KINDS]
    long = [one.payload for one in hidden if len(one.payload) > 31]
    assert len(set(long)) == len(long)


@st.composite
def public_sizes(draw):
    """Draw what both know: sizes of groups, who owns them, and the rules."""
    sizes = draw(st.lists(st.integers(1, 20), min_size=1, max_size=6))
    owned = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    values, candidates = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    part = shares_between(values, 1, 10, 90, by_value=draw(st.booleans()))
    return (
        np.array(sizes),
        np.array(owned),
        rules_of(sum(sizes), values, candidates, part, part, draw(st.integers(1, 2))),
    )


def lengths(sizes, owned, rules, seed):
    """Return kinds and lengths of what both send, for secrets of a seed: sometimes all zeros or as large as they may be."""
    random = np.random.default_rng(seed)
    people, groups, chance = rules.population, len(sizes), random.choice([0.0, 0.5, 1.0])
    level = Level(random.permutation(people), np.concatenate([[0], np.cumsum(sizes)]))
    ends = line()

    def walk(role, end):
        threading.current_thread().name = role
        dice = np.random.default_rng([seed, ord(role)])
        session = TwoPartySession(role, rules, end)
        existing = dice.random(people) < chance
        session.begin(existing, np.where(existing, dice.integers(0, rules.values, people), -1))
        session.root()
        session._state.open = np.zeros((groups, rules.values), dtype=session._ring)
        session.wider(dice.integers(0, WIDEST, groups) if chance else np.full(groups, WIDEST))
        lower = dice.random((people, rules.candidates)) < chance
        session.winners(level, owned, lower, dice.integers(-MOST_SCORE, MOST_SCORE, (groups, rules.candidates)))
        session.verdicts(level, owned, lower[:, 0])
        session.descend(level, np.zeros(groups, dtype=bool), lower[:, 0])
        session.counts(dice.permutation(groups), "b") if role == "a" else session.openings._peer.receive(
            "open-counts", 4 * groups * rules.values
        )

    together(*(lambda role=role, end=end: walk(role, end) for role, end in zip("ab", ends, strict=True)))
    return [[(kind, len(payload)) for kind, payload in end.sent] for end in ends]


@settings(deadline=None, max_examples=examples(12))
@given(public_sizes(), st.lists(st.integers(0, 10**6), min_size=2, max_size=3, unique=True))
def test_lengths_of_messages_depend_on_public_sizes_alone(public, seeds):
    found = [lengths(*public, seed) for seed in seeds]
    assert all(one == found[0] for one in found)
    assert len(found[0][0]) > 10
