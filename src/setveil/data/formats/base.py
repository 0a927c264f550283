"""What every file format can do; standing in `FORMATS` (this folder's `__init__`) is enough to be tested and offered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.data.files.packing import writing
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from setveil.data.records.transactions import Transactions


@dataclass(frozen=True)
class Layout:
    """How a file is laid out, as far as its format leaves that open. None is what the format takes for granted."""

    separator: str | None = None
    """Between items of a basket line or of a cell, or between the columns of a long CSV."""
    id: str | None = None
    item: str | None = None
    items: str | None = None
    ragged: bool = False
    """A wide file without header: a line is a record, its fields are the items."""

    @property
    def id_column(self) -> str:
        """The name of the column of ids."""
        return self.id or "id"

    @property
    def item_column(self) -> str:
        """The name of the column with one item a row."""
        return self.item or "item"

    @property
    def items_column(self) -> str:
        """The name of the column with all items of a record."""
        return self.items or "items"

    @classmethod
    def chosen(cls, given: Mapping[str, Any]) -> Layout:
        """Pick the layout out of options; `person` names the column of ids too."""
        named = given if given.get("id") is not None else {**given, "id": given.get("person")}
        return cls(**{field.name: named[field.name] for field in fields(cls) if named.get(field.name) is not None})


class Format(ABC):
    """A way to write transactions to a file and to read them back."""

    name: ClassVar[str]
    summary: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    """The endings it is written under; the first one is that of releases."""
    version: ClassVar[int] = 1
    ids: ClassVar[Literal["none", "optional", "required"]]
    """Whether a file names its records."""
    holds_empty_records: ClassVar[bool]

    @abstractmethod
    def public_layout(self, data: Transactions, layout: Layout) -> dict[str, str | bool]:
        """Return what a reader of a written file needs to know beside the format's name."""

    @abstractmethod
    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a file, or say in one sentence what is wrong with it and where."""

    @abstractmethod
    def blocks(self, data: Transactions, path: Path, layout: Layout) -> Iterator[Any]:
        """Give the bytes of a file of that name, before packing; the same data give the same bytes."""

    def packable(self, extension: str) -> bool:
        """Tell whether a file with that ending can be packed with gzip or Zstandard."""
        return extension not in {".parquet", ".arrow", ".feather"}

    def holds_ids(self, layout: Layout) -> bool:
        """Tell whether a file of that layout has a place for ids."""
        del layout
        return self.ids != "none"

    def refuse(self, data: Transactions) -> None:
        """Refuse to write what the format cannot hold; ids without a place are left out."""
        if data.ids is None and self.ids == "required":
            raise OutputRefused(f"the format {self.name!r} needs an id for each record, and the data has none")
        if data.empty_records and not self.holds_empty_records:
            raise OutputRefused(
                f"the format {self.name!r} cannot hold the {data.empty_records:,} empty records; leave them out with `empty='drop'`"
            )

    def write(self, data: Transactions, path: Path, layout: Layout) -> None:
        """Write a file; packed if its name ends in .gz or .zst."""
        self.refuse(data)
        parts = self.blocks(data, path, layout)
        first = next(parts, b"")  # what the data or the layout forbids is found before a file is opened
        with writing(path) as file:
            file.write(first)
            for part in parts:
                file.write(part)
