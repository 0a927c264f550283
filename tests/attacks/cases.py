"""Targets for tests of attacks: releases that leak what is planted, and releases that leak nothing."""

import numpy as np

import setveil as sv
from setveil.attacks.target import Target
from setveil.data.records.alignment import Alignment
from setveil.parameters.sensitive_items import SensitiveItems


def drawn(seed, records=300, items=40, mean=5, *, names="i"):
    """Return records of independent items, common and rare."""
    rng = np.random.default_rng(seed)
    share = np.clip(mean * (weights := 1 / np.arange(2, items + 2)) / weights.sum(), 0, 0.9)
    held = rng.random((records, items)) < share
    return sv.from_lists([[f"{names}{code:02}" for code in np.flatnonzero(row)] for row in held])


def linked(seed, records=300, sensitive=6, *, strength=0.8):
    """Return records in which a sensitive item s goes with an item of its own."""
    rng = np.random.default_rng(seed)
    rows = []
    for signs in drawn(seed, records).to_lists():
        chance = [strength if f"i{code:02}" in signs else (1 - strength) / 4 for code in range(sensitive)]
        rows.append(signs + [f"s{code}" for code in range(sensitive) if rng.random() < chance[code]])
    return sv.from_lists(rows)


def without_links(seed, records=300, sensitive=6):
    """Return records in which sensitive items are independent of all others."""
    rng = np.random.default_rng(seed + 10_000)
    rows = drawn(seed, records).to_lists()
    return sv.from_lists([row + [f"s{code}" for code in range(sensitive) if rng.random() < 0.2] for row in rows])


SENSITIVE = SensitiveItems([f"s{code}" for code in range(6)])


def target(original, published, control=None, *, rows=None, seed=0, targets=300, again=None, **known):
    alignment = Alignment(np.arange(published.records) if rows is None else rows)
    return Target(original, published, alignment, known, control, targets, seed, again=again)


def by_nodes(seed, records=400, nodes=12, *, rare=None):
    """Return records with at most one of two items of each node, and the tree; `rare` is in how many records the second item is."""
    rng = np.random.default_rng(seed)
    held = rng.random((records, nodes)) < 0.4
    chance = np.where(held, rng.random((records, nodes)), 1)
    second = chance < 0.4 if rare is None else np.argsort(np.argsort(chance, axis=0), axis=0) < rare
    rows = [
        [f"n{code:02}{'b' if second[row, code] else 'a'}" for code in np.flatnonzero(held[row])]
        for row in range(records)
    ]
    return sv.from_lists(rows), sv.Hierarchy(
        {f"n{code:02}{one}": f"n{code:02}" for code in range(nodes) for one in "ab"}
    )
