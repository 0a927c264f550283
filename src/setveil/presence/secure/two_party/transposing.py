"""Transposing a matrix of 128 rows of bits into one block per column, eight by eight bits at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.presence.secure.two_party.blocks import BLOCK, SECURITY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.secure.two_party.blocks import Blocks

PIECE = 1 << 10
"""Bytes of each row that are transposed at a time, so that they stay in the cache."""

# Swap bits, pairs and fours of bits across the diagonal of an 8 x 8 square held in a word.
_STEPS = ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0))


def columns_as_blocks(rows: NDArray[np.uint8]) -> Blocks:
    """Return one block per column of a matrix of 128 rows (bytes, the first bit is the lowest)."""
    width = rows.shape[1]
    turned = np.empty((width, 8, BLOCK), dtype=np.uint8)
    for begin in range(0, width, PIECE):
        _turn(rows[:, begin : begin + PIECE], turned[begin : begin + PIECE])
    return turned.reshape(8 * width, BLOCK).view("<u8").astype(np.uint64, copy=False)


def _turn(rows: NDArray[np.uint8], turned: NDArray[np.uint8]) -> None:
    width = rows.shape[1]
    squares = rows.reshape(BLOCK, 8, width).transpose(2, 0, 1).copy(order="C").view("<u8")
    for shift, mask in _STEPS:
        moved = squares >> np.uint64(shift)
        moved ^= squares
        moved &= np.uint64(mask)
        squares ^= moved
        moved <<= np.uint64(shift)
        squares ^= moved
    turned[:] = squares.view(np.uint8).reshape(width, SECURITY // 8, 8).transpose(0, 2, 1)
