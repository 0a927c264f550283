"""Find the format of a file, and how it separates columns and items, from its extension, its columns and its first rows.

Files that the documented defaults read are read so, and nothing else is examined. For other files, at most the first 256 KiB are examined.
Only these readings are certain enough to be used, and a note states them:

- a header with the columns `id` and `item`, or `items`, in any letter case, separated by one of `,` `;` tab `|`;
- a 0/1 table: below a header, each cell (except ids) is one of two words such as 0 and 1;
- ragged lines of items: one separator occurs, the lengths differ, no length above 1 is that of most lines, and at least half of the items
  of the first line occur again. The names of a header do not.

If two readings are plausible, or none is certain, the file is refused, with the arguments that decide.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from setveil.data.files import column_files, json_lines
from setveil.data.files.character_encodings import how_to_decode
from setveil.data.files.csv_tables import DELIMITERS, header
from setveil.data.files.packing import blocks, packing_of, plain_suffix, reading
from setveil.data.files.table_cells import NO, YES, all_boolean, are_yes_and_no, id_column_of
from setveil.data.files.texts import join_names
from setveil.data.formats import FORMATS, Format, Layout, format_named, format_of
from setveil.data.formats.long import delimiter_of
from setveil.data.records.labels import BLANKS
from setveil.errors import BadData, BadParameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SAMPLE_BYTES = 1 << 18
_TABLES = ("long", "wide", "matrix", "attributes")
_CSV = (".csv", ".tsv")
_PIPE = ""
"""The extension of text from a pipe."""
_FIRST = 1 << 12
"""Bytes in which the first line of a text file is looked at."""
_LONGEST_NAME = 40
_FEWEST_LENGTHS = 3
_FEWEST_FLAGS = 2
_FEWEST_NUMBERED = 3
"""A table whose columns are numbers, such as `1,2`, could be lines of items; with three columns each line would repeat one."""


class Reading(NamedTuple):
    """How to read a file."""

    form: Format
    layout: Layout
    note: str = ""
    """What was found in the file, if the defaults do not read it."""


def reading_of(path: Path, named: str | None, layout: Layout, *, argument: str = "format") -> Reading:
    """Return how to read a file: as the arguments say, as the defaults say, or as its first rows show."""
    suffix = plain_suffix(path)
    form = None if named is None else format_named(named)
    if layout.no_header and form not in (None, FORMATS["long"]):
        raise BadParameter(f"`no_header=True` goes with the format 'long', not with {named!r}; remove one of them")
    is_text = suffix not in (*column_files.EXTENSIONS, *json_lines.EXTENSIONS)
    if suffix in (*_CSV, _PIPE) if form is None else is_text and form.name in _TABLES:
        return _of_text(path, form, layout)
    if form is not None:
        return Reading(form, layout)
    if suffix in FORMATS["basket"].extensions and (table := _table_in_lines(path, layout)):
        return table
    if suffix in column_files.EXTENSIONS and not packing_of(path) and all_boolean(column_files.schema_of(path), layout):
        return _stated(FORMATS["matrix"], layout, layout)
    return Reading(format_of(path, layout, argument=argument), layout)


# -- delimited text ----------------------------------------------------------------------------------------------------


def _of_text(path: Path, form: Format | None, layout: Layout) -> Reading:
    if layout.ragged:
        return Reading(form or FORMATS["wide"], layout)
    if layout.no_header:
        return _without_header(path, layout)
    in_cells = layout.items is not None or (form is not None and form.name == "wide")  # what `separator` is between
    default = delimiter_of(path, None if in_cells else layout.separator)
    if documented := _as_documented(path, default, form, layout):
        return documented
    asked = _Asked(form, layout)
    sample = _Sample.of(path, dict.fromkeys((*DELIMITERS, default)))
    if not sample.text.strip():
        header(path, default)  # refuses an empty file
        if asked.is_nothing:
            raise sample.wrong(
                f"the first line is longer than {SAMPLE_BYTES >> 10} KiB, which is the most that is examined; name the format with "
                "`format=`, such as `format='matrix'` for one column per item"
            )
        return Reading(form or FORMATS["wide" if in_cells else "long"], layout)
    found = [reading for one in sample.rows if (reading := asked.by_names(sample, one, default)) is not None]
    tables = sample if in_cells or layout.separator is None else sample.split_only_at(default)
    if not found and asked.is_nothing:
        found = [reading for one in tables.rows if (reading := _matrix(tables, one, layout, default)) is not None]
        found = found or _ragged(tables, layout, default)
    if len(found) == 1:
        return found[0]
    if found:
        several = " or ".join(f"`separator={one!r}`" for one in sample.rows)
        raise sample.wrong(f"it is not certain what separates the columns; name it, such as {several}")
    if form is None and plain_suffix(path) == _PIPE and not sample.rows:
        return Reading(_lines_format(sample), layout)
    delimiter = _likely_delimiter(tables, default)
    columns = header(path, delimiter) if not sample.encoding_hint else tables.rows.get(delimiter, [[]])[0]
    if not asked.is_nothing or layout.id not in (None, *columns):  # the reader says which column is missing
        if not in_cells and layout.separator is None and delimiter != default:
            layout = replace(layout, separator=delimiter)
        return Reading(form or FORMATS["wide" if in_cells else "long"], layout)
    raise _undecided(tables, delimiter, default, layout.id)


def _without_header(path: Path, layout: Layout) -> Reading:
    """Return how to read rows of an id and an item: with the default separator, or the only one that splits them."""
    form, default = FORMATS["long"], delimiter_of(path, layout.separator)
    if layout.separator is None:
        splitting = list(_Sample.of(path, DELIMITERS).rows)
        if len(splitting) == 1 and splitting != [default]:
            return _stated(form, layout, replace(layout, separator=splitting[0]))
    return Reading(form, layout)


def _table_in_lines(path: Path, layout: Layout) -> Reading | None:
    """Return how to read a table with the named columns whose extension is that of basket files; refuse one whose columns are not named."""
    if layout.separator is not None:
        return None
    with reading(path) as (stream, _advance):
        first_line = bytes(stream.read(_FIRST)).partition(b"\n")[0]
    if not any(one.encode() in first_line for one in DELIMITERS):
        return None
    sample = _Sample.of(path, DELIMITERS)
    if layout.item is not None or layout.items is not None:
        asked = _Asked(None, layout)
        found = [table for one in sample.rows if (table := asked.by_names(sample, one, "")) is not None]
        return found[0] if len(found) == 1 else None
    delimiter = _likely_delimiter(sample, ",")
    columns, *rows = sample.rows[delimiter] if sample.rows else [[]]
    if len(columns) > 1 and len(rows) > 1 and _is_header(columns, rows):
        first, second, *_others = map(_shown, columns)
        raise sample.wrong(
            f"looks like the header of a table with the columns {join_names(columns)}, separated by {delimiter!r}. Name them with "
            f"`id={first}` and `item={second}` (one item per row) or `items={second}` (all in one cell); if each line is a record, use "
            f"`format='basket'`, and `separator={delimiter!r}` if this separates its items"
        )
    return None


def _as_documented(path: Path, default: str, form: Format | None, layout: Layout) -> Reading | None:
    """Return how the documented defaults read a file; None if its header lacks their columns."""
    try:
        columns = header(path, default)
    except BadData:  # the quotes of a file with another separator
        return None
    if form is not None and form.name in ("matrix", "attributes"):
        return _with_ids(form, layout, columns) if layout.separator is not None or len(columns) > 1 else None
    has_items = layout.item is None and layout.items_column in columns and layout.item_column not in columns
    is_wide = form.name == "wide" if form is not None else layout.items is not None or has_items
    if is_wide:
        return (
            _with_ids(FORMATS["wide"], layout, columns)
            if {layout.items_column, layout.id} <= {*columns, None}
            else None
        )
    return Reading(FORMATS["long"], layout) if {layout.id_column, layout.item_column} <= set(columns) else None


def _with_ids(form: Format, layout: Layout, columns: Sequence[str]) -> Reading:
    """Return how to read a file whose ids are optional; a note states a column of ids that is not called `id` but `ID`."""
    ids = _column(columns, layout.id, "id")
    return Reading(form, layout) if ids in (None, "id", layout.id) else _stated(form, layout, replace(layout, id=ids))


class _Sample(NamedTuple):
    """The first rows of a text file."""

    path: Path
    text: str
    rows: dict[str, list[list[str]]]
    """The rows by delimiter, for each that splits at least one row."""
    encoding_hint: str = ""
    """What to do if the text is not UTF-8. Its columns are found all the same, so that one message names all remedies."""

    @classmethod
    def of(cls, path: Path, delimiters: Iterable[str]) -> _Sample:
        """Read the beginning of a file, and split it at each delimiter."""
        content = b""
        for block in blocks(path):
            content += block
            if len(content) > SAMPLE_BYTES:
                break
        is_whole = len(content) <= SAMPLE_BYTES
        if not is_whole:
            content = content[: content.rfind(b"\n", 0, SAMPLE_BYTES) + 1]
        hint = ""
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            text, hint = content.decode("latin-1"), how_to_decode(content[error.start])
        rows = {one: _rows(text, one, is_whole=is_whole) for one in delimiters}
        return cls(path, text, {one: found for one, found in rows.items() if any(len(row) > 1 for row in found)}, hint)

    def split_only_at(self, delimiter: str) -> _Sample:
        """Return the same rows, split at the named separator only."""
        return self._replace(rows={one: rows for one, rows in self.rows.items() if one == delimiter})

    def wrong(self, message: str, line: int | None = 1) -> BadData:
        """Return the error about the file, which also says how to decode it if it is not UTF-8."""
        also = f". It is not UTF-8 text either: {self.encoding_hint}" if self.encoding_hint else ""
        return BadData(message + also, file=str(self.path), line=line)


def _rows(text: str, delimiter: str, *, is_whole: bool) -> list[list[str]]:
    """Return the rows of a text; none if it is not valid with this delimiter."""
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        rows.extend(row for row in reader if row)
    except csv.Error:
        return [] if is_whole else rows  # a quoted cell can reach beyond the end of the sample
    return rows


class _Asked(NamedTuple):
    """What the arguments say of a file."""

    form: Format | None
    layout: Layout

    @property
    def is_nothing(self) -> bool:
        """Whether they name neither the format nor a column other than the ids."""
        return self.form is None and self.layout.item is None and self.layout.items is None

    def by_names(self, sample: _Sample, delimiter: str, default: str) -> Reading | None:
        """Return how to read the file if its header, split at this delimiter, has the columns of one format."""
        rows, layout = sample.rows[delimiter], self.layout
        columns = rows[0]
        name = None if self.form is None else self.form.name
        ids = _column(columns, layout.id, "id")
        item = _column(columns, layout.item, "item")
        items = _column(columns, layout.items, "items")
        may_separate = layout.separator in (None, delimiter)  # of a wide file, the separator is between items
        if name in ("matrix", "attributes"):
            if len(columns) < 2 or not may_separate or (layout.id is not None and ids is None):
                return None
            return _stated(FORMATS[name], layout, _separated(replace(layout, id=ids), delimiter, default))
        if name != "wide" and may_separate and layout.items is None and ids is not None and item is not None:
            return _stated(
                FORMATS["long"], layout, _separated(_with_columns(layout, ids, item=item), delimiter, default)
            )
        if name == "long" or items is None or (item is not None and layout.items is None):
            return None
        if layout.item is not None or layout.separator == delimiter or (layout.id is not None and ids is None):
            return None
        found = _with_columns(layout, ids, items=items)
        if found.separator is None:
            found = replace(found, separator=_separator_in_cells(sample, delimiter, columns.index(items)))
        return _stated(FORMATS["wide"], layout, found, columns=delimiter)


def _column(columns: Sequence[str], given: str | None, default: str) -> str | None:
    """Return the column that is named, or that has the default name in any letter case; None if there is not exactly one."""
    wanted = [given] if given is not None else [default]
    alike = [name for name in columns if name in wanted]
    if not alike and given is None:
        alike = [name for name in columns if name.lower() == default]
    return alike[0] if len(alike) == 1 else None


def _with_columns(layout: Layout, ids: str | None, *, item: str | None = None, items: str | None = None) -> Layout:
    """Return a layout with these columns, except where they are the defaults."""
    found = {"id": ids, "item": item, "items": items}
    named: dict[str, Any] = {name: column for name, column in found.items() if column not in (None, name)}
    return replace(layout, **named)


def _separated(layout: Layout, delimiter: str, default: str) -> Layout:
    return layout if delimiter == default else replace(layout, separator=delimiter)


def _separator_in_cells(sample: _Sample, delimiter: str, place: int) -> str | None:
    """Return what separates the items of the cells in a column; refuse a column in which this is not certain."""
    cells = "".join(row[place] for row in sample.rows[delimiter][1:] if len(row) > place)
    there = [one for one in DELIMITERS if one != delimiter and one in cells]
    if len(there) == 1:
        return there[0]
    if there or " " in cells.strip():
        separators = " or ".join(f"`separator={one!r}`" for one in there or [" "])
        raise sample.wrong(
            f"it is not certain what separates the items of a cell; name it, such as {separators}", line=2
        )
    return None


def _matrix(sample: _Sample, delimiter: str, layout: Layout, default: str) -> Reading | None:
    """Return how to read a 0/1 table."""
    columns, *rows = sample.rows[delimiter]
    ids = _column(columns, layout.id, "id") or id_column_of(columns, Layout())
    if (layout.id is not None and ids != layout.id) or not _are_flags(columns, rows, ids):
        return None
    found = _with_columns(layout, None if ids == columns[0] == "" or layout.id else ids)
    return _stated(FORMATS["matrix"], layout, _separated(found, delimiter, default))


def _are_flags(columns: list[str], rows: list[list[str]], ids: str | None) -> bool:
    """Return whether all cells below the header are 0 or 1, except in the column of ids."""
    names = [name for name in columns if name != ids]
    if len(names) < _FEWEST_FLAGS or len(set(columns)) < len(columns) or any(len(row) != len(columns) for row in rows):
        return False
    numbered = all(name.isdecimal() for name in names)
    if numbered and len(names) < _FEWEST_NUMBERED:
        return False  # lines of items
    if not numbered and any(name.lower() in YES + NO for name in names):
        return False  # a row of values, not a header
    places = [place for place, name in enumerate(columns) if name != ids]
    return are_yes_and_no({row[place].strip() for row in rows for place in places})


def _ragged(sample: _Sample, layout: Layout, default: str) -> list[Reading]:
    """Return how to read lines of items without a header, if that is certain."""
    if len(sample.rows) != 1 or layout.id is not None:
        return []
    delimiter, rows = next(iter(sample.rows.items()))
    records = [record for row in rows if (record := _without_padding(row))]
    lengths = Counter(map(len, records))
    length, times = lengths.most_common(1)[0] if lengths else (0, 0)
    if len(lengths) < _FEWEST_LENGTHS or (length > 1 and 2 * times > len(records)):
        return []
    elsewhere = {item for record in records[1:] for item in record}
    if 2 * sum(item in elsewhere for item in records[0]) < len(records[0]):
        return []
    return [_stated(FORMATS["wide"], layout, _separated(replace(layout, ragged=True), delimiter, default))]


def _without_padding(row: list[str]) -> list[str]:
    """Return the items of a line without empty fields at its end, which spreadsheets add."""
    items = [item.strip(BLANKS) for item in row]
    while items and not items[-1]:
        items.pop()
    return items


def _lines_format(sample: _Sample) -> Format:
    """Return the format of text from a pipe without delimiters: lines of numbers, or an SPMF file, are a basket file."""
    lines = [line.split() for line in sample.text.splitlines()]
    if sample.text.startswith("@CONVERTED_FROM_") or (
        any(len(line) > 1 for line in lines) and all(item.isdecimal() for line in lines for item in line)
    ):
        return FORMATS["basket"]
    raise sample.wrong(
        f"the content does not show its format; name it with `format=`: {' | '.join(FORMATS)}", line=None
    )


# -- what is said ------------------------------------------------------------------------------------------------------


def _stated(form: Format, given: Layout, found: Layout, columns: str = "") -> Reading:
    """Return a reading, with a note that names its arguments."""
    before = vars(given)
    named = {"format": form.name} | {name: value for name, value in vars(found).items() if value != before[name]}
    arguments = [f"`{name}={value!r}`" for name, value in named.items() if value is not None]
    between = f", and columns separated by {columns!r}" if columns not in ("", ",") else ""
    return Reading(form, found, f"the file is read with {', '.join(arguments)}{between}")


def _undecided(sample: _Sample, delimiter: str, default: str, ids: str | None) -> BadData:
    """Return the error about a file whose reading is not certain: it names the arguments that decide."""
    columns, *rows = sample.rows.get(delimiter) or _rows(sample.text, default, is_whole=True) or [[]]
    named = "" if delimiter == default else f" and `separator={delimiter!r}`"
    ragged = f"`ragged=True`{named}" if named else "`ragged=True`"
    if not _is_header(columns, rows):
        return sample.wrong(
            f"has no header with the columns 'id' and 'item'. If each line holds the items of a record, use {ragged}; if each line is an "
            f"id and an item, use `no_header=True`{named}; if the first line is a header, name its columns with `id=` and `item=`"
        )
    ids = ids if ids in columns else "id" if "id" in columns else None
    there = f"has no column {'id' if ids is None else 'item'!r}; the columns are: {join_names(columns)}"
    if delimiter != ",":
        there += f", separated by {delimiter!r}"
    first = _shown(columns[0] if ids is None else ids)
    others = [name for name in columns if repr(name) != first]
    if flags := _how_to_read_flags(columns, rows, ids):
        return sample.wrong(f"{there}. {flags}")
    if ids is None and others and len({re.sub(r"[ _.-]?[0-9]+$", "", name) for name in columns[1:]}) == 1 < len(others):
        return sample.wrong(f"{there}. If each cell holds one item, use {ragged} and `id={first}`")
    if not others:
        return sample.wrong(
            f"{there}. Use `items={first}` if a cell holds all items of a record, or {ragged} if each line holds the items of a record"
        )
    second = _shown(others[0])
    return sample.wrong(
        f"{there}. Name yours with `id={first}` and `item={second}` (one item per row), `items={second}` (all in one cell) or "
        "`format='attributes'` (one per cell)"
    )


def _how_to_read_flags(columns: list[str], rows: list[list[str]], ids: str | None) -> str:
    """Return the sentence about a table that may be a 0/1 table, with the arguments that make it one; nothing for other tables."""
    for column in dict.fromkeys((ids, ids or columns[0])):
        places = [place for place, name in enumerate(columns) if name != column]
        cells = {row[place].strip().lower() for row in rows for place in places}
        words = cells - {""}
        if len(places) >= _FEWEST_FLAGS and words and words <= {*YES, *NO}:
            which = "All columns" if column is None else f"All columns except {_shown(column)}"
            named = "" if column in (None, "id") else f" and `id={_shown(column)}`"
            hold, drop = ("0 or 1", "") if cells == words else ("0 or 1 or nothing", " and `missing='drop'`")
            return f"{which} hold {hold}: use `format='matrix'`{named}{drop}"
    return ""


def _likely_delimiter(sample: _Sample, default: str) -> str:
    """Return the delimiter that splits all rows into the same number of columns, or the most rows."""
    return max(
        sample.rows,
        key=lambda one: (
            len({len(row) for row in sample.rows[one]}) == 1,
            sum(len(row) > 1 for row in sample.rows[one]),
        ),
        default=default,
    )


def _is_header(columns: list[str], rows: list[list[str]]) -> bool:
    """Return whether a first row looks like a header of rows of the same length: names that are no numbers and do not occur below."""
    below = {cell for row in rows for cell in row}
    distinct = len(set(columns)) == len(columns)
    even = {len(row) for row in rows} <= {len(columns)}
    return bool(columns) and even and distinct and not any(name in below or _is_number(name) for name in columns)


def _is_number(text: str) -> bool:
    return text.strip("+-").replace(".", "", 1).isdecimal()


def _shown(name: str) -> str:
    """Return a column as the value of an argument in a message."""
    return repr(name) if len(name) <= _LONGEST_NAME and "`" not in name and name.isprintable() else "..."
