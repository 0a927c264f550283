"""Files of a joined table: one row per record, and `attributes.json` next to it with the columns that both providers agreed on.

A row has the text of one interval per quasi-identifier, A's first, and the sensitive value last. Rows are in the order of groups, and
within a group in the order of sensitive values, so that their order reveals nothing. The same table gives the same bytes.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base.arguments import check_arguments
from setveil.data.files import column_files
from setveil.data.files.assembly import Origin
from setveil.data.files.csv_tables import CsvOrigin, csv_batches, header
from setveil.data.files.json_lines import json_type_name, json_value
from setveil.data.files.packing import plain_suffix, read_bytes, writing
from setveil.data.files.side_files import shown
from setveil.data.files.texts import join_names
from setveil.data.forms.own_format import OwnFormat
from setveil.errors import BadData, BadParameter, OutputRefused
from setveil.presence.tables.joined_table import JoinedTable
from setveil.presence.tables.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from setveil.data.formats import Layout

ATTRIBUTES_NAME = "attributes.json"
DATA_NAME = "data.csv"
_COLUMN_FILES = (".parquet",)
_WRITTEN_ROWS = 1 << 16
_FIELDS = {"a", "b", "sensitive"}


class JoinedFiles(OwnFormat):
    """The format of joined tables: a CSV or Parquet file, and `attributes.json` next to it."""

    name: ClassVar[str] = "joined"
    summary: ClassVar[str] = "CSV or Parquet, one row per record: intervals of the attributes, then the sensitive value"
    extensions: ClassVar[tuple[str, ...]] = (".csv", ".parquet")

    def packable(self, extension: str) -> bool:
        """Return whether a file with this extension can be compressed with gzip or Zstandard."""
        return extension == ".csv"

    def read(self, path: Path, layout: Layout) -> JoinedTable:
        """Read a file and the `attributes.json` next to it."""
        del layout
        return read_joined(path.parent, path.name)

    def write(self, data: JoinedTable, path: Path, layout: Layout) -> None:
        """Write a file and `attributes.json` next to it; compressed if the name ends in .gz or .zst."""
        del layout
        write_joined(data, path.parent, path.name)


# -- writing -----------------------------------------------------------------------------------------------------------


@check_arguments
def write_joined(table: JoinedTable, folder: str | Path, file: str = DATA_NAME) -> None:
    """Write a joined table and its `attributes.json` into a folder.

    Parameters
    ----------
    table : JoinedTable
        The table.
    folder : str or Path
        An existing folder.
    file : str
        The name of the data file; it ends in `.csv` (also `.csv.gz`, `.csv.zst`) or `.parquet`.

    Returns
    -------
    None

    Raises
    ------
    OutputRefused
        The name of the file has another extension, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> outcome = sv.Mondrian(k=50).apply(sample(people=2000).originals, keys=sv.Keys(b"a" * 16, b"b" * 16))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sv.write_joined(outcome.table, folder)
    ...     sv.read_joined(folder).groups == outcome.table.groups
    True
    """
    path = Path(folder) / file
    ending = plain_suffix(path)
    if ending not in JoinedFiles.extensions or (ending in _COLUMN_FILES and path.suffix.lower() != ending):
        raise OutputRefused(
            f"{path} is not a file name for a joined table; expected a name that ends in .csv or .parquet"
        )
    with writing(path.with_name(ATTRIBUTES_NAME)) as out:
        out.write((json.dumps(table.schema.to_dict(), ensure_ascii=False, indent=2) + "\n").encode())
    with writing(path) as out:
        for block in _parquet(table, path) if ending in _COLUMN_FILES else _csv(table):
            out.write(block)


def csv_sha256(table: JoinedTable) -> str:
    """Return the SHA-256 of the CSV file of a table without writing it, so that a party with the table can verify the file."""
    digest = hashlib.sha256()
    for block in _csv(table):
        digest.update(block)
    return digest.hexdigest()


def _texts(table: JoinedTable) -> list[list[str]]:
    """Return the texts of the intervals of each group."""
    columns = []
    for place, attribute in enumerate(table.schema.attributes):
        intervals = list(zip(table.lows[:, place].tolist(), table.highs[:, place].tolist(), strict=True))
        text_of = {one: attribute.text(*one) for one in set(intervals)}
        columns.append([text_of[one] for one in intervals])
    return [list(texts) for texts in zip(*columns, strict=True)]


def _csv(table: JoinedTable) -> Iterator[bytes]:
    """Yield the file in blocks; records of a group with the same sensitive value are identical lines."""
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")

    def flushed() -> bytes:
        text = line.getvalue()
        line.seek(0)
        line.truncate()
        return text.encode()

    writer.writerow(table.schema.columns)
    yield flushed()
    values = table.schema.sensitive.values
    for texts, counts in zip(_texts(table), table.counts.tolist(), strict=True):
        for value, count in zip(values, counts, strict=True):
            if count:
                writer.writerow([*texts, value])
                row = flushed()
                for done in range(0, count, _WRITTEN_ROWS):
                    yield row * min(count - done, _WRITTEN_ROWS)


def _parquet(table: JoinedTable, path: Path) -> Iterator[bytes]:
    texts = [pa.array(column, pa.large_string()) for column in zip(*_texts(table), strict=True)]
    texts = texts or [pa.array([], pa.large_string()) for _ in table.schema.attributes]
    labels = pa.array(table.schema.sensitive.values, pa.large_string())
    groups, values = np.nonzero(table.counts)
    ends = np.cumsum(table.counts[groups, values])

    def parts() -> Iterator[Any]:
        for first in range(0, table.records, _WRITTEN_ROWS):
            rows = np.arange(first, min(first + _WRITTEN_ROWS, table.records))
            cell = np.searchsorted(ends, rows, side="right")
            group = pa.array(groups[cell])
            columns = [*(text.take(group) for text in texts), labels.take(pa.array(values[cell]))]
            yield pa.RecordBatch.from_arrays(columns, names=list(table.schema.columns))

    yield from column_files.written(path, dict.fromkeys(table.schema.columns, pa.large_string()), parts())


# -- reading -----------------------------------------------------------------------------------------------------------


@check_arguments
def read_joined(folder: str | Path, file: str = DATA_NAME) -> JoinedTable:
    """Read a joined table and the `attributes.json` next to it. The rows may be in any order.

    Use `open_joined` for a release folder: it also verifies the checksums on the card.

    Parameters
    ----------
    folder : str or Path
        The folder of the table.
    file : str
        The name of the data file: CSV, also compressed, or Parquet.

    Returns
    -------
    JoinedTable
        The table, with its groups in the order of their intervals.

    Raises
    ------
    BadData
        A file is missing, the columns differ from those in `attributes.json`, or a text is not an interval of its attribute.

    Examples
    --------
    >>> import tempfile
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> outcome = sv.Mondrian(k=50).apply(sample(people=2000).originals, keys=sv.Keys(b"a" * 16, b"b" * 16))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sv.write_joined(outcome.table, folder)
    ...     sv.read_joined(folder).records
    281
    """
    path = Path(folder) / file
    schema = read_schema(path.with_name(ATTRIBUTES_NAME))
    names = list(schema.columns)
    if plain_suffix(path) in column_files.EXTENSIONS:
        origin = Origin(str(path))
        _refuse_other_columns(column_files.schema_of(path).names, names, origin, None)
        batches = column_files.batches(path, names, f"{ATTRIBUTES_NAME} names the columns")
    else:
        origin = CsvOrigin(str(path), path, ",")
        _refuse_other_columns(header(path, ","), names, origin, 1)
        batches = csv_batches(path, names, ",")
    columns = [_Column(one.name, one.interval, origin) for one in schema.attributes]
    columns.append(_Column(schema.sensitive.name, _value_of(schema), origin))
    rows = 0
    codes: list[list[NDArray[np.int32]]] = [[] for _ in columns]
    for batch in batches:
        for place, (column, texts) in enumerate(zip(columns, batch, strict=True)):
            codes[place].append(column.codes(texts, rows))
        rows += len(batch[0])
    return _table(schema, columns, [np.concatenate(one) if one else np.empty(0, np.int32) for one in codes])


def read_schema(path: Path) -> Schema:
    """Read the `attributes.json` of a joined table."""
    try:
        given = json_value(read_bytes(path))
        if not isinstance(given, dict):
            raise ValueError(f"is {json_type_name(given)}; expected an object with {', '.join(sorted(_FIELDS))}")  # noqa: TRY004, TRY301 - becomes a BadData below
        if other := sorted(given.keys() - _FIELDS):
            raise ValueError(f"has the field {shown(other[0])}; allowed are {', '.join(sorted(_FIELDS))}")  # noqa: TRY301 - becomes a BadData below
    except ValueError as error:
        raise BadData(str(error), file=str(path)) from None
    try:
        return Schema.from_dict(given, where=str(path))
    except BadParameter as error:
        raise BadData(str(error)) from None


def _refuse_other_columns(found: list[str], wanted: list[str], origin: Origin, line: int | None) -> None:
    if found != wanted:
        message = f"has the columns {join_names(found)}; {ATTRIBUTES_NAME} next to it requires {join_names(wanted)}"
        raise BadData(message, file=origin.name, line=line)


def _value_of(schema: Schema) -> Callable[[str], tuple[int, int] | None]:
    def value(text: str) -> tuple[int, int] | None:
        code = schema.sensitive.cell(text)
        return None if isinstance(code, str) else (code, code + 1)

    return value


class _Column:
    """A column that is read in batches: its texts are numbered in the order of first occurrence, and each is parsed once."""

    def __init__(self, name: str, interval: Callable[[str], tuple[int, int] | None], origin: Origin) -> None:
        self._name = name
        self._interval = interval
        self._origin = origin
        self._code_of: dict[str, int] = {}
        self.intervals: list[tuple[int, int]] = []

    def codes(self, texts: Any, before: int) -> NDArray[np.int32]:
        """Return the number of each text; `before` is the number of rows in earlier batches."""
        if not any(test(texts.type) for test in (pa.types.is_string, pa.types.is_large_string)):
            raise self._origin.wrong(f"the column {self._name!r} is of type {texts.type}; expected text")
        if texts.null_count:
            row = before + int(pc.index(texts.is_null(), value=True).as_py())
            raise self._origin.wrong(
                f"the column {self._name!r} has no value (null); expected a value in every row", row
            )
        encoded = texts.dictionary_encode()
        of_text = np.empty(len(encoded.dictionary), dtype=np.int32)
        for place, text in enumerate(encoded.dictionary.to_pylist()):
            code = self._code_of.get(text)
            if code is None:
                interval = self._interval(text)
                if interval is None:
                    row = before + int(pc.index(encoded.indices, pa.scalar(place, encoded.indices.type)).as_py())
                    raise self._origin.wrong(
                        f"{shown(text)} is not an interval or value of {self._name!r} in {ATTRIBUTES_NAME}", row
                    )
                code = self._code_of[text] = len(self.intervals)
                self.intervals.append(interval)
            of_text[place] = code
        found: NDArray[np.int32] = of_text[encoded.indices.to_numpy()]
        return found


def _table(schema: Schema, columns: list[_Column], codes: list[NDArray[np.int32]]) -> JoinedTable:
    """Count equal rows and return them as a table."""
    names = [str(place) for place in range(len(columns))]
    counted = pa.table(dict(zip(names, codes, strict=True))).group_by(names).aggregate([([], "count_all")])
    edges = [
        np.array(column.intervals or [(0, 1)], dtype=np.int32)[counted.column(name).to_numpy()]
        for name, column in zip(names, columns, strict=True)
    ]
    counts = np.zeros((counted.num_rows, schema.sensitive.cells), dtype=np.int64)
    counts[np.arange(counted.num_rows), edges[-1][:, 0]] = counted.column("count_all").to_numpy()
    lows, highs = (np.column_stack([one[:, side] for one in edges[:-1]]) for side in (0, 1))
    return JoinedTable.arranged(schema, lows, highs, counts)
