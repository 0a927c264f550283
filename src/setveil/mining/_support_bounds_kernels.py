# mypy: ignore-errors
# (Numba infers the types)
"""The loops over disassociated data: what is told of given itemsets, and which pairs are told often enough.

An *entry* is an item in a cluster (`ClusterIndex`): those of an item stand together, by rising cluster. It is in one chunk, told `told`
times and at most `most` times there; for an item of the term chunk, whose chunk is -1, these are 1 and the size of the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, first_not_below
from setveil.mining._supports_kernels import kept_by_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NONE = np.int64(0)
FEW = 8
"""So many clusters are passed one by one before the rest is halved."""


class Index(NamedTuple):
    """For each item where its entries start; of each entry its cluster, chunk, lowest and highest count, and its subrecords.

    How often each subrecord occurs, how many records each cluster has, and the largest number of subrecords of an entry.
    """

    starts: NDArray[np.int64]
    cluster: NDArray[np.int64]
    chunk: NDArray[np.int64]
    told: NDArray[np.int64]
    most: NDArray[np.int64]
    row_starts: NDArray[np.int64]
    row_ends: NDArray[np.int64]
    rows: NDArray[np.int64]
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    longest: int


class Figures(NamedTuple):
    """What is known of each set, as `support_bounds` describes it."""

    inside: NDArray[np.int64]
    certain: NDArray[np.int64]
    possible: NDArray[np.int64]
    expected: NDArray[np.float64]


class Sets(NamedTuple):
    """The sets to tell of."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]


class Places(NamedTuple):
    """Of each item of a set its entry in the cluster at hand and whether it was counted; and room for the subrecords of an entry."""

    of: NDArray[np.int64]
    is_counted: NDArray[np.bool_]
    found: NDArray[np.int64]


class Asked(NamedTuple):
    """The items whose pairs are asked for, which items are frequent, and what makes a pair frequent; the most pairs.

    What counts of a pair in two chunks is the sum of `weights` times: certain, possible, expected.
    """

    items: NDArray[np.int64]
    is_frequent: NDArray[np.bool_]
    weights: NDArray[np.float64]
    threshold: float
    limit: int


class Clusters(NamedTuple):
    """The item of each entry, the entries of each cluster by rising item, and the subrecords."""

    entry_item: NDArray[np.int64]
    starts: NDArray[np.int64]
    entries: NDArray[np.int64]
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]


class Pairs(NamedTuple):
    """Of each other item how often it is met with one item, in all and in one chunk; those met. The first two are 0 between two items."""

    total: NDArray[np.float64]
    beside: NDArray[np.int64]
    met: NDArray[np.int64]
    here: NDArray[np.int64]


@kernel
def _subrecords_with(begin, length, index, places):
    """Count the subrecords of a chunk that hold all items of a set that are in it, the first of which is `begin`; mark these."""
    chunks, row_starts, row_ends, rows, counts = index.chunk, index.row_starts, index.row_ends, index.rows, index.counts
    of, is_counted, found = places.of, places.is_counted, places.found
    chunk = chunks[of[begin]]
    first = row_starts[of[begin]]
    last = row_ends[of[begin]]
    for at in range(first, last):
        found[at - first] = rows[at]
    end = last - first
    for j in range(begin, length):
        other = of[j]
        if chunks[other] == chunk:
            is_counted[j] = True
            if j > begin:
                end = kept_by_list(found, _NONE, end, rows, row_starts[other], row_ends[other], _NONE)
    told = np.int64(0)
    for at in range(end):
        told += counts[found[at]]
    return told


@kernel
def _are_together(cluster, first, length, items, starts, clusters, of):
    """Go on with the items of a set but the first to a cluster; tell whether it has them all, and whether one of them ends before it."""
    for j in range(1, length):
        end = starts[items[first + j] + 1]
        at = of[j]
        few = at + FEW
        while at < end and clusters[at] < cluster:
            at += 1
            if at == few:
                at = first_not_below(clusters, at, end, cluster)
        of[j] = at
        if at == end or clusters[at] != cluster:
            return False, at == end
    return True, False


