"""Cells: the records that share their group or cluster in each of several releases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import places_of, runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Cells:
    """The records of the same group in each release; only cells with records are numbered."""

    of_record: NDArray[np.int64]
    """The cell of each record."""
    sizes: NDArray[np.int64]
    groups: NDArray[np.int64]
    """The group of each cell in each release: one row per release."""

    @classmethod
    def of(cls, groups_of_records: Sequence[NDArray[np.int64]]) -> Cells:
        """Return the cells; each array holds the group of each record in one release."""
        key = np.zeros(len(groups_of_records[0]), dtype=np.int64)
        for group in groups_of_records:  # renumbered each time, so that the numbers stay small
            key = key * (int(group.max(initial=0)) + 1) + group
            key = np.unique(key, return_inverse=True)[1]
        sizes = np.bincount(key)
        one_of = np.zeros(len(sizes), dtype=np.int64)
        one_of[key] = np.arange(len(key))
        return cls(key, sizes, np.array([group[one_of] for group in groups_of_records]))

    @property
    def number(self) -> int:
        """The number of cells."""
        return len(self.sizes)

    @cached_property
    def records(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The records of each cell, as starts and records."""
        return places_of(self.of_record, self.number)

    @cached_property
    def of_groups(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
        """The cells of each group, as starts and cells; one pair per release."""
        return tuple(places_of(group, int(group.max(initial=0)) + 1) for group in self.groups)

    def among(self, release: int, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cells of these groups of a release."""
        starts, cells = self.of_groups[release]
        return cells[runs(starts[groups], starts[groups + 1] - starts[groups])]

    def records_of(self, cell: int) -> list[int]:
        """Return the records of a cell."""
        starts, records = self.records
        found: list[int] = records[starts[cell] : starts[cell + 1]].tolist()
        return found

    def place(self, cell: int, names: Sequence[str], what: str) -> str:
        """Return the place of a cell, for a witness: `cluster 3 of one and cluster 7 of other`."""
        parts = [f"{what} {group + 1:,} of {name}" for group, name in zip(self.groups[:, cell], names, strict=True)]
        return " and ".join(parts)
