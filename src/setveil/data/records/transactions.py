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
import pyarrow.compute as pc

from setveil.base.arguments import check_arguments
from setveil.base.display import ShownTable, to_html
from setveil.base.frames import as_pandas
from setveil.data.forms.plain import RowsOfRecords
from setveil.data.records.labels import Vocabulary, are_in_order, are_texts, as_arrow, note_stripped, stripped
from setveil.data.records.ragged import (
    inverted,
    offsets_of,
    order_of_sequences,
    picked,
    ranks_of_sequences,
    rises_within_records,
    sealed,
)
from setveil.data.records.record_sequence import RecordSequence
from setveil.data.records.tidying import tidied
from setveil.errors import BadData, BadParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.pair_supports import PairSupports
    from setveil.data.reading.source import Source

Unit = Literal["person", "record"]


def whole_numbers(values: Any, dtype: Any, what: str) -> NDArray[Any]:
    """Return a one-dimensional array of integers that fit `dtype`; refuse others, because a cast would silently truncate them."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise BadData(
            f"{what} must be a one-dimensional array of whole numbers, not {array.dtype} in {array.ndim} dimensions"
        )
    limits = np.iinfo(dtype)
    sure = not array.size or np.can_cast(array.dtype, dtype)
    if not sure and not limits.min <= array.min() <= array.max() <= limits.max:
        raise BadData(f"{what} must fit {limits.bits} bits")
    return array


def _check_offsets(offsets: NDArray[Any], occurrences: int) -> None:
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != occurrences or np.any(offsets[1:] < offsets[:-1]):
        raise BadData("offsets must start at 0, never decrease, and end at the number of occurrences")


def _check_codes(codes: NDArray[Any], labels: int) -> None:
    if len(codes) and (codes.min() < 0 or codes.max() >= labels):
        raise BadData(f"an item code is outside the vocabulary; allowed is 0 to {labels - 1}")


def _id_column(ids: Any) -> Any:
    try:
        column = pa.array(ids, type=pa.large_string()) if not isinstance(ids, (pa.Array, pa.ChunkedArray)) else ids
        column = column.cast(pa.large_string())
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    except (pa.ArrowException, UnicodeEncodeError, TypeError, KeyError):
        raise BadData("ids must be texts, one per record") from None


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
            ids = _id_column(self.ids)
            if len(ids) != len(offsets) - 1 or ids.null_count:
                raise BadData(
                    f"{len(ids):,} ids ({ids.null_count:,} of them missing) for {len(offsets) - 1:,} records; give one id per record"
                )
            if pc.count_distinct(ids).as_py() != len(ids):
                raise BadData("two records have the same id; give each record its own id")
            object.__setattr__(self, "ids", ids)
            pa.default_memory_pool().release_unused()  # the hash table of the ids is several times as large as they are

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
        offsets = whole_numbers(offsets, np.int64, "offsets").astype(np.int64)
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
            codes = np.array([code_of[label] for label in bare], dtype=np.int64)[codes]
        offsets, items, vocabulary = tidied(offsets, codes.astype(np.int32), labels)
        return cls(offsets, items, vocabulary, ids=ids, unit=unit)

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
        return sealed(np.diff(self.offsets), np.int64)

    @cached_property
    def supports(self) -> NDArray[np.int64]:
        """The number of records that hold each item."""
        return sealed(np.bincount(self.items, minlength=len(self.vocabulary)), np.int64)

    @cached_property
    def holders(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The records that hold each item, as (starts, records): `records[starts[code] : starts[code + 1]]`, in increasing order."""
        starts, records = inverted(self.offsets, self.items, len(self.vocabulary))
        return sealed(starts, np.int64), sealed(records, np.int64)

    @property
    def empty_records(self) -> int:
        """The number of records without an item."""
        return int(np.count_nonzero(self.lengths == 0))

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

        return PairSupports(count_pairs(as_table(self, labels)), self.records)

    def names(self) -> Any:
        """Return the ids, or the record numbers starting with 1 if there are none."""
        return (
            self.ids if self.ids is not None else pc.cast(pa.array(np.arange(1, self.records + 1)), pa.large_string())
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transactions):
            return NotImplemented
        return (
            self.vocabulary == other.vocabulary
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.items, other.items)
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
        return Transactions.from_codes(self.offsets, new_code[self.items], vocabulary, ids=self.ids, unit=self.unit)

    def take(self, rows: NDArray[Any], *, ids: Any = "same") -> Transactions:
        """Return the records with these row numbers in this order, or those where a mask is true.

        `ids` replaces their ids; None drops them.
        """
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.records:
            raise BadData(f"row numbers must be from 0 to {self.records - 1:,}")
        offsets, places = picked(self.offsets, rows)
        if isinstance(ids, str):
            ids = None if self.ids is None else self.ids.take(pa.array(rows))
        return Transactions(offsets, self.items[places], self.vocabulary, ids=ids, unit=self.unit)

    def keeping(self, occurrences: NDArray[np.bool_]) -> Transactions:
        """Return the records with only these occurrences; records may become empty."""
        offsets = offsets_of(occurrences)[self.offsets]
        return Transactions.of_parts(offsets, self.items[occurrences], self.vocabulary, ids=self.ids, unit=self.unit)

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
        return self if not self.empty_records else self.take(np.flatnonzero(self.lengths))

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
    digest.update(pc.binary_length(texts).to_numpy(zero_copy_only=False).astype("<i8", copy=False).data)
    whole = pa.LargeListArray.from_arrays(pa.array([0, len(texts)], pa.int64()), texts)
    digest.update(pc.binary_join(whole, pa.scalar("", pa.large_string()))[0].as_buffer())


from_lists = Transactions.from_lists
