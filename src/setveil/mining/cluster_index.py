"""Index of disassociated data: the clusters, chunks and subrecords of each item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import owner_of, places_of, read_only, sealed, starts_of
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.disassociated import Disassociated


@dataclass(frozen=True, eq=False)
class ClusterIndex:
    """One entry per item and cluster. The entries of item i are at `starts[i]` to `starts[i + 1] - 1`, by rising cluster."""

    data: Disassociated
    starts: NDArray[np.int64]
    items: NDArray[np.int64]
    cluster: NDArray[np.int64]
    chunk: NDArray[np.int64]
    """The number of the record chunk, or -1 for an item of the term chunk."""
    least: NDArray[np.int64]
    """Minimum number of records of the cluster that hold the item: its count in the record chunk, or 1 in the term chunk."""
    most: NDArray[np.int64]
    """Maximum number of records of the cluster that hold the item: its count in the record chunk, or all in the term chunk."""
    row_starts: NDArray[np.int64]
    row_ends: NDArray[np.int64]
    """The subrecords with the item are `rows[row_starts:row_ends]`; none for an item of the term chunk."""
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, data: Disassociated) -> ClusterIndex:
        """Index the data by item; raise `BadData` if no reconstruction is possible."""
        too_many = np.flatnonzero(data.chunk_sizes > data.sizes[data.cluster_of_chunk])
        if len(too_many):
            where = data.cluster_of_chunk[too_many[0]]
            raise BadData(
                f"cluster {where + 1:,} has a record chunk with more subrecords than the cluster has records; correct the data"
            )
        starts, row = data.subrecords.holders
        item = owner_of(starts)
        chunk = data.chunk_of_subrecord[row]  # subrecords are sorted by chunk, so chunks rise with rows
        is_new = np.ones(len(row), dtype=np.bool_)
        is_new[1:] = (item[1:] != item[:-1]) | (chunk[1:] != chunk[:-1])
        first = np.flatnonzero(is_new)
        ends = np.append(first[1:], len(row))
        count = np.add.reduceat(data.counts[row], first) if len(first) else np.empty(0, np.int64)
        of_terms = owner_of(data.term_starts)
        nothing, all_terms = np.zeros(len(of_terms), np.int64), np.ones(len(of_terms), np.int64)
        columns: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {
            "items": (item[first], data.terms),
            "cluster": (data.cluster_of_chunk[chunk[first]], of_terms),
            "chunk": (chunk[first], -all_terms),
            "least": (count, all_terms),
            "most": (count, data.sizes[of_terms]),
            "row_starts": (first, nothing),
            "row_ends": (ends, nothing),
        }
        whole = {name: np.concatenate(parts) for name, parts in columns.items()}
        # Stable: the entries of the record chunks are in this order already, which such a sort uses.
        order = np.argsort(whole["items"] * data.clusters + whole["cluster"], kind="stable")
        found = {name: read_only(column[order], np.int64) for name, column in whole.items()}
        _refuse_overlaps(found["items"], found["cluster"])
        starts = sealed(starts_of(found["items"], len(data.vocabulary)), np.int64)
        return cls(data, starts, rows=row, **found)

    @property
    def columns(self) -> tuple[Any, ...]:
        """The index of the compiled loops: the columns, and the largest number of subrecords of an entry."""
        placed = (self.starts, self.cluster, self.chunk, self.least, self.most)
        longest = int((self.row_ends - self.row_starts).max(initial=1))
        return (*placed, self.row_starts, self.row_ends, self.rows, self.data.counts, self.data.sizes, longest)

    def by_cluster(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the start of each cluster, and the numbers of the entries by cluster and rising item."""
        starts, order = places_of(self.cluster, self.data.clusters)
        return sealed(starts, np.int64), sealed(order, np.int64)


def _refuse_overlaps(items: NDArray[np.int64], cluster: NDArray[np.int64]) -> None:
    """Raise `BadData` for a cluster with an item in two chunks: the data do not show whether these are the same records."""
    twice = np.flatnonzero((items[1:] == items[:-1]) & (cluster[1:] == cluster[:-1]))
    if len(twice):
        where = int(cluster[twice].min())
        raise BadData(
            f"cluster {where + 1:,} has an item in two of its chunks; the chunks of a cluster must not share items"
        )
