"""Set-valued data: a record is a set of items, of a person or of one visit of a person.

The layout is that of an Arrow `large_list`: `items[offsets[r] : offsets[r + 1]]` are the items of record r, as codes into `vocabulary`.
Codes follow label order (see `labels`). Within a record they are strictly increasing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from setveil.base.arguments import check_arguments
from setveil.base.display import ShownTable, to_html
from setveil.base.frames import as_pandas
from setveil.data.forms.plain import RowsOfRecords
from setveil.data.records.equal_texts import TEXTS_AT_ONCE, first_repeated
from setveil.data.records.labels import Vocabulary, are_in_order, are_texts, as_arrow, note_stripped, stripped
from setveil.data.records.ragged import (
    BLOCK,
    are_distinct,
    are_equal,
    changes,
    counted,
    inverted,
    is_rising,
    looked_up,
    offsets_of,
    order_of_sequences,
    picked_lists,
    pieces,
    ranks_of_sequences,
    record_ranges,
    records_of,
    rises_within_records,
    runs,
    sealed,
)
from setveil.data.records.record_sequence import RecordSequence
from setveil.data.records.tidying import tidied
from setveil.engines.growing import growing, growing_lists, growing_texts, room, text_buffers
from setveil.errors import BadData, BadParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.pair_supports import PairSupports
    from setveil.data.reading.source import Source

Unit = Literal["person", "record"]
AT_ONCE = 1 << 20
"""Number of occurrences that are listed by item together; it limits the memory."""


def whole_numbers(values: Any, dtype: Any, what: str) -> NDArray[Any]:
    """Return a one-dimensional array of integers that fit `dtype`; refuse others, because a cast would silently truncate them."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise BadData(
            f"{what} must be a one-dimensional array of whole numbers, not {array.dtype} in {array.ndim} dimensions"
        )
    if not array.size:  # of any type
        return array.astype(dtype)
    limits = np.iinfo(dtype)
    sure = np.can_cast(array.dtype, dtype)
    if not sure and not limits.min <= array.min() <= array.max() <= limits.max:
        raise BadData(f"{what} must fit {limits.bits} bits")
    return array


def _check_offsets(offsets: NDArray[Any], occurrences: int) -> None:
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != occurrences or not is_rising(offsets):
        raise BadData("offsets must start at 0, never decrease, and end at the number of occurrences")


def _check_codes(codes: NDArray[Any], labels: int) -> None:
    if len(codes) and (codes.min() < 0 or codes.max() >= labels):
        raise BadData(f"an item code is outside the vocabulary; allowed is 0 to {labels - 1}")


def _id_column(ids: Any, records: int) -> Any:
    try:
        column = pa.array(ids, type=pa.large_string()) if not isinstance(ids, (pa.Array, pa.ChunkedArray)) else ids
        column = column.cast(pa.large_string())
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    except (pa.ArrowException, UnicodeEncodeError, TypeError, KeyError):
        raise BadData("ids must be texts, one per record") from None
    if len(column) != records or column.null_count:
        raise BadData(
            f"{len(column):,} ids ({column.null_count:,} of them missing) for {records:,} records; give one id per record"
        )
    if first_repeated(column) is not None:
        raise _same_id()
    return column


def _same_id() -> BadData:
    return BadData("two records have the same id; give each record its own id")


