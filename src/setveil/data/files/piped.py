"""Data that arrive through standard input or through a pipe of the shell, such as `<(zcat old.csv.gz)`, and data for standard output.

Readers open a file more than once, and a pipe can be read only once. So the content is copied to a temporary file first. This file has no
name: no other user can open it, and the system removes it when the process ends, however it ends.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from setveil.base import progress
from setveil.data.files.packing import BYTE_ORDER_MARK, PACKING_MARKS, PACKINGS, OpenFile, holding, opened_once
from setveil.engines.scratch import OTHER_FOLDER, scratch_folder
from setveil.errors import BadData, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

STANDARD_INPUT = Path("standard input")
INPUT_PLACES = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
OUTPUT_PLACES = ("-", "/dev/stdout")
_DESCRIPTORS = ("/dev/fd/", "/proc/self/fd/")
_BLOCK = 1 << 20
_BEGINNING = 1 << 12


@contextmanager
def opened(place: str | Path, encoding: str | None = None) -> Iterator[Path]:
    """Keep the file, the pipe or standard input open for the block; yield the path by which readers find it.

    `encoding`, a result of `encoding_named`, is that of a text file.
    """
    path = STANDARD_INPUT if str(place) in INPUT_PLACES else Path(place)
    if path != STANDARD_INPUT and not str(place).startswith(_DESCRIPTORS):
        with opened_once(path, encoding):
            yield path
        return
    with holding(path, lambda: _copied(path, encoding)):
        yield path


@contextmanager
def _copied(path: Path, encoding: str | None) -> Iterator[OpenFile]:
    """Copy the content of a pipe to a temporary file without a name, and yield the open file."""
    try:
        with _standard_input() if path == STANDARD_INPUT else path.open("rb") as source:
            copy = tempfile.TemporaryFile(dir=scratch_folder())  # noqa: SIM115 - closed below
            with progress.step(f"reading {path}") as advance:
                try:
                    while block := source.read(_BLOCK):
                        _write(copy, block, path)
                        advance(copy.tell())
                except BaseException:
                    copy.close()
                    raise
    except OSError as error:
        raise BadData(f"cannot be read: {error.strerror or error}", file=str(path)) from None
    with copy, pa.PythonFile(copy, "r") as raw:
        size = copy.tell()
        copy.seek(0)
        beginning = copy.read(_BEGINNING)
        yield OpenFile(raw, size, encoding, Path(f"data{_ending_of(beginning, encoding)}"))


def _standard_input() -> AbstractContextManager[Any]:
    """Return standard input, which stays open."""
    source = getattr(sys.stdin, "buffer", None)
    if source is None:  # closed by the parent process, or a notebook
        raise BadData("is not open; send data to it, or give the path of a file", file=str(STANDARD_INPUT))
    return nullcontext(source)


def _write(copy: Any, block: bytes, path: Path) -> None:
    try:
        copy.write(block)
        copy.flush()
    except OSError as error:
        problem = f"cannot be copied to {scratch_folder()}: {error.strerror or error}"
        raise BadData(f"{problem}; {OTHER_FOLDER}", file=str(path)) from None


def _ending_of(beginning: bytes, encoding: str | None) -> str:
    """Return the extensions that a file with these first bytes would have; none for text that is not JSON."""
    for mark, packing in PACKING_MARKS.items():
        if beginning.startswith(mark):
            inside = b""
            with suppress(OSError), pa.CompressedInputStream(pa.BufferReader(beginning), packing) as unpacked:
                inside = unpacked.read(_BEGINNING // 16)
            ending = next(ending for ending, name in PACKINGS.items() if name == packing)
            return _ending_of(inside, encoding) + ending
    if beginning.startswith(b"PAR1"):
        return ".parquet"
    if beginning.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return ".arrow"
    if encoding is not None:
        beginning = beginning.decode(encoding, "ignore").encode()
    return ".jsonl" if beginning.removeprefix(BYTE_ORDER_MARK).lstrip().startswith((b"{", b"[")) else ""


def write_to_standard_output(blocks: Iterable[bytes]) -> None:
    """Write blocks to standard output: all of them, or none if one cannot be made."""
    with tempfile.TemporaryFile() as copy:
        try:
            copy.writelines(blocks)
            copy.seek(0)
            while block := copy.read(_BLOCK):
                sys.stdout.buffer.write(block)
            sys.stdout.buffer.flush()
        except OSError as error:
            raise OutputRefused(f"standard output cannot be written: {error.strerror or error}") from None
