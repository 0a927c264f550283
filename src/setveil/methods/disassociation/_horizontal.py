"""Form clusters by the most frequent items (HORPART), and hold the result of every way to form clusters.

Paper    terrovitis2012, algorithm HORPART, from our notes: we did not have the paper; awad2020, section 2.1.
Idea     separate the records with the most frequent item from the others, and split both sides again until each has at most delta records.
Departs  with `safe`, no part is split by an item that fewer than k of its records hold; it is split evenly instead, in the order of
         content. A cluster that is still below k records joins the one made just before it, and the very first one joins the next, so
         delta may be exceeded. Without `safe`, clusters of one record would be published as they are.
         `flat` follows the description in awad2020: repeatedly take at most delta records with the most frequent item of the rest.
         Records are taken in the order of their content, so clusters depend on the data and not on the order of a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.data.records.ragged import offsets_of, owner_of, places_of
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.disassociation._horizontal_kernels import Parts

Mode = Literal["recursive", "flat"]


@dataclass(frozen=True)
class Clustering:
    """Records in clusters: those of cluster c are `rows[starts[c]:starts[c + 1]]`."""

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of records in each cluster."""
        return np.diff(self.starts)

    def numbers(self) -> NDArray[np.int64]:
        """Return the cluster of each record."""
        found = np.empty(len(self.rows), np.int64)
        found[self.rows] = owner_of(self.starts)
        return found

    @classmethod
    def of_ends(cls, rows: NDArray[np.int64], ends: NDArray[np.int64]) -> Clustering:
        """Return the clusters, given where each of them ends."""
        return cls(rows, np.concatenate((np.zeros(1, np.int64), ends)))


def by_frequency(data: Transactions, k: int, delta: int, *, safe: bool, mode: Mode) -> Clustering:
    """Form clusters by the most frequent items."""
    return _with_ends(*_split(data, k if safe else 1, delta, mode), k if safe else 1)


def by_frequency_of_parts(data: Transactions, part: NDArray[np.int64], k: int, delta: int, *, safe: bool) -> Clustering:
    """Form clusters of records that are in parts of a tree already: `part` is the part of each, from 0, in the order of their clusters."""
    least = k if safe else 1
    rows, ends = [], []
    starts, places = places_of(part, int(part.max()) + 1)
    for first, last in pairwise(starts.tolist()):
        mine = places[first:last]
        order, own_ends = _split(data.take(mine), least, delta, "recursive")
        rows.append(mine[order])
        ends.append(first + own_ends)
    return _with_ends(np.concatenate(rows), np.concatenate(ends), least)


def _with_ends(rows: NDArray[np.int64], ends: NDArray[np.int64], least: int) -> Clustering:
    """Return the clusters that end at these places; those with fewer than `least` records join others."""
    from setveil.methods.disassociation import _horizontal_kernels as kernels  # noqa: PLC0415 - imports Numba

    return Clustering.of_ends(rows, ends[: kernels.joined(ends, least)])


def _split(data: Transactions, least: int, delta: int, mode: Mode) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the records in the order of clusters, and where each cluster ends; some may have fewer than `least` records."""
    from setveil.methods.disassociation import _horizontal_kernels as kernels  # noqa: PLC0415 - imports Numba

    rows = data.content_order()
    records = kernels.Records(data.offsets, data.items)
    limits = kernels.Limits(least, delta)
    is_end = np.zeros(data.records, np.bool_)

    def split(control: NDArray[np.int64]) -> None:
        if mode == "flat":
            starts, listed = offsets_of(data.supports), np.empty(data.occurrences, np.int64)
            kernels.list_holders(records, rows, starts[:-1].copy(), listed)
            holders = kernels.Holders(starts, listed)
            kernels.split_flat(records, holders, limits, data.supports.copy(), rows, is_end, control)
        else:
            entries = kernels.Entries(np.empty(data.occurrences, np.int32), np.empty(data.occurrences, np.int64))
            parts = _new_parts(data.records, len(data.vocabulary), delta)
            kernels.split_by_frequency(records, data.supports, limits, parts, entries, rows, is_end, control)

    run("forming clusters", split, total=data.records)
    return rows, np.flatnonzero(is_end) + 1


def _new_parts(records: int, width: int, delta: int) -> Parts:
    """Return room for the parts of records with `width` items."""
    from setveil.methods.disassociation import _horizontal_kernels as kernels  # noqa: PLC0415 - imports Numba

    # A part has more than delta rows and at most half of those of the part before it. One more counts rows that become a cluster.
    levels = (records // delta).bit_length() + 2
    rows = 2 * records + 1
    by_part = [np.zeros(levels + 1, np.int64) for _ in range(6)]
    by_item = [np.zeros((levels, width), dtype) for dtype in (np.int32, np.int32, np.int64, np.int64)]
    by_row = [np.zeros(rows, dtype) for dtype in (np.int64, np.int64, np.int8, np.int64)]
    room: Any = (*by_part, *by_item, *by_row, np.empty(records, np.int64))
    return kernels.Parts(*room)
