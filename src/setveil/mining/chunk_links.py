"""What disassociated data tell for certain across the chunks of a cluster: links between items that no record shows.

Two items of different record chunks of a cluster, x in s_x of its |P| records and y in s_y: if s_x = |P|, every record with y has x, a
*certain* link; if s_x + s_y > |P|, at least one record has both, a *forced* link, and certain ones are forced. An item of the term chunk
is in some record, so that one in all records is linked to it for certain. Links are counted, not listed: a cluster can have very many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.disassociated import Disassociated


@dataclass(frozen=True, eq=False)
class ChunkItems:
    """Each item of each record chunk once: by chunk, within a chunk by code."""

    chunk: NDArray[np.int64]
    cluster: NDArray[np.int64]
    item: NDArray[np.int64]
    support: NDArray[np.int64]
    """How many records of the cluster hold it, as its chunk tells."""

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
    """How many links there are between items of different chunks of one cluster, and in how many clusters."""

    certain: int
    """Pairs of items of two record chunks, one of which is in all records."""
    clusters_with_certain: int
    certain_to_terms: int
    """Pairs of an item in all records and one of the term chunk."""
    clusters_with_certain_to_terms: int
    forced: int
    """Pairs of items of two record chunks that some record must hold both; certain ones are among them."""


def chunk_links(data: Disassociated, items: ChunkItems | None = None) -> ChunkLinks:
    """Count the links that follow from the numbers alone."""
    items = items if items is not None else ChunkItems.of(data)
    is_everywhere = items.support >= data.sizes[items.cluster]
    everywhere = np.bincount(items.cluster[is_everywhere], minlength=data.clusters)
    # Pairs across chunks with one that is everywhere: all such pairs without those of two that are not.
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
    """Count for each cluster the pairs of chosen items of different chunks."""
    of_chunk = np.bincount(items.chunk[chosen], minlength=data.chunks)
    total = np.zeros(data.clusters, np.int64)
    squares = np.zeros(data.clusters, np.int64)
    np.add.at(total, data.cluster_of_chunk, of_chunk)
    np.add.at(squares, data.cluster_of_chunk, of_chunk**2)
    return (total**2 - squares) // 2


def _forced(data: Disassociated, items: ChunkItems, group: NDArray[np.int64]) -> int:
    """Count the pairs of items of one group, a cluster or a chunk, that together are in more records than the cluster has."""
    size = data.sizes[items.cluster]
    support = np.minimum(items.support, size)
    width = int(size.max(initial=0)) + 1
    keys = np.sort(group * width + support)
    ends = np.searchsorted(keys, (group + 1) * width)
    partners = ends - np.searchsorted(keys, group * width + size - support, side="right")
    with_itself = np.count_nonzero(2 * support > size)
    return int(partners.sum() - with_itself) // 2
