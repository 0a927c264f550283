"""The keyed stream that dummies take their rows from.

A dummy shows the row of a random existing user of its group, drawn anew at each division. The draw is a function of the provider's stored
key, the policy, the id and the way to the group, and of nothing else: a run that is broken off and begun again, or two runs on the same
data, give the same dummies, and comparing them tells nothing. With fresh draws, whoever moves between two runs would be a dummy.

The function is AES under a key derived from the stored key and the policy (BLAKE2b, keyed), of a 16-byte block that stands for id and way.
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
"""The version of how dummies are drawn; raised with every change of what a key, a policy and data give."""
BLOCK_BYTES = 16
KEY_BYTES = 32
_LEAST_KEY_BYTES, _MOST_KEY_BYTES = 16, 64


def id_blocks(blocks: bytes) -> NDArray[np.uint64]:
    """Return the 16 bytes of each id as two numbers (ids x 2)."""
    return np.frombuffer(blocks, dtype="<u8").reshape(-1, 2)


class KeyedStream:
    """Random numbers that belong to a key, a policy and a purpose."""

    def __init__(self, key: bytes, context: bytes, purpose: bytes) -> None:
        _refuse_key(key)
        digest = hashlib.blake2b(context, key=key, person=purpose[:16], digest_size=16)
        self._key = digest.digest()

    def __repr__(self) -> str:
        return "KeyedStream(...)"

    def draw(self, ids: NDArray[np.uint64], ways: Sequence[bytes], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return a number below 2**64 for each id (ids x 2 blocks), whose groups are so large and have these ways."""
        marks = np.frombuffer(
            b"".join(hashlib.blake2b(way, digest_size=16).digest() for way in ways), dtype="<u8"
        ).reshape(-1, 2)
        mixed = ids ^ np.repeat(marks, sizes, axis=0)
        drawn = np.frombuffer(aes_blocks(self._key, mixed.astype("<u8").tobytes()), dtype="<u8")
        return drawn[::2].astype(np.uint64)

    def shuffles(self, ways: Sequence[bytes], length: int) -> NDArray[np.int64]:
        """Return a permutation of 0 to length - 1 for each way (ways x length)."""
        places = np.zeros((len(ways) * length, 2), dtype=np.uint64)
        places[:, 0] = np.tile(np.arange(length, dtype=np.uint64), len(ways))
        drawn = self.draw(places, ways, np.full(len(ways), length, dtype=np.int64))
        return np.argsort(drawn.reshape(len(ways), length), axis=1, kind="stable")


def row_choices(key: bytes, context: bytes, blocks: bytes, below: int) -> NDArray[np.int64]:
    """Return for each id a number below a bound, once and for all: the row that a dummy shows of a method that never draws anew.

    `blocks` holds 16 bytes an id. Contexts must differ wherever draws shall be independent.
    """
    _refuse_key(key)
    if not 0 < below < 1 << 31:
        raise BadParameter(f"rows are drawn out of {below:,}; expected at least one and fewer than {1 << 31:,}")
    if len(blocks) % BLOCK_BYTES:
        raise BadParameter(f"the blocks of ids have {len(blocks):,} bytes; expected {BLOCK_BYTES} an id")
    own = hashlib.blake2b(context, key=key).digest()[:BLOCK_BYTES]
    drawn = np.frombuffer(aes_blocks(own, blocks), dtype="<u8")[::2]
    return (drawn % np.uint64(below)).astype(np.int64)


def _refuse_key(key: bytes) -> None:
    if not _LEAST_KEY_BYTES <= len(key) <= _MOST_KEY_BYTES:
        raise BadParameter(
            f"a key of dummies has {len(key)} bytes; expected {_LEAST_KEY_BYTES} to {_MOST_KEY_BYTES} from a secure source"
        )
