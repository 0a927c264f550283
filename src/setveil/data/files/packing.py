"""Bytes in and out: plain, gzip (.gz) and Zstandard (.zst), told by the ending of the name.

Reading goes through Arrow's streams, which check that a packed file is whole. gzip is written without time and name, so that the same data
gives the same bytes.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from setveil.base import progress
from setveil.errors import BadData, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PACKINGS = {".gz": "gzip", ".zst": "zstd"}
READ_BLOCK = 1 << 22

_MARKS = {
    b"\x1f\x8b": "is packed with gzip, though its name does not end in .gz; rename it",
    b"\x28\xb5\x2f\xfd": "is packed with Zstandard, though its name does not end in .zst; rename it",
    b"\xff\xfe\0\0": "is UTF-32 text; expected UTF-8: save it again as UTF-8",
    b"\0\0\xfe\xff": "is UTF-32 text; expected UTF-8: save it again as UTF-8",
    b"\xff\xfe": "is UTF-16 text; expected UTF-8: save it again as UTF-8",
    b"\xfe\xff": "is UTF-16 text; expected UTF-8: save it again as UTF-8",
    b"PK\x03\x04": "is a ZIP archive or a spreadsheet; unpack it, or save it as CSV",
    b"SQLite format 3\0": "is an SQLite database; name it as sqlite:///PATH, with `query=`",
}
"""How files begin that text files do not begin with."""
_TABLE = re.compile(rb"(PAR1|ARROW1).{0,64}?[\x00-\x08\x0e-\x1f]", re.DOTALL)
"""How tables begin: with letters that an item can begin with too, but with other bytes soon after them."""
_TABLE_KINDS = {b"PAR1": "is a Parquet file; name it so (.parquet)", b"ARROW1": "is an Arrow file; name it so (.arrow)"}


def packing_of(path: Path) -> str | None:
    """Return how a file of that name is packed, if it is."""
    return PACKINGS.get(path.suffix.lower())


def plain_suffix(path: Path) -> str:
    """Return the extension that names the format, without .gz or .zst."""
    return (Path(path.stem).suffix if packing_of(path) else path.suffix).lower()


@dataclass
class _OpenFile:
    """A file that is open, and whether it is being read."""

    raw: Any
    size: int
    in_use: bool = False


_held: ContextVar[dict[Path, _OpenFile]] = ContextVar("setveil_held_files", default={})  # noqa: B039 - never changed in place


@contextmanager
def opened_once(path: Path) -> Iterator[None]:
    """Open a file for the whole block: what reads it inside, one after the other, starts again at the beginning of the same open file."""
    if path in _held.get():
        yield
        return
    with _open(path) as file:
        token = _held.set({**_held.get(), path: file})
        try:
            yield
        finally:
            _held.reset(token)


@contextmanager
def open_file(path: Path) -> Iterator[tuple[Any, int]]:
    """Give a file as Arrow reads it, at its beginning, and its size; refuse what is not a file that can be read."""
    held = _held.get().get(path)
    if held is None or held.in_use:  # in use: what is wrong with a row is looked up while Arrow still reads ahead
        with _open(path) as file:
            yield file.raw, file.size
        return
    held.in_use = True
    try:
        held.raw.seek(0)
        yield held.raw, held.size
    finally:
        held.in_use = False


@contextmanager
def _open(path: Path) -> Iterator[_OpenFile]:
    name = str(path)
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise BadData("is a folder; expected a file", file=name)
        if not stat.S_ISREG(found.st_mode):
            raise BadData("is a pipe or a device; expected a file: write what comes through it to one", file=name)
        raw = pa.OSFile(os.fsencode(path))
    except FileNotFoundError:
        raise BadData("there is no such file", file=name) from None
    except OSError as error:
        reason = error if error.errno is None else os.strerror(error.errno)  # Arrow's own sentence names the file again
        raise BadData(f"cannot be read: {reason}", file=name) from None
    except ValueError:
        raise BadData("is not a name that a file can have", file=repr(name)) from None
    with raw:
        yield _OpenFile(raw, found.st_size)


class _LeftOpen:
    """A file that stays open: a stream that unpacks closes what it reads from."""

    closed = False

    def __init__(self, raw: Any) -> None:
        self.read = raw.read

    def close(self) -> None:
        """Leave it open."""


@contextmanager
def reading(path: Path) -> Iterator[tuple[Any, Callable[[], None]]]:
    """Give the unpacked stream of a file, and what to call now and then to show how far it was read.

    What goes wrong with the file inside the block ends in one sentence.
    """
    name, packing = str(path), packing_of(path)
    try:
        with open_file(path) as (raw, size), progress.step(f"reading {path.name}", size) as advance:
            if not packing:
                yield raw, lambda: advance(raw.tell())
                return
            with pa.CompressedInputStream(pa.PythonFile(_LeftOpen(raw), "r"), packing) as stream:
                yield stream, lambda: advance(raw.tell())
    except OSError as error:
        if packing and error.errno is None:  # Arrow's own: not of the system but about the content
            raise BadData(f"is not a whole {packing} file ({str(error).splitlines()[0]})", file=name) from None
        raise BadData(f"cannot be read: {error.strerror or error}", file=name) from None


def blocks(path: Path) -> Iterator[bytes]:
    """Give the unpacked bytes of a text file in blocks, without a byte order mark; other kinds of files are told by their mark."""
    with reading(path) as (stream, advance):
        first = True
        while block := stream.read(READ_BLOCK):
            if first:
                refuse_other_kind(block, str(path))
                block, first = block.removeprefix(b"\xef\xbb\xbf"), False
            yield block
            advance()


def refuse_other_kind(beginning: bytes, name: str) -> None:
    """Refuse a file that begins as no text file does."""
    for mark, sentence in _MARKS.items():
        if beginning.startswith(mark):
            raise BadData(sentence, file=name)
    if table := _TABLE.match(beginning):
        raise BadData(_TABLE_KINDS[table[1]], file=name)


def read_bytes(path: Path) -> bytes:
    """Read a whole text file."""
    return b"".join(blocks(path))


@contextmanager
def writing(path: Path) -> Iterator[Any]:
    """Give a file to write to, packed as its name says; what the system refuses ends in one sentence."""
    try:
        with path.open("wb") as raw:
            match packing_of(path):
                case "gzip":
                    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed:
                        yield packed
                case "zstd":
                    with pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd") as packed:
                        yield packed
                case _:
                    yield raw
    except OSError as error:
        with suppress(OSError):
            if path.is_file():
                path.unlink()  # half a file is worse than none
        raise OutputRefused(f"{path} cannot be written: {error.strerror or error}") from None
