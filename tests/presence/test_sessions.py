"""Whole sessions: the clear backend against counting by hand, the two-party backend against the clear one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.errors import BadParameter
from setveil.presence.secure.base import Level
from setveil.presence.secure.clear import ClearCollectorSide, ClearSession
from setveil.presence.secure.rules import SCORE_UNIT, Linear, Rules
from setveil.presence.secure.two_party.collector import TwoPartyCollectorSide
from setveil.presence.secure.two_party.session import TwoPartySession

from oracle.presence_session import Plain
from support.exhaustive import examples
from support.presence_lines import line
from support.presence_play import World, asked, linear, next_level, random_world, rules_of, shares_between, walk_both


def clear(world):
    return walk_both(ClearSession, ClearCollectorSide, world)[:2]


def two_party(world):
    return walk_both(TwoPartySession, TwoPartyCollectorSide, world)[:2]


def plain(world):
    """Return the same answers, counted one id at a time."""
    rules, random = world.rules, np.random.default_rng(world.seed)
    people = Plain(world.in_a, world.in_b, world.sensitive, rules.values)

    def keeps(ids, of):
        return people.keeps(list(ids), of.weights, of.constants, rules.least_values)

    level = Level(np.arange(rules.population), np.array([0, rules.population]))
    answers, final = [("root", keeps(level.ids, rules.root))], []
    for depth in range(world.levels):
        ask = asked(world, random, level)
        owned, widths = ask["owned_by_a"], ask["widths"]
        answers.append(("wider", [int(a) >= int(b) for a, b in widths.T]))
        won, passed, lower = [], [], np.zeros(len(level.ids), dtype=bool)
        for group in range(level.groups):
            place, owner = slice(level.starts[group], level.starts[group + 1]), 0 if owned[group] else 1
            ids, columns = level.ids[place], ask["lower"][owner, place]
            lowers = [set(ids[columns[:, j]].tolist()) for j in range(rules.candidates)]
            scores = ask["scores"][owner, group]
            how = {"owned_by_a": owned[group], "weight": rules.entropy_weight, "unit": SCORE_UNIT}
            won.append(people.winner(ids.tolist(), lowers=lowers, scores=scores, **how))
            lower[place] = columns[:, 0]
            passed.append(keeps(ids[columns[:, 0]], rules.part) and keeps(ids[~columns[:, 0]], rules.part))
        answers += [("winners", won), ("verdicts", list(passed))]
        if depth == world.levels - 1:
            passed = [False] * level.groups
        groups = np.split(level.ids, level.starts[1:-1])
        final += [people.numbers(ids)[1 + rules.values :] for ids, kept in zip(groups, passed, strict=True) if not kept]
        level = next_level(level, np.array(passed, dtype=bool), lower)
        if not level.groups:
            break
    return answers, [final[place] for place in random.permutation(len(final))]


@st.composite
def worlds(draw):
    """Worlds of which many pass the first splits: loose rules, or none at all."""
    values = draw(st.integers(1, 4))
    size = draw(st.one_of(st.integers(1, 12), st.sampled_from([16, 31, 32, 33, 64])))
    chances = st.sampled_from([0.0, 0.5, 0.9, 1.0])
    low, high = draw(st.sampled_from([(0, 100), (10, 100), (25, 75), (50, 50)]))
    kept = shares_between(values, draw(st.integers(0, 2)), low, high, by_value=draw(st.booleans()))
    world = random_world(
        draw(st.integers(0, 2**32 - 1)),
        size,
        values,
        chance=(draw(chances), draw(chances)),
        candidates=draw(st.integers(1, 6)),
        root=draw(st.sampled_from([kept, linear([], [], values)])),
        part=draw(st.sampled_from([kept, linear([(0, 0, 1)], [-1], values), linear([], [], values)])),
        least_values=draw(st.integers(1, 3)),
    )
    world.to = draw(st.sampled_from(["b", "c"]))
    return world


@settings(deadline=None, max_examples=examples(100))
@given(worlds())
def test_the_clear_backend_counts_as_by_hand(world):
    assert clear(world) == plain(world)


@settings(deadline=None, max_examples=examples(30))
@given(worlds())
def test_two_parties_find_what_the_clear_backend_finds(world):
    assert two_party(world) == clear(world)


def both_ways(world):
    """Return the first verdict, after both backends agreed on everything."""
    world.levels = 1
    found = two_party(world)
    assert found == clear(world) == plain(world)
    return dict(found[0])


def halves(common, only_a=0, only_b=0, neither=0, values=1, **rules):
    """Return a world in which candidate 0 of both owners is fair by lot, and the numbers of users are known."""
    population = common + only_a + only_b + neither
    in_a = np.arange(population) < common + only_a
    in_b = (np.arange(population) < common) | (
        (np.arange(population) >= common + only_a) & (np.arange(population) < population - neither)
    )
    sensitive = np.where(in_b, np.arange(population) % values, -1)
    return World(rules_of(population, values, **rules), in_a, in_b, sensitive, seed=5)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 63, 64, 65])
@pytest.mark.parametrize("kind", ["common", "only_a", "only_b", "neither"])
def test_populations_of_one_kind(kind, size):
    world = halves(**{"common": 0, kind: size})
    world.rules = rules_of(size, 1, part=linear([(0, 0, 1)], [-1], 1))
    both_ways(world)


@pytest.mark.parametrize(("k", "kept"), [(9, True), (10, True), (11, False)])
def test_as_many_common_users_as_k_are_enough(k, kept):
    world = halves(10, 3, 4, 2, root=linear([(0, 0, 1)], [-k], 1))
    assert both_ways(world)["root"] is kept


@pytest.mark.parametrize(
    ("low", "high", "kept"), [(50, 50, True), (51, 60, False), (40, 49, False), (50, 51, True), (49, 50, True)]
)
def test_a_share_that_equals_its_bound_is_kept(low, high, kept):
    world = halves(10, 10, 10, 2, root=shares_between(1, 1, low, high))
    assert both_ways(world)["root"] is kept


@pytest.mark.parametrize(
    ("values", "least", "kept"), [(3, 3, True), (3, 4, False), (5, 5, True), (2, 3, False), (5, 2, True)]
)
def test_so_many_sensitive_values_must_occur(values, least, kept):
    world = halves(10, 1, 1, values=values, least_values=least)
    assert both_ways(world)["root"] is kept


@pytest.mark.parametrize("exponent", [16, 30, 31, 32, 33, 56])
@pytest.mark.parametrize("less", [0, 1])
def test_numbers_at_the_border_of_the_ring(exponent, less):
    # 4c - 2a - 2b >= less, times a large number, with a = b = c: equal at the border, and far beyond 32 bits.
    big = 1 << exponent
    kept = linear([(-2 * big, -2 * big, 4 * big), (big, 0, 0)], [-less, -3 * big], 1)
    world = halves(3, root=kept, part=kept)
    assert world.rules.ring_bits == exponent + 6
    assert both_ways(world)["root"] is (less == 0)


def test_rules_that_need_more_than_62_bits_are_refused():
    world = halves(3, root=linear([(0, 0, 1 << 61)], [0], 1))
    for backend in (ClearSession, TwoPartySession):
        with pytest.raises(BadParameter, match=r"require numbers of 64 bits; at most 62 are supported"):
            backend("a", world.rules, line()[0])


def test_the_clear_backend_runs_in_one_process_only():
    near, far = line()
    far.in_one_process = False
    rules = rules_of(3)
    for lines in ((far,), (near, far)):
        with pytest.raises(BadParameter, match="runs inside one process only"):
            ClearSession("a", rules, *lines)
    with pytest.raises(BadParameter, match="runs inside one process only"):
        ClearCollectorSide(near, far)


@pytest.mark.parametrize("backend", [ClearSession, TwoPartySession])
def test_what_cannot_be_asked_is_refused(backend):
    rules = rules_of(3)
    session = backend("a", rules, line()[0])
    with pytest.raises(BadParameter, match="the session has no groups yet"):
        session.verdicts(Level(np.arange(3), np.array([0, 3])), np.array([True]), np.ones(3, dtype=bool))
    with pytest.raises(BadParameter, match="a width is outside its limits; allowed is a whole number from 0 to"):
        session.wider(np.array([rules.widest + 1]))
    with pytest.raises(BadParameter, match="a score is outside its limits; allowed is"):
        session.winners(
            Level(np.arange(3), np.array([0, 3])),
            np.array([True]),
            np.ones((3, 4), dtype=bool),
            np.full((1, 4), 1 << 30),
        )


@pytest.mark.parametrize("sensitive", [None, np.array([0, 1]), np.array([0, 2, -1]), np.array([-1, 0, -1])])
def test_b_must_say_the_sensitive_value_of_its_users(sensitive):
    with pytest.raises(BadParameter, match="sensitive value"):
        TwoPartySession("b", rules_of(3), line()[0]).begin(np.array([True, True, False]), sensitive)


def test_a_level_with_many_groups_is_done_in_several_batches(monkeypatch):
    monkeypatch.setattr("setveil.presence.secure.two_party.session.MOST_ANDS", 500)
    world = random_world(3, 300, 2, part=linear([(0, 0, 1)], [-1], 2))
    world.levels = 5
    found = two_party(world)
    assert found == clear(world)
    assert max(len(answer) for name, answer in found[0] if name == "verdicts") > 8


def test_ring_bits_hold_every_value_of_a_rule():
    weights = np.array([[3, -7, 5, 2, -9]])
    rules = Rules(100, 2, 1, Linear(weights, np.array([-11])), Linear(weights, np.array([4])), 1, 0.5)
    assert rules.ring_bits == 1 + (100 * (3 + 7 + 9) + 11).bit_length()
    assert rules_of(100).ring_bits == 8
