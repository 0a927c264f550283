"""Check whether the chunks of disassociated data are true of their original records."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.base.verdict import MOST_WITNESSES, Witness
from setveil.data.files.side_files import shown
from setveil.data.forms.comparing import NOT_TRUTHFUL, Untrue, codes_in, listed
from setveil.data.records.ragged import among, distinct, offsets_of, owner_of, ranks_of_sequences, runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.comparing import Aligned
    from setveil.data.forms.disassociated import Disassociated


def untrue_clusters(data: Disassociated, aligned: Aligned, *, whole: bool) -> Untrue:
    """Return chunks whose subrecords do not match records of the cluster, and items of term chunks that no record holds."""
    terms, chunks, omitted = Untrue(), Untrue(), Untrue()
    for first, last, records in aligned.in_blocks(offsets_of(data.sizes)):
        parts = _Parts(data.between(first, last), records, first)
        terms += parts.untrue_terms()
        chunks += parts.untrue_chunks(whole=whole)
        if whole:
            omitted += parts.omitted_items()
    return terms + chunks + omitted


class _Parts:
    """The record chunks of some clusters and the items of the records of these clusters, with common item codes."""

    def __init__(self, data: Disassociated, aligned: Aligned, first: int) -> None:
        self.data, self.first = data, first
        """The clusters, and the number of the first one in the release."""
        known, codes = len(aligned.original.vocabulary), codes_in(data.labels, aligned.original)
        self.codes = np.where(codes >= 0, codes, known + np.arange(len(codes)))
        self.labels = [*aligned.original.vocabulary, *data.vocabulary]
        self.width = max(len(self.labels), 1)
        self.record, self.item = aligned.occurrences()
        cluster = np.repeat(np.arange(data.clusters), data.sizes)[self.record]
        self.held = cluster * self.width + self.item
        """The cluster and item of each occurrence in a record, as one number."""
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
        return self._items(self.terms[~among(self.terms, self.held_once)], "no record of it holds {}")

    def omitted_items(self) -> Untrue:
        """Return the items of records of a cluster that none of its chunks lists."""
        named = among(self.held_once, distinct(np.concatenate((self.named, self.terms))))
        return self._items(self.held_once[~named], "it omits {} of its records")

    def _items(self, keys: NDArray[np.int64], detail: str) -> Untrue:
        def witness(key: int) -> Witness:
            cluster, label = self.first + key // self.width, self.labels[key % self.width]
            return Witness(
                NOT_TRUTHFUL, f"cluster {cluster + 1:,}", detail.format(shown(label)), None, (label,), cluster
            )

        return Untrue(len(keys), tuple(map(witness, keys[:MOST_WITNESSES].tolist())))

    def untrue_chunks(self, *, whole: bool) -> Untrue:
        """Return the chunks that do not match the records of the cluster exactly or, unless `whole`, that hold more than they do."""
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
        mine = np.flatnonzero((surplus != 0) & among(keys // width, off))
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
        """Return the subrecords of chunks, then the parts of records: chunk, start and items of each, and its count.

        Counts of parts of records are negative. Parts without items are skipped.
        """
        subrecords = self.data.subrecords
        owner, code = owner_of(subrecords.offsets), self.codes[subrecords.items]
        order = np.lexsort((code, owner))
        said = np.flatnonzero(subrecords.lengths)
        # The chunks of each occurrence in a record: usually one, none if it is suppressed or in the term chunk.
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
        detail = f"it does not hold {listed(labels)} as often as records of the cluster do"
        place = f"cluster {self.first + cluster + 1:,}, chunk {chunk + 1:,}"
        return Witness(NOT_TRUTHFUL, place, detail, None, labels, self.first + cluster, chunk)


class _Part(NamedTuple):
    """Items that a chunk holds together, and how much more often it does so than records of the cluster."""

    chunk: int
    items: frozenset[int]
    surplus: int


def _without_record(parts: list[_Part]) -> list[_Part]:
    """Return the parts without a record if each part is assigned to a different record that holds it, by maximum flow.

    Parts that occur exactly as often as in records are excluded: if such a part were assigned another record, the two records could be
    swapped.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import and rarely needed
    from scipy.sparse.csgraph import maximum_flow  # noqa: PLC0415 - slow to import and rarely needed

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
