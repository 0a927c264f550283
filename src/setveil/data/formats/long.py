"""CSV with two columns: all rows with the same id are one record, in order of first appearance."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from setveil.data.formats.base import Format, Layout, plain_suffix, read_bytes
from setveil.data.transactions import Transactions
from setveil.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path

_CONTROL = r"[\x00-\x1f\x7f]"


class Long(Format):
    """One row an item of a record; data grouped by a person's id has one record a person."""

    name: ClassVar[str] = "long"
    summary: ClassVar[str] = "CSV with the columns --id and --item, a row an item"
    extensions: ClassVar[tuple[str, ...]] = (".csv", ".tsv")
    holds_ids: ClassVar[bool] = True
    holds_empty_records: ClassVar[bool] = False

    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a CSV file."""
        content = read_bytes(path)
        delimiter = layout.separator or ("\t" if plain_suffix(path) == ".tsv" else ",")
        return parse(content, layout, delimiter, str(path))

    def encode(self, data: Transactions, layout: Layout) -> bytes:
        """Return the rows, by record, then by label order."""
        delimiter = layout.separator or ","
        rows = pa.table({layout.id: data.ids.take(pa.array(_record_of_row(data))), layout.item: data.labels.take(pa.array(data.items))})
        sink = io.BytesIO()
        header = io.StringIO()
        csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow([layout.id, layout.item])
        sink.write(header.getvalue().encode())
        pacsv.write_csv(rows, sink, pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed"))
        return sink.getvalue()


def _record_of_row(data: Transactions) -> Any:
    return np.repeat(np.arange(data.records), data.lengths)


def parse(content: bytes, layout: Layout, delimiter: str, file: str) -> Transactions:
    """Make transactions of the bytes of a CSV file."""
    _check_header(content, layout, delimiter, file)
    table = _read_table(content, layout, delimiter, file)
    columns = {name: table.column(name).combine_chunks() for name in (layout.id, layout.item)}
    for name, values in columns.items():
        wrong = pc.or_(pc.equal(pc.binary_length(values), 0), pc.match_substring_regex(values, _CONTROL))
        if pc.any(wrong).as_py():
            row = pc.index(wrong, value=True).as_py()
            raise BadData(f"the column {name!r} is empty or holds a control character", file=file, line=row + 2)
    ids = columns[layout.id].dictionary_encode()
    items = columns[layout.item].dictionary_encode()
    record = ids.indices.to_numpy()
    codes = items.indices.to_numpy()
    if np.any(record[1:] < record[:-1]):
        codes = codes[np.argsort(record, kind="stable")]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(record, minlength=len(ids.dictionary)))))
    return Transactions.from_codes(offsets, codes, items.dictionary.to_pylist(), ids=ids.dictionary, unit="person")


def _check_header(content: bytes, layout: Layout, delimiter: str, file: str) -> None:
    if not content.strip():
        raise BadData("is empty; expected a header line", file=file)
    try:
        text = content.split(b"\n", 1)[0].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadData(f"is not UTF-8 text (byte 0x{content[error.start]:02x})", file=file, line=1) from None
    columns = next(csv.reader([text.rstrip("\r")], delimiter=delimiter), [])
    for name in (layout.id, layout.item):
        count = columns.count(name)
        if count != 1:
            problem = f"has no column {name!r}" if count == 0 else f"has {count} columns {name!r}"
            raise BadData(
                f"{problem}; the columns are: {', '.join(columns)}. Name yours with --id and --item", file=file, line=1
            )


def _read_table(content: bytes, layout: Layout, delimiter: str, file: str) -> Any:
    broken: list[Any] = []

    def on_broken_row(row: Any) -> str:
        broken.append(row)
        return "error"

    wanted = [layout.id, layout.item]
    convert = pacsv.ConvertOptions(
        column_types=dict.fromkeys(wanted, pa.large_string()), include_columns=wanted, strings_can_be_null=False
    )
    for threaded in (True, False):  # only one thread can tell the number of a broken row
        parsing = pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=on_broken_row)
        try:
            return pacsv.read_csv(
                pa.BufferReader(content), pacsv.ReadOptions(use_threads=threaded, block_size=1 << 24), parsing, convert
            )
        except pa.ArrowInvalid as error:
            if threaded and broken:
                broken.clear()
                continue
            if broken:
                row = broken[0]
                message = f"has {row.actual_columns} fields where the header has {row.expected_columns}"
                raise BadData(message, file=file, line=row.number) from None
            raise BadData(f"cannot be read as CSV ({str(error).splitlines()[0]})", file=file) from None
    raise AssertionError("the second pass raises")
