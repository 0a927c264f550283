# mypy: ignore-errors
# (Numba infers the types)
"""The loops over disassociated data: what is told of given itemsets, and which pairs are told often enough.

An *entry* is an item in a cluster (`ClusterIndex`): those of an item stand together, by rising cluster. It is in one chunk, told `told`
times and at most `most` times there; for an item of the term chunk, whose chunk is -1, these are 1 and the size of the cluster.
"""

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, first_not_below
from setveil.mining._supports_kernels import kept_by_list

_NONE = np.int64(0)
FEW = 8
"""So many clusters are passed one by one before the rest is halved."""


@kernel
def _subrecords_with(places, which, chunk, begin, length, entry_chunk, row_starts, row_ends, rows, counts, found):
    """Count the subrecords of a chunk that hold all items of a set that are in it, the first of which is `places[begin]`; mark these."""
    first = row_starts[places[begin]]
    last = row_ends[places[begin]]
    for at in range(first, last):
        found[at - first] = rows[at]
    end = last - first
    for j in range(begin, length):
        other = places[j]
        if entry_chunk[other] == chunk:
            which[j] = True
            if j > begin:
                end = kept_by_list(found, _NONE, end, rows, row_starts[other], row_ends[other], _NONE)
    told = np.int64(0)
    for at in range(end):
        told += counts[found[at]]
    return told


@kernel
def bound_sets(
    first,
    last,
    set_offsets,
    set_items,
    room,
    starts,
    cluster,
    entry_chunk,
    told,
    most,
    row_starts,
    row_ends,
    rows,
    counts,
    sizes,
    inside,
    certain,
    possible,
    expected,
    control,
):
    """Write what is told of the sets `first` to before `last`; their items come from the one in the fewest clusters on.

    No entry has more subrecords than there is `room` for.
    """
    longest = 1
    for one in range(first, last):
        longest = max(longest, set_offsets[one + 1] - set_offsets[one])
    places = np.empty(longest, np.int64)
    which = np.empty(longest, np.bool_)
    found = np.empty(room, np.int64)
    for one in range(first, last):
        if control[STOP] != 0:
            return
        control[DONE] = one - first + 1
        begin = set_offsets[one]
        length = set_offsets[one + 1] - begin
        if length == 0:
            continue
        for j in range(length):
            places[j] = starts[set_items[begin + j]]
        for entry in range(starts[set_items[begin]], starts[set_items[begin] + 1]):
            here = cluster[entry]
            places[0] = entry
            which[0] = False
            together = True
            over = False
            for j in range(1, length):
                end = starts[set_items[begin + j] + 1]
                at = places[j]
                few = at + FEW
                while at < end and cluster[at] < here:
                    at += 1
                    if at == few:
                        at = first_not_below(cluster, at, end, here)
                places[j] = at
                which[j] = False
                over = over or at == end
                together = together and at < end and cluster[at] == here
                if not together:
                    break
            if over:
                break
            if not together:
                continue
            size = sizes[here]
            parts = 0
            least = _NONE
            often = _NONE
            upper = size
            mean = 1.0
            for j in range(length):
                if which[j]:
                    continue
                entry_j = places[j]
                chunk = entry_chunk[entry_j]
                often, at_most = told[entry_j], most[entry_j]
                if chunk >= 0:
                    alone = True
                    for i in range(j + 1, length):
                        alone = alone and entry_chunk[places[i]] != chunk
                    if not alone:
                        often = _subrecords_with(
                            places, which, chunk, j, length, entry_chunk, row_starts, row_ends, rows, counts, found
                        )
                        at_most = often
                parts += 1
                least += often if parts == 1 else often - size
                upper = min(upper, at_most)
                mean = mean * often if parts == 1 else mean * often / size
                if often == 0:  # then all four stay as they are
                    break
            certain[one] += max(least, 0)
            possible[one] += upper
            expected[one] += mean
            if parts == 1 and entry_chunk[entry] >= 0:
                inside[one] += often


@kernel
def frequent_pairs(
    first,
    last,
    items,
    is_frequent,
    weights,
    threshold,
    limit,
    starts,
    cluster,
    entry_chunk,
    told,
    most,
    row_starts,
    row_ends,
    rows,
    counts,
    sizes,
    entry_item,
    in_cluster_starts,
    in_cluster,
    offsets,
    codes,
    control,
):
    """Return the pairs of `items[first]` to before `items[last]` with a later frequent item that reach the threshold, and their number.

    What counts of a pair in two chunks is the sum of `weights` times: certain, possible, expected. A search with more pairs than the limit
    ends soon.
    """
    width = len(is_frequent)
    total = np.zeros(width, np.float64)
    beside = np.zeros(width, np.int64)
    met = np.zeros(width, np.bool_)
    all_met = np.empty(width, np.int64)
    here = np.empty(width, np.int64)
    pairs = np.empty(2048, np.int64)
    n = 0
    for place in range(first, last):
        if control[STOP] != 0 or n > limit:
            break
        item = items[place]
        n_met = 0
        for entry in range(starts[item], starts[item + 1]):
            chunk = entry_chunk[entry]
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
                total[other] += beside[other]
                beside[other] = 0
                if not met[other]:
                    met[other] = True
                    all_met[n_met] = other
                    n_met += 1
            size = sizes[cluster[entry]]
            at = in_cluster_starts[cluster[entry] + 1] - 1
            while at >= in_cluster_starts[cluster[entry]]:
                second = in_cluster[at]
                other = entry_item[second]
                at -= 1
                if other <= item:
                    break
                if not is_frequent[other] or (chunk >= 0 and entry_chunk[second] == chunk):
                    continue
                value = weights[0] * max(told[entry] + told[second] - size, 0)
                value += weights[1] * min(most[entry], most[second])
                value += weights[2] * (np.float64(told[entry]) * told[second] / size)
                total[other] += value
                if not met[other]:
                    met[other] = True
                    all_met[n_met] = other
                    n_met += 1
        for at in range(n_met):
            other = all_met[at]
            if total[other] >= threshold:
                if n == len(pairs):
                    pairs = doubled(pairs, n)
                pairs[n] = item * width + other
                n += 1
            total[other] = 0.0
            met[other] = False
        control[DONE] = place - first + 1
    return pairs, n
