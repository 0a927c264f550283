"""How a count of each group can be divided among its cells: a transport problem, decided by alternating paths from the true division.

An item is in some records of each cell, at most in all of them. The sums over the cells of a group are given, or at least one where the
group does not count the item (a slack group). A change of one cell is possible if paths of further changes restore the sums of its groups.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Group = tuple[int, int]
"""The number of a release, 0 or 1, and of one of its groups."""


@dataclass(eq=False)
class Allocation:
    """The number of records with an item in each cell of two releases, starting with the true number."""

    sizes: Mapping[tuple[int, int], int]
    """The number of records of each cell, by its group in either release; cells that cannot hold the item are not listed."""
    held: dict[tuple[int, int], int]
    """The number of these records that hold the item."""
    slack: frozenset[Group] = frozenset()
    cells_of: dict[Group, list[tuple[int, int]]] = field(init=False)
    steps: int = 0
    """The number of cells visited so far."""

    def __post_init__(self) -> None:
        self.cells_of = defaultdict(list)
        for cell in self.sizes:
            for group in enumerate(cell):
                self.cells_of[group].append(cell)

    def raise_to(self, cell: tuple[int, int], wanted: int) -> bool:
        """Move the item into a cell until `wanted` of its records hold it; return whether that is possible. No group may be slack."""
        while self.held[cell] < wanted:
            path = self._path((1, cell[1]), {(0, cell[0])}, without=cell)
            if path is None:
                return False
            self.held[cell] += 1
            for one, change in path:
                self.held[one] += change
        return True

    def may_gain(self, cell: tuple[int, int]) -> bool:
        """Return False if no division has the item in more records of a cell; with slack groups True does not prove the contrary."""
        if self.held[cell] >= self.sizes[cell]:
            return False
        first, second = enumerate(cell)
        return (
            self._path(second, self.slack | {first}, without=cell) is not None
            and self._path(first, self.slack | {second}, without=cell) is not None
        )

    def _path(
        self, start: Group, ends: set[Group] | frozenset[Group], *, without: tuple[int, int]
    ) -> list[tuple[tuple[int, int], int]] | None:
        """Return changes of cells that undo a gain of the group `start`, ending at a group of `ends`; None if there are none."""
        came: dict[Group, tuple[Group, tuple[int, int], int] | None] = {start: None}
        waiting = deque([start])
        change_of = {start[0]: -1, 1 - start[0]: 1}
        while waiting:
            group = waiting.popleft()
            if group in ends:
                return list(self._back(group, came))
            change = change_of[group[0]]
            for cell in self.cells_of[group]:
                self.steps += 1
                other = (1 - group[0], cell[1 - group[0]])
                if cell != without and other not in came and 0 <= self.held[cell] + change <= self.sizes[cell]:
                    came[other] = (group, cell, change)
                    waiting.append(other)
        return None

    @staticmethod
    def _back(
        group: Group, came: Mapping[Group, tuple[Group, tuple[int, int], int] | None]
    ) -> Iterable[tuple[tuple[int, int], int]]:
        found: list[tuple[tuple[int, int], int]] = []
        step = came[group]
        while step is not None:
            before, cell, change = step
            found.append((cell, change))
            step = came[before]
        return found
