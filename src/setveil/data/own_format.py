"""Formats of published forms that are no plain records: each form has its own, with nothing to choose beside the ending."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.data.formats import Layout


class OwnFormat(ABC):
    """What a release needs to know of such a format, named as in the formats of plain records."""

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
        """Tell whether a file with that ending can be packed with gzip or Zstandard."""
        return extension == ".jsonl"

    def holds_ids(self, layout: Layout) -> bool:
        """Tell whether there is a place for ids."""
        del layout
        return False

    @abstractmethod
    def read(self, path: Path, layout: Layout) -> Any:
        """Read a file, or say in one sentence what is wrong with it and where."""

    @abstractmethod
    def write(self, data: Any, path: Path, layout: Layout) -> None:
        """Write a file; packed if its name ends in .gz or .zst."""
