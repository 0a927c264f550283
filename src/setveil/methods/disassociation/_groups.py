"""Form clusters from groups of records, such as those of ants: cut large groups, and cluster the rest by frequent items.

Idea     a group above delta records is cut into even parts. Groups below k records, and records without a group, form a pool that is
         clustered by frequent items. A pool that is itself below k records joins the last cluster.
Departs  without `safe`, groups are cut as awad2020 prints it (algorithm 4): delta records at a time, whatever remains, and groups below k
         records stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import offsets_of, owner_of, runs
from setveil.methods.disassociation._horizontal import Clustering, Mode, by_frequency

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

NO_GROUP = -1


def of_groups(
    data: Transactions,
    group: NDArray[np.int64],
    order: NDArray[np.int64],
    k: int,
    delta: int,
    *,
    safe: bool,
    mode: Mode,
) -> tuple[Clustering, dict[str, Any]]:
    """Return clusters and an account, given the group of each record and the order in which the records of a group are cut."""
    sizes = np.bincount(group[group != NO_GROUP], minlength=1)
    small = (sizes > 0) & (sizes < k) & safe
    kept = (sizes > 0) & ~small
    pooled = (group == NO_GROUP) | ~kept[group]
    rows = order[~pooled[order]]
    rows = rows[np.argsort(group[rows], kind="stable")]
    ends = _cut(sizes[kept], k, delta, safe=safe)
    pool = np.flatnonzero(pooled)
    if 0 < len(pool) < k and safe and len(ends):
        ends[-1] += len(pool)
        rows = np.concatenate((rows, pool))
    elif len(pool):
        rest = by_frequency(data.take(pool, ids=None), k, delta, safe=safe, mode=mode)
        ends = np.concatenate((ends, len(rows) + rest.starts[1:]))
        rows = np.concatenate((rows, pool[rest.rows]))
    account = {
        "groups-split": int(np.count_nonzero(sizes[kept] > delta)),
        "groups-joined-to-the-rest": int(np.count_nonzero(small)),
        "records-of-the-rest": len(pool),
    }
    return Clustering.of_ends(rows, ends), account


def _cut(sizes: NDArray[np.int64], k: int, delta: int, *, safe: bool) -> NDArray[np.int64]:
    """Return where each part ends; with `safe`, parts are even and none is below k records."""
    parts = -(-sizes // delta)
    if safe:
        parts = np.minimum(parts, sizes // k)
    of_part = owner_of(offsets_of(parts))
    place = runs(np.ones_like(parts), parts)
    size = sizes[of_part]
    within = size * place // parts[of_part] if safe else np.minimum(place * delta, size)
    return offsets_of(sizes)[of_part] + within
