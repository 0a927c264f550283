"""Put disassociated data into an order that reveals nothing.

Subrecords of a chunk are sorted by content, each content once. Chunks of a cluster are sorted by content too, and clusters by size, chunks
and term chunk. Data that may be larger than memory are arranged in pieces. Clusters are compared by their first words, and only those that
agree in them by further ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.forms.disassociated.parts import joined
from setveil.data.records.labels import Vocabulary, label_order
from setveil.data.records.ragged import is_rising, offsets_of, picked, ranks_of_sequences, runs, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.disassociated import Disassociated
    from setveil.data.forms.disassociated.parts import ClusterArrays

FIRST_WORDS = 16
"""The number of words by which clusters are compared first."""
MOST_WORDS = 1 << 22
"""About the maximum number of words that are compared at once."""


def arranged(data: Disassociated) -> tuple[Disassociated, NDArray[np.int64]]:
    """Return the same clusters in order, without unused labels, and the former number of each cluster."""
    compacted = _compacted(data)
    within = compacted.with_arrays(joined(_arranged_within(piece) for piece in compacted.in_pieces()))
    order = _cluster_order(within)
    if is_rising(order):
        return within, order
    return within.with_arrays(joined(piece.arrays for piece in within.in_pieces(order))), order


def _compacted(data: Disassociated) -> Disassociated:
    """Return the same clusters with a vocabulary of occurring items only."""
    used = data.supports > 0
    if used.all():
        return data
    kept = [label for label, keep in zip(data.vocabulary, used, strict=True) if keep]
    # Without some labels, the order can become numeric: 'a', '10', '9' without 'a' is 9, 10.
    order = label_order(kept)
    rank = np.zeros(len(used), np.int32)
    rank[np.flatnonzero(used)[order]] = np.arange(len(kept), dtype=np.int32)
    return data.with_arrays(data.arrays.renamed(rank), Vocabulary(kept[at] for at in order))


def _arranged_within(data: Disassociated) -> ClusterArrays:
    """Return the clusters with their chunks and subrecords in order."""
    content = ranks_of_sequences(data.subrecords.offsets, data.subrecords.items)
    key = data.chunk_of_subrecord * max(int(content.max(initial=0)) + 1, 1) + content
    keys, first, same = np.unique(key, return_index=True, return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, same, data.counts)
    chunk_starts = starts_of(data.chunk_of_subrecord[first], data.chunks)
    rank = ranks_of_sequences(chunk_starts * 2, np.stack((content[first] + 1, counts), axis=1).ravel())
    chunk_starts, rows = picked(chunk_starts, np.lexsort((rank, data.cluster_of_chunk)))
    offsets, places = picked(data.subrecords.offsets, first[rows])
    return data.arrays._replace(
        offsets=offsets, items=data.subrecords.items[places], counts=counts[rows], chunk_starts=chunk_starts
    )


def _cluster_order(data: Disassociated) -> NDArray[np.int64]:
    """Return the cluster numbers sorted by content, equal ones in rising order."""
    # How many clusters come before all those that agree with a cluster in the words so far.
    rank = np.zeros(data.clusters, np.int64)
    left, lengths = np.arange(data.clusters), _numbers_of_words(data)
    first, number = 0, FIRST_WORDS
    while len(left):
        group = np.unique(rank[left], return_inverse=True)[1]
        parts = [_words(piece, first, number) for piece in data.in_pieces(left)]
        starts = offsets_of(np.concatenate([part_lengths for part_lengths, _words_of in parts]) + 1)
        words = np.empty(starts[-1], np.int64)
        is_group = np.zeros(len(words), np.bool_)
        is_group[starts[:-1]] = True
        words[is_group], words[~is_group] = group, np.concatenate([part_words for _lengths, part_words in parts])
        ranks = ranks_of_sequences(starts, words)
        order = np.argsort(ranks, kind="stable")
        rising, groups = ranks[order], group[order]
        rank[left[order]] += np.searchsorted(rising, rising) - np.searchsorted(groups, groups)
        left = left[(np.bincount(ranks)[ranks] > 1) & (lengths[left] >= first + number)]
        first, number = first + number, min(4 * number, MOST_WORDS // max(len(left), 1) + FIRST_WORDS)
    return np.argsort(rank, kind="stable")


def _numbers_of_words(data: Disassociated) -> NDArray[np.int64]:
    """Return how many words describe each cluster."""
    subrecords = data.chunk_starts[data.cluster_starts]
    ends = data.subrecords.offsets[subrecords] + 2 * subrecords + data.cluster_starts + data.term_starts
    return np.diff(ends) + 2


def _words(data: Disassociated, first: int, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of each cluster from word `first` on, at most `number`: how many there are, and all of them.

    They are: the size; for each subrecord of each chunk its items, a 1 and its count; a 0 after each chunk and one after all; the terms.
    The words of items are at least 2 and those of terms at least 1, so that what ends first comes first.
    """
    lengths = _numbers_of_words(data)
    begin = offsets_of(lengths)
    words = np.zeros(begin[-1], np.int64)
    words[begin[:-1]] = data.sizes
    items, chunk = data.subrecords.lengths, data.chunk_of_subrecord
    cluster = data.cluster_of_chunk[chunk]
    place = offsets_of(items + 2)[:-1] + chunk
    place += (begin[:-1] + 1)[cluster] - place[data.chunk_starts[data.cluster_starts[cluster]]]
    words[runs(place, items)] = data.subrecords.items + 2
    words[place + items] = 1
    words[place + items + 1] = data.counts
    terms = np.diff(data.term_starts)
    words[runs(begin[1:] - terms, terms)] = data.terms + 1
    kept = np.clip(lengths - first, 0, number)
    return kept, words[runs(begin[:-1] + first, kept)]
