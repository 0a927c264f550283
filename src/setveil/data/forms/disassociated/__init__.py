"""Disassociated data: clusters of records, each taken apart into chunks whose rows are not tied to each other.

A cluster tells how many records it has. A record chunk is a bag of subrecords, the parts of these records over some of the items; the
chunks of a cluster are over different items, and which subrecord of one goes with which of another is not told. The term chunk names
items that some records of the cluster hold, and not how many.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from setveil.data.forms.base import Published
from setveil.data.records.alignment import Alignment
from setveil.data.records.labels import label_order
from setveil.data.records.ragged import (
    distinct,
    offsets_of,
    order_of_sequences,
    owner_of,
    picked,
    places_of,
    ranks_of_sequences,
    rises_within_records,
    runs,
    sealed,
    starts_of,
    sums_within,
)
from setveil.data.records.transactions import Transactions, whole_numbers
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.forms.base import Naming
    from setveil.data.forms.comparing import Aligned, Untrue
    from setveil.data.forms.own_format import DataFormat
    from setveil.data.records.transactions import Unit

TERM_CHUNK = -1
"""The chunk number of an occurrence that is told in the term chunk only."""
LEFT_OUT = -2
"""The chunk number of an occurrence that is not told at all."""
STATED = ("k", "m", "delta")
"""What a file or a card may say of its making."""
_ARRAYS = ("counts", "chunk_starts", "cluster_starts", "sizes", "term_starts", "terms")


@dataclass(frozen=True, eq=False, repr=False)
class Disassociated(Published):
    """Clusters of record chunks and a term chunk. Made with `from_clusters` or by a method, or read from a file.

    What makes it safe is not looked at here: a chunk may be too rare, too long or overlap with another. The guarantee says so.

    >>> Disassociated.from_clusters([{"size": 3, "record_chunks": [[(["milk"], 2)], [(["tea"], 3)]], "term_chunk": ["wine"]}])
    Disassociated(1 cluster, 2 record chunks, 3 records, 3 items)
    """

    form_name: ClassVar[str] = "disassociated"
    form_in_words: ClassVar[str] = "disassociated data"
    about_form: ClassVar[str] = (
        "Records stand in clusters, taken apart into chunks: which part in one chunk belongs to which part in another is not told. The "
        "term chunk of a cluster names items that some of its records hold, and not how many."
    )
    why_nameless: ClassVar[str] = "parts of records in disassociated data carry no names"
    counts_rows: ClassVar[bool] = True
    has_support_bounds: ClassVar[bool] = True
    as_input: ClassVar[str] = "the disassociated release"
    less_exactly: ClassVar[str] = "in term chunks only"

    subrecords: Transactions
    """The subrecords of all record chunks, each content once a chunk; the vocabulary also has the items of term chunks."""
    counts: NDArray[np.int64]
    """How often each subrecord occurs in its chunk."""
    chunk_starts: NDArray[np.int64]
    """Record chunk j is the subrecords from `chunk_starts[j]` to before `chunk_starts[j + 1]`; none is without a subrecord."""
    cluster_starts: NDArray[np.int64]
    """Cluster c has the record chunks from `cluster_starts[c]` to before `cluster_starts[c + 1]`; it may have none."""
    sizes: NDArray[np.int64]
    """The number of records of each cluster."""
    term_starts: NDArray[np.int64]
    """The term chunk of cluster c is at the places from `term_starts[c]` to before `term_starts[c + 1]`."""
    terms: NDArray[np.int32]
    """Codes into the vocabulary; they rise within a term chunk, each once."""
    stated: Mapping[str, int] = field(default_factory=dict)
    """What a file says of its own making, `k`, `m` and `delta`. Nothing believes it, and data are equal without it."""
    source_sha256: str = ""
    """The sha256 of the file that it was read from."""

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            dtype = np.int32 if name == "terms" else np.int64
            found = whole_numbers(getattr(self, name), dtype, name.replace("_", " "))
            object.__setattr__(self, name, sealed(found, dtype))
        if self.subrecords.ids is not None:
            raise BadData("subrecords of disassociated data carry no ids")
        clusters, subrecords = len(self.sizes), self.subrecords.records
        if not _are_starts(self.chunk_starts, subrecords, 1) or len(self.counts) != subrecords:
            raise BadData("every subrecord needs a count and stands in one chunk, and every chunk has a subrecord")
        if not _are_starts(self.cluster_starts, self.chunks, 0) or len(self.cluster_starts) != clusters + 1:
            raise BadData("every record chunk stands in one cluster, and every cluster has a size")
        if not _are_starts(self.term_starts, len(self.terms), 0) or len(self.term_starts) != clusters + 1:
            raise BadData("every cluster has one term chunk")
        if (clusters and self.sizes.min() < 1) or (subrecords and self.counts.min() < 1):
            raise BadData("sizes of clusters and counts of subrecords are whole numbers from 1 on")
        if len(self.terms) and not 0 <= self.terms.min() <= self.terms.max() < len(self.vocabulary):
            raise BadData("the code of an item of a term chunk lies outside the vocabulary")
        if not rises_within_records(self.term_starts, self.terms):
            raise BadData("the items of a term chunk must rise, each once")

    # -- making ---------------------------------------------------------------------------------------------------------------

    @classmethod
    def from_clusters(
        cls, clusters: Iterable[Mapping[str, Any]], *, stated: Mapping[str, int] | None = None, unit: Unit = "record"
    ) -> Disassociated:
        """Make disassociated data from Python: a cluster has `size`, `record_chunks` and `term_chunk`, as in a file."""
        parts: list[Iterable[str]] = []
        terms: list[Iterable[str]] = []
        counts, sizes = [], []
        chunk_starts, cluster_starts = [0], [0]
        for cluster in clusters:
            for chunk in cluster["record_chunks"]:
                for items, count in chunk:
                    parts.append(items)
                    counts.append(count)
                chunk_starts.append(len(parts))
            cluster_starts.append(len(chunk_starts) - 1)
            terms.append(cluster["term_chunk"])
            sizes.append(cluster["size"])
        both = Transactions.from_lists([*parts, *terms], unit=unit)
        cut = int(both.offsets[len(parts)])
        return cls(
            Transactions(both.offsets[: len(parts) + 1], both.items[:cut], both.vocabulary, unit=unit),
            np.array(counts, dtype=np.int64),
            np.array(chunk_starts),
            np.array(cluster_starts),
            np.array(sizes, dtype=np.int64),
            both.offsets[len(parts) :] - cut,
            both.items[cut:],
            dict(stated or {}),
        )

    @classmethod
    def of_records(
        cls,
        data: Transactions,
        cluster: NDArray[np.int64],
        chunk: NDArray[np.int64],
        stated: Mapping[str, int] | None = None,
    ) -> tuple[Disassociated, NDArray[np.int64]]:
        """Take records apart: `cluster` tells the cluster of each record, from 0 on, and `chunk` the chunk of each occurrence.

        Chunks of a cluster are numbered from 0 on, or TERM_CHUNK, or LEFT_OUT. Returns with it the numbers of the records cluster by
        cluster, in the order of `arranged`.
        """
        record = owner_of(data.offsets)
        sizes = np.bincount(cluster)
        told = np.flatnonzero(chunk >= 0)
        place = cluster[record[told]] * (int(chunk.max(initial=0)) + 1) + chunk[told]
        order = np.lexsort((data.items[told], record[told], place))
        told, place = told[order], place[order]
        # A subrecord begins where the chunk or the record changes.
        is_new = np.ones(len(told), dtype=np.bool_)
        is_new[1:] = (place[1:] != place[:-1]) | (record[told][1:] != record[told][:-1])
        first = np.flatnonzero(is_new)
        whole = Transactions.of_parts(
            np.append(first, len(told)).astype(np.int64),
            np.ascontiguousarray(data.items[told]),
            data.vocabulary,
            ids=None,
            unit=data.unit,
        )
        chunks, chunk_of = np.unique(place[first], return_inverse=True)
        owner = np.zeros(len(chunks), dtype=np.int64)
        owner[chunk_of] = cluster[record[told[first]]]
        width = max(len(data.vocabulary), 1)
        in_term_chunk = np.flatnonzero(chunk == TERM_CHUNK)
        terms = distinct(cluster[record[in_term_chunk]] * width + data.items[in_term_chunk])
        made = cls(
            whole,
            np.ones(whole.records, dtype=np.int64),
            starts_of(chunk_of, len(chunks)),
            starts_of(owner, len(sizes)),
            sizes,
            starts_of(terms // width, len(sizes)),
            (terms % width).astype(np.int32),
            dict(stated or {}),
        )
        arranged, clusters = made.arranged()
        starts, by_cluster = places_of(cluster, len(sizes))
        return arranged, by_cluster[picked(starts, clusters)[1]]

    # -- looking --------------------------------------------------------------------------------------------------------------

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return len(self.sizes)

    @property
    def chunks(self) -> int:
        """The number of record chunks in all clusters together."""
        return len(self.chunk_starts) - 1

    @property
    def records(self) -> int:
        """The number of records in all clusters together."""
        return int(self.sizes.sum())

    @property
    def occurrences(self) -> int:
        """How many occurrences are told for certain: those in record chunks, and one for each item of a term chunk."""
        return int((self.counts * self.subrecords.lengths).sum()) + len(self.terms)

    @property
    def empty_records(self) -> int:
        """No record is known to be empty."""
        return 0

    @property
    def unit(self) -> Unit:
        """Whether a record is a person or one of several."""
        return self.subrecords.unit

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """All labels, of record chunks and of term chunks."""
        return self.subrecords.vocabulary

    @property
    def labels(self) -> Any:
        """The vocabulary as an Arrow column."""
        return self.subrecords.labels

    @cached_property
    def supports(self) -> NDArray[np.int64]:
        """In how many records each item is at least: as often as record chunks tell, and once for each term chunk that names it."""
        found = np.bincount(self.terms, minlength=len(self.vocabulary)).astype(np.int64)
        np.add.at(found, self.subrecords.items, np.repeat(self.counts, self.subrecords.lengths))
        return sealed(found, np.int64)

    @cached_property
    def chunk_of_subrecord(self) -> NDArray[np.int64]:
        """For each subrecord the number of its chunk."""
        return sealed(owner_of(self.chunk_starts), np.int64)

    @cached_property
    def cluster_of_chunk(self) -> NDArray[np.int64]:
        """For each record chunk the number of its cluster."""
        return sealed(owner_of(self.cluster_starts), np.int64)

    @cached_property
    def chunk_sizes(self) -> NDArray[np.int64]:
        """The number of subrecords of each record chunk, each as often as it occurs."""
        return sealed(sums_within(self.chunk_starts, self.counts), np.int64)

    @cached_property
    def remembered(self) -> dict[Any, Any]:
        """A place for small figures that took long to compute; the data never change, so that they stay true."""
        return {}

    def __len__(self) -> int:
        return self.records

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Disassociated):
            return NotImplemented
        return self.subrecords == other.subrecords and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS
        )

    __hash__ = None  # type: ignore[assignment]  # arrays of any size: not meant for dictionaries

    def __repr__(self) -> str:
        clusters = f"{self.clusters:,} cluster{'s' * (self.clusters != 1)}"
        chunks = f"{self.chunks:,} record chunk{'s' * (self.chunks != 1)}"
        return f"Disassociated({clusters}, {chunks}, {self.records:,} records, {len(self.vocabulary):,} items)"

    def checksum(self) -> str:
        """Return a hash of the content, the same whatever format it was read from."""
        digest = hashlib.sha256(self.subrecords.checksum().encode())
        for name in _ARRAYS:
            digest.update(len(getattr(self, name)).to_bytes(8, "little"))
            digest.update(getattr(self, name).astype("<i8").tobytes())
        return digest.hexdigest()

    def to_clusters(self) -> list[dict[str, Any]]:
        """Return the clusters as `from_clusters` takes them."""
        lists, counts = self.subrecords.to_lists(), self.counts.tolist()
        chunks, clusters = self.chunk_starts.tolist(), self.cluster_starts.tolist()
        places, names = self.term_starts.tolist(), [self.vocabulary[code] for code in self.terms.tolist()]
        return [
            {
                "size": size,
                "record_chunks": [
                    list(zip(lists[chunks[j] : chunks[j + 1]], counts[chunks[j] : chunks[j + 1]], strict=True))
                    for j in range(clusters[c], clusters[c + 1])
                ],
                "term_chunk": names[places[c] : places[c + 1]],
            }
            for c, size in enumerate(self.sizes.tolist())
        ]

    # -- deriving -------------------------------------------------------------------------------------------------------------

    def with_unit(self, unit: Unit) -> Self:
        """Return the same clusters, their records said to be one a person (`person`) or not (`record`)."""
        subrecords = self.subrecords.with_unit(unit)
        return self if subrecords is self.subrecords else replace(self, subrecords=subrecords)

    def arranged(self) -> tuple[Disassociated, NDArray[np.int64]]:
        """Return the same clusters in an order that tells nothing, and for each the number of the cluster that it was.

        Subrecords of a chunk stand in the order of their content, each content once; so do chunks of a cluster, and clusters: by
        size, then by their chunks, then by their term chunks. Labels that nothing names are left out.
        """
        data = self._compacted()
        content = data.subrecords.distinct()[2]
        key = data.chunk_of_subrecord * max(int(content.max(initial=0)) + 1, 1) + content
        keys, first, same = np.unique(key, return_index=True, return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, same, data.counts)
        chunk_starts = starts_of(data.chunk_of_subrecord[first], data.chunks)
        chunk_rank = ranks_of_sequences(chunk_starts * 2, np.stack((content[first] + 1, counts), axis=1).ravel())
        chunk_order = np.lexsort((chunk_rank, data.cluster_of_chunk))
        cluster_order = data._cluster_order(chunk_rank[chunk_order])  # noqa: SLF001 - of the same class
        cluster_starts, places = picked(data.cluster_starts, cluster_order)
        chunk_starts, rows = picked(chunk_starts, chunk_order[places])
        term_starts, places = picked(data.term_starts, cluster_order)
        made = replace(
            data,
            subrecords=data.subrecords.take(first[rows]),
            counts=counts[rows],
            chunk_starts=chunk_starts,
            cluster_starts=cluster_starts,
            sizes=data.sizes[cluster_order],
            term_starts=term_starts,
            terms=data.terms[places],
        )
        return made, cluster_order

    def _cluster_order(self, chunk_rank: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the clusters by what they hold; `chunk_rank` tells of each of their chunks, in its order, which content it has."""
        # A word for the size, a word a chunk, a zero, a word an item of the term chunk.
        chunks, terms = np.diff(self.cluster_starts), np.diff(self.term_starts)
        starts = offsets_of(chunks + terms + 2)
        words = np.zeros(starts[-1], dtype=np.int64)
        words[starts[:-1]] = self.sizes
        words[runs(starts[:-1] + 1, chunks)] = chunk_rank + 1
        words[runs(starts[:-1] + 2 + chunks, terms)] = self.terms + 1
        return order_of_sequences(starts, words)

    def _compacted(self) -> Disassociated:
        """Return the same clusters with a vocabulary that holds only items that occur."""
        used = self.supports > 0
        if used.all():
            return self
        kept = [label for label, keep in zip(self.vocabulary, used, strict=True) if keep]
        # Leaving labels out can turn the order numeric: 'a', '10', '9' without 'a' must read 9, 10.
        order = label_order(kept)
        rank = np.zeros(len(used), dtype=np.int32)
        rank[np.flatnonzero(used)[order]] = np.arange(len(kept), dtype=np.int32)
        terms = rank[self.terms]
        return replace(
            self,
            subrecords=Transactions.from_codes(
                self.subrecords.offsets, rank[self.subrecords.items], [kept[at] for at in order], unit=self.unit
            ),
            terms=terms[np.lexsort((terms, owner_of(self.term_starts)))],
        )

    # -- releasing ------------------------------------------------------------------------------------------------------------

    def arrange(self, rows: NDArray[np.int64], naming: Naming) -> tuple[Disassociated, Alignment]:
        """Sort subrecords, chunks and clusters by content; the alignment goes cluster by cluster."""
        del naming
        published, clusters = self.arranged()
        return published, Alignment(rows[picked(offsets_of(self.sizes), clusters)[1]])

    def with_stated(self, parameters: Mapping[str, Any]) -> Self:
        """Return the same clusters with what a card says that they keep: a table does not say it."""
        given = {name: parameters.get(name) for name in STATED}
        return replace(self, stated={name: value for name, value in given.items() if isinstance(value, int)})

    @property
    def row_parts(self) -> Transactions:
        """The subrecords."""
        return self.subrecords

    @property
    def sizes_drawn(self) -> dict[str, NDArray[np.int64]]:
        """The number of records of each cluster."""
        return {"clusters": self.sizes}

    @classmethod
    def formats(cls) -> Mapping[str, DataFormat]:
        """Return the one format of disassociated data."""
        from setveil.data.forms.disassociated.files import DisassociatedFiles  # noqa: PLC0415 - it makes such data

        return {DisassociatedFiles.name: DisassociatedFiles()}

    @classmethod
    def claims(cls, path: Path, format_name: str | None) -> bool:
        """Return whether a file is said to hold disassociated data, or begins as one does."""
        from setveil.data.forms.disassociated.files import looks_disassociated  # noqa: PLC0415 - the same

        if format_name is not None:
            return format_name in cls.formats()
        return path.is_file() and looks_disassociated(path)

    # -- comparing ------------------------------------------------------------------------------------------------------------

    def find_untrue(self, aligned: Aligned, *, whole: bool) -> Untrue:
        """Compare the chunks of each cluster with its records."""
        from setveil.data.forms.disassociated.truth import untrue_clusters  # noqa: PLC0415 - the same

        return untrue_clusters(self, aligned, whole=whole)

    def shown_of(self, original: Published, alignment: Alignment) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how often each item is in record chunks, and for how many more occurrences a term chunk names it."""
        records = original.as_records()
        in_record_chunks = self.supports - np.bincount(self.terms, minlength=len(self.vocabulary))
        named = records.items[self._in_term_chunks(records, alignment)]
        exactly = original.in_own_order(self.vocabulary, in_record_chunks)
        return exactly, np.bincount(named, minlength=len(records.vocabulary))

    def _in_term_chunks(self, original: Transactions, alignment: Alignment) -> NDArray[np.bool_]:
        """Return for each occurrence whether the term chunk of its record's cluster names its item."""
        cluster = np.empty(original.records, dtype=np.int64)
        cluster[alignment.rows] = np.repeat(np.arange(self.clusters), self.sizes)
        code_of = self.subrecords.code_of
        codes = np.array([code_of.get(label, -1) for label in original.vocabulary], dtype=np.int64)
        width = max(len(self.vocabulary), 1)
        named = owner_of(self.term_starts) * width + self.terms
        item = codes[original.items] if len(codes) else np.empty(0, np.int64)
        keys = cluster[owner_of(original.offsets)] * width + item
        return (item >= 0) & np.isin(keys, named)


def _are_starts(starts: NDArray[np.int64], end: int, least: int) -> bool:
    """Tell whether parts start at 0, end at the end, and have at least so many places each."""
    return bool(len(starts) and starts[0] == 0 and starts[-1] == end and np.all(np.diff(starts) >= least))
