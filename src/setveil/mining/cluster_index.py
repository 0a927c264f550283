"""In which clusters of disassociated data each item is, in which chunk, and in which subrecords of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import owner_of, places_of, sealed, starts_of
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.disassociated import Disassociated


@dataclass(frozen=True, eq=False)
class ClusterIndex:
    """Entries, each an item in a cluster; entry e of item i stands from `starts[i]` to before `starts[i + 1]`, by rising cluster."""

    data: Disassociated
    starts: NDArray[np.int64]
    items: NDArray[np.int64]
    cluster: NDArray[np.int64]
    chunk: NDArray[np.int64]
    """The number of the record chunk, or -1 for an item of the term chunk."""
    told: NDArray[np.int64]
    """How many records of the cluster hold the item for certain: as many as the record chunk tells, or 1."""
    most: NDArray[np.int64]
    """How many may hold it: as many as the record chunk tells, or all."""
    row_starts: NDArray[np.int64]
    row_ends: NDArray[np.int64]
    """From where to where in `rows` the subrecords with the item stand; there are none for an item of the term chunk."""
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, data: Disassociated) -> ClusterIndex:
        """Lay the data out by item; data of which no reconstruction can be made are refused."""
        too_many = np.flatnonzero(data.chunk_sizes > data.sizes[data.cluster_of_chunk])
        if len(too_many):
            where = data.cluster_of_chunk[too_many[0]]
            raise BadData(f"cluster {where + 1:,} has a record chunk with more subrecords than the cluster has records")
        starts, row = data.subrecords.holders
        item = owner_of(starts)
        chunk = data.chunk_of_subrecord[row]  # subrecords rise chunk by chunk, so that rows do
        is_new = np.ones(len(row), dtype=np.bool_)
        is_new[1:] = (item[1:] != item[:-1]) | (chunk[1:] != chunk[:-1])
        first = np.flatnonzero(is_new)
        ends = np.append(first[1:], len(row))
        told = np.add.reduceat(data.counts[row], first) if len(first) else np.empty(0, np.int64)
        of_terms = owner_of(data.term_starts)
        nothing, all_terms = np.zeros(len(of_terms), np.int64), np.ones(len(of_terms), np.int64)
        columns: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {
            "items": (item[first], data.terms),
            "cluster": (data.cluster_of_chunk[chunk[first]], of_terms),
            "chunk": (chunk[first], -all_terms),
            "told": (told, all_terms),
            "most": (told, data.sizes[of_terms]),
            "row_starts": (first, nothing),
            "row_ends": (ends, nothing),
        }
        whole = {name: np.concatenate(parts) for name, parts in columns.items()}
        order = np.lexsort((whole["cluster"], whole["items"]))
        found = {name: sealed(column[order], np.int64) for name, column in whole.items()}
        _refuse_overlaps(found["items"], found["cluster"])
        starts = sealed(starts_of(found["items"], len(data.vocabulary)), np.int64)
        return cls(data, starts, rows=row, **found)

    @property
    def longest(self) -> int:
        """The largest number of subrecords of an entry."""
        return int((self.row_ends - self.row_starts).max(initial=1))

    @property
    def columns(self) -> tuple[NDArray[np.int64], ...]:
        """What the loops take, in their order."""
        placed = (self.starts, self.cluster, self.chunk, self.told, self.most)
        return (*placed, self.row_starts, self.row_ends, self.rows, self.data.counts, self.data.sizes)

    def by_cluster(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of the entries cluster by cluster, by rising item, and where each cluster starts among them."""
        starts, order = places_of(self.cluster, self.data.clusters)
        return sealed(starts, np.int64), sealed(order, np.int64)


def _refuse_overlaps(items: NDArray[np.int64], cluster: NDArray[np.int64]) -> None:
    """Refuse clusters with an item in two chunks: it is not told whether these are the same records or others."""
    twice = np.flatnonzero((items[1:] == items[:-1]) & (cluster[1:] == cluster[:-1]))
    if len(twice):
        where = int(cluster[twice].min())
        raise BadData(f"cluster {where + 1:,} has an item in two of its chunks; the chunks of a cluster share no item")
