"""Split records into the chunks of disassociated data, given the cluster of each record and the chunk of each occurrence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.forms.comparing import Aligned
from setveil.data.forms.disassociated import TERM_CHUNK
from setveil.data.forms.disassociated.parts import ClusterArrays
from setveil.data.records.ragged import changes, distinct, offsets_of, owner_of, picked, places_of, ranks_of_sequences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


def split(
    data: Transactions, cluster: NDArray[np.int64], chunk: NDArray[np.integer[Any]]
) -> tuple[ClusterArrays, NDArray[np.int64]]:
    """Return the clusters in the order of their numbers, and the record numbers cluster by cluster."""
    sizes = np.bincount(cluster)
    starts, by_cluster = places_of(cluster, len(sizes))
    blocks = [
        _Block.of(data, records.rows, starts[first : last + 1] - starts[first], chunk)
        for first, last, records in Aligned(data, by_cluster).in_blocks(starts)
    ] or [_Block.of(data, by_cluster, starts, chunk)]  # data without records
    lengths, items, counts, subrecords, chunks, term_counts, terms = map(np.concatenate, zip(*blocks, strict=True))
    of_chunks = (offsets_of(lengths), items, counts, offsets_of(subrecords), offsets_of(chunks))
    return ClusterArrays(*of_chunks, sizes, offsets_of(term_counts), terms), by_cluster


class _Block(NamedTuple):
    """Some clusters, with lengths instead of starts; each content of a subrecord is in a chunk once."""

    lengths: NDArray[np.int64]
    """The number of items of each subrecord."""
    items: NDArray[np.int32]
    counts: NDArray[np.int64]
    """The number of occurrences of each subrecord in its chunk."""
    subrecords: NDArray[np.int64]
    """The number of different subrecords of each chunk."""
    chunks: NDArray[np.int64]
    """The number of record chunks of each cluster."""
    term_counts: NDArray[np.int64]
    """The number of items of each term chunk."""
    terms: NDArray[np.int32]

    @classmethod
    def of(
        cls, data: Transactions, rows: NDArray[np.int64], starts: NDArray[np.int64], chunk: NDArray[np.integer[Any]]
    ) -> _Block:
        """Split the records `rows` of some clusters: those of cluster c are `rows[starts[c] : starts[c + 1]]`."""
        clusters, width = len(starts) - 1, max(len(data.vocabulary), 1)
        offsets, places = picked(data.offsets, rows)
        record, chunk, items = owner_of(offsets), chunk[places], data.items[places]
        cluster = owner_of(starts)[record]
        in_term_chunk = chunk == TERM_CHUNK
        terms = distinct(cluster[in_term_chunk] * width + items[in_term_chunk])
        # The occurrences of record chunks, chunk by chunk, and in a chunk record by record.
        shown = np.flatnonzero(chunk >= 0)
        place, order = _in_order(cluster[shown] * (int(chunk.max(initial=0)) + 1) + chunk[shown])
        order = shown[order]
        items = items[order]
        # A subrecord begins where the chunk or the record changes.
        starts_chunk = changes(place)
        first = np.append(np.flatnonzero(starts_chunk | changes(record[order])), len(order))
        content = ranks_of_sequences(first, items)
        contents = int(content.max(initial=0)) + 1
        keys, example, counts = np.unique(
            np.cumsum(starts_chunk[first[:-1]]) * contents + content, return_index=True, return_counts=True
        )
        offsets, places = picked(first, example)
        return cls(
            np.diff(offsets),
            items[places],
            counts,
            np.bincount(keys // contents)[1:],
            np.bincount(cluster[order[starts_chunk]], minlength=clusters),
            np.bincount(terms // width, minlength=clusters),
            (terms % width).astype(np.int32),
        )


def _in_order(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the values in increasing order, and the former position of each; equal values stay in order.

    Numbers that hold a value and its position are sorted, which is several times faster than a stable sort of positions.
    """
    positions = max(len(values), 1)
    if int(values.max(initial=0)) >= np.iinfo(np.int64).max // positions - 1:  # they would not fit
        order = np.argsort(values, kind="stable")
        return values[order], order
    keys = values * positions
    keys += np.arange(positions)[: len(values)]
    keys.sort()
    rising = keys // positions
    keys -= rising * positions
    return rising, keys
