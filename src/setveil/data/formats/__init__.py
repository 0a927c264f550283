"""File formats, one module each. A format in MEMBERS is available to users and tested."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import pyarrow as pa

from setveil.data.files import column_files, json_lines
from setveil.data.files.csv_tables import header
from setveil.data.files.packing import packing_of, plain_suffix
from setveil.data.formats.base import Format, Layout
from setveil.data.formats.long import delimiter_of
from setveil.errors import BadData, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FORMATS", "Format", "Layout", "format_named", "format_of", "format_to_write"]

MEMBERS = {
    "Basket": "basket",
    "Long": "long",
    "List": "list",
    "Wide": "wide",
    "Matrix": "matrix",
    "Attributes": "attributes",
}
"""The class of each format and its module, in display order."""

_made = (getattr(import_module(f"{__name__}.{module}"), name)() for name, module in MEMBERS.items())
FORMATS: dict[str, Format] = {form.name: form for form in _made}


def format_named(name: str) -> Format:
    """Return the format with this name."""
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    return FORMATS[name]


def format_of(path: Path, layout: Layout, *, argument: str = "format") -> Format:
    """Return the format of a file to read, from its extension, the given column names and the columns of the file."""
    suffix = plain_suffix(path)
    if suffix in (".csv", ".tsv"):
        return FORMATS["wide" if layout.ragged or layout.items is not None or _has_items(path, layout) else "long"]
    if suffix in (*column_files.EXTENSIONS, *json_lines.EXTENSIONS) and layout.item is not None:
        return FORMATS["long"]
    if suffix in column_files.EXTENSIONS and layout.items is None and not packing_of(path):
        schema = column_files.schema_of(path)
        names = schema.names  # a name may occur twice, which the reader refuses
        has_lists = layout.items_column in names and pa.types.is_nested(schema.types[names.index(layout.items_column)])
        return FORMATS["list" if has_lists or layout.item_column not in names else "long"]
    return format_to_write(path, argument=argument)


def _has_items(path: Path, layout: Layout) -> bool:
    """Return whether the header of a CSV file has a column of all items and no column of single items."""
    columns: list[str] = []
    with suppress(BadData):  # the reader reports it
        columns = header(path, delimiter_of(path, None))
    return layout.item is None and layout.items_column in columns and layout.item_column not in columns


def format_to_write(path: Path, *, argument: str = "format") -> Format:
    """Return the default format of a file to write, from its extension."""
    suffix = plain_suffix(path)
    if suffix in column_files.EXTENSIONS:
        return FORMATS["list"]
    for candidate in FORMATS.values():
        if suffix in candidate.extensions:
            return candidate
    known = ", ".join(dict.fromkeys(extension for form in FORMATS.values() for extension in form.extensions))
    raise BadData(
        f"unknown file extension (known: {known}; text files also with .gz and .zst); name the format with `{argument}=`",
        file=str(path),
    )
