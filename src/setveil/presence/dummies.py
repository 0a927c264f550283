"""The keyed random stream that draws the rows of dummies.

A dummy shows the row of a random user of its group, drawn again at each division. The draw depends on the provider's stored key, the
policy, the id and the path to the group, and on nothing else. So a run that is aborted and repeated, or two runs on the same data, give
the same dummies, and comparing them reveals nothing. With fresh draws, every id that moves between two runs would be a dummy.

The function is AES under a key derived from the stored key and the policy (keyed BLAKE2b), of a 16-byte block that represents id and path.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from setveil.errors import BadParameter
from setveil.presence.libraries import aes_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DRAWS = 1
"""The version of the drawing of dummies; increased whenever the same key, policy and data give other dummies."""
BLOCK_BYTES = 16
KEY_BYTES = 32
_LEAST_KEY_BYTES, _MOST_KEY_BYTES = 16, 64


def id_blocks(blocks: bytes) -> NDArray[np.uint64]:
    """Return the 16 bytes of each id as two numbers (ids x 2)."""
    return np.frombuffer(blocks, dtype="<u8").reshape(-1, 2)


class KeyedStream:
    """Random numbers that are determined by a key, a policy and a purpose."""

    def __init__(self, key: bytes, context: bytes, purpose: bytes) -> None:
        _refuse_key(key)
        digest = hashlib.blake2b(context, key=key, person=purpose[:16], digest_size=16)
        self._key = digest.digest()

    def __repr__(self) -> str:
        return "KeyedStream(...)"

    def draw(self, ids: NDArray[np.uint64], ways: Sequence[bytes], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return a number below 2**64 for each id (ids x 2 blocks); `ways` and `sizes` are the paths and sizes of their groups."""
        marks = np.frombuffer(
            b"".join(hashlib.blake2b(way, digest_size=16).digest() for way in ways), dtype="<u8"
        ).reshape(-1, 2)
        mixed = ids ^ np.repeat(marks, sizes, axis=0)
        drawn = np.frombuffer(aes_blocks(self._key, mixed.astype("<u8").tobytes()), dtype="<u8")
        return drawn[::2].astype(np.uint64)

    def shuffles(self, ways: Sequence[bytes], length: int) -> NDArray[np.int64]:
        """Return a permutation of 0 to length - 1 for each path (paths x length)."""
        places = np.zeros((len(ways) * length, 2), dtype=np.uint64)
        places[:, 0] = np.tile(np.arange(length, dtype=np.uint64), len(ways))
        drawn = self.draw(places, ways, np.full(len(ways), length, dtype=np.int64))
        return np.argsort(drawn.reshape(len(ways), length), axis=1, kind="stable")


def row_choices(key: bytes, context: bytes, blocks: bytes, below: int) -> NDArray[np.int64]:
    """Return a number below a bound for each id: the row that a dummy shows in a method that draws rows only once.

    `blocks` holds 16 bytes per id. Contexts must differ wherever draws have to be independent.
    """
    _refuse_key(key)
    if not 0 < below < 1 << 31:
        raise BadParameter(f"the number of rows to draw from is {below:,}; expected 1 to {(1 << 31) - 1:,}")
    if len(blocks) % BLOCK_BYTES:
        raise BadParameter(f"the blocks of ids have {len(blocks):,} bytes; expected {BLOCK_BYTES} bytes per id")
    own = hashlib.blake2b(context, key=key).digest()[:BLOCK_BYTES]
    drawn = np.frombuffer(aes_blocks(own, blocks), dtype="<u8")[::2]
    return (drawn % np.uint64(below)).astype(np.int64)


def _refuse_key(key: bytes) -> None:
    if not _LEAST_KEY_BYTES <= len(key) <= _MOST_KEY_BYTES:
        raise BadParameter(
            f"the dummy key has {len(key)} bytes; expected {_LEAST_KEY_BYTES} to {_MOST_KEY_BYTES} bytes from a secure random source"
        )
