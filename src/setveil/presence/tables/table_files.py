"""Tables of providers, and populations, from CSV, Parquet and Arrow files and from databases.

All columns reach the attributes as text. Numbers that a file or a database holds as such are written in full: whole numbers and decimals
digit by digit, floating-point numbers as the shortest decimal number that stands for them, and never with an exponent.
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
_HINT = "The policy names the columns of a table, and `id_column=` that of its ids"
_PERSON_HINT = f"{_HINT}; `person='COLUMN'` names that of your own customer keys"
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
    """Read the table of a provider; columns that are not named are not looked at.

    `source` is a CSV file (packed or not), a Parquet or Arrow file, or a database (`postgresql://`, `sqlite:///`, `duckdb:///`) with a
    query. `sensitive` is None for provider A. Where the population is given, an id that is not in it is refused. `person` is the column
    of the provider's own customer keys, which may be that of the ids; it is never sent.
    """
    attributes = tuple(attributes)
    if other := [one for one in attributes if not isinstance(one, Attribute)]:
        raise BadParameter(
            f"one of the attributes is {describe(other[0])}; expected attributes: take schema.a or schema.b of the policy"
        )
    numbered = {one.name for one in attributes if one.kind == "numeric"}
    named = [one.name for one in (*attributes, *((sensitive,) if sensitive else ()))]
    if id_column in named:
        raise BadParameter(
            f"the column of ids is {id_column!r}, which is an attribute too; name another with `id_column=`"
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
        read.columns[id_column], read.origin, "the id", "the id is in an earlier row too; expected one row per user"
    )
    if person is not None:
        twice = f"the column {person!r} holds this value twice; {ONE_PER_CUSTOMER}"
        _refuse_bad_keys(read.columns[person], read.origin, f"the value of {person!r}", twice)
    if population is not None:
        _refuse_strangers(read.columns[id_column], population, read.origin)
    name = read.origin.name
    try:
        return provider_table(read.columns, attributes, sensitive, id_column=id_column, person=person, file=name)
    except BadData as error:
        if error.row is None:
            raise
        # In a file of lines the place is a line, which is looked up only now.
        message = str(error).removeprefix(str(BadData("", file=name, row=error.row)))
        raise read.origin.wrong(message, error.row - 1) from None


@check_arguments
def read_population(
    source: str | Path, *, id_column: str = "id", query: str | None = None, separator: str | None = None
) -> Population:
    """Read a population, in its order: a table with a column of ids, or a .txt file with an id a line."""
    if plain_suffix(Path(source)) == ".txt" and not _is_database(source):
        if query is not None:
            raise _query_for_a_file()
        ids, origin = _lines(Path(source))
    else:
        read = _columns(source, [id_column], _POPULATION_HINT, query=query, separator=separator)
        ids, origin = read.columns[id_column], read.origin
    _refuse_bad_keys(ids, origin, "the id", "the id is in an earlier row too; expected one row per person")
    return Population(ids)


def text_columns(source: str | Path, *, query: str | None = None, separator: str | None = None) -> dict[str, Any]:
    """Read all columns of a table as text, by name."""
    if _is_database(source):
        from setveil.data import databases  # noqa: PLC0415 - only who asks a database pays for it

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
    """Columns of text, and where they came from."""

    columns: dict[str, Any]
    origin: Origin


@dataclass(frozen=True)
class _LineOrigin(Origin):
    """A file whose rows are its lines."""

    def wrong(self, message: str, row: int | None = None) -> BadData:
        """Return the error about a line, counted from 0."""
        return BadData(message, file=self.name, line=None if row is None else row + 1)


def _is_database(source: str | Path) -> bool:
    from setveil.data import databases  # noqa: PLC0415 - not every program asks one

    return databases.is_database(str(source))


def _query_for_a_file() -> BadParameter:
    return BadParameter("a query goes with a database (postgresql://, sqlite:///, duckdb:///), not with a file")


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
    """Read columns, the first of which are keys: texts or whole numbers."""
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
        raise origin.wrong("has no rows; expected one a person")
    return _Read({name: pa.concat_arrays(part) for name, part in zip(wanted, parts, strict=True)}, origin)


def _of_query(
    url: str, wanted: list[str], hint: str, query: str | None, stack: ExitStack
) -> tuple[Iterator[list[Any]], Origin]:
    from setveil.data import databases  # noqa: PLC0415 - only who asks a database pays for it

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
        raise BadData(f"is of a kind that is not known; expected a table that ends in one of {known}", file=str(path))
    delimiter = delimiter_of(path, separator)
    require(header(path, delimiter), wanted, str(path), hint)
    return csv_batches(path, wanted, delimiter), CsvOrigin(str(path), path, delimiter)


def _texts(values: Any, name: str, origin: Origin, before: int, *, is_id: bool, numbered: bool) -> Any:
    """Return a column as large_string; `before` rows came before it."""
    if values.null_count:
        row = before + int(pc.index(values.is_null(), value=True).as_py())
        raise origin.wrong(f"the column {name!r} has no value (null); every person needs one", row)
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _texts(values.dictionary_decode(), name, origin, before, is_id=is_id, numbered=numbered)
    if isinstance(kind, pa.BaseExtensionType):  # what a database has and Arrow has not, such as numbers of any length
        stored = _texts(values.storage, name, origin, before, is_id=is_id, numbered=numbered)
        return _numbers(stored, Decimal) if getattr(kind, "type_name", None) == "numeric" else stored
    is_float = pa.types.is_floating(kind)
    if pa.types.is_decimal(kind) or (is_float and not is_id):
        return _numbers(values.cast(pa.float32()) if pa.types.is_float16(kind) else values)
    plain = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if any(test(kind) for test in plain) or (pa.types.is_boolean(kind) and not is_id and not numbered):
        return values.cast(pa.large_string())
    allowed = "text or whole numbers" if is_id else "text or numbers"
    raise origin.wrong(f"the column {name!r} is of type {kind}; expected {allowed}: convert it first")


def _numbers(values: Any, read: Callable[[Any], Any] | None = None) -> Any:
    """Return numbers as texts; each different one is looked at once."""
    encoded = values.dictionary_encode()
    # Numbers of numpy know how wide they are: 0.7 of 32 bits is written as 0.7, not as the number of 64 bits next to it.
    floats = pa.types.is_floating(encoded.dictionary.type)
    numbers = encoded.dictionary.to_numpy() if floats else encoded.dictionary.to_pylist()
    found = [_in_full(number if read is None else read(number)) for number in numbers]
    return pa.array(found, pa.large_string()).take(encoded.indices)


def _in_full(number: Decimal | np.floating[Any]) -> str:
    """Return a number without exponent and without zeros at its end.

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
        raise origin.wrong("is empty; expected an id a line")
    return pa.array([line.removesuffix("\r") for line in lines], pa.large_string()), origin


def _refuse_bad_keys(keys: Any, origin: Origin, what: str, twice: str) -> None:
    if (row := first_unusable(keys)) is not None:
        raise origin.wrong(f"{what} {RULE}", row)
    encoded = keys.dictionary_encode()
    if len(encoded.dictionary) < len(keys):
        # New keys are numbered as they come: the first row that does not get its own number repeats a key.
        row = int(np.argmax(encoded.indices.to_numpy() != np.arange(len(keys))))
        raise origin.wrong(twice, row)


def _refuse_strangers(ids: Any, population: Population, origin: Origin) -> None:
    known = pc.is_in(ids, population.ids)
    if strangers := len(ids) - int(pc.sum(known).as_py()):
        row = int(pc.index(known, value=False).as_py())
        raise origin.wrong(
            f"the id is not in the population ({strangers:,} of {len(ids):,} are not); leave it out, or agree on a larger population",
            row,
        )
