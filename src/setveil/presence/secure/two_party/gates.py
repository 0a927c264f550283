"""What circuits are written over: arrays of wires, with gates that act on whole arrays.

A circuit knows the leading axes of an array of wires, the last of which is the batch. What comes after is the business of the gates: plain
bits have nothing there, labels of half-gates two words. XOR is the operator `^` on either.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Wires = NDArray[Any]
    Circuit = Callable[["Gates", Wires, Wires], Wires]
    """From the wires of A's and B's numbers (bits x numbers x batch) to those of the answer (bits x batch)."""


class Gates(Protocol):
    """The gates besides XOR."""

    def both(self, x: Wires, y: Wires) -> Wires:
        """AND of two arrays, one of which may be repeated along leading axes."""

    def flip(self, x: Wires) -> Wires:
        """NOT."""

    def constant(self, shape: tuple[int, ...], *, value: bool) -> Wires:
        """Wires that hold a value that both know."""


class PlainGates:
    """Gates on plain bits, which also count the ANDs."""

    def __init__(self) -> None:
        self.ands = 0

    def both(self, x: Wires, y: Wires) -> Wires:
        """AND."""
        found = x & y
        self.ands += found.size
        return np.asarray(found)

    def flip(self, x: Wires) -> Wires:
        """NOT."""
        return ~x

    def constant(self, shape: tuple[int, ...], *, value: bool) -> Wires:
        """Bits of one value."""
        return np.full(shape, value)


def bits_of(numbers: NDArray[Any], width: int) -> NDArray[np.bool_]:
    """Return the lowest bits of numbers, the lowest first, as a new first axis."""
    shifts = np.arange(width, dtype=np.uint64).reshape(-1, *(1,) * numbers.ndim)
    return (numbers.astype(np.uint64) >> shifts & np.uint64(1)).astype(np.bool_)


@lru_cache(maxsize=64)
def ands_of(circuit: Circuit, width: int, numbers: int) -> int:
    """Return how many ANDs a circuit has for each of its batch."""
    gates = PlainGates()
    nothing = np.zeros((width, numbers, 1), dtype=np.bool_)
    circuit(gates, nothing, nothing)
    return gates.ands
