"""Random data sets for tests: sparse to dense, few to many categories, with hot items."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from setveil.data.records.transactions import Transactions
from setveil.parameters.categories import Categories


def make(seed, *, records=None, items=None, categories=None, hot=None):
    """Make transactions and categories; sizes that are not given are drawn."""
    rng = np.random.default_rng(seed)
    n = records if records is not None else int(rng.integers(1, 60))
    v = items if items is not None else int(rng.integers(3, 50))
    g = categories if categories is not None else int(rng.integers(3, 8))
    density = rng.choice([0.03, 0.1, 0.3, 0.7])
    skew = rng.choice([0.0, 0.7, 1.5]) if hot is None else hot
    weight = 1 / np.arange(1, v + 1) ** skew
    chance = np.minimum(density * weight / weight.mean(), 0.95)
    table = rng.random((n, v)) < chance
    lists = [[f"i{j:03}" for j in np.flatnonzero(row)] for row in table]
    data = Transactions.from_lists(lists)
    of_item = {f"i{j:03}": f"g{(j if j < g else rng.integers(0, g)):02}" for j in range(v)}
    return data, Categories(of_item)


def as_sets(data):
    return [set(record) for record in data.to_lists()]


seeds = st.integers(min_value=0, max_value=2**32 - 1)

SHARES = [
    Fraction(0),
    Fraction(1),
    *(Fraction(a, b) for b in range(2, 8) for a in range(1, b)),
    Fraction(7, 10),
    Fraction(99, 100),
]
"""Confidences that are allowed: none, all, and many between that small tables reach exactly."""


def with_sensitive(seed, *, most_records=16, most_items=8):
    """Draw a small table with many equal records, labels that are sensitive, and a highest confidence: all as plain Python values."""
    rng = np.random.default_rng(seed)
    labels = [f"i{j}" for j in range(int(rng.integers(1, most_items + 1)))]
    is_sensitive = rng.random(len(labels)) < rng.choice([0.2, 0.5, 0.8])
    chance = np.where(is_sensitive, rng.choice([0.1, 0.3, 0.6]), rng.choice([0.3, 0.6, 0.9]))
    pool = []
    records = []
    for _ in range(int(rng.integers(0, most_records + 1))):
        if not pool or rng.random() < 0.5:
            pool.append(frozenset(np.array(labels)[rng.random(len(labels)) < chance].tolist()))
        records.append(pool[rng.integers(len(pool))])
    held = frozenset().union(*records)
    sensitive = frozenset(label for label, named in zip(labels, is_sensitive, strict=True) if named) & held
    if held and not sensitive and rng.random() < 0.9:
        sensitive = frozenset({sorted(held)[rng.integers(len(held))]})
    return records, sensitive, SHARES[rng.integers(len(SHARES))]


def to_be_searched(seed):
    """Draw a table in which neither whole records nor single items betray a sensitive one, but often sets between; as `with_sensitive`."""
    rng = np.random.default_rng(seed)
    plain = [f"i{j}" for j in range(int(rng.integers(4, 8)))]

    def some(least, most):
        return frozenset(rng.choice(plain, int(rng.integers(least, most + 1)), replace=False).tolist())

    sensitive = frozenset(
        f"{'as'[j % 2]}{j}" for j in range(int(rng.integers(1, 4)))
    )  # some labels come before the others
    cores = [some(2, 3) for _ in range(int(rng.integers(1, 4)))]
    records = [frozenset(plain)] * int(rng.integers(1, 3)) + [some(2, 4) for _ in range(int(rng.integers(0, 9)))]
    records += [frozenset({item}) for item in plain for _ in range(int(rng.integers(4, 12)))]
    for item in sorted(sensitive):
        records += [cores[rng.integers(len(cores))] | some(1, 2) | {item} for _ in range(int(rng.integers(3, 8)))]
    known = [(record - {item}, item) for record in records for item in record & sensitive]
    known += [(frozenset({one}), item) for one in plain for item in sensitive]
    share = max(Fraction(sum(q | {item} <= r for r in records), sum(q <= r for r in records)) for q, item in known)
    return records, sensitive, share


def crowd(seed, *, records, items=6, contents=14):
    """Draw many records of few contents, so that supports are large and much can come back only late; as `with_sensitive`."""
    rng = np.random.default_rng(seed)
    labels = [f"i{k}" for k in range(items)]
    density = rng.choice([0.4, 0.55, 0.7])
    pool = [frozenset(label for label in labels if rng.random() < density) for _ in range(contents)]
    weight = 1 / np.arange(1, contents + 1) ** rng.choice([0, 1])
    drawn = [pool[k] for k in rng.choice(contents, records, p=weight / weight.sum())]
    sensitive = frozenset(rng.permutation(labels)[: rng.integers(1, items // 2 + 2)].tolist())
    return drawn, sensitive & frozenset().union(*drawn), SHARES[rng.integers(2, len(SHARES))]
