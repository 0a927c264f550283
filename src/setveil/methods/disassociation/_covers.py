"""Break certain links between items of different chunks of a cluster, by suppressing occurrences.

Idea     items of different chunks are certainly linked if their supports add up to more than the records of the cluster. An item of the
         term chunk is linked to every item that is in all records. Of the more frequent item, as many occurrences are suppressed, at
         random, as break the link; if fewer than k would be left, the item goes to the term chunk. Then the chunks of the cluster are made
         again, since they may no longer be k^m-anonymous, and examined again.
Departs  this is our own reading of what others call the cover problem; see docs/methods/disassociation.md. No record loses its last item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.forms.disassociated import LEFT_OUT, TERM_CHUNK
from setveil.data.records.ragged import owner_of, runs
from setveil.methods.disassociation._vertical import assign_chunks

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.disassociation._horizontal import Clustering


def break_certain_links(
    data: Transactions, clustering: Clustering, k: int, m: int, chunk: NDArray[np.int32], rng: Generator
) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """Return the chunk of each occurrence after all certain links are broken, and an account."""
    record = owner_of(data.offsets)
    cluster = clustering.numbers()[record]
    fixed = np.zeros(data.occurrences, np.int8)
    left = data.lengths.copy()  # the items of each record that are still published
    moved = 0
    account: dict[str, Any] = {"items-moved-for-lemma-2": 0, "searches-given-up": 0}
    dirty = np.arange(clustering.clusters)
    while True:
        examined = np.flatnonzero(np.isin(cluster, dirty))
        covering = _covering(
            cluster[examined], data.items[examined], chunk[examined], clustering.sizes, len(data.vocabulary)
        )
        dirty = covering.cluster
        if not len(dirty):
            break
        # The occurrences of each cluster's covering item in random order, first those that may be suppressed.
        item_of = np.full(clustering.clusters, -1, np.int64)
        item_of[dirty] = covering.item
        held = examined[data.items[examined] == item_of[cluster[examined]]]
        held = held[fixed[held] != LEFT_OUT]
        is_last = left[record[held]] == 1
        held = held[np.lexsort((rng.random(len(held)), is_last, cluster[held]))]
        first = np.searchsorted(cluster[held], dirty)
        free = np.bincount(cluster[held], left[record[held]] > 1, clustering.clusters)[dirty].astype(np.int64)
        to_terms = (covering.most < k) | (covering.support - covering.most > free)
        excess = np.where(to_terms, 0, covering.support - covering.most)
        suppressed = held[runs(first, excess)]
        fixed[suppressed] = LEFT_OUT
        np.subtract.at(left, record[suppressed], 1)
        fixed[held[np.isin(cluster[held], dirty[to_terms])]] = TERM_CHUNK
        moved += int(np.count_nonzero(to_terms))
        chunk, counts = assign_chunks(data, clustering, k, m, fixed=fixed, only=dirty, chunk=chunk)
        account = {name: account[name] + number for name, number in counts.items()}
    total = int(np.count_nonzero(chunk == LEFT_OUT))
    return chunk, account | {"occurrences-left-out-for-covers": total, "items-moved-for-covers": moved}


@dataclass(frozen=True)
class _Covering:
    """One item per cluster that is in too many records: how many hold it (`support`), and how many may (`most`)."""

    cluster: NDArray[np.int64]
    item: NDArray[np.int64]
    support: NDArray[np.int64]
    most: NDArray[np.int64]


def _covering(
    cluster: NDArray[np.int64],
    item: NDArray[np.int32],
    chunk: NDArray[np.int32],
    sizes: NDArray[np.int64],
    width: int,
) -> _Covering:
    """Find in each cluster the most frequent item with a certain link to another chunk, given the occurrences of the clusters."""
    has_terms = np.zeros(len(sizes), np.int64)
    has_terms[cluster[chunk == TERM_CHUNK]] = 1
    in_chunk = np.flatnonzero(chunk >= 0)
    keys, place, support = np.unique(cluster[in_chunk] * width + item[in_chunk], return_index=True, return_counts=True)
    owner, number = keys // width, chunk[in_chunk][place]
    # The most frequent item of each cluster, and the most frequent one of its other chunks.
    order = np.lexsort((-support, owner))
    best = order[np.concatenate(([True], np.diff(owner[order]) != 0))] if len(order) else order
    top, top_chunk = np.zeros(len(sizes), np.int64), np.full(len(sizes), -1, np.int64)
    top[owner[best]], top_chunk[owner[best]] = support[best], number[best]
    elsewhere = number != top_chunk[owner]
    second = np.zeros(len(sizes), np.int64)
    np.maximum.at(second, owner[elsewhere], support[elsewhere])
    other = np.where(elsewhere, top[owner], second[owner])
    most = sizes[owner] - np.maximum(other, has_terms[owner])
    wrong = np.flatnonzero(support > most)
    wrong = wrong[np.lexsort((keys[wrong], -support[wrong], owner[wrong]))]
    wrong = wrong[np.concatenate(([True], np.diff(owner[wrong]) != 0))] if len(wrong) else wrong
    return _Covering(owner[wrong], keys[wrong] % width, support[wrong], most[wrong])
