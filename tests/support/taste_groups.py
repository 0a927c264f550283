"""Data from which recommenders can learn: people of several tastes, and rare items."""

import numpy as np

import setveil as sv


def people_of_tastes(seed, records=600, *, tastes=4, items=40):
    """Return records of people who mostly hold the items of their taste, and an item that only the first one holds."""
    rng = np.random.default_rng(seed)
    lists = []
    for _record in range(records):
        taste = int(rng.integers(tastes))
        chance = np.where(np.arange(items) % tastes == taste, 0.4, 0.03)
        lists.append([f"i{item:03}" for item in np.flatnonzero(rng.random(items) < chance)] or [f"i{taste:03}"])
    lists[0] = [*lists[0], "rare"]
    return sv.from_lists(lists)
