# mypy: ignore-errors
# (Numba infers the types)
"""Bits of whole numbers that are not negative: sets of up to 62 things in one word."""

from __future__ import annotations

from setveil.kernels.jit import kernel

WORD_BITS = 62
"""How many bits a word can have: no sign comes in the way of a shift, and one shifted once more still fits."""


@kernel
def bit_count(word):
    """Return how many bits are set."""
    count = 0
    while word:  # one instruction: LLVM knows this loop
        word &= word - 1
        count += 1
    return count


@kernel
def lowest_bit(word):
    """Return the place of the lowest set bit of a word that is not 0."""
    lower = (word & -word) - 1
    place = 0
    while lower:  # one instruction, as above
        lower &= lower - 1
        place += 1
    return place
