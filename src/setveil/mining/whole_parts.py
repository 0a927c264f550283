"""What all other items of a record reveal about chosen items, to an attacker who knows that there are no further other items.

Records with exactly the same other items form a group, and the records of a group that hold each chosen item are counted. The cost is
linear, except for sorting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import records_of
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def without_items(data: Transactions, is_removed: NDArray[np.bool_]) -> Transactions:
    """Return the records without some items; records that become empty are kept."""
    return data.keeping(~is_removed[data.items])
