"""Products of a chooser's fixed bits and a sender's numbers, shared between both: additive correlated oblivious transfer.

A chooser's bits (which ids are its users) stay the same throughout a run, so their rows of the OT extension are made once and hashed with
fresh tweaks at each use. For a row with blocks q and t = q ^ r*delta and a number v, the sender's share is -H(q), and it sends
H(q) + H(q ^ delta) + v; the chooser's share is H(t) if r = 0, and the received number minus H(t) if r = 1. The shares add up to r*v, modulo
a power of two (Asharov, Lindell, Schneider and Zohner, More Efficient Oblivious Transfer and Extensions for Faster Secure Computation,
2013).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.presence.secure.two_party.blocks import BLOCK, Blocks, packed, unpacked
from setveil.presence.secure.two_party.hashing import Use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike, NDArray

    from setveil.presence.secure.two_party.extension import Chooser, Sender
    from setveil.presence.secure.two_party.hashing import FixedKeyHash

PIECE = 1 << 14
"""Rows hashed at a time, so that they stay in the cache."""


def _pieces(count: int) -> Iterator[slice]:
    return (slice(begin, min(begin + PIECE, count)) for begin in range(0, count, PIECE))


def _blocks_per_row(values: int, dtype: DTypeLike) -> int:
    return -(-values * np.dtype(dtype).itemsize // BLOCK)


def _numbers(hashing: FixedKeyHash, permuted: Blocks, tweaks: Blocks, values: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return the hashes of rows as numbers, several per block."""
    hashed = hashing.of_permuted(permuted[:, None, :], tweaks)
    return hashed.reshape(len(permuted), -1).view(dtype)[:, :values]


class SentRows:
    """The sender's end of fixed rows."""

    def __init__(self, sender: Sender, count: int) -> None:
        self._sender = sender
        q = sender.extend(count)
        self._zero = sender.hash.permute(q)
        self._one = sender.hash.permute(q ^ sender.delta)

    def share(self, rows: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
        """Send numbers for rows (rows x values, unsigned), and return the own shares of the products with the bits."""
        count, width = values.shape
        if not count:
            return values.copy()
        shares, sent = np.empty_like(values), np.empty_like(values)
        for piece in _pieces(count):
            at = rows[piece]
            tweaks = self._sender.tweaks.take(Use.ROWS, len(at), _blocks_per_row(width, values.dtype))
            zero = _numbers(self._sender.hash, self._zero[at], tweaks, width, values.dtype)
            one = _numbers(self._sender.hash, self._one[at], tweaks, width, values.dtype)
            np.negative(zero, out=shares[piece])
            np.add(zero, one, out=sent[piece])
        sent += values
        self._sender.line.send("ot-products", packed(sent))
        return shares


class ChosenRows:
    """The chooser's end of fixed rows."""

    def __init__(self, chooser: Chooser, bits: NDArray[np.bool_]) -> None:
        self._chooser = chooser
        self._bits = bits
        self._permuted = chooser.hash.permute(chooser.extend(bits))

    def share(self, rows: NDArray[np.int64], values: int, dtype: DTypeLike) -> NDArray[Any]:
        """Receive numbers for rows, and return the own shares of the products with the bits (rows x values)."""
        count, size = len(rows), np.dtype(dtype).itemsize
        if not count:
            return np.empty((0, values), dtype=dtype)
        payload = self._chooser.line.receive("ot-products", count * values * size)
        sent = unpacked(payload, dtype, (count, values))
        shares = np.empty((count, values), dtype=dtype)
        for piece in _pieces(count):
            at = rows[piece]
            tweaks = self._chooser.tweaks.take(Use.ROWS, len(at), _blocks_per_row(values, dtype))
            mine = _numbers(self._chooser.hash, self._permuted[at], tweaks, values, dtype)
            # A mask instead of a branch: the received number minus the hash if the bit is set, the hash if it is not.
            bit = self._bits[at].astype(dtype)[:, None]
            shares[piece] = (sent[piece] & np.negative(bit)) + mine * (1 - 2 * bit)
        return shares
