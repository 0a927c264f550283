"""Loops of RandSwap: who exchanges with whom, and which items leave a record."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

LOOK_EVERY = 1024
"""How many records are treated between two looks at the control array."""


@kernel
def pair(seeking, candidates, paired, one, other, control):
    """Pair each of those that seek and are free with the first candidate that is free; return how many pairs there are."""
    pairs, place = 0, 0
    for step in range(len(seeking)):
        if step % LOOK_EVERY == 0:
            control[DONE] = step
            if control[STOP]:
                return pairs
        record = seeking[step]
        if paired[record]:
            continue
        paired[record] = True  # so that it is not its own partner
        while place < len(candidates) and paired[candidates[place]]:
            place += 1
        if place == len(candidates):
            return pairs
        paired[candidates[place]] = True
        one[pairs], other[pairs] = record, candidates[place]
        pairs += 1
    return pairs


@kernel
def choose(offsets, gives, draws, leaves, control):
    """Mark `gives[r]` items of each record r, every choice of so many equally likely.

    Selection sampling (Knuth, volume 2, section 3.4.2, algorithm S): one draw an occurrence, so that the result depends on the draws
    alone.
    """
    for r in range(len(gives)):
        if r % LOOK_EVERY == 0:
            control[DONE] = r
            if control[STOP]:
                return
        needed = gives[r]
        left = offsets[r + 1] - offsets[r]
        for place in range(offsets[r], offsets[r + 1]):
            if needed == 0:
                break
            if draws[place] * left < needed:
                leaves[place] = True
                needed -= 1
            left -= 1
