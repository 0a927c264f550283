"""Side files: tables with a header, and lists of items.

All are UTF-8 text, with or without a byte order mark, optionally compressed. Names follow the rules of items: not empty, no control
characters. An error names the line and shows at most three labels (docs/decisions/0009).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.display import quantity
from setveil.data.files.packing import read_bytes
from setveil.data.files.texts import CONTROL, join_names, not_utf8
from setveil.data.records.labels import BLANKS, are_texts, note_stripped
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BETWEEN = " \t\r\v\f"
"""Blanks around items in text files of lists, as in basket files; without a separator they also separate items."""
_CONTROL_BYTE = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_CONTROL = re.compile(CONTROL)
_SHOWN = 60


def shown(label: str) -> str:
    """Return a label for a message: in quotes, and shortened if it is very long."""
    text = repr(label)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def unusable(label: str) -> str | None:
    """Return why a name is invalid for an item or node, or None."""
    if not label:
        return "is empty"
    if _CONTROL.search(label):
        return "holds a control character"
    return None if are_texts([label]) else "holds a lone surrogate, which is not valid Unicode text"


def first_unusable(labels: Iterable[str]) -> str | None:
    """Return what is wrong with the first invalid name, or None."""
    given = list(labels)
    if are_texts(given) and "" not in given and not _CONTROL.search("".join(given)):  # much faster than one by one
        return None
    for label in given:
        if not isinstance(label, str):
            return f"a name is a {type(label).__name__}; expected a text"
        if wrong := unusable(label):
            return f"the name {shown(label)} {wrong}"
    return None


# -- tables ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A CSV file whose header has the column `item` and at least one more; its rows can be iterated once."""

    file: str
    columns: list[str]
    rows: Iterator[tuple[int, list[str]]]
    """Each row with the number of its first line; all rows have one field per column."""

    @property
    def levels(self) -> list[str]:
        """The columns other than `item`."""
        return [name for name in self.columns if name != "item"]

    @property
    def is_parents(self) -> bool:
        """Whether each row is a node with its parent."""
        return self.levels == ["parent"]

    def places(self, names: Iterable[str]) -> list[int]:
        """Return the positions of the columns with these names; refuse a name that is not a level."""
        place_of = {name: place for place, name in enumerate(self.columns) if name != "item"}
        places = []
        for name in names:
            if name not in place_of:
                known = join_names(place_of)
                raise BadData(f"has no level {shown(name)}; the levels are: {known}", file=self.file, line=1)
            places.append(place_of[name])
        return places


def read_table(source: str) -> Table:
    """Open a CSV file, or the taxonomy of `sample:NAME`."""
    if source.startswith("sample:"):
        from setveil.data.samples import sample_taxonomy  # noqa: PLC0415 - loaded only for samples

        header, sample_rows = sample_taxonomy(source)
        return Table(source, header, enumerate(sample_rows, start=2))
    content = read_bytes(Path(source))
    if wrong := not_utf8(content, source):
        raise wrong
    reader = csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True)
    columns = [name.strip() for name in next(_rows(reader, source), (1, []))[1]]
    count_of = Counter(columns)
    for name, count in count_of.items():
        if count > 1:
            raise BadData(f"has {count} columns {shown(name)}; expected each column once", file=source, line=1)
    if "item" not in count_of:
        known = join_names(columns)
        raise BadData(f"expected a header with the column 'item'; the columns are: {known}", file=source, line=1)
    if len(columns) == 1:
        raise BadData("has only the column 'item'; expected another column with the categories", file=source, line=1)
    return Table(source, columns, _stripped(_rows(reader, source, len(columns)), source))


def _stripped(rows: Iterator[tuple[int, list[str]]], file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows without blanks at the ends of fields; at the end, announce how many fields had some."""
    with_blanks = 0
    for number, row in rows:
        bare = [field.strip(BLANKS) for field in row]
        if bare != row:
            with_blanks += sum(field != given for field, given in zip(bare, row, strict=True))
        yield number, bare
    note_stripped(with_blanks, file)


def _rows(reader: Any, file: str, width: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of its first line; a quoted value can hold line breaks."""
    starts = reader.line_num + 1
    try:
        for row in reader:
            if width is None or len(row) == width:
                yield starts, row
            elif row:
                raise BadData(
                    f"has {quantity(len(row), 'field')} where the header has {width:,}", file=file, line=starts
                )
            starts = reader.line_num + 1
    except csv.Error as error:
        raise BadData(f"is not valid CSV ({error})", file=file, line=reader.line_num) from None


# -- lists of items ----------------------------------------------------------------------------------------------------


def lines_in(file: str) -> list[str]:
    """Return the lines of a text file; refuse other content."""
    content = read_bytes(Path(file))
    if control := _CONTROL_BYTE.search(content):
        line = content.count(b"\n", 0, control.start()) + 1
        raise BadData(f"holds the control byte 0x{control[0][0]:02x}; expected text in UTF-8", file=file, line=line)
    if wrong := not_utf8(content, file):
        raise wrong
    return content.decode("utf-8").split("\n")


def refuse_unusable(item: str, file: str, number: int) -> None:
    """Refuse an invalid item name; the error names its line."""
    if wrong := unusable(item):
        raise BadData(f"the item {shown(item)} {wrong}", file=file, line=number)
