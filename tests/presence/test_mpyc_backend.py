"""The backend `mpyc`: three real processes answer as a plain count does."""

from dataclasses import dataclass

import numpy as np
import pytest

from setveil.presence.secure import mpyc_frames as frames
from setveil.presence.secure.base import Level
from setveil.presence.secure.mpyc_session import MpycCollectorSide, MpycSession
from setveil.presence.secure.rules import SCORE_UNIT, Linear, Rules

from oracle import presence_sums
from support.mpyc_lines import play, triangle

CANDIDATES = 3
WEIGHT = 0.34


def rules_of(rows, values, population, least_values=1):
    linear = Linear(np.array([weights for weights, _ in rows]), np.array([constant for _, constant in rows]))
    return Rules(population, values, CANDIDATES, linear, linear, least_values, WEIGHT)


def usual_rows(k, least, most, values):
    """c >= k, and least <= c/a, c/b[s] <= most in tenths."""
    a, b, c = [1], np.eye(values, dtype=int), np.ones(values, int)
    rows = [([0] * (1 + values) + [1] * values, -k)]
    for sign, share in ((1, least), (-1, most)):
        rows.append(([-sign * share * v for v in a] + [0] * values + [sign * 10 * v for v in c], 0))
        rows += [([0, *(-sign * share * b[s]), *(sign * 10 * b[s])], 0) for s in range(values)]
    return [([int(w) for w in weights], constant) for weights, constant in rows]


@dataclass
class World:
    """A population with random cuts, the same for all parties."""

    at_a: np.ndarray
    value: np.ndarray
    rows: list
    values: int
    least_values: int
    seed: int
    levels: int = 3

    @property
    def rules(self):
        return rules_of(self.rows, self.values, len(self.at_a), self.least_values)

    def keeps(self, ids):
        value = [None if v < 0 else int(v) for v in self.value]
        return presence_sums.keeps(ids, self.at_a.tolist(), value, self.values, self.rows, self.least_values)

    def run(self, session, role):
        """Play a provider, and return all that it learns."""
        chance = np.random.default_rng(self.seed)
        here = self.at_a if role == "a" else self.value >= 0
        session.begin(here, None if role == "a" else self.value)
        learnt = [session.root()]
        level = Level(np.arange(len(here)), np.array([0, len(here)]))
        finals = 0
        for _ in range(self.levels):
            if level.groups == 0:
                break
            widths = chance.integers(0, [3, 1 << 20][level.groups % 2], (2, level.groups), endpoint=True)
            owned = session.wider(widths[0 if role == "a" else 1])
            cuts = chance.random((len(level.ids), CANDIDATES)) < 0.5
            cuts[:, 1] = cuts[:, 0]  # equal cuts have equal scores where the owner's part is equal too
            scores = chance.integers(-2, 1, (level.groups, CANDIDATES)) * (SCORE_UNIT // 64)
            mine = np.repeat(owned if role == "a" else ~owned, level.sizes)
            hidden = np.where(mine[:, None], cuts, chance.random(cuts.shape) < 0.5)  # what the other is not to know
            best = session.winners(level, owned, hidden, scores)
            lower = cuts[np.arange(len(cuts)), np.repeat(best, level.sizes)]
            passed = session.verdicts(level, owned, np.where(mine, lower, chance.random(len(lower)) < 0.5))
            learnt.append((level, widths, owned, cuts, scores, best, passed))
            session.descend(level, passed, lower)
            finals += int((~passed).sum())
            level = next_level(level, passed, lower)
        if level.groups:
            owned = np.ones(level.groups, bool)
            nothing = np.zeros(len(level.ids), bool)
            passed = session.verdicts(level, owned, nothing)
            assert not passed.any(), "an empty part holds nobody"
            session.descend(level, passed, nothing)
            finals += level.groups
            learnt.append(level)
        return learnt, finals


def next_level(level, passed, lower):
    ids, sizes = [], []
    for group in np.flatnonzero(passed):
        span = slice(level.starts[group], level.starts[group + 1])
        for part in (level.ids[span][lower[span]], level.ids[span][~lower[span]]):
            ids.append(np.sort(part))
            sizes.append(len(part))
    return Level(np.concatenate([*ids, np.zeros(0, np.int64)]), np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]))


def run_all(world, to, shuffle=None):
    """Return what both providers learnt, the order of the counts, who got them, and all lines."""
    lines = triangle()

    def provider(role):
        def part():
            session = MpycSession(role, world.rules, lines[role, "b" if role == "a" else "a"], lines[role, "c"])
            try:
                learnt, finals = world.run(session, role)
                order = np.random.default_rng(shuffle).permutation(finals)
                return learnt, order, session.counts(order, to)
            finally:
                session.close()

        return part

    def collector():
        side = MpycCollectorSide(lines["c", "a"], lines["c", "b"], world.rules)
        try:
            side.follow()
            return side._counts
        finally:
            side.close()

    results = play({"a": provider("a"), "b": provider("b"), "c": collector})
    for result in results.values():
        if isinstance(result, Exception):
            raise result
    return results, lines


def plain(learnt):
    """Return what was learnt as lists, which can be compared."""
    if isinstance(learnt, Level):
        return plain((learnt.ids, learnt.starts))
    return [plain(one) for one in learnt] if isinstance(learnt, list | tuple) else np.asarray(learnt).tolist()


