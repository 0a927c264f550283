"""Reading a hierarchy from a table: one column per level, one row per node with its parent, or a column of paths.

Nodes are identified by their names, as items are. Taxonomies of shops often use a name twice, such as Meat in three departments. Then
`paths=True` names nodes by their paths from the root. It is not the default, because people do not use such names.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.arguments import check_arguments, describe
from setveil.base.display import quantity
from setveil.data.files.side_files import first_unusable, shown, side_file
from setveil.data.files.texts import CONTROL, RULE, join_names
from setveil.errors import BadData, BadParameter
from setveil.parameters.hierarchy import Hierarchy
from setveil.parameters.kind import Origin
from setveil.parameters.layouts import Columns, Parents, named_in
from setveil.parameters.makers import items_for, maker_of
from setveil.parameters.tree_numbering import Cycle

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from setveil.data.files.side_tables import Table
    from setveil.data.records.transactions import Transactions
    from setveil.parameters.layouts import Paths

MAKERS = {
    "balanced:": "hierarchy_files.balanced_from_text",
    "prefix:": "prefixes.hierarchy_from_text",
    "icd10cm": "icd10cm.hierarchy_from_text",
    "icd10cm:": "icd10cm.hierarchy_from_text",
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
    item_column: str | None = None,
    missing_category: str | None = None,
    path_column: str | None = None,
    path_separator: str | None = None,
    side_encoding: str | None = None,
) -> Hierarchy:
    """Read a hierarchy from a table or from a sample, or build a balanced one over the items of the data.

    A table with a column `parent` has one row per node with its parent. Any other table has one column per level, or a column of paths such
    as `Food > Dairy > Milk`. A repeated row counts once. If a name is both an item and a group, the group is called `NAME (group)`. The
    result has the attribute `origin`: the source, the options, and a sentence about what was read.

    Parameters
    ----------
    source : str or Path
        A table with a column of items: CSV with any usual separator, TSV or JSON Lines, also compressed (`.gz`, `.zst`), Parquet or Arrow.
        Or `sample:NAME`, `prefix:LENGTHS` such as `prefix:1,3,4,5` for the first characters of codes, `icd10cm` for diagnosis codes, or
        `balanced:FANOUT` for a balanced tree over the items of `data`.
    levels : str or sequence of str, optional
        The columns to use, from the most specific to the most general level: a list, or one text with commas. Default: all, in their order.
    paths : bool, default: False
        Name inner nodes by their path from the root, such as `Food/Deli/Meat`, with a slash inside a name doubled. Nodes of a column of
        paths always have such names.
    data : Transactions, optional
        The data that the hierarchy is for. They are required for `prefix:`, `icd10cm`, `balanced:` and `missing_category`, and help to find
        the column of the items. In an `item,parent` file, they show which groups are items too.
    item_column : str, optional
        The column of the items. Default: `item`, or the column that clearly matches the items of `data`.
    missing_category : str, optional
        The group of items of `data` that the file or ICD-10-CM does not name. By default, methods refuse such data.
    path_column : str, optional
        The column that holds paths. Default: the column in which paths are found.
    path_separator : str, optional
        What separates the names of a path. Default: ` > `.
    side_encoding : str, optional
        The encoding of text that is not UTF-8, such as `cp1252`.

    Returns
    -------
    Hierarchy
        The tree.

    Raises
    ------
    BadData
        If the file is not a tree or is invalid; the message names the line or row.
    BadParameter
        If `levels` holds something other than texts, or `data` is missing where it is required.
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
    columns = Columns(item_column, path_column, path_separator)
    labels = None if data is None else data.vocabulary
    if missing_category is not None:
        items_for("`missing_category=`", data)
        if wrong := first_unusable([missing_category]):
            raise BadParameter(f"`missing_category=`: {wrong}; expected a name")
    with progress.step("building the hierarchy"):
        if make := maker_of(text, MAKERS):
            tree: Hierarchy = make(text, data=data, levels=levels, paths=paths, missing_category=missing_category)
            how = "as this text says"
        else:
            with side_file(text, side_encoding):
                nodes, how = _read_nodes(columns.open(text, labels), levels, columns, paths=paths)
            nodes.add_labels(labels or (), missing_category)
            tree = nodes.build()
    groups = quantity(len(tree.nodes) - len(tree.leaves), "group")
    origin = Origin.of(
        source,
        f"{quantity(len(tree.leaves), 'item')} under {groups}, {how}",
        levels=levels if levels is None or isinstance(levels, str) else list(levels),
        paths=paths,
        item_column=item_column,
        missing_category=missing_category,
        path_column=path_column,
        path_separator=path_separator,
        side_encoding=side_encoding,
    )
    return tree.with_origin(origin)


