"""Formats of data files: what a release asks of one, and the base of those that belong to a single form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.data.formats import Layout


class DataFormat(Protocol):
    """What a release needs to know of the format of its data file."""

    name: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    version: ClassVar[int]
    ids: ClassVar[Literal["none", "optional", "required"]]
    holds_empty_records: ClassVar[bool]

    def packable(self, extension: str) -> bool:
        """Return whether a file with that ending can be packed."""

    def holds_ids(self, layout: Layout) -> bool:
        """Return whether a file of that layout has a place for ids."""

    def public_layout(self, data: Any, layout: Layout) -> dict[str, str | bool]:
        """Return what a reader needs to know beside the format's name."""

    def read(self, path: Path, layout: Layout) -> Any:
        """Read a file."""

    def write(self, data: Any, path: Path, layout: Layout) -> None:
        """Write a file."""


class OwnFormat(ABC):
    """The format of one form, with nothing to choose beside the ending."""

    name: ClassVar[str]
    summary: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    version: ClassVar[int] = 1
    ids: ClassVar[Literal["none", "optional", "required"]] = "none"
    holds_empty_records: ClassVar[bool] = True

    def public_layout(self, data: Any, layout: Layout) -> dict[str, str | bool]:
        """Return what a reader needs to know beside the format's name: nothing."""
        del data, layout
        return {}

    def packable(self, extension: str) -> bool:
        """Return whether a file with that ending can be packed with gzip or Zstandard."""
        return extension == ".jsonl"

    def holds_ids(self, layout: Layout) -> bool:
        """Return whether there is a place for ids."""
        del layout
        return False

    @abstractmethod
    def read(self, path: Path, layout: Layout) -> Any:
        """Read a file, or say in one sentence what is wrong with it and where."""

    @abstractmethod
    def write(self, data: Any, path: Path, layout: Layout) -> None:
        """Write a file; packed if its name ends in .gz or .zst."""
