"""Records in blocks of the current engine, and back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.base import progress
from setveil.data.records.ragged import offsets_of
from setveil.data.records.transactions import Transactions
from setveil.engines.blocks import current_engine
from setveil.engines.growing import GrowingArray, scratch_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setveil.engines.blocks import BlockKey, Blocks

ITEMS = "items"
"""The column of a block that holds the codes of the items of each record."""
ROW = "row"
"""The column of a block that holds the number of each record in the data."""


def need_blocks(data: Any) -> bool:
    """Return whether data have more records than one block of the current engine."""
    return bool(data.records > current_engine().block_records)


def room_for(data: Any, length: int, dtype: Any) -> Any:
    """Return a writable array of zeros for work on these data: on disk if they have more records than one block."""
    return scratch_array(length, dtype) if need_blocks(data) else np.zeros(length, dtype)


def in_blocks(data: Transactions, *, numbered: bool = False, at_most: int | None = None) -> Blocks:
    """Return the records, without their ids, in blocks of the current engine; `numbered` adds the column `ROW`.

    Work whose result does not depend on the blocks may ask for smaller ones, of `at_most` records.
    """
    engine = current_engine()
    borders = engine.borders(data.records, at_most)
    return engine.blocks(partial(_block_of, data, borders, numbered), np.diff(borders))


def _block_of(data: Transactions, borders: Any, numbered: bool, key: BlockKey) -> Any:
    first, last = borders[key.number : key.number + 2]
    return as_block(data, first, last, **({ROW: np.arange(first, last)} if numbered else {}))


def as_block(data: Transactions, first: int = 0, last: int | None = None, **columns: Any) -> Any:
    """Return records as a block, without a copy; `columns` are further columns."""
    last = data.records if last is None else last
    borders = pa.array(data.offsets[first : last + 1])
    lists = pa.LargeListArray.from_arrays(borders, pa.array(data.items))
    return pa.record_batch({ITEMS: lists, **columns})


def as_records(block: Any, vocabulary: tuple[str, ...], *, ids: Any = None, unit: Any = "record") -> Transactions:
    """Return the records of a block, without a copy of their items."""
    lists = block.column(ITEMS)
    offsets = lists.offsets.to_numpy()
    items = lists.values.to_numpy()[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0] if offsets[0] else offsets
    return Transactions.of_parts(offsets, items, vocabulary, ids=ids, unit=unit)


def gathered(blocks: Iterable[Any], like: Transactions) -> Transactions:
    """Return the records of all blocks, over the vocabulary of other records and with their ids; the arrays are on disk."""
    return on_disk((as_records(block, like.vocabulary) for block in blocks), like)


def on_disk(parts: Iterable[Transactions], like: Transactions) -> Transactions:
    """Return the records of all parts, over the vocabulary of other records and with their ids; the arrays are on disk."""
    offsets, items = GrowingArray(np.int64), GrowingArray(np.int32)
    offsets.append(np.zeros(1, np.int64))
    with progress.step("storing records", like.records) as advance:
        for part in parts:
            offsets.append(part.offsets[1:] + len(items))
            items.append(part.items)
            advance(len(offsets) - 1)
    return Transactions.of_parts(offsets.finish(), items.finish(), like.vocabulary, ids=like.ids, unit=like.unit)


def chained(parts: Sequence[Transactions]) -> Transactions:
    """Return the records of parts over one vocabulary, one part after the other, in memory and without ids."""
    offsets = offsets_of(np.concatenate([part.lengths for part in parts]))
    items = np.concatenate([part.items for part in parts])
    return Transactions.of_parts(offsets, items, parts[0].vocabulary, ids=None, unit=parts[0].unit)
