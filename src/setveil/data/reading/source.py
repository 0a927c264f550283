"""Reading a data argument (a path, a built-in sample or a database query) into transactions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.display import quantity
from setveil.data.files.packing import opened_once, plain_suffix
from setveil.data.formats import Format, Layout, format_named, format_of
from setveil.data.records.look_alikes import note_look_alikes
from setveil.data.records.transactions import Unit
from setveil.errors import BadParameter, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.data.records.transactions import Transactions

Empty = Literal["keep", "drop"]


def resolve_person(person: str | None, id: str | None, unit: Unit | None) -> tuple[str | None, Unit | None]:  # noqa: A002 - the word people use
    """Return the id column and the unit; `person` names the id column and sets the unit to `person`."""
    if unit not in (None, "person", "record"):
        raise BadParameter(f"unit is {unit!r}; allowed is person | record")
    if person is None:
        return id, unit
    if id not in (None, person):
        raise BadParameter(f"person is the column {person!r}, and id is {id!r}; give one of them only")
    if unit == "record":
        raise BadParameter(f"person is the column {person!r}, and unit is 'record'; give one of them only")
    return person, "person"


@dataclass(frozen=True)
class Source:
    """Where data come from, and how they were read."""

    place: str
    """The path, the sample or the database address without its password."""
    format: Format
    """The format; `long` for a sample or a table, because their records have ids."""
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
    """Read data from a file, a database or a built-in sample.

    Parameters
    ----------
    source : str or Path
        A file, also compressed (`.gz`, `.zst`); the address of a database (`postgresql://`, `sqlite:///`, `duckdb:///`); or a sample such
        as `sample:supermarket?records=1000&seed=7`.
    format : str, optional
        `basket`, `long`, `list` or `wide`. Default: by the extension and the columns of the file.
    separator : str, optional
        The character between items or, in the format `long`, between columns. Default: blanks, or a comma.
    id, item, items : str, optional
        The names of the columns: ids, one item per row, and all items of a record. Default: `id`, `item` and `items`.
    ragged : bool, default: False
        Read a CSV file without a header, in which every field of a line is an item.
    query : str, optional
        The SQL query. Required for a database.
    empty : {'keep', 'drop'}, default: 'keep'
        Keep or drop records without items.
    unit : {'person', 'record'}, optional
        Whether every record is one person. Default: `record`; samples have one record per person.
    person : str, optional
        The column that identifies a person; short for `id=COLUMN, unit="person"`.

    Returns
    -------
    Transactions
        The data. A note reports empty records, repeated items and labels that look alike.

    Raises
    ------
    BadData
        If the data are invalid; the message names the line or row.
    BadParameter
        If an argument is invalid or does not fit the source.
    Missing
        If `query` or the library of the database is missing.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.read("sample:supermarket?records=100").records
    100
    """
    if empty not in ("keep", "drop"):
        raise BadParameter(f"empty is {empty!r}; allowed is keep | drop")
    if isinstance(source, str) and "\n" in source:  # the content of a file, not its name
        lines = len(source.splitlines())
        raise BadParameter(
            f"source is a text of {lines:,} lines; expected a path; write the text to a file, or use from_lists"
        )
    id, unit = resolve_person(person, id, unit)  # noqa: A001 - the word people use
    layout = Layout(separator=separator, id=id, item=item, items=items, ragged=ragged)
    form, data = _read(source, format, layout, query)
    data = note_look_alikes(data)
    if person is not None and data.ids is None:
        raise BadParameter(
            f"person is the column {person!r}, and the data have no column of ids; use `unit='person'` instead"
        )
    if data.empty_records:
        what = "dropped" if empty == "drop" else "kept (drop them with `empty='drop'`)"
        progress.note(f"{quantity(data.empty_records, 'empty record')} {what}")
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
    extension = plain_suffix(Path(source))
    read_from = Source(source_name(source), form, extension, form.layout_after(extension, layout), options)
    return (data if unit is None else data.with_unit(unit)).with_source(read_from)


def _read(source: str | Path, named: str | None, layout: Layout, query: str | None) -> tuple[Format, Transactions]:
    """Return the format of the source and its data."""
    from setveil.data import databases  # noqa: PLC0415 - loaded only for reading

    text = str(source)
    if databases.is_database(text):
        from setveil.data.reading.tables import read_query  # noqa: PLC0415 - loaded only for databases

        return format_named("long"), read_query(text, query, named, layout)
    if query is not None:
        raise BadParameter("`query=` goes with a database (postgresql://, sqlite:///, duckdb:///), not with a file")
    if text.startswith("sample:"):
        from setveil.data.samples import read_sample  # noqa: PLC0415 - loaded only for samples

        return format_named("long"), read_sample(text)
    path = Path(source)
    with opened_once(path):  # the format may depend on its columns
        form = source_format(path, named, layout)
        return form, form.read(path, layout)


def source_name(source: str | Path) -> str:
    """Return a data argument for display: an address without its password."""
    from setveil.data import databases  # noqa: PLC0415 - loaded only for reading

    return databases.shown(str(source)) if databases.is_database(str(source)) else str(source)


def source_format(source: str | Path, named: str | None, layout: Layout) -> Format:
    """Return the format of a data argument; `long` for a sample or a table, because their records have ids."""
    from setveil.data import databases  # noqa: PLC0415 - loaded only for reading

    if str(source).startswith("sample:") or databases.is_database(str(source)):
        return format_named("long")
    return format_named(named) if named else format_of(Path(source), layout)


def list_separator(separator: str, files: Iterable[tuple[str | Path, str | None]], layout: Layout) -> str | None:
    """Return the separator of items in side files: that of the data, or None if it separates columns there.

    `files` are the files to read, each with its given format. Folders are skipped, because they record their own layout.
    """
    is_long = []
    for place, named in files:
        with suppress(InputError):  # the reader reports it
            if not Path(place).is_dir():
                is_long.append(source_format(place, named, layout).name == "long")
    return None if is_long and all(is_long) else separator
