"""The records that hold a named itemset. Baselines change only these, and work on them alone: the other records are only copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.in_blocks import chained, need_blocks, on_disk
from setveil.data.records.ragged import BLOCK, offsets_of, places_of, read_only, record_ranges
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.methods.itemsets import _swap_itemsets_kernels as kernels_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.methods.itemsets._swap_itemsets_kernels import Held, Named
    from setveil.parameters.named_itemsets import NamedItemsets

kernels: Any = kernels_module  # without types, since Numba infers them
NOBODY = -1
"""The partner of a record that has none; what an item was marked for that was not marked yet."""


@dataclass(frozen=True)
class Supporters:
    """The records of some data that hold a named itemset, with their numbers in the data, and the named itemsets that each holds."""

    data: Transactions
    numbers: NDArray[np.int64]
    records: Transactions
    held: Held

    def replaced(self, changed: Transactions) -> Transactions:
        """Return the data with these records in place of the supporters."""
        data = self.data
        if need_blocks(data):
            return on_disk(self._parts(changed), data)
        made = chained(list(self._parts(changed)))
        return Transactions.of_parts(made.offsets, made.items, data.vocabulary, ids=data.ids, unit=data.unit)

    def _parts(self, changed: Transactions) -> Iterator[Transactions]:
        for first, last in _ranges(self.data):
            begin, end = np.searchsorted(self.numbers, [first, last])
            rows = np.arange(first, last)
            order = rows - first
            order[self.numbers[begin:end] - first] = len(rows) + np.arange(end - begin)
            parts = self.data.take(rows, ids=None), changed.take(np.arange(begin, end), ids=None)
            yield chained(parts).take(order)


def find_supporters(data: Transactions, itemsets: NamedItemsets) -> Supporters:
    """Find the records that hold a named itemset, and the named itemsets of each in no particular order."""
    starts_and_codes = itemsets.bind(data)
    set_starts, set_items = read_only(starts_and_codes[0]), read_only(starts_and_codes[1])
    v = len(data.vocabulary)
    # Support and code as one number, so that the minimum is the rarest item; no itemset is empty.
    rarest = np.minimum.reduceat(data.supports[set_items] * v + set_items, set_starts[:-1]) % v
    rarest_starts, by_rarest = places_of(rarest, v)
    named = kernels.Named(set_starts, set_items, read_only(rarest_starts), read_only(by_rarest, np.int32))
    numbers, lengths, sets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]

    def find(control: Any) -> None:
        for first, last in _ranges(data):
            starts, held = _held(data, first, last, named, control)
            holds = np.diff(starts)
            numbers.append(first + np.flatnonzero(holds))
            lengths.append(holds[holds > 0])
            sets.append(held)

    run("finding the named itemsets", find, total=data.records)
    found = np.concatenate(numbers)
    starts = offsets_of(np.concatenate(lengths))
    held = kernels.Held(read_only(starts), read_only(np.concatenate(sets)), set_starts, set_items)
    return Supporters(data, found, data.take(found, ids=None), held)


def _held(
    data: Transactions, first: int, last: int, named: Named, control: Any
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where the named itemsets of each record of a range begin, and these."""
    offsets = data.offsets[first : last + 1]
    rows = kernels.Rows(read_only(offsets - offsets[0]), data.items[offsets[0] : offsets[-1]])
    starts = np.zeros(last - first + 1, np.int64)

    def mark() -> NDArray[np.int64]:
        return np.full(len(data.vocabulary), NOBODY, np.int64)

    kernels.find_held(rows, named, mark(), starts, np.empty(0, np.int32), False, control)
    np.cumsum(starts, out=starts)
    sets = np.empty(starts[-1], np.int32)
    kernels.find_held(rows, named, mark(), starts, sets, True, control)
    return starts, sets


def _ranges(data: Transactions) -> Iterator[tuple[int, int]]:
    """Return ranges of records that are worked on at once."""
    return record_ranges(data.offsets, BLOCK, BLOCK)
