"""The hash from blocks to blocks, and tweaks that never repeat.

The hash is TMMO of Guo, Katz, Wang and Yu (Efficient and Secure Multiparty Computation from Fixed-Key Block Ciphers, 2020): H(x, i) =
p(p(x) ^ i) ^ p(x), with p = AES under a key from a joint coin of this run. It is tweakable circular correlation robust if AES behaves like
an ideal permutation, and only if no tweak is used twice with the same secret difference: tweaks come from counters, one per use and
direction, which never decrease.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from setveil.presence.libraries import aes_permutation
from setveil.presence.secure.two_party.blocks import BLOCK, Blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_TWEAKS = 1 << 62


class Use(IntEnum):
    """The uses of the hash; each has its own tweaks."""

    ROWS = 1
    TABLE_KEYS = 2
    TABLE_ENTRIES = 3
    GATES = 4


class Tweaks:
    """The counters of one direction: each number of a use is returned once, in order, and never again."""

    def __init__(self, direction: int) -> None:
        self._direction = direction
        self._next = dict.fromkeys(Use, 0)

    def take(self, use: Use, *shape: int, only: NDArray[np.int64] | None = None) -> Blocks:
        """Return new tweaks of the given shape, as blocks; or `only` some of them, by position, while the rest are never used here."""
        count = math.prod(shape)
        begin = self._next[use]
        if count < 0 or begin + count > MOST_TWEAKS:
            raise OverflowError("no tweaks are left, and none may be used twice")
        self._next[use] = begin + count
        positions = np.arange(count) if only is None else only
        tweaks = np.empty((len(positions), 2), dtype=np.uint64)
        tweaks[:, 0] = positions + begin
        tweaks[:, 1] = 256 * self._direction + use
        return tweaks.reshape(*shape, 2) if only is None else tweaks


class FixedKeyHash:
    """The hash under the key of a run."""

    def __init__(self, key: bytes) -> None:
        self._aes = aes_permutation(key)

    def permute(self, blocks: Blocks) -> Blocks:
        """Return p of each block, which is stored for rows that are hashed repeatedly."""
        given = np.ascontiguousarray(blocks, dtype="<u8")
        out = np.empty(given.nbytes + BLOCK - 1, dtype=np.uint8)
        self._aes.update_into(given.reshape(-1).view(np.uint8), out)
        found: NDArray[np.uint64] = out[: given.nbytes].view("<u8").reshape(blocks.shape)
        return found

    def of_permuted(self, permuted: Blocks, tweaks: Blocks) -> Blocks:
        """Return the hashes of blocks whose p is known."""
        hashed = self.permute(permuted ^ tweaks)
        hashed ^= permuted
        return hashed

    def __call__(self, blocks: Blocks, tweaks: Blocks) -> Blocks:
        """Return the hashes of blocks."""
        return self.of_permuted(self.permute(blocks), tweaks)
