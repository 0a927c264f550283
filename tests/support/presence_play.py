"""Small worlds, and a provider's walk through a session in which the answers are all that counts."""

from dataclasses import dataclass

import numpy as np

from setveil.presence.secure.base import Level
from setveil.presence.secure.rules import Linear, Rules

from support.presence_lines import line, together


def linear(rows, constants, values):
    """Return rules from rows (weight of a, of every b[s], of every c[s])."""
    weights = [[a, *([b] * values), *([c] * values)] for a, b, c in rows]
    return Linear(np.array(weights, dtype=np.int64).reshape(-1, 1 + 2 * values), np.array(constants, dtype=np.int64))


def shares_between(values, k, low, high, *, by_value=False):
    """Return rules c >= k and low <= c/a, c/b <= high, in hundredths; for each value by itself where asked."""
    rows, constants = [(0, 0, 1), (-low, 0, 100), (high, 0, -100), (0, -low, 100), (0, high, -100)], [-k, 0, 0, 0, 0]
    made = linear(rows, constants, values)
    if not by_value:
        return made
    cells = []
    for value in range(values):
        for of_b, of_c in ((-low, 100), (high, -100)):
            row = np.zeros(1 + 2 * values, dtype=np.int64)
            row[1 + value], row[1 + values + value] = of_b, of_c
            cells.append(row)
    return Linear(np.vstack([made.weights, *cells]), np.concatenate([made.constants, np.zeros(len(cells), np.int64)]))


@dataclass
class World:
    """What there is: rules, who exists where, sensitive values, and the seed of everything that providers ask."""

    rules: Rules
    in_a: np.ndarray
    in_b: np.ndarray
    sensitive: np.ndarray
    seed: int
    levels: int = 3
    to: str = "b"


def rules_of(population, values=2, candidates=4, root=None, part=None, least_values=1):
    nothing = linear([], [], values)
    return Rules(population, values, candidates, root or nothing, part or nothing, least_values, 0.25)


def random_world(seed, population, values=2, *, chance=(0.6, 0.7), **rules):
    random = np.random.default_rng(seed)
    in_a, in_b = random.random(population) < chance[0], random.random(population) < chance[1]
    sensitive = np.where(in_b, random.integers(0, values, population), -1)
    return World(rules_of(population, values, **rules), in_a, in_b, sensitive, seed)


def asked(world, random, level):
    """Return what a level asks: owners, widths, candidates and scores of both, and the lower part that the owner chose of each."""
    groups, count, candidates = level.groups, len(level.ids), world.rules.candidates
    return {
        "owned_by_a": random.random(groups) < 0.5,
        "widths": random.integers(0, random.choice([3, world.rules.widest + 1]), (2, groups)),
        "lower": random.random((2, count, candidates)) < 0.5,
        "scores": random.integers(-3, 4, (2, groups, candidates)) * random.choice([1, 3000]),
    }


def next_level(level, passed, lower):
    """Return the groups of the next level."""
    parts = []
    for group in np.flatnonzero(passed):
        ids = level.ids[level.starts[group] : level.starts[group + 1]]
        below = lower[level.starts[group] : level.starts[group + 1]]
        parts += [ids[below], ids[~below]]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return Level(np.concatenate([np.empty(0, np.int64), *parts]), starts)


def walk(session, world):
    """Ask everything of a session, as one provider, and return the answers in order."""
    me = 0 if session.role == "a" else 1
    session.begin((world.in_a, world.in_b)[me], world.sensitive if me else None)
    answers = [("root", session.root())]
    random = np.random.default_rng(world.seed)
    level = Level(np.arange(world.rules.population), np.array([0, world.rules.population]))
    final = 0
    for depth in range(world.levels):
        ask = asked(world, random, level)
        owned = ask["owned_by_a"]
        answers.append(("wider", session.wider(ask["widths"][me]).tolist()))
        won = session.winners(level, owned, ask["lower"][me], ask["scores"][me])
        answers.append(("winners", won.tolist()))
        of_owner = np.where(np.repeat(owned, level.sizes), ask["lower"][0, :, 0], ask["lower"][1, :, 0])
        passed = session.verdicts(level, owned, ask["lower"][me][:, 0])
        answers.append(("verdicts", passed.tolist()))
        if depth == world.levels - 1:
            passed = np.zeros_like(passed)  # what is left becomes final, so that the counts of all groups are opened
        session.descend(level, passed, of_owner)
        final += int((~passed).sum())
        level = next_level(level, passed, of_owner)
        if not level.groups:
            break
    order = random.permutation(final)
    counts = session.counts(order, world.to)
    session.close()
    return answers, None if counts is None else counts.tolist()


def walk_both(backend, side, world):
    """Return both providers' answers, the counts of the party that saw them, and the ends of the line."""
    at_a, at_b = line("a", "b")
    a_to_c, c_to_a = line("a", "c")
    b_to_c, c_to_b = line("b", "c")
    (of_a, seen_a), (of_b, seen_b) = together(
        lambda: walk(backend("a", world.rules, at_a, a_to_c), world),
        lambda: walk(backend("b", world.rules, at_b, b_to_c), world),
    )
    assert of_a == of_b
    assert seen_a is None
    if world.to == "c":
        assert seen_b is None
        verdicts = [answer for name, answer in of_a if name == "verdicts"]
        final = sum(len(answer) - sum(answer) for answer in verdicts[:-1]) + len(verdicts[-1])
        seen_b = side(c_to_a, c_to_b).counts(final, world.rules.values).tolist()
    return of_a, seen_b, (at_a, at_b)
