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
    word = word - ((word >> 1) & 0x5555555555555555)
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    word = word + (word >> 8)
    word = word + (word >> 16)
    return (word + (word >> 32)) & 0x7F


@kernel
def lowest_bit(word):
    """Return the place of the lowest set bit of a word that is not 0."""
    lower = (word & -word) - 1
    place = 0
    while lower:  # LLVM knows this loop, and makes one instruction of it
        lower &= lower - 1
        place += 1
    return place
