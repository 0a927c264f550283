"""The wide format: CSV with one row per record. One column holds all items or, in ragged files without a header, each field is an item."""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.files.assembly import DROP_MISSING, ListAssembly, Origin
from setveil.data.files.csv_tables import (
    DELIMITERS,
    LONGEST_LINE,
    CsvOrigin,
    csv_batches,
    first_not_utf8,
    header,
    require,
)
from setveil.data.files.packing import blocks, opened_once
from setveil.data.files.texts import CONTROL, check_column_names, check_separator, refuse_unusable
from setveil.data.formats.base import Format, Layout
from setveil.data.formats.basket import lines_of, whole_lines
from setveil.data.formats.long import csv_text, delimiter_of, dialect_of
from setveil.data.records.labels import note_other_separator
from setveil.errors import BadData, BadParameter, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from setveil.data.records.transactions import Transactions

_BLANKS = " \t"
_HINT = "Name yours with `items=` and `id=`, or use `ragged=True` for lines of items without a header"
_READ_LINES = 1 << 16
_WRITTEN_RECORDS = 1 << 17


class Wide(Format):
    """One row per record; ids are optional, and ragged lines have none."""

    name: ClassVar[str] = "wide"
    summary: ClassVar[str] = "CSV with one row per record: all items in one column, or ragged lines of items"
    extensions: ClassVar[tuple[str, ...]] = (".csv", ".tsv")
    ids: ClassVar[Literal["none", "optional", "required"]] = "optional"
    holds_empty_records: ClassVar[bool] = True

    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a file, with ids if the header has a column for them."""
        if layout.ragged:
            return _read_ragged(path, _ragged_separator(path, layout), layout)
        separator = _separator(layout)
        check_column_names(layout.items_column, layout.id_column)
        with opened_once(path):
            delimiter, columns = _split_header(path, layout.items_column)
            with_ids = layout.id is not None or layout.id_column in columns
            names = [layout.items_column] + ([layout.id_column] if with_ids else [])
            require(columns, names, str(path), _HINT)
            origin = CsvOrigin(str(path), path, delimiter)
            drops = layout.drops_missing
            assembly = ListAssembly(
                origin,
                items_column=names[0],
                id_column=layout.id_column if with_ids else None,
                drops_missing=drops,
            )
            row = 0
            with assembly.comparing_ids():
                for cells, *ids in csv_batches(path, names, delimiter):
                    lengths, items = _split_cells(cells, separator, None if drops else _Gaps(origin, row, names[0]))
                    assembly.add_flat(lengths, items, *ids)
                    row += len(cells)
        data = assembly.finish()
        if layout.separator is None:
            note_other_separator(data.vocabulary)
        return data

    def layout_after(self, extension: str, layout: Layout) -> Layout:
        """Return the layout without ids for ragged lines, which are written without a header."""
        del extension
        return replace(layout, id=None) if layout.ragged else layout

    def holds_ids(self, layout: Layout) -> bool:
        """Return False for ragged lines, which are written without ids."""
        return not layout.ragged

    def public_layout(self, data: Transactions, layout: Layout) -> dict[str, str | bool]:
        """Return the separator and the names of the columns, or `ragged`."""
        named: dict[str, str | bool] = {"separator": layout.separator} if layout.separator else {}
        if layout.ragged:
            return named | {"ragged": True}
        return named | {"items": layout.items_column} | ({"id": layout.id_column} if data.ids is not None else {})

    def as_table(self, extension: str, layout: Layout) -> Mapping[str, Any]:
        """Return the column of ids, if there is one, and the column of items; ragged lines have no columns."""
        if layout.ragged:
            return {}
        ids = [{"name": layout.id, "type": "string"}] if layout.id else []
        items = {"name": layout.items_column, "type": "list", "delimiter": layout.separator or " "}
        return {"schema": {"fields": [*ids, items]}} | dialect_of(extension, None)

    def why_unwritable(self, label: str, layout: Layout) -> str | None:
        """Return why a cell cannot hold an item; ragged lines quote it."""
        if layout.ragged:
            return None
        separator = _separator(layout)
        if separator is None and any(blank in label for blank in _BLANKS):
            return "holds a blank"
        return f"holds the separator {separator!r}" if separator is not None and separator in label else None

    def blocks(self, data: Transactions, path: Path, layout: Layout) -> Iterator[Any]:
        """Yield the records with items in label order."""
        if layout.ragged:
            yield from _ragged_lines(data, _ragged_separator(path, layout))
            return
        separator = _separator(layout)
        check_column_names(layout.items_column, layout.id_column)
        delimiter = delimiter_of(path, None)
        refuse_unusable(data, self.name)
        for label in data.vocabulary:
            if problem := self.why_unwritable(label, layout):
                remedy = "choose another separator, or another format, such as list (.jsonl, .parquet)"
                raise OutputRefused(f"the item {label!r} {problem}, which a cell of a wide file cannot hold; {remedy}")
        names = ([layout.id_column] if data.ids is not None else []) + [layout.items_column]
        joiner = separator or " "
        # A row with a single empty cell would be a blank line, which CSV readers skip: then all cells are quoted.
        special = [
            data.labels,
            pa.array([joiner, '"' if data.ids is None and data.empty_records else ""], pa.large_string()),
        ]
        texts = (*special, data.ids) if data.ids is not None else tuple(special)
        yield from csv_text(_cells(data, names, joiner), names, delimiter, texts)


def _split_header(path: Path, column: str) -> tuple[str, list[str]]:
    """Return what separates the columns, and their names: the default, or the only other delimiter by which there is this column."""
    default = delimiter_of(path, None)
    names = {}
    for delimiter in dict.fromkeys((default, *DELIMITERS)):
        with suppress(BadData):  # such as the quotes of a file with another delimiter
            names[delimiter] = header(path, delimiter)
        if column in names.get(default, ()):
            break
    having = [delimiter for delimiter, columns in names.items() if column in columns]
    chosen = having[0] if len(having) == 1 else default
    return chosen, names.get(chosen) or header(path, chosen)


def _separator(layout: Layout) -> str | None:
    if layout.separator in (None, " "):
        return None
    assert layout.separator is not None
    check_separator(layout.separator, quote=False)
    return layout.separator


def _ragged_separator(path: Path, layout: Layout) -> str:
    if layout.items is not None:
        raise BadParameter("ragged lines have no column of items to name; omit `items=`, or omit `ragged=True`")
    return delimiter_of(path, layout.separator)


def _cells(data: Transactions, names: list[str], joiner: str) -> Iterator[Any]:
    for first in range(0, data.records, _WRITTEN_RECORDS):
        cells = pc.binary_join(data.lists(first, first + _WRITTEN_RECORDS), pa.scalar(joiner, pa.large_string()))
        columns = [cells] if data.ids is None else [data.ids.slice(first, len(cells)), cells]
        yield pa.RecordBatch.from_arrays(columns, names=names)


class _Gaps(NamedTuple):
    """Where cells are, for the error about an empty item."""

    origin: Origin
    row: int
    column: str


def _split_cells(
    cells: Any, separator: str | None, gaps: _Gaps | None
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Any]:
    """Return the number of items of each cell, and all items; empty ones are refused, or remain if `gaps` is None."""
    cells = pc.ascii_trim(cells, _BLANKS)
    blanks = f"[{_BLANKS}]+"
    lists = pc.split_pattern_regex(cells, blanks) if separator is None else pc.split_pattern(cells, separator)
    items = pc.ascii_trim(lists.flatten(), _BLANKS)
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    empty = pc.equal(pc.binary_length(items), 0).to_numpy(zero_copy_only=False)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    nothing = empty & (lengths[owner] == 1)
    broken = np.flatnonzero(empty & ~nothing)
    if len(broken) and gaps is not None:
        message = f"an item between two {separator!r} in the column {gaps.column!r} is empty; expected a name"
        raise gaps.origin.wrong(message + DROP_MISSING, gaps.row + int(owner[broken[0]]))
    lengths[owner[nothing]] = 0
    return lengths, items.filter(pa.array(~nothing))


# -- ragged lines ------------------------------------------------------------------------------------------------------


def _read_ragged(path: Path, separator: str, layout: Layout) -> Transactions:
    """Read lines of items; empty fields at the end of a line are padding from spreadsheets and are ignored.

    If there is a column of ids, the first line is a header, and the other columns hold one item each.
    """
    assembly = ListAssembly(
        _LineOrigin(str(path), 0 if layout.id is None else 1), id_column=layout.id, drops_missing=layout.drops_missing
    )
    with opened_once(path), assembly.comparing_ids():
        for batch in _batches_of_lines(path, separator, layout):
            ids = None if layout.id is None else pa.array(batch.ids, pa.large_string())
            assembly.add_flat(np.array(batch.lengths), pa.array(batch.items, pa.large_string()), ids)
    return assembly.finish()


class _Lines(NamedTuple):
    """Lines of a ragged file: the number of items of each, all items, and the ids, if there are any."""

    lengths: list[int]
    items: list[str]
    ids: list[str]


def _batches_of_lines(path: Path, separator: str, layout: Layout) -> Iterator[_Lines]:
    file = str(path)
    reader = csv.reader(_lines_of_text(path), delimiter=separator, strict=True, skipinitialspace=True)
    before = csv.field_size_limit(_size_of_text(path) + 1)
    place = -1
    try:
        if layout.id is not None:
            columns = next(reader, [])
            require(
                columns, [layout.id], file, "Name yours with `id=`, and what separates the columns with `separator=`"
            )
            place = columns.index(layout.id)
        batch = _Lines([], [], [])
        for fields in reader:
            if place >= 0:
                batch.ids.append(fields.pop(place) if place < len(fields) else "")
            record = [field.strip(_BLANKS) for field in fields]
            while record and not record[-1]:
                record.pop()
            if any(not item for item in record) and not layout.drops_missing:
                message = f"an item between two {separator!r} is empty{DROP_MISSING}"
                raise BadData(message, file=file, line=reader.line_num)
            if any(re.search(CONTROL, item) for item in record):
                message = f"an item between two {separator!r} holds a control character"
                raise BadData(message, file=file, line=reader.line_num)
            batch.items.extend(record)
            batch.lengths.append(len(record))
            if len(batch.lengths) == _READ_LINES:
                yield batch
                batch = _Lines([], [], [])
        yield batch
    except csv.Error as error:
        raise BadData(f"is not valid CSV ({error})", file=file, line=reader.line_num) from None
    finally:
        csv.field_size_limit(before)


def _size_of_text(path: Path) -> int:
    """Return the number of bytes, at most that of the longest line; refuse an empty file, and bytes that are not UTF-8."""
    size = sum(map(len, blocks(path)))
    if not size:
        raise BadData("is empty; expected one record per line", file=str(path))
    if wrong := first_not_utf8(path):
        raise wrong
    return min(size, LONGEST_LINE)


def _lines_of_text(path: Path) -> Iterator[str]:
    """Yield the lines, each with a line end."""
    for content in whole_lines(blocks(path)):
        for line in content.decode().removesuffix("\n").split("\n"):
            yield line + "\n"


@dataclass(frozen=True)
class _LineOrigin(Origin):
    """The origin of ragged text, whose rows are lines."""

    header_lines: int

    def wrong(self, message: str, row: int | None = None) -> BadData:
        """Return the error about a row, counted from 0 below the header."""
        return BadData(message, file=self.name, line=None if row is None else row + 1 + self.header_lines)


def _ragged_lines(data: Transactions, separator: str) -> Iterator[bytes]:
    if not data.records:
        raise OutputRefused("ragged lines cannot hold data without records; choose another format")
    refuse_unusable(data, "wide")
    written = []
    for label in data.vocabulary:
        special = separator in label or '"' in label
        written.append('"' + label.replace('"', '""') + '"' if special else label)
    yield from lines_of(data, pa.array(written, pa.large_string()), separator)
