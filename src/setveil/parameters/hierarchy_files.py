"""Reading a hierarchy from CSV: one column a level, or a row a node and its parent.

Nodes are told apart by their names, as items are. A taxonomy of a shop often uses a name twice, such as Meat in three departments; then
nodes are named by their paths from the top on, and only then, since a path is a name that nobody uses.
"""

from __future__ import annotations

import re
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING

from setveil.base import progress
from setveil.base.arguments import check_arguments, describe
from setveil.data.files.side_files import read_table, shown
from setveil.data.files.texts import CONTROL, RULE
from setveil.errors import BadData, BadParameter
from setveil.parameters.hierarchy import Hierarchy
from setveil.parameters.tree_numbering import Cycle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from setveil.data.files.side_files import Table

_control = re.compile(CONTROL).search


@check_arguments
def read_hierarchy(source: str | Path, *, levels: str | Sequence[str] | None = None, paths: bool = False) -> Hierarchy:
    """Read a hierarchy from a CSV file with a header (gz too), or take that of `sample:NAME`.

    A header of exactly `item,parent` means a row a node and its parent. Every other has `item` and one column a level, from the most
    specific to the most general: `levels` picks and orders them (names, or one text with commas), and `paths` names inner nodes by their
    path from the top, such as Food/Deli/Meat, with a slash inside a name doubled. A repeated line counts once.
    """
    table = read_table(str(source))
    if table.is_parents and (levels is not None or paths):
        given = "`paths=True`" if levels is None else "`levels=`"
        raise BadData(f"is an item,parent file, which has no levels; leave {given} out", file=table.file, line=1)
    with progress.step("laying out the hierarchy"):
        return from_parents(table) if table.is_parents else from_levels(table, levels, paths=paths)


def from_parents(table: Table) -> Hierarchy:
    """Make a hierarchy of rows that hold a node and its parent."""
    item_at, parent_at = table.columns.index("item"), table.columns.index("parent")
    parent_of: dict[str, str] = {}
    lines: list[int] = []
    repeated = 0
    for number, row in table.rows:
        node, parent = row[item_at], row[parent_at]
        if not node or not parent:
            problem = "an item or its parent is empty; a node at the top needs no line of its own"
            raise BadData(problem, file=table.file, line=number)
        if node == parent:
            raise BadData(f"{shown(node)} is its own parent; expected another node", file=table.file, line=number)
        known = parent_of.get(node)
        if known is None:
            if _control(node) or _control(parent):
                raise BadData("an item or its parent holds a control character", file=table.file, line=number)
            parent_of[node] = parent
            lines.append(number)
        elif known == parent:
            repeated += 1
        else:
            problem = f"{shown(node)} stands under {shown(parent)} and, before, under {shown(known)}"
            raise BadData(f"{problem}; a node has one parent", file=table.file, line=number)
    try:
        return _made(parent_of, repeated, table.file)
    except Cycle as cycle:
        line_of = dict(zip(parent_of, lines, strict=True))
        raise Cycle(cycle.nodes, file=table.file, line=line_of[cycle.nodes[0]]) from None


def from_levels(table: Table, levels: str | Sequence[str] | None, *, paths: bool) -> Hierarchy:
    """Make a hierarchy of rows that hold an item and a name a level."""
    chosen = [name.strip() for name in levels.split(",")] if isinstance(levels, str) else levels
    rows = _LevelRows(table, table.levels if chosen is None else list(chosen), paths=paths)
    at, item_at = table.places(rows.levels), table.columns.index("item")
    pick = itemgetter(at[0], *at)  # one place twice, so that it is a tuple of one level too
    of_item = rows.of_item
    node_of: dict[tuple[str, ...], str] = {}
    repeated = 0
    for number, row in table.rows:
        groups = pick(row)
        node = node_of.get(groups)
        if node is None:
            node = node_of[groups] = rows.node(groups[1:], number)
        item = row[item_at]
        if item not in of_item:
            rows.check_new_item(item, number)
            of_item[item] = node
            rows.higher += not groups[0]
        elif of_item[item] == node:
            repeated += 1
        else:
            problem = f"the item {shown(item)} stands under {shown(node)} and, before, under {shown(of_item[item])}"
            raise BadData(f"{problem}; an item stands in one place", file=table.file, line=number)
    if rows.higher:
        progress.note(
            f"{rows.higher:,} items have no {shown(rows.levels[0])} and stand right below a more general level"
        )
    return _made(rows.parent_of | rows.of_item, repeated, table.file)


