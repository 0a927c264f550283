"""Sort records that may be larger than memory, by content or by id.

The keys of a sample of records divide all keys into ranges. The records of a range are a group, and each group is sorted in memory. The
sample affects the sizes of the groups only, never the order of the records.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base import progress
from setveil.data.records.in_blocks import as_block, as_records, gathered
from setveil.data.records.ragged import (
    BLOCK,
    changes,
    offsets_of,
    order_of_sequences,
    ranks_of_sequences,
    record_ranges,
)
from setveil.data.records.transactions import Transactions
from setveil.engines.blocks import current_engine
from setveil.engines.growing import GrowingArray, GrowingTexts
from setveil.engines.local import LocalEngine
from setveil.engines.scratch import refuse_unless_free
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from setveil.engines.blocks import BlockKey, CountWork

SAMPLED = 64
"""The number of records in the sample per group: almost no group has more than one and a half times as many records as planned."""
MOST_RECORDS = 1 << 18
"""The largest number of records that are divided at once. The more there are, the more memory is needed."""
_ORIGIN, _ID, _ORIGINAL_ID = "origin", "id", "original_id"


class Sorted(NamedTuple):
    """Sorted records and where they come from; the arrays are on disk."""

    records: Transactions
    origins: NDArray[np.int64]
    """The original record of each record."""
    original_ids: Any = None


def sorted_by_content(data: Transactions, origins: NDArray[np.int64]) -> Sorted:
    """Return records without ids in the order of `content_order`; `origins` are their original records."""
    blocks = len(_engine().borders(data.records)) - 1
    sample = data.take(_sampled(data, blocks))
    sample = sample.take(sample.content_order())
    ranges = _Ranges.of(ranks_of_sequences(sample.offsets, sample.items), blocks, share=True)
    to = partial(_groups_by_content, ranges, sample.take(ranges.splitters))
    found = {_ORIGIN: GrowingArray(np.int64)}
    records = _sorted(data, lambda rows: {_ORIGIN: origins[rows]}, (to, ranges.groups, _order_by_content), found)
    return Sorted(records, found[_ORIGIN].finish())


def sorted_by_id(
    data: Transactions,
    origins: NDArray[np.int64],
    ids_of: Callable[[NDArray[np.int64]], Any],
    original_ids_of: Callable[[NDArray[np.int64]], Any],
) -> Sorted:
    """Return records in the order of the ids that `ids_of` returns for row numbers, with these ids; refuse equal ids.

    `original_ids_of` returns the ids of original records.
    """
    blocks = len(_engine().borders(data.records)) - 1
    sample = ids_of(_sampled(data, blocks))
    sample = sample.take(pc.array_sort_indices(sample))
    ranges = _Ranges.of(_ranks(sample), blocks, share=False)  # equal ids must meet in a group
    to = partial(_groups_by_id, ranges, sample.take(pa.array(ranges.splitters)))

    def columns(rows: NDArray[np.int64]) -> dict[str, Any]:
        return {_ORIGIN: origins[rows], _ID: ids_of(rows), _ORIGINAL_ID: original_ids_of(origins[rows])}

    found: dict[str, Any] = {_ORIGIN: GrowingArray(np.int64), _ID: GrowingTexts(), _ORIGINAL_ID: GrowingTexts()}
    plain = _sorted(data, columns, (to, ranges.groups, _order_by_id), found)
    records = Transactions.of_parts(
        plain.offsets, plain.items, plain.vocabulary, ids=found[_ID].finish(), unit=plain.unit
    )
    return Sorted(records, found[_ORIGIN].finish(), found[_ORIGINAL_ID].finish())


def refuse_equal_ids(rising: Any) -> None:
    """Refuse sorted ids of which two are equal."""
    if pc.any(pc.equal(rising[1:], rising[:-1])).as_py():
        raise BadData("two records have the same id; give each record its own id")


# -- groups -----------------------------------------------------------------------------------------------------------------------


class _Ranges(NamedTuple):
    """How records are divided into groups by their keys."""

    splitters: NDArray[np.int64]
    """The places of the splitters in the sorted sample. Keys from splitter j - 1 to before splitter j are range j."""
    starts: NDArray[np.int64]
    """The group of each range."""
    shares: NDArray[np.int64]
    """How many groups before range j + 1 divide the records that are equal to splitter j; 0 if they are in that range themselves."""
    blocks: int

    @classmethod
    def of(cls, ranks: NDArray[np.int64], blocks: int, *, share: bool) -> _Ranges:
        """Divide a sorted sample with these ranks into about as many groups as there are blocks.

        A key that is several splitters is very frequent. If `share` allows it, its records are divided by their blocks, which are in order.
        """
        places = np.arange(1, blocks) * len(ranks) // blocks
        is_new = changes(ranks[places])
        times = np.diff(np.append(np.flatnonzero(is_new), len(places)))
        shares = np.where(times > 1, times + 1, 0) if share else np.zeros_like(times)
        return cls(places[is_new], offsets_of(shares + 1), shares, blocks)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.starts[-1]) + 1

    def groups_of(self, ranks: NDArray[np.int64], key: BlockKey) -> NDArray[np.int64]:
        """Return the group of each record of a block; `ranks` are those of the splitters and of the records."""
        own, rank = np.split(ranks, [len(self.splitters)])
        place = np.searchsorted(own, rank, side="right")
        groups = self.starts[place]
        before = np.append(0, self.shares)[place]
        equal = np.append(-1, own)[place] == rank
        return np.where(equal, groups - before + key.number * before // self.blocks, groups)


def _groups_by_content(ranges: _Ranges, splitters: Transactions, block: Any, key: BlockKey) -> NDArray[np.int64]:
    records = as_records(block, splitters.vocabulary)
    groups = np.empty(records.records, np.int64)
    for first, last in record_ranges(records.offsets, BLOCK, BLOCK):
        borders = records.offsets[first : last + 1]
        offsets = np.append(splitters.offsets, borders[1:] + (splitters.occurrences - borders[0]))
        items = np.append(splitters.items, records.items[borders[0] : borders[-1]])
        groups[first:last] = ranges.groups_of(ranks_of_sequences(offsets, items), key)
    return groups


def _groups_by_id(ranges: _Ranges, splitters: Any, block: Any, key: BlockKey) -> NDArray[np.int64]:
    return ranges.groups_of(_ranks(pa.concat_arrays([splitters, block.column(_ID)])), key)


def _ranks(texts: Any) -> NDArray[np.int64]:
    """Return the rank of each text; equal texts have the same."""
    return np.asarray(pc.rank(texts, sort_keys="ascending", tiebreaker="dense"), dtype=np.int64)


# -- sorting ----------------------------------------------------------------------------------------------------------------------


def _engine() -> LocalEngine:
    """Return this machine, where the data are; their order depends on no engine."""
    return LocalEngine(min(current_engine().block_records, MOST_RECORDS))


def _sampled(data: Transactions, groups: int) -> NDArray[np.int64]:
    """Return row numbers at even distances."""
    size = min(SAMPLED * groups, data.records)
    return np.arange(size) * data.records // size


def _sorted(
    data: Transactions,
    columns: Callable[[NDArray[np.int64]], dict[str, Any]],
    by: tuple[CountWork, int, Callable[[Any], Any]],
    found: dict[str, Any],
) -> Transactions:
    """Return sorted records without ids, and append their columns to `found`; `columns` returns those of row numbers.

    `by` are the group of each record, the number of groups, and the order within a group.
    """
    size = data.offsets.nbytes + data.items.nbytes + data.records * 32 * len(found)
    refuse_unless_free(2 * size, f"sorting {data.records:,} records")
    borders = _engine().borders(data.records)
    to, groups, order_of = by

    def read(key: BlockKey) -> Any:
        first, last = borders[key.number : key.number + 2].tolist()
        return as_block(data, first, last, **columns(np.arange(first, last)))

    blocks = _engine().blocks(read, np.diff(borders))
    divided = blocks.regroup("dividing the records by their order", to, groups)

    def in_order() -> Iterator[Any]:
        with progress.step("sorting the records", data.records) as advance:
            done = 0
            for block in divided:
                done += len(block)
                rising = block.take(order_of(block))
                for name, column in found.items():
                    column.append(rising.column(name))
                yield rising
                advance(done)

    return gathered(in_order(), data.with_ids(None))


def _order_by_content(block: Any) -> Any:
    records = as_records(block, ())
    return pa.array(order_of_sequences(records.offsets, records.items))


def _order_by_id(block: Any) -> Any:
    ids = block.column(_ID)
    order = pc.array_sort_indices(ids)
    refuse_equal_ids(ids.take(order))
    return order
