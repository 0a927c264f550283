"""How many records a few known items single out.

A record is *unique by m known items* if it holds some set of at most m items that no other record holds all of: whoever
knows these items of a person finds the person's record. Supports fall as sets grow, so that only sets of m items
matter, or the whole record where it is shorter. A record with a twin, or without items, is never unique.

The search is exact. Records of equal content are laid together; then, level by level, an item's rows are scanned for
hotter items (m = 2), and the rows of a pair for a third (m = 3), skipping whatever holds no record that is still open,
and stopping as soon as no item can be a sole one. Marks of one level carry over to the next, which is why long records,
mostly unique by two items already, cost little.

Cost     m = 2: the pairs of all records, m = 3: their triples, at most; measured in benchmarks/bench_profile.py.
         Memory: about 80 bytes an occurrence, measured on 11 million.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.data.records.ragged import sorted_within
from setveil.kernels.threads import number_of_threads, run, share

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

PARTS_PER_THREAD = 32
"""Enough that all threads end at about the same time."""


def unique_records(data: Transactions, known: int) -> list[int]:
    """Return how many records are unique by 1 ... `known` items: the figures of `Profile.unique`, without the rest of a profile."""
    contents = content_numbers(data)
    return unique_by_level(data, contents, np.bincount(contents), known)


def content_numbers(data: Transactions) -> NDArray[np.int64]:
    """Return for each record the number of its content; contents are numbered in order of appearance."""
    width = data.items.itemsize
    contents = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), data.records, [None, pa.py_buffer(data.offsets * width), pa.py_buffer(data.items)]
    )
    return np.asarray(contents.dictionary_encode().indices, dtype=np.int64)


def unique_by_level(
    data: Transactions, contents: NDArray[np.int64], copies: NDArray[np.int64], known: int
) -> list[int]:
    """Count the records unique by 1 ... `known` items. The layout is that of `_uniqueness_kernels`: one row a content."""
    from setveil.mining import _uniqueness_kernels  # noqa: PLC0415 - imports Numba

    kernels: Any = _uniqueness_kernels  # without types, since Numba infers them
    n_rows, n_items = len(copies), len(data.vocabulary)
    one_of_each = np.empty(n_rows, dtype=np.int64)
    one_of_each[contents] = np.arange(data.records)
    distinct = data.take(one_of_each, ids=None)
    row_starts = distinct.offsets.copy()
    items = _recoded_by_support(distinct)
    item_starts = np.empty(n_items + 1, dtype=np.int64)
    places = np.empty(len(items), dtype=np.int64)
    rows = np.empty(len(items), dtype=np.int64)
    layout = (row_starts, items, item_starts, places, rows)
    run("laying out the records", lambda _control: kernels.invert(n_rows, n_items, *layout))

    marks = np.where(copies > 1, kernels.TWIN, kernels.OPEN).astype(np.uint8)
    sole_rows = rows[item_starts[:-1][np.diff(item_starts) == 1]]
    marks[sole_rows[marks[sole_rows] == kernels.OPEN]] = kernels.UNIQUE
    counts = [int(np.count_nonzero(marks == kernels.UNIQUE))]

    # What each item costs at most: its rows are scanned to their ends, and for triples all pairs of its open rows.
    following = np.repeat(row_starts[1:], distinct.lengths) - np.arange(1, len(items) + 1)
    pairs = np.bincount(items, weights=following, minlength=n_items).astype(np.int64)

    def search(level: int, work: Callable[[tuple[int, int], Any], None], costs: NDArray[np.int64]) -> None:
        parts = _parts(costs, number_of_threads() * PARTS_PER_THREAD)
        share(f"looking for records unique by {level} items", parts, work, total=int(costs.sum()))
        counts.append(int(np.count_nonzero(marks == kernels.UNIQUE)))

    if known >= 2:
        itself = np.arange(n_rows, dtype=np.int64)
        search(2, lambda part, control: kernels.search_pairs(*part, *layout, itself, marks, pairs, control), pairs)
    if known >= 3:
        candidate = np.repeat(marks == kernels.OPEN, distinct.lengths)
        inner_pairs = np.where(candidate, following * (following - 1) // 2, 0)
        costs = pairs + np.bincount(items, weights=inner_pairs, minlength=n_items).astype(np.int64)
        search(3, lambda part, control: kernels.search_triples(*part, *layout, marks, pairs, costs, control), costs)
    return counts


def _recoded_by_support(data: Transactions) -> NDArray[np.int32]:
    """Return the items of all records numbered by rising support, and rising within a record."""
    rank = np.empty(len(data.vocabulary), dtype=np.int64)
    rank[np.argsort(data.supports, kind="stable")] = np.arange(len(rank))
    return sorted_within(data.offsets, rank[data.items], len(rank)).astype(np.int32)


def _parts(costs: NDArray[np.int64], wanted: int) -> list[tuple[int, int]]:
    """Cut the items into at most `wanted` ranges of about equal cost; the rarest come first, as they mark most rows."""
    up_to = np.cumsum(costs + 1)
    cuts = np.searchsorted(up_to, np.arange(1, wanted) * (up_to[-1:].sum() / wanted))
    bounds = np.unique(np.concatenate(([0], cuts, [len(costs)]))).tolist()
    return list(pairwise(bounds))
