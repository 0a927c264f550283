"""Read and write bytes: plain, gzip (.gz) or Zstandard (.zst), by the extension of the file.

All readers see UTF-8: `opened_once` names the encoding of a file in another one.

Arrow's streams read compressed files and check that they are complete. gzip is written without time and name, so that equal data give equal
bytes.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from setveil.base import progress
from setveil.data.files.character_encodings import DecodedStream
from setveil.errors import BadData, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

PACKINGS = {".gz": "gzip", ".zst": "zstd"}
PACKING_MARKS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""The first bytes of compressed files."""
READ_BLOCK = 1 << 22
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The mark of UTF-8, which some programs write at the beginning of a text file."""

_MARKS = {
    b"\x1f\x8b": "is compressed with gzip, but its name does not end in .gz; rename it",
    b"\x28\xb5\x2f\xfd": "is compressed with Zstandard, but its name does not end in .zst; rename it",
    b"\xff\xfe\0\0": "is UTF-32 text; expected UTF-8; save it as UTF-8, or use `encoding='utf-32'`",
    b"\0\0\xfe\xff": "is UTF-32 text; expected UTF-8; save it as UTF-8, or use `encoding='utf-32'`",
    b"\xff\xfe": "is UTF-16 text; expected UTF-8; save it as UTF-8, or use `encoding='utf-16'`",
    b"\xfe\xff": "is UTF-16 text; expected UTF-8; save it as UTF-8, or use `encoding='utf-16'`",
    b"PK\x03\x04": "is a ZIP archive or a spreadsheet; unpack it, or save it as CSV",
    b"SQLite format 3\0": "is an SQLite database; name it as sqlite:///PATH, with `query=`",
}
"""The first bytes of files that are not text, with the message about each."""
_TABLE = re.compile(rb"(PAR1|ARROW1).{0,64}?[\x00-\x08\x0e-\x1f]", re.DOTALL)
"""The start of table files: letters with which an item could begin too, but soon followed by control bytes."""
_TABLE_KINDS = {b"PAR1": "is a Parquet file; rename it to .parquet", b"ARROW1": "is an Arrow file; rename it to .arrow"}


def packing_of(path: Path) -> str | None:
    """Return the compression of a file by its name, or None."""
    return PACKINGS.get(_like(path).suffix.lower())


def plain_suffix(path: Path) -> str:
    """Return the extension of a file without .gz or .zst; it determines the format."""
    name = _like(path)
    return (Path(name.stem).suffix if packing_of(path) else name.suffix).lower()


class OpenFile(NamedTuple):
    """An open file."""

    raw: Any
    size: int
    encoding: str | None = None
    """The encoding of the text; None for UTF-8, or no text."""
    like: Path | None = None
    """For a pipe, whose name says nothing: a name with the extensions that fit its content."""


_held: ContextVar[dict[Path, OpenFile]] = ContextVar("setveil_held_files", default={})  # noqa: B039 - never changed in place


def _like(path: Path) -> Path:
    held = _held.get().get(path)
    return path if held is None or held.like is None else held.like


@contextmanager
def holding(path: Path, opening: Callable[[], AbstractContextManager[OpenFile]]) -> Iterator[None]:
    """Keep a file open for the block, unless it is; each reader in the block starts at its beginning."""
    if path in _held.get():
        yield
        return
    with opening() as file:
        token = _held.set({**_held.get(), path: file})
        try:
            yield
        finally:
            _held.reset(token)


def opened_once(path: Path, encoding: str | None = None) -> AbstractContextManager[None]:
    """Keep a file open for the block; each reader in the block starts at the beginning of the same open file.

    `encoding`, a result of `encoding_named`, is that of a text file. Readers in the block read the file as UTF-8.
    """
    return holding(path, lambda: _open(path, encoding))


@contextmanager
def open_file(path: Path) -> Iterator[OpenFile]:
    """Yield an Arrow file at its beginning, and its size; refuse what is not a readable file."""
    if held := _held.get().get(path):
        held.raw.seek(0)
        yield held
        return
    with _open(path) as file:
        yield file


@contextmanager
def _open(path: Path, encoding: str | None = None) -> Iterator[OpenFile]:
    name = str(path)
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise BadData("is a folder; expected a file", file=name)
        if not stat.S_ISREG(found.st_mode):
            raise BadData("is a pipe or a device; expected a file; write its content to a file first", file=name)
        raw = pa.OSFile(os.fsencode(path))
    except FileNotFoundError:
        raise BadData("there is no such file", file=name) from None
    except OSError as error:
        reason = error if error.errno is None else os.strerror(error.errno)  # Arrow's message repeats the file name
        raise BadData(f"cannot be read: {reason}", file=name) from None
    except ValueError:
        raise BadData("is not a valid file name", file=repr(name)) from None
    progress.detail(f"reading {name}")
    with raw:
        try:
            yield OpenFile(raw, found.st_size, encoding)
        except BadData:  # maybe because the file was changed
            _refuse_changed(path, found)
            raise
        _refuse_changed(path, found)


def _refuse_changed(path: Path, before: os.stat_result) -> None:
    """Refuse a file that was changed while it was read. One that was removed or replaced is read as it was."""
    with suppress(OSError):
        now = path.stat()
        is_same = (now.st_dev, now.st_ino) == (before.st_dev, before.st_ino)
        if is_same and (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            what = "was changed while it was read"
            raise BadData(f"{what}; wait until no program writes to it, or read a copy", file=str(path))


class _Reader:
    """A reader of an open file with a position of its own, so that it disturbs no other reader of the file.

    Arrow reads ahead in the background, and goes on for a moment after it has raised an error. `close` does nothing, because streams close
    their input.
    """

    closed = False

    def __init__(self, raw: Any) -> None:
        self._raw, self._position = raw, 0

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most `size`."""
        found: bytes = self._raw.read_at(size, self._position)
        self._position += len(found)
        return found

    def tell(self) -> int:
        """Return the number of bytes read."""
        return self._position

    def close(self) -> None:
        """Do nothing."""


