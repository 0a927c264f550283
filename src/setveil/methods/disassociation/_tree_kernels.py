"""Loops over the records of a block that find their places in the top of a tree, and count what decides how it grows."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import STOP
from setveil.kernels.jit import kernel
from setveil.methods.disassociation._tree import NO_CHAIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOOK = 65535
"""How many records pass between two looks at whether to stop, less 1."""


class Records(NamedTuple):
    """Records: record r holds the items `items[offsets[r]:offsets[r + 1]]`."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]


class Splits(NamedTuple):
    """Which item begins which chain. Later splits of a chain begin chains of higher numbers."""

    row: NDArray[np.int32]
    """By chain: its row of `begun`, -1 if nothing splits it."""
    begun: NDArray[np.int32]
    """By row and item: the chain of the records that the item takes out of the chain."""


class Open(NamedTuple):
    """The chains whose ends may be split further."""

    number: NDArray[np.int32]
    """By chain: its number among the open ones, -1 for others."""
    bit: NDArray[np.int8]
    """By open chain and item: the bit of the item in a pattern, -1 if it has none."""


class Counted(NamedTuple):
    """What is at the end of each open chain: how many records hold each item, and how many hold exactly the items of a pattern."""

    items: NDArray[np.int64]
    patterns: NDArray[np.int64]


@kernel
def chain_of(record, records, splits):
    """Return the chain at whose end a record is: in each chain, the first split by one of its items takes it out."""
    offsets, items = records.offsets, records.items
    chain = np.int32(0)
    while splits.row[chain] >= 0:
        row, begun = splits.row[chain], np.int32(NO_CHAIN)
        for at in range(offsets[record], offsets[record + 1]):
            begun = min(begun, splits.begun[row, items[at]])
        if begun == NO_CHAIN:
            break
        chain = begun
    return chain


@kernel
def find_chains(records, splits, found, control):
    """Write the chain at whose end each record is."""
    for record in range(len(found)):
        if record & LOOK == 0 and control[STOP]:
            return
        found[record] = chain_of(record, records, splits)


@kernel
def count(records, splits, open_chains, counted, control):
    """Count the items, and the patterns of items, of the records at the ends of open chains."""
    offsets, items = records.offsets, records.items
    for record in range(len(offsets) - 1):
        if record & LOOK == 0 and control[STOP]:
            return
        number = open_chains.number[chain_of(record, records, splits)]
        if number < 0:
            continue
        pattern = 0
        for at in range(offsets[record], offsets[record + 1]):
            item = items[at]
            counted.items[number, item] += 1
            bit = open_chains.bit[number, item]
            if bit >= 0:
                pattern |= np.int64(1) << bit
        counted.patterns[number, pattern] += 1
