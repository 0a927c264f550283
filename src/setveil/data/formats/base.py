"""What every file format can do; standing in `FORMATS` (this folder's `__init__`) is enough to be tested and offered."""

from __future__ import annotations

import gzip
import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from setveil import progress
from setveil.errors import BadData, BadParameter, OutputRefused

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions

READ_BLOCK = 1 << 24


@dataclass(frozen=True)
class Layout:
    """How a file is laid out, as far as its format leaves that open."""

    separator: str | None = None
    """Between items of a line; None is any run of blanks."""
    id: str = "id"
    item: str = "item"


class Format(ABC):
    """A way to write transactions to a file and to read them back."""

    name: ClassVar[str]
    summary: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    version: ClassVar[int] = 1
    holds_ids: ClassVar[bool]
    holds_empty_records: ClassVar[bool]

    def public_layout(self, layout: Layout) -> dict[str, str]:
        """Return what a reader of a file needs to know beside the format's name."""
        columns = {"id": layout.id, "item": layout.item} if self.holds_ids else {}
        return columns | ({"separator": layout.separator} if layout.separator else {})

    @abstractmethod
    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a file, or say in one sentence what is wrong with it and where."""

    @abstractmethod
    def encode(self, data: Transactions, layout: Layout) -> bytes:
        """Return the bytes of the file; the same data give the same bytes."""

    def layout_in(self, path: Path, layout: Layout) -> Layout:
        """Return the layout of a file of that name: an extension can say more than the format."""
        del path
        return layout

    def write(self, data: Transactions, path: Path, layout: Layout) -> None:
        """Write a file; compressed if its name ends in .gz, and then without time and name."""
        if data.ids is None and self.holds_ids:
            raise OutputRefused(f"the format {self.name!r} needs an id for each record, and the data has none")
        if data.empty_records and not self.holds_empty_records:
            raise OutputRefused(
                f"the format {self.name!r} cannot hold the {data.empty_records:,} empty records; leave them out with --empty drop"
            )
        content = self.encode(data, self.layout_in(path, layout))
        if path.suffix.lower() == ".gz":
            content = gzip.compress(content, compresslevel=6, mtime=0)
        try:
            path.write_bytes(content)
        except OSError as error:
            raise OutputRefused(f"{path} cannot be written: {error.strerror}") from None


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacking .gz, with progress; what cannot be read ends in one sentence."""
    name = str(path)
    try:
        if path.is_dir():
            raise BadData("is a folder; expected a file", file=name)
        size = path.stat().st_size
        blocks = []
        with path.open("rb") as raw, progress.step(f"reading {path.name}", size) as advance:
            source = gzip.GzipFile(fileobj=raw) if path.suffix.lower() == ".gz" else raw
            while block := source.read(READ_BLOCK):
                blocks.append(block)
                advance(raw.tell())
        return b"".join(blocks)
    except FileNotFoundError:
        raise BadData("there is no such file", file=name) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadData(f"is not a whole gzip file ({error})", file=name) from None
    except OSError as error:
        raise BadData(f"cannot be read: {error.strerror or error}", file=name) from None
    except ValueError:
        raise BadData("is not a name that a file can have", file=repr(name)) from None


def not_utf8(content: bytes, file: str) -> BadData | None:
    """Return the error about the first byte that is not UTF-8 text, if there is one."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return BadData(f"holds the byte 0x{content[error.start]:02x}, which is not UTF-8 text", file=file, line=line)
    return None


def check_separator(given: str, *, quote: bool = True) -> None:
    """Refuse what cannot stand between items; `quote` says whether a double quote can."""
    if len(given) != 1 or ord(given) > 126 or (ord(given) < 32 and given != "\t") or (given == '"' and not quote):
        allowed = "one printable ASCII character or a tab, such as ','"
        raise BadParameter(f"the separator is {given!r}; allowed is {allowed}")


def plain_suffix(path: Path) -> str:
    """Return the extension that names the format, without .gz."""
    return (Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix).lower()
