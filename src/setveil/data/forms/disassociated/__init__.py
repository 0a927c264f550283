"""Disassociated data: clusters of records that are split into chunks, without links between the rows of different chunks.

A cluster shows its number of records. A record chunk is a bag of subrecords: the parts of these records over some of the items. The chunks
of a cluster have different items, and the data do not show which subrecords belong to the same record. The term chunk lists items that at
least one record of the cluster holds, without counts.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from setveil.base.display import quantity
from setveil.data.forms.base import Published
from setveil.data.forms.disassociated.parts import ClusterArrays
from setveil.data.forms.sightings import Sightings
from setveil.data.forms.views import Part, View, items_of, places_of_records
from setveil.data.records.alignment import Alignment
from setveil.data.records.in_blocks import need_blocks
from setveil.data.records.ragged import (
    BLOCK,
    are_equal,
    counted,
    offsets_of,
    owner_of,
    picked,
    pieces,
    record_ranges,
    rises_within_records,
    sealed,
)
from setveil.data.records.transactions import Transactions, whole_numbers
from setveil.engines.blocks import current_engine
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.forms.base import Naming
    from setveil.data.forms.comparing import Aligned, Untrue
    from setveil.data.forms.own_format import DataFormat
    from setveil.data.forms.pair_supports import PairSupports
    from setveil.data.records.labels import Vocabulary
    from setveil.data.records.transactions import Unit

TERM_CHUNK = -1
"""The chunk number of an occurrence that only the term chunk shows."""
LEFT_OUT = -2
"""The chunk number of a suppressed occurrence."""
STATED = ("k", "m", "delta")
"""The parameters that a file or a card may state."""
_ARRAYS = ("counts", "chunk_starts", "cluster_starts", "sizes", "term_starts", "terms")


@dataclass(frozen=True, eq=False, repr=False)
class Disassociated(Published):
    """Disassociated data: clusters, each with record chunks and a term chunk.

    The method `Disassociation` makes them. Use `read_disassociated` to read them from a file, or `Disassociated.from_clusters` for Python
    lists. This class does not check privacy (rare, long or overlapping chunks); the guarantee `KmAnonymity` does.

    Parameters
    ----------
    subrecords : Transactions
        The subrecords of all record chunks, each content once per chunk. The vocabulary includes the items of term chunks.
    counts : array of int64
        The number of occurrences of each subrecord in its chunk.
    chunk_starts : array of int64
        Record chunk j has the subrecords `chunk_starts[j]` to `chunk_starts[j + 1]` - 1, at least one.
    cluster_starts : array of int64
        Cluster c has the record chunks `cluster_starts[c]` to `cluster_starts[c + 1]` - 1, possibly none.
    sizes : array of int64
        The number of records of each cluster.
    term_starts : array of int64
        The term chunk of cluster c is `terms[term_starts[c] : term_starts[c + 1]]`.
    terms : array of int32
        Codes into the vocabulary, strictly increasing within a term chunk.
    stated : mapping of str to int, optional
        The parameters `k`, `m` and `delta` that the file states. They are not trusted, and equality ignores them.
    source_sha256 : str, optional
        The SHA-256 hash of the file that the data were read from.

    Raises
    ------
    BadData
        If the arrays are inconsistent, or subrecords have ids.

    Examples
    --------
    >>> import setveil as sv
    >>> chunks = [[(["milk"], 2)], [(["tea"], 3)]]
    >>> sv.Disassociated.from_clusters([{"size": 3, "record_chunks": chunks, "term_chunk": ["wine"]}])
    Disassociated(1 cluster, 2 record chunks, 3 records, 3 items)
    """

    form_name: ClassVar[str] = "disassociated"
    form_title: ClassVar[str] = "disassociated data"
    about_form: ClassVar[str] = (
        "Records are in clusters and split into chunks. The release does not show which parts in different chunks belong to the same "
        "record. The term chunk of a cluster lists items that at least one of its records holds, without counts."
    )
    why_nameless: ClassVar[str] = "parts of records in disassociated data have no ids"
    counts_rows: ClassVar[bool] = True
    has_support_bounds: ClassVar[bool] = True
    as_input: ClassVar[str] = "the disassociated release"
    less_exactly: ClassVar[str] = "in term chunks only"

    subrecords: Transactions
    counts: NDArray[np.int64]
    chunk_starts: NDArray[np.int64]
    cluster_starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    term_starts: NDArray[np.int64]
    terms: NDArray[np.int32]
    stated: Mapping[str, int] = field(default_factory=dict)
    source_sha256: str = ""

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            dtype = np.int32 if name == "terms" else np.int64
            found = whole_numbers(getattr(self, name), dtype, name.replace("_", " "))
            object.__setattr__(self, name, sealed(found, dtype))
        if self.subrecords.ids is not None:
            raise BadData("subrecords of disassociated data have no ids; drop the ids")
        clusters, subrecords = len(self.sizes), self.subrecords.records
        if not _are_starts(self.chunk_starts, subrecords, 1) or len(self.counts) != subrecords:
            raise BadData(
                "every subrecord must have a count and be in one chunk, and every chunk must have a subrecord"
            )
        if not _are_starts(self.cluster_starts, self.chunks, 0) or len(self.cluster_starts) != clusters + 1:
            raise BadData("every record chunk must be in one cluster, and every cluster must have a size")
        if not _are_starts(self.term_starts, len(self.terms), 0) or len(self.term_starts) != clusters + 1:
            raise BadData("every cluster must have one term chunk")
        if (clusters and self.sizes.min() < 1) or (subrecords and self.counts.min() < 1):
            raise BadData("sizes of clusters and counts of subrecords must be whole numbers of at least 1")
        if len(self.terms) and not 0 <= self.terms.min() <= self.terms.max() < len(self.vocabulary):
            raise BadData("the code of an item of a term chunk is outside the vocabulary")
        if not rises_within_records(self.term_starts, self.terms):
            raise BadData("the codes of the items of a term chunk must be strictly increasing")

    # -- creating -------------------------------------------------------------------------------------------------------------

    @classmethod
    def from_clusters(
        cls, clusters: Iterable[Mapping[str, Any]], *, stated: Mapping[str, int] | None = None, unit: Unit = "record"
    ) -> Disassociated:
        """Make disassociated data from Python lists.

        Parameters
        ----------
        clusters : iterable of mappings
            Each cluster has `size`, `record_chunks` (lists of pairs of a subrecord and its count) and `term_chunk`, as in a file.
        stated : mapping of str to int, optional
            The parameters `k`, `m` and `delta` to state in files.
        unit : {'person', 'record'}, default: 'record'
            Whether every record is one person.

        Returns
        -------
        Disassociated
            The data.

        Raises
        ------
        BadData
            If a size or count is below 1, a chunk has no subrecord, or an item is not text.
        """
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
        chunk: NDArray[np.integer[Any]],
        stated: Mapping[str, int] | None = None,
    ) -> tuple[Disassociated, NDArray[np.int64]]:
        """Split records into chunks: `cluster` is the cluster of each record, and `chunk` the chunk of each occurrence.

        Clusters, and the chunks of a cluster, are numbered starting with 0; a chunk can also be TERM_CHUNK or LEFT_OUT. Return the data and
        the record numbers cluster by cluster, in the order of `arranged`.
        """
        from setveil.data.forms.disassociated.splitting import split  # noqa: PLC0415 - it imports this module

        arrays, rows = split(data, cluster, chunk)
        made = cls.of_arrays(arrays, data, stated)
        arranged, clusters = made.arranged()
        return arranged, rows[picked(offsets_of(made.sizes), clusters)[1]]

    @classmethod
    def of_arrays(
        cls, arrays: ClusterArrays, records: Transactions, stated: Mapping[str, int] | None = None
    ) -> Disassociated:
        """Return clusters of records, with their vocabulary; the arrays are not copied."""
        subrecords = Transactions.of_parts(
            arrays.offsets, arrays.items, records.vocabulary, ids=None, unit=records.unit
        )
        return cls(subrecords, **{name: getattr(arrays, name) for name in _ARRAYS}, stated=dict(stated or {}))

    # -- queries --------------------------------------------------------------------------------------------------------------

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
        """The number of certain occurrences: those in record chunks, and one for each item of a term chunk."""
        in_chunks = sum(int((piece.counts * piece.subrecords.lengths).sum()) for piece in self.in_pieces())
        return in_chunks + len(self.terms)

    @property
    def empty_records(self) -> int:
        """Always 0: no record is known to be empty."""
        return 0

    @property
    def unit(self) -> Unit:
        """`person` if every person has exactly one record, `record` otherwise."""
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
        """The minimum number of records that hold each item: its count in record chunks, plus one for each term chunk that lists it."""
        found = counted(self.terms, len(self.vocabulary))
        for first, piece in self.subrecords.pieces(BLOCK):
            counts = self.counts[first : first + piece.records]
            np.add.at(found, piece.items, np.repeat(counts, piece.lengths))
        return sealed(found, np.int64)

    @cached_property
    def chunk_of_subrecord(self) -> NDArray[np.int64]:
        """The record chunk of each subrecord."""
        return sealed(owner_of(self.chunk_starts), np.int64)

    @cached_property
    def cluster_of_chunk(self) -> NDArray[np.int64]:
        """The cluster of each record chunk."""
        return sealed(owner_of(self.cluster_starts), np.int64)

    @cached_property
    def chunk_sizes(self) -> NDArray[np.int64]:
        """The number of subrecords of each record chunk, counted with repetitions."""
        sums = np.add.reduceat(self.counts, self.chunk_starts[:-1]) if self.chunks else np.empty(0, np.int64)
        return sealed(sums, np.int64)

    def pair_supports(self, labels: Sequence[str]) -> PairSupports:
        """Return the expected numbers if the subrecords of each chunk, and each item of a term chunk, go to random records.

        They are exact for two items of the same record chunk. An item of a term chunk is taken to be in one record of its cluster. The
        numbers are those that `support_bounds` calls expected.
        """
        from setveil.data.forms.pair_supports import (  # noqa: PLC0415 - imports SciPy
            Linked,
            PairSupports,
            as_table,
            count_pairs,
            scaled,
            sums_of_rows,
            with_diagonal,
        )

        rows, counts = as_table(self.subrecords, labels), self.counts.astype(np.float64)
        chunks = sums_of_rows(scaled(rows, counts), self.chunk_of_subrecord, self.chunks)
        listed = Transactions.of_parts(self.term_starts, self.terms, self.vocabulary, ids=None, unit=self.unit)
        terms = as_table(listed, labels)
        linked = Linked(self.sizes, chunks, self.cluster_of_chunk, terms)
        too_large = np.any(self.chunk_sizes > self.sizes[self.cluster_of_chunk])
        if too_large or linked.whole.nnz < chunks.nnz + terms.nnz:
            raise BadData(
                "no records can have these chunks: an item is in two chunks of a cluster, or a chunk has more subrecords than its cluster "
                "has records; correct the data"
            )
        items = chunks.sum(axis=0) + terms.sum(axis=0)
        return PairSupports(with_diagonal(count_pairs(rows, counts) + linked.between_parts(), items), self.records)

    @cached_property
    def remembered(self) -> dict[Any, Any]:
        """A cache for small results that take long to compute; they stay valid because the data never change."""
        return {}

    def __len__(self) -> int:
        return self.records

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Disassociated):
            return NotImplemented
        return self.subrecords == other.subrecords and all(
            are_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS
        )

    __hash__ = None  # type: ignore[assignment]  # too large for dictionary keys

    def __repr__(self) -> str:
        clusters, chunks = quantity(self.clusters, "cluster"), quantity(self.chunks, "record chunk")
        return f"Disassociated({clusters}, {chunks}, {self.records:,} records, {len(self.vocabulary):,} items)"

    def checksum(self) -> str:
        """Return a SHA-256 hash of the content; it does not depend on the file format."""
        digest = hashlib.sha256(self.subrecords.checksum().encode())
        for name in _ARRAYS:
            array = getattr(self, name)
            digest.update(len(array).to_bytes(8, "little"))
            for part in pieces(len(array)):
                digest.update(array[part].astype("<i8").tobytes())
        return digest.hexdigest()

    def to_clusters(self) -> list[dict[str, Any]]:
        """Return the clusters in the form that `from_clusters` accepts."""
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

    @property
    def arrays(self) -> ClusterArrays:
        """All arrays."""
        named = {name: getattr(self, name) for name in _ARRAYS}
        return ClusterArrays(self.subrecords.offsets, self.subrecords.items, **named)

    def with_arrays(self, arrays: ClusterArrays, vocabulary: Vocabulary | None = None) -> Self:
        """Return other clusters with the same vocabulary or another one, and the same unit and parameters; the arrays are not copied."""
        labels = self.vocabulary if vocabulary is None else vocabulary
        subrecords = Transactions.of_parts(arrays.offsets, arrays.items, labels, ids=None, unit=self.unit)
        return replace(self, subrecords=subrecords, **{name: getattr(arrays, name) for name in _ARRAYS})

    def between(self, first: int, last: int) -> Self:
        """Return the clusters `first` to `last` - 1 with the same vocabulary."""
        clusters = self.cluster_starts[first : last + 1]
        chunks = self.chunk_starts[clusters[0] : clusters[-1] + 1]
        offsets = self.subrecords.offsets[chunks[0] : chunks[-1] + 1]
        terms = self.term_starts[first : last + 1]
        return self.with_arrays(
            ClusterArrays(
                offsets - offsets[0],
                self.subrecords.items[offsets[0] : offsets[-1]],
                self.counts[chunks[0] : chunks[-1]],
                chunks - chunks[0],
                clusters - clusters[0],
                self.sizes[first:last],
                terms - terms[0],
                self.terms[terms[0] : terms[-1]],
            )
        )

    def take(self, clusters: NDArray[np.int64]) -> Disassociated:
        """Return the clusters with these numbers, in this order, with the same vocabulary."""
        cluster_starts, chunks = picked(self.cluster_starts, clusters)
        chunk_starts, rows = picked(self.chunk_starts, chunks)
        offsets, places = picked(self.subrecords.offsets, rows)
        items, counts = self.subrecords.items[places], self.counts[rows]
        term_starts, places = picked(self.term_starts, clusters)
        arrays = (offsets, items, counts, chunk_starts, cluster_starts, self.sizes[clusters], term_starts)
        return self.with_arrays(ClusterArrays(*arrays, self.terms[places]))

    def in_pieces(self, chosen: NDArray[np.int64] | None = None) -> Iterator[Disassociated]:
        """Yield all clusters, or the chosen ones in this order, in pieces; those of at most one block of records are one piece.

        A piece has about as many items and terms as a block has records.
        """
        most = current_engine().block_records
        if not need_blocks(self):
            yield self if chosen is None else self.take(chosen)
        elif chosen is None:
            yield from (piece for _row, piece in self.pieces(most))
        else:
            lengths = np.diff(self._ends_of_clusters)[chosen]
            yield from (self.take(chosen[first:last]) for first, last in record_ranges(offsets_of(lengths), most, most))

    @property
    def _ends_of_clusters(self) -> NDArray[np.int64]:
        """Where the items and terms of each cluster end, after those of all clusters before it, starting with 0."""
        return self.subrecords.offsets[self.chunk_starts[self.cluster_starts]] + self.term_starts

    def with_unit(self, unit: Unit) -> Self:
        """Return the same clusters with another unit."""
        subrecords = self.subrecords.with_unit(unit)
        return self if subrecords is self.subrecords else replace(self, subrecords=subrecords)

    def arranged(self) -> tuple[Disassociated, NDArray[np.int64]]:
        """Return the same clusters in an order that reveals nothing, and the former number of each cluster.

        Subrecords of a chunk are sorted by content, each content once. Chunks of a cluster are sorted by content too, and clusters by size,
        chunks and term chunk. Unused labels are dropped.
        """
        from setveil.data.forms.disassociated.arranging import arranged  # noqa: PLC0415 - it imports this module

        return arranged(self)

    # -- releasing ------------------------------------------------------------------------------------------------------------

    def arrange(self, rows: NDArray[np.int64], naming: Naming) -> tuple[Disassociated, Alignment]:
        """Sort subrecords, chunks and clusters by content; the alignment is in the order of clusters."""
        del naming
        published, clusters = self.arranged()
        return published, Alignment(rows[picked(offsets_of(self.sizes), clusters)[1]])

    def with_stated(self, parameters: Mapping[str, Any]) -> Self:
        """Return the same clusters with the parameters stated on a card, because a Parquet table does not state them."""
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
        """Return the only format of disassociated data."""
        from setveil.data.forms.disassociated.files import DisassociatedFiles  # noqa: PLC0415 - it imports this module

        return {DisassociatedFiles.name: DisassociatedFiles()}

    @classmethod
    def claims(cls, path: Path, format_name: str | None) -> bool:
        """Return whether a file holds disassociated data, by the given format or by its first bytes."""
        from setveil.data.forms.disassociated.files import looks_disassociated  # noqa: PLC0415 - it imports this module

        if format_name is not None:
            return format_name in cls.formats()
        return looks_disassociated(path)

    @property
    def why_not_plain(self) -> str:
        """Why there are no records, and what accepts the data."""
        return (
            "disassociated data, which cannot be read as plain records; publish records of it with the method reassociation, or use "
            "mine, risk and measure, which accept it"
        )

    # -- comparing ------------------------------------------------------------------------------------------------------------

    def views(self, original: Transactions, alignment: Alignment, records: Sequence[int]) -> Iterable[View]:
        """Return the parts of each record in the chunks of its cluster."""
        starts = offsets_of(self.sizes)
        for record, places in places_of_records(alignment, records).items():
            own = items_of(original, record)
            parts: list[Part] = []
            for place in places:
                number = int(np.searchsorted(starts, place, side="right")) - 1
                (cluster,) = self.between(number, number + 1).to_clusters()
                among_records = f"of a cluster of {quantity(cluster['size'], 'record')}"
                for chunk in cluster["record_chunks"]:
                    domain = {item for items, _count in chunk for item in items}
                    mine = tuple((item, "kept") for item in own if item in domain)
                    if mine:
                        count = sum(count for items, count in chunk if {*items} == {item for item, _how in mine})
                        where = f"a record chunk {among_records}: {quantity(count, 'record')} with this part"
                        parts.append(Part(where, mine))  # type: ignore[arg-type]  # the texts of `How`
                listed = tuple((item, "listed") for item in own if item in cluster["term_chunk"])
                where = f"the term chunk {among_records}"
                if listed:
                    parts.append(Part(where, listed, len(cluster["term_chunk"]) - len(listed)))  # type: ignore[arg-type]  # the same
            seen = {label for part in parts for label, _how in part.items}
            yield View(tuple(parts), tuple(item for item in own if item not in seen))

    def pieces(self, occurrences: int) -> Iterator[tuple[int, Self]]:
        """Yield ranges of clusters."""
        rows = offsets_of(self.sizes)
        for first, last in record_ranges(self._ends_of_clusters, occurrences, occurrences):
            yield int(rows[first]), self.between(first, last)

    def sightings(self, items: Sequence[str]) -> Sightings:
        """Return the clusters that show each item, in a record chunk or in the term chunk."""
        from setveil.data.forms.disassociated.shown_items import clusters_of_items  # noqa: PLC0415 - it imports this module

        starts, clusters = clusters_of_items(self)
        code_of, none = self.subrecords.code_of, np.empty(0, np.int64)
        found = [code_of.get(item, -1) for item in items]
        lists = [none if code < 0 else clusters[starts[code] : starts[code + 1]] for code in found]
        return Sightings(lists, self.sizes, np.repeat(np.arange(self.clusters), self.sizes))

    def find_untrue(self, aligned: Aligned, *, whole: bool) -> Untrue:
        """Compare the chunks of each cluster with its records."""
        from setveil.data.forms.disassociated.truth import untrue_clusters  # noqa: PLC0415 - it imports this module

        return untrue_clusters(self, aligned, whole=whole)

    def shown_of(self, original: Published, alignment: Alignment) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how often each item is in record chunks, and how many further occurrences are listed in term chunks only."""
        from setveil.data.forms.disassociated.shown_items import shown_of  # noqa: PLC0415 - it imports this module

        return shown_of(self, original, alignment)


def _are_starts(starts: NDArray[np.int64], end: int, least: int) -> bool:
    """Return whether starts begin with 0, end with `end`, and each part has at least `least` elements."""
    return bool(len(starts) and starts[0] == 0 and starts[-1] == end and np.all(np.diff(starts) >= least))
