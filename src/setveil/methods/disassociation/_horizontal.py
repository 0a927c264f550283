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
from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.data.records.ragged import offsets_of, owner_of, read_only
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

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
    from setveil.methods.disassociation import _horizontal_kernels as kernels  # noqa: PLC0415 - imports Numba

    rows = data.content_order()
    starts = offsets_of(data.supports)
    holders = np.empty(data.occurrences, np.int64)
    ends = np.empty(data.records, np.int64)

    def split(control: NDArray[np.int64]) -> int:
        kernels.list_holders(data.offsets, data.items, rows, starts[:-1].copy(), holders)
        arrays = (data.offsets, data.items, read_only(starts), read_only(holders))
        if mode == "flat":
            counts = data.supports.copy()
            clusters = kernels.split_flat(*arrays, k, delta, safe, counts, rows, ends, control)
        else:
            width = len(data.vocabulary)
            clusters = kernels.split_by_frequency(*arrays, width, k, delta, safe, rows, ends, control)
        return int(kernels.joined(ends, clusters, k) if safe else clusters)

    clusters = run("forming clusters", split, total=data.records)
    return Clustering.of_ends(rows, ends[:clusters])
