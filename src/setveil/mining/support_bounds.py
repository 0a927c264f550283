"""What disassociated data tell of the supports of itemsets, without putting records together again.

A *reconstruction* gives the subrecords of each record chunk of a cluster to records of it, at most one a record, and each item of the term
chunk to at least one record (spec of disassociation, sections 1, 7 and 8). In a cluster of size n the chunks cut an itemset into parts, an
item of the term chunk being a part of its own. Part i is told s_i times: by the subrecords that hold it, or once.

inside    s_1, where the whole itemset is in one record chunk, else 0: what is told as it was.
certain   max(0, s_1 + ... + s_p - (p - 1) n): sets of so many of n records have at least so many in common. No reconstruction has fewer.
possible  the least s_i, those of the term chunk left out, or n: no reconstruction has more.
expected  n (s_1 / n) ... (s_p / n): the mean, where subrecords go to records at random and each item of the term chunk to one of them.

All are sums over the clusters. `certain` and `possible` are reached by a reconstruction, unless that would leave a record empty.
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
"""What can be meant by the support of an itemset in disassociated data."""
SETS_AT_ONCE = 1024
"""Sets of one part of the work."""


@dataclass(frozen=True, eq=False)
class SupportBounds:
    """For each itemset how many records hold it: inside one record chunk, at least, at most, and on average."""

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
        """Return one of the four by its name."""
        found: NDArray[Any] = getattr(self, reading)
        return found

    def take(self, chosen: NDArray[Any]) -> SupportBounds:
        """Return those of the itemsets of these numbers in this order, or those where a mask is true."""
        return SupportBounds(*(getattr(self, one.name)[chosen] for one in fields(self)))


@with_threads
@check_arguments
def support_bounds(
    data: Disassociated,
    itemsets: Itemsets | Iterable[Iterable[str]] | tuple[NDArray[Any], NDArray[Any]],
    *,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> SupportBounds:
    """Return for each itemset what the data tell of the number of records that hold all of its items.

    Itemsets are given as to `supports`. An item that is in no chunk makes all four 0; every record holds the empty set. Data with an item
    in two chunks of a cluster, or a chunk with more subrecords than its cluster has records, are refused.

    >>> chunks = [[(["milk"], 2)], [(["tea"], 2)]]
    >>> data = Disassociated.from_clusters([{"size": 3, "record_chunks": chunks, "term_chunk": ["wine"]}])
    >>> found = support_bounds(data, [["milk"], ["milk", "tea"], ["tea", "wine"]])
    >>> found.inside.tolist(), found.certain.tolist(), found.possible.tolist(), found.expected.round(2).tolist()
    ([2, 0, 0], [2, 1, 0], [2, 2, 2], [2.0, 1.33, 0.67])
    """
    return bounds_of(ClusterIndex.of(data), *codes_in(data.subrecords, itemsets))


def bounds_of(index: ClusterIndex, offsets: NDArray[np.int64], codes: NDArray[np.int64]) -> SupportBounds:
    """Return the same for codes into the vocabulary, -1 being an item that is not there; the index can serve several times."""
    from setveil.mining import _support_bounds_kernels  # noqa: PLC0415 - imports Numba

    kernels: Any = _support_bounds_kernels  # without types, since Numba infers them
    n_sets = len(offsets) - 1
    inside, certain, possible = (np.zeros(n_sets, dtype=np.int64) for _ in range(3))
    expected = np.zeros(n_sets, dtype=np.float64)
    for found in (inside, certain, possible, expected):
        found[np.diff(offsets) == 0] = index.data.records
    set_offsets, set_items = _from_rarest_on(index, offsets, codes)
    sets = (set_offsets, set_items, index.longest)
    share(
        "counting itemsets",
        range(0, n_sets, SETS_AT_ONCE),
        lambda first, control: kernels.bound_sets(
            first,
            min(first + SETS_AT_ONCE, n_sets),
            *sets,
            *index.columns,
            inside,
            certain,
            possible,
            expected,
            control,
        ),
        total=n_sets,
    )
    return SupportBounds(inside, certain, possible, expected)


def _from_rarest_on(
    index: ClusterIndex, offsets: NDArray[np.int64], codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sets with each item once, the one in the fewest clusters first; those with an item that is nowhere become empty."""
    n_sets, width = len(offsets) - 1, max(len(index.data.vocabulary), 1)
    set_of = owner_of(offsets)
    clusters = np.append(np.diff(index.starts), 0)  # the last one is for -1
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
