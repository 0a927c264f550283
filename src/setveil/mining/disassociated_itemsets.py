"""Frequent itemsets of disassociated data, by one of the four figures of `support_bounds`.

No figure grows when an item is added to a set. So every subset of a frequent set is frequent, and the search goes from shorter to longer
sets. In a cluster of size n the new item x is a part of its own, with a count s <= n, or joins a part and does not raise its count s_i:

inside    if x is in the same chunk, at most as many subrecords hold the set with x as without; otherwise the figure becomes 0.
certain   the sum, before it is limited to at least 0, falls by n - s >= 0, or with s_i.
possible  is the minimum of one number more, or of the same numbers with a smaller s_i.
expected  is multiplied by s / n <= 1, or falls with s_i.

Single items are counted first, then pairs cluster by cluster. Longer sets are joined from two frequent sets that differ in their last item
only, and tried if all their subsets are frequent. The expected support is a fraction; it reaches the minimum support if it is less than
one part in 10^9 below it, so that rounding does not decide. Cost: all pairs in each cluster, then as `support_bounds` for each set tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.display import MOST_ROWS, ShownTable, quantity, to_html
from setveil.base.frames import as_pandas
from setveil.data.records.labels import as_arrow
from setveil.data.records.ragged import offsets_of, runs, sealed
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter, TooManyItemsets
from setveil.kernels.control import STOP
from setveil.kernels.threads import share, with_threads
from setveil.mining.cluster_index import ClusterIndex
from setveil.mining.frequent import LIMIT
from setveil.mining.itemsets import are_among_first, table_of_first
from setveil.mining.lookup import Lookup
from setveil.mining.support_bounds import Reading, SupportBounds, bounds_of
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from setveil.data.forms.disassociated import Disassociated

ITEMS_AT_ONCE = 64
"""Number of items per part of the search for pairs."""
TRIED_AT_ONCE = 1 << 20
"""Number of sets that are tried together; it limits the memory."""
_NO_LIMIT = 1 << 62
"""More sets than fit into any memory; compiled loops can count up to this number."""
_ROUNDING = 1e-9
_WEIGHTS = {"inside": (0, 0, 0), "certain": (1, 0, 0), "possible": (0, 1, 0), "expected": (0, 0, 1)}
"""Weights of certain, possible and expected for a pair in two chunks, as parameters of `frequent_pairs`."""


@dataclass(frozen=True, eq=False)
class BoundedItemsets:
    """Itemsets of disassociated data with the bounds of their supports, as `mine_bounds` returns them.

    Attributes
    ----------
    offsets : array of int64
        `items[offsets[s]:offsets[s + 1]]` are the codes of itemset s, in rising order.
    items : array of int32
        Codes: positions in the vocabulary.
    bounds : SupportBounds
        The four figures of each itemset: `inside`, `certain`, `possible`, `expected`.
    reading : {"expected", "certain", "possible", "inside"}
        The figure that makes an itemset frequent.
    vocabulary : tuple of str
        The labels of the items.
    records : int
        The number of records of the data.

    Examples
    --------
    >>> import setveil as sv
    >>> chunks = [[(["milk"], 2)], [(["tea"], 3)]]
    >>> data = sv.Disassociated.from_clusters([{"size": 3, "record_chunks": chunks, "term_chunk": []}])
    >>> found = sv.mine_bounds(data, 2)
    >>> found
    BoundedItemsets(3 sets of up to 2 items, in 3 records)
    >>> found.bounds.certain.tolist()
    [2, 3, 2]
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    bounds: SupportBounds
    reading: Reading
    vocabulary: tuple[str, ...]
    records: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        longest = int(self.lengths.max(initial=0))
        sets = f"{quantity(len(self), 'set')} of up to {quantity(longest, 'item')}"
        return f"BoundedItemsets({sets}, in {quantity(self.records, 'record')})"

    def __str__(self) -> str:
        return self._shown().to_text()

    def _repr_html_(self) -> str:
        return to_html(self._shown())

    def _shown(self) -> ShownTable:
        """Return a table of the itemsets that are most frequent by the chosen figure."""
        first = self.take(are_among_first(self.bounds.of(self.reading))).ordered()
        rows = [
            (", ".join(row.pop("items")), *row.values()) for row in first.to_table().slice(0, MOST_ROWS).to_pylist()
        ]
        return table_of_first(rows, ["items", *get_args(Reading)], self)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of items of each itemset."""
        return np.diff(self.offsets)

    def _as_records(self) -> Transactions:
        return Transactions.of_parts(self.offsets, self.items, self.vocabulary, ids=None, unit="record")

    def take(self, chosen: NDArray[Any]) -> BoundedItemsets:
        """Return some of the itemsets.

        Parameters
        ----------
        chosen : array of int or bool
            The numbers of the itemsets, in the order to return them, or a mask.

        Returns
        -------
        BoundedItemsets
            These itemsets.
        """
        taken = self._as_records().take(chosen)
        bounds = self.bounds.take(chosen)
        return BoundedItemsets(taken.offsets, taken.items, bounds, self.reading, self.vocabulary, self.records)

    def ordered(self) -> BoundedItemsets:
        """Return the itemsets sorted for reading: by falling value of the chosen figure, then by rising length, then in label order."""
        by_content = self._as_records().content_order()
        figures = self.bounds.of(self.reading)[by_content]
        return self.take(by_content[np.lexsort((self.lengths[by_content], -figures))])

    def to_arrow(self) -> Any:
        """Return the itemsets as an Arrow array of lists of labels."""
        texts = as_arrow(self.vocabulary).take(pa.array(self.items))
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), texts)

    def to_lists(self) -> list[list[str]]:
        """Return the itemsets as lists of labels."""
        sets: list[list[str]] = self.to_arrow().to_pylist()
        return sets

    def to_table(self) -> Any:
        """Return an Arrow table with the column `items`, and the numbers of records `expected`, `certain`, `possible` and `inside`."""
        return pa.table({"items": self.to_arrow(), **{name: self.bounds.of(name) for name in get_args(Reading)}})

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns of `to_table`, and items as tuples. It requires pandas."""
        return as_pandas(self.to_table(), tuples="items")


