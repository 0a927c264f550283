"""The negative border: the minimal infrequent itemsets, which are not frequent although all their proper subsets are.

How      a set of k + 1 items is minimal infrequent only if its subsets of k items are frequent. Two of these differ in their last item
         only, so frequent sets that share all items but the last are joined. Joined sets that are frequent, or have an infrequent subset,
         are discarded; the others are counted. Nothing is mined below the threshold, where there may be trillions of sets.
         Items are numbered by rising support, which gives the fewest sets with common first items.
Cost     grows with the number of joins, which is known in advance: all pairs of frequent items, and few more if there are many pairs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.in_blocks import as_records, in_blocks
from setveil.data.records.ragged import offsets_of, record_ranges, runs, sums_within
from setveil.errors import BadParameter, TooManyItemsets
from setveil.mining.itemsets import Itemsets
from setveil.mining.lookup import Lookup, recoded
from setveil.mining.pair_counts import count_pairs
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.engines.blocks import BlockKey

LIMIT = 20_000_000
"""Default limit on the number of joins: all pairs of some 6,000 items."""
JOINS_AT_ONCE = 1 << 20
"""Number of joins made together: each takes some ten bytes per item."""
SETS_AT_ONCE = 1 << 21
"""Number of sets whose supports are counted together, which takes some hundred bytes per set."""
LOOKUP_COST = 64
"""Looking up one pair of items takes about as long as counting this many pairs within records."""


def minimal_infrequent(itemsets: Itemsets, data: Transactions, *, limit: int = LIMIT) -> Itemsets:
    """Return the itemsets that are not frequent although all their proper subsets are, by rising length.

    `itemsets` must be all frequent itemsets of these data. The empty set counts as frequent, so the result contains the infrequent items;
    items that no record holds are excluded, because the data do not show them. Sets of several items may have a support of 0.

    >>> from setveil import from_lists
    >>> from setveil.mining.frequent import mine
    >>> data = from_lists([["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["d"]])
    >>> minimal_infrequent(mine(data, 2), data).to_lists()
    [['d'], ['a', 'b', 'c']]
    """
    if itemsets.vocabulary != data.vocabulary:
        raise BadParameter("the items of the frequent itemsets differ from those of the data; mine these data")
    width = max(len(data.vocabulary), 1)
    code_of = np.argsort(data.supports, kind="stable")
    rank = np.empty(len(code_of), dtype=np.int64)
    rank[code_of] = np.arange(len(code_of))
    items = recoded(itemsets.offsets, itemsets.items, rank, width)
    levels = [_level(itemsets, items, length) for length in range(1, itemsets.longest + 1)]
    joins = [_joins(table) for table in levels]
    number = sum(int(one.sum()) for one in joins)
    if number > limit:
        raise TooManyItemsets(
            f"{number:,} itemsets may be minimal infrequent; the limit is {limit:,}. Try a higher support",
            found=number,
            exact=False,
        )
    frequent = Lookup(itemsets.offsets, items, width)
    found = [_rare_items(itemsets, data)]
    for table, later in zip(levels, joins, strict=True):
        kept = [np.empty((0, table.shape[1] + 1), dtype=np.int32)]
        kept += [_minimal(frequent, table, left, right) for left, right in _pairs(later, JOINS_AT_ONCE)]
        codes = code_of.astype(np.int32)[np.concatenate(kept)]
        codes.sort(axis=1)
        found.append(codes)
    border = _with_supports(found, data)
    # If a frequent set were missing, the smallest such set, or one of its subsets, would be in the border.
    if len(itemsets) and border.supports.max(initial=-1) >= itemsets.supports.min():
        raise BadParameter(
            "the border needs all frequent itemsets of the data, but at least one is missing; mine with kind 'all' and without limits on "
            "the length"
        )
    return border


def _level(itemsets: Itemsets, items: NDArray[np.int32], length: int) -> NDArray[np.int32]:
    """Return the sets of `length` items as the rows of a table, in rising order."""
    table: NDArray[np.int32] = items[itemsets.offsets[:-1][itemsets.lengths == length][:, None] + np.arange(length)]
    return table[np.lexsort(table.T[::-1])]


def _joins(table: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return for each row the number of rows directly after it that differ from it in the last item only."""
    is_first = np.ones(len(table), dtype=bool)
    is_first[1:] = (table[1:, :-1] != table[:-1, :-1]).any(axis=1)
    return _later(np.diff(np.flatnonzero(np.append(is_first, True))))


def _later(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each position in groups of these lengths the number of later positions in its group."""
    ends = np.repeat(np.cumsum(lengths), lengths)
    return ends - np.arange(len(ends)) - 1


def _pairs(later: NDArray[np.int64], at_once: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield, in blocks, each position paired with each of the `later` positions directly after it."""
    starts = offsets_of(later)
    for first, last in record_ranges(starts, at_once, at_once):
        left = np.repeat(np.arange(first, last), later[first:last])
        yield left, runs(np.arange(first + 1, last + 1), later[first:last])


def _minimal(
    frequent: Lookup, table: NDArray[np.int32], left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the joined rows that are not frequent although all subsets with one item less are."""
    joined = np.column_stack((table[left], table[right, -1]))
    joined = joined[~_among(frequent, joined)]
    for column in range(joined.shape[1] - 2):  # without one of its last two items, a set is one of the joined rows
        joined = joined[_among(frequent, np.delete(joined, column, axis=1))]
    return joined


def _among(sets: Lookup, table: NDArray[np.int32]) -> NDArray[np.bool_]:
    rows, length = table.shape
    return sets.places(np.arange(rows + 1, dtype=np.int64) * length, table.ravel()) >= 0


def _rare_items(itemsets: Itemsets, data: Transactions) -> NDArray[np.int32]:
    """Return the items that records hold and that are not frequent, as a table of one column."""
    rare = data.supports > 0
    rare[itemsets.items[itemsets.offsets[:-1][itemsets.lengths == 1]]] = False
    return np.flatnonzero(rare).astype(np.int32)[:, None]


def _with_supports(tables: list[NDArray[np.int32]], data: Transactions) -> Itemsets:
    """Return the sets of all tables, one table per length, with their supports."""
    lengths = np.concatenate([np.full(len(table), table.shape[1]) for table in tables])
    offsets = offsets_of(lengths)
    items = np.concatenate([table.ravel() for table in tables])
    held = np.concatenate([_supports(table, data) for table in tables])
    return Itemsets(offsets, items, held, data.vocabulary, data.records)


def _supports(table: NDArray[np.int32], data: Transactions) -> NDArray[np.int64]:
    rows, length = table.shape
    if length == 1:
        return data.supports[table[:, 0]]
    if length == 2:
        counted = _counted_pairs(table, data)
        if counted is not None:
            return counted
    result = np.empty(rows, dtype=np.int64)
    for first in range(0, rows, SETS_AT_ONCE):
        part = table[first : first + SETS_AT_ONCE]
        offsets = np.arange(len(part) + 1, dtype=np.int64) * length
        result[first : first + len(part)] = supports(data, (offsets, part.ravel()))
    return result


def _counted_pairs(table: NDArray[np.int32], data: Transactions) -> NDArray[np.int64] | None:
    """Return the supports of pairs, counted over all pairs within records; None if looking them up is faster."""
    used = np.zeros(len(data.vocabulary), dtype=bool)
    used[table.ravel()] = True
    number_of, n_used = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32), int(np.count_nonzero(used))
    blocks = in_blocks(data)
    if blocks.fold("counting items", partial(_pairs_within, used))[0] > LOOKUP_COST * len(table):
        return None
    held = count_pairs(blocks, number_of, n_used, n_used**2)
    low, high = number_of[table].T.astype(np.int64)
    result: NDArray[np.int64] = held[low * n_used + high]
    return result


def _pairs_within(used: NDArray[np.bool_], block: Any, key: BlockKey) -> NDArray[np.int64]:
    """Count the pairs of used items within the records of a block."""
    del key
    data = as_records(block, ())
    lengths = sums_within(data.offsets, used[data.items])
    return np.array([(lengths * (lengths - 1) // 2).sum()])
