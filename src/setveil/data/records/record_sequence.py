"""Records one by one: transactions as a Python sequence of tuples of labels."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from setveil.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_RECORDS_AT_ONCE = 1 << 16
"""Records whose labels are looked up together, which is several times as fast as one by one."""


class RecordSequence:
    """What `Transactions` can do as a sequence: `len(data)`, `data[0]`, `data[-1]`, `data[:100]`, `for record in data`."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    vocabulary: tuple[str, ...]

    def take(self, rows: NDArray[Any]) -> Self:
        """Return the records of these row numbers."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, place: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> Any:
        """Return the labels of one record, or the records of a slice as transactions."""
        try:
            if isinstance(place, slice):
                return self.take(np.arange(*place.indices(len(self))))
            number = operator.index(place)
        except TypeError:
            raise BadParameter(
                f"the place of a record is a {type(place).__name__}; expected a whole number (data[0]) or a slice (data[:10])"
            ) from None
        if not -len(self) <= number < len(self):  # Python's own error, which ends loops
            raise IndexError(f"there is no record {number:,}; the data have {len(self):,} records, counted from 0")
        return tuple(self.record(number % len(self)))

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Give each record as a tuple of labels, in label order."""
        labels = np.array(self.vocabulary, dtype=object)
        for first in range(0, len(self), _RECORDS_AT_ONCE):
            borders = self.offsets[first : first + _RECORDS_AT_ONCE + 1]
            texts = labels[self.items[borders[0] : borders[-1]]].tolist()
            for start, end in pairwise((borders - borders[0]).tolist()):
                yield tuple(texts[start:end])

    def __contains__(self, record: object) -> bool:
        """Tell whether a record holds exactly these items, given as a tuple in label order."""
        if isinstance(record, str):  # it would never be found, which reads as if no record held the item
            raise BadParameter(
                "a text is an item and not a record; ask `item in data.vocabulary`, or for a record as a tuple of items"
            )
        return any(one == record for one in self)

    def record(self, number: int) -> list[str]:
        """Return the labels of one record."""
        return [self.vocabulary[c] for c in self.items[self.offsets[number] : self.offsets[number + 1]]]

    def to_lists(self) -> list[list[str]]:
        """Return the records as lists of labels."""
        return [list(record) for record in self]
