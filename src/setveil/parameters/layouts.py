"""The layouts of a taxonomy file: one column per level, one row per node with its parent, or one column of paths (`Food > Dairy > Milk`).

The header distinguishes the first two: a column `parent` makes rows of nodes, unless the columns to use are named. A column of paths is
named, or recognized by ` > ` in its fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from setveil.base import progress
from setveil.data.files.side_files import shown
from setveil.data.files.side_tables import Table, read_table
from setveil.data.files.texts import join_names
from setveil.parameters.kind import Option

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

PARENT = "parent"
PATH_SEPARATOR = " > "
_WRITTEN_LEVEL = re.compile(r"level-[0-9]+")
"""A column that `to_levels_csv` writes: it holds names, even if they look like paths."""
_MOST_FIELDS = 10_000
"""The maximum number of fields in which paths are searched for; of a wider table, the first row."""

ITEM_COLUMN = Option(
    "item_column",
    str,
    "Column of a side file that holds the items (default: item, or the one that matches the data); several names, separated by commas, "
    "for files that differ.",
)
SIDE_ENCODING = Option("side_encoding", str, "Encoding of side files that are not UTF-8, such as cp1252 or utf-16.")
PATH_OPTIONS = (
    Option("path_column", str, "Column that holds paths such as Food > Dairy > Milk (default: recognized by ' > ')."),
    Option("path_separator", str, "What separates the names of a path, such as / (default: ' > ')."),
)


def missing_option(what: str) -> Option:
    """Return the option for items of the data that the file lacks."""
    return Option("missing_category", str, f"{what} for items of the data that the file has no entry for.")


@dataclass(frozen=True)
class Columns:
    """The columns of a taxonomy file that were named."""

    item: str | None = None
    path: str | None = None
    path_separator: str | None = None

    @property
    def names_paths(self) -> bool:
        """Whether a column of paths was asked for."""
        return self.path is not None or self.path_separator is not None

    def open(self, source: str, labels: Collection[str] | None) -> Table:
        """Open the file; `labels` are the items of the data, if they are known."""
        return read_table(source, self.item, labels)

    def parents(self, table: Table) -> Parents | None:
        """Return the layout with a row per node, if the file has it."""
        found = table.named(PARENT)
        return None if found is None or found == table.item or self.names_paths else Parents(table, found)

    def paths(self, table: Table) -> Paths | None:
        """Return the layout with a column of paths: the named one, or the only one that is recognized."""
        separator = PATH_SEPARATOR if self.path_separator is None else self.path_separator
        if not separator.strip():
            raise table.wrong(f"`path_separator=` is {separator!r}; expected a text that is not blank, such as '/'")
        if self.path is not None:
            return Paths(table, table.required(self.path, level=True), separator)
        found = _columns_with(table, separator)
        if self.path_separator is None and (len(found) != 1 or _WRITTEN_LEVEL.fullmatch(found[0])):
            return None
        if len(found) == 1:
            return Paths(table, found[0], separator)
        which = "no column" if not found else f"several columns ({join_names(found)})"
        raise table.wrong(f"{which} of {join_names(table.others)} holds {separator!r}; name one with `path_column=`")


@dataclass(frozen=True)
class Parents:
    """A table with one row per node, and the column of the parents."""

    table: Table
    column: str

    @property
    def sentence(self) -> str:
        """What the file is, for messages."""
        return "is an item,parent file"

    @property
    def description(self) -> str:
        """How the file was read."""
        return f"one row per node with its parent (columns {shown(self.table.item)} and {shown(self.column)})"

    def note_others(self) -> None:
        """Announce columns that are not used."""
        if others := [name for name in self.table.others if name != self.column]:
            progress.note(f"{self.table.file}: read as {self.description}; not used: {join_names(map(shown, others))}")


@dataclass(frozen=True)
class Paths:
    """A table with a column of paths."""

    table: Table
    column: str
    separator: str

    @property
    def sentence(self) -> str:
        """What the file is, for messages."""
        return f"holds paths in the column {shown(self.column)}"

    @property
    def description(self) -> str:
        """How the file was read."""
        return f"paths separated by {self.separator!r} (columns {shown(self.table.item)} and {shown(self.column)})"

    def rows(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield the number of each row, its item and the names of its path, the most general one first."""
        for number, (item, path) in self.table.rows(self.table.item, self.column):
            names = [name.strip() for name in path.split(self.separator)]
            names = names[names[0] == "" : len(names) - (len(names) > 1 and names[-1] == "")]
            if "" in names:
                raise self.table.wrong(f"a name in the path {shown(path)} is empty; expected a name", number)
            yield number, item, names


def named_in(table: Table, names: Sequence[str]) -> list[str]:
    """Return the columns with these names, regardless of case; refuse a name that is not a level."""
    return [table.required(name, level=True) for name in names]


def _columns_with(table: Table, separator: str) -> list[str]:
    """Return the columns other than that of the items in which one of the first fields holds the separator."""
    readable = set(table.text_columns)
    names = [name for name in table.others if name in readable]
    rows = islice(table.fields(names), max(1, _MOST_FIELDS // max(1, len(names))))
    found = {place for fields in rows for place, field in enumerate(fields) if separator in field}
    return [names[place] for place in sorted(found)]
