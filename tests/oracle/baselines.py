"""The baselines of gunawan2019 as plain definitions, slow and obvious. Nothing is imported from the package.

Records are Python sets of items; `cat` maps an item to its category.
"""

from fractions import Fraction
from itertools import combinations, product

from oracle.tendency import block, jaccard, kind, weights


def has_tendency(record, cat):
    return kind(record, cat) in ("partial", "full")


def chosen(record, count, draws):
    """So many of the record's items, in order, each taken with the chance that as many as are needed are among those still to come."""
    taken = set()
    for i, (item, draw) in enumerate(zip(sorted(record), draws, strict=True)):
        if draw * (len(record) - i) < count - len(taken):
            taken.add(item)
    return taken


def exchanged(a, b, from_a, from_b):
    """Both give at once; an item that comes to a record that still holds it is there once."""
    return (a - from_a) | from_b, (b - from_b) | from_a


def rand_swap(records, cat, mode, rng):
    """The whole method on a generator: who is paired, how many items each gives, and one draw an occurrence."""
    shuffled = [int(r) for r in rng.permutation(len(records))]
    gives = [0] * len(records)
    if mode == "plain":
        pairs = list(zip(shuffled[0::2], shuffled[1::2], strict=False))
        shorter = [min(len(records[a]), len(records[b])) for a, b in pairs]
        numbers = rng.integers(1, [max(s, 1) for s in shorter], endpoint=True)
        for (a, b), s, r in zip(pairs, shorter, numbers, strict=True):
            gives[a] = gives[b] = int(r) if s else 0
    else:
        pairs = []
        for a in map(int, rng.permutation([r for r, t in enumerate(records) if has_tendency(t, cat)])):
            taken = {r for pair in pairs for r in pair}
            free = [r for r in shuffled if r not in taken and r != a]
            if a not in taken and free:
                pairs.append((a, free[0]))
                gives[a] = gives[free[0]] = min(len(block(records[a], cat)), len(records[free[0]]))
    draws = iter(rng.random(sum(map(len, records))))
    given = [chosen(t, gives[r], [next(draws) for _ in t]) for r, t in enumerate(records)]
    released = [set(t) for t in records]
    for a, b in pairs:
        released[a], released[b] = exchanged(records[a], records[b], given[a], given[b])
    return released


def possible_exchanges(a, b, counts):
    """Every outcome of two records that give so many items each, for any of these pairs of numbers; an outcome as often as it comes up."""
    outcomes = []
    for give_a, give_b in counts:
        for from_a, from_b in product(combinations(sorted(a), give_a), combinations(sorted(b), give_b)):
            outcomes.append(tuple(map(frozenset, exchanged(a, b, set(from_a), set(from_b)))))
    return outcomes


def possible_suppressions(record, cat):
    """Every record that may be left of one."""
    kinds = {"partial": [record - block(record, cat)], "full": [{item} for item in record]}
    return kinds.get(kind(record, cat), [record])


def split(record, cat):
    """The rows of a record: one a category, by the categories' names; an empty record is one row."""
    return [{i for i in record if cat[i] == g} for g in sorted(weights(record, cat))] or [set()]


def record_loss(original, rows_of):
    """The mean over records of the mean over their rows."""
    losses = [
        sum(1 - jaccard(t, s) if t | s else Fraction(0) for s in rows) / len(rows)
        for t, rows in zip(original, rows_of, strict=True)
    ]
    return sum(losses) / len(losses)
