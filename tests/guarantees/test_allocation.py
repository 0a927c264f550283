"""Dividing counts of groups among cells equals trying all divisions."""

from collections import Counter
from itertools import product

import numpy as np

from setveil.guarantees.together.allocation import Allocation


def divisions(sizes, held, slack):
    """All numbers of records with the item in each cell that keep the sums of the groups; a slack group keeps at least one."""
    cells = sorted(sizes)

    def sums(numbers):
        return Counter({group: 0 for cell in cells for group in enumerate(cell)}) + Counter(
            group
            for cell, number in zip(cells, numbers, strict=True)
            for group in enumerate(cell)
            for _ in range(number)
        )

    wanted = sums([held[cell] for cell in cells])
    for numbers in product(*(range(sizes[cell] + 1) for cell in cells)):
        found = sums(numbers)
        groups = {group for cell in cells for group in enumerate(cell)}
        if all(found[group] >= 1 if group in slack else found[group] == wanted[group] for group in groups):
            yield dict(zip(cells, numbers, strict=True))


def drawn(rng, *, with_slack):
    cells = [(i, j) for i in range(3) for j in range(3) if rng.random() < 0.75] or [(0, 0)]
    sizes = {cell: int(rng.integers(1, 4)) for cell in cells[:6]}
    held = {cell: int(rng.integers(0, size + 1)) for cell, size in sizes.items()}
    groups = sorted({group for cell in sizes for group in enumerate(cell)})
    used = {group for cell, number in held.items() if number for group in enumerate(cell)}
    slack = frozenset(group for group in groups if with_slack and group in used and rng.random() < 0.3)
    return sizes, held, slack


def test_the_largest_number_of_a_cell_is_reached():
    raised = Counter()
    for seed in range(300):
        sizes, held, slack = drawn(np.random.default_rng(seed), with_slack=False)
        worlds = list(divisions(sizes, held, slack))
        for cell, size in sizes.items():
            most = max(world[cell] for world in worlds)
            for wanted in range(held[cell] + 1, size + 1):
                allocation = Allocation(sizes, dict(held))
                able = allocation.raise_to(cell, wanted)
                assert able == (wanted <= most), seed
                assert allocation.held in worlds, "changes keep the sums of all groups and the sizes of all cells"
                assert not able or allocation.held[cell] == wanted
                raised[able] += 1
            assert Allocation(sizes, dict(held)).may_gain(cell) == (most > held[cell])
    assert min(raised.values()) > 200, raised


def test_a_cell_that_cannot_gain_gains_in_no_division_with_slack():
    gains = Counter()
    for seed in range(300):
        sizes, held, slack = drawn(np.random.default_rng(seed), with_slack=True)
        worlds = list(divisions(sizes, held, slack))
        for cell in sizes:
            may, can = Allocation(sizes, dict(held), slack).may_gain(cell), max(w[cell] for w in worlds) > held[cell]
            assert may or not can, seed
            gains[may, can] += 1
    assert gains[True, False] <= 0.05 * sum(gains.values()), gains
    assert min(gains[True, True], gains[False, False]) > 200, gains
