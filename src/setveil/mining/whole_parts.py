"""What somebody learns of chosen items who knows all the other items of a record, and that there are no more of them.

Records with exactly the same other items are one group; counted is how many of a group hold each chosen item. Linear, but for sorting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import owner_of
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class WholeParts:
    """The pairs (other items of a record, chosen item beside them) of some data, each once."""

    parts: Transactions
    """Each set of other items once, the empty one among them where a record holds no other item."""
    sizes: NDArray[np.int64]
    """For each part how many records have exactly these other items."""
    part_of: NDArray[np.int64]
    """For each record the number of its part."""
    part: NDArray[np.int64]
    """For each pair the number of its part."""
    item: NDArray[np.int64]
    """For each pair the code of the chosen item."""
    held: NDArray[np.int64]
    """For each pair how many records of the part hold the item."""

    @property
    def has_empty_part(self) -> NDArray[np.bool_]:
        """Tell for each pair whether no other item stands beside the chosen one."""
        is_empty: NDArray[np.bool_] = self.parts.lengths == 0
        return is_empty[self.part]


def whole_parts(data: Transactions, is_chosen: NDArray[np.bool_]) -> WholeParts:
    """Group the records by the items that are not chosen."""
    parts, sizes, part_of = without_items(data, is_chosen).distinct()
    place = np.flatnonzero(is_chosen[data.items])
    width = max(len(data.vocabulary), 1)
    keys = part_of[owner_of(data.offsets)[place]] * width + data.items[place]
    pairs, held = np.unique(keys, return_counts=True)
    return WholeParts(parts, sizes, part_of, pairs // width, pairs % width, held)


def without_items(data: Transactions, is_left_out: NDArray[np.bool_]) -> Transactions:
    """Return the records without some items; every record stays, also if nothing is left of it."""
    return data.keeping(~is_left_out[data.items])
