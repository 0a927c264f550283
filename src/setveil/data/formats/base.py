"""The base class of file formats, and the layout options that they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.base.display import quantity
from setveil.data.files.packing import writing
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from setveil.data.records.transactions import Transactions

Missing = Literal["error", "drop"]


@dataclass(frozen=True)
class Layout:
    """The layout of a file, as far as its format leaves it open. None means the default of the format."""

    separator: str | None = None
    """The character between the items of a line or cell, or between the columns of a long CSV file."""
    id: str | None = None
    item: str | None = None
    items: str | None = None
    ragged: bool = False
    """A wide file without a header: each line is a record, and its fields are the items."""
    no_header: bool = False
    """A long CSV file without a header; its columns are then called `1`, `2` and so on."""
    missing: Missing = "error"
    """Whether missing items are an error or dropped."""

    @property
    def drops_missing(self) -> bool:
        """Whether missing items are dropped."""
        return self.missing == "drop"

    @property
    def id_column(self) -> str:
        """The name of the column of ids."""
        return self.id or ("1" if self.no_header else "id")

    @property
    def item_column(self) -> str:
        """The name of the column with one item per row."""
        return self.item or ("2" if self.no_header else "item")

    @property
    def items_column(self) -> str:
        """The name of the column with all items of a record."""
        return self.items or "items"

    @classmethod
    def chosen(cls, given: Mapping[str, Any]) -> Layout:
        """Return the layout given by options; `person` also names the column of ids."""
        named = given if given.get("id") is not None else {**given, "id": given.get("person")}
        return cls(**{field.name: named[field.name] for field in fields(cls) if named.get(field.name) is not None})


class Format(ABC):
    """A file format: reads and writes transactions."""

    name: ClassVar[str]
    summary: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    """The file extensions; releases use the first one."""
    version: ClassVar[int] = 1
    ids: ClassVar[Literal["none", "optional", "required"]]
    """Whether a file holds ids of records."""
    holds_empty_records: ClassVar[bool]
    can_be_divided: ClassVar[bool] = True
    """Whether files with different records can be read one after the other."""
    holds_any_items: ClassVar[bool] = True
    """Whether records may hold any items; releases are written in such formats."""

    @abstractmethod
    def public_layout(self, data: Transactions, layout: Layout) -> dict[str, str | bool]:
        """Return the layout that a reader of a written file needs to know, besides the name of the format."""

    def layout_after(self, extension: str, layout: Layout) -> Layout:
        """Return the layout in which data that were read with this layout are written by default."""
        del extension
        return layout

    @abstractmethod
    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a file, or raise `BadData` that says what is wrong and where."""

    @abstractmethod
    def blocks(self, data: Transactions, path: Path, layout: Layout) -> Iterator[Any]:
        """Yield the content of the file in blocks, before compression; equal data give equal bytes."""

    def packable(self, extension: str) -> bool:
        """Return whether files with this extension can be compressed with gzip or Zstandard."""
        return extension not in {".parquet", ".arrow", ".feather"}

    def as_table(self, extension: str, layout: Layout) -> Mapping[str, Any]:
        """Return how a Data Package describes a file as a table: its schema and its dialect; empty if it is not a table."""
        del extension, layout
        return {}

    def as_sql(self, file: str, extension: str, layout: Layout) -> Mapping[str, str]:
        """Return a query of DuckDB for the table `released`: the columns `record`, numbered from 1 in the order of the file, and `item`.

        There is none if SQL cannot read the format.
        """
        del file, extension, layout
        return {}

    def holds_ids(self, layout: Layout) -> bool:
        """Return whether a file with this layout can hold ids."""
        del layout
        return self.ids != "none"

    def why_unwritable(self, label: str, layout: Layout) -> str | None:
        """Return why a file with this layout cannot hold an item, such as "holds a blank"; None if it can."""
        del label, layout
        return None

    def refuse(self, data: Transactions) -> None:
        """Refuse data that the format cannot hold; ids that it cannot hold are dropped."""
        if data.ids is None and self.ids == "required":
            raise OutputRefused(
                f"the format {self.name!r} requires an id for each record, and the data have no ids; choose another format"
            )
        if data.empty_records and not self.holds_empty_records:
            raise OutputRefused(
                f"the format {self.name!r} cannot hold the {quantity(data.empty_records, 'empty record')} of the data; "
                "drop them with `empty='drop'`, or choose another format"
            )

    def write(self, data: Transactions, path: Path, layout: Layout) -> None:
        """Write a file, compressed if its name ends in .gz or .zst."""
        self.refuse(data)
        parts = self.blocks(data, path, layout)
        first = next(parts, b"")  # refuses invalid data or layouts before the file is opened
        with writing(path) as file:
            file.write(first)
            for part in parts:
                file.write(part)
