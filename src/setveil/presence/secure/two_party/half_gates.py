"""Half-gates: the garbler encodes circuits as labels, and the evaluator evaluates them without learning any intermediate value.

Zahur, Rosulek and Evans, Two Halves Make a Whole, 2015: XOR and NOT are free, an AND takes two blocks. A wire has a label for 0 and,
differing by delta, a label for 1; the evaluator holds one of them and does not know which. Here delta is the secret of the OT extension
from the garbler to the evaluator, so the blocks t of the extension are the evaluator's input labels, and no further transfer is needed. The
labels of the garbler's own inputs, as the evaluator holds them, come from a seed: they are uniform whatever the bits are.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.presence.secure.two_party.blocks import (
    BLOCK,
    Blocks,
    blocks_of,
    lowest_bits,
    packed,
    stretched,
    times,
)
from setveil.presence.secure.two_party.gates import ands_of
from setveil.presence.secure.two_party.hashing import Use

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.secure.two_party.extension import Chooser, Sender
    from setveil.presence.secure.two_party.gates import Circuit

BLOCKS_PER_AND = 2


def _alike(x: Blocks, y: Blocks) -> tuple[Blocks, Blocks, tuple[int, ...]]:
    """Return both inputs as lists of blocks of the same length, and their common shape."""
    if x.shape != y.shape:
        x, y = np.broadcast_arrays(x, y)
    return x.reshape(-1, 2), y.reshape(-1, 2), x.shape


class _Garbling:
    """Gates of the garbler, on labels for 0."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self.made: list[Blocks] = []

    def both(self, x: Blocks, y: Blocks) -> Blocks:
        x, y, shape = _alike(x, y)
        delta = self._sender.delta
        inputs = np.empty((2, 2, len(x), 2), dtype=np.uint64)
        inputs[0, 0], inputs[1, 0] = x, y
        np.bitwise_xor(inputs[:, 0], delta, out=inputs[:, 1])
        tweaks = self._sender.tweaks.take(Use.GATES, 2, len(x))
        hashed = self._sender.hash(inputs, tweaks[:, None])
        (x0, x1), (y0, y1) = hashed
        bit_x, bit_y = lowest_bits(x), lowest_bits(y)
        garbler = x0 ^ x1 ^ times(bit_y, delta)
        evaluator = y0 ^ y1 ^ x
        self.made += [garbler, evaluator]
        found = x0 ^ times(bit_x, garbler) ^ y0 ^ times(bit_y, evaluator ^ x)
        return np.asarray(found.reshape(shape))

    def flip(self, x: Blocks) -> Blocks:
        return x ^ self._sender.delta

    def constant(self, shape: tuple[int, ...], *, value: bool) -> Blocks:
        return np.broadcast_to(self._sender.delta if value else np.zeros(2, dtype=np.uint64), (*shape, 2))


class _Evaluating:
    """Gates of the evaluator, on the labels it holds."""

    def __init__(self, chooser: Chooser, tables: Blocks) -> None:
        self._chooser = chooser
        self._tables = tables
        self._next = 0

    def both(self, x: Blocks, y: Blocks) -> Blocks:
        x, y, shape = _alike(x, y)
        begin, count = self._next, len(x)
        garbler = self._tables[begin : begin + count]
        evaluator = self._tables[begin + count : begin + 2 * count]
        self._next += BLOCKS_PER_AND * count
        hashed = self._chooser.hash(np.stack([x, y]), self._chooser.tweaks.take(Use.GATES, 2, count))
        found = hashed[0] ^ hashed[1]
        found ^= times(lowest_bits(x), garbler)
        found ^= times(lowest_bits(y), evaluator ^ x)
        return np.asarray(found.reshape(shape))

    def flip(self, x: Blocks) -> Blocks:
        return x

    def constant(self, shape: tuple[int, ...], *, value: bool) -> Blocks:  # noqa: ARG002 - the garbler's label encodes the value
        return np.zeros((*shape, 2), dtype=np.uint64)


def garble(sender: Sender, circuit: Circuit, mine: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Run a circuit on both parties' bits (bits x numbers x batch) as the garbler; return the own XOR share of the answer's bits."""
    theirs = sender.extend(mine.size).reshape(*mine.shape, 2)
    seed = secrets.token_bytes(BLOCK)
    own = stretched(seed, mine.shape) ^ times(mine, sender.delta)
    gates = _Garbling(sender)
    answer = circuit(gates, own, theirs)
    sender.line.send("garbled", b"".join([seed, *map(packed, gates.made)]))
    return lowest_bits(answer)


def evaluate(chooser: Chooser, circuit: Circuit, mine: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Run a circuit as the evaluator; return the own XOR share of the answer's bits."""
    width, numbers, batch = mine.shape
    own = chooser.extend(mine.reshape(-1)).reshape(*mine.shape, 2)
    blocks = BLOCKS_PER_AND * batch * ands_of(circuit, width, numbers)
    payload: Any = memoryview(chooser.line.receive("garbled", BLOCK * (1 + blocks)))
    theirs = stretched(bytes(payload[:BLOCK]), mine.shape)
    gates = _Evaluating(chooser, blocks_of(payload[BLOCK:], (blocks,)))
    return lowest_bits(circuit(gates, theirs, own))
