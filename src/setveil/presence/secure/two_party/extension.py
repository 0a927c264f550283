"""OT extension: hundreds of thousands of oblivious transfers from 128 base transfers.

Ishai, Kilian, Nissim and Petrank, Extending Oblivious Transfers Efficiently, 2003 (secure against parties that follow the protocol). For
each of its bits r, the chooser gets a block t, and the sender gets q = t ^ r*delta with its own secret delta. The lowest bit of delta is 1,
so that the lowest bits of q and q ^ delta differ, as half-gates require; its other 127 bits are random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.presence.libraries import aes_stream
from setveil.presence.secure.two_party import base_ot
from setveil.presence.secure.two_party.blocks import SECURITY, Blocks, packed, random_block
from setveil.presence.secure.two_party.transposing import columns_as_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.channel import Channel
    from setveil.presence.secure.two_party.hashing import FixedKeyHash, Tweaks

MOST_BITS = 1 << 20
"""The maximum number of bits per message: 16 MiB."""


class _Streams:
    """128 streams of random bytes, one per row of the matrix."""

    def __init__(self, keys: list[bytes]) -> None:
        self._streams = [aes_stream(key) for key in keys]

    def next(self, width: int) -> NDArray[np.uint8]:
        """Return the next bytes of every stream (128 x width)."""
        zeros = bytes(width)
        drawn = b"".join(stream.update(zeros) for stream in self._streams)
        return np.frombuffer(drawn, dtype=np.uint8).reshape(SECURITY, width)


def _bytes_of(count: int) -> int:
    return -(-count // 8)


def _pieces(count: int) -> list[int]:
    """Return the number of bits in each message."""
    return [min(MOST_BITS, count - begin) for begin in range(0, count, MOST_BITS)]


def _joined(pieces: list[Blocks]) -> Blocks:
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty((0, 2), dtype=np.uint64), *pieces])


class Sender:
    """The end that holds delta."""

    def __init__(self, line: Channel, session: bytes, hashing: FixedKeyHash, tweaks: Tweaks) -> None:
        self.line = line
        self.hash = hashing
        self.tweaks = tweaks
        self.delta: Blocks = random_block() | np.array([1, 0], dtype=np.uint64)
        bits = np.unpackbits(np.frombuffer(packed(self.delta), dtype=np.uint8), bitorder="little").astype(np.bool_)
        self._taken = np.where(bits, 255, 0).astype(np.uint8)[:, None]
        self._streams = _Streams(base_ot.choose(line, session, bits.tolist()))

    def extend(self, count: int) -> Blocks:
        """Return q for the next bits of the chooser."""
        return _joined([self._extended(piece) for piece in _pieces(count)])

    def _extended(self, count: int) -> Blocks:
        width = _bytes_of(count)
        received = np.frombuffer(self.line.receive("ot-extension", SECURITY * width), dtype=np.uint8)
        rows = received.reshape(SECURITY, width) & self._taken
        rows ^= self._streams.next(width)
        return columns_as_blocks(rows)[:count]


class Chooser:
    """The end that selects one of two blocks with each bit."""

    def __init__(self, line: Channel, session: bytes, hashing: FixedKeyHash, tweaks: Tweaks) -> None:
        self.line = line
        self.hash = hashing
        self.tweaks = tweaks
        pairs = base_ot.send(line, session)
        self._zero = _Streams([zero for zero, _ in pairs])
        self._one = _Streams([one for _, one in pairs])

    def extend(self, bits: NDArray[np.bool_]) -> Blocks:
        """Return t for these bits."""
        ends = np.cumsum(_pieces(len(bits)), dtype=np.int64)
        return _joined([self._extended(piece) for piece in np.split(bits, ends[:-1]) if len(piece)])

    def _extended(self, bits: NDArray[np.bool_]) -> Blocks:
        width = _bytes_of(len(bits))
        rows = self._zero.next(width)
        sent = self._one.next(width) ^ rows
        sent ^= np.packbits(bits, bitorder="little")
        self.line.send("ot-extension", sent.tobytes())
        return columns_as_blocks(rows)[: len(bits)]
