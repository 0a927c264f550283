"""Linking: which row of the joined table belongs to a group of ids, found by a provider without the help of the collector.

The order of the rows reveals nothing. But the provider knows how the groups were made: the owner of each division, the number of groups on
either side, and its own intervals of each group; provider B may also know the counts. Starting with the whole table, it looks for a cut
that divides the rows in this way. If exactly one division fits, it continues on both sides. If several fit, it takes the rows that its own
intervals distinguish. What it finds is correct; a more thorough search may find more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import distinct
from setveil.presence.attack.view import owners

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.presence.protocol import Divided
    from setveil.presence.secure.base import Provider
    from setveil.presence.tables.joined_table import JoinedTable


def linked_rows(
    divided: Divided, role: Provider, table: JoinedTable, counts: NDArray[np.int64] | None = None
) -> dict[int, int]:
    """Return the row of each group that a provider can identify with certainty; `counts` are those of the groups, if it knows them."""
    if table.groups != divided.groups.groups:
        return {}  # identical rows were merged
    return _Search(divided, role, table, counts).found


class _Search:
    """The search of one provider."""

    def __init__(self, divided: Divided, role: Provider, table: JoinedTable, counts: NDArray[np.int64] | None) -> None:
        of_a = len(table.schema.a)
        self._columns = {"a": range(of_a), "b": range(of_a, table.lows.shape[1])}
        self._table = table
        self._owner = owners(divided)
        own = list(self._columns[role])
        of_groups, of_rows = [divided.groups.lows, divided.groups.highs], [table.lows[:, own], table.highs[:, own]]
        if counts is not None:
            of_groups.append(counts.astype(np.int32))
            of_rows.append(table.counts.astype(np.int32))
        marks = np.vstack((np.column_stack(of_groups), np.column_stack(of_rows)))
        looks = np.unique(marks, axis=0, return_inverse=True)[1].reshape(-1)
        self._look_of_group, self._look_of_row = looks[: table.groups], looks[table.groups :]
        ways = [way.decode() for way in divided.ways]
        self._below: dict[str, list[int]] = {}
        for group, way in enumerate(ways):
            for length in range(len(way) + 1):
                self._below.setdefault(way[:length], []).append(group)
        self.found: dict[int, int] = {}
        open_ = [("", np.arange(table.groups))]
        while open_:
            open_ += self._divided(*open_.pop())

    def _divided(self, way: str, rows: NDArray[np.int64]) -> list[tuple[str, NDArray[np.int64]]]:
        """Divide the rows of an inner node, if exactly one division fits."""
        groups = self._below[way]
        if len(groups) == 1:
            self.found[groups[0]] = int(rows[0])
            return []
        fitting = {lower.tobytes(): lower for lower in self._cuts(way, rows) if self._fits(way, rows, lower)}
        if len(fitting) == 1:
            [lower] = fitting.values()
            return [(way + "0", rows[lower]), (way + "1", rows[~lower])]
        by_look = {self._look_of_row[row]: row for row in rows}
        many = np.bincount(self._look_of_row[rows])
        self.found |= {
            group: int(by_look[self._look_of_group[group]]) for group in groups if many[self._look_of_group[group]] == 1
        }
        return []

    def _cuts(self, way: str, rows: NDArray[np.int64]) -> Iterator[NDArray[np.bool_]]:
        """Yield which rows would be in the lower part, for each cut of the owner's attributes that does not split a row."""
        for column in self._columns[self._owner[way]]:
            lows, highs = self._table.lows[rows, column], self._table.highs[rows, column]
            for place in distinct(highs)[:-1]:
                lower = highs <= place
                if np.all(lows[~lower] >= place):
                    yield lower

    def _fits(self, way: str, rows: NDArray[np.int64], lower: NDArray[np.bool_]) -> bool:
        """Return whether the rows of a lower part match its groups, as far as the provider knows them."""
        wanted = np.sort(self._look_of_group[self._below[way + "0"]])
        return np.array_equal(wanted, np.sort(self._look_of_row[rows[lower]]))
