"""The long format: a table with one row per item. Rows with the same id are one record, in order of first appearance."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from setveil.base.sql import as_text
from setveil.data.databases.sql import quoted
from setveil.data.files import column_files, json_lines
from setveil.data.files.assembly import LongAssembly, Origin
from setveil.data.files.csv_tables import DELIMITERS, CsvOrigin, csv_batches, header, require
from setveil.data.files.packing import BYTE_ORDER_MARK, opened_once, plain_suffix
from setveil.data.files.texts import check_column_names, check_separator, refuse_unusable
from setveil.data.formats.base import Format, Layout
from setveil.data.records.ragged import owner_of, record_ranges
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from setveil.data.records.transactions import Transactions

_HINT = "Name yours with `id=` and `item=`"
_NUMBERS_HINT = "Name yours by their numbers with `id=` and `item=`, or omit `no_header=True`"
WRITTEN_ROWS = 1 << 20


class Long(Format):
    """One row per item of a record."""

    name: ClassVar[str] = "long"
    summary: ClassVar[str] = "a table with a column of ids and a column of items, one row per item"
    extensions: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".parquet", ".arrow", ".feather")
    ids: ClassVar[Literal["none", "optional", "required"]] = "required"
    holds_empty_records: ClassVar[bool] = False

    def layout_after(self, extension: str, layout: Layout) -> Layout:
        """Return the layout without paths into nested objects, which are no names of columns."""
        return replace(layout, id=None, item=None) if extension in json_lines.EXTENSIONS else layout

    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a table."""
        names = [layout.id_column, layout.item_column]
        check_column_names(*names)
        if plain_suffix(path) in column_files.EXTENSIONS:
            found = column_files.batches(path, names, _HINT, repeating=names[1:])
            return _assembled(Origin(str(path)), names, found, layout)
        if plain_suffix(path) in json_lines.EXTENSIONS:
            from setveil.data.files.json_paths import path_batches  # noqa: PLC0415 - only nested objects need it

            lines, rows = path_batches(path, names)
            return _assembled(lines, names, rows, layout)
        delimiter = delimiter_of(path, layout.separator)
        with opened_once(path):
            columns = header(path, delimiter)
            numbers = [str(number) for number in range(1, len(columns) + 1)] if layout.no_header else None
            require(numbers or columns, names, str(path), _NUMBERS_HINT if layout.no_header else _HINT)
            origin = CsvOrigin(str(path), path, delimiter, has_header=not layout.no_header)
            return _assembled(origin, names, csv_batches(path, names, delimiter, numbers), layout)

    def public_layout(self, data: Transactions, layout: Layout) -> dict[str, str | bool]:
        """Return the names of the columns and, if one was given, the separator."""
        del data
        columns: dict[str, str | bool] = {"id": layout.id_column, "item": layout.item_column}
        if layout.no_header:
            columns["no_header"] = True
        return columns | ({"separator": layout.separator} if layout.separator else {})

    def as_table(self, extension: str, layout: Layout) -> Mapping[str, Any]:
        """Return the column of ids and the column of items."""
        fields = [{"name": name, "type": "string"} for name in (layout.id_column, layout.item_column)]
        return {"schema": {"fields": fields}} | dialect_of(extension, layout.separator)

    def as_sql(self, file: str, extension: str, layout: Layout) -> Mapping[str, str]:
        """Return a query that numbers the records in the order of their first rows."""
        if extension in (".csv", ".tsv"):
            delimiter = layout.separator or ("\t" if extension == ".tsv" else ",")
            header = f"header = {str(not layout.no_header).lower()}, all_varchar = true, quote = '\"', escape = '\"'"
            rows = f"read_csv({as_text(file)}, delim = {as_text(delimiter)}, {header})"
        elif extension == ".parquet":
            rows = f"read_parquet({as_text(file)})"
        else:
            return {}
        places = ("column0", "column1") if layout.no_header else (layout.id_column, layout.item_column)
        name, item = map(quoted, places)
        query = f"""
  WITH line AS MATERIALIZED (
    SELECT row_number() OVER () AS line, {name} AS id, {item} AS item FROM {rows}
  ), numbered AS (
    SELECT id, row_number() OVER (ORDER BY min(line)) AS record FROM line GROUP BY id
  )
  SELECT DISTINCT record, item FROM line JOIN numbered USING (id)"""
        return {"released": query}

    def blocks(self, data: Transactions, path: Path, layout: Layout) -> Iterator[Any]:
        """Yield the rows by record, then in label order."""
        if plain_suffix(path) in json_lines.EXTENSIONS:
            raise OutputRefused(
                "the format 'long' is only read from JSON Lines; choose the format 'list', or another extension"
            )
        names = [layout.id_column, layout.item_column]
        check_column_names(*names)
        refuse_unusable(data, self.name)
        if plain_suffix(path) in column_files.EXTENSIONS:
            columns = dict.fromkeys(names, pa.large_string())
            yield from column_files.written(path, columns, long_batches(data, names))
        else:
            delimiter = delimiter_of(path, layout.separator)
            top = [] if layout.no_header else names
            yield from csv_text(long_batches(data, names), top, delimiter, (data.ids, data.labels))


