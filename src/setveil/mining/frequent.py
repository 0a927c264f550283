"""Frequent itemsets: all, closed or maximal ones, listed or only counted.

An itemset is *frequent* if at least so many records hold it, *closed* if every larger one is held by fewer records, *maximal* if every
larger one is not frequent. The empty set is never among them.

How      items numbered by rising support, depth first; rows below a path merged where they are equal; words of bits where few items are
         left. The first level is cut into ranges of items that are shared out to the threads, whatever their number, so that the result
         does not depend on it.
Papers   uno2004 (occurrence deliver, closed sets without a list of those found), borgelt2012 (perfect extensions).
Cost     grows with the number of sets that are found, and with the records times their length squared for the first two levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.data.records.ragged import offsets_of
from setveil.errors import BadParameter, TooManyItemsets
from setveil.kernels.control import STOP
from setveil.kernels.threads import share, with_threads
from setveil.mining.itemsets import Itemsets
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

Kind = Literal["all", "closed", "maximal"]

LIMIT = 2_000_000
"""More sets than these are refused, unless another limit is given: nobody reads them, and many more may not fit the memory."""
_TABLE_BITS = {True: 6, False: 8}
"""For how many items all combinations are summed up in a table, when sets are listed and when they are only counted."""
_RANGES = 48
"""Into how many parts the first level is cut: enough that no thread waits long for another."""
_NO_BOUND = 1 << 40
"""More than any count, length or limit that can matter, and far from where sums of whole numbers wrap around."""
_LISTABLE = 100_000_000
"""As many sets may fit the memory of a machine."""
_WENT_WELL, _TOO_MANY, _SETS, _STATUS, _NODES, _BUDGET = 0, 1, 2, 4, 5, 6
"""What `_writing_kernels`, which import Numba, call RUNNING, TOO_MANY, SETS, STATUS, NODES and BUDGET."""
_COUNT_BUDGET = 5_000_000
"""How many places of the search may be looked at to say how many sets there would be."""


@with_threads
@check_arguments
def mine(
    data: Transactions,
    min_support: MinSupport | str | float,
    *,
    kind: Kind = "all",
    min_length: int = 1,
    max_length: int | None = None,
    limit: int = LIMIT,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Itemsets:
    """Return the frequent itemsets, in the order of the search.

    >>> from setveil import from_lists
    >>> mine(from_lists([["a", "b"], ["a", "b", "c"], ["a"]]), 2).ordered().to_lists()
    [['a'], ['b'], ['a', 'b']]
    """
    _refuse_negative(limit)
    wanted = _Wanted(data, MinSupport(min_support), kind, min_length, max_length)
    search = _Search(data, wanted)
    found = search.listed(limit)
    if found is None:
        raise _too_many(search, limit)
    return found


@with_threads
def count(
    data: Transactions,
    min_support: MinSupport | str | float,
    *,
    kind: Kind = "all",
    min_length: int = 1,
    max_length: int | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> int:
    """Return how many frequent itemsets there are, without listing them: all of them can be more than any list holds."""
    wanted = _Wanted(data, MinSupport(min_support), kind, min_length, max_length)
    return _Search(data, wanted).counted(budget=0)[0]


def count_or_at_least(data: Transactions, min_support: int) -> tuple[int, bool]:
    """Return how many itemsets are frequent, and whether that is all: a search that takes too long ends with those it met until then.

    The data remember the answer.
    """
    key = (count_or_at_least.__qualname__, min_support)
    if key not in data.remembered:
        wanted = _Wanted(data, MinSupport(min_support), "all", 1, None)
        data.remembered[key] = _Search(data, wanted).counted(budget=_COUNT_BUDGET)
    found: tuple[int, bool] = data.remembered[key]
    return found


@with_threads
def top(
    data: Transactions,
    how_many: int,
    *,
    kind: Kind = "all",
    min_length: int = 1,
    max_length: int | None = None,
    least: int = 1,
    ties: bool = False,
    limit: int = LIMIT,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Itemsets:
    """Return so many of the most frequent itemsets, in the order of `Itemsets.ordered`; fewer if there are fewer.

    Those that fewer than `least` records hold are left out. With `ties` all that are as frequent as the last one come too, so that the
    order of labels decides nothing. Not of kind maximal: which sets are maximal depends on the support from which on they are frequent.
    """
    if kind == "maximal":
        raise BadParameter(
            "the most frequent maximal itemsets are not defined: give a support, or ask for kind all or closed"
        )
    _refuse_negative(limit)
    if how_many < 1:
        raise BadParameter(f"the {how_many} most frequent itemsets were asked for; there must be at least 1")

    def search_from(support: int) -> _Search:
        return _Search(data, _Wanted(data, MinSupport(support), kind, min_length, max_length))

    # The highest support at which there are enough: a search with a lower one ends as soon as it has found so many.
    enough, too_few = max(least, 1), int(data.supports.max(initial=0)) + 1
    while too_few - enough > 1:
        middle = (enough + too_few) // 2
        found = search_from(middle).listed(how_many - 1)
        if found is None:
            enough = middle
        else:
            too_few = middle
    search = search_from(enough)
    limit = max(limit, how_many)
    found = search.listed(limit)
    if found is None:
        raise _too_many(search, limit)
    ordered = found.ordered()
    return ordered if ties else ordered.take(np.arange(min(how_many, len(ordered))))


def _refuse_negative(limit: int) -> None:
    if limit < 0:
        raise BadParameter(f"the limit is {limit:,} itemsets; it must be 0 or more")


@dataclass(frozen=True)
class _Wanted:
    """What is asked for, checked."""

    data: Transactions
    min_support: MinSupport
    kind: Kind
    min_length: int
    max_length: int | None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise BadParameter(f"the kind of itemsets is {self.kind!r}; allowed is {' | '.join(get_args(Kind))}")
        for name, length in (("shortest", self.min_length), ("longest", self.max_length)):
            if length is not None and length < 1:
                raise BadParameter(f"the length of the {name} itemset is {length}; it must be at least 1")
        if self.max_length is not None and self.max_length < self.min_length:
            raise BadParameter(
                f"itemsets from {self.min_length} to {self.max_length} items were asked for: there are none"
            )

    @property
    def min_count(self) -> int:
        return self.min_support.count(self.data.records)


class _Search:
    """Data made ready for the search from a threshold on."""

    def __init__(self, data: Transactions, wanted: _Wanted) -> None:
        self.data = data
        self.wanted = wanted
        supports = data.supports
        frequent = np.flatnonzero(supports >= wanted.min_count)
        everywhere = supports[frequent] == data.records
        self._perfect = frequent[everywhere].astype(np.int32)
        rest = frequent[~everywhere]
        self._names = rest[np.argsort(supports[rest], kind="stable")].astype(np.int32)

    def listed(self, limit: int) -> Itemsets | None:
        """Return the sets, or None if there are more than the limit."""
        parts = self._run(listing=True, limit=limit, budget=0)
        if sum(len(part.lengths) for part in parts) > limit or any(part.status == _TOO_MANY for part in parts):
            return None
        offsets = offsets_of(np.concatenate([part.lengths for part in parts]))
        items = np.concatenate([part.items for part in parts])
        supports = np.concatenate([part.supports for part in parts])
        return Itemsets(offsets, items, supports, self.data.vocabulary, self.data.records)

    def counted(self, *, budget: int) -> tuple[int, bool]:
        """Return how many sets there are, and whether that is all of them: with a budget the search may end before."""
        parts = self._run(listing=False, limit=0, budget=budget)
        whole = all(part.status == _WENT_WELL for part in parts)
        if self.wanted.kind != "all":
            return sum(part.sets for part in parts), whole
        tally = np.sum([part.tally for part in parts], axis=0)
        total = 0
        for length, perfect in zip(*np.nonzero(tally), strict=True):
            total += int(tally[length, perfect]) * self._ways(int(length), int(perfect))
        return total, whole

    def _ways(self, length: int, perfect: int) -> int:
        """Return how many sets come of a path of that length with some of its perfect items."""
        most = self.wanted.max_length
        least = max(self.wanted.min_length - length, 0)
        most = perfect if most is None else min(perfect, most - length)
        return 1 << perfect if (least, most) == (0, perfect) else sum(comb(perfect, n) for n in range(least, most + 1))

    def _run(self, *, listing: bool, limit: int, budget: int) -> list[_Part]:
        from setveil.mining import _list_search_kernels as kernels  # noqa: PLC0415 - imports Numba

        longest_row, rows = self._rows
        longest = longest_row + len(self._perfect)
        kind = get_args(Kind).index(self.wanted.kind)
        limit = min(limit, _NO_BOUND)
        lengths = (min(self.wanted.min_length, _NO_BOUND), min(self.wanted.max_length or _NO_BOUND, _NO_BOUND))
        counts = (min(self.wanted.min_count, _NO_BOUND), *lengths)
        asked = np.array((*counts, kind, listing, limit, budget, _TABLE_BITS[listing]), dtype=np.int64)
        tally_rows = min(self.wanted.max_length or self.wanted.min_length, longest) + 1
        tally_shape = (1, 1) if listing or kind else (tally_rows, longest + 1)
        ranges = self._ranges(*rows[:5])
        largest_first = np.argsort([-work for _, _, work in ranges], kind="stable")
        shared = np.zeros(len(ranges), dtype=np.int64)
        left = budget

        def search(part: int, control: Any) -> _Part:
            nonlocal left
            asked_here = asked.copy()
            asked_here[_BUDGET] = max(left, 1) if budget else 0
            if listing and shared.sum() > limit:
                control[STOP] = 1
            tally = np.zeros(tally_shape, dtype=np.int64)
            first, last, _ = ranges[part]
            found = kernels.search_lists(
                first, last, rows, longest_row, self._perfect, asked_here, tally, shared, part, control
            )
            made = _Part(found, tally)
            left -= made.nodes
            shared[part] = made.sets + (limit + 1) * (made.status == _TOO_MANY)
            return made

        parts = []
        if self.wanted.kind != "maximal" or not len(self._names):  # else a larger set is frequent
            tally = np.zeros(tally_shape, dtype=np.int64)
            alone = kernels.search_root(self._perfect, self.data.records, asked, tally, np.zeros(1, dtype=np.int64))
            parts.append(_Part(alone, tally))
        results = share("mining", largest_first.tolist(), search, total=len(self._names))
        return parts + [results[i] for i in np.argsort(largest_first)]

    @cached_property
    def _rows(self) -> tuple[int, tuple[Any, ...]]:
        """The length of the longest row, and the rows with their index."""
        from setveil.mining import _row_kernels as kernels  # noqa: PLC0415 - imports Numba

        data = self.data
        new_codes = np.full(len(data.vocabulary), -1, dtype=np.int32)
        new_codes[self._names] = np.arange(len(self._names), dtype=np.int32)
        starts, ends = np.empty(data.records, dtype=np.int64), np.empty(data.records, dtype=np.int64)
        places = np.empty(data.occurrences, dtype=np.int32)
        n_rows = kernels.recode(data.offsets, data.items, new_codes, starts, ends, places)
        weights = np.ones(n_rows, dtype=np.int64)
        slots = np.empty(1 << max(2 * n_rows, 8).bit_length(), dtype=np.int64)
        n_rows = kernels.merge_equal(n_rows, starts, ends, weights, places, slots)
        lengths = ends[:n_rows] - starts[:n_rows]
        n_entries = int(lengths.sum())
        item_starts = np.empty(len(self._names) + 1, dtype=np.int64)
        entry_rows, entry_places = np.empty(n_entries, dtype=np.int64), np.empty(n_entries, dtype=np.int64)
        kernels.index_entries(
            len(self._names), 0, n_rows, starts, ends, places, item_starts, 0, entry_rows, entry_places, 0
        )
        longest = int(lengths.max(initial=1))
        supports = data.supports[self._names]
        rows = (item_starts, entry_rows, entry_places, starts, ends, weights, places, self._names, supports)
        return longest, rows

    def _ranges(
        self,
        item_starts: NDArray[np.int64],
        entry_rows: NDArray[np.int64],
        entry_places: NDArray[np.int64],
        _starts: NDArray[np.int64],
        ends: NDArray[np.int64],
    ) -> list[tuple[int, int, int]]:
        """Cut the items into ranges of nearly equal work, as far as one can tell before: what stands behind their entries."""
        work = offsets_of(ends[entry_rows] - entry_places)[item_starts]
        cuts = np.unique(np.searchsorted(work, np.linspace(0, work[-1], _RANGES + 1)[1:-1]))
        borders = [0, *(int(cut) for cut in cuts if 0 < cut < len(self._names)), len(self._names)]
        return [(a, b, int(work[b] - work[a])) for a, b in pairwise(borders) if a < b]


class _Part:
    """What the search below a range of items gave."""

    def __init__(self, found: tuple[Any, ...], tally: NDArray[np.int64]) -> None:
        self.items, self.lengths, self.supports, state = found
        self.sets, self.status, self.nodes = int(state[_SETS]), int(state[_STATUS]), int(state[_NODES])
        self.tally = tally


def _too_many(search: _Search, limit: int) -> TooManyItemsets:
    """Say how many sets there would be, and what to try."""
    found, exact = search.counted(budget=_COUNT_BUDGET)
    wanted = search.wanted
    kinds = {"all": "frequent itemsets", "closed": "closed itemsets", "maximal": "maximal itemsets"}
    advice = ["a higher support"]
    if wanted.kind == "all":
        advice.append("kind closed or maximal")
    if wanted.max_length is None:
        advice.append("a bound on the length")
    advice.append("a higher limit" if found < _LISTABLE else "count only")
    return TooManyItemsets(
        f"there {'are' if exact else 'are more than'} {found:,} {kinds[wanted.kind]} with a support of at least "
        f"{wanted.min_count:,} of {search.data.records:,} records; the limit is {limit:,}. Try {', '.join(advice)}",
        found=found,
        exact=exact,
    )