@kernel
def _bound_set(one, sets, index, places, figures):
    """Add up what the clusters tell of a set; its items go through the clusters of the first one together."""
    items, starts, clusters, chunks = sets.items, index.starts, index.cluster, index.chunk
    told, most, sizes, of, is_counted = index.told, index.most, index.sizes, places.of, places.is_counted
    first = sets.offsets[one]
    length = sets.offsets[one + 1] - first
    certain, possible, expected, inside = _NONE, _NONE, 0.0, _NONE
    for j in range(length):
        of[j] = starts[items[first + j]]
    for entry in range(starts[items[first]], starts[items[first] + 1]):
        of[0] = entry
        together, over = _are_together(clusters[entry], first, length, items, starts, clusters, of)
        if over:
            break
        if not together:
            continue
        size = sizes[clusters[entry]]
        parts, least, often, upper, mean = _NONE, _NONE, _NONE, size, 1.0
        is_counted[:length] = False
        for j in range(length):
            if is_counted[j]:
                continue
            often, at_most = told[of[j]], most[of[j]]
            if chunks[of[j]] >= 0:
                alone = True
                for i in range(j + 1, length):
                    alone = alone and chunks[of[i]] != chunks[of[j]]
                if not alone:
                    often = _subrecords_with(j, length, index, places)
                    at_most = often
            parts += 1
            least += often if parts == 1 else often - size
            upper = min(upper, at_most)
            mean = mean * often if parts == 1 else mean * often / size
            if often == 0:  # then all four stay as they are
                break
        certain += max(least, 0)
        possible += upper
        expected += mean
        if parts == 1 and chunks[entry] >= 0:
            inside += often
    figures.certain[one], figures.possible[one], figures.expected[one] = certain, possible, expected
    figures.inside[one] = inside


@kernel
def bound_sets(first, last, sets, index, figures, control):
    """Write what is known of the sets `first` to before `last`, if not empty; their items come from the one in the fewest clusters on."""
    longest = 1
    for one in range(first, last):
        longest = max(longest, sets.offsets[one + 1] - sets.offsets[one])
    places = Places(np.empty(longest, np.int64), np.empty(longest, np.bool_), np.empty(index.longest, np.int64))
    for one in range(first, last):
        if control[STOP] != 0:
            return
        control[DONE] = one - first + 1
        if sets.offsets[one + 1] > sets.offsets[one]:
            _bound_set(one, sets, index, places, figures)


@kernel
def _meet_others(item, asked, index, clusters, pairs):
    """Add up how often later frequent items are met with an item, in its chunks and across them; return how many are met."""
    is_frequent, weights, entry_item = asked.is_frequent, asked.weights, clusters.entry_item
    chunks, told, most, sizes, clusters_of = index.chunk, index.told, index.most, index.sizes, index.cluster
    row_starts, row_ends, rows, counts = index.row_starts, index.row_ends, index.rows, index.counts
    offsets, codes, starts, entries = clusters.offsets, clusters.codes, clusters.starts, clusters.entries
    total, beside, here, met = pairs.total, pairs.beside, pairs.here, pairs.met
    n_met = 0
    for entry in range(index.starts[item], index.starts[item + 1]):
        cluster, chunk = clusters_of[entry], chunks[entry]
        n_here = 0
        for at in range(row_starts[entry], row_ends[entry]):
            row = rows[at]
            for spot in range(offsets[row], offsets[row + 1]):
                other = codes[spot]
                if other > item and is_frequent[other]:
                    if beside[other] == 0:
                        here[n_here] = other
                        n_here += 1
                    beside[other] += counts[row]
        for at in range(n_here):
            other = here[at]
            met[n_met] = other
            n_met += total[other] == 0.0
            total[other] += beside[other]
            beside[other] = 0
        size = sizes[cluster]
        for at in range(starts[cluster + 1] - 1, starts[cluster] - 1, -1):
            second = entries[at]
            other = entry_item[second]
            if other <= item:
                break
            if is_frequent[other] and (chunk < 0 or chunks[second] != chunk):
                value = weights[0] * max(told[entry] + told[second] - size, 0)
                value += weights[1] * min(most[entry], most[second])
                value += weights[2] * (np.float64(told[entry]) * told[second] / size)
                met[n_met] = other
                n_met += value > 0.0 and total[other] == 0.0
                total[other] += value
    return n_met


@kernel
def frequent_pairs(first, last, asked, index, clusters, control):
    """Return the pairs of `items[first]` to before `items[last]` with a later frequent item that reach the threshold, and their number.

    A search with more pairs than the limit ends soon.
    """
    width = len(asked.is_frequent)
    pairs = Pairs(
        total=np.zeros(width, np.float64),
        beside=np.zeros(width, np.int64),
        met=np.empty(width + 1, np.int64),
        here=np.empty(width, np.int64),
    )
    keys = np.empty(2048, np.int64)
    n = 0
    for place in range(first, last):
        if control[STOP] != 0 or n > asked.limit:
            break
        item = asked.items[place]
        n_met = _meet_others(item, asked, index, clusters, pairs)
        for at in range(n_met):
            other = pairs.met[at]
            if pairs.total[other] >= asked.threshold:
                if n == len(keys):
                    keys = doubled(keys, n)
                keys[n] = item * width + other
                n += 1
            pairs.total[other] = 0.0
        control[DONE] = place - first + 1
    return keys, n
