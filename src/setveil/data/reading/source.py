"""Reading a data argument (a path, a built-in sample or a database query) into transactions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.display import quantity
from setveil.data.files import column_files
from setveil.data.files.character_encodings import encoding_named
from setveil.data.files.packing import open_file, plain_suffix
from setveil.data.files.piped import INPUT_PLACES, STANDARD_INPUT, opened
from setveil.data.formats import Format, Layout, format_named, format_of
from setveil.data.formats.base import Missing
from setveil.data.reading.detection import Reading, reading_of
from setveil.data.records.look_alikes import note_look_alikes
from setveil.data.records.transactions import Unit
from setveil.engines import growing
from setveil.engines.scratch import refuse_unless_free
from setveil.errors import BadParameter, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.data.records.transactions import Transactions

Empty = Literal["keep", "drop"]


def resolve_person(person: str | None, id: str | None, unit: Unit | None) -> tuple[str | None, Unit | None]:  # noqa: A002 - the word people use
    """Return the id column and the unit; `person` names the id column and sets the unit to `person`."""
    if unit not in (None, "person", "record"):
        raise BadParameter.not_among("unit", unit, ("person", "record"))
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
    """The options of `read` that read the data again: those that were given, and those that were found in the file."""


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
    no_header: bool = False,
    encoding: str | None = None,
    query: str | None = None,
    missing: Missing = "error",
    empty: Empty = "keep",
    unit: Unit | None = None,
    person: str | None = None,
) -> Transactions:
    """Read data from a file, a database or a built-in sample.

    The format and the separator of a file without `format` are found in its extension, its header and its first rows. A note states
    what was found. A file that can be read in several ways is refused.

    Parameters
    ----------
    source : str or Path
        A file, also compressed (`.gz`, `.zst`); `-` for standard input; the address of a database (`postgresql://`, `sqlite:///`,
        `duckdb:///`); a sample such as `sample:supermarket?records=1000&seed=7`; or a release folder.
    format : str, optional
        `basket`, `long`, `list`, `wide`, `matrix` or `attributes`. Default: found in the file.
    separator : str, optional
        The character between items or, in the formats `long`, `matrix` and `attributes`, between columns. Default: found in the file,
        otherwise blanks or a comma.
    id, item, items : str, optional
        The names of the columns: ids, one item per row, and all items of a record. Default: `id`, `item` and `items`. For the formats
        `matrix` and `attributes`, `items` lists the columns to use, such as `workclass,education`.
    ragged : bool, default: False
        Read a CSV file without a header, in which every field of a line is an item. With `id`, the first line is a header, and every field
        except the id is an item.
    no_header : bool, default: False
        Read a long CSV file without a header. Its columns are called `1`, `2` and so on; the ids are in `1`, the items in `2`.
    encoding : str, optional
        The character encoding of a text file, such as `cp1252`, `latin-1` or `utf-16`. Default: UTF-8.
    query : str, optional
        The SQL query. Required for a database.
    missing : {'error', 'drop'}, default: 'error'
        Refuse missing items (empty cells and nulls), or drop them with a note.
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
        raise BadParameter.not_among("empty", empty, ("keep", "drop"))
    if missing not in ("error", "drop"):
        raise BadParameter.not_among("missing", missing, ("error", "drop"))
    if isinstance(source, str) and "\n" in source:  # the content of a file, not its name
        lines = len(source.splitlines())
        raise BadParameter(
            f"source is a text of {lines:,} lines; expected a path; write the text to a file, or use from_lists"
        )
    id, unit = resolve_person(person, id, unit)  # noqa: A001 - the word people use
    layout = Layout(
        separator=separator, id=id, item=item, items=items, ragged=ragged, no_header=no_header, missing=missing
    )
    place, extension, found, data = _read(source, _Asked(format, layout, query, encoding))
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
    is_found = bool(found.note) or place == str(STANDARD_INPUT)  # whose name shows no format
    given = {"format": found.form.name if is_found else format} | _given(found.layout)
    given |= {"query": query, "encoding": encoding, "empty": None if empty == "keep" else empty, "unit": unit}
    options = {name: value for name, value in given.items() if value is not None}
    written = found.form.layout_after(extension, found.layout)
    read_from = Source(place, found.form, extension, written, options)
    return (data if unit is None else data.with_unit(unit)).with_source(read_from)


def _given(layout: Layout) -> dict[str, Any]:
    """Return the options of a layout that differ from their defaults."""
    defaults = vars(Layout())
    return {name: value for name, value in asdict(layout).items() if value != defaults[name]}


class _Asked(NamedTuple):
    """What the arguments of `read` say of the source."""

    format: str | None
    layout: Layout
    query: str | None
    encoding: str | None


def _read(source: str | Path, asked: _Asked) -> tuple[str, str, Reading, Transactions]:
    """Return where the data come from, the extension, how they were read, and the data."""
    from setveil.data import databases  # noqa: PLC0415 - loaded only for reading

    text = str(source)
    is_database = databases.is_database(text)
    encoding = encoding_named(asked.encoding)
    if asked.encoding is not None and (is_database or text.startswith("sample:")):
        raise BadParameter("`encoding=` goes with a text file, not with a database or a sample")
    if is_database:
        from setveil.data.reading.tables import read_query  # noqa: PLC0415 - loaded only for databases

        data = read_query(text, asked.query, asked.format, asked.layout)
        return source_name(source), "", Reading(format_named("long"), asked.layout), data
    if asked.query is not None:
        raise BadParameter("`query=` goes with a database (postgresql://, sqlite:///, duckdb:///), not with a file")
    if text.startswith("sample:"):
        from setveil.data.samples import read_sample  # noqa: PLC0415 - loaded only for samples

        return text, "", Reading(format_named("long"), asked.layout), read_sample(text)
    with opened(source, encoding) as path:  # the format may depend on its columns
        suffix = plain_suffix(path)
        if asked.encoding is not None and suffix in column_files.EXTENSIONS:
            raise BadParameter(f"`encoding=` goes with a text file, not with a {suffix} file")
        found = reading_of(path, asked.format, asked.layout)
        if found.note:
            progress.note(found.note)
        if asked.format is None and found.form.name == "basket":
            _refuse_columns(path, found.layout)
        _refuse_without_room(path)
        return str(path), suffix, found, found.form.read(path, found.layout)


def _refuse_without_room(path: Path) -> None:
    """Refuse a large file if the disk has no room for what is read of it, which is seldom less than a quarter of its size."""
    with open_file(path) as file:
        if file.size // 4 > growing.LARGE:
            refuse_unless_free(file.size // 4, f"reading {path}")


def _refuse_columns(path: Path, layout: Layout) -> None:
    """Refuse options of tables for a file that is read as a basket file because of its extension."""
    for name in ("item", "items", "ragged", "no_header"):
        if value := getattr(layout, name):
            given = f"`{name}=`" if isinstance(value, str) else f"`{name}=True`"
            raise BadParameter(
                f"{given} goes with a table, and {path.name} is read as a basket file because of its extension; name the format, such as "
                "`format='long'` or `format='wide'`"
            )


def source_name(source: str | Path) -> str:
    """Return a data argument for display: an address without its password, and a name for standard input."""
    from setveil.data import databases  # noqa: PLC0415 - loaded only for reading

    if databases.is_database(str(source)):
        return databases.shown(str(source))
    return str(STANDARD_INPUT) if str(source) in INPUT_PLACES else str(source)


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
