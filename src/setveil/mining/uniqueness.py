"""Count the records that a few known items identify uniquely.

A record is *unique by m known items* if no other record holds all items of some set of at most m of its items: an attacker who knows these
items of a person finds the person's record. Supports fall as sets grow, so only sets of m items matter, or the whole record if it is
shorter. A record is never unique if it has no items, or if another record has exactly the same items.

The search is exact. Records of equal content are merged. Then, level by level, the rows of an item are scanned for more frequent items
(m = 2), and the rows of a pair for a third item (m = 3). The search skips rows without a record that is still undecided, and stops as soon
as no item can identify a record. Marks of one level are kept for the next, so long records, of which most are unique by two items already,
cost little.

Cost     m = 2: at most the pairs of all records, m = 3: at most their triples; measured in benchmarks/bench_profile.py.
         Memory: about 80 bytes per occurrence, measured on 11 million.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.data.records.ragged import distinct, sorted_within
from setveil.kernels.threads import number_of_threads, run, share

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

PARTS_PER_THREAD = 32
"""Number of parts per thread: enough that all threads end at about the same time."""


def unique_records(data: Transactions, known: int) -> list[int]:
    """Return the numbers of records unique by 1, 2, … `known` items, as in `Profile.unique`, without a whole profile.

    The result is cached in the data.
    """
    key = (unique_records.__qualname__, known)
    if key not in data.remembered:
        contents = content_numbers(data)
        data.remembered[key] = unique_by_level(data, contents, np.bincount(contents), known)
    found: list[int] = data.remembered[key]
    return found


def content_numbers(data: Transactions) -> NDArray[np.int64]:
    """Return the number of the content of each record; contents are numbered in order of appearance."""
    width = data.items.itemsize
    contents = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), data.records, [None, pa.py_buffer(data.offsets * width), pa.py_buffer(data.items)]
    )
    return np.asarray(contents.dictionary_encode().indices, dtype=np.int64)


def unique_by_level(
    data: Transactions, contents: NDArray[np.int64], copies: NDArray[np.int64], known: int
) -> list[int]:
    """Return the numbers of records unique by 1, 2, … `known` items. The layout is that of `_uniqueness_kernels`: one row per content."""
    from setveil.mining import _uniqueness_kernels  # noqa: PLC0415 - imports Numba

    kernels: Any = _uniqueness_kernels  # without types, since Numba infers them
    n_rows, n_items = len(copies), len(data.vocabulary)
    one_of_each = np.empty(n_rows, dtype=np.int64)
    one_of_each[contents] = np.arange(data.records)
    one_each = data.take(one_of_each, ids=None)
    row_starts = one_each.offsets.copy()
    items = _recoded_by_support(one_each)
    item_starts = np.empty(n_items + 1, dtype=np.int64)
    places = np.empty(len(items), dtype=np.int64)
    rows = np.empty(len(items), dtype=np.int64)
    layout = kernels.Layout(row_starts, items, item_starts, places, rows)
    run("laying out the records", lambda _control: kernels.invert(n_rows, n_items, layout))

    marks = np.where(copies > 1, kernels.TWIN, kernels.OPEN).astype(np.uint8)
    sole_rows = rows[item_starts[:-1][np.diff(item_starts) == 1]]
    marks[sole_rows[marks[sole_rows] == kernels.OPEN]] = kernels.UNIQUE
    shared = kernels.Marks(marks, np.arange(n_rows, dtype=np.int64))
    counts = [int(np.count_nonzero(marks == kernels.UNIQUE))]

    # Maximum cost of each item: the scan of its rows to their ends, and for triples all pairs of its undecided rows.
    following = np.repeat(row_starts[1:], one_each.lengths) - np.arange(1, len(items) + 1)
    pairs = np.bincount(items, weights=following, minlength=n_items).astype(np.int64)

    def search(level: int, work: Callable[[tuple[int, int], Any], None], costs: NDArray[np.int64]) -> None:
        parts = _parts(costs, number_of_threads() * PARTS_PER_THREAD)
        share(f"looking for records unique by {level} items", parts, work, total=int(costs.sum()))
        counts.append(int(np.count_nonzero(marks == kernels.UNIQUE)))

    if known >= 2:
        search(2, lambda part, control: kernels.search_pairs(*part, layout, shared, pairs, control), pairs)
    if known >= 3:
        candidate = np.repeat(marks == kernels.OPEN, one_each.lengths)
        inner_pairs = np.where(candidate, following * (following - 1) // 2, 0)
        costs = pairs + np.bincount(items, weights=inner_pairs, minlength=n_items).astype(np.int64)
        search(3, lambda part, control: kernels.search_triples(*part, layout, shared, pairs, costs, control), costs)
    return counts


def _recoded_by_support(data: Transactions) -> NDArray[np.int32]:
    """Return the items of all records, numbered by rising support and sorted within each record."""
    rank = np.empty(len(data.vocabulary), dtype=np.int64)
    rank[np.argsort(data.supports, kind="stable")] = np.arange(len(rank))
    return sorted_within(data.offsets, rank[data.items], len(rank)).astype(np.int32)


def _parts(costs: NDArray[np.int64], wanted: int) -> list[tuple[int, int]]:
    """Divide the items into at most `wanted` ranges of about equal cost, the rarest items first, because they mark most rows."""
    up_to = np.cumsum(costs + 1)
    cuts = np.searchsorted(up_to, np.arange(1, wanted) * (up_to[-1:].sum() / wanted))
    bounds = distinct(np.concatenate(([0], cuts, [len(costs)]))).tolist()
    return list(pairwise(bounds))
