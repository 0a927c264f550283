"""Data arguments: a path or a built-in sample, read into transactions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from setveil import progress
from setveil.data.formats import Format, Layout, format_named, format_of
from setveil.errors import BadParameter

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions, Unit

Empty = Literal["keep", "drop"]


def read(
    source: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word people use
    separator: str | None = None,
    id: str = "id",  # noqa: A002 - the same
    item: str = "item",
    empty: Empty = "keep",
    unit: Unit | None = None,
) -> Transactions:
    """Read data from a file or make a built-in sample.

    >>> read("sample:supermarket?records=100").records
    100
    """
    if empty not in ("keep", "drop"):
        raise BadParameter(f"empty is {empty!r}; allowed is keep | drop")
    if unit not in (None, "person", "record"):
        raise BadParameter(f"unit is {unit!r}; allowed is person | record")
    if str(source).startswith("sample:"):
        from setveil.data.samples import read_sample  # noqa: PLC0415 - only who asks for a sample pays for it

        data = read_sample(str(source))
    else:
        path = Path(source)
        form = format_named(format) if format else format_of(path)
        data = form.read(path, Layout(separator=separator, id=id, item=item))
    if data.empty_records:
        what = "left out" if empty == "drop" else "kept (leave them out with --empty drop)"
        progress.note(f"{data.empty_records:,} empty records {what}")
        if empty == "drop":
            data = data.without_empty()
    return data if unit is None else data.with_unit(unit)


def source_format(source: str | Path, named: str | None = None) -> Format:
    """Return the format of a data argument; a sample counts as long, since its records carry ids."""
    if str(source).startswith("sample:"):
        return format_named("long")
    return format_named(named) if named else format_of(Path(source))
