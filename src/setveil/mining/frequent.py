"""Frequent itemsets: all, closed or maximal ones, listed or only counted.

An itemset is *frequent* if its support is at least `min_support`, *closed* if it is frequent and every larger itemset has a smaller
support, *maximal* if it is frequent and no larger itemset is. The empty set is never listed.

How      depth-first search over items numbered by rising support. Equal rows below a path are merged; where few items remain, rows are
         bit words. The first level is divided into a fixed number of ranges of items, so that the result does not depend on the number
         of threads. For maximal sets the search leaves a branch when the path with all its extensions is frequent, and what it finds
         is compared at the end.
Papers   uno2004 (occurrence deliver, closed sets without a list of those found), borgelt2012 (perfect extensions).
Cost     grows with the number of itemsets found, and with the records times their length squared for the first two levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.data.records.ragged import distinct, offsets_of
from setveil.errors import BadParameter, TooManyItemsets
from setveil.kernels.control import CONTROL_WIDTH, STOP
from setveil.kernels.threads import run, share, with_threads
from setveil.mining.itemsets import Itemsets
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.mining._list_search_kernels import Pairs
    from setveil.mining._row_kernels import Rows

Kind = Literal["all", "closed", "maximal"]

LIMIT = 2_000_000
"""Default limit on the number of itemsets: longer lists are of little use and may not fit into memory."""
_TABLE_BITS = {True: 6, False: 8}
"""Number of items whose combinations are summed in a table, when sets are listed (True) and when they are only counted (False)."""
_RANGES = 48
"""Largest number of ranges of the first level: enough that no thread waits long for another."""
_LEAST_WORK = 1 << 14
"""Minimum of the mean number of occurrences per range: fewer are not worth the start of a search."""
_MOST_CELLS = 1 << 22
"""Maximum size of a table of all pairs of items. It is never larger than the number of pairs to count."""
_NO_BOUND = 1 << 40
"""Larger than any count, length or limit that occurs, and small enough that sums do not overflow."""
_LISTABLE = 100_000_000
"""Number of sets that may still fit into the memory of a machine."""
_CLOSED = 1
_WENT_WELL, _TOO_MANY, _SETS, _STATUS, _NODES = 0, 1, 2, 4, 5
"""CLOSED, RUNNING, TOO_MANY, SETS, STATUS and NODES of `_writing_kernels`, repeated here because that module imports Numba."""
_TIMES_TOO_MANY, _FEW = 8, 100_000
"""A search for the most frequent sets is repeated at a higher support if it finds this many times too many, and more than a few."""
_COUNT_BUDGET = 5_000_000
"""Maximum number of nodes that the search visits to count the sets for an error message."""


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
    """Return the frequent itemsets of plain records, in the order of the search.

    Parameters
    ----------
    data : Transactions
        The records to mine.
    min_support : int, float, str or MinSupport
        Minimum support of an itemset: a number of records (30) or a share of them ("0.1%" or 0.001), which is rounded up.
    kind : {"all", "closed", "maximal"}, default: "all"
        Which frequent itemsets to return. Closed: every larger itemset has a smaller support. Maximal: no larger itemset is frequent.
    min_length, max_length : int, default: 1 and None
        Minimum and maximum number of items of an itemset. They only filter the result: no further itemset becomes closed or maximal.
    limit : int, default: 2,000,000
        Maximum number of itemsets.
    threads : int, optional
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    Itemsets
        The itemsets with their supports; `ordered()` puts the most frequent first.

    Raises
    ------
    TooManyItemsets
        If there are more itemsets than `limit`; its `found` is their number, as far as they were counted.
    BadParameter
        If a parameter has a value that is not allowed.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.from_lists([["a", "b"], ["a", "b", "c"], ["a"]])
    >>> sv.mine(data, 2).ordered().to_lists()
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
    """Return the number of frequent itemsets without listing them: there may be more than fit into memory.

    Maximal ones are listed, because each is compared with the others.
    """
    wanted = _Wanted(data, MinSupport(min_support), kind, min_length, max_length)
    return _Search(data, wanted).counted(budget=0)[0]


def mine_up_to(data: Transactions, min_support: int, limit: int) -> Itemsets | None:
    """Return the frequent itemsets, or None as soon as more than `limit` are found, or if they were counted before and are more."""
    if data.remembered.get((count_or_at_least.__qualname__, min_support), (0,))[0] > limit:
        return None
    return _Search(data, _Wanted(data, MinSupport(min_support), "all", 1, None)).listed(limit)


