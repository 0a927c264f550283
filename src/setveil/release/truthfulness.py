"""Compare a release with the records behind it, to see whether it is as true as its card says.

`subset` means that nothing is invented: what a row, a group or a cluster says is so of its records. `yes` means that nothing is left out
either. What this means for one form is said by its class in `forms.py`, with the comparisons of this module. They take the original and
the alignment, and nothing from the method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc

from setveil.base import progress
from setveil.base.verdict import MOST_WITNESSES, Witness
from setveil.data.files.side_files import shown
from setveil.data.records.labels import as_arrow
from setveil.data.records.ragged import distinct, owner_of, picked, ranks_of_sequences, record_ranges, runs
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.base.verdict import Verdict
    from setveil.data.disassociated import Disassociated
    from setveil.data.grouped import Grouped
    from setveil.data.hierarchy import Hierarchy
    from setveil.data.published import Published
    from setveil.data.records.alignment import Alignment
    from setveil.release.form import Form

Truthful = Literal["yes", "subset", "no"]
NOT_TRUTHFUL = "not-truthful"
"""The kind of violation: the release says something that is not so of the records behind it."""
SHOWN_ITEMS = 12
BLOCK = 1 << 22
"""Occurrences compared together."""


@dataclass(frozen=True)
class Untrue:
    """How many statements of a release are not true, and some of them."""

    cases: int = 0
    witnesses: tuple[Witness, ...] = ()

    @classmethod
    def one(cls, place: str, detail: str) -> Untrue:
        """Return one case."""
        return cls(1, (Witness(NOT_TRUTHFUL, place, detail),))

    def __add__(self, other: Untrue) -> Untrue:
        return Untrue(self.cases + other.cases, (self.witnesses + other.witnesses)[:MOST_WITNESSES])


class Aligned(NamedTuple):
    """The records behind a release: released row r came from the original's record `rows[r]`."""

    original: Transactions
    rows: NDArray[np.int64]

    def occurrences(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each occurrence in these records the released row, and the code of the item in the original."""
        offsets, places = picked(self.original.offsets, self.rows)
        return owner_of(offsets), self.original.items[places].astype(np.int64)


class Spans(NamedTuple):
    """What the labels of a release stand for. Items have places on a line, and a label stands for an interval of them."""

    places: NDArray[np.int64]
    """For each item of the original its place."""
    firsts: NDArray[np.int64]
    ends: NDArray[np.int64]
    """For each label of the release its interval; it is empty where the original has no such item."""


def find_untrue(form: Form, published: Published, truthful: Truthful, original: Any, alignment: Alignment) -> Untrue:
    """Compare a release with the records behind it, as far as it is said to be true."""
    if truthful == "no":
        return Untrue()
    if not isinstance(original, Transactions):
        return Untrue.one("the release", "it was not made from records")
    with progress.step("comparing with the original"):
        whole = truthful == "yes"
        aligned = Aligned(original, alignment.rows)
        wrong = _not_aligned(aligned, form.counts(published).records, once=whole or form.counts_rows, whole=whole)
        return wrong if wrong.cases else form.find_untrue(published, aligned, whole=whole)


def with_truth(verdict: Verdict, found: Untrue, statement: str) -> Verdict:
    """Return the verdict, violated where something is not true; `statement` names what says that it is."""
    if not found.cases:
        return verdict
    violated = verdict.with_violations(NOT_TRUTHFUL, found.cases, found.witnesses)
    return replace(violated, reason="; ".join(filter(None, (verdict.reason, f"{statement}, and that is not so"))))


def _not_aligned(aligned: Aligned, rows: int, *, once: bool, whole: bool) -> Untrue:
    """Return the rows without a record behind them and, if no two may share one, those that do."""
    behind, records = aligned.rows, aligned.original.records
    if len(behind) != rows:
        return Untrue.one("the alignment", f"it has {len(behind):,} rows, and the release has {rows:,}")
    outside = np.flatnonzero((behind < 0) | (behind >= records))
    found = _rows(outside, "it is aligned with no record of the original")
    if once:
        again = np.setdiff1d(np.arange(rows), np.unique(behind, return_index=True)[1])
        found += _rows(again, "it is aligned with the same record as an earlier row")
    if whole and rows < records:
        found += Untrue.one("the release", f"it leaves out {records - rows:,} records of the original")
    return found


def _rows(rows: NDArray[np.int64], detail: str) -> Untrue:
    return Untrue(len(rows), tuple(_of_row(row, detail) for row in rows[:MOST_WITNESSES].tolist()))


def _of_row(row: int, detail: str, items: tuple[str, ...] = ()) -> Witness:
    return Witness(NOT_TRUTHFUL, f"released row {row + 1:,}", detail, row, items)


def _named(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - SHOWN_ITEMS:,} more" if len(labels) > SHOWN_ITEMS else ""
    return ", ".join(map(shown, labels[:SHOWN_ITEMS])) + more


# -- rows ---------------------------------------------------------------------------------------------------------------------


def codes_in(labels: Any, data: Transactions) -> NDArray[np.int64]:
    """Return the code that each label has in the data, or -1."""
    return np.asarray(pc.fill_null(pc.index_in(labels, data.labels), -1), dtype=np.int64)


def spans_of_items(published: Transactions, original: Transactions) -> Spans:
    """Return what labels stand for where each stands for itself."""
    codes = codes_in(published.labels, original)
    return Spans(np.arange(len(original.vocabulary)), codes, codes + (codes >= 0))


def spans_of_nodes(published: Transactions, original: Transactions, tree: Hierarchy) -> Spans:
    """Return what labels stand for where a node stands for the items below it, and another label for itself."""
    place_of = {leaf: place for place, leaf in enumerate(tree.leaves)}
    for label in original.vocabulary:
        place_of.setdefault(label, len(place_of))
    number_of = {node: number for number, node in enumerate(tree.nodes)}
    starts, ends = tree.leaf_starts.tolist(), tree.leaf_ends.tolist()

    def interval(label: str) -> tuple[int, int]:
        if label in number_of:
            return starts[number_of[label]], ends[number_of[label]]
        return (place_of[label], place_of[label] + 1) if label in place_of else (-1, -1)

    intervals = np.array([interval(label) for label in published.vocabulary], dtype=np.int64).reshape(-1, 2)
    places = np.array([place_of[label] for label in original.vocabulary], dtype=np.int64)
    return Spans(places, intervals[:, 0], intervals[:, 1])


def untrue_rows(rows: Transactions, aligned: Aligned, spans: Spans, *, whole: bool) -> Untrue:
    """Return the rows with a label that stands for no item of their record and, if `whole`, those that leave one out."""
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
    left_out = np.zeros(len(keys), dtype=np.bool_)
    if whole:
        change = np.bincount(low, minlength=len(keys) + 1) - np.bincount(high, minlength=len(keys) + 1)
        left_out[order] = np.cumsum(change)[:-1] <= 0
        wrong[record[left_out]] = True

    def witness(one: int) -> Witness:
        mine = slice(*np.searchsorted(row, (one, one + 1)))
        labels = tuple(rows.vocabulary[label] for label in code[mine][invented[mine]].tolist())
        if labels:
            return _of_row(first + one, f"its record does not hold {_named(labels)}", labels)
        mine = slice(*np.searchsorted(record, (one, one + 1)))
        labels = tuple(aligned.original.vocabulary[label] for label in item[mine][left_out[mine]].tolist())
        return _of_row(first + one, f"it leaves out {_named(labels)} of its record", labels)

    numbers = np.flatnonzero(wrong)
    return Untrue(len(numbers), tuple(witness(one) for one in numbers[:MOST_WITNESSES].tolist()))


# -- groups -------------------------------------------------------------------------------------------------------------------


def untrue_groups(grouped: Grouped, aligned: Aligned, *, whole: bool) -> Untrue:
    """Return the rows that are no part of their records, and the groups whose sensitive items are in other numbers of their records."""
    found = untrue_rows(grouped.rows, aligned, spans_of_items(grouped.rows, aligned.original), whole=False)
    width = max(len(aligned.original.vocabulary), 1)
    group_of_row = owner_of(grouped.group_starts)
    row, item = aligned.occurrences()
    held = np.sort(group_of_row[row] * width + item)
    code = codes_in(as_arrow(grouped.sensitive_vocabulary), aligned.original)[grouped.sensitive_codes]
    counted = grouped.group_of_sensitive * width + code
    times = np.searchsorted(held, counted, side="right") - np.searchsorted(held, counted)
    times[code < 0] = 0

    def of_group(number: int, detail: str, items: tuple[str, ...] = ()) -> Witness:
        return Witness(NOT_TRUTHFUL, f"group {number + 1:,}", detail, None, items, number)

    def witness(place: int) -> Witness:
        label = grouped.sensitive_vocabulary[grouped.sensitive_codes[place]]
        detail = f"it counts {int(grouped.sensitive_counts[place]):,} of {shown(label)}, and {int(times[place]):,} of its records hold it"
        return of_group(int(grouped.group_of_sensitive[place]), detail, (label,))

    wrong = np.flatnonzero(times != grouped.sensitive_counts)
    found += Untrue(len(wrong), tuple(map(witness, wrong[:MOST_WITNESSES].tolist())))
    if not whole or found.cases:
        return found
    # Rows are parts of their records and counts are right: a group says as much as its records hold, or leaves something out.
    shown_code = codes_in(grouped.rows.labels, aligned.original)[grouped.rows.items]
    shown_in = group_of_row[owner_of(grouped.rows.offsets)]
    only_shown = shown_in[~_among(shown_in * width + shown_code, distinct(counted))]
    said = np.bincount(only_shown, minlength=grouped.groups)
    np.add.at(said, grouped.group_of_sensitive, grouped.sensitive_counts)
    missing = np.bincount(group_of_row[row], minlength=grouped.groups) - said
    short = np.flatnonzero(missing)
    details = (of_group(g, f"it leaves out {int(missing[g]):,} items of its records") for g in short[:MOST_WITNESSES])
    return Untrue(len(short), tuple(details))


# -- clusters -----------------------------------------------------------------------------------------------------------------


def untrue_clusters(data: Disassociated, aligned: Aligned, *, whole: bool) -> Untrue:
    """Return the chunks whose parts are not from that many records of the cluster, and the items of term chunks that none holds."""
    parts = _Parts(data, aligned)
    found = parts.untrue_terms() + parts.untrue_chunks(whole=whole)
    return found + parts.left_out() if whole else found


class _Parts:
    """The record chunks of a release and what the records of their clusters hold, with one code for each item."""

    def __init__(self, data: Disassociated, aligned: Aligned) -> None:
        self.data = data
        known, codes = len(aligned.original.vocabulary), codes_in(data.labels, aligned.original)
        self.codes = np.where(codes >= 0, codes, known + np.arange(len(codes)))
        self.labels = [*aligned.original.vocabulary, *data.vocabulary]
        self.width = max(len(self.labels), 1)
        self.record, self.item = aligned.occurrences()
        cluster = np.repeat(np.arange(data.clusters), data.sizes)[self.record]
        self.held = cluster * self.width + self.item
        """For each occurrence in a record its cluster and item in one number."""
        self.held_once = distinct(self.held)
        self.terms = owner_of(data.term_starts) * self.width + self.codes[data.terms]
        """The same for each item of a term chunk."""
        chunk = data.chunk_of_subrecord[owner_of(data.subrecords.offsets)]
        domain = distinct(chunk * self.width + self.codes[data.subrecords.items])
        named = data.cluster_of_chunk[domain // self.width] * self.width + domain % self.width
        order = np.argsort(named, kind="stable")
        self.named, self.chunk_of_named = named[order], (domain // self.width)[order]
        """The same for each item of a record chunk, and the number of that chunk."""

    def untrue_terms(self) -> Untrue:
        """Return the items of term chunks that no record of the cluster holds."""
        return self._items(self.terms[~_among(self.terms, self.held_once)], "no record of it holds {}")

    def left_out(self) -> Untrue:
        """Return the items of the records of a cluster that none of its chunks names."""
        named = _among(self.held_once, distinct(np.concatenate((self.named, self.terms))))
        return self._items(self.held_once[~named], "it leaves out {} of its records")

    def _items(self, keys: NDArray[np.int64], detail: str) -> Untrue:
        def witness(key: int) -> Witness:
            cluster, label = key // self.width, self.labels[key % self.width]
            return Witness(
                NOT_TRUTHFUL, f"cluster {cluster + 1:,}", detail.format(shown(label)), None, (label,), cluster
            )

        return Untrue(len(keys), tuple(map(witness, keys[:MOST_WITNESSES].tolist())))

    def untrue_chunks(self, *, whole: bool) -> Untrue:
        """Return the chunks with other parts than the records of the cluster have or, unless `whole`, with parts of no such records."""
        chunk, starts, words, times = self._sequences()
        content = ranks_of_sequences(starts, words)
        width = int(content.max(initial=0)) + 1
        key = chunk * width + content
        keys = distinct(key)
        place = np.searchsorted(keys, key)
        surplus, example = np.zeros(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.int64)
        np.add.at(surplus, place, times)
        example[place] = np.arange(len(place))
        off = distinct(keys[surplus != 0 if whole else surplus > 0] // width)
        mine = np.flatnonzero((surplus != 0) & _among(keys // width, off))
        parts = [
            _Part(number, frozenset(words[starts[at] : starts[at + 1]].tolist()), more)
            for number, at, more in zip(
                (keys[mine] // width).tolist(), example[mine], surplus[mine].tolist(), strict=True
            )
        ]
        if parts and not whole:
            parts = _without_record(parts)
        first = {part.chunk: part for part in reversed(parts)}
        return Untrue(len(first), tuple(self._of_chunk(first[number]) for number in sorted(first)[:MOST_WITNESSES]))

    def _sequences(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the parts that chunks say, and then the parts that records have: chunk, start and items of each, and how often.

        What records have counts as negative. Parts without an item are left out.
        """
        subrecords = self.data.subrecords
        owner, code = owner_of(subrecords.offsets), self.codes[subrecords.items]
        order = np.lexsort((code, owner))
        said = np.flatnonzero(subrecords.lengths)
        # What each occurrence in a record is in a chunk: mostly one, none if it is left out or in the term chunk.
        low, high = np.searchsorted(self.named, self.held), np.searchsorted(self.named, self.held, side="right")
        chunk = self.chunk_of_named[runs(low, high - low)]
        record, item = (np.repeat(values, high - low) for values in (self.record, self.item))
        by_part = np.lexsort((item, record, chunk))
        chunk, record, item = chunk[by_part], record[by_part], item[by_part]
        is_new = np.ones(len(chunk), dtype=np.bool_)
        is_new[1:] = (chunk[1:] != chunk[:-1]) | (record[1:] != record[:-1])
        begin = np.flatnonzero(is_new)
        return (
            np.concatenate((self.data.chunk_of_subrecord[said], chunk[begin])),
            np.concatenate((subrecords.offsets[said], len(code) + begin, [len(code) + len(item)])),
            np.concatenate((code[order], item)),
            np.concatenate((self.data.counts[said], np.full(len(begin), -1))),
        )

    def _of_chunk(self, part: _Part) -> Witness:
        cluster = int(self.data.cluster_of_chunk[part.chunk])
        chunk = part.chunk - int(self.data.cluster_starts[cluster])
        labels = tuple(self.labels[code] for code in sorted(part.items))
        detail = f"it does not hold {_named(labels)} as often as records of the cluster do"
        place = f"cluster {cluster + 1:,}, chunk {chunk + 1:,}"
        return Witness(NOT_TRUTHFUL, place, detail, None, labels, cluster, chunk)


class _Part(NamedTuple):
    """Items that a chunk holds together, and how much more often than records of the cluster do."""

    chunk: int
    items: frozenset[int]
    surplus: int


def _without_record(parts: list[_Part]) -> list[_Part]:
    """Return the parts that get no record if each one must have another record that holds it: a maximum flow decides.

    Parts that are there as often as in records are not among these, and need not be: if such a part gets another record that holds it,
    the two records can change places.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes long to import, and few releases need it
    from scipy.sparse.csgraph import maximum_flow  # noqa: PLC0415 - the same

    found: list[_Part] = []
    edges: list[tuple[int, int, int]] = []
    asked: dict[int, _Part] = {}
    source, sink = len(parts), len(parts) + 1
    for _chunk, numbered in groupby(enumerate(parts), lambda one: one[1].chunk):
        mine = list(numbered)
        said = {number: part for number, part in mine if part.surplus > 0}
        had = {number: part for number, part in mine if part.surplus < 0}
        if sum(part.surplus for _number, part in mine) > 0:
            found += said.values()
            continue
        asked |= said
        edges += [(source, number, part.surplus) for number, part in said.items()]
        edges += [(number, sink, -part.surplus) for number, part in had.items()]
        edges += [(a, b, said[a].surplus) for a in said for b in had if said[a].items <= had[b].items]
    if asked:
        begin, end, most = np.array(edges, dtype=np.int32).T
        flow = maximum_flow(csr_array((most, (begin, end)), shape=(sink + 1, sink + 1)), source, sink).flow
        got = flow[[source]].toarray().ravel()
        found += [part for number, part in asked.items() if got[number] < part.surplus]
    return found


def _among(keys: NDArray[np.int64], rising: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each key whether it is among other keys, which are sorted."""
    return np.searchsorted(rising, keys) < np.searchsorted(rising, keys, side="right")
