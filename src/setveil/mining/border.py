"""The border below the frequent itemsets: the minimal infrequent ones, which are not frequent though all that is less of them is.

How      a set of k + 1 items is minimal infrequent only if its parts of k items are frequent, and two of these differ in their last item
         alone: so frequent sets that share all items but the last are joined, what is frequent itself or has a part that is not is left
         out, and the rest is counted. Nothing is mined below the threshold, where there can be trillions of sets.
         Items are numbered by rising support: the sets that share their first items are fewest then.
Cost     grows with the number of joins, which is known before: all pairs of frequent items, and few more where they are many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import offsets_of, owner_of, record_ranges, runs
from setveil.errors import BadParameter, TooManyItemsets
from setveil.mining.itemsets import Itemsets
from setveil.mining.lookup import Lookup, recoded
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

LIMIT = 20_000_000
"""More joins than these are refused, unless another limit is given: all pairs of some 6,000 items."""
JOINS_AT_ONCE = 1 << 20
"""Joins made together: each takes some ten bytes an item."""
PAIRS_AT_ONCE = 1 << 23
"""Pairs within records counted together: each time a table of all pairs of items is added up."""
SETS_AT_ONCE = 1 << 21
"""Sets whose supports are counted together, which takes some hundred bytes a set."""
DEAR = 64
"""Looking a pair of items up takes about as long as counting so many pairs within records."""


def minimal_infrequent(itemsets: Itemsets, data: Transactions, *, limit: int = LIMIT) -> Itemsets:
    """Return the itemsets that are not among the frequent ones of these data while all their proper parts are, the shorter first.

    `itemsets` must be all frequent ones. The empty set counts as frequent, so that an item that is not frequent is among the result; one
    that no record holds is not, since nobody knows of it. Sets of several items may be held by no record.

    >>> from setveil import from_lists
    >>> from setveil.mining.frequent import mine
    >>> data = from_lists([["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["d"]])
    >>> minimal_infrequent(mine(data, 2), data).to_lists()
    [['d'], ['a', 'b', 'c']]
    """
    if itemsets.vocabulary != data.vocabulary:
        raise BadParameter("the frequent itemsets are not of these data: their items differ")
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
            f"{number:,} itemsets may be minimal infrequent ones, more than the {limit:,} that are looked at. Try a higher support",
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
    # Were a frequent set missing, then the smallest such one, or one of its parts, would be among these.
    if len(itemsets) and border.supports.max(initial=-1) >= itemsets.supports.min():
        raise BadParameter(
            "the border needs all frequent itemsets of the data, but one is not among these: closed and maximal ones, and those up to or "
            "from a length on, do not tell which sets are not frequent"
        )
    return border


def _level(itemsets: Itemsets, items: NDArray[np.int32], length: int) -> NDArray[np.int32]:
    """Return the sets of that many items as the rows of a table, in rising order."""
    table: NDArray[np.int32] = items[itemsets.offsets[:-1][itemsets.lengths == length][:, None] + np.arange(length)]
    return table[np.lexsort(table.T[::-1])]


def _joins(table: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return for each row how many later ones differ from it in the last item alone: they stand right behind it."""
    is_first = np.ones(len(table), dtype=bool)
    is_first[1:] = (table[1:, :-1] != table[:-1, :-1]).any(axis=1)
    return _later(np.diff(np.flatnonzero(np.append(is_first, True))))


def _later(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each place in groups of these lengths how many places of its group come after it."""
    ends = np.repeat(np.cumsum(lengths), lengths)
    return ends - np.arange(len(ends)) - 1


def _pairs(later: NDArray[np.int64], at_once: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give each place with each of so many right behind it, in blocks."""
    starts = offsets_of(later)
    for first, last in record_ranges(starts, at_once, at_once):
        left = np.repeat(np.arange(first, last), later[first:last])
        yield left, runs(np.arange(first + 1, last + 1), later[first:last])


def _minimal(
    frequent: Lookup, table: NDArray[np.int32], left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the joined rows that are not frequent while all parts with one item less are."""
    joined = np.column_stack((table[left], table[right, -1]))
    joined = joined[~_among(frequent, joined)]
    for column in range(joined.shape[1] - 2):  # without one of the last two it is one of the joined rows
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
    """Put tables of sets of one length each together, and count the sets."""
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
    """Return the supports of pairs, counted from all pairs within records; None where that would take longer than looking them up."""
    used = np.zeros(len(data.vocabulary), dtype=bool)
    used[table.ravel()] = True
    number_of, n_used = np.cumsum(used) - 1, int(np.count_nonzero(used))
    is_used = used[data.items]
    codes = number_of[data.items[is_used]]
    later = _later(np.bincount(owner_of(data.offsets)[is_used], minlength=data.records))
    if later.sum() > DEAR * len(table):
        return None
    held = np.zeros(n_used * n_used, dtype=np.int64)
    for left, right in _pairs(later, PAIRS_AT_ONCE):
        held += np.bincount(codes[left] * n_used + codes[right], minlength=len(held))
    low, high = number_of[table].T
    result: NDArray[np.int64] = held[low * n_used + high]
    return result
