"""What is left out of the table cannot matter; bounds where the budget is used up; a loop that is told to stop stops."""

from functools import partial

import numpy as np
import pytest

import setveil as sv
from setveil.kernels.control import STOP
from setveil.mining import tree_distance as module
from setveil.mining.tree_distance import bounded_tree_distance, tree_distance


def skewed(seed, records):
    """Draw data with popular items, and a neighbour in which items left, came, and changed places among records nearby."""
    rng = np.random.default_rng(seed)
    items = int(rng.integers(8, 120))
    chance = np.minimum(rng.choice([0.6, 1.5]) / (1 + np.arange(items)) ** rng.choice([0.3, 0.8, 1.2]), 0.9)
    table = rng.random((records, items)) < rng.permutation(chance)
    table = table[np.lexsort(table.T[::-1])]
    other = table & (rng.random(table.shape) > rng.choice([0, 0.02, 0.2]))
    other |= rng.random(table.shape) < rng.choice([0, 0.002])
    step = int(rng.integers(2, 30))
    for first in range(0, records if rng.random() < 0.8 else 0, step):
        other[first : first + step] = rng.permuted(other[first : first + step], axis=0)
    other = other[: int(records * rng.choice([0.5, 1]))]
    return tuple(
        sv.from_lists([[f"i{item:03}" for item in np.flatnonzero(row)] for row in side]) for side in (table, other)
    )


def first_matching(data, other):
    """Return the distance of the first matching alone, from which pruning starts."""
    table = module._Table(*module.sides(data, other, None))
    near = table.match(table.near_borders(1 << 60), goal=-1, budget=1 << 60)
    return data.occurrences + other.occurrences - max(near.gain, table.equal_gain())


def test_what_is_left_out_cannot_matter():
    sizes = [(seed, int(n)) for seed, n in enumerate(np.random.default_rng(1).integers(150, 800, 40))]
    worse, saved = 0, 0
    for seed, records in sizes:
        data, other = skewed(seed, records)
        full, pruned = (bounded_tree_distance(data, other, prune=prune) for prune in (False, True))
        assert full.least == full.most == pruned.least == pruned.most
        assert tree_distance(other, data) == full.most
        worse += first_matching(data, other) > full.most
        saved += pruned.steps < full.steps
    assert worse > 10  # the first matching is often not the best
    assert saved > 10


def test_the_bounds_hold_where_the_budget_is_used_up():
    gave_up = 0
    for seed in range(10):
        data, other = skewed(seed, 350)
        exact = bounded_tree_distance(data, other)
        for budget in (0, 10, exact.steps // 50, exact.steps // 3, exact.steps):
            for prune in (False, True):
                found = bounded_tree_distance(data, other, budget=budget, prune=prune)
                assert found.least <= exact.most <= found.most
                assert found.value in (None, exact.most)
                if found.value is None:
                    gave_up += 1
                    assert found.steps > budget
        whole = bounded_tree_distance(data, other, budget=exact.steps)
        assert whole == exact
    assert gave_up > 30


def test_equal_data_need_no_step():
    data, _other = skewed(3, 500)
    shuffled = data.take(np.random.default_rng(0).permutation(data.records))
    found = bounded_tree_distance(data, shuffled, budget=0, prune=True)
    assert (found.value, found.steps) == (0, 0)


def test_a_loop_that_is_told_to_stop_stops(monkeypatch):
    data, other = skewed(4, 800)
    real = module.run
    seen = []

    def stopped(label, work, **rest):
        def told(control):
            control[STOP] = 1
            return work(control)

        seen.append((label, rest["total"]))
        return real(label, told, **rest)

    whole = bounded_tree_distance(data, other)
    monkeypatch.setattr(module, "run", stopped)
    cut = bounded_tree_distance(data, other)
    assert whole.value is not None
    assert cut.value is None
    assert cut.least <= whole.value <= cut.most
    assert {label for label, _ in seen} == {"comparing records"}
    assert {total for _, total in seen} <= {len(data.without_empty()), len(other.without_empty())}


@pytest.mark.realdata
def test_of_real_data_pruned_and_full_are_the_same(real_data):
    data = real_data("bms-webview-1").take(np.arange(12_000))
    rng = np.random.default_rng(2)
    other = data.keeping(rng.random(data.occurrences) > 0.1)
    ways = [partial(tree_distance, data, other, prune=prune) for prune in (False, True)]
    full, pruned = (way() for way in ways)
    assert full == pruned == tree_distance(other, data)
    assert data.occurrences - other.occurrences <= pruned <= data.occurrences + other.occurrences
