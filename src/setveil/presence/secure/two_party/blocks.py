"""Blocks of 128 bits as pairs of words, arrays as bytes of messages, and streams of random blocks.

The lowest bit of the first word is a block's lowest bit. In messages, all numbers are little-endian.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.presence.libraries import aes_stream

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

Blocks = NDArray[np.uint64]

BLOCK = 16
"""Bytes of a block."""
SECURITY = 128
"""Bits of a block, and rows of the matrix of an OT extension."""


def packed(array: NDArray[Any]) -> bytes:
    """Return an array as the bytes of a message."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def unpacked(payload: bytes, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the array of a message, as one that must not be written to."""
    kind = np.dtype(dtype)
    array = np.frombuffer(payload, dtype=kind.newbyteorder("<")).reshape(shape)
    return array.astype(kind, copy=False)


def blocks_of(payload: bytes, shape: tuple[int, ...]) -> Blocks:
    """Return bytes as blocks."""
    return unpacked(payload, np.uint64, (*shape, 2))


def lowest_bits(blocks: Blocks) -> NDArray[np.bool_]:
    """Return the lowest bit of each block."""
    return (blocks[..., 0] & np.uint64(1)).astype(np.bool_)


def times(bits: NDArray[np.bool_], blocks: Blocks) -> Blocks:
    """Return each block if its bit is set and zeros otherwise, without a branch."""
    mask = np.negative(bits.astype(np.uint64))
    return np.asarray(mask[..., None] & blocks)


def random_block() -> Blocks:
    """Return a block from the operating system's randomness."""
    return blocks_of(secrets.token_bytes(BLOCK), ())


def stretched(seed: bytes, shape: tuple[int, ...]) -> Blocks:
    """Return blocks from a stream keyed by a seed; each seed must be used only once."""
    return blocks_of(aes_stream(seed).update(bytes(BLOCK * int(np.prod(shape)))), shape)


def random_numbers(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return numbers from a stream keyed by the operating system's randomness."""
    size = np.dtype(dtype).itemsize * int(np.prod(shape))
    return unpacked(aes_stream(secrets.token_bytes(BLOCK)).update(bytes(size)), dtype, shape)
