"""Columns of a CSV file with a header, in batches: read by Arrow as text, with line numbers in errors.

Arrow reports the row of a broken line only when it reads with one thread, and rows are not lines, because a value can hold line breaks. So
a second pass over a refused file finds the line.
"""

from __future__ import annotations

import codecs
import csv
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pacsv

from setveil.base.display import quantity
from setveil.data.files.assembly import Origin
from setveil.data.files.character_encodings import how_to_decode
from setveil.data.files.packing import blocks, reading
from setveil.data.files.texts import CONTROL, join_names, not_utf8
from setveil.errors import BadData, closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

DELIMITERS = (",", ";", "\t", "|")
"""Characters that separate columns, if a file does not follow the default."""
BLOCK = 1 << 20
"""Bytes in a block; with larger blocks, Arrow needs more memory and is not faster."""
LONGEST_LINE = 1 << 28
_NOT_CSV = (pa.ArrowInvalid, pa.ArrowKeyError)
"""Arrow's errors about a broken file, and about a first line in which it finds other columns than the csv module does."""


@dataclass(frozen=True)
class CsvOrigin(Origin):
    """A CSV file; errors name the line of a row."""

    path: Path
    delimiter: str
    has_header: bool = True

    def wrong(self, message: str, row: int | None = None) -> BadData:
        """Return the error about a row, counted from 0 without the header."""
        line = None if row is None else _line_of_row(self.path, self.delimiter, row + 1 + self.has_header)
        return BadData(message, file=self.name, line=line)


