"""Assemble transactions from tables that arrive in batches, using little more memory than the result.

There are two shapes. *Long*: each row is one item, and rows with the same id are one record, in order of first appearance. *List*: each row
is a record with a list of items. Both replace texts by codes on arrival (`encoding`) and keep only codes: for a long table, one code per
row and two numbers per run of rows with the same id. At the end, the codes of each record are collected and normalized in place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base.display import quantity
from setveil.base.progress import note
from setveil.data.files.encoding import TextEncoder
from setveil.data.files.texts import RULE, as_texts, first_unusable, is_list_type, is_text_type, stripped
from setveil.data.records.labels import note_stripped
from setveil.data.records.ragged import offsets_of
from setveil.data.records.tidying import tidied
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Unit


ITEMS = "items"
DROP_MISSING = "; drop missing items with `missing='drop'`"
"""The end of a message about a missing item."""


@dataclass(frozen=True)
class Origin:
    """Where batches come from, for errors."""

    name: str

    def wrong(self, message: str, row: int | None = None) -> BadData:
        """Return the error about a row, counted from 0, or about the whole source."""
        return BadData(message, file=self.name, row=None if row is None else row + 1)


class _Column:
    """A column of texts that arrives in batches."""

    def __init__(self, name: str, origin: Origin, what: str, *, drops_missing: bool = False) -> None:
        self._name = name
        self._origin = origin
        self._what = what
        self._drops_missing = drops_missing
        self._dropped = 0
        self._with_blanks: set[str] = set()
        """Items that had blanks at their ends."""
        self.encoder = TextEncoder()

    def check_type(self, kind: Any) -> None:
        """Refuse a column that holds neither text nor whole numbers."""
        if not is_text_type(kind):
            expected = f"{self._what} must be text or whole numbers"
            raise self._origin.wrong(f"the column {self._name!r} is of type {kind}; {expected}")

    def encode(self, values: Any, row_of: Any, base: int) -> NDArray[np.int32]:
        """Return the codes of values; `row_of[i] + base` is the row of value i (None: value i is in row i).

        The code is -1 for a missing value that is dropped.
        """
        self.check_type(values.type)
        texts = as_texts(values)
        if texts.null_count and not self._drops_missing:
            at = int(pc.index(texts.is_null(), value=True).as_py())
            raise self._missing(self._row(at, row_of, base))
        if pa.types.is_dictionary(texts.type):
            # A dictionary may hold unused texts, and its order may differ from the order of rows.
            encoded = texts.indices.dictionary_encode()
            distinct = texts.dictionary.take(encoded.dictionary)
        else:
            encoded = texts.dictionary_encode()
            distinct = encoded.dictionary
        used = encoded.indices
        if distinct.null_count and not self._drops_missing:
            at = int(pc.index(used, pc.index(distinct.is_null(), value=True).cast(used.type)).as_py())
            raise self._missing(self._row(at, row_of, base))
        if self._what == ITEMS:
            distinct = self._stripped(distinct)
        if self._drops_missing:
            return self._codes_without_missing(used, distinct, row_of, base)
        self._refuse_unusable(distinct, used, row_of, base)
        codes = self.encoder.encode(distinct)
        result: NDArray[np.int32] = codes[used.to_numpy(zero_copy_only=False)] if len(used) else codes[:0]
        return result

    def _codes_without_missing(self, used: Any, distinct: Any, row_of: Any, base: int) -> NDArray[np.int32]:
        """Return the codes, with -1 for texts that are missing or empty."""
        there = pc.fill_null(pc.greater(pc.binary_length(distinct), 0), fill_value=False)
        place = np.cumsum(there.to_numpy(zero_copy_only=False)) - 1
        place[~there.to_numpy(zero_copy_only=False)] = -1
        texts = distinct.filter(there)
        place_of_used = np.append(place, -1)[pc.fill_null(used, len(place)).to_numpy(zero_copy_only=False)]
        self._refuse_unusable(texts, pa.array(place_of_used), row_of, base)
        codes: NDArray[np.int32] = np.append(self.encoder.encode(texts), np.int32(-1))[place_of_used]
        self._dropped += int(np.count_nonzero(codes < 0))
        return codes

    def _refuse_unusable(self, distinct: Any, used: Any, row_of: Any, base: int) -> None:
        wrong = first_unusable(distinct)
        if wrong is not None:
            at = int(pc.index(used, pa.scalar(wrong, used.type)).as_py())
            remedy = "" if len(distinct[wrong].as_py()) else self._remedy()
            raise self._origin.wrong(f"the column {self._name!r} {RULE}{remedy}", self._row(at, row_of, base))

    def _missing(self, row: int) -> BadData:
        expected = "expected a text or a whole number"
        return self._origin.wrong(f"the column {self._name!r} has a missing value; {expected}{self._remedy()}", row)

    def _remedy(self) -> str:
        return DROP_MISSING if self._what == ITEMS else ""

    def _stripped(self, distinct: Any) -> Any:
        bare = stripped(distinct)
        if bare is not distinct:
            self._with_blanks.update(distinct.filter(pc.not_equal(bare, distinct)).to_pylist())
        return bare

    def labels(self) -> list[str]:
        """Return the texts by code. Nothing can be encoded afterwards."""
        note_stripped(len(self._with_blanks))
        if self._dropped:
            note(f"{quantity(self._dropped, 'missing item')} dropped")
        texts: list[str] = self.encoder.texts().to_pylist()
        return texts

    @staticmethod
    def _row(at: int, row_of: Any, base: int) -> int:
        return base + (at if row_of is None else int(row_of[at]))


def _narrow(codes: NDArray[np.int32], distinct: int) -> NDArray[Any]:
    """Return codes in two bytes each if they fit, to save memory: most vocabularies are small."""
    return codes.astype(np.uint16) if distinct <= 1 << 16 else codes


class LongAssembly:
    """Assembles the rows of a long table."""

    def __init__(self, origin: Origin, *, id_column: str, item_column: str, drops_missing: bool = False) -> None:
        self._ids = _Column(id_column, origin, "ids")
        self._items = _Column(item_column, origin, ITEMS, drops_missing=drops_missing)
        self._rows = 0
        self._occurrences = 0
        self._codes: list[NDArray[Any]] = []
        self._runs: list[tuple[NDArray[np.int32], NDArray[np.int32] | None]] = []
        """For each batch, its runs of rows with the same id: the record of each run, and its length (None: all runs have length 1)."""
        self._grouped = True
        self._last_record = -1

    def add(self, ids: Any, items: Any) -> None:
        """Add a batch: two Arrow columns of equal length."""
        self._ids.check_type(ids.type)
        rows = len(ids)
        if not rows:
            return
        if pa.types.is_string_view(ids.type):  # Arrow cannot take rows of it
            ids = as_texts(ids)
        starts = _run_starts(ids)
        records = self._ids.encode(ids.take(pa.array(starts)) if len(starts) < rows else ids, starts, self._rows)
        codes = self._items.encode(items, None, self._rows)
        self._note_groups(records)
        lengths = np.diff(starts, append=rows)
        there = codes >= 0
        if not there.all():  # the record of a dropped item remains, maybe empty
            codes = codes[there]
            lengths = np.add.reduceat(there, starts)
        self._codes.append(_narrow(codes, len(self._items.encoder)))
        if 2 * len(starts) > rows:
            self._runs.append((np.repeat(records, lengths), None))
        else:
            self._runs.append((records, lengths.astype(np.int32)))
        self._rows += rows
        self._occurrences += len(codes)

    def _note_groups(self, records: NDArray[np.int32]) -> None:
        """Track whether the rows of each id are contiguous: then each run is the next record, or continues the last one."""
        expected = self._last_record + 1 - int(records[0] == self._last_record)
        self._grouped = self._grouped and bool(np.array_equal(records, np.arange(expected, expected + len(records))))
        self._last_record = int(records[-1])

    def finish(self, *, unit: Unit = "record") -> Transactions:
        """Return the transactions."""
        labels = self._items.labels()
        ids = self._ids.encoder.texts()
        counts = np.zeros(len(ids), dtype=np.int64)
        for records, lengths in self._runs:
            np.add.at(counts, records, 1 if lengths is None else lengths)
        offsets = offsets_of(counts)
        del counts
        items = self._in_order() if self._grouped else self._by_record(offsets)
        offsets, items, vocabulary = tidied(offsets, items, labels)
        return Transactions.of_parts(offsets, items, vocabulary, ids=ids, unit=unit)

    def _in_order(self) -> NDArray[np.int32]:
        self._runs.clear()
        return _joined(self._codes, self._occurrences)

    def _by_record(self, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        """Collect the rows of each record if they are not contiguous; free each batch after use."""
        items = np.empty(self._occurrences, dtype=np.int32)
        if len(self._codes) == 1:  # a small file: not worth compiling kernels
            records, lengths = self._runs.pop()
            order = np.argsort(records if lengths is None else np.repeat(records, lengths), kind="stable")
            items[:] = self._codes.pop()[order]
            return items
        from setveil.data.files._encoding_kernels import put_to_records  # noqa: PLC0415 - compiled only for large files

        pa.default_memory_pool().release_unused()
        while self._codes:  # any order will do: records are sorted afterwards
            records, lengths = self._runs.pop()
            codes = self._codes.pop().astype(np.int32, copy=False)
            put_to_records(records if lengths is None else np.repeat(records, lengths), codes, offsets, items)
        offsets[1:] = offsets[:-1]  # each was advanced to the end of its record: the start of the next
        offsets[0] = 0
        return items


class ListAssembly:
    """Assembles records from lists of items."""

    def __init__(
        self, origin: Origin, *, items_column: str = "items", id_column: str | None = None, drops_missing: bool = False
    ) -> None:
        self._origin = origin
        self._items_column = items_column
        self._drops_missing = drops_missing
        self._items = _Column(items_column, origin, ITEMS, drops_missing=drops_missing)
        self._ids = None if id_column is None else _Column(id_column, origin, "ids")
        self._codes: list[NDArray[Any]] = []
        self._lengths: list[NDArray[np.int32]] = []
        self._records = 0
        self._occurrences = 0

    def add(self, lists: Any, ids: Any = None) -> None:
        """Add a batch: an Arrow column of lists and, if the records have ids, a column of ids."""
        self.check_types(lists.type, None if ids is None else ids.type)
        if lists.null_count and not self._drops_missing:
            at = int(pc.index(lists.is_null(), value=True).as_py())
            message = f"the column {self._items_column!r} has a missing list; expected a list, which may be empty{DROP_MISSING}"
            raise self._origin.wrong(message, self._records + at)
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int32)
        self.add_flat(lengths, lists.flatten(), ids)

    def check_types(self, lists: Any, ids: Any = None) -> None:
        """Refuse columns of other types than lists of texts or whole numbers, and texts or whole numbers for ids."""
        if not is_list_type(lists):
            raise self._origin.wrong(f"the column {self._items_column!r} is of type {lists}; expected lists of items")
        self._items.check_type(lists.value_type)
        if self._ids is not None:
            self._ids.check_type(ids)

    def add_flat(self, lengths: NDArray[Any], values: Any, ids: Any = None) -> None:
        """Add a batch of records: the number of items of each, and all items concatenated."""
        if self._ids is not None and len(lengths):
            self._add_ids(ids)
        if len(values):
            owner = np.repeat(np.arange(len(lengths)), lengths)
            codes = self._items.encode(values, owner, self._records)
            there = codes >= 0
            if not there.all():
                codes, lengths = codes[there], np.bincount(owner[there], minlength=len(lengths))
            self._codes.append(_narrow(codes, len(self._items.encoder)))
            self._occurrences += len(codes)
        self._lengths.append(lengths.astype(np.int32, copy=False))
        self._records += len(lengths)

    def _add_ids(self, ids: Any) -> None:
        assert self._ids is not None
        codes = self._ids.encode(ids, None, self._records)
        repeated = np.flatnonzero(codes != np.arange(self._records, self._records + len(codes)))
        if len(repeated):
            row = self._records + int(repeated[0])
            raise self._origin.wrong("has the same id as an earlier row; expected one id per record", row)

    def finish(self, *, unit: Unit = "record") -> Transactions:
        """Return the transactions."""
        labels = self._items.labels()
        offsets = np.zeros(self._records + 1, dtype=np.int64)
        at = 1
        for lengths in self._lengths:
            offsets[at : at + len(lengths)] = lengths
            at += len(lengths)
        self._lengths.clear()
        np.cumsum(offsets, out=offsets)
        offsets, items, vocabulary = tidied(offsets, _joined(self._codes, self._occurrences), labels)
        ids = None if self._ids is None else self._ids.encoder.texts()
        return Transactions.of_parts(offsets, items, vocabulary, ids=ids, unit=unit)


def _joined(parts: list[NDArray[Any]], size: int) -> NDArray[np.int32]:
    """Return the concatenated codes of the batches; free each batch after use."""
    whole = np.empty(size, dtype=np.int32)
    at = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        whole[at : at + len(part)] = part
        at += len(part)
    return whole


def _run_starts(ids: Any) -> NDArray[np.int64]:
    """Return the starts of runs of equal ids. Each missing value starts a run; encoding refuses it later."""
    if pa.types.is_null(ids.type):  # Arrow cannot compare them
        return np.arange(len(ids))
    if pa.types.is_dictionary(ids.type):
        ids = ids.indices
    differs = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).fill_null(True)
    return np.flatnonzero(np.append(True, differs.to_numpy(zero_copy_only=False)))
