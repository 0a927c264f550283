"""Reading a hierarchy from CSV: one column per level, or one row per node with its parent.

Nodes are identified by their names, as items are. Taxonomies of shops often use a name twice, such as Meat in three departments. Then
`paths=True` names nodes by their paths from the root. It is not the default, because people do not use such names.
"""

from __future__ import annotations

import re
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.arguments import check_arguments, describe
from setveil.base.display import quantity
from setveil.data.files.side_files import read_table, shown
from setveil.data.files.texts import CONTROL, RULE
from setveil.errors import BadData, BadParameter
from setveil.parameters.hierarchy import Hierarchy
from setveil.parameters.makers import items_for, maker_of
from setveil.parameters.tree_numbering import Cycle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from setveil.data.files.side_files import Table
    from setveil.data.records.transactions import Transactions

MAKERS = {
    "balanced:": "hierarchy_files.balanced_from_text",
    "prefix:": "prefixes.hierarchy_from_text",
    "icd10cm": "icd10cm.hierarchy_from_text",
}
"""Texts that describe a hierarchy in place of a file; see `makers`."""
_BALANCED = re.compile(r"balanced:([0-9]{1,9})", re.ASCII)
_control = re.compile(CONTROL).search


@check_arguments
def read_hierarchy(
    source: str | Path,
    *,
    levels: str | Sequence[str] | None = None,
    paths: bool = False,
    data: Transactions | None = None,
) -> Hierarchy:
    """Read a hierarchy from a CSV file with a header, or from a sample.

    A file with the header `item,parent` has one row per node with its parent. Any other file has the column `item` and one column per
    level. A repeated line counts once.

    Parameters
    ----------
    source : str or Path
        A CSV file, also compressed (`.gz`, `.zst`), `sample:NAME`, `prefix:LENGTHS` such as `prefix:1,3,4,5` for the first characters of
        codes, `icd10cm` for diagnosis codes, or `balanced:FANOUT` for a balanced tree over the items of the data.
    levels : str or sequence of str, optional
        The columns to use, from the most specific to the most general level: a list, or one text with commas. Default: all, in their order.
    paths : bool, default: False
        Name inner nodes by their path from the root, such as `Food/Deli/Meat`, with a slash inside a name doubled.
    data : Transactions, optional
        The data whose items are the leaves; required for `prefix:`, `icd10cm` and `balanced:`.

    Returns
    -------
    Hierarchy
        The tree.

    Raises
    ------
    BadData
        If the file is not a tree or is invalid; the message names the line.
    BadParameter
        If `levels` holds something other than texts, a text such as `prefix:...` is malformed, or `data` is missing for it.
    Missing
        If the tables of ICD-10-CM are not installed.

    Examples
    --------
    >>> import setveil as sv
    >>> tree = sv.read_hierarchy("sample:supermarket", levels="department")
    >>> tree.height
    2
    """
    text = str(source)
    if make := maker_of(text, MAKERS):
        made: Hierarchy = make(text, data=data, levels=levels, paths=paths)
        return made
    table = read_table(text)
    if table.is_parents and (levels is not None or paths):
        given = "`paths=True`" if levels is None else "`levels=`"
        raise BadData(f"is an item,parent file, which has no levels; omit {given}", file=table.file, line=1)
    with progress.step("building the hierarchy"):
        return from_parents(table) if table.is_parents else from_levels(table, levels, paths=paths)


def balanced_from_text(text: str, *, data: Transactions | None, **_given: Any) -> Hierarchy:
    """Build a balanced tree over the items of the data, as `balanced:FANOUT` says."""
    asked = _BALANCED.fullmatch(text)
    if asked is None:
        raise BadParameter(f"{text!r} is not of the form balanced:FANOUT, such as balanced:5")
    return Hierarchy.balanced(items_for(text, data), int(asked[1]))


def from_parents(table: Table) -> Hierarchy:
    """Build a hierarchy from rows with a node and its parent."""
    item_at, parent_at = table.columns.index("item"), table.columns.index("parent")
    parent_of: dict[str, str] = {}
    lines: list[int] = []
    repeated = 0
    for number, row in table.rows:
        node, parent = row[item_at], row[parent_at]
        if not node or not parent:
            problem = "an item or its parent is empty; a node without a parent needs no line of its own"
            raise BadData(problem, file=table.file, line=number)
        if node == parent:
            raise BadData(
                f"{shown(node)} is its own parent; expected another node as its parent", file=table.file, line=number
            )
        known = parent_of.get(node)
        if known is None:
            if _control(node) or _control(parent):
                raise BadData("an item or its parent holds a control character", file=table.file, line=number)
            parent_of[node] = parent
            lines.append(number)
        elif known == parent:
            repeated += 1
        else:
            problem = f"{shown(node)} has two parents, {shown(parent)} here and {shown(known)} on an earlier line"
            raise BadData(f"{problem}; keep one of them", file=table.file, line=number)
    try:
        return _build(parent_of, repeated, table.file)
    except Cycle as cycle:
        line_of = dict(zip(parent_of, lines, strict=True))
        raise Cycle(cycle.nodes, file=table.file, line=line_of[cycle.nodes[0]]) from None


