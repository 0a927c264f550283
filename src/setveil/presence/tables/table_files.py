"""Read tables of providers, and populations, from CSV, Parquet and Arrow files and from databases.

All columns are passed to the attributes as text. Typed numbers are written without exponents: whole numbers and decimals with all digits,
floating-point numbers as the shortest decimal number that identifies them.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base.arguments import check_arguments, describe
from setveil.data.files import column_files
from setveil.data.files.assembly import Origin
from setveil.data.files.csv_tables import CsvOrigin, csv_batches, header, require
from setveil.data.files.packing import plain_suffix, read_bytes
from setveil.data.files.texts import RULE, check_column_names, first_unusable, not_utf8
from setveil.data.formats.long import delimiter_of
from setveil.errors import BadData, BadParameter
from setveil.presence.tables.attributes import Attribute
from setveil.presence.tables.population import Population
from setveil.presence.tables.provider_table import ONE_PER_CUSTOMER, ProviderTable, provider_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from setveil.presence.tables.attributes import OrderedAttribute

_CSV = (".csv", ".tsv")
_HINT = "The policy names the columns of a table; name the column of ids with `id_column=`"
_PERSON_HINT = f"{_HINT}, and the column of your own customer keys with `person='COLUMN'`"
_POPULATION_HINT = "Name the column of ids with `id_column=`"


@check_arguments
def read_provider_table(
    source: str | Path,
    attributes: Sequence[Attribute],
    sensitive: OrderedAttribute | None,
    *,
    id_column: str = "id",
    query: str | None = None,
    separator: str | None = None,
    population: Population | None = None,
    person: str | None = None,
) -> ProviderTable:
    r"""Read the table of a provider. Other columns than the named ones are not read.

    Parameters
    ----------
    source : str or Path
        A CSV file (also compressed), a Parquet or Arrow file, or a database (`postgresql://`, `sqlite:///`, `duckdb:///`).
    attributes : sequence of Attribute
        The quasi-identifiers of the provider: `policy.schema.a` or `policy.schema.b`.
    sensitive : OrderedAttribute or None
        The sensitive attribute, `policy.schema.sensitive`, for provider B; None for provider A.
    id_column : str
        The column of ids.
    query : str, optional
        The query, for a database only.
    separator : str, optional
        The separator of a CSV file; a comma, or a tab for `.tsv`, by default.
    population : Population, optional
        If given, ids that are not in it are refused.
    person : str, optional
        The column of the provider's own customer keys, which may be the column of ids. It is never sent.

    Returns
    -------
    ProviderTable
        The table.

    Raises
    ------
    BadData
        The file is missing, lacks a column, or has a value that is missing or not in the policy, or an id or key twice.
    BadParameter
        `id_column` or `person` names an attribute, or a query is given for a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import setveil as sv
    >>> size = sv.OrderedAttribute("size", ("S", "M", "L"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.csv")
    ...     _ = file.write_text("id,size\nu1,S\nu2,L\n")
    ...     sv.read_provider_table(file, [size], None).codes.tolist()
    [[0], [2]]
    """
    attributes = tuple(attributes)
    if other := [one for one in attributes if not isinstance(one, Attribute)]:
        raise BadParameter(
            f"one of the attributes is {describe(other[0])}; expected attributes, such as policy.schema.a or policy.schema.b"
        )
    numbered = {one.name for one in attributes if one.kind == "numeric"}
    named = [one.name for one in (*attributes, *((sensitive,) if sensitive else ()))]
    if id_column in named:
        raise BadParameter(
            f"the column of ids is {id_column!r}, which is also an attribute; name another column with `id_column=`"
        )
    if person in named:
        raise BadParameter(
            f"the column {person!r} is an attribute of the policy, so it is used in the run; "
            "name the column of your own customer keys with `person='COLUMN'`"
        )
    keys = [id_column] if person in (None, id_column) else [id_column, person]
    hint = _HINT if person is None else _PERSON_HINT
    read = _columns(source, [*keys, *named], hint, query=query, separator=separator, keys=len(keys), numbered=numbered)
    _refuse_bad_keys(
        read.columns[id_column],
        read.origin,
        "the id",
        "the id also occurs in an earlier row; expected one row per user",
    )
    if person is not None:
        twice = f"the column {person!r} contains this value twice; {ONE_PER_CUSTOMER}"
        _refuse_bad_keys(read.columns[person], read.origin, f"the value of {person!r}", twice)
    if population is not None:
        _refuse_unknown_ids(read.columns[id_column], population, read.origin)
    name = read.origin.name
    try:
        return provider_table(read.columns, attributes, sensitive, id_column=id_column, person=person, file=name)
    except BadData as error:
        if error.row is None:
            raise
        # In a text file, the error names the line. The line number is determined only here, because that takes time.
        message = str(error).removeprefix(str(BadData("", file=name, row=error.row)))
        raise read.origin.wrong(message, error.row - 1) from None


@check_arguments
def read_population(
    source: str | Path, *, id_column: str = "id", query: str | None = None, separator: str | None = None
) -> Population:
    r"""Read the population of a run, in the order of its ids.

    Parameters
    ----------
    source : str or Path
        A table with a column of ids (CSV, Parquet, Arrow or a database), or a `.txt` file with one id per line.
    id_column : str
        The column of ids.
    query : str, optional
        The query, for a database only.
    separator : str, optional
        The separator of a CSV file; a comma, or a tab for `.tsv`, by default.

    Returns
    -------
    Population
        The ids.

    Raises
    ------
    BadData
        The file is missing or empty, lacks the column of ids, or has an id twice.
    BadParameter
        A query is given for a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import setveil as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.txt")
    ...     _ = file.write_text("u1\nu2\n")
    ...     sv.read_population(file)
    Population(2 ids)
    """
    if plain_suffix(Path(source)) == ".txt" and not _is_database(source):
        if query is not None:
            raise _query_for_a_file()
        ids, origin = _lines(Path(source))
    else:
        read = _columns(source, [id_column], _POPULATION_HINT, query=query, separator=separator)
        ids, origin = read.columns[id_column], read.origin
    _refuse_bad_keys(ids, origin, "the id", "the id also occurs in an earlier row; expected one row per person")
    return Population(ids)


def text_columns(source: str | Path, *, query: str | None = None, separator: str | None = None) -> dict[str, Any]:
    """Return all columns of a table as text, by name."""
    if _is_database(source):
        from setveil.data import databases  # noqa: PLC0415 - imported only for databases

        with databases.query_batches(str(source), query or "") as rows:
            names = list(rows.schema.names)
    else:
        path = Path(source)
        if plain_suffix(path) in column_files.EXTENSIONS:
            names = list(column_files.schema_of(path).names)
        else:
            names = header(path, delimiter_of(path, separator))
    return _columns(source, names, _POPULATION_HINT, query=query, separator=separator).columns


@dataclass(frozen=True)
class _Read:
    """Columns of text, and their source for errors."""

    columns: dict[str, Any]
    origin: Origin


@dataclass(frozen=True)
class _LineOrigin(Origin):
    """A text file with one row per line."""

    def wrong(self, message: str, row: int | None = None) -> BadData:
        """Return the error about a row, counted from 0."""
        return BadData(message, file=self.name, line=None if row is None else row + 1)


def _is_database(source: str | Path) -> bool:
    from setveil.data import databases  # noqa: PLC0415 - imported only when needed

    return databases.is_database(str(source))


def _query_for_a_file() -> BadParameter:
    return BadParameter(
        "a query requires a database (postgresql://, sqlite:///, duckdb:///), not a file; remove the query or name a database"
    )


def _columns(
    source: str | Path,
    wanted: list[str],
    hint: str,
    *,
    query: str | None,
    separator: str | None,
    keys: int = 1,
    numbered: Iterable[str] = (),
) -> _Read:
    """Read columns as text. The first `keys` columns are keys: texts or whole numbers."""
    check_column_names(*wanted)
    with ExitStack() as stack:
        if _is_database(source):
            batches, origin = _of_query(str(source), wanted, hint, query, stack)
        elif query is not None:
            raise _query_for_a_file()
        else:
            batches, origin = _of_file(Path(source), wanted, hint, separator)
        parts: list[list[Any]] = [[] for _ in wanted]
        rows = 0
        for batch in batches:
            for place, (name, values) in enumerate(zip(wanted, batch, strict=True)):
                parts[place].append(
                    _texts(values, name, origin, rows, is_id=place < keys, numbered=name in set(numbered))
                )
            rows += len(batch[0])
    if not rows:
        raise origin.wrong("has no rows; expected one row per person")
    return _Read({name: pa.concat_arrays(part) for name, part in zip(wanted, parts, strict=True)}, origin)


def _of_query(
    url: str, wanted: list[str], hint: str, query: str | None, stack: ExitStack
) -> tuple[Iterator[list[Any]], Origin]:
    from setveil.data import databases  # noqa: PLC0415 - imported only for databases

    rows = stack.enter_context(databases.query_batches(url, query or ""))
    origin = Origin(databases.shown(url))
    names = rows.schema.names
    require(names, wanted, origin.name, hint, line=None)
    return ([batch.column(names.index(name)) for name in wanted] for batch in rows), origin


def _of_file(path: Path, wanted: list[str], hint: str, separator: str | None) -> tuple[Iterator[list[Any]], Origin]:
    ending = plain_suffix(path)
    if ending in column_files.EXTENSIONS:
        return column_files.batches(path, wanted, hint), Origin(str(path))
    if ending not in _CSV:
        known = ", ".join((*_CSV, *column_files.EXTENSIONS))
        raise BadData(
            f"has an unknown file extension; expected a table with one of the extensions {known}", file=str(path)
        )
    delimiter = delimiter_of(path, separator)
    require(header(path, delimiter), wanted, str(path), hint)
    return csv_batches(path, wanted, delimiter), CsvOrigin(str(path), path, delimiter)


def _texts(values: Any, name: str, origin: Origin, before: int, *, is_id: bool, numbered: bool) -> Any:
    """Return a column as large_string; `before` is the number of rows in earlier batches."""
    if values.null_count:
        row = before + int(pc.index(values.is_null(), value=True).as_py())
        raise origin.wrong(f"the column {name!r} has no value (null); expected a value in every row", row)
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _texts(values.dictionary_decode(), name, origin, before, is_id=is_id, numbered=numbered)
    if isinstance(kind, pa.BaseExtensionType):  # types of a database that Arrow lacks, such as numbers of any length
        stored = _texts(values.storage, name, origin, before, is_id=is_id, numbered=numbered)
        return _numbers(stored, Decimal) if getattr(kind, "type_name", None) == "numeric" else stored
    is_float = pa.types.is_floating(kind)
    if pa.types.is_decimal(kind) or (is_float and not is_id):
        return _numbers(values.cast(pa.float32()) if pa.types.is_float16(kind) else values)
    plain = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if any(test(kind) for test in plain) or (pa.types.is_boolean(kind) and not is_id and not numbered):
        return values.cast(pa.large_string())
    allowed = "text or whole numbers" if is_id else "text or numbers"
    raise origin.wrong(f"the column {name!r} is of type {kind}; expected {allowed}: convert the column first")


def _numbers(values: Any, read: Callable[[Any], Any] | None = None) -> Any:
    """Return numbers as texts; each distinct number is converted once."""
    encoded = values.dictionary_encode()
    # numpy numbers keep their width: a 32-bit 0.7 is written as 0.7, not as the nearest 64-bit number.
    floats = pa.types.is_floating(encoded.dictionary.type)
    numbers = encoded.dictionary.to_numpy() if floats else encoded.dictionary.to_pylist()
    found = [_in_full(number if read is None else read(number)) for number in numbers]
    return pa.array(found, pa.large_string()).take(encoded.indices)


def _in_full(number: Decimal | np.floating[Any]) -> str:
    """Return a number without exponent and without trailing zeros.

    >>> _in_full(np.float64(1e-7)), _in_full(np.float32(0.7)), _in_full(Decimal("12.50"))
    ('0.0000001', '0.7', '12.5')
    """
    if not isinstance(number, Decimal):
        text = np.format_float_positional(number, unique=True, trim="-")
    else:
        text = format(number, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _lines(path: Path) -> tuple[Any, Origin]:
    content = read_bytes(path)
    if wrong := not_utf8(content, str(path)):
        raise wrong
    lines = content.decode().split("\n")
    if lines[-1] == "":
        lines.pop()
    origin = _LineOrigin(str(path))
    if not lines:
        raise origin.wrong("is empty; expected one id per line")
    return pa.array([line.removesuffix("\r") for line in lines], pa.large_string()), origin


def _refuse_bad_keys(keys: Any, origin: Origin, what: str, twice: str) -> None:
    if (row := first_unusable(keys)) is not None:
        raise origin.wrong(f"{what} {RULE}", row)
    encoded = keys.dictionary_encode()
    if len(encoded.dictionary) < len(keys):
        # Keys are numbered in the order of first occurrence, so the first row whose number is not its index repeats a key.
        row = int(np.argmax(encoded.indices.to_numpy() != np.arange(len(keys))))
        raise origin.wrong(twice, row)


def _refuse_unknown_ids(ids: Any, population: Population, origin: Origin) -> None:
    known = pc.is_in(ids, population.ids)
    if unknown := len(ids) - int(pc.sum(known).as_py()):
        row = int(pc.index(known, value=False).as_py())
        raise origin.wrong(
            f"the id is not in the population ({unknown:,} of {len(ids):,} are not); remove such rows, or agree on a larger population",
            row,
        )