@with_threads
@check_arguments
def mine_bounds(
    data: Disassociated,
    min_support: MinSupport | str | float,
    *,
    support: Reading = "expected",
    min_length: int = 1,
    max_length: int | None = None,
    limit: int = LIMIT,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> BoundedItemsets:
    """Return the frequent itemsets of disassociated data, by one of the four figures for their support.

    Parameters
    ----------
    data : Disassociated
        The data to mine.
    min_support : int, float, str or MinSupport
        Minimum support of an itemset: a number of records (30) or a share of them ("0.1%" or 0.001), which is rounded up.
    support : {"expected", "certain", "possible", "inside"}, default: "expected"
        The figure that is compared with `min_support`: the mean over random assemblies of the chunks, the lower bound, the upper bound, or
        the occurrences inside one record chunk.
    min_length, max_length : int, default: 1 and None
        Minimum and maximum number of items of an itemset.
    limit : int, default: 2,000,000
        Maximum number of itemsets. Itemsets shorter than `min_length` count too, because the search finds them first.
    threads : int, optional
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    BoundedItemsets
        The itemsets with all four figures, by rising length, then in label order.

    Raises
    ------
    TooManyItemsets
        If there are more itemsets than `limit`.
    BadParameter
        If a parameter has a value that is not allowed.
    BadData
        If no records can have these chunks: an item is in two chunks of a cluster, or a chunk is larger than its cluster.

    Examples
    --------
    >>> import setveil as sv
    >>> chunks = [[(["milk", "tea"], 2), (["tea"], 2)], [(["rum"], 3)]]
    >>> data = sv.Disassociated.from_clusters([{"size": 4, "record_chunks": chunks, "term_chunk": ["wine"]}])
    >>> sv.mine_bounds(data, 2).ordered().to_lists()
    [['tea'], ['rum'], ['rum', 'tea'], ['milk'], ['milk', 'tea']]
    """
    _refuse_other_than_whole(support, min_length, max_length, limit)
    count = MinSupport(min_support).count(data.records)
    search = _Search(data, support, count, limit)
    found = search.all_levels(max_length)
    return found if min_length == 1 else found.take(found.lengths >= min_length)


@with_threads
def top_bounds(
    data: Disassociated,
    how_many: int,
    *,
    support: Reading = "expected",
    min_length: int = 1,
    max_length: int | None = None,
    limit: int = LIMIT,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> BoundedItemsets:
    """Return the `how_many` most frequent itemsets, in the order of `ordered`, or all that reach one record if there are fewer."""
    if how_many < 1:
        raise BadParameter(f"the number of most frequent itemsets is {how_many}; it must be at least 1")
    _refuse_other_than_whole(support, min_length, max_length, limit)
    search = _Search(data, support, 1, max(limit, how_many))

    def found_from(count: int) -> BoundedItemsets:
        found = search.from_count(count).all_levels(max_length)
        return found.take(found.lengths >= min_length)

    # Find the highest support at which there are enough sets: halve it while there are too few, then bisect.
    too_few = int(search.singles.of(support).max(initial=0)) + 1
    enough = too_few // 2
    while enough > 1 and not _are_enough(found_from, enough, how_many):
        too_few, enough = enough, enough // 2
    enough = max(enough, 1)
    while too_few - enough > 1:
        middle = (enough + too_few) // 2
        if _are_enough(found_from, middle, how_many):
            enough = middle
        else:
            too_few = middle
    ordered = found_from(enough).ordered()
    return ordered.take(np.arange(min(how_many, len(ordered))))


def _are_enough(found_from: Callable[[int], BoundedItemsets], count: int, how_many: int) -> bool:
    try:
        return len(found_from(count)) >= how_many
    except TooManyItemsets:
        return True


def _refuse_other_than_whole(support: str, min_length: int, max_length: int | None, limit: int) -> None:
    """Raise `BadParameter` for values that are not allowed."""
    if support not in get_args(Reading):
        raise BadParameter.not_among("the support", support, get_args(Reading), parameter="support")
    for name, length in (("shortest", min_length), ("longest", max_length)):
        if length is not None and length < 1:
            raise BadParameter(f"the length of the {name} itemset is {length:,}; it must be at least 1")
    if max_length is not None and max_length < min_length:
        raise BadParameter(
            f"max_length is {max_length:,} and min_length is {min_length:,}; the maximum must be at least the minimum"
        )
    if limit < 0:
        raise BadParameter(f"the limit is {limit:,} itemsets; it must be 0 or more")


class _Search:
    """Data prepared for searches with a minimum support."""

    def __init__(self, data: Disassociated, reading: Reading, count: int, limit: int) -> None:
        self.data = data
        self._index = ClusterIndex.of(data)
        self._reading: Reading = reading
        self._count = count
        self._limit = min(limit, _NO_LIMIT)
        every = np.arange(len(data.vocabulary), dtype=np.int64)
        self.singles = self._bounds(every[:, np.newaxis])
        self._found = 0

    def from_count(self, count: int) -> _Search:
        """Restart with another minimum support."""
        self._count, self._found = count, 0
        return self

    def _bounds(self, sets: NDArray[np.int64]) -> SupportBounds:
        """Return the bounds of sets of the same length, one set per row."""
        offsets = np.arange(len(sets) + 1, dtype=np.int64) * sets.shape[1]
        return bounds_of(self._index, offsets, sets.ravel())

    @property
    def _threshold(self) -> float:
        return self._count * (1 - _ROUNDING) if self._reading == "expected" else float(self._count)

    def _are_frequent(self, bounds: SupportBounds) -> NDArray[np.bool_]:
        reached: NDArray[np.bool_] = bounds.of(self._reading) >= self._threshold
        return reached

    def all_levels(self, max_length: int | None) -> BoundedItemsets:
        """Return the frequent sets, found length by length."""
        chosen = np.flatnonzero(self._are_frequent(self.singles)).astype(np.int64)
        level = (chosen[:, np.newaxis], self.singles.take(chosen))
        levels = []
        while len(level[0]):
            self._count_in(len(level[0]))
            levels.append(level)
            length = level[0].shape[1]
            if max_length is not None and length >= max_length:
                break
            level = self._pairs(level[0].ravel()) if length == 1 else self._longer(level[0])
        return self._joined(levels)

    def _count_in(self, more: int) -> None:
        """Add to the number of sets found, and raise if it exceeds the limit."""
        self._found += more
        if self._found > self._limit:
            raise self._too_many()

    def _too_many(self) -> TooManyItemsets:
        return TooManyItemsets(
            f"there are more than {self._limit:,} itemsets with a support ({self._reading}) of at least {self._count:,} of "
            f"{self.data.records:,} records, and the limit is {self._limit:,}. Try a higher support, a maximum length or a higher limit",
            found=max(self._found, self._limit + 1),
            exact=False,
        )

    def _pairs(self, items: NDArray[np.int64]) -> tuple[NDArray[np.int64], SupportBounds]:
        """Return the frequent pairs, found cluster by cluster."""
        from setveil.mining import _support_bounds_kernels  # noqa: PLC0415 - imports Numba

        kernels: Any = _support_bounds_kernels  # without types, since Numba infers them
        width = len(self.data.vocabulary)
        is_frequent = np.zeros(width, dtype=np.bool_)
        is_frequent[items] = True
        weights = np.array(_WEIGHTS[self._reading], dtype=np.float64)
        index, subrecords = self._index, self.data.subrecords
        columns = kernels.Index(*index.columns)
        clusters = kernels.Clusters(index.items, *index.by_cluster(), subrecords.offsets, subrecords.items)
        firsts = range(0, len(items), ITEMS_AT_ONCE)
        left = self._limit - self._found
        chosen = (sealed(items, np.int64), sealed(is_frequent, np.bool_), sealed(weights, np.float64))
        asked = kernels.Asked(*chosen, self._threshold, left)
        numbers = np.zeros(len(firsts), dtype=np.int64)

        def search(first: int, control: Any) -> NDArray[np.int64]:
            if numbers.sum() > left:
                control[STOP] = 1
            last = min(first + ITEMS_AT_ONCE, len(items))
            keys, n = kernels.frequent_pairs(first, last, asked, columns, clusters, control)
            numbers[first // ITEMS_AT_ONCE] = n
            found: NDArray[np.int64] = keys[:n]
            return found

        parts = share("finding pairs", firsts, search, total=len(items))
        if numbers.sum() > left:
            raise self._too_many()
        keys = np.sort(np.concatenate([np.empty(0, np.int64), *parts]))
        pairs = np.stack((keys // width, keys % width), axis=1)
        return pairs, self._bounds(pairs)

    def _longer(self, sets: NDArray[np.int64]) -> tuple[NDArray[np.int64], SupportBounds]:
        """Return the frequent sets with one item more than these, which are all frequent sets of their length in rising order."""
        found, bounds, number = [], [], self._found
        with progress.step(f"finding itemsets of {sets.shape[1] + 1} items", len(sets)) as advance:
            for done, tried in self._tried(sets):
                figures = self._bounds(tried)
                kept = np.flatnonzero(self._are_frequent(figures))
                found.append(tried[kept])
                bounds.append(figures.take(kept))
                number += len(kept)
                if number > self._limit:
                    raise self._too_many()
                advance(done)
        return np.concatenate([np.empty((0, sets.shape[1] + 1), np.int64), *found]), _chained(bounds)

    def _tried(self, sets: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield blocks of sets whose subsets are all frequent, each with the number of shorter sets processed so far."""
        number, length = sets.shape
        begins = np.ones(number, dtype=np.bool_)
        begins[1:] = (sets[1:, :-1] != sets[:-1, :-1]).any(axis=1)
        ends = np.append(np.flatnonzero(begins)[1:], number)[np.cumsum(begins) - 1]
        partners = ends - np.arange(number) - 1
        before = offsets_of(partners)
        lookup = Lookup(
            np.arange(number + 1, dtype=np.int64) * length,
            sets.ravel(),
            len(self.data.vocabulary),
        )
        first = 0
        while first < number:
            last = max(first + 1, int(np.searchsorted(before, before[first] + TRIED_AT_ONCE, side="right")) - 1)
            left = np.repeat(np.arange(first, last), partners[first:last])
            right = runs(np.arange(first + 1, last + 1), partners[first:last])
            tried = np.concatenate((sets[left], sets[right, -1:]), axis=1)
            # A set without one of its last two items is one of the two sets it was joined from.
            for gone in range(length - 1):
                parts = np.delete(tried, gone, axis=1)
                places = lookup.places(np.arange(len(parts) + 1, dtype=np.int64) * length, parts.ravel())
                tried = tried[places >= 0]
            yield last, tried
            first = last

    def _joined(self, levels: list[tuple[NDArray[np.int64], SupportBounds]]) -> BoundedItemsets:
        lengths = np.concatenate([np.empty(0, np.int64), *(np.full(len(s), s.shape[1]) for s, _bounds in levels)])
        offsets = offsets_of(lengths)
        items = np.concatenate([np.empty(0, np.int64), *(sets.ravel() for sets, _bounds in levels)]).astype(np.int32)
        bounds = _chained([figures for _sets, figures in levels])
        return BoundedItemsets(offsets, items, bounds, self._reading, self.data.vocabulary, self.data.records)


def _chained(parts: list[SupportBounds]) -> SupportBounds:
    """Return the bounds of several collections, one after another."""
    none = np.empty(0, np.int64)
    return SupportBounds(
        inside=np.concatenate([none, *(part.inside for part in parts)]),
        certain=np.concatenate([none, *(part.certain for part in parts)]),
        possible=np.concatenate([none, *(part.possible for part in parts)]),
        expected=np.concatenate([np.empty(0), *(part.expected for part in parts)]),
    )
