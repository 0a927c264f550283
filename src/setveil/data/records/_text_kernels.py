"""Loops over the bytes of texts: their hashes, and which part each belongs to."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from setveil.kernels.jit import kernel

PRIME = 2**31 - 1


@kernel
def hash_of(text, start, end, multiplier):
    """Return the hash of the text from `start` to `end`.

    It is a polynomial over the bytes modulo a prime, at a place drawn at random: nobody can write a file whose texts all meet. Products
    stay below 2**62, so that nothing overflows.
    """
    value = end - start + 1
    at = start
    while at < end:
        step = text[at] + 1
        if at + 2 < end:  # three bytes at once stay below the prime; four would not
            step += (text[at + 1] << 8) + (text[at + 2] << 16)
            at += 2
        at += 1
        value = value * multiplier + step
        value = (value & PRIME) + (value >> 31)
        if value >= PRIME:
            value -= PRIME
    return value


@kernel
def divide(text, offsets, parts, multiplier, part_of):
    """Divide texts into parts, equal ones into the same."""
    for i in range(len(part_of)):
        part_of[i] = hash_of(text, offsets[i], offsets[i + 1], multiplier) % parts
