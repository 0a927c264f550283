"""Records from tables whose rows are records: one 0/1 column per item, or one item column=value per cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base.display import quantity
from setveil.base.progress import note
from setveil.data.files.assembly import DROP_MISSING, ListAssembly
from setveil.data.files.texts import as_texts, is_text_type, join_names
from setveil.data.records.equal_texts import TEXTS_AT_ONCE
from setveil.data.records.labels import BLANKS
from setveil.data.records.ragged import pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.data.files.assembly import Origin
    from setveil.data.formats.base import Layout
    from setveil.data.records.transactions import Transactions

YES = ("1", "true", "t", "yes", "y", "1.0")
NO = ("0", "false", "f", "no", "n", "0.0")
Batches = Callable[[list[str]], Iterable[list[Any]]]
_CELLS_AT_ONCE = 1 << 20
_MISSING, _OTHER = -1, -2
_SHARE_OF_MANY, _MANY = 0.1, 50
"""A column has very many values if it has more than 50, and more than one for ten records."""


def is_row_names(name: str) -> bool:
    """Return whether a column has the name that R and pandas give to the names of rows."""
    return name in ("", "Unnamed: 0")


class TableAssembly:
    """Assembles the rows of a table. `columns` are its columns of items, in the order in which batches have them."""

    def __init__(self, origin: Origin, columns: Sequence[str], layout: Layout, id_column: str | None) -> None:
        self._origin, self._columns, self._drops = origin, list(columns), layout.drops_missing
        self._names_of_rows = id_column is not None and is_row_names(id_column)
        if not columns:
            raise origin.wrong("has no column of items; expected one or more besides the ids")
        self._records = ListAssembly(origin, id_column=id_column)
        self.comparing_ids = self._records.comparing_ids
        self._dropped = 0
        self._rows = 0

    def add_held(self, columns: Sequence[Any], ids: Any = None) -> None:
        """Add a batch of 0/1 columns."""
        rows_at_once = max(_CELLS_AT_ONCE // len(columns), 1)
        for first in range(0, len(columns[0]), rows_at_once):
            part = [column.slice(first, rows_at_once) for column in columns]
            held = _held_cells(part)
            if held.min() == _OTHER:
                self._refuse_cell(held == _OTHER, "has another value; expected 0 or 1, FALSE or TRUE, no or yes")
            self._note_missing(held == _MISSING, "0 or 1")
            row, column = np.nonzero(held == 1)
            items = pa.DictionaryArray.from_arrays(pa.array(column, pa.int32()), self._labels())
            self._add(
                np.bincount(row, minlength=len(held)), items, None if ids is None else ids.slice(first, len(held))
            )

    def add_values(self, columns: Sequence[Any], ids: Any = None) -> None:
        """Add a batch of columns with values."""
        codes = np.empty((len(columns[0]), len(columns)), dtype=np.int64)
        labels: list[Any] = []
        known = 0
        for place, (name, column) in enumerate(zip(self._columns, columns, strict=True)):
            codes[:, place], values = _values_of(column, name, self._origin)
            codes[:, place] += known * (codes[:, place] >= 0)
            labels.append(
                pc.binary_join_element_wise(
                    pa.scalar(f"{name}=", pa.large_string()), values, pa.scalar("", pa.large_string())
                )
            )
            known += len(values)
        self._note_missing(codes < 0, "a text or a whole number")
        there = codes >= 0
        items = pa.DictionaryArray.from_arrays(pa.array(codes[there]), pa.concat_arrays(labels))
        self._add(there.sum(axis=1), items, ids)

    def _add(self, lengths: NDArray[np.int64], items: Any, ids: Any) -> None:
        self._records.add_flat(lengths, items, ids)
        self._rows += len(lengths)

    def _labels(self) -> Any:
        return pa.array(self._columns, pa.large_string())

    def _note_missing(self, missing: NDArray[np.bool_], expected: str) -> None:
        count = int(np.count_nonzero(missing))
        if count and not self._drops:
            self._refuse_cell(missing, f"has a missing value; expected {expected}{DROP_MISSING}")
        self._dropped += count

    def _refuse_cell(self, wrong: NDArray[np.bool_], problem: str) -> None:
        row, place = (int(found[0]) for found in np.nonzero(wrong))
        raise self._origin.wrong(f"the column {self._columns[place]!r} {problem}", self._rows + row)

    def finish(self) -> Transactions:
        """Return the transactions; numbers of rows are not ids."""
        data = self._records.finish()
        if self._dropped:
            note(f"{quantity(self._dropped, 'missing item')} dropped")
        if self._names_of_rows and data.ids is not None and _are_row_numbers(data.ids):
            note("the first column holds the numbers of the rows, which are not used as ids")
            return data.with_ids(None)
        return data

    def note_many_values(self, data: Transactions) -> None:
        """Announce columns that have a value of their own for many records, because such items can rarely be published."""
        values = Counter(label.partition("=")[0] for label in data.vocabulary)
        many = [
            name for name in self._columns if values[name.partition("=")[0]] > max(_MANY, _SHARE_OF_MANY * data.records)
        ]
        if many:
            note(f"columns with very many values: {join_names(many[:3])}; choose the columns to use with `items=`")


def read_records(
    names: Sequence[str], batches: Batches, origin: Origin, layout: Layout, *, of_values: bool
) -> Transactions:
    """Read a table whose rows are records: `of_values` if the cells are items column=value, otherwise a 0/1 table.

    `batches` yields the columns with the given names.
    """
    name, times = Counter(name.strip(BLANKS) for name in names).most_common(1)[0] if names else ("", 0)
    if times > 1 and name:
        raise origin.wrong(f"has {times} columns {name!r}; expected each column once")
    id_column = id_column_of(names, layout)
    columns = chosen_columns(layout.items, names) if layout.items else [n for n in names if n != id_column]
    for missing in {id_column, *columns} - {None, *names}:
        raise origin.wrong(f"has no column {missing!r}; the columns are: {join_names(names)}")
    if nameless := [place for place, name in enumerate(names, start=1) if name in columns and not name.strip(BLANKS)]:
        remedy = "name it, or choose the columns to use with `items=`"
        raise origin.wrong(f"the column {nameless[0]:,} of {len(names):,} has no name; {remedy}")
    assembly = TableAssembly(origin, columns, layout, id_column)
    with assembly.comparing_ids():
        for batch in batches([*([] if id_column is None else [id_column]), *columns]):
            ids = None if id_column is None else batch[0]
            cells = batch[0 if id_column is None else 1 :]
            if of_values:
                assembly.add_values(cells, ids)
            else:
                assembly.add_held(cells, ids)
    data = assembly.finish()
    if of_values:
        assembly.note_many_values(data)
    return data


def id_column_of(names: Sequence[str], layout: Layout) -> str | None:
    """Return the column of ids: the named one, `id`, or a first column of row names."""
    if layout.id is not None or layout.id_column in names:
        return layout.id_column
    return names[0] if names and is_row_names(names[0]) else None


def all_boolean(schema: Any, layout: Layout) -> bool:
    """Return whether all columns except the ids hold true and false, and none is a column of items by its name."""
    names = schema.names
    if layout.item is not None or layout.items is not None or {"item", "items"} & set(names):
        return False
    ids = id_column_of(names, layout)
    kinds = [kind for name, kind in zip(names, schema.types, strict=True) if name != ids]
    return bool(kinds) and all(map(pa.types.is_boolean, kinds))


def chosen_columns(given: str, names: Sequence[str]) -> list[str]:
    """Return the columns that a text such as `workclass,education` names."""
    return [given] if given in names else list(dict.fromkeys(name.strip() for name in given.split(",")))


def _held_cells(columns: Sequence[Any]) -> NDArray[np.int8]:
    """Return for each row and column 1 or 0, or why it is neither."""
    if all(pa.types.is_boolean(column.type) for column in columns):
        cells = pc.fill_null(pa.concat_arrays(columns).cast(pa.int8()), pa.scalar(_MISSING, pa.int8()))
        found = cells.to_numpy(zero_copy_only=False)
    else:
        words = pa.concat_arrays([_as_words(column) for column in columns]).dictionary_encode(null_encoding="encode")
        meaning = np.array([_meaning(word) for word in words.dictionary.to_pylist()], dtype=np.int8)
        found = meaning[words.indices.to_numpy(zero_copy_only=False)]
    by_row: NDArray[np.int8] = found.reshape(len(columns), -1).T
    return by_row


def _as_words(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.large_string())


def _meaning(word: str | None) -> int:
    """Return what a cell says: 1, 0, or that it is missing or something else."""
    plain = (word or "").strip().lower()
    if plain in YES:
        return 1
    if plain in NO:
        return 0
    return _OTHER if plain else _MISSING


def are_yes_and_no(cells: Iterable[str]) -> bool:
    """Return whether these are two words of a 0/1 table that belong together, such as 0 and 1."""
    words = {cell.lower() for cell in cells}
    return any(words == {*pair} for pair in zip(YES, NO, strict=True))


def _values_of(column: Any, name: str, origin: Origin) -> tuple[NDArray[np.int64], Any]:
    """Return the place of each cell's value, -1 for a missing one, and the values, without blanks at their ends."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.large_string())
    if not is_text_type(column.type):
        expected = "values must be text, whole numbers or true and false"
        raise origin.wrong(f"the column {name!r} is of type {column.type}; {expected}")
    texts = as_texts(column)
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary.take(texts.indices)
    encoded = texts.dictionary_encode()
    values = pc.utf8_trim(encoded.dictionary, BLANKS)
    there = np.append(pc.greater(pc.binary_length(values), 0).to_numpy(zero_copy_only=False), False)
    places = pc.fill_null(encoded.indices, len(values)).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(there[places], places, _MISSING), values


def _are_row_numbers(ids: Any) -> bool:
    first = ids[0].as_py() if len(ids) else ""
    if first not in ("0", "1"):
        return False
    return all(
        ids[part].equals(pa.array(np.arange(part.start, part.stop) + int(first)).cast(pa.large_string()))
        for part in pieces(len(ids), TEXTS_AT_ONCE)
    )