def from_levels(table: Table, levels: str | Sequence[str] | None, *, paths: bool) -> Hierarchy:
    """Build a hierarchy from rows with an item and one name per level."""
    chosen = [name.strip() for name in levels.split(",")] if isinstance(levels, str) else levels
    rows = _LevelRows(table, table.levels if chosen is None else list(chosen), paths=paths)
    at, item_at = table.places(rows.levels), table.columns.index("item")
    pick = itemgetter(at[0], *at)  # the first place twice, so that the result is a tuple even for one level
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
            rows.refuse_bad_item(item, number)
            of_item[item] = node
            rows.higher += not groups[0]
        elif of_item[item] == node:
            repeated += 1
        else:
            problem = f"the item {shown(item)} has two parents, {shown(node)} here and {shown(of_item[item])} on an earlier line"
            raise BadData(f"{problem}; keep one of them", file=table.file, line=number)
    if rows.higher:
        progress.note(
            f"{quantity(rows.higher, 'item')} without a {shown(rows.levels[0])} placed directly below a more general level"
        )
    return _build(rows.parent_of | rows.of_item, repeated, table.file)


def _build(parent_of: dict[str, str], repeated: int, file: str) -> Hierarchy:
    if not parent_of:
        raise BadData("holds no items; expected one line per item", file=file)
    if repeated:
        progress.note(f"{file}: {quantity(repeated, 'repeated line')} counted once")
    return Hierarchy(parent_of)


class _LevelRows:
    """The nodes and items read so far from a file with one column per level; refuses rows that contradict them."""

    def __init__(self, table: Table, levels: list[str], *, paths: bool) -> None:
        self.file = table.file
        self.levels = levels
        self.paths = paths
        self.of_item: dict[str, str] = {}
        self.higher = 0
        """The number of items without a name on the most specific level."""
        self.parent_of: dict[str, str] = {}
        self.level_of: dict[str, int] = {}
        if not levels:
            raise BadData("no level was given; name at least one with `levels=`", file=self.file, line=1)
        if other := [level for level in levels if not isinstance(level, str)]:
            raise BadParameter(
                f"levels holds a level that is {describe(other[0])}; expected names of columns, as texts"
            )
        name, times = Counter(levels).most_common(1)[0]
        if times > 1:
            raise BadData(
                f"the level {shown(name)} was given {times} times; give each level once", file=self.file, line=1
            )

    def refuse_bad_item(self, item: str, line: int) -> None:
        if not item or _control(item):
            raise BadData(f"the item {RULE}", file=self.file, line=line)
        if item in self.level_of:
            raise self._item_and_node(item, line)

    def node(self, groups: Sequence[str], line: int) -> str:
        """Add the named levels of a row to the tree; return the node of the most specific one."""
        first = next((level for level, name in enumerate(groups) if name), None)
        if first is None:
            raise BadData(
                f"has no name on any level; expected at least one in {shown(self.levels[-1])}",
                file=self.file,
                line=line,
            )
        parent = None
        for level in range(len(groups) - 1, first - 1, -1):
            name = groups[level]
            if not name:
                gap = f"the level {shown(self.levels[level])} is empty, but the more specific {shown(self.levels[first])} is not"
                raise BadData(f"{gap}; expected a name", file=self.file, line=line)
            if _control(name):
                raise BadData(
                    f"the level {shown(self.levels[level])} holds a control character", file=self.file, line=line
                )
            if self.paths:
                escaped = name.replace("/", "//")  # distinguishes a slash in a name from one in the path
                name = escaped if parent is None else f"{parent}/{escaped}"
            self._add(name, level, parent, line)
            parent = name
        return str(parent)

    def _add(self, name: str, level: int, parent: str | None, line: int) -> None:
        known = self.level_of.setdefault(name, level)
        if known != level:
            both = f"{shown(self.levels[min(known, level)])} and {shown(self.levels[max(known, level)])}"
            raise BadData(f"{shown(name)} is on two levels, {both}; {self._remedy()}", file=self.file, line=line)
        if name in self.of_item:
            raise self._item_and_node(name, line)
        if parent is not None and (before := self.parent_of.setdefault(name, parent)) != parent:
            problem = f"{shown(name)} of the level {shown(self.levels[level])} has two parents, {shown(parent)} here"
            problem += f" and {shown(before)} on an earlier line"
            raise BadData(f"{problem}; {self._remedy()}", file=self.file, line=line)

    def _item_and_node(self, name: str, line: int) -> BadData:
        level = self.level_of[name]
        # The path of a node directly below the root is its name alone.
        remedy = "rename one of them" if level == len(self.levels) - 1 else self._remedy()
        problem = f"{shown(name)} is both an item and a node of the level {shown(self.levels[level])}; {remedy}"
        return BadData(problem, file=self.file, line=line)

    def _remedy(self) -> str:
        return (
            "rename one of them"
            if self.paths
            else "distinguish nodes by their paths with `paths=True`, or select other levels with `levels=`"
        )
