"""Hidden numbers of groups and parts of scores: two shares that add up to what they should, each of which looks random by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.presence.secure.rules import SCORE_UNIT
from setveil.presence.secure.tallies import group_sums
from setveil.presence.secure.two_party import scoring
from setveil.presence.secure.two_party.extension import Chooser, Sender
from setveil.presence.secure.two_party.hashing import FixedKeyHash, Tweaks
from setveil.presence.secure.two_party.people import People
from setveil.presence.secure.two_party.scoring import Some

from oracle.presence_session import Plain, entropy
from support.exhaustive import examples
from support.presence_lines import line, together
from support.presence_play import rules_of

VALUES, POPULATION = 3, 90


@pytest.fixture(scope="module")
def pair():
    """Return for A and for B: what it knows, its sender and its chooser; and all of it plainly."""
    random = np.random.default_rng(0)
    in_a, in_b = random.random((2, POPULATION)) < 0.6
    sensitive = np.where(in_b, random.integers(0, VALUES, POPULATION), -1)
    rules = rules_of(POPULATION, VALUES, candidates=5)
    at_a, at_b = line()

    def begin(role, end):
        hashing, from_a, from_b = FixedKeyHash(bytes(16)), Tweaks(1), Tweaks(2)
        people = People(role, rules, in_a if role == "a" else in_b, sensitive if role == "b" else None)
        if role == "a":
            sender = Sender(end, b"a", hashing, from_a)
            chooser = Chooser(end, b"b", hashing, from_b)
        else:
            chooser = Chooser(end, b"a", hashing, from_a)
            sender = Sender(end, b"b", hashing, from_b)
        people.exchange(sender, chooser)
        return people, sender, chooser

    a, b = together(lambda: begin("a", at_a), lambda: begin("b", at_b))
    return {"a": a, "b": b}, Plain(in_a, in_b, sensitive, VALUES), rules


def groups_by_lot(random, most=6):
    """Return groups of ids, some of which may be empty."""
    ids = random.permutation(POPULATION)[: random.integers(1, POPULATION + 1)]
    cuts = np.sort(random.integers(0, len(ids) + 1, random.integers(0, most)))
    return Some(ids, np.concatenate([[0], cuts, [len(ids)]]).astype(np.int64))


@settings(deadline=None, max_examples=examples(30))
@given(seed=st.integers(0, 2**32 - 1), owner=st.sampled_from("ab"), ring=st.sampled_from([np.uint32, np.uint64]))
def test_shares_of_the_numbers_of_lower_parts(pair, seed, owner, ring):
    ends, plain, _ = pair
    other = "b" if owner == "a" else "a"
    random = np.random.default_rng(seed)
    groups = groups_by_lot(random)
    lower = random.random(len(groups.ids)) < 0.5

    def share():
        return together(
            lambda: ends[owner][0].lower_of_mine(groups.ids, groups.starts, lower, ring),
            lambda: ends[other][0].lower_of_theirs(groups.ids, groups.starts, ring),
        )

    mine, theirs = share()
    parts = [
        groups.ids[begin:end][lower[begin:end]]
        for begin, end in zip(groups.starts[:-1], groups.starts[1:], strict=True)
    ]
    assert (mine + theirs).tolist() == [plain.numbers(part.tolist()) for part in parts]
    # The same again: the numbers of common users, which no party knows, get fresh shares if there are users to count.
    again, _ = share()
    counted = np.diff(groups.starts) > 0
    common = slice(1 + VALUES, None)
    assert (mine[counted, common] != again[counted, common]).all()


@pytest.mark.parametrize("role", ["a", "b"])
def test_whole_groups_are_known_by_halves(pair, role):
    ends, plain, _ = pair
    groups = groups_by_lot(np.random.default_rng(1))
    found = ends[role][0].whole(groups.ids, groups.starts, np.uint32)
    known = slice(0, 1) if role == "a" else slice(1, 1 + VALUES)
    for group, (begin, end) in enumerate(zip(groups.starts[:-1], groups.starts[1:], strict=True)):
        assert found[group, known].tolist() == plain.numbers(groups.ids[begin:end].tolist())[known]
        found[group, known] = 0
    assert not found.any()


@settings(deadline=None, max_examples=examples(30))
@given(seed=st.integers(0, 2**32 - 1), owner=st.sampled_from("ab"))
def test_shares_of_what_dummies_add_to_scores(pair, seed, owner):
    ends, plain, rules = pair
    other = "b" if owner == "a" else "a"
    random = np.random.default_rng(seed)
    groups = groups_by_lot(random)
    lower = random.random((len(groups.ids), rules.candidates)) < random.random(rules.candidates)
    (mine, theirs), (again, _) = (
        together(
            lambda: scoring.OwnScores(ends[owner][0], ends[owner][2], groups, lower).receive(),
            lambda: scoring.answer(ends[other][0], ends[other][1], rules, groups),
        )
        for _ in range(2)
    )
    whole = mine + theirs
    exists = plain.in_b if owner == "a" else plain.in_a
    for group, (begin, end) in enumerate(zip(groups.starts[:-1], groups.starts[1:], strict=True)):
        for candidate in range(rules.candidates):
            dummies = [
                bool(below)
                for i, below in zip(groups.ids[begin:end], lower[begin:end, candidate], strict=True)
                if not exists[i]
            ]
            added = sum(
                entropy(part, int(end - begin), rules.entropy_weight, SCORE_UNIT)
                for part in (sum(dummies), len(dummies) - sum(dummies))
            )
            assert whole[group, candidate] == added
    # The owner would learn the entropy if the other took no fresh random number from it.
    assert (mine != again).mean() > 0.9


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 65534, 65535, 65536])
def test_moduli_are_the_powers_of_two_above_sizes(size):
    groups = Some(np.empty(0, dtype=np.int64), np.array([0, size, 2 * size]))
    assert groups.moduli.tolist() == [1 << size.bit_length()] * 2
    assert groups.ring == (np.uint16 if size < 65536 else np.uint32)
    assert Some(np.empty(0, dtype=np.int64), np.array([0, 0])).moduli.tolist() == [2]


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_sums_of_groups_wrap_around_and_may_be_of_nothing(sizes, seed):
    values = np.random.default_rng(seed).integers(0, 256, (sum(sizes), 2), dtype=np.uint8)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    found = group_sums(values, starts)
    assert found.dtype == np.uint8
    for group in range(len(sizes)):
        part = values[starts[group] : starts[group + 1]]
        assert found[group].tolist() == [int(column.astype(int).sum()) % 256 for column in part.T]