def count_or_at_least(data: Transactions, min_support: int) -> tuple[int, bool]:
    """Return the number of frequent itemsets and True, or the number found before the search took too long and False.

    The result is cached in the data.
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
    """Return the `how_many` most frequent itemsets, in the order of `Itemsets.ordered`, or all if there are fewer.

    Only itemsets with a support of at least `least` are returned. With `ties`, all itemsets as frequent as the last one are returned too,
    so that the order of labels does not affect the choice. Kind maximal is refused: which sets are maximal depends on the minimum support.
    """
    if kind == "maximal":
        raise BadParameter(
            "the most frequent maximal itemsets are not defined; give a minimum support, or use kind 'all' or 'closed'"
        )
    _refuse_negative(limit)
    if how_many < 1:
        raise BadParameter(f"the number of most frequent itemsets is {how_many}; it must be at least 1")
    limit = max(limit, how_many)
    many = min(limit, max(_TIMES_TOO_MANY * how_many, _FEW))

    def search_from(support: int) -> _Search:
        return _Search(data, _Wanted(data, MinSupport(support), kind, min_length, max_length))

    # Halve the support until there are enough sets, and read the exact one off what was found. If there are far too many sets, search
    # between this support and the last one at which there were too few.
    lowest, too_few, too_many = max(least, 1), int(data.supports.max(initial=0)) + 1, 0
    support = max(lowest, min(_most_support(data, how_many, min_length, max_length), too_few - 1))
    while too_few - too_many > 1:
        found = search_from(support).listed(many)
        if found is not None and (len(found) >= how_many or support <= lowest):
            return first_of(found, how_many, ties=ties)
        if found is None:
            too_many = support
        else:
            too_few = support
        support = (too_many + too_few) // 2 if too_many else max(too_few // 2, lowest)
    search = search_from(max(too_many, lowest))
    found = search.listed(limit)
    if found is None:
        raise _too_many(search, limit)
    return first_of(found, how_many, ties=ties)


def first_of(found: Itemsets, how_many: int, *, ties: bool) -> Itemsets:
    """Return the `how_many` most frequent of these itemsets, or all if there are fewer, in the order of `Itemsets.ordered`.

    With `ties`, all as frequent as the last one are returned too.
    """
    if len(found) > how_many:
        found = found.take(found.supports >= np.partition(found.supports, -how_many)[-how_many])
    ordered = found.ordered()
    return ordered if ties else ordered.take(np.arange(min(how_many, len(ordered))))


def _most_support(data: Transactions, how_many: int, min_length: int, max_length: int | None) -> int:
    """Return an upper bound of the support of the `how_many`-th itemset: a few items do not form that many sets."""
    falling = -np.sort(-data.supports)
    items, sets = 0, 0
    while sets < how_many and items < len(falling):
        items += 1
        longest = items if max_length is None else min(max_length, items)
        sets = sum(comb(items, length) for length in range(min_length, longest + 1))
    return int(falling[items - 1]) if items else 0


def _refuse_negative(limit: int) -> None:
    if limit < 0:
        raise BadParameter(f"the limit is {limit:,} itemsets; it must be 0 or more")


@dataclass(frozen=True)
class _Wanted:
    """The validated parameters of a search."""

    data: Transactions
    min_support: MinSupport
    kind: Kind
    min_length: int
    max_length: int | None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise BadParameter.not_among("the kind of itemsets", self.kind, get_args(Kind), parameter="kind")
        for name, length in (("shortest", self.min_length), ("longest", self.max_length)):
            if length is not None and length < 1:
                raise BadParameter(f"the length of the {name} itemset is {length:,}; it must be at least 1")
        if self.max_length is not None and self.max_length < self.min_length:
            raise BadParameter(
                f"max_length is {self.max_length:,} and min_length is {self.min_length:,}; the maximum must be at least the minimum"
            )

    @property
    def min_count(self) -> int:
        return self.min_support.count(self.data.records)


class _Search:
    """Data prepared for a search with one minimum support."""

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
        found, whole = self._found(limit, budget=0)
        return found if whole and len(found) <= limit else None

    def _found(self, limit: int, *, budget: int) -> tuple[Itemsets, bool]:
        """Return the sets, and whether these are all: the search may end early above the limit, and with a budget."""
        is_maximal = self.wanted.kind == "maximal"
        parts = []
        for attempt in self._maximal_attempts(budget) if is_maximal else [{"budget": budget}]:
            parts = self._run(listing=True, limit=limit, **attempt)
            whole = all(part.status == _WENT_WELL for part in parts)
            if whole or (attempt.get("in_order") and any(part.status == _TOO_MANY for part in parts)):
                break
        lengths, items, supports = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("lengths", "items", "supports")
        )
        if is_maximal and len(self._names):
            lengths, items, supports = self._maximal_of(lengths, items, supports)
        return Itemsets(offsets_of(lengths), items, supports, self.data.vocabulary, self.data.records), whole

    def _maximal_attempts(self, budget: int) -> list[dict[str, Any]]:
        """Return how to search for maximal sets until a search is complete, or ends with more sets than the limit.

        Parts that are searched side by side may find more sets than the limit that are within sets of other parts. A maximum length bounds
        the search itself only if all maximal sets are too many to look at: then it cannot look back, and looks at more sets of that length.
        """
        if budget:
            return [{"budget": budget, "in_order": True}]
        bounded = self.wanted.max_length is not None
        attempts: list[dict[str, Any]] = [{"budget": _COUNT_BUDGET * bounded, "in_order": way} for way in (False, True)]
        return [*attempts, {"budget": 0, "in_order": True, "bounded": True}] if bounded else attempts

    def _maximal_of(self, *sets: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Return those sets that are within no other one and have an allowed length: lengths, items and supports."""
        from setveil.mining import _contained_kernels as kernels  # noqa: PLC0415 - imports Numba
        from setveil.mining._writing_kernels import Found  # noqa: PLC0415 - the same

        lengths, items, supports = sets
        found = Found(items, lengths, supports)
        dropped = kernels.find_contained(len(lengths), kernels.rank_items(self._names, self._perfect), found)
        dropped |= lengths < self.wanted.min_length
        if self.wanted.max_length is not None:
            dropped |= lengths > self.wanted.max_length
        count, end = kernels.drop_sets(len(lengths), dropped, found)
        return lengths[:count], items[:end], supports[:count]

    def counted(self, *, budget: int) -> tuple[int, bool]:
        """Return the number of sets, and whether it is complete: a search with a budget (above 0) may end early."""
        if self.wanted.kind == "maximal":
            found, whole = self._found(_NO_BOUND, budget=budget)
            return len(found), whole
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
        """Return the number of sets made of a path of this length and any of its `perfect` perfect items."""
        most = self.wanted.max_length
        least = max(self.wanted.min_length - length, 0)
        most = perfect if most is None else min(perfect, most - length)
        return 1 << perfect if (least, most) == (0, perfect) else sum(comb(perfect, n) for n in range(least, most + 1))

    def _run(
        self, *, listing: bool, limit: int, budget: int, in_order: bool = False, bounded: bool = False
    ) -> list[_Part]:
        """Search all ranges of items; in order: as one range, so that the sets of a search that ends early show which are maximal."""
        from setveil.mining import _list_search_kernels as kernels  # noqa: PLC0415 - imports Numba
        from setveil.mining._writing_kernels import Asked, Part  # noqa: PLC0415 - the same

        longest_row, rows, _ = self._rows
        longest = longest_row + len(self._perfect)
        kind = get_args(Kind).index(self.wanted.kind)
        is_maximal = self.wanted.kind == "maximal"
        limit = min(limit, _NO_BOUND)
        max_length = min(self.wanted.max_length or _NO_BOUND, _NO_BOUND)
        asked = Asked(
            min_count=min(self.wanted.min_count, _NO_BOUND),
            min_length=min(self.wanted.min_length, _NO_BOUND),
            max_length=max_length,
            # A set of the maximum length may be within one that has an item more.
            depth=max_length if not is_maximal else max_length + 1 if bounded else _NO_BOUND,
            kind=kind,
            looks_back=int(kind > 0 and not bounded),
            listing=int(listing),
            limit=limit,
            budget=budget,
            table_bits=_TABLE_BITS[listing],
        )
        tally_rows = min(self.wanted.max_length or self.wanted.min_length, longest) + 1
        tally_shape = (1, 1) if listing or kind else (tally_rows, longest + 1)
        ranges, pairs = self._ranges, self._pairs
        if in_order and ranges:
            ranges = [(0, len(self._names), 0)]
        largest_first = np.argsort([-work for _, _, work in ranges], kind="stable")
        shared = np.zeros(len(ranges), dtype=np.int64)
        left = budget

        def search(number: int, control: Any) -> _Part:
            nonlocal left
            asked_here = asked._replace(budget=max(left, 1) if budget else 0)
            if listing and shared.sum() > limit:
                control[STOP] = 1
            first, last, _ = ranges[number]
            part = Part(number, first, last, np.zeros(tally_shape, dtype=np.int64), shared)
            found = kernels.search_lists(part, rows, pairs, longest_row, self._perfect, asked_here, control)
            made = _Part(found, part.tally)
            left -= made.nodes
            shared[number] = made.sets + (limit + 1) * (made.status == _TOO_MANY)
            return made

        parts = []
        if not is_maximal or not len(self._names):  # otherwise a larger set is frequent
            part = Part(0, 0, 0, np.zeros(tally_shape, dtype=np.int64), np.zeros(1, dtype=np.int64))
            control = np.zeros(CONTROL_WIDTH, dtype=np.int64)
            asked_alone = asked._replace(kind=min(kind, _CLOSED))  # no other set can make it larger
            alone = kernels.search_root(part, self.data.records, self._perfect, asked_alone, control)
            parts.append(_Part(alone, part.tally))
        results = share("mining", largest_first.tolist(), search, total=len(self._names))
        return parts + [results[i] for i in np.argsort(largest_first)]

    @cached_property
    def _rows(self) -> tuple[int, Rows, NDArray[np.int64]]:
        """The length of the longest row, the rows with their index, and the estimated work below each item."""
        from setveil.mining import _row_kernels as kernels  # noqa: PLC0415 - imports Numba

        data = self.data
        new_codes = np.full(len(data.vocabulary), -1, dtype=np.int32)
        new_codes[self._names] = np.arange(len(self._names), dtype=np.int32)
        spans, places = np.empty(kernels.SPAN * data.records, dtype=np.int64), np.empty(data.occurrences, np.int32)
        n_rows = kernels.recode(data.offsets, data.items, new_codes, spans, places)
        slots = np.empty(1 << max(2 * n_rows, 8).bit_length(), dtype=np.int64)
        work = np.zeros(len(self._names), dtype=np.int64)
        n_rows = kernels.merge_equal(n_rows, spans, places, slots, work)
        table = spans[: kernels.SPAN * n_rows].reshape(n_rows, kernels.SPAN)
        lengths = table[:, kernels.END] - table[:, kernels.START]
        rows = kernels.Rows(
            spans=table.reshape(-1),
            places=places,
            item_starts=np.empty(len(self._names) + 1, dtype=np.int64),
            entries=np.empty(kernels.ENTRY * int(lengths.sum()), dtype=np.int64),
            names=self._names,
            supports=data.supports[self._names],
        )
        kernels.index_entries(0, n_rows, len(self._names), 0, 0, rows)
        longest = int(lengths.max(initial=1))
        return longest, rows, work

    @cached_property
    def _pairs(self) -> Pairs:
        """The frequent pairs. If all sets are wanted and a table of all pairs is too large, none: the search counts them on its way."""
        from setveil.mining import _list_search_kernels as kernels  # noqa: PLC0415 - imports Numba
        from setveil.mining._row_kernels import SPAN  # noqa: PLC0415 - the same

        nothing = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        _, rows, work = self._rows
        min_count, n_items = self.wanted.min_count, len(self._names)
        if n_items**2 <= min(int(work.sum()), _MOST_CELLS):
            n_rows = len(rows.spans) // SPAN
            count_all: Any = partial(kernels.find_pairs_by_row, rows, min_count)
            parts = [run("counting pairs", count_all, total=n_rows)]
        elif self.wanted.kind == "all":
            return kernels.Pairs(*nothing)
        else:

            def find(part: tuple[int, int, int], control: Any) -> tuple[Any, ...]:
                found: tuple[Any, ...] = kernels.find_pairs(*part[:2], rows, min_count, control)
                return found

            parts = share("counting pairs", self._ranges, find, total=n_items)
        lengths, later, supports = (np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True))
        pairs: Pairs = kernels.list_partners(offsets_of(lengths), later, supports)
        return pairs

    @cached_property
    def _ranges(self) -> list[tuple[int, int, int]]:
        """Ranges of the items with nearly equal work, estimated by the number of occurrences after their entries."""
        work = offsets_of(self._rows[2])
        number = max(1, min(_RANGES, int(work[-1]) // _LEAST_WORK))
        cuts = distinct(np.searchsorted(work, np.linspace(0, work[-1], number + 1)[1:-1]))
        borders = [0, *(int(cut) for cut in cuts if 0 < cut < len(self._names)), len(self._names)]
        return [(a, b, int(work[b] - work[a])) for a, b in pairwise(borders) if a < b]


class _Part:
    """The result of the search below one range of items."""

    def __init__(self, found: tuple[Any, ...], tally: NDArray[np.int64]) -> None:
        self.items, self.lengths, self.supports, state = found
        self.sets, self.status, self.nodes = int(state[_SETS]), int(state[_STATUS]), int(state[_NODES])
        self.tally = tally


def _too_many(search: _Search, limit: int) -> TooManyItemsets:
    """Return the error that states the number of sets and what to try."""
    found, exact = search.counted(budget=_COUNT_BUDGET)
    wanted = search.wanted
    kinds = {"all": "frequent itemsets", "closed": "closed itemsets", "maximal": "maximal itemsets"}
    advice = ["a higher support"]
    if wanted.kind == "all":
        advice.append("kind 'closed' or 'maximal'")
    if wanted.max_length is None:
        advice.append("a maximum length")
    advice.append("a higher limit" if found < _LISTABLE else "counting only")
    return TooManyItemsets(
        f"there are {'' if exact else 'more than '}{found:,} {kinds[wanted.kind]} with a support of at least {wanted.min_count:,} of "
        f"{search.data.records:,} records; the limit is {limit:,}. Try {', '.join(advice[:-1])} or {advice[-1]}",
        found=found,
        exact=exact,
    )
