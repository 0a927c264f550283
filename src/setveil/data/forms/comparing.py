"""Comparing a release with its original records, for all forms.

The comparisons use the original and the alignment, and nothing from the method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from setveil.base.verdict import MOST_WITNESSES, Witness
from setveil.data.files.side_files import shown
from setveil.data.records.ragged import offsets_of, owner_of, picked, record_ranges
from setveil.engines.growing import GrowingArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

NOT_TRUTHFUL = "not-truthful"
"""The kind of violation: a statement of the release is not true of its records."""
SHOWN_ITEMS = 12
BLOCK = 1 << 18
"""The number of occurrences in a block."""


@dataclass(frozen=True)
class Untrue:
    """The number of untrue statements of a release, and witnesses."""

    cases: int = 0
    witnesses: tuple[Witness, ...] = ()

    @classmethod
    def one(cls, place: str, detail: str) -> Untrue:
        """Return one case."""
        return cls(1, (Witness(NOT_TRUTHFUL, place, detail),))

    def __add__(self, other: Untrue) -> Untrue:
        return Untrue(self.cases + other.cases, (self.witnesses + other.witnesses)[:MOST_WITNESSES])


class Aligned(NamedTuple):
    """The original records of a release: released row r comes from record `rows[r]` of the original."""

    original: Transactions
    rows: NDArray[np.int64]

    def occurrences(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the released row of each occurrence in these records, and its item code in the original."""
        offsets, places = picked(self.original.offsets, self.rows)
        return owner_of(offsets), self.original.items[places].astype(np.int64)

    def in_blocks(self, starts: NDArray[np.int64]) -> Iterator[tuple[int, int, Aligned]]:
        """Yield ranges of groups with about as many occurrences as a block has, and their records.

        Group g has the released rows `starts[g]` to `starts[g + 1]` - 1.
        """
        for begin, end in record_ranges(starts, BLOCK, BLOCK):
            rows = self.rows[starts[begin] : starts[end]]
            lengths = self.original.offsets[rows + 1] - self.original.offsets[rows]
            occurrences = offsets_of(lengths)[starts[begin : end + 1] - starts[begin]]
            for first, last in record_ranges(occurrences, BLOCK, BLOCK):
                own = slice(starts[begin + first], starts[begin + last])
                yield begin + first, begin + last, Aligned(self.original, self.rows[own])


class Spans(NamedTuple):
    """What the labels of a release represent. Items have positions on a line; a label represents an interval of them."""

    places: NDArray[np.int64]
    """The position of each item of the original."""
    firsts: NDArray[np.int64]
    ends: NDArray[np.int64]
    """The interval of each label of the release; empty if the original has no such item."""


def codes_in(labels: Any, data: Transactions) -> NDArray[np.int64]:
    """Return the code that each label has in the data, or -1."""
    return np.asarray(pc.fill_null(pc.index_in(labels, data.labels), -1), dtype=np.int64)


def spans_of_items(published: Transactions, original: Transactions) -> Spans:
    """Return the spans of labels that represent only themselves."""
    codes = codes_in(published.labels, original)
    return Spans(np.arange(len(original.vocabulary)), codes, codes + (codes >= 0))


def untrue_rows(rows: Transactions, aligned: Aligned, spans: Spans, *, whole: bool) -> Untrue:
    """Return the rows with a label that represents no item of their record and, if `whole`, rows that omit an item."""
    found = Untrue()
    for first, last in record_ranges(rows.offsets, BLOCK, BLOCK):
        found += _untrue_in_block(rows, aligned, spans, (first, last), whole=whole)
    return found


def _untrue_in_block(
    rows: Transactions, aligned: Aligned, spans: Spans, block: tuple[int, int], *, whole: bool
) -> Untrue:
    first, last = block
    width = int(max(spans.places.max(initial=0), spans.ends.max(initial=0))) + 1
    record, item = Aligned(aligned.original, aligned.rows[first:last]).occurrences()
    keys = record * width + spans.places[item]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    row = owner_of(rows.offsets[first : last + 1])
    code = rows.items[rows.offsets[first] : rows.offsets[last]]
    low, high = (np.searchsorted(keys, row * width + ends[code]) for ends in (spans.firsts, spans.ends))
    invented = low >= high
    wrong = np.zeros(last - first, dtype=np.bool_)
    wrong[row[invented]] = True
    omitted = np.zeros(len(keys), dtype=np.bool_)
    if whole:
        change = np.bincount(low, minlength=len(keys) + 1) - np.bincount(high, minlength=len(keys) + 1)
        omitted[order] = np.cumsum(change)[:-1] <= 0
        wrong[record[omitted]] = True

    def witness(one: int) -> Witness:
        mine = slice(*np.searchsorted(row, (one, one + 1)))
        labels = tuple(rows.vocabulary[label] for label in code[mine][invented[mine]].tolist())
        if labels:
            return of_row(first + one, f"its record does not hold {listed(labels)}", labels)
        mine = slice(*np.searchsorted(record, (one, one + 1)))
        labels = tuple(aligned.original.vocabulary[label] for label in item[mine][omitted[mine]].tolist())
        return of_row(first + one, f"it omits {listed(labels)} of its record", labels)

    numbers = np.flatnonzero(wrong)
    return Untrue(len(numbers), tuple(witness(one) for one in numbers[:MOST_WITNESSES].tolist()))


def shared_items(original: Transactions, published: Transactions, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each released row how many of its items are in its original record."""
    shared = GrowingArray(np.int64)
    for _first, _last, found in shared_in_blocks(original, published, rows):
        shared.append(found)
    return shared.finish()


def shared_in_blocks(
    original: Transactions, published: Transactions, rows: NDArray[np.int64]
) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Yield ranges of released rows, and how many items of each are in its original record."""
    width = max(len(original.vocabulary), 1)
    code = codes_in(published.labels, original)
    for first, last in record_ranges(published.offsets, BLOCK, BLOCK):
        record, item = Aligned(original, rows[first:last]).occurrences()
        row = owner_of(published.offsets[first : last + 1])
        codes = code[published.items[published.offsets[first] : published.offsets[last]]]
        known = codes >= 0
        if not known.all():
            row, codes = row[known], codes[known]
        keys = np.concatenate((row * width + codes, record * width + item))
        keys.sort(kind="stable")  # two rising lists are merged
        in_both = keys[1:][keys[1:] == keys[:-1]]
        yield first, last, np.bincount(in_both // width, minlength=last - first)


def of_row(row: int, detail: str, items: tuple[str, ...] = ()) -> Witness:
    """Return a witness of an untrue row."""
    return Witness(NOT_TRUTHFUL, f"released row {row + 1:,}", detail, row, items)


def listed(labels: Sequence[str]) -> str:
    """Return the first labels for a message, and the number of further ones."""
    more = f" and {len(labels) - SHOWN_ITEMS:,} more" if len(labels) > SHOWN_ITEMS else ""
    return ", ".join(map(shown, labels[:SHOWN_ITEMS])) + more
