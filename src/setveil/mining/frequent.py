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
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.data.records.in_blocks import need_blocks
from setveil.data.records.ragged import offsets_of
from setveil.errors import BadParameter, TooManyItemsets
from setveil.kernels.threads import with_threads
from setveil.mining.groups import Groups
from setveil.mining.itemsets import Itemsets
from setveil.mining.searching import (
    NO_BOUND,
    TOO_MANY,
    WENT_WELL,
    Laid,
    Part,
    lay_out,
    search,
    search_root,
    sum_tallies,
)
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

Kind = Literal["all", "closed", "maximal"]

LIMIT = 2_000_000
"""Default limit on the number of itemsets: longer lists are of little use and may not fit into memory."""
_TABLE_BITS = {True: 6, False: 8}
"""Number of items whose combinations are summed in a table, when sets are listed (True) and when they are only counted (False)."""
_LISTABLE = 100_000_000
"""Number of sets that may still fit into the memory of a machine."""
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
        self._kind = get_args(Kind).index(wanted.kind)
        supports = data.supports
        frequent = np.flatnonzero(supports >= wanted.min_count)
        everywhere = supports[frequent] == data.records
        self._perfect = frequent[everywhere].astype(np.int32)
        rest = frequent[~everywhere]
        self._names = rest[np.argsort(supports[rest], kind="stable")].astype(np.int32)

    @cached_property
    def _laid(self) -> Laid:
        """All records, laid out for the search."""
        return lay_out(self.data, self._names, self.wanted.min_count, self._kind)

    @cached_property
    def _groups(self) -> Groups:
        """The records in groups, for data of more than one block."""
        return Groups.of(self.data, self._names, self.wanted.min_count, self._kind)

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
            whole = all(part.status == WENT_WELL for part in parts)
            if whole or (attempt.get("in_order") and any(part.status == TOO_MANY for part in parts)):
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
            found, whole = self._found(NO_BOUND, budget=budget)
            return len(found), whole
        parts = self._run(listing=False, limit=0, budget=budget)
        whole = all(part.status == WENT_WELL for part in parts)
        if self.wanted.kind != "all":
            return sum(part.sets for part in parts), whole
        tally = sum_tallies(parts)
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
    ) -> list[Part]:
        """Search all items; in order: in memory and as one range, so that the sets of a search that ends early show which are maximal."""
        from setveil.mining._writing_kernels import Asked  # noqa: PLC0415 - imports Numba

        is_maximal = self.wanted.kind == "maximal"
        max_length = min(self.wanted.max_length or NO_BOUND, NO_BOUND)
        asked = Asked(
            min_count=min(self.wanted.min_count, NO_BOUND),
            min_length=min(self.wanted.min_length, NO_BOUND),
            max_length=max_length,
            # A set of the maximum length may be within one that has an item more.
            depth=max_length if not is_maximal else max_length + 1 if bounded else NO_BOUND,
            kind=self._kind,
            looks_back=int(self._kind > 0 and not bounded),
            listing=int(listing),
            limit=min(limit, NO_BOUND),
            budget=budget,
            table_bits=_TABLE_BITS[listing],
        )
        parts = []
        if not is_maximal or not len(self._names):  # otherwise a larger set is frequent
            parts.append(search_root(self.data.records, self._perfect, asked))
        if need_blocks(self.data) and not in_order:
            return parts + self._groups.search(self._perfect, asked)
        return parts + search(self._laid, self._perfect, asked, in_order=in_order)


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
