"""File formats, one file each. A format that stands in FORMATS is offered, tested and documented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.data.formats.base import Format, Layout, plain_suffix
from setveil.data.formats.basket import Basket
from setveil.data.formats.long import Long
from setveil.errors import BadData, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FORMATS", "Format", "Layout", "format_named", "format_of"]

FORMATS: dict[str, Format] = {form.name: form for form in (Basket(), Long())}


def format_named(name: str) -> Format:
    """Return the format of that name."""
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    return FORMATS[name]


def format_of(path: Path, *, option: str = "--format") -> Format:
    """Return the format that the file's extension tells; `option` is what could name one instead."""
    for candidate in FORMATS.values():
        if plain_suffix(path) in candidate.extensions:
            return candidate
    known = ", ".join(extension for form in FORMATS.values() for extension in form.extensions)
    raise BadData(
        f"the extension tells no format (known: {known}, each also with .gz); name one with {option}", file=str(path)
    )
