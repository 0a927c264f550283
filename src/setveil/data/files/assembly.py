"""Assemble transactions from tables that arrive in batches, using little more memory than the result.

There are two shapes. *Long*: each row is one item, and rows with the same id are one record, in order of first appearance. *List*: each row
is a record with a list of items. Both replace texts by codes on arrival (`encoding`) and keep only codes: for a long table, one code per
row and two numbers per run of rows with the same id. At the end, the codes of each record are collected and normalized. What is large is on
disk: codes, ids and the result; only the distinct items must fit into memory.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base.display import quantity
from setveil.base.progress import note
from setveil.data.files.encoding import TextEncoder
from setveil.data.files.id_encoding import IdEncoder
from setveil.data.files.regrouping import regrouped
from setveil.data.files.texts import RULE, as_texts, first_unusable, is_list_type, is_text_type, stripped
from setveil.data.records.labels import note_stripped
from setveil.data.records.ragged import looked_up, offsets_of, pieces
from setveil.data.records.tidying import tidied
from setveil.data.records.transactions import Transactions
from setveil.engines.growing import growing, growing_lists, room
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Unit


Encoder = TypeVar("Encoder", TextEncoder, IdEncoder)
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


class _Column(Generic[Encoder]):
    """A column of texts that arrives in batches."""

    def __init__(self, name: str, origin: Origin, what: str, encoder: Encoder, *, drops_missing: bool = False) -> None:
        self.encoder: Encoder = encoder
        self._name = name
        self._origin = origin
        self._what = what
        self._drops_missing = drops_missing
        self._dropped = 0
        self._with_blanks: set[str] = set()
        """Items that had blanks at their ends."""

    def check_type(self, kind: Any) -> None:
        """Refuse a column that holds neither text nor whole numbers."""
        if not is_text_type(kind):
            expected = f"{self._what} must be text or whole numbers"
            raise self._origin.wrong(f"the column {self._name!r} is of type {kind}; {expected}")

    def encode(self, values: Any, row_of: Any, base: int) -> NDArray[Any]:
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
        result: NDArray[Any] = codes[used.to_numpy(zero_copy_only=False)] if len(used) else codes[:0]
        return result

    def _codes_without_missing(self, used: Any, distinct: Any, row_of: Any, base: int) -> NDArray[Any]:
        """Return the codes, with -1 for texts that are missing or empty."""
        there = pc.fill_null(pc.greater(pc.binary_length(distinct), 0), fill_value=False)
        place = np.cumsum(there.to_numpy(zero_copy_only=False)) - 1
        place[~there.to_numpy(zero_copy_only=False)] = -1
        texts = distinct.filter(there)
        place_of_used = np.append(place, -1)[pc.fill_null(used, len(place)).to_numpy(zero_copy_only=False)]
        self._refuse_unusable(texts, pa.array(place_of_used), row_of, base)
        codes: NDArray[Any] = np.append(self.encoder.encode(texts), np.int32(-1))[place_of_used]
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


class LongAssembly:
    """Assembles the rows of a long table."""

    def __init__(self, origin: Origin, *, id_column: str, item_column: str, drops_missing: bool = False) -> None:
        self._ids = _Column(id_column, origin, "ids", IdEncoder())
        self._items = _Column(item_column, origin, ITEMS, TextEncoder(), drops_missing=drops_missing)
        self._rows = 0
        self._codes = growing(np.int32)
        self._records, self._lengths = growing(np.int64), growing(np.int32)
        """For each run of rows with the same id: its record, and its number of items."""
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
        self._codes.append(codes)
        self._records.append(records)
        self._lengths.append(lengths)
        self._rows += rows

    def _note_groups(self, records: NDArray[Any]) -> None:
        """Track whether the rows of each id are contiguous: then each run is the next record, or continues the last one."""
        expected = self._last_record + 1 - int(records[0] == self._last_record)
        self._grouped = self._grouped and bool(np.array_equal(records, np.arange(expected, expected + len(records))))
        self._last_record = int(records[-1])

    def finish(self, *, unit: Unit = "record") -> Transactions:
        """Return the transactions."""
        labels = self._items.labels()
        number_of, ids = self._ids.encoder.numbers()
        records, lengths, codes = self._records.finish(), self._lengths.finish(), self._codes.finish()
        if number_of is not None:
            records = looked_up(number_of, records)
        offsets = _offsets_of_runs(records, lengths, len(ids))
        if number_of is not None or not self._grouped:
            codes = regrouped(records, lengths, codes, offsets)
        offsets, items, vocabulary = tidied(offsets, codes, labels)
        return Transactions.of_parts(offsets, items, vocabulary, ids=ids, unit=unit)


def _offsets_of_runs(records: NDArray[np.int64], lengths: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    """Return the offsets of the records, given the record and the length of each run."""
    offsets = room(count + 1, np.int64)
    for part in pieces(len(records)):
        np.add.at(
            offsets, records[part] + 1, lengths[part].astype(np.int64)
        )  # of another type, it is several times slower
    total = np.int64(0)
    for part in pieces(len(offsets)):
        np.cumsum(offsets[part], out=offsets[part])
        offsets[part] += total
        total = offsets[part.stop - 1]
    return offsets


class ListAssembly:
    """Assembles records from lists of items."""

    def __init__(
        self, origin: Origin, *, items_column: str = "items", id_column: str | None = None, drops_missing: bool = False
    ) -> None:
        self._origin = origin
        self._items_column = items_column
        self._drops_missing = drops_missing
        self._items = _Column(items_column, origin, ITEMS, TextEncoder(), drops_missing=drops_missing)
        self._ids = None if id_column is None else _Column(id_column, origin, "ids", IdEncoder())
        self._records = growing_lists(np.int32)
        self._compared = False

    def add(self, lists: Any, ids: Any = None) -> None:
        """Add a batch: an Arrow column of lists and, if the records have ids, a column of ids."""
        self.check_types(lists.type, None if ids is None else ids.type)
        if lists.null_count and not self._drops_missing:
            at = int(pc.index(lists.is_null(), value=True).as_py())
            message = f"the column {self._items_column!r} has a missing list; expected a list, which may be empty{DROP_MISSING}"
            raise self._origin.wrong(message, len(self._records) + at)
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
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
        codes = np.zeros(0, np.int32)
        if len(values):
            owner = np.repeat(np.arange(len(lengths)), lengths)
            codes = self._items.encode(values, owner, len(self._records))
            there = codes >= 0
            if not there.all():
                codes, lengths = codes[there], np.bincount(owner[there], minlength=len(lengths))
        self._records.append(offsets_of(lengths), codes)

    def _add_ids(self, ids: Any) -> None:
        assert self._ids is not None
        first = len(self._records)
        codes = self._ids.encode(ids, None, first)
        repeated = np.flatnonzero(codes != np.arange(first, first + len(codes)))
        if len(repeated):
            self._refuse_repeated(first + int(repeated[0]))

    @contextmanager
    def comparing_ids(self) -> Iterator[None]:
        """Prefer the error about a repeated id to one about a later row. Many ids are compared at the end, or when something is wrong."""
        try:
            yield
        except BadData:
            self._refuse_repeated()
            raise

    def _refuse_repeated(self, row: int | None = None) -> None:
        """Refuse a row whose id an earlier row has: the first one, which is `row` at the latest."""
        if self._ids is None or self._compared:
            return
        self._compared = True
        row = min((at for at in (self._ids.encoder.first_repeated(), row) if at is not None), default=None)
        if row is not None:
            raise self._origin.wrong("has the same id as an earlier row; expected one id per record", row)

    def finish(self, *, unit: Unit = "record") -> Transactions:
        """Return the transactions."""
        self._refuse_repeated()  # before notes about the items
        labels = self._items.labels()
        offsets, items, vocabulary = tidied(*self._records.finish(), labels)
        ids = None if self._ids is None else self._ids.encoder.texts()
        return Transactions.of_parts(offsets, items, vocabulary, ids=ids, unit=unit)


def _run_starts(ids: Any) -> NDArray[np.int64]:
    """Return the starts of runs of equal ids. Each missing value starts a run; encoding refuses it later."""
    if pa.types.is_null(ids.type):  # Arrow cannot compare them
        return np.arange(len(ids))
    if pa.types.is_dictionary(ids.type):
        ids = ids.indices
    differs = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).fill_null(True)
    return np.flatnonzero(np.append(True, differs.to_numpy(zero_copy_only=False)))
