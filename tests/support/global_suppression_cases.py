"""What the tests of global suppression and TDControl share: small tables, and ways to run a method on them."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import setveil as sv
from setveil.kernels.threads import using_threads

PAYOFFS = st.sampled_from(["sensitive", "cao"])
KNOWS = st.sampled_from(["subset", "whole"])


def drawn(seed):
    """Return a small table, some of its items, and a share."""
    rng = np.random.default_rng(seed)
    items = int(rng.integers(1, 9))
    chance = rng.choice([0.1, 0.3, 0.5, 0.8])
    table = rng.random((int(rng.integers(0, 25)), items)) < chance
    data = sv.from_lists([[f"i{j}" for j in np.flatnonzero(row)] for row in table])
    sensitive = {label for label in data.vocabulary if rng.random() < 0.45}
    return data, sensitive, Fraction(int(rng.integers(0, 11)), 10)


def apply(method, data, threads=1):
    rng = np.random.default_rng(1)
    with using_threads(threads):
        return method.bind(data, linked=False, rng=rng).apply(data, rng=rng)
