"""Transactions as a Python sequence of records, which are tuples of labels."""

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
"""The number of records whose labels are looked up together, which is several times faster than one by one."""


class RecordSequence:
    """The sequence methods of `Transactions`: `len(data)`, `data[0]`, `data[-1]`, `data[:100]`, `for record in data`."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    vocabulary: tuple[str, ...]

    def take(self, rows: NDArray[Any]) -> Self:
        """Return the records with these row numbers."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, place: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> Any:
        """Return one record as a tuple of labels, or the records of a slice as transactions."""
        try:
            if isinstance(place, slice):
                return self.take(np.arange(*place.indices(len(self))))
            number = operator.index(place)
        except TypeError:
            raise BadParameter(
                f"the index of a record is a {type(place).__name__}; expected a whole number (data[0]) or a slice (data[:10])"
            ) from None
        if not -len(self) <= number < len(self):  # Python's own error, which ends iteration
            raise IndexError(f"there is no record {number:,}; the data have {len(self):,} records, counted from 0")
        return tuple(self.record(number % len(self)))

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Yield each record as a tuple of labels in label order."""
        labels = np.array(self.vocabulary, dtype=object)
        for first in range(0, len(self), _RECORDS_AT_ONCE):
            borders = self.offsets[first : first + _RECORDS_AT_ONCE + 1]
            texts = labels[self.items[borders[0] : borders[-1]]].tolist()
            for start, end in pairwise((borders - borders[0]).tolist()):
                yield tuple(texts[start:end])

    def __contains__(self, record: object) -> bool:
        """Return whether a record has exactly these items, given as a tuple in label order."""
        if isinstance(record, str):  # the answer would be False, as if no record held the item
            raise BadParameter(
                "a text is an item, not a record; use `item in data.vocabulary`, or give a record as a tuple of items"
            )
        return any(one == record for one in self)

    def record(self, number: int) -> list[str]:
        """Return the labels of one record."""
        return [self.vocabulary[c] for c in self.items[self.offsets[number] : self.offsets[number + 1]]]

    def to_lists(self) -> list[list[str]]:
        """Return the records as lists of labels."""
        return [list(record) for record in self]
