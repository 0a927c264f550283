"""Files that stand beside the data: tables with a header, and lists of items.

All are UTF-8 text, with or without a byte order mark, packed or not. A name is what an item may be: not empty, no control characters in it.
What is wrong with one is said in a sentence that names the line; up to three labels may stand in it (docs/decisions/0009).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.data.files.packing import read_bytes
from setveil.data.files.texts import CONTROL, in_words, not_utf8
from setveil.data.records.labels import BLANKS, are_texts, note_stripped
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BETWEEN = " \t\r\v\f"
"""What stands around items of lists in text files, as in basket files; without a separator it also stands between them."""
_CONTROL_BYTE = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_CONTROL = re.compile(CONTROL)
_SHOWN = 60


def shown(label: str) -> str:
    """Return a label as it stands in a sentence: in quotes, and cut if it is very long."""
    text = repr(label)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def unusable(label: str) -> str | None:
    """Say why no item or node can have this name, if so."""
    if not label:
        return "is empty"
    if _CONTROL.search(label):
        return "holds a control character"
    return None if are_texts([label]) else "holds half a character (a lone surrogate)"


def first_unusable(labels: Iterable[str]) -> str | None:
    """Say what is wrong with the first name that no item or node can have, if there is one."""
    given = list(labels)
    if (
        are_texts(given) and "" not in given and not _CONTROL.search("".join(given))
    ):  # a million at once, not one by one
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
    """A CSV file with a header that has the column `item` and at least one more; its rows can be gone through once."""

    file: str
    columns: list[str]
    rows: Iterator[tuple[int, list[str]]]
    """Each with the number of the line on which it starts, and with as many fields as there are columns."""

    @property
    def levels(self) -> list[str]:
        """The columns beside `item`."""
        return [name for name in self.columns if name != "item"]

    @property
    def is_parents(self) -> bool:
        """Whether a row is a node and its parent."""
        return self.levels == ["parent"]

    def places(self, names: Iterable[str]) -> list[int]:
        """Return where the columns of these names stand, or refuse a name that is no level."""
        place_of = {name: place for place, name in enumerate(self.columns) if name != "item"}
        places = []
        for name in names:
            if name not in place_of:
                known = in_words(place_of)
                raise BadData(f"has no level {shown(name)}; the levels are: {known}", file=self.file, line=1)
            places.append(place_of[name])
        return places


def read_table(source: str) -> Table:
    """Open a CSV file, or the taxonomy of `sample:NAME`."""
    if source.startswith("sample:"):
        from setveil.data.samples import sample_taxonomy  # noqa: PLC0415 - only who asks for a sample pays for it

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
            raise BadData(f"has {count} columns {shown(name)}; each may stand once", file=source, line=1)
    if "item" not in count_of:
        known = in_words(columns)
        raise BadData(f"expected a header with the column 'item'; the columns are: {known}", file=source, line=1)
    if len(columns) == 1:
        raise BadData("has no column beside 'item'; expected one with the categories", file=source, line=1)
    return Table(source, columns, _stripped(_rows(reader, source, len(columns)), source))


def _stripped(rows: Iterator[tuple[int, list[str]]], file: str) -> Iterator[tuple[int, list[str]]]:
    """Give the rows without blanks at the ends of their fields, and note how many fields had some."""
    with_blanks = 0
    for number, row in rows:
        bare = [field.strip(BLANKS) for field in row]
        if bare != row:
            with_blanks += sum(field != given for field, given in zip(bare, row, strict=True))
        yield number, bare
    note_stripped(with_blanks, file)


def _rows(reader: Any, file: str, width: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Give each row with the number of the line on which it starts: a quoted value can hold line breaks."""
    starts = reader.line_num + 1
    try:
        for row in reader:
            if width is None or len(row) == width:
                yield starts, row
            elif row:
                raise BadData(f"has {len(row)} fields where the header has {width}", file=file, line=starts)
            starts = reader.line_num + 1
    except csv.Error as error:
        raise BadData(f"is not a line of CSV ({error})", file=file, line=reader.line_num) from None


# -- lists of items ----------------------------------------------------------------------------------------------------


def lines_in(file: str) -> list[str]:
    """Return the lines of a text file, or refuse what is not text."""
    content = read_bytes(Path(file))
    if control := _CONTROL_BYTE.search(content):
        line = content.count(b"\n", 0, control.start()) + 1
        raise BadData(f"holds the control byte 0x{control[0][0]:02x}; expected text in UTF-8", file=file, line=line)
    if wrong := not_utf8(content, file):
        raise wrong
    return content.decode("utf-8").split("\n")


def refuse_unusable(item: str, file: str, number: int) -> None:
    """Refuse a name that no item can have, and say on which line it is."""
    if wrong := unusable(item):
        raise BadData(f"the item {shown(item)} {wrong}", file=file, line=number)
