"""Reading named itemsets from files in any format of data: lines, JSON Lines, and tables with a column of itemsets or of items."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from setveil.data.files import column_files
from setveil.data.files.json_lines import JSON_KINDS, item_text, json_value
from setveil.data.files.packing import plain_suffix
from setveil.data.files.side_files import BETWEEN, lines_in, shown, unusable
from setveil.data.files.side_tables import ITEM, JSON_LINES, open_table
from setveil.data.files.texts import check_separator, is_list_type
from setveil.data.records.labels import BLANKS, note_other_separator
from setveil.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.data.files.side_tables import Table

ITEMS = "items"
_JSON_EXAMPLE = '["milk", "bread"]'


def itemsets_in(path: Path, separator: str | None, item_column: str | None) -> list[list[str]]:
    """Return the itemsets in a file, in its order; none of them is empty."""
    suffix = plain_suffix(path)
    if separator is not None:
        check_separator(separator)
        separator = None if separator == " " else separator
    table = None
    if suffix in (*column_files.EXTENSIONS, ".csv", ".tsv"):
        table = open_table(str(path), item_column or ITEMS)
        if suffix in (".csv", ".tsv") and item_column is None and not _has_items(table):
            table = None  # lines of items
    if table is None and suffix in JSON_LINES:
        return _of_lines(str(path), separator, item_column or ITEMS)
    if table is None:
        return _noted(_of_lines(str(path), separator, None), separator)
    ids, has_items = table.named("id"), table.named(ITEMS) is not None
    column = table.required(item_column or (ITEMS if ids is None or has_items else ITEM))
    if suffix in column_files.EXTENSIONS and is_list_type(column_files.schema_of(path).field(column).type):
        itemsets = _of_lists(table, path, column)
    elif ids is None or column.casefold() == ITEMS:
        itemsets = _noted(_of_cells(table, column, separator), separator)
    else:
        itemsets = _of_ids(table, ids, column)
    if not itemsets:
        raise table.wrong("is empty; expected one itemset per row")
    return itemsets


def _has_items(table: Table) -> bool:
    """Return whether a table has the columns of itemsets."""
    return table.named(ITEMS) is not None or (table.named("id") is not None and table.named(ITEM) is not None)


def _noted(itemsets: list[list[str]], separator: str | None) -> list[list[str]]:
    """Return the itemsets of a text; announce that another separator may be between their items."""
    if separator is None:
        note_other_separator(list({item for items in itemsets for item in items}))
    return itemsets


def _of_lines(file: str, separator: str | None, json_field: str | None) -> list[list[str]]:
    """Return the itemsets on lines of text or, with a field for objects, of JSON."""
    itemsets = []
    blank: int | None = None
    for number, line in enumerate(lines_in(file), start=1):
        try:
            items = _text_items(line, separator) if json_field is None else _json_items(line, json_field)
        except ValueError as error:
            raise BadData(str(error), file=file, line=number) from None
        if not items:
            blank = blank or number
            continue
        if blank:  # blank lines at the end are allowed, blank lines between itemsets are not
            raise BadData("is blank; expected an itemset of at least one item", file=file, line=blank)
        itemsets.append(items)
    if not itemsets:
        raise BadData("is empty; expected one itemset per line", file=file)
    return itemsets


def _of_cells(table: Table, column: str, separator: str | None) -> list[list[str]]:
    """Return the itemsets in a column of texts."""
    itemsets = []
    for number, (cell,) in table.rows(column):
        try:
            items = _text_items(cell, separator)
        except ValueError as error:
            raise table.wrong(str(error), number) from None
        itemsets.append(_filled(items, table, number))
    return itemsets


def _of_ids(table: Table, ids: str, column: str) -> list[list[str]]:
    """Return the itemsets of a table with one row per item; rows with the same id are one itemset."""
    of_id: dict[str, list[str]] = {}
    for number, (owner, item) in table.rows(ids, column):
        if not owner:
            raise table.wrong("the id is empty; expected the id of an itemset", number)
        _refuse_unusable([item], table, number)
        of_id.setdefault(owner, []).append(item)
    return list(of_id.values())


def _of_lists(table: Table, path: Path, column: str) -> list[list[str]]:
    """Return the lists in a column of a Parquet or Arrow file; whole numbers become text."""
    itemsets: list[list[str]] = []
    for (lists,) in column_files.batches(path, [column], ""):
        for value in lists.to_pylist():
            number = len(itemsets) + 1
            items = [str(item) if type(item) is int else item for item in value or []]
            if other := [item for item in items if not isinstance(item, str)]:
                problem = f"an item is of the type {type(other[0]).__name__}; expected text or a whole number"
                raise table.wrong(problem, number)
            items = [item.strip(BLANKS) for item in items]
            _refuse_unusable(items, table, number)
            itemsets.append(_filled(items, table, number))
    return itemsets


def _filled(items: list[str], table: Table, number: int) -> list[str]:
    if not items:
        raise table.wrong("is blank; expected an itemset of at least one item", number)
    return items


def _refuse_unusable(items: list[str], table: Table, number: int) -> None:
    for item in items:
        if wrong := unusable(item):
            raise table.wrong(f"the item {shown(item)} {wrong}", number)


def _text_items(line: str, separator: str | None) -> list[str]:
    """Return the items on a line, or raise `ValueError` with a short message."""
    if separator is None:
        items = [item for item in re.split(f"[{BETWEEN}]+", line) if item]
    else:
        items = [item.strip(BETWEEN) for item in line.split(separator)]
        if items == [""]:
            return []
        if "" in items:
            raise ValueError(f"an item between two {separator!r} is empty; expected a name")
    for item in items:
        if wrong := unusable(item.strip(BLANKS)):
            raise ValueError(f"the item {shown(item.strip(BLANKS))} {wrong}")
    return items


def _json_items(line: str, field: str) -> list[str]:
    """Return the items on a line: a list, or an object with a list in this field."""
    if not line.strip(BETWEEN):
        return []
    try:
        return _items_of(json_value(line), field)
    except ValueError as error:
        expected = (
            f"expected a list of items such as {_JSON_EXAMPLE}, or an object with such a list in the field {field!r}"
        )
        raise ValueError(f"{str(error).partition('; ')[0]}; {expected}") from None


def _items_of(value: Any, field: str) -> list[str]:
    if isinstance(value, dict):
        found = next((value[name] for name in value if name.casefold() == field.casefold()), None)
        if found is None:
            raise ValueError(f"has no field {field!r}")
        value = found
    if not isinstance(value, list):
        raise ValueError(f"is {JSON_KINDS.get(type(value), 'a single item')}")  # noqa: TRY004 - an error in the data
    if not value:
        raise ValueError("is an empty list")
    items = [item_text(item) for item in value]
    for item in items:
        if wrong := unusable(item):
            raise ValueError(f"the item {shown(item)} {wrong}")
    return items
