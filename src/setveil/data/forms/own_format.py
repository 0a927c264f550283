"""The interface of formats of data files, and the base class of formats that belong to one form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from setveil.data.formats import Layout


class DataFormat(Protocol):
    """The interface of the format of a data file."""

    name: ClassVar[str]
    summary: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    version: ClassVar[int]
    ids: ClassVar[Literal["none", "optional", "required"]]
    holds_empty_records: ClassVar[bool]
    can_be_divided: ClassVar[bool]

    def packable(self, extension: str) -> bool:
        """Return whether files with this extension can be compressed."""

    def holds_ids(self, layout: Layout) -> bool:
        """Return whether a file with this layout can hold ids."""

    def why_unwritable(self, label: str, layout: Layout) -> str | None:
        """Return why a file with this layout cannot hold a label; None if it can."""

    def public_layout(self, data: Any, layout: Layout) -> dict[str, str | bool]:
        """Return the layout that a reader needs to know, besides the name of the format."""

    def as_table(self, extension: str, layout: Layout) -> Mapping[str, Any]:
        """Return how a Data Package describes a file as a table: its schema and its dialect; empty if it is not a table."""

    def as_sql(self, file: str, extension: str, layout: Layout) -> Mapping[str, str]:
        """Return queries of DuckDB for tables with the content of a file (`guarantees/recounts.py`)."""

    def read(self, path: Path, layout: Layout) -> Any:
        """Read a file."""

    def write(self, data: Any, path: Path, layout: Layout) -> None:
        """Write a file."""


class OwnFormat(ABC):
    """The only format of a form, with no options except the extension."""

    name: ClassVar[str]
    summary: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    version: ClassVar[int] = 1
    ids: ClassVar[Literal["none", "optional", "required"]] = "none"
    holds_empty_records: ClassVar[bool] = True
    can_be_divided: ClassVar[bool] = False

    def as_sql(self, file: str, extension: str, layout: Layout) -> Mapping[str, str]:
        """Return nothing: no queries were written for the format."""
        del file, extension, layout
        return {}

    def why_unwritable(self, label: str, layout: Layout) -> str | None:
        """Return None: the format can hold any label."""
        del label, layout
        return None

    def public_layout(self, data: Any, layout: Layout) -> dict[str, str | bool]:
        """Return an empty layout: a reader needs only the name of the format."""
        del data, layout
        return {}

    def packable(self, extension: str) -> bool:
        """Return whether files with this extension can be compressed with gzip or Zstandard."""
        return extension == ".jsonl"

    def as_table(self, extension: str, layout: Layout) -> Mapping[str, Any]:
        """Return how a Data Package describes a file as a table: its schema and its dialect; empty if it is not a table."""
        del extension, layout
        return {}

    def holds_ids(self, layout: Layout) -> bool:
        """Return False: the format cannot hold ids."""
        del layout
        return False

    @abstractmethod
    def read(self, path: Path, layout: Layout) -> Any:
        """Read a file, or raise `BadData` that says what is wrong and where."""

    @abstractmethod
    def write(self, data: Any, path: Path, layout: Layout) -> None:
        """Write a file, compressed if its name ends in .gz or .zst."""
