"""1-of-M oblivious transfer for tables of numbers: the chooser gets the entry of a table at its secret number.

Naor and Pinkas, Oblivious Transfer and Polynomial Evaluation, 1999: there is a pair of keys for each bit of the number, and an entry is
hidden under the keys that its own index selects. The blocks of the OT extension are all related by delta, so each is hashed to a key first;
the keys of an entry are then combined by XOR and hashed again with the entry's own tweak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import distinct, offsets_of
from setveil.presence.secure.two_party.blocks import Blocks, packed, unpacked
from setveil.presence.secure.two_party.hashing import Use

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.secure.two_party.extension import Chooser, Sender

PIECE = 1 << 16
"""Entries that are hidden at a time, or one table if it has more."""


def _index_bits(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of index bits of tables whose sizes are powers of two."""
    return np.log2(sizes).astype(np.int64)


def send(sender: Sender, sizes: NDArray[np.int64], tables: list[NDArray[np.uint32]]) -> None:
    """Send tables: each array holds all tables of one size (tables x entries), in the order of sizes that `np.unique` returns."""
    bits = _index_bits(sizes)
    if not len(sizes):
        return
    q = sender.extend(int(bits.sum()))
    tweaks = sender.tweaks.take(Use.TABLE_KEYS, len(q))
    keys = np.stack([sender.hash(q, tweaks), sender.hash(q ^ sender.delta, tweaks)], axis=1)
    of_table = offsets_of(bits)
    hidden = []
    for size, group in zip(distinct(sizes), tables, strict=True):
        which = np.flatnonzero(sizes == size)
        at_once = max(1, PIECE // int(size))
        for begin in range(0, len(which), at_once):
            some = which[begin : begin + at_once]
            own = keys[of_table[some][:, None] + np.arange(int(size).bit_length() - 1)]
            joined = _joined(own)
            pads = sender.hash(joined, sender.tweaks.take(Use.TABLE_ENTRIES, *joined.shape[:2]))
            hidden.append((group[begin : begin + at_once] ^ pads[..., 0].astype(np.uint32)).reshape(-1))
    sender.line.send("ot-tables", packed(np.concatenate(hidden)))


def _joined(keys: Blocks) -> Blocks:
    """Return the combined keys of all entries (tables x entries), from the keys of the bits (tables x bits x 2)."""
    tables, bits = keys.shape[:2]
    entries = np.empty((tables, 1 << bits, 2), dtype=np.uint64)
    entries[:, 0] = np.bitwise_xor.reduce(keys[:, :, 0], axis=1)
    differences = keys[:, :, 0] ^ keys[:, :, 1]
    for bit in range(bits):
        half = 1 << bit
        np.bitwise_xor(entries[:, :half], differences[:, bit, None], out=entries[:, half : 2 * half])
    return entries


class Choice:
    """A chooser's selection from the tables that are sent next."""

    def __init__(self, chooser: Chooser, sizes: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Request entries, without waiting for the tables."""
        self._chooser = chooser
        self._sizes = sizes
        self._numbers = numbers
        bits = _index_bits(sizes)
        self._of_table = offsets_of(bits)
        table = np.repeat(np.arange(len(sizes)), bits)
        position = np.arange(len(table)) - self._of_table[table]
        t = chooser.extend((numbers[table] >> position & 1).astype(np.bool_))
        self._keys = chooser.hash(t, chooser.tweaks.take(Use.TABLE_KEYS, len(t)))

    def receive(self) -> NDArray[np.uint32]:
        """Return the requested entries, in the order of the tables."""
        found = np.empty(len(self._sizes), dtype=np.uint32)
        if not len(found):
            return found
        total = int(self._sizes.sum())
        hidden = unpacked(self._chooser.line.receive("ot-tables", 4 * total), np.uint32, (total,))
        begin = 0
        for size in distinct(self._sizes):
            which = np.flatnonzero(self._sizes == size)
            own = self._keys[self._of_table[which][:, None] + np.arange(int(size).bit_length() - 1)]
            joined = np.bitwise_xor.reduce(own, axis=1)
            at = np.arange(len(which)) * size + self._numbers[which]
            tweaks = self._chooser.tweaks.take(Use.TABLE_ENTRIES, len(which), int(size), only=at)
            found[which] = hidden[begin + at] ^ self._chooser.hash(joined, tweaks)[:, 0].astype(np.uint32)
            begin += len(which) * int(size)
        return found
