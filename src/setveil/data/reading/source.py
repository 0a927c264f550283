"""Data arguments: a path, a built-in sample or a query of a database, read into transactions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.data.files.packing import opened_once, plain_suffix
from setveil.data.formats import Format, Layout, format_named, format_of
from setveil.data.records.look_alikes import note_look_alikes
from setveil.data.records.transactions import Unit
from setveil.errors import BadParameter, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.data.records.transactions import Transactions

Empty = Literal["keep", "drop"]


def of_person(person: str | None, id: str | None, unit: Unit | None) -> tuple[str | None, Unit | None]:  # noqa: A002 - the word people use
    """Return the column of ids and the unit: `person` names the column, and says that all rows of an id are one person."""
    if unit not in (None, "person", "record"):
        raise BadParameter(f"unit is {unit!r}; allowed is person | record")
    if person is None:
        return id, unit
    if id not in (None, person):
        raise BadParameter(f"person is the column {person!r}, and id is {id!r}; name one column")
    if unit == "record":
        raise BadParameter(f"person is the column {person!r}, and unit is 'record'; leave one of them out")
    return person, "person"


@dataclass(frozen=True)
class Source:
    """Where data were read from, and how."""

    place: str
    """The path, the sample or the address of the database, without a password."""
    format: Format
    """A sample or a table counts as long, since its records carry ids."""
    extension: str
    layout: Layout
    options: dict[str, Any]
    """The reading options that were given."""


@check_arguments
def read(
    source: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word people use
    separator: str | None = None,
    id: str | None = None,  # noqa: A002 - the same
    item: str | None = None,
    items: str | None = None,
    ragged: bool = False,
    query: str | None = None,
    empty: Empty = "keep",
    unit: Unit | None = None,
    person: str | None = None,
) -> Transactions:
    """Read data from a file or a database, or make a built-in sample.

    A record counts as a person only with `unit="person"`, or with `person="COLUMN"`, which is short for `id="COLUMN", unit="person"`. The
    built-in samples have one record per person and say so themselves.

    >>> read("sample:supermarket?records=100").records
    100
    """
    if empty not in ("keep", "drop"):
        raise BadParameter(f"empty is {empty!r}; allowed is keep | drop")
    if isinstance(source, str) and "\n" in source:  # the content of a file instead of its name
        lines = len(source.splitlines())
        raise BadParameter(
            f"source is a text of {lines:,} lines; expected a path: write it to a file, or use from_lists"
        )
    id, unit = of_person(person, id, unit)  # noqa: A001 - the word people use
    layout = Layout(separator=separator, id=id, item=item, items=items, ragged=ragged)
    form, data = _read(source, format, layout, query)
    data = note_look_alikes(data)
    if person is not None and data.ids is None:
        raise BadParameter(
            f"person is the column {person!r}, and the data have no column of ids; say `unit='person'` instead"
        )
    if data.empty_records:
        what = "left out" if empty == "drop" else "kept (leave them out with `empty='drop'`)"
        progress.note(f"{data.empty_records:,} empty records {what}")
        if empty == "drop":
            data = data.without_empty()
    given = {
        "format": format,
        "separator": separator,
        "item": item,
        "items": items,
        "ragged": ragged or None,
        "query": query,
    }
    given |= {"id": id, "empty": None if empty == "keep" else empty, "unit": unit}
    options = {name: value for name, value in given.items() if value is not None}
    read_from = Source(in_words(source), form, plain_suffix(Path(source)), layout, options)
    return (data if unit is None else data.with_unit(unit)).with_source(read_from)


def _read(source: str | Path, named: str | None, layout: Layout, query: str | None) -> tuple[Format, Transactions]:
    """Return the format and the data."""
    from setveil.data import databases  # noqa: PLC0415 - not every program reads

    text = str(source)
    if databases.is_database(text):
        from setveil.data.reading.tables import read_query  # noqa: PLC0415 - only who asks a database pays for it

        return format_named("long"), read_query(text, query, named, layout)
    if query is not None:
        raise BadParameter("`query=` goes with a database (postgresql://, sqlite:///, duckdb:///), not with a file")
    if text.startswith("sample:"):
        from setveil.data.samples import read_sample  # noqa: PLC0415 - only who asks for a sample pays for it

        return format_named("long"), read_sample(text)
    path = Path(source)
    with opened_once(path):  # its columns may say what format it has
        form = source_format(path, named, layout)
        return form, form.read(path, layout)


def in_words(source: str | Path) -> str:
    """Return a data argument as it may be shown: an address without its password."""
    from setveil.data import databases  # noqa: PLC0415 - not every program reads

    return databases.shown(str(source)) if databases.is_database(str(source)) else str(source)


def source_format(source: str | Path, named: str | None, layout: Layout) -> Format:
    """Return the format of a data argument; a sample or a table counts as long, since its records carry ids."""
    from setveil.data import databases  # noqa: PLC0415 - not every program reads

    if str(source).startswith("sample:") or databases.is_database(str(source)):
        return format_named("long")
    return format_named(named) if named else format_of(Path(source), layout)


def list_separator(separator: str, files: Iterable[tuple[str | Path, str | None]], layout: Layout) -> str | None:
    """Return what separates items in files of lists beside the data: what does in the data, or None where it separates columns there.

    `files` are what is read, each with the format that was named for it. A folder says itself how it is read.
    """
    is_long = []
    for place, named in files:
        with suppress(InputError):  # the reader says what is wrong
            if not Path(place).is_dir():
                is_long.append(source_format(place, named, layout).name == "long")
    return None if is_long and all(is_long) else separator
