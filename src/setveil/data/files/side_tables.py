"""Side files that are tables: CSV with any usual separator, TSV, JSON Lines, Parquet and Arrow.

A table has named columns, one of which holds the items. Names of columns match regardless of case. The separator of a CSV file is the one
that makes its header a header: with which it has the column of the items or, otherwise, the most columns.
"""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.display import quantity
from setveil.data.files import column_files
from setveil.data.files.json_lines import item_text, json_type_name, json_value, lines_of
from setveil.data.files.packing import plain_suffix, read_bytes
from setveil.data.files.side_files import shown
from setveil.data.files.texts import as_texts, is_text_type, join_names, not_utf8
from setveil.data.records.labels import BLANKS, note_stripped
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    Row = tuple[int, Sequence[str]]
    """The number of a row or of its first line, and its fields."""

ITEM = "item"
"""The usual column of the items."""
SEPARATORS = (",", ";", "\t", "|")
JSON_LINES = (".jsonl", ".ndjson")
_COMPARED = 1_000
"""The number of columns among which a close name is searched for."""
_CLEAR, _BEYOND_DOUBT, _CHANCE = 0.5, 0.9, 0.25
"""Shares of items in a column: from which a column of a taxonomy is suggested, from which it is used, and the maximum of others then."""


@dataclass(frozen=True)
class Table:
    """A side file with named columns; its rows can be read several times."""

    file: str
    columns: tuple[str, ...]
    read: Callable[[tuple[int, ...]], Iterator[Row]]
    """Yields the fields of the columns at these positions, each row with its number."""
    counts_lines: bool = True
    """Whether rows are numbered by their lines, and the header is line 1."""
    item: str = ITEM
    """The name of the column that holds the items."""
    other_types: frozenset[int] = frozenset()
    """The positions of columns that are not text; reading them is refused."""

    @property
    def others(self) -> list[str]:
        """The named columns other than that of the items."""
        return [name for name in self.columns if name not in (self.item, "")]

    @property
    def earlier(self) -> str:
        """Where an earlier row is, for messages."""
        return "on an earlier line" if self.counts_lines else "in an earlier row"

    @property
    def text_columns(self) -> list[str]:
        """The columns that can be read."""
        return [name for place, name in enumerate(self.columns) if place not in self.other_types]

    def fields(self, columns: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yield the fields of these columns as they are, up to the first broken row, which is reported when the table is used."""
        if not columns:
            return
        with suppress(BadData):
            for _number, fields in self.read(tuple(self._places_of[name][0] for name in columns)):
                yield fields

    def wrong(self, message: str, number: int | None = None) -> BadData:
        """Return the error about a row or, without a number, about the header."""
        if self.counts_lines:
            return BadData(message, file=self.file, line=number or 1)
        return BadData(message, file=self.file, row=number)

    @cached_property
    def _places_of(self) -> dict[str, list[int]]:
        """The positions of each column; a table may have 100,000 of them."""
        found: dict[str, list[int]] = {}
        for place, name in enumerate(self.columns):
            found.setdefault(name, []).append(place)
        return found

    @cached_property
    def _alike(self) -> dict[str, list[str]]:
        """The columns by their name in lower case."""
        found: dict[str, list[str]] = {}
        for name in self._places_of:
            found.setdefault(name.casefold(), []).append(name)
        return found

    def named(self, wanted: str) -> str | None:
        """Return the column with this name, regardless of case, or None."""
        if wanted in self._places_of:
            return wanted
        alike = self._alike.get(wanted.casefold(), [])
        if len(alike) > 1:
            raise self.wrong(f"has the columns {join_names(map(shown, alike))}; rename all but one of them")
        return alike[0] if alike else None

    def required(self, wanted: str, *, level: bool = False) -> str:
        """Return the column with this name, regardless of case, or refuse the name and suggest a close one."""
        found = self.named(wanted)
        if found is None or (level and found == self.item):
            known, noun = (self.others, "level") if level else (self.columns, "column")
            close = get_close_matches(wanted.casefold(), [name.casefold() for name in known[:_COMPARED]], n=1)
            hint = f"; did you mean {shown(self._alike[close[0]][0])}?" if close else ""
            raise self.wrong(f"has no {noun} {shown(wanted)}; the {noun}s are: {join_names(known)}{hint}")
        if found != wanted:
            progress.note(f"{self.file}: {shown(wanted)} is the column {shown(found)}, whose case differs")
        return found

    def rows(self, *columns: str) -> Iterator[Row]:
        """Yield the fields of these columns without blanks at their ends; at the end, announce how many fields had some."""
        with_blanks = 0
        for number, fields in self.read(self.places(columns)):
            bare = [field.strip(BLANKS) for field in fields]
            with_blanks += sum(map(str.__ne__, bare, fields))
            yield number, bare
        note_stripped(with_blanks, self.file)

    def with_item_column(self, wanted: str | None, labels: Collection[str] | None, *, is_list: bool = False) -> Table:
        """Return the table with the column of its items: the wanted one, `item`, or the one that clearly holds items of the data.

        `wanted` may be several names, separated by commas, for files that differ; the first one that the file has counts. A taxonomy
        should hold most items of the data (`labels`); a list (`is_list`) should hold few other names.
        """
        if wanted is not None:
            names = [wanted, *(name.strip() for name in wanted.split(","))]
            known = next((name for name in names if self.named(name) is not None), wanted)
            return replace(self, item=self.required(known))
        usual = self.named(ITEM)
        match = _best_match(self, labels, usual, is_list=is_list) if labels else None
        if match is None and usual is not None:
            self.places([usual])
            return replace(self, item=self.required(ITEM))
        columns = f"the columns are: {join_names(self.columns)}"
        if match is None:
            raise self.wrong(f"expected a header with the column 'item'; {columns}; name yours with `item_column=`")
        if match.column in (labels or ()):
            raise self.wrong(
                "has no header: its first line holds an item of the data; add a header such as item,category"
            )
        if match.is_beyond_doubt and usual is None:
            progress.note(f"{self.file}: {match} and holds the items; choose another with `item_column=`")
            return replace(self, item=match.column)
        instead = "" if usual is None else f", and {shown(usual)} does not"
        raise self.wrong(f"{match}{instead}: pass `item_column={match.column!r}`; {columns}")

    def places(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the positions of columns; refuse a column that occurs twice."""
        places = []
        for name in names:
            found = self._places_of[name]
            if len(found) > 1:
                raise self.wrong(f"has {len(found)} columns {shown(name)}; expected each column once")
            places.append(found[0])
        return tuple(places)


@dataclass(frozen=True)
class _Match:
    """The column of a table that holds most items of the data."""

    column: str
    count: int
    of: int
    """The number of items of the data or, for a list, of names in the column."""
    what: str
    others: float
    """The largest share in another column."""

    def __str__(self) -> str:
        return f"the column {shown(self.column)} matches {self.count:,} of {self.of:,} {self.what}"

    @property
    def is_beyond_doubt(self) -> bool:
        """Whether the column can be used without asking."""
        return self.count >= _BEYOND_DOUBT * self.of and self.others <= _CHANCE


def _best_match(table: Table, labels: Collection[str], usual: str | None, *, is_list: bool) -> _Match | None:
    """Return the column that clearly holds the items of the data, or None, or if that is the usual one."""
    known = set(labels)
    names = table.text_columns
    held: list[set[str]] = [set() for _name in names]
    for fields in table.fields(names):
        for values, field in zip(held, fields, strict=True):
            values.add(field.strip(BLANKS))
    bases = [max(1, len(values - {""})) if is_list else len(known) for values in held]
    counts = [len(values & known) for values in held]
    shares = dict(zip(names, (count / base for count, base in zip(counts, bases, strict=True)), strict=True))
    best = max(shares, key=shares.__getitem__, default=None)
    if best is None or best == usual or not shares[best] or (shares[best] < _CLEAR and not is_list):
        return None
    others = max((share for name, share in shares.items() if name != best), default=0.0)
    if 2 * (others if usual is None else shares.get(usual, 0.0)) > shares[best]:
        return None
    place = names.index(best)
    what = "names in it with items of the data" if is_list else "items of the data"
    return _Match(best, counts[place], bases[place], what, others)


def read_table(source: str, item_column: str | None = None, labels: Collection[str] | None = None) -> Table:
    """Open a table, or the taxonomy of `sample:NAME`, with the column of its items.

    `labels` are the items of the data, if they are known; a table without the usual column is compared with them.
    """
    table = open_table(source, item_column).with_item_column(item_column, labels)
    if not table.others:
        raise table.wrong(f"has only the column {shown(table.item)}; expected another column with the categories")
    return table


def open_table(source: str, item_column: str | None = None) -> Table:
    """Open a table whose column of items is not known yet."""
    if source.startswith("sample:"):
        from setveil.data.samples import sample_taxonomy  # noqa: PLC0415 - loaded only for samples

        header, sample_rows = sample_taxonomy(source)
        return Table(source, tuple(header), lambda places: _picked(enumerate(sample_rows, start=2), places))
    path = Path(source)
    suffix = plain_suffix(path)
    if suffix in column_files.EXTENSIONS:
        return _columnar(path)
    return _json_objects(path) if suffix in JSON_LINES else _csv(path, item_column)


def _picked(rows: Iterable[Row], places: tuple[int, ...]) -> Iterator[Row]:
    """Yield the fields at these places."""
    pick = itemgetter(places[0], *places)  # the first place twice, so that the result is a tuple even for one place
    for number, row in rows:
        yield number, pick(row)[1:]


# -- CSV ---------------------------------------------------------------------------------------------------------------


def _csv(path: Path, item_column: str | None) -> Table:
    file = str(path)
    content = read_bytes(path)
    if wrong := not_utf8(content, file):
        raise wrong
    text = content.decode("utf-8")
    separator, columns = _header(text, path, item_column)

    def read(places: tuple[int, ...]) -> Iterator[Row]:
        rows = _rows(_csv_reader(text, separator), file, len(columns))
        next(rows, None)
        return _picked(rows, places)

    return Table(file, columns, read)


def _csv_reader(text: str, separator: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)


def _header(text: str, path: Path, item_column: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the separator of a CSV file and the names of its columns."""
    wanted = {name.strip().casefold() for name in (item_column or ITEM).split(",")}
    candidates = []
    problem: BadData | None = None
    for separator in sorted(SEPARATORS, key=lambda one: (one == "\t") != (plain_suffix(path) == ".tsv")):
        try:
            _number, fields = next(_rows(_csv_reader(text, separator), str(path)), (1, []))
        except BadData as error:
            problem = problem or error
            continue
        columns = tuple(name.strip() for name in fields)
        has_item = any(name.casefold() in wanted for name in columns)
        candidates.append((has_item, len(columns), separator, columns))
    if not candidates:
        assert problem is not None
        raise problem
    _has_item, _count, separator, columns = max(candidates, key=itemgetter(0, 1))  # the first one of equals
    return separator, columns


def _rows(reader: Any, file: str, width: int | None = None) -> Iterator[Row]:
    """Yield each row with the number of its first line; a quoted value can hold line breaks."""
    starts = reader.line_num + 1
    try:
        for row in reader:
            if width is None or len(row) == width:
                yield starts, row
            elif row:
                raise BadData(
                    f"has {quantity(len(row), 'field')} where the header has {width:,}", file=file, line=starts
                )
            starts = reader.line_num + 1
    except csv.Error as error:
        raise BadData(f"is not valid CSV ({error})", file=file, line=reader.line_num) from None


# -- other formats -----------------------------------------------------------------------------------------------------


def _columnar(path: Path) -> Table:
    """Open a Parquet or Arrow file; a missing value is an empty field."""
    schema = column_files.schema_of(path)
    columns = tuple(schema.names)
    other_types = frozenset(place for place, kind in enumerate(schema.types) if not is_text_type(kind))

    def read(places: tuple[int, ...]) -> Iterator[Row]:
        for place in places:
            if place in other_types:
                problem = f"the column {shown(columns[place])} has the type {schema.types[place]}"
                raise BadData(f"{problem}; expected text or whole numbers", file=str(path))
        number = 0
        for batch in column_files.batches(path, [columns[place] for place in places], ""):
            texts = [as_texts(column).to_pylist() for column in batch]
            for fields in zip(*texts, strict=True):
                number += 1
                yield number, ["" if field is None else field for field in fields]

    return Table(str(path), columns, read, counts_lines=False, other_types=other_types)


def _json_objects(path: Path) -> Table:
    """Open JSON Lines with an object per line; a missing field and null are empty fields."""
    file = str(path)
    objects: list[dict[str, Any]] = []
    columns: dict[str, None] = {}
    for number, line in enumerate(lines_of(path), start=1):
        try:
            value = json_value(line)
        except ValueError as error:
            raise BadData(str(error), file=file, line=number) from None
        if not isinstance(value, dict):
            problem = f"is {json_type_name(value)}; expected an object such as"
            raise BadData(f'{problem} {{"item": "milk", "category": "dairy"}}', file=file, line=number)
        objects.append(value)
        columns.update(dict.fromkeys(value))
    names = tuple(columns)

    def text_of(value: Any, place: int, number: int) -> str:
        try:
            return "" if value is None else item_text(value, f"the field {shown(names[place])}")
        except ValueError as error:
            raise BadData(str(error), file=file, line=number) from None

    def read(places: tuple[int, ...]) -> Iterator[Row]:
        for number, value in enumerate(objects, start=1):
            yield number, [text_of(value.get(names[place]), place, number) for place in places]

    others = (place for place, name in enumerate(names) if any(_is_other(one.get(name)) for one in objects))
    return Table(file, names, read, other_types=frozenset(others))


def _is_other(value: Any) -> bool:
    return value is not None and not isinstance(value, str)
