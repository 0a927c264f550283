"""CSV with two columns: all rows with the same id are one record, in order of first appearance."""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from setveil.data.formats.base import Format, Layout, check_separator, not_utf8, plain_suffix, read_bytes
from setveil.data.transactions import Transactions
from setveil.errors import BadData, BadParameter, OutputRefused

if TYPE_CHECKING:
    from pathlib import Path

_CONTROL = r"[\x00-\x1f\x7f]"
_SHOWN_COLUMNS = 200


class Long(Format):
    """One row an item of a record; data grouped by a person's id has one record a person."""

    name: ClassVar[str] = "long"
    summary: ClassVar[str] = "CSV with the columns --id and --item, a row an item"
    extensions: ClassVar[tuple[str, ...]] = (".csv", ".tsv")
    holds_ids: ClassVar[bool] = True
    holds_empty_records: ClassVar[bool] = False

    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a CSV file."""
        layout = self.layout_in(path, layout)
        delimiter = _delimiter(layout)
        return parse(read_bytes(path), layout, delimiter, str(path))

    def layout_in(self, path: Path, layout: Layout) -> Layout:
        """Return the layout with a tab as separator for .tsv, unless another one is named."""
        return replace(layout, separator="\t") if layout.separator is None and plain_suffix(path) == ".tsv" else layout

    def encode(self, data: Transactions, layout: Layout) -> bytes:
        """Return the rows, by record, then by label order."""
        delimiter = _delimiter(layout)
        for what, values in (("item", data.labels), ("id", data.ids)):
            if pc.any(_unusable(values)).as_py():
                raise OutputRefused(f"an {what} is empty or holds a control character, and {self.name!r} holds neither")
        rows = pa.table(
            {
                layout.id: data.ids.take(pa.array(_record_of_row(data))),
                layout.item: data.labels.take(pa.array(data.items)),
            }
        )
        sink = io.BytesIO()
        header = io.StringIO()
        csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow([layout.id, layout.item])
        sink.write(header.getvalue().encode())
        # Arrow's "needed" puts every text in quotes; most files do well without any.
        special = f'["{re.escape(delimiter)}]'
        quotes = any(pc.any(pc.match_substring_regex(texts, special)).as_py() for texts in (data.ids, data.labels))
        style = "needed" if quotes else "none"
        pacsv.write_csv(rows, sink, pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style))
        return sink.getvalue()


def _delimiter(layout: Layout) -> str:
    if layout.id == layout.item:
        raise BadParameter(f"ids and items are both in the column {layout.id!r}; name two columns with --id and --item")
    if re.search(_CONTROL, layout.id + layout.item):
        raise BadParameter("the name of a column holds a control character; name others with --id and --item")
    if layout.separator is None:
        return ","
    check_separator(layout.separator, quote=False)
    return layout.separator


def _unusable(values: Any) -> Any:
    return pc.or_(pc.equal(pc.binary_length(values), 0), pc.match_substring_regex(values, _CONTROL))


def _record_of_row(data: Transactions) -> Any:
    return np.repeat(np.arange(data.records), data.lengths)


def parse(content: bytes, layout: Layout, delimiter: str, file: str) -> Transactions:
    """Make transactions of the bytes of a CSV file."""
    _check_header(content, layout, delimiter, file)
    table = _read_table(content, layout, delimiter, file)
    ids, items = (table.column(name).combine_chunks().dictionary_encode() for name in (layout.id, layout.item))
    for name, column in ((layout.id, ids), (layout.item, items)):
        wrong = _unusable(column.dictionary)
        if pc.any(wrong).as_py():
            row = pc.index(column.indices, pc.index(wrong, value=True).cast(column.indices.type)).as_py()
            line = _line_of_row(content, delimiter, row + 2)
            raise BadData(f"the column {name!r} is empty or holds a control character", file=file, line=line)
    record = ids.indices.to_numpy()
    codes = items.indices.to_numpy()
    if np.any(record[1:] < record[:-1]):
        codes = codes[np.argsort(record, kind="stable")]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(record, minlength=len(ids.dictionary)))))
    return Transactions.from_codes(offsets, codes, items.dictionary.to_pylist(), ids=ids.dictionary, unit="person")


def _check_header(content: bytes, layout: Layout, delimiter: str, file: str) -> None:
    if not re.search(rb"\S", content):
        raise BadData("is empty; expected a header line", file=file)
    try:
        header = re.match(rb"[^\r\n]*", content)[0]  # type: ignore[index]  # it matches always, and copies no more than the line
        columns = next(csv.reader([header.decode("utf-8-sig")], delimiter=delimiter, strict=True), [])
    except UnicodeDecodeError:
        raise not_utf8(header, file) or AssertionError("the text is valid after all") from None
    except csv.Error as error:
        raise BadData(f"the header is not a line of CSV ({error})", file=file, line=1) from None
    shown = ", ".join(columns)
    if re.search(_CONTROL, shown):
        raise BadData("the header holds a control character", file=file, line=1)
    if len(shown) > _SHOWN_COLUMNS:
        shown = shown[:_SHOWN_COLUMNS] + "..."
    for name in (layout.id, layout.item):
        count = columns.count(name)
        if count != 1:
            problem = f"has no column {name!r}" if count == 0 else f"has {count} columns {name!r}"
            raise BadData(f"{problem}; the columns are: {shown}. Name yours with --id and --item", file=file, line=1)


def _line_of_row(content: bytes, delimiter: str, row: int) -> int:
    """Return the line on which a row starts, both from 1 on: blank lines are no rows, and values can hold breaks."""
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig", errors="replace"), newline=""), delimiter=delimiter)
    starts = 1
    with suppress(csv.Error):  # a value longer than the reader takes: a quote that never closes, and this is the line
        for fields in reader:
            row -= bool(fields)
            if row == 0:
                break
            starts = reader.line_num + 1
    return starts


def _read_table(content: bytes, layout: Layout, delimiter: str, file: str) -> Any:
    broken: list[Any] = []

    def on_broken_row(row: Any) -> str:
        broken.append(row)
        return "error"

    wanted = [layout.id, layout.item]
    convert = pacsv.ConvertOptions(
        column_types=dict.fromkeys(wanted, pa.large_string()), include_columns=wanted, strings_can_be_null=False
    )
    if not re.search(rb"[\r\n]", content):
        content += b"\n"  # Arrow takes a header without an end for no header
    # Only one thread can tell the number of a broken row, and only if the row is text: that is for a second pass.
    for threaded, handler in ((True, None), (False, on_broken_row)):
        parsing = pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=handler)
        try:
            return pacsv.read_csv(
                pa.BufferReader(content), pacsv.ReadOptions(use_threads=threaded, block_size=1 << 24), parsing, convert
            )
        except pa.ArrowException as error:
            if threaded:
                if wrong_text := not_utf8(content, file):
                    raise wrong_text from None
                continue
            if broken:
                row = broken[0]
                message = f"has {row.actual_columns} fields where the header has {row.expected_columns}"
                raise BadData(message, file=file, line=_line_of_row(content, delimiter, row.number)) from None
            raise BadData(f"cannot be read as CSV ({str(error).splitlines()[0]})", file=file) from None
    raise AssertionError("the second pass raises")