def compare(world, to):
    results, lines = run_all(world, to, shuffle=5)
    learnt, order, for_a = results["a"]
    of_b, _, for_b = results["b"]
    assert plain(learnt) == plain(of_b), "providers learn the same"
    everybody = list(range(len(world.at_a)))
    assert learnt[0] == world.keeps(everybody)
    finals = []
    for entry in learnt[1:]:
        if isinstance(entry, Level):
            finals += [entry.ids[entry.starts[g] : entry.starts[g + 1]].tolist() for g in range(entry.groups)]
            continue
        level, widths, owned, cuts, scores, best, passed = entry
        assert owned.tolist() == (widths[0] >= widths[1]).tolist()
        for group in range(level.groups):
            span = slice(level.starts[group], level.starts[group + 1])
            ids = level.ids[span].tolist()
            other = world.value < 0 if owned[group] else ~world.at_a
            sets = [{i for i, low in zip(ids, column, strict=True) if low} for column in cuts[span].T]
            assert best[group] == presence_sums.winner(
                ids, other.tolist(), sets, scores[group].tolist(), WEIGHT, SCORE_UNIT
            )
            lower = [i for i in ids if i in sets[best[group]]]
            upper = [i for i in ids if i not in sets[best[group]]]
            assert passed[group] == (world.keeps(lower) and world.keeps(upper))
            if not passed[group]:
                finals.append(ids)
    value = [None if v < 0 else int(v) for v in world.value]
    expected = [presence_sums.numbers(finals[g], world.at_a.tolist(), value, world.values)[2] for g in order]
    got = {"b": for_b, "c": results["c"]}
    assert got.pop(to).tolist() == expected
    assert for_a is None
    assert list(got.values()) == [None]
    return learnt, lines


def people(size, chance, share_a, share_b, values):
    at_a = chance.random(size) < share_a
    return at_a, np.where(chance.random(size) < share_b, chance.integers(0, values, size), -1)


@pytest.mark.parametrize(
    ("seed", "size", "values", "rows", "least_values", "to"),
    [
        (1, 60, 2, usual_rows(2, 1, 9, 2), 1, "b"),
        (2, 40, 3, usual_rows(1, 0, 10, 3), 2, "c"),
        (3, 33, 1, usual_rows(1, 0, 10, 1), 1, "c"),
        (4, 50, 2, usual_rows(1, 3, 8, 2), 2, "b"),
    ],
)
def test_every_answer_is_that_of_a_plain_count(seed, size, values, rows, least_values, to):
    at_a, value = people(size, np.random.default_rng(seed), 0.7, 0.7, values)
    learnt, _ = compare(World(at_a, value, rows, values, least_values, seed), to)
    entries = [entry for entry in learnt[1:] if not isinstance(entry, Level)]
    assert any(entry[6].any() for entry in entries) or seed == 4


def test_rules_hold_at_their_border_and_not_beyond():
    # Four common users, eight at A: c = 4 and c/a = 1/2.
    at_a = np.array([True] * 8 + [False] * 4)
    value = np.array([0, 0, 1, 1] + [-1] * 4 + [0, 1, 1, -1])
    kept = [([0, 0, 0, 1, 1], -4), ([-5, 0, 0, 10, 10], 0), ([5, 0, 0, -10, -10], 0)]
    broken = [([0, 0, 0, 1, 1], -5), ([-501, 0, 0, 1000, 1000], 0), ([499, 0, 0, -1000, -1000], 0)]
    for rows, answer in [(kept, True), *(([row], False) for row in broken)]:
        learnt, _ = compare(World(at_a, value, rows, 2, 1, 7, levels=0), "c")
        assert learnt[0] is answer


@pytest.mark.parametrize("common", ["none", "all"])
def test_nobody_or_everybody_is_common(common):
    size = 24
    at_a = np.arange(size) % 2 == 0 if common == "none" else np.ones(size, bool)
    value = np.where(~at_a, np.arange(size) % 3 % 2, -1) if common == "none" else np.arange(size) % 2
    learnt, _ = compare(World(at_a, value, [([0, 0, 0, 1, 1], -1)], 2, 2, 3, levels=2), "b")
    assert learnt[0] is (common == "all")


def test_the_collector_sees_lengths_and_groups_and_not_who_is_in_them():
    worlds = []
    for seed in (11, 12):  # other users with other values, the same answers to every question
        at_a, value = people(30, np.random.default_rng(seed), 0.6, 0.6, 2)
        worlds.append(World(at_a, value, [([0, 0, 0, 0, 0], -1)], 2, 1, 9))
    told = []
    for world in worlds:
        _, lines = compare(world, "b")
        pairs = ("ac", "ab", "bc", "ca", "cb", "ba")
        sizes = {pair: sum(len(payload) for _, payload in lines[pair[0], pair[1]].sent) for pair in pairs}
        steps = [payload for kind, payload in lines["a", "c"].sent if kind == "mpyc-step"]
        told.append((sizes, steps))
    assert told[0] == told[1]


def test_the_collector_is_told_divisions_in_an_order_that_it_does_not_know():
    at_a, value = people(60, np.random.default_rng(1), 0.7, 0.7, 2)
    world = World(at_a, value, usual_rows(1, 0, 10, 2), 2, 1, 4, levels=1)
    told = []
    for _ in range(2):
        learnt, lines = compare(world, "b")
        steps = [frames.unpack(payload) for kind, payload in lines["a", "c"].sent if kind == "mpyc-step"]
        level, *_, passed = learnt[1]
        divisions = [arrays for header, arrays in steps if header["step"] == "descend"]
        assert passed.all(), "the example divides the population"
        assert len(divisions[0][1]) == len(level.ids)
        told.append(divisions[0][1].tolist())
    assert told[0] != told[1], "the same division of the same people"
    assert sum(told[0]) == sum(told[1])
