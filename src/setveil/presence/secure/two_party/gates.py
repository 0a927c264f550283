"""The gates of circuits, which act on whole arrays of wires.

A circuit knows the leading axes of an array of wires, the last of which is the batch. Further axes belong to the gates: plain bits have
none, labels of half-gates have two words. XOR is the operator `^` for both.
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
    """Maps the wires of A's and B's numbers (bits x numbers x batch) to those of the answer (bits x batch)."""


class Gates(Protocol):
    """All gates except XOR."""

    def both(self, x: Wires, y: Wires) -> Wires:
        """AND of two arrays, one of which may be broadcast along leading axes."""

    def flip(self, x: Wires) -> Wires:
        """NOT."""

    def constant(self, shape: tuple[int, ...], *, value: bool) -> Wires:
        """Wires with a value that both parties know."""


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
    """Return the lowest `width` bits of numbers, lowest first, along a new first axis."""
    shifts = np.arange(width, dtype=np.uint64).reshape(-1, *(1,) * numbers.ndim)
    return (numbers.astype(np.uint64) >> shifts & np.uint64(1)).astype(np.bool_)


@lru_cache(maxsize=64)
def ands_of(circuit: Circuit, width: int, numbers: int) -> int:
    """Return the number of ANDs of a circuit per entry of the batch."""
    gates = PlainGates()
    nothing = np.zeros((width, numbers, 1), dtype=np.bool_)
    circuit(gates, nothing, nothing)
    return gates.ands