@contextmanager
def reading(path: Path) -> Iterator[tuple[Any, Callable[[int], None]]]:
    """Yield the decompressed stream of a file, and a function to call with the number of bytes that were used: it shows the progress.

    Errors of the file inside the block become `BadData`.
    """
    name, packing = str(path), packing_of(path)
    try:
        with open_file(path) as (raw, size, encoding, _), progress.step(f"reading {path.name}", size) as advance:
            is_plain = not packing and not encoding
            file, used = _Reader(raw), 0

            def show(more: int) -> None:
                nonlocal used
                used = min(used + more, size)
                advance(used if is_plain else file.tell())

            with ExitStack() as stack:
                # A stream without Python: Arrow may still read ahead when the interpreter ends, which would abort the program.
                stream = stack.enter_context(raw.get_stream(0, size) if is_plain else pa.PythonFile(file, "r"))
                if packing:
                    stream = stack.enter_context(pa.CompressedInputStream(stream, packing))
                if encoding:
                    stream = stack.enter_context(pa.PythonFile(DecodedStream(stream, encoding, name), "r"))
                yield stream, show
    except OSError as error:
        if packing and error.errno is None:  # from Arrow, about the content, not from the system
            raise BadData(f"is not a complete {packing} file ({str(error).splitlines()[0]})", file=name) from None
        raise BadData(f"cannot be read: {error.strerror or error}", file=name) from None


def blocks(path: Path) -> Iterator[bytes]:
    """Yield the decompressed bytes of a text file in blocks, without a byte order mark; refuse other kinds of files."""
    with reading(path) as (stream, advance):
        first = True
        while block := stream.read(READ_BLOCK):
            size = len(block)
            if first:
                refuse_other_kind(block, str(path))
                block, first = block.removeprefix(BYTE_ORDER_MARK), False
            yield block
            advance(size)


def refuse_other_kind(beginning: bytes, name: str) -> None:
    """Refuse a file whose first bytes show that it is not text."""
    for mark, sentence in _MARKS.items():
        if beginning.startswith(mark):
            raise BadData(sentence, file=name)
    if table := _TABLE.match(beginning):
        raise BadData(_TABLE_KINDS[table[1]], file=name)


def read_bytes(path: Path, encoding: str | None = None) -> bytes:
    """Read a whole text file as UTF-8; `encoding` is a result of `encoding_named`."""
    with opened_once(path, encoding):
        return b"".join(blocks(path))


@contextmanager
def writing(path: Path) -> Iterator[Any]:
    """Yield a file to write to, compressed as its name says; errors of the system become `OutputRefused`."""
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
                path.unlink()  # do not keep an incomplete file
        raise OutputRefused(f"{path} cannot be written: {error.strerror or error}") from None
