"""Links between items of different chunks of a cluster that follow from the counts of disassociated data.

Let x be in s_x and y in s_y of the |P| records of a cluster, in different record chunks. If s_x = |P|, every record with y holds x: a
*certain* link. If s_x + s_y > |P|, at least one record holds both: a *forced* link. Every certain link is forced. An item of the term chunk
is in some record, so an item in all records has a certain link to it. Links are counted, not listed: a cluster may have very many.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.disassociated import Disassociated


AT_ONCE = 1 << 20
"""Number of occurrences of clusters that are counted together; it limits the memory."""


@dataclass(frozen=True, eq=False)
class ChunkItems:
    """The distinct items of each record chunk, by chunk and code."""

    chunk: NDArray[np.int64]
    cluster: NDArray[np.int64]
    item: NDArray[np.int64]
    support: NDArray[np.int64]
    """The number of records of the cluster that hold the item, by its chunk."""

    @classmethod
    def of(cls, data: Disassociated) -> ChunkItems:
        """Count the items of all chunks."""
        width = max(len(data.vocabulary), 1)
        lengths = data.subrecords.lengths
        key = np.repeat(data.chunk_of_subrecord, lengths) * width + data.subrecords.items
        keys, place = np.unique(key, return_inverse=True)
        support = np.zeros(len(keys), np.int64)
        np.add.at(support, place, np.repeat(data.counts, lengths))
        chunk = keys // width
        return cls(chunk, data.cluster_of_chunk[chunk], keys % width, support)


@dataclass(frozen=True)
class ChunkLinks:
    """The number of links between items of different chunks of one cluster, and the number of clusters with such links."""

    certain: int
    """Pairs of items of two record chunks, one of which is in all records."""
    clusters_with_certain: int
    certain_to_terms: int
    """Pairs of an item in all records and one of the term chunk."""
    clusters_with_certain_to_terms: int
    forced: int
    """Pairs of items of two record chunks that some record must hold together; this includes certain links."""


def chunk_links(data: Disassociated, items: ChunkItems | None = None) -> ChunkLinks:
    """Count the links that follow from the counts alone; without the items of the chunks, the clusters are counted in pieces."""
    if items is None:
        found = [astuple(chunk_links(piece, ChunkItems.of(piece))) for _first, piece in data.pieces(AT_ONCE)]
        return ChunkLinks(*(sum(one[place] for one in found) for place in range(len(fields(ChunkLinks)))))
    is_everywhere = items.support >= data.sizes[items.cluster]
    everywhere = np.bincount(items.cluster[is_everywhere], minlength=data.clusters)
    # Pairs across chunks with an item that is in all records: all pairs, less the pairs of two other items.
    certain = _across(data, items, np.ones(len(is_everywhere), np.bool_)) - _across(data, items, ~is_everywhere)
    to_terms = everywhere * np.diff(data.term_starts)
    return ChunkLinks(
        int(certain.sum()),
        int(np.count_nonzero(certain)),
        int(to_terms.sum()),
        int(np.count_nonzero(to_terms)),
        _forced(data, items, items.cluster) - _forced(data, items, items.chunk),
    )


def _across(data: Disassociated, items: ChunkItems, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each cluster the number of pairs of chosen items of different chunks."""
    of_chunk = np.bincount(items.chunk[chosen], minlength=data.chunks)
    total = np.zeros(data.clusters, np.int64)
    squares = np.zeros(data.clusters, np.int64)
    np.add.at(total, data.cluster_of_chunk, of_chunk)
    np.add.at(squares, data.cluster_of_chunk, of_chunk**2)
    return (total**2 - squares) // 2


def _forced(data: Disassociated, items: ChunkItems, group: NDArray[np.int64]) -> int:
    """Return the number of pairs of items in one group (cluster or chunk) whose supports sum to more than the records of the cluster."""
    size = data.sizes[items.cluster]
    support = np.minimum(items.support, size)
    width = int(size.max(initial=0)) + 1
    keys = np.sort(group * width + support)
    ends = np.searchsorted(keys, (group + 1) * width)
    partners = ends - np.searchsorted(keys, group * width + size - support, side="right")
    with_itself = np.count_nonzero(2 * support > size)
    return int(partners.sum() - with_itself) // 2