def _assembled(origin: Origin, names: list[str], batches: Iterator[list[Any]], layout: Layout) -> Transactions:
    assembly = LongAssembly(origin, id_column=names[0], item_column=names[1], drops_missing=layout.drops_missing)
    for ids, items in batches:
        assembly.add(ids, items)
    return assembly.finish()


def dialect_of(extension: str, named: str | None) -> dict[str, dict[str, str]]:
    """Return the separator of columns as a Data Package states it; nothing for a comma, and for files without separators."""
    separator = named or ("\t" if extension == ".tsv" else ",")
    return {} if extension in column_files.EXTENSIONS or separator == "," else {"dialect": {"delimiter": separator}}


def delimiter_of(path: Path, named: str | None) -> str:
    """Return the separator of columns: the given one, a tab for .tsv, or a comma."""
    if named is None:
        return "\t" if plain_suffix(path) == ".tsv" else ","
    check_separator(named, quote=False)
    return named


def long_batches(data: Transactions, names: list[str]) -> Iterator[Any]:
    """Yield the rows as Arrow batches of limited size."""
    for first, last in record_ranges(data.offsets, WRITTEN_ROWS, WRITTEN_ROWS):
        owner = first + owner_of(data.offsets[first : last + 1])
        items = data.items[data.offsets[first] : data.offsets[last]]
        columns = [data.ids.take(pa.array(owner)), data.labels.take(pa.array(items))]
        yield pa.RecordBatch.from_arrays(columns, names=names)


def header_line(names: list[str], delimiter: str) -> bytes:
    """Return the first line of a CSV file; nothing if there are no names."""
    if not names:
        return b""
    top = io.StringIO()
    is_alone = len(names) == 1 and has_delimiter(names[0])
    csv.writer(
        top, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL if is_alone else csv.QUOTE_MINIMAL
    ).writerow(names)
    line = top.getvalue().encode()
    return BYTE_ORDER_MARK + line if line.startswith(BYTE_ORDER_MARK) else line  # readers remove one


def has_delimiter(text: str) -> bool:
    """Return whether an only column would look like several with another delimiter than its file has."""
    return any(one in text for one in DELIMITERS)


def csv_text(batches: Iterator[Any], names: list[str], delimiter: str, texts: tuple[Any, ...]) -> Iterator[bytes]:
    """Yield the blocks of a CSV file; `texts` are all texts that can occur, to decide whether quotes are needed."""
    yield header_line(names, delimiter)
    # Arrow's "needed" quotes every text; most files need no quotes.
    special = f'["{re.escape(delimiter)}]'
    quotes = any(pc.any(pc.match_substring_regex(column, special)).as_py() for column in texts)
    style = "needed" if quotes else "none"
    options = pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)
    for batch in batches:
        sink = io.BytesIO()
        pacsv.write_csv(batch, sink, options)
        yield sink.getvalue()