def _read_nodes(
    table: Table, levels: str | Sequence[str] | None, columns: Columns, *, paths: bool
) -> tuple[Nodes, str]:
    """Read the nodes from a table in any layout; return them and how the table was read."""
    with_parents = columns.parents(table)
    if with_parents is not None and levels is not None and table.others == [with_parents.column]:
        raise table.wrong("is an item,parent file, which has no levels; omit `levels=`")
    if with_parents is not None and levels is None:
        if paths:
            raise table.wrong("is an item,parent file, which has no levels; omit `paths=True`")
        with_parents.note_others()
        return nodes_of(with_parents), f"from {with_parents.description}"
    of_paths = columns.paths(table) if levels is None or columns.names_paths else None
    if of_paths is None:
        chosen = [name.strip() for name in levels.split(",")] if isinstance(levels, str) else levels
        if chosen is None:
            table.places(table.others)  # refuses a column that occurs twice
        return _from_levels(table, table.others if chosen is None else list(chosen), paths=paths)
    if levels is not None:
        raise table.wrong(
            f"is read as paths of the column {shown(of_paths.column)}, which has no levels; omit `levels=`"
        )
    progress.note(f"{table.file}: read as {of_paths.description}")
    return nodes_of(of_paths), f"from {of_paths.description}"


def tree_of(layout: Parents | Paths) -> Hierarchy:
    """Return the tree of an `item,parent` file or a column of paths."""
    return nodes_of(layout).build()


def balanced_from_text(text: str, *, data: Transactions | None, **_given: Any) -> Hierarchy:
    """Build a balanced tree over the items of the data, as `balanced:FANOUT` says."""
    asked = _BALANCED.fullmatch(text)
    if asked is None:
        raise BadParameter(f"{text!r} is not of the form balanced:FANOUT, such as balanced:5")
    return Hierarchy.balanced(items_for(text, data), int(asked[1]))


def nodes_of(layout: Parents | Paths) -> Nodes:
    """Read the nodes of an `item,parent` file or a column of paths."""
    return _from_parents(layout) if isinstance(layout, Parents) else _from_paths(layout)


@dataclass
class Nodes:
    """The nodes of a file and their parents. An item may have the name of a group until the tree is built."""

    file: str
    parent_of: dict[str, str]
    """The parent of each group; in an `item,parent` file also of each item."""
    of_item: dict[str, str]
    """The parent of each item that is distinguished from groups."""
    repeated: int = 0
    line_of: dict[str, int] = field(default_factory=dict)

    def add_labels(self, labels: Iterable[str], missing_category: str | None) -> None:
        """Add items of the data: those that are groups in an `item,parent` file and, if there is a category for them, unnamed ones."""
        groups = {*self.parent_of.values(), *self.of_item.values()}
        if not self.of_item:
            self.of_item.update((label, label) for label in labels if label in groups)
        items = {*self.of_item, *(self.parent_of.keys() - groups)}
        missing = [label for label in labels if label not in items]
        if missing_category is None or not missing:
            return
        if missing_category in items and missing_category in self.parent_of:  # the name of an item, now also of a group
            self.of_item[missing_category] = self.parent_of.pop(missing_category)
        tops = groups - self.parent_of.keys()
        if missing_category not in groups and len(tops) == 1:
            self.parent_of[missing_category] = next(iter(tops))
        self.of_item.update(dict.fromkeys(missing, missing_category))
        progress.note(f"{self.file}: {quantity(len(missing), 'item')} of the data without a line put into one group")

    def build(self) -> Hierarchy:
        """Build the tree. A group that has the name of an item gets another one, which does not depend on the order of the rows."""
        if not self.parent_of and not self.of_item:
            raise BadData("holds no items; expected one line per item", file=self.file)
        if self.repeated:
            progress.note(f"{self.file}: {quantity(self.repeated, 'repeated line')} counted once")
        groups = {*self.parent_of, *self.parent_of.values(), *self.of_item.values()}
        taken = groups | self.of_item.keys()
        new: dict[str, str] = {}
        for name in sorted(groups & self.of_item.keys()):
            candidates = (f"{name} (group{number})" for number in chain([""], map(" {}".format, count(2))))
            new[name] = next(candidate for candidate in candidates if candidate not in taken)
            taken.add(new[name])
        if new:
            both = "1 name is" if len(new) == 1 else f"{len(new):,} names are"
            progress.note(f"{self.file}: {both} both an item and a group; such a group is called NAME (group)")
        named = {new.get(node, node): new.get(parent, parent) for node, parent in self.parent_of.items()}
        try:
            return Hierarchy(named | {item: new.get(parent, parent) for item, parent in self.of_item.items()})
        except Cycle as cycle:
            raise Cycle(cycle.nodes, file=self.file, line=self.line_of.get(cycle.nodes[0])) from None


