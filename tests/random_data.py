"""Random data sets for tests: sparse to dense, few to many categories, with hot items."""

import numpy as np
from hypothesis import strategies as st

from setveil.data.categories import Categories
from setveil.data.transactions import Transactions


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
