"""The expected number of records that hold each pair of some items: what many models need to know of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from setveil.data.records.ragged import offsets_of, owner_of, record_ranges, sums_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

OCCURRENCES_AT_ONCE = 1 << 22
"""Number of occurrences of rows that are multiplied together; it limits the memory."""


class PairSupports(NamedTuple):
    """The expected number of records that hold each item and each pair of some items."""

    counts: NDArray[np.float64]
    """A symmetric matrix: the expected support of each pair, and on the diagonal that of each item."""
    records: float
    """The number of records."""

    @property
    def items(self) -> NDArray[np.float64]:
        """The expected support of each item."""
        return self.counts.diagonal()


def as_table(rows: Transactions, labels: Sequence[str]) -> csr_array:
    """Return rows as a sparse table of zeros and ones with one column per label; other items are ignored."""
    number_of = {label: number for number, label in enumerate(labels)}
    numbers = np.array([number_of.get(label, -1) for label in rows.vocabulary], np.int64)
    column = numbers[rows.items] if len(numbers) else np.empty(0, np.int64)
    known = column >= 0
    offsets = offsets_of(sums_within(rows.offsets, known))
    short = np.int32 if offsets[-1] < 2**31 else np.int64  # scikit-learn takes short indices only
    cells = np.ones(int(offsets[-1])), column[known].astype(short), offsets.astype(short)
    return csr_array(cells, shape=(rows.records, len(labels)))


def count_pairs(
    table: csr_array, weights: NDArray[np.float64] | None = None, *, total: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the sum over rows r of w_r x_r x_r', for a sparse table with rows x_r; a weight is 1 by default.

    The sum is added to `total`, if it is given.
    """
    total = np.zeros((table.shape[1], table.shape[1])) if total is None else total
    for first, last in record_ranges(table.indptr.astype(np.int64), OCCURRENCES_AT_ONCE, OCCURRENCES_AT_ONCE):
        block = table[first:last]
        weighted = block if weights is None else scaled(block, weights[first:last])
        product = (block.T @ weighted).tocoo()
        total[product.row, product.col] += product.data
    return total


def scaled(table: csr_array, weights: NDArray[np.float64]) -> csr_array:
    """Return a sparse table with each row multiplied by its weight."""
    values = table.data * np.repeat(weights, np.diff(table.indptr))
    return csr_array((values, table.indices, table.indptr), shape=table.shape)


def sums_of_rows(table: csr_array, owners: NDArray[np.int64], how_many: int) -> csr_array:
    """Return the sum of the rows of each owner; owners are from 0 to `how_many` - 1."""
    width = max(table.shape[1], 1)
    keys = owners[owner_of(table.indptr.astype(np.int64))] * width + table.indices
    distinct, inverse = np.unique(keys, return_inverse=True)
    offsets = np.searchsorted(distinct, np.arange(how_many + 1) * width)
    values = np.bincount(inverse, table.data, minlength=len(distinct))
    return csr_array((values, distinct % width, offsets), shape=(how_many, table.shape[1]))


class Linked(NamedTuple):
    """Groups of records that are shown in parts; which parts belong to the same record is not shown.

    Each part of a group goes to random records of the group, independently of the other parts. If n records have item i in one part and
    m have item j in another, n m / size records are expected to have both.
    """

    sizes: NDArray[np.int64]
    """The number of records of each group."""
    parts: csr_array
    """How often each part holds each item; a part that is one item only is in `single`."""
    group_of_part: NDArray[np.int64]
    single: csr_array
    """How often each group holds each item that is a part of its own."""

    @property
    def whole(self) -> csr_array:
        """How often each group holds each item, in all its parts together."""
        return csr_array(sums_of_rows(self.parts, self.group_of_part, len(self.sizes)) + self.single)

    def between_parts(self) -> NDArray[np.float64]:
        """Return the expected number of records that hold each pair of items of different parts; the diagonal has no meaning."""
        of_groups = 1 / np.maximum(self.sizes, 1)
        return count_pairs(self.whole, of_groups) - count_pairs(self.parts, of_groups[self.group_of_part])


def with_diagonal(counts: NDArray[np.float64], items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix of pairs with the supports of items as its diagonal, and nothing below 0, where rounding leads."""
    counts = np.maximum(counts, 0)
    np.fill_diagonal(counts, items)
    return counts
