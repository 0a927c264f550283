"""Breaking links between items of different chunks of a cluster that are certain, by leaving out occurrences.

Idea     items of different chunks are tied to each other where together they are in more records than the cluster has; an item of a
         term chunk is, where another is in every record. Of the more frequent item so many occurrences are left out, at random, that
         this ends, or it goes to the term chunk where fewer than k would be left. Then the cluster is taken apart anew, since what was
         k^m-anonymous may no longer be, and looked at again.
Departs  this is our own reading of what others call the cover problem; see docs/methods/disassociation.md. No record loses its last item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.forms.disassociated import LEFT_OUT, TERM_CHUNK
from setveil.data.records.ragged import owner_of, runs
from setveil.methods.disassociation._vertical import take_apart

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.disassociation._horizontal import Clustering


def without_covers(
    data: Transactions, clustering: Clustering, k: int, m: int, chunk: NDArray[np.int64], rng: Generator
) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """Return the chunk of each occurrence after all certain links are broken, and an account."""
    record = owner_of(data.offsets)
    cluster = clustering.numbers()[record]
    fixed = np.zeros(data.occurrences, np.int8)
    left = data.lengths.copy()  # how many items of each record are still told
    moved = 0
    account: dict[str, Any] = {"items-moved-for-lemma-2": 0, "searches-given-up": 0}
    dirty = np.arange(clustering.clusters)
    while True:
        told = np.flatnonzero(np.isin(cluster, dirty))
        covering = _covering(cluster[told], data.items[told], chunk[told], clustering.sizes, len(data.vocabulary))
        dirty = covering.cluster
        if not len(dirty):
            break
        # The occurrences of each cluster's covering item, in a random order, those first that can be left out.
        item_of = np.full(clustering.clusters, -1, np.int64)
        item_of[dirty] = covering.item
        held = told[data.items[told] == item_of[cluster[told]]]
        held = held[fixed[held] != LEFT_OUT]
        only = left[record[held]] == 1
        held = held[np.lexsort((rng.random(len(held)), only, cluster[held]))]
        first = np.searchsorted(cluster[held], dirty)
        free = np.bincount(cluster[held], left[record[held]] > 1, clustering.clusters)[dirty].astype(np.int64)
        to_terms = (covering.most < k) | (covering.support - covering.most > free)
        leave = np.where(to_terms, 0, covering.support - covering.most)
        gone = held[runs(first, leave)]
        fixed[gone] = LEFT_OUT
        np.subtract.at(left, record[gone], 1)
        fixed[held[np.isin(cluster[held], dirty[to_terms])]] = TERM_CHUNK
        moved += int(np.count_nonzero(to_terms))
        chunk, noted = take_apart(data, clustering, k, m, fixed=fixed, only=dirty, chunk=chunk)
        account = {name: account[name] + number for name, number in noted.items()}
    suppressed = int(np.count_nonzero(chunk == LEFT_OUT))
    return chunk, account | {"occurrences-left-out-for-covers": suppressed, "items-moved-for-covers": moved}


@dataclass(frozen=True)
class _Covering:
    """One item of each cluster that is in too many records: how many hold it, and how many may."""

    cluster: NDArray[np.int64]
    item: NDArray[np.int64]
    support: NDArray[np.int64]
    most: NDArray[np.int64]


def _covering(
    cluster: NDArray[np.int64],
    item: NDArray[np.int32],
    chunk: NDArray[np.int64],
    sizes: NDArray[np.int64],
    width: int,
) -> _Covering:
    """Find in each cluster the most frequent item that is certainly tied to one of another chunk, given occurrences of clusters."""
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
