"""Sorting by a heap: NumPy's sorting takes seconds to compile."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel

TOP = np.int64(0)


@kernel
def sink_place(keys, places, parent, end):
    """Move a place down a heap of places: the highest key is on top, of equal keys the higher place."""
    moved = places[parent]
    child = 2 * parent + 1
    while child < end:
        if child + 1 < end:
            one, other = places[child], places[child + 1]
            if keys[one] < keys[other] or (keys[one] == keys[other] and one < other):
                child += 1
        below = places[child]
        if keys[below] < keys[moved] or (keys[below] == keys[moved] and below < moved):
            break
        places[parent] = below
        parent = child
        child = 2 * parent + 1
    places[parent] = moved


@kernel
def sort_places(keys, size, places):
    """Write the places of the first `size` keys in the order of the keys, of equal keys the lower place first."""
    for at in range(size):
        places[at] = at
    for at in range(size // 2 - 1, -1, -1):
        sink_place(keys, places, at, size)
    for end in range(size - 1, 0, -1):
        places[0], places[end] = places[end], places[0]
        sink_place(keys, places, TOP, end)


@kernel
def sink_value(values, parent, end):
    """Move a value down a heap with the highest on top."""
    moved = values[parent]
    child = 2 * parent + 1
    while child < end:
        if child + 1 < end and values[child] < values[child + 1]:
            child += 1
        if values[child] <= moved:
            break
        values[parent] = values[child]
        parent = child
        child = 2 * parent + 1
    values[parent] = moved


@kernel
def sort_values(values, size):
    """Sort the first `size` values."""
    for at in range(size // 2 - 1, -1, -1):
        sink_value(values, at, size)
    for end in range(size - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        sink_value(values, TOP, end)