def _from_parents(layout: Parents) -> Nodes:
    """Read rows with a node and its parent."""
    table = layout.table
    parent_of: dict[str, str] = {}
    nodes = Nodes(table.file, parent_of, {})
    for number, (node, parent) in table.rows(table.item, layout.column):
        if not node or not parent:
            raise table.wrong(
                "an item or its parent is empty; a node without a parent needs no line of its own", number
            )
        if node == parent:
            raise table.wrong(f"{shown(node)} is its own parent; expected another node as its parent", number)
        known = parent_of.get(node)
        if known is None:
            if _control(node) or _control(parent):
                raise table.wrong("an item or its parent holds a control character", number)
            parent_of[node] = parent
            if table.counts_lines:
                nodes.line_of[node] = number
        elif known == parent:
            nodes.repeated += 1
        else:
            problem = f"{shown(node)} has two parents, {shown(parent)} here and {shown(known)} {table.earlier}"
            raise table.wrong(f"{problem}; keep one of them", number)
    return nodes


def _from_paths(layout: Paths) -> Nodes:
    """Read rows with an item and a path; nodes are named by their paths."""
    read = list(layout.rows())
    depth = max((len(names) for _number, _item, names in read), default=1)
    levels = [str(distance) for distance in range(depth, 0, -1)]
    rows = _LevelRows(layout.table, levels, paths=True)
    for number, item, names in read:
        rows.add(number, item, [*[""] * (depth - len(names)), *reversed(names)])
    return rows.nodes()


def _from_levels(table: Table, chosen: list[str], *, paths: bool) -> tuple[Nodes, str]:
    """Read rows with an item and one name per level; return the nodes and how the table was read."""
    rows = _LevelRows(table, chosen, paths=paths)
    rows.levels = named_in(table, chosen)
    for number, (item, *groups) in table.rows(table.item, *rows.levels):
        rows.add(number, item, groups)
    if rows.higher:
        progress.note(
            f"{quantity(rows.higher, 'item')} without a {shown(rows.levels[0])} placed directly below a more general level"
        )
    return rows.nodes(), f"from one column per level: {join_names(map(shown, rows.levels))}"


class _LevelRows:
    """The nodes and items read so far from a file with one column per level; refuses rows that contradict them."""

    def __init__(self, table: Table, levels: list[str], *, paths: bool) -> None:
        self.table = table
        self.levels = levels
        self.paths = paths
        self.of_item: dict[str, str] = {}
        self.node_of: dict[tuple[str, ...], str] = {}
        self.repeated = 0
        self.higher = 0
        """The number of items without a name on the most specific level."""
        self.parent_of: dict[str, str] = {}
        self.level_of: dict[str, int] = {}
        if not levels:
            raise self.table.wrong("no level was given; name at least one with `levels=`")
        if other := [level for level in levels if not isinstance(level, str)]:
            raise BadParameter(
                f"levels holds a level that is {describe(other[0])}; expected names of columns, as texts"
            )
        name, times = Counter(levels).most_common(1)[0]
        if times > 1:
            raise self.table.wrong(f"the level {shown(name)} was given {times} times; give each level once")

    def add(self, number: int, item: str, groups: list[str]) -> None:
        """Add a row: an item and its group on each level."""
        key = tuple(groups)
        node = self.node_of.get(key)
        if node is None:
            node = self.node_of[key] = self.node(groups, number)
        known = self.of_item.get(item)
        if known is None:
            if not item or _control(item):
                raise self.table.wrong(f"the item {RULE}", number)
            self.of_item[item] = node
            self.higher += not groups[0]
        elif known == node:
            self.repeated += 1
        else:
            problem = (
                f"the item {shown(item)} has two parents, {shown(node)} here and {shown(known)} {self.table.earlier}"
            )
            raise self.table.wrong(f"{problem}; keep one of them", number)

    def nodes(self) -> Nodes:
        """Return the nodes of all rows."""
        return Nodes(self.table.file, self.parent_of, self.of_item, self.repeated)

    def node(self, groups: Sequence[str], line: int) -> str:
        """Add the named levels of a row to the tree; return the node of the most specific one."""
        first = next((level for level, name in enumerate(groups) if name), None)
        if first is None:
            raise self.table.wrong(f"has no name on any level; expected at least one in {shown(self.levels[-1])}", line)
        parent = None
        for level in range(len(groups) - 1, first - 1, -1):
            name = groups[level]
            if not name:
                gap = f"the level {shown(self.levels[level])} is empty, but the more specific {shown(self.levels[first])} is not"
                raise self.table.wrong(f"{gap}; expected a name", line)
            if _control(name):
                raise self.table.wrong(f"the level {shown(self.levels[level])} holds a control character", line)
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
            raise self.table.wrong(f"{shown(name)} is on two levels, {both}; {self._remedy()}", line)
        if parent is not None and (before := self.parent_of.setdefault(name, parent)) != parent:
            problem = f"{shown(name)} of the level {shown(self.levels[level])} has two parents, {shown(parent)} here"
            problem += f" and {shown(before)} {self.table.earlier}"
            raise self.table.wrong(f"{problem}; {self._remedy()}", line)

    def _remedy(self) -> str:
        return (
            "rename one of them"
            if self.paths
            else "distinguish nodes by their paths with `paths=True`, or select other levels with `levels=`"
        )