@dataclass(frozen=True, eq=False)
class Transactions(RowsOfRecords, RecordSequence):
    """Immutable set-valued data: records over a vocabulary of items.

    Use `read`, `from_lists`, `from_pandas`, `from_arrow` or `from_scipy` to make one. The constructor takes arrays that are already in
    order; `Transactions.from_codes` takes them in any order. Transactions are a sequence of records: tuples of labels in label order.

    Parameters
    ----------
    offsets : array of int64
        The items of record r are `items[offsets[r] : offsets[r + 1]]`.
    items : array of int32
        Codes into `vocabulary`, strictly increasing within a record.
    vocabulary : sequence of str
        The labels of the items, distinct and in label order.
    ids : Arrow column or sequence of str, optional
        One distinct text per record, or None if records have no ids.
    unit : {'person', 'record'}, default: 'record'
        `person` if every person has exactly one record, `record` otherwise.
    source : Source, optional
        Where the data come from and how they were read; a release has the same format by default.

    Raises
    ------
    BadData
        If arrays, labels or ids are invalid.
    BadParameter
        If `unit` is unknown.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.Transactions.from_lists([["milk", "bread"], ["tea"], []])
    >>> len(data), data[0], data[:2]
    (3, ('bread', 'milk'), Transactions(2 records, 3 items, 3 occurrences))
    """

    form_name: ClassVar[str] = "transactions"
    form_title: ClassVar[str] = "plain records"
    about_form: ClassVar[str] = "Each row is a record."

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    vocabulary: tuple[str, ...]
    ids: Any = None
    unit: Unit = field(default="record")
    source: Source | None = None

    def __post_init__(self) -> None:
        offsets = sealed(whole_numbers(self.offsets, np.int64, "offsets"), np.int64)
        items = sealed(whole_numbers(self.items, np.int32, "item codes"), np.int32)
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "items", items)
        if self.unit not in ("person", "record"):
            raise BadParameter.not_among("unit", self.unit, ("person", "record"))
        if not isinstance(self.vocabulary, Vocabulary):
            labels = tuple(self.vocabulary)
            if not are_texts(labels) or not are_in_order(labels) or stripped(labels)[1]:
                wanted = "distinct texts in label order, without blanks at their ends"
                raise BadData(f"labels must be {wanted}; use Transactions.from_codes for labels in any order")
            object.__setattr__(self, "vocabulary", Vocabulary(labels))
        _check_offsets(offsets, len(items))
        _check_codes(items, len(self.vocabulary))
        if not rises_within_records(offsets, items):
            raise BadData(
                "item codes must be strictly increasing within a record; use Transactions.from_codes for codes in any order"
            )
        if self.ids is not None:
            object.__setattr__(self, "ids", _id_column(self.ids, len(offsets) - 1))

    # -- creating -------------------------------------------------------------------------------------------------------------

    @classmethod
    @check_arguments
    def from_lists(
        cls, records: Iterable[Iterable[str]], *, ids: Sequence[str] | None = None, unit: Unit = "record"
    ) -> Transactions:
        """Make transactions from Python lists or sets of labels.

        Parameters
        ----------
        records : iterable of iterables of str
            The items of each record. A repeated item counts once, with a note.
        ids : sequence of str, optional
            One distinct id per record.
        unit : {'person', 'record'}, default: 'record'
            Whether every record is one person.

        Returns
        -------
        Transactions
            The data.

        Raises
        ------
        BadData
            If a record is not a list of texts, or ids are invalid.

        Examples
        --------
        >>> import setveil as sv
        >>> sv.from_lists([["milk", "bread"], ["milk"]]).to_lists()
        [['bread', 'milk'], ['milk']]
        """
        codes: dict[str, int] = {}
        flat: list[int] = []
        offsets = [0]
        for record in records:
            if isinstance(record, str) or not isinstance(record, Iterable):
                raise BadData(f"a record is a {type(record).__name__}; expected a list of items")
            for label in record:
                if not isinstance(label, str):
                    raise BadData(f"an item is a {type(label).__name__}; items must be text")
                flat.append(codes.setdefault(label, len(codes)))
            offsets.append(len(flat))
        return cls.from_codes(np.array(offsets), np.array(flat, dtype=np.int64), tuple(codes), ids=ids, unit=unit)

    @classmethod
    def from_codes(
        cls,
        offsets: NDArray[Any],
        codes: NDArray[Any],
        labels: Sequence[str],
        *,
        ids: Any = None,
        unit: Unit = "record",
    ) -> Transactions:
        """Make transactions from item codes and labels in any order; a repeated item in a record counts once.

        Parameters
        ----------
        offsets : array of int
            The codes of record r are `codes[offsets[r] : offsets[r + 1]]`.
        codes : array of int
            Positions in `labels`.
        labels : sequence of str
            The labels of the items.
        ids : Arrow column or sequence of str, optional
            One distinct id per record.
        unit : {'person', 'record'}, default: 'record'
            Whether every record is one person.

        Returns
        -------
        Transactions
            The data.

        Raises
        ------
        BadData
            If arrays, labels or ids are invalid.

        Examples
        --------
        >>> import numpy as np
        >>> import setveil as sv
        >>> sv.Transactions.from_codes(np.array([0, 2, 3]), np.array([1, 0, 1]), ["tea", "milk"]).to_lists()
        [['milk', 'tea'], ['milk']]
        """
        offsets = whole_numbers(offsets, np.int64, "offsets").astype(np.int64, copy=False)
        codes = whole_numbers(codes, np.int64, "item codes")
        _check_offsets(offsets, len(codes))
        _check_codes(codes, len(labels))
        if not are_texts(labels):
            raise BadData("labels must be texts that can be encoded as UTF-8")
        bare, with_blanks = stripped(labels)
        if with_blanks and len(set(labels)) == len(labels):  # labels that become equal are the same item
            note_stripped(len(with_blanks))
            labels = tuple(dict.fromkeys(bare))
            code_of = {label: code for code, label in enumerate(labels)}
            codes = looked_up(np.array([code_of[label] for label in bare], dtype=np.int32), codes)
        offsets, items, vocabulary = tidied(offsets, codes, labels)
        return cls(offsets, items, vocabulary, ids=ids, unit=unit)

    @classmethod
    def concatenated(cls, sets: Sequence[Transactions]) -> Transactions:
        """Return the records of several data sets, one set after the other, without ids."""
        labels = tuple(dict.fromkeys(label for one in sets for label in one.vocabulary))
        number_of = {label: number for number, label in enumerate(labels)}
        records = growing_lists(np.int32)
        for one in sets:
            new_code = np.array([number_of[label] for label in one.vocabulary], np.int32)
            for first, last in record_ranges(one.offsets, BLOCK, BLOCK):
                borders = one.offsets[first : last + 1]
                records.append(borders, new_code[one.items[borders[0] : borders[-1]]])
        return cls.from_codes(*records.finish(), labels, unit=sets[0].unit)

    @classmethod
    def of_parts(
        cls, offsets: NDArray[np.int64], items: NDArray[np.int32], vocabulary: tuple[str, ...], *, ids: Any, unit: Unit
    ) -> Transactions:
        """Make transactions from valid parts that the caller does not use again, without checks or copies."""
        for array in (offsets, items):
            array.flags.writeable = False
        made = object.__new__(cls)
        for name, value in (("offsets", offsets), ("items", items), ("vocabulary", vocabulary), ("ids", ids)):
            object.__setattr__(made, name, value)
        object.__setattr__(made, "unit", unit)
        return made

    # -- queries --------------------------------------------------------------------------------------------------------------

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.offsets) - 1

    @property
    def rows(self) -> Transactions:
        """The records themselves; other forms have the attribute `rows` too."""
        return self

    @property
    def occurrences(self) -> int:
        """The number of occurrences: items of all records together."""
        return len(self.items)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of items of each record."""
        lengths = growing(np.int64)
        for part in pieces(self.records):
            lengths.append(self.offsets[1:][part] - self.offsets[part])
        return lengths.finish()

    @cached_property
    def supports(self) -> NDArray[np.int64]:
        """The number of records that hold each item."""
        return sealed(counted(self.items, len(self.vocabulary)), np.int64)

    def holding(self, is_chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the numbers of the records that hold at least one of the chosen items; `is_chosen` goes by code."""
        rows = growing(np.int64)
        for first, last in record_ranges(self.offsets, BLOCK, BLOCK):
            borders = self.offsets[first : last + 1]
            places = borders[0] + np.flatnonzero(is_chosen[self.items[borders[0] : borders[-1]]])
            owners = records_of(places, borders)
            rows.append(first + owners[changes(owners)])
        return rows.finish()

    @cached_property
    def holders(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The records that hold each item, as (starts, records): `records[starts[code] : starts[code + 1]]`, in increasing order."""
        starts, records = offsets_of(self.supports), room(self.occurrences, np.int64)
        following = starts[:-1].copy()
        for first, piece in self.pieces(AT_ONCE):
            own, holders = inverted(piece.offsets, piece.items, len(self.vocabulary))
            numbers = np.diff(own)
            records[runs(following, numbers)] = holders + first
            following += numbers
        records.flags.writeable = False
        return sealed(starts, np.int64), records

    @property
    def empty_records(self) -> int:
        """The number of records without an item."""
        return sum(int(np.count_nonzero(self.offsets[1:][part] == self.offsets[part])) for part in pieces(self.records))

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The code of each label."""
        return {label: code for code, label in enumerate(self.vocabulary)}

    @cached_property
    def labels(self) -> Any:
        """The vocabulary as an Arrow column."""
        return as_arrow(self.vocabulary)

    @cached_property
    def remembered(self) -> dict[Any, Any]:
        """A cache for results that take long to compute; they stay valid because the data never change."""
        return {}

    def pair_supports(self, labels: Sequence[str]) -> PairSupports:
        """Return the number of records that hold each of some items, and each pair of them; 0 for unknown items."""
        from setveil.data.forms.pair_supports import PairSupports, as_table, count_pairs  # noqa: PLC0415 - imports SciPy

        counts = np.zeros((len(labels), len(labels)))
        for _first, piece in self.pieces(AT_ONCE):
            count_pairs(as_table(piece, labels), total=counts)
        return PairSupports(counts, self.records)

    def names(self) -> Any:
        """Return the ids, or the record numbers starting with 1 if there are none."""
        if self.ids is not None:
            return self.ids
        names = growing_texts()
        for part in pieces(self.records):
            names.append(self.names_of(np.arange(part.start, part.stop)))
        return names.finish()

    def names_of(self, rows: NDArray[np.int64]) -> Any:
        """Return the ids of some records, or their numbers starting with 1."""
        return pa.array(rows + 1).cast(pa.large_string()) if self.ids is None else self.ids.take(pa.array(rows))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transactions):
            return NotImplemented
        return (
            self.vocabulary == other.vocabulary
            and are_equal(self.offsets, other.offsets)
            and are_equal(self.items, other.items)
            and (self.ids is None) == (other.ids is None)
            and (self.ids is None or bool(self.ids.equals(other.ids)))
        )

    __hash__ = None  # type: ignore[assignment]  # too large for dictionary keys

    def __repr__(self) -> str:
        return (
            f"Transactions({self.records:,} records, {len(self.vocabulary):,} items, {self.occurrences:,} occurrences)"
        )

    def _repr_html_(self) -> str:
        """Return an HTML table of counts only: a shared notebook must not contain records."""
        counts = {"records": self.records, "items": len(self.vocabulary), "occurrences": self.occurrences}
        facts = {"empty records": self.empty_records, "a record is": f"a {self.unit}", "ids": self.ids is not None}
        return to_html(ShownTable([*(counts | facts).items()], title="Transactions"))

    def checksum(self) -> str:
        """Return a SHA-256 hash of the content; it does not depend on the file format."""
        digest = hashlib.sha256()
        digest.update(len(self.vocabulary).to_bytes(8, "little"))
        _add_texts(digest, self.labels)
        digest.update(self.offsets.astype("<i8", copy=False).data)
        digest.update(self.items.astype("<i4", copy=False).data)
        if self.ids is not None:
            _add_texts(digest, self.ids)
        return digest.hexdigest()

    # -- deriving -------------------------------------------------------------------------------------------------------------

    def compacted(self) -> Transactions:
        """Return the same records with a vocabulary of occurring items only."""
        used = self.supports > 0
        if used.all():
            return self
        new_code = (np.cumsum(used) - 1).astype(np.int32)
        vocabulary = tuple(label for label, keep in zip(self.vocabulary, used, strict=True) if keep)
        # Without some labels, the order can become numeric: 'a', '10', '9' without 'a' is 9, 10.
        parts = tidied(self.offsets, looked_up(new_code, self.items), vocabulary)
        return Transactions.of_parts(*parts, ids=self.ids, unit=self.unit)

    def take(self, rows: NDArray[Any], *, ids: Any = "same") -> Transactions:
        """Return the records with these row numbers in this order, or those where a mask is true.

        `ids` replaces their ids; None drops them.
        """
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64, copy=False)
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.records:
            raise BadData(f"row numbers must be from 0 to {self.records - 1:,}")
        names = None if isinstance(ids, str) or ids is None else _id_column(ids, len(rows))
        if isinstance(ids, str) and self.ids is not None:
            if not are_distinct(rows, self.records):
                raise _same_id()
            texts = growing_texts()
            for part in pieces(len(rows), TEXTS_AT_ONCE):
                texts.append(self.ids.take(pa.array(rows[part])))
            names = texts.finish()
        parts = picked_lists(self.offsets, self.items, rows)
        return Transactions.of_parts(*parts, self.vocabulary, ids=names, unit=self.unit)

    def between(self, first: int, last: int) -> Transactions:
        """Return the records `first` to `last` - 1 without ids; their items are not copied."""
        offsets = self.offsets[first : last + 1]
        items = self.items[offsets[0] : offsets[-1]]
        return Transactions.of_parts(offsets - offsets[0], items, self.vocabulary, ids=None, unit=self.unit)

    def keeping(self, occurrences: NDArray[np.bool_]) -> Transactions:
        """Return the records with only these occurrences; records may become empty."""
        records = growing_lists(np.int32)
        for first, last in record_ranges(self.offsets, BLOCK, BLOCK):
            borders = self.offsets[first : last + 1]
            kept = occurrences[borders[0] : borders[-1]]
            records.append(offsets_of(kept)[borders - borders[0]], self.items[borders[0] : borders[-1]][kept])
        return Transactions.of_parts(*records.finish(), self.vocabulary, ids=self.ids, unit=self.unit)

    def with_ids(self, ids: Any) -> Transactions:
        """Return the same records with other ids, or without ids."""
        if ids is None:
            return Transactions.of_parts(self.offsets, self.items, self.vocabulary, ids=None, unit=self.unit)
        return replace(self, ids=ids)

    def with_unit(self, unit: Unit) -> Transactions:
        """Return the same records with another unit: one record per person (`person`), or not (`record`)."""
        if unit == self.unit:
            return self
        if unit not in ("person", "record"):
            raise BadParameter.not_among("unit", unit, ("person", "record"))
        return Transactions.of_parts(self.offsets, self.items, self.vocabulary, ids=self.ids, unit=unit)

    @classmethod
    def _formats_text(cls) -> str:
        return "format"

    def with_rows(self, rows: Transactions) -> Transactions:
        """Return `rows`."""
        del self
        return rows

    def with_source(self, source: Source) -> Transactions:
        """Return the same records with a source."""
        made = Transactions.of_parts(self.offsets, self.items, self.vocabulary, ids=self.ids, unit=self.unit)
        object.__setattr__(made, "source", source)
        return made

    def without_empty(self) -> Transactions:
        """Return the records that hold at least one item."""
        if not self.empty_records:
            return self
        offsets, names = growing(np.int64), growing_texts()
        offsets.append(np.zeros(1, np.int64))
        for part in pieces(self.records):
            held = self.offsets[1:][part] > self.offsets[part]
            offsets.append(self.offsets[1:][part][held])
            if self.ids is not None:
                names.append(self.ids[part].filter(pa.array(held)))
        ids = None if self.ids is None else names.finish()
        return Transactions.of_parts(offsets.finish(), self.items, self.vocabulary, ids=ids, unit=self.unit)

    def content_order(self) -> NDArray[np.int64]:
        """Return the row numbers sorted by content, so that the order of a file reveals nothing."""
        return order_of_sequences(self.offsets, self.items)

    def distinct(self) -> tuple[Transactions, NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct records in content order, their counts, and for each record the number of its distinct record."""
        content_of = ranks_of_sequences(self.offsets, self.items)
        counts = np.bincount(content_of)
        example = np.empty(len(counts), dtype=np.int64)
        example[content_of] = np.arange(self.records)
        return self.take(example, ids=None), counts, content_of

    # -- exporting ------------------------------------------------------------------------------------------------------------

    def to_arrow(self) -> Any:
        """Return the records as an Arrow column of lists of texts."""
        return self.lists(0, self.records)

    def lists(self, first: int, last: int, labels: Any = None) -> Any:
        """Return the records `first` to `last` - 1 as an Arrow column of lists; `labels` replaces the labels of the items."""
        borders = self.offsets[first : last + 1]
        texts = (self.labels if labels is None else labels).take(pa.array(self.items[borders[0] : borders[-1]]))
        places = borders - borders[0] if borders[0] else borders  # unchanged offsets are shared, not copied
        return pa.LargeListArray.from_arrays(pa.array(places), texts)

    def to_table(self) -> Any:
        """Return an Arrow table with the columns `id`, if the records have ids, and `items`, lists of texts."""
        ids = {} if self.ids is None else {"id": self.ids}
        return pa.table(ids | {"items": self.to_arrow()})

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns of `to_table`; requires pandas."""
        return as_pandas(self.to_table())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export the table of `to_table` to pyarrow, polars, DuckDB and others."""
        return self.to_table().__arrow_c_stream__(requested_schema)


def _add_texts(digest: Any, texts: Any) -> None:
    """Hash a column of texts: first their lengths, then the texts, so that different columns give different bytes."""
    content, places = text_buffers(texts)
    for part in pieces(len(texts)):
        digest.update((places[1:][part] - places[part]).astype("<i8", copy=False).data)
    digest.update(content[places[0] : places[-1]].data)


from_lists = Transactions.from_lists
