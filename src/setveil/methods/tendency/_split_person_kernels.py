"""Loops of SplitPerson: how many rows a record becomes, and the rows themselves."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import sort

LOOK_EVERY = 1024
"""How many records are treated between two looks at the control array."""


@kernel
def count_rows(offsets, items, category, categories, rows, control):
    """Count the categories of each record; an empty one has a row too."""
    seen_in = np.full(categories, -1, dtype=np.int64)
    for r in range(len(rows)):
        if r % LOOK_EVERY == 0:
            control[DONE] = r
            if control[STOP]:
                return
        rows[r] = 1 if offsets[r + 1] == offsets[r] else 0
        for place in range(offsets[r], offsets[r + 1]):
            g = category[items[place]]
            if seen_in[g] != r:
                seen_in[g] = r
                rows[r] += 1


@kernel
def split(offsets, items, category, categories, first_row, new_offsets, new_items, control):
    """Write the rows of each record by category, items in their order; record r has the rows from `first_row[r]` on."""
    weight = np.zeros(categories, dtype=np.int64)
    start = np.empty(categories, dtype=np.int64)
    present = np.empty(categories, dtype=np.int64)
    for r in range(len(first_row) - 1):
        if r % LOOK_EVERY == 0:
            control[DONE] = r
            if control[STOP]:
                return
        found = 0
        for place in range(offsets[r], offsets[r + 1]):
            g = category[items[place]]
            if weight[g] == 0:
                present[found] = g
                found += 1
            weight[g] += 1
        sort(present, np.int64(0), found)
        at = offsets[r]
        for i in range(found):
            start[present[i]] = at
            at += weight[present[i]]
            weight[present[i]] = 0
            new_offsets[first_row[r] + i + 1] = at
        if found == 0:
            new_offsets[first_row[r] + 1] = at
        for place in range(offsets[r], offsets[r + 1]):
            g = category[items[place]]
            new_items[start[g]] = items[place]
            start[g] += 1