def header(path: Path, delimiter: str) -> list[str]:
    """Return the column names."""
    file = str(path)
    beginning = bytearray()
    begun = False
    for block in blocks(path):
        beginning += block
        text = block if begun else block.lstrip()
        begun = begun or bool(text)
        # Search the new block only: a file with one long line would otherwise be searched again with every block.
        if b"\n" in text or b"\r" in text or len(beginning) > LONGEST_LINE:
            break
    if not begun:
        raise BadData("is empty; expected a header line", file=file)
    line = bytes(re.match(rb"[^\r\n]*", beginning)[0])  # type: ignore[index]  # it always matches
    if wrong := not_utf8(line, file):
        raise wrong
    try:
        columns = next(csv.reader([line.decode()], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise BadData(f"the header is not valid CSV ({error})", file=file, line=1) from None
    if re.search(CONTROL, "".join(columns)):
        raise BadData("the header holds a control character", file=file, line=1)
    return columns


def require(columns: Sequence[str], wanted: Sequence[str], file: str, hint: str, *, line: int | None = 1) -> None:
    """Refuse a table that does not have each of the wanted columns exactly once."""
    for name in wanted:
        count = columns.count(name)
        if count == 0:
            raise no_column(name, columns, hint, file=file, line=line)
        if count > 1:
            problem = f"has {count} columns {name!r}; the columns are: {join_names(columns)}. {hint}"
            raise BadData(problem, file=file, line=line, column=name)


def no_column(name: str, columns: Sequence[str], hint: str, *, file: str, line: int | None = None) -> BadData:
    """Return the error for a table without a column; the hint says what to do."""
    message = f"has no column {name!r}; the columns are: {join_names(columns)}. {hint}".rstrip(". ")
    return BadData(message, file=file, line=line, column=name, suggestion=closest(name, columns))


def csv_batches(
    path: Path, wanted: Sequence[str], delimiter: str, names: Sequence[str] | None = None
) -> Iterator[list[Any]]:
    """Yield the wanted columns in batches; the header must have them. `names` are those of a file without a header."""
    done = 0
    for block_size in (BLOCK, LONGEST_LINE):
        passed = 0
        try:
            for columns in _arrow_batches(path, wanted, delimiter, block_size, names=names):
                rows = len(columns[0])
                if passed + rows > done:
                    yield [column.slice(max(done - passed, 0)) for column in columns]
                    done = passed + rows
                passed += rows
        except _NOT_CSV as error:
            if block_size < LONGEST_LINE and _needs_larger_block(error):
                continue
            raise _what_is_wrong(path, wanted, delimiter, error, names) from None
        return


def _arrow_batches(
    path: Path,
    wanted: Sequence[str],
    delimiter: str,
    block_size: int,
    *,
    on_broken_row: Any = None,
    names: Sequence[str] | None = None,
) -> Iterator[list[Any]]:
    if names is None and _is_one_line(path):
        return  # Arrow refuses a header without a line end
    convert = pacsv.ConvertOptions(
        column_types=dict.fromkeys(wanted, pa.large_string()), include_columns=list(wanted), strings_can_be_null=False
    )
    parsing = pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=on_broken_row)
    options = pacsv.ReadOptions(use_threads=on_broken_row is None, block_size=block_size, column_names=names)
    with reading(path) as (stream, advance):
        reader = pacsv.open_csv(stream, options, parsing, convert)
        for batch in reader:
            yield [batch.column(name) for name in wanted]
            advance(block_size)


def _is_one_line(path: Path) -> bool:
    return not any(b"\n" in block or b"\r" in block for block in blocks(path))


def _what_is_wrong(
    path: Path, wanted: Sequence[str], delimiter: str, error: Exception, names: Sequence[str] | None
) -> BadData:
    """Return the error about a file that Arrow could not read, with the line."""
    file = str(path)
    if wrong_text := first_not_utf8(path):
        return wrong_text
    broken: list[Any] = []

    def on_broken_row(row: Any) -> str:
        broken.append(row)
        return "error"

    for block_size in (BLOCK, LONGEST_LINE):
        try:
            for _batch in _arrow_batches(path, wanted, delimiter, block_size, on_broken_row=on_broken_row, names=names):
                pass
        except _NOT_CSV as again:
            error = again
            if broken:
                row = broken[0]
                first = "header" if names is None else "first line"
                message = f"has {quantity(row.actual_columns, 'field')} where the {first} has {row.expected_columns:,}"
                return BadData(message, file=file, line=_line_of_row(path, delimiter, row.number))
            if _needs_larger_block(error):
                continue
        break
    if _needs_larger_block(error):
        return BadData(f"has a line of more than {LONGEST_LINE >> 20} MB, or a quote that is never closed", file=file)
    return BadData(f"cannot be read as CSV ({str(error).splitlines()[0]})", file=file)


def _needs_larger_block(error: Exception) -> bool:
    """Return whether a line or the header is longer than a block."""
    return "straddl" in str(error) or "Empty CSV file or block" in str(error)


def first_not_utf8(path: Path) -> BadData | None:
    """Return the error about the first byte that is not UTF-8 text, or None."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 1
    for block in chain(blocks(path), [b""]):
        try:
            lines += decoder.decode(block, final=not block).count("\n")
        except UnicodeDecodeError as error:
            lines += error.object.count(b"\n", 0, error.start)
            byte = error.object[error.start]
            message = f"holds the byte 0x{byte:02x}, which is not UTF-8 text; {how_to_decode(byte)}"
            return BadData(message, file=str(path), line=lines)
    return None


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file with their line ends, as the csv module expects."""
    parts: list[bytes] = []
    for block in blocks(path):
        for piece in block.splitlines(keepends=True):
            if parts and parts[-1].endswith(b"\r") and piece != b"\n":
                yield b"".join(parts).decode(errors="replace")
                parts = []
            parts.append(piece)
            if piece.endswith(b"\n"):
                yield b"".join(parts).decode(errors="replace")
                parts = []
    if parts:
        yield b"".join(parts).decode(errors="replace")


def _line_of_row(path: Path, delimiter: str, row: int) -> int:
    """Return the first line of a row, both counted from 1. Blank lines are not rows, and values can hold line breaks."""
    reader = csv.reader(_lines(path), delimiter=delimiter)
    starts = 1
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        with suppress(csv.Error):  # a value longer than any line: a quote that is never closed, on this line
            for found in reader:
                row -= bool(found)
                if row == 0:
                    break
                starts = reader.line_num + 1
    finally:
        csv.field_size_limit(before)
    return starts