def _made(parent_of: dict[str, str], repeated: int, file: str) -> Hierarchy:
    if not parent_of:
        raise BadData("holds no items; expected a line for each", file=file)
    if repeated:
        progress.note(f"{repeated:,} repeated lines of {file} count once")
    return Hierarchy(parent_of)


class _LevelRows:
    """What was read so far of a file with one column a level, and what must not follow."""

    def __init__(self, table: Table, levels: list[str], *, paths: bool) -> None:
        self.file = table.file
        self.levels = levels
        self.paths = paths
        self.of_item: dict[str, str] = {}
        self.higher = 0
        """How many items have no name on the most specific level."""
        self.parent_of: dict[str, str] = {}
        self.level_of: dict[str, int] = {}
        if not levels:
            raise BadData("no level was named; name at least one with `levels=`", file=self.file, line=1)
        if other := [level for level in levels if not isinstance(level, str)]:
            raise BadParameter(
                f"levels holds a level that is {describe(other[0])}; expected names of columns, as texts"
            )
        name, times = Counter(levels).most_common(1)[0]
        if times > 1:
            raise BadData(
                f"the level {shown(name)} was named {times} times; each may stand once", file=self.file, line=1
            )

    def check_new_item(self, item: str, line: int) -> None:
        if not item or _control(item):
            raise BadData(f"the item {RULE}", file=self.file, line=line)
        if item in self.level_of:
            raise self._item_and_node(item, line)

    def node(self, groups: Sequence[str], line: int) -> str:
        """Return the node of the most specific level that has a name, after adding it and those above it to the tree."""
        first = next((level for level, name in enumerate(groups) if name), None)
        if first is None:
            raise BadData(
                f"has no name on any level; expected one at least in {shown(self.levels[-1])}",
                file=self.file,
                line=line,
            )
        parent = None
        for level in range(len(groups) - 1, first - 1, -1):
            name = groups[level]
            if not name:
                gap = f"the level {shown(self.levels[level])} is empty, though {shown(self.levels[first])} below it is not"
                raise BadData(f"{gap}; expected a name", file=self.file, line=line)
            if _control(name):
                raise BadData(
                    f"the level {shown(self.levels[level])} holds a control character", file=self.file, line=line
                )
            if self.paths:
                escaped = name.replace("/", "//")  # so that a slash of a name is none of the path
                name = escaped if parent is None else f"{parent}/{escaped}"
            self._add(name, level, parent, line)
            parent = name
        return str(parent)

    def _add(self, name: str, level: int, parent: str | None, line: int) -> None:
        known = self.level_of.setdefault(name, level)
        if known != level:
            both = f"{shown(self.levels[min(known, level)])} and {shown(self.levels[max(known, level)])}"
            raise BadData(f"{shown(name)} stands on the levels {both}; {self._way_out()}", file=self.file, line=line)
        if name in self.of_item:
            raise self._item_and_node(name, line)
        if parent is not None and (before := self.parent_of.setdefault(name, parent)) != parent:
            problem = f"{shown(name)} of the level {shown(self.levels[level])} stands under {shown(parent)}"
            problem += f" and, before, under {shown(before)}"
            raise BadData(f"{problem}; {self._way_out()}", file=self.file, line=line)

    def _item_and_node(self, name: str, line: int) -> BadData:
        level = self.level_of[name]
        # The path of a node at the top is its name alone.
        way_out = "rename one of them" if level == len(self.levels) - 1 else self._way_out()
        problem = f"{shown(name)} is an item and stands on the level {shown(self.levels[level])}; {way_out}"
        return BadData(problem, file=self.file, line=line)

    def _way_out(self) -> str:
        return (
            "rename one of them"
            if self.paths
            else "tell nodes apart by their paths with `paths=True`, or pick others with `levels=`"
        )
