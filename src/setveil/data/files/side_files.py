"""Side files that are lists of items, and names in side files; `side_tables` reads tables.

All are UTF-8 text, with or without a byte order mark, optionally compressed. Names follow the rules of items: not empty, no control
characters. An error names the line and shows at most three labels (docs/decisions/0009).
"""

from __future__ import annotations

import re
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.data.files.character_encodings import encoding_named
from setveil.data.files.column_files import EXTENSIONS
from setveil.data.files.packing import opened_once, plain_suffix, read_bytes
from setveil.data.files.texts import CONTROL, not_utf8
from setveil.data.records.labels import are_texts
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BETWEEN = " \t\r\v\f"
"""Blanks around items in text files of lists, as in basket files; without a separator they also separate items."""
_CONTROL_BYTE = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_CONTROL = re.compile(CONTROL)
_SHOWN = 60


@contextmanager
def side_file(source: str, side_encoding: str | None) -> Iterator[None]:
    """Let the readers in the block read a file as UTF-8; text that is not UTF-8 has the given encoding.

    The files of one command may differ, and text in another encoding is hardly ever valid UTF-8, so a valid file is read as it is.
    """
    from setveil.data import databases  # noqa: PLC0415 - loaded only for reading

    if databases.is_database(source):
        raise BadData(
            "is a database, and a side file is a file; write the table to a file first", file=databases.shown(source)
        )
    path, encoding = Path(source), encoding_named(side_encoding)
    try:
        with opened_once(path, encoding) if encoding and not _is_utf8(path) else nullcontext():
            yield
    except BadData as error:
        error.args = (str(error).replace("`encoding=", "`side_encoding="),)
        raise


def _is_utf8(path: Path) -> bool:
    """Return whether a file is read without an encoding: text in UTF-8, a table that is not text, or no file at all."""
    if not path.is_file() or plain_suffix(path) in EXTENSIONS:
        return True
    with suppress(BadData, UnicodeDecodeError):
        read_bytes(path).decode("utf-8")
        return True
    return False


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


def lines_in(file: str) -> list[str]:
    """Return the lines of a text file; refuse other content."""
    content = read_bytes(Path(file))
    if control := _CONTROL_BYTE.search(content):
        line = content.count(b"\n", 0, control.start()) + 1
        raise BadData(f"holds the control byte 0x{control[0][0]:02x}; expected text in UTF-8", file=file, line=line)
    if wrong := not_utf8(content, file):
        raise wrong
    return content.decode("utf-8").split("\n")
