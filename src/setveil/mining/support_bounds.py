"""Bounds of the supports of itemsets in disassociated data, without assembling records.

A *reconstruction* assigns the subrecords of each record chunk of a cluster to records of the cluster, at most one per record, and each item
of the term chunk to at least one record (spec of disassociation, sections 1, 7 and 8). In a cluster of size n the chunks divide an itemset
into p parts; an item of the term chunk is a part of its own. The count s_i of part i is the number of subrecords that hold it, or 1 for
an item of the term chunk.

inside    s_1 if one record chunk holds the whole itemset, otherwise 0: occurrences that are published unchanged.
certain   max(0, s_1 + ... + s_p - (p - 1) n): sets of s_i out of n records have at least that many in common. No reconstruction has fewer.
possible  the smallest s_i of the record chunks, or n if there is none: no reconstruction has more.
expected  n (s_1 / n) ... (s_p / n): the mean if subrecords, and each item of the term chunk, go to random records.

All are sums over the clusters. Some reconstruction reaches `certain`, and some reaches `possible`, unless a record would be empty then.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.data.forms.disassociated import Disassociated
from setveil.data.records.ragged import distinct, owner_of, sealed, starts_of
from setveil.kernels.threads import share, with_threads
from setveil.mining.cluster_index import ClusterIndex
from setveil.mining.supports import codes_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from setveil.mining.itemsets import Itemsets

Reading: TypeAlias = Literal["expected", "certain", "possible", "inside"]
"""The figures that can be used as the support of an itemset in disassociated data."""
SETS_AT_ONCE = 1024
"""Number of sets per part of the work."""


@dataclass(frozen=True, eq=False)
class SupportBounds:
    """Bounds of the number of records that hold each itemset, as `support_bounds` returns them.

    Attributes
    ----------
    inside : array of int64
        Occurrences inside one record chunk.
    certain : array of int64
        Lower bound of the support.
    possible : array of int64
        Upper bound of the support.
    expected : array of float64
        Mean support over random assemblies of the chunks.
    """

    inside: NDArray[np.int64]
    certain: NDArray[np.int64]
    possible: NDArray[np.int64]
    expected: NDArray[np.float64]

    def __post_init__(self) -> None:
        for one in fields(self):
            getattr(self, one.name).flags.writeable = False

    def __len__(self) -> int:
        return len(self.inside)

    def of(self, reading: Reading) -> NDArray[Any]:
        """Return one of the four figures by its name."""
        found: NDArray[Any] = getattr(self, reading)
        return found

    def take(self, chosen: NDArray[Any]) -> SupportBounds:
        """Return the bounds of some itemsets, chosen by their numbers or by a mask."""
        return SupportBounds(*(getattr(self, one.name)[chosen] for one in fields(self)))


@with_threads
@check_arguments
def support_bounds(
    data: Disassociated,
    itemsets: Itemsets | Iterable[Iterable[str]] | tuple[NDArray[Any], NDArray[Any]],
    *,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> SupportBounds:
    """Return bounds of the support of each itemset in disassociated data.

    Parameters
    ----------
    data : Disassociated
        The data to count in.
    itemsets : Itemsets, iterable of lists of str, or pair of arrays
        The itemsets, as `supports` accepts them. An item that is in no chunk makes all four figures 0. Every record holds the empty set.
    threads : int, optional
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    SupportBounds
        Four arrays with one entry per itemset: `inside`, `certain`, `possible` and `expected`.

    Raises
    ------
    BadData
        If no records can have these chunks: an item is in two chunks of a cluster, or a chunk is larger than its cluster.

    Examples
    --------
    >>> import setveil as sv
    >>> chunks = [[(["milk"], 2)], [(["tea"], 2)]]
    >>> data = sv.Disassociated.from_clusters([{"size": 3, "record_chunks": chunks, "term_chunk": ["wine"]}])
    >>> found = sv.support_bounds(data, [["milk"], ["milk", "tea"], ["tea", "wine"]])
    >>> found.inside.tolist(), found.certain.tolist(), found.possible.tolist(), found.expected.round(2).tolist()
    ([2, 0, 0], [2, 1, 0], [2, 2, 2], [2.0, 1.33, 0.67])
    """
    return bounds_of(ClusterIndex.of(data), *codes_in(data.subrecords, itemsets))


def bounds_of(index: ClusterIndex, offsets: NDArray[np.int64], codes: NDArray[np.int64]) -> SupportBounds:
    """Return the bounds of itemsets given as codes; -1 is an item that is not in the data. The index can be reused."""
    from setveil.mining import _support_bounds_kernels  # noqa: PLC0415 - imports Numba

    kernels: Any = _support_bounds_kernels  # without types, since Numba infers them
    n_sets = len(offsets) - 1
    figures = kernels.Figures(*(np.zeros(n_sets, kind) for kind in (np.int64, np.int64, np.int64, np.float64)))
    for found in figures:
        found[np.diff(offsets) == 0] = index.data.records
    sets, columns = kernels.Sets(*_from_rarest_on(index, offsets, codes)), kernels.Index(*index.columns)
    share(
        "counting itemsets",
        range(0, n_sets, SETS_AT_ONCE),
        lambda first, control: kernels.bound_sets(
            first, min(first + SETS_AT_ONCE, n_sets), sets, columns, figures, control
        ),
        total=n_sets,
    )
    return SupportBounds(*figures)


def _from_rarest_on(
    index: ClusterIndex, offsets: NDArray[np.int64], codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sets with distinct items, the one in the fewest clusters first; sets with an item that does not occur become empty."""
    n_sets, width = len(offsets) - 1, max(len(index.data.vocabulary), 1)
    set_of = owner_of(offsets)
    clusters = np.append(np.diff(index.starts), 0)  # the last entry is for the code -1
    is_possible = np.ones(n_sets, dtype=np.bool_)
    is_possible[set_of[clusters[codes] == 0]] = False
    keep = is_possible[set_of]
    by_clusters = np.argsort(clusters[:-1], kind="stable")
    rank = np.empty(len(by_clusters), dtype=np.int64)
    rank[by_clusters] = np.arange(len(by_clusters))
    keys = distinct(set_of[keep] * width + rank[codes[keep]])
    set_offsets = starts_of(keys // width, n_sets)
    items = by_clusters[keys % width] if len(keys) else np.empty(0, np.int64)
    return sealed(set_offsets, np.int64), sealed(items, np.int64)
