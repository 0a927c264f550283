"""What the tests of global suppression and TDControl share: small tables, and ways to run a method on them."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import setveil as sv
from setveil.engines.base import CONTROL_WIDTH, STOP
from setveil.engines.local import LocalEngine

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
    return method.bind(data, linked=False, rng=rng).apply(data, rng=rng, engine=LocalEngine(threads))


class Halting(LocalEngine):
    """Tells the loops of one step at once that they should stop."""

    def __init__(self, label):
        super().__init__(1)
        self.label = label

    def run(self, label, work, *, total=None):
        del total
        control = np.zeros(CONTROL_WIDTH, np.int64)
        control[STOP] = label == self.label
        return work(control)
