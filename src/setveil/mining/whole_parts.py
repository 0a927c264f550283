"""What all other items of a record reveal about chosen items, to an attacker who knows that there are no further other items.

Records with exactly the same other items form a group, and the records of a group that hold each chosen item are counted. The cost is
linear, except for sorting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.in_blocks import ITEMS, as_records, in_blocks, need_blocks, on_disk
from setveil.data.records.ragged import records_of
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.engines.blocks import BlockKey


@dataclass(frozen=True, eq=False)
class WholeParts:
    """The distinct pairs (all other items of a record, chosen item of the record) of a data set."""

    parts: Transactions
    """The distinct sets of other items, including the empty set if a record holds no other item."""
    sizes: NDArray[np.int64]
    """For each part: the number of records with exactly these other items."""
    part_of: NDArray[np.int64]
    """For each record: the number of its part."""
    part: NDArray[np.int64]
    """For each pair: the number of its part."""
    item: NDArray[np.int64]
    """For each pair: the code of the chosen item."""
    held: NDArray[np.int64]
    """For each pair: the number of records of the part that hold the item."""

    @property
    def has_empty_part(self) -> NDArray[np.bool_]:
        """For each pair: whether the set of other items is empty."""
        is_empty: NDArray[np.bool_] = self.parts.lengths == 0
        return is_empty[self.part]


def whole_parts(data: Transactions, is_chosen: NDArray[np.bool_]) -> WholeParts:
    """Group the records by the items that are not chosen."""
    parts, sizes, part_of = without_items(data, is_chosen).distinct()
    place = np.flatnonzero(is_chosen[data.items])
    width = max(len(data.vocabulary), 1)
    keys = part_of[records_of(place, data.offsets)] * width + data.items[place]
    pairs, held = np.unique(keys, return_counts=True)
    return WholeParts(parts, sizes, part_of, pairs // width, pairs % width, held)


def groups_of_equal_rest(data: Transactions, is_chosen: NDArray[np.bool_]) -> Iterator[Transactions]:
    """Divide the records into groups, so that records with the same items that are not chosen are in the same group.

    Data of one block are one group.
    """
    if not need_blocks(data):
        yield data
        return
    mixed = (np.arange(1, len(is_chosen) + 1, dtype=np.uint64) * _MIXING) ** np.uint64(3)
    mixed[is_chosen] = 0
    blocks = in_blocks(data)
    for block in blocks.regroup("grouping the records", partial(_group_of, mixed, len(blocks)), len(blocks)):
        yield as_records(block, data.vocabulary)


_MIXING = np.uint64(0x9E3779B97F4A7C15)


def _group_of(mixed: NDArray[np.uint64], groups: int, block: Any, key: BlockKey) -> NDArray[np.int64]:
    """Return a group for each record, by the sum of the words of its items."""
    del key
    lists = block.column(ITEMS)
    offsets = lists.offsets.to_numpy()
    sums = np.concatenate(([np.uint64(0)], np.cumsum(mixed[lists.values.to_numpy()[offsets[0] : offsets[-1]]])))
    words = np.diff(sums[offsets - offsets[0]]) * _MIXING
    group: NDArray[np.int64] = (words >> np.uint64(33)).astype(np.int64) % groups
    return group


def without_items(data: Transactions, is_removed: NDArray[np.bool_]) -> Transactions:
    """Return the records without some items; records that become empty are kept."""
    if not need_blocks(data):
        return data.keeping(~is_removed[data.items])
    parts = (as_records(block, data.vocabulary) for block in in_blocks(data))
    return on_disk((part.keeping(~is_removed[part.items]) for part in parts), data)
