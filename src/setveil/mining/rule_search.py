"""The strongest rules q → e for given items e and sets q of any size: items that can be inferred with a confidence above a limit.

Exact, without listing all q. Only closed q can be strongest: the sets of all items that some records with e have in common. The largest q
are all other items of a record with e. Counting these takes linear time and gives a lower bound on the number of records without e for
every smaller q, which decides most cases. Otherwise closed sets are searched depth first, with that bound at each.

With p records that hold q and e, n that hold q without e, and a limit of num/den, the *excess* is p (den - num) - num n. A rule is too
strong if its excess is above 0; the strongest rule has the highest excess.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import offsets_of, read_only, records_of, runs, starts_of
from setveil.kernels.threads import share
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

CODES_AT_ONCE = 20_000_000
"""Number of items of the sets that are counted together; it limits the memory."""
STEPS_FOR_MORE = 100_000_000
"""Maximum number of steps for finding stronger rules where one above the limit is known, divided among the items."""
MOST_CACHED = 1_000_000
"""Maximum number of largest rules that are cached: 40 MB."""
LEAST_STEPS = 10_000
ITEMS_AT_ONCE = 64
"""Number of items per part of the search."""


@dataclass(frozen=True, eq=False)
class StrongestRules:
    """The strongest rule `sets[place]` → `items[place]` of each item that some rule implies with too high a confidence."""

    items: NDArray[np.int64]
    excess: NDArray[np.int64]
    with_item: NDArray[np.int64]
    without_item: NDArray[np.int64]
    sets: list[NDArray[np.int64]]
    undecided: int
    """The number of other items for which the budget was too small to exclude such a rule."""
    exposed: int
    """The number of occurrences that all other items of their record imply with too high a confidence."""


def strongest_rules(
    data: Transactions,
    is_consequent: NDArray[np.bool_],
    confidence: Fraction,
    *,
    include_empty: bool,
    budget: int,
) -> StrongestRules:
    """Return the rule q → item with the highest excess for each of these items that has a rule above the limit.

    q is any set of other items; the empty set counts only with `include_empty`. The search for an item stops after `budget` steps; the item
    is undecided if no rule above the limit was found until then.
    """
    num, den = confidence.as_integer_ratio()
    contents, weights, _content_of = data.distinct()
    leaves = _Leaves.of(data, contents, weights, is_consequent, num, den)
    codes = np.flatnonzero(is_consequent & (data.supports > 0))
    excess = np.zeros(len(codes), np.int64)
    with_item, without = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    sets: list[NDArray[np.int64]] = [np.empty(0, np.int64)] * len(codes)
    if include_empty:
        held = data.supports[codes]
        excess = np.maximum(held * (den - num) - num * (data.records - held), 0)
        with_item, without = held.copy(), data.records - held
    undecided = np.zeros(len(codes), np.bool_)
    open_places = [place for place, code in enumerate(codes.tolist()) if leaves.may_exceed(code, int(excess[place]))]
    for place in open_places:
        leaf = leaves.strongest(int(codes[place]))
        if leaves.excess[leaf] > excess[place]:
            excess[place] = leaves.excess[leaf]
            with_item[place], without[place] = leaves.with_item[leaf], leaves.slack[leaf]
            first = contents.offsets[leaves.rows[leaf]]
            whole = contents.items[first : first + contents.lengths[leaves.rows[leaf]]].astype(np.int64)
            sets[place] = whole[whole != codes[place]]
    for place, best, items in leaves.search(codes, excess, open_places, budget):
        if best[_SIZE]:
            excess[place], with_item[place], without[place] = best[_EXCESS], best[_WITH], best[_WITHOUT]
            sets[place] = items
        undecided[place] = not best[_COMPLETE]
    unsafe = np.flatnonzero(excess > 0)
    return StrongestRules(
        codes[unsafe],
        excess[unsafe],
        with_item[unsafe],
        without[unsafe],
        [sets[place] for place in unsafe],
        int(np.count_nonzero(undecided & (excess <= 0))),
        int(weights[leaves.rows[leaves.excess > 0]].sum()),
    )


_EXCESS, _WITH, _WITHOUT, _SIZE, _COMPLETE = range(5)


@dataclass(frozen=True, eq=False)
class _Leaves:
    """The largest rules: for each distinct record with the item, all its other items imply the item.

    They are sorted by item, then by slack: the number of records that hold the other items but not this one.
    """

    contents: Transactions
    weights: NDArray[np.int64]
    supports: NDArray[np.int64]
    """The number of records that hold each item code."""
    num: int
    den: int
    starts: NDArray[np.int64]
    """The start of the leaves of each item code."""
    rows: NDArray[np.int64]
    slack: NDArray[np.int64]
    with_item: NDArray[np.int64]
    excess: NDArray[np.int64]
    bound: NDArray[np.int64]
    """The highest excess that any rule of each item code can have."""

    @classmethod
    def of(
        cls,
        data: Transactions,
        contents: Transactions,
        weights: NDArray[np.int64],
        is_consequent: NDArray[np.bool_],
        num: int,
        den: int,
    ) -> _Leaves:
        largest = largest_rules(data, is_consequent, (contents, weights))
        row, with_item = largest.row, largest.with_item
        code = contents.items[largest.place]
        slack = largest.held - with_item
        order = np.lexsort((row, slack, code))
        code, row, slack, both = code[order], row[order], slack[order], with_item[order]
        starts = starts_of(code, len(data.vocabulary))
        running = np.cumsum(weights[row])
        before = np.concatenate(([0], running))[starts[code]]
        prefix = (running - before) * (den - num) - num * slack
        bound = np.zeros(len(data.vocabulary), np.int64)
        there = np.flatnonzero(np.diff(starts))
        if len(there):
            bound[there] = np.maximum.reduceat(prefix, starts[there])
        excess = both * (den - num) - num * slack
        return cls(contents, weights, data.supports, num, den, starts, row, slack, both, excess, bound)

    def may_exceed(self, code: int, excess: int) -> bool:
        """Return whether some rule of an item could have a higher excess than this."""
        return bool(self.bound[code] > excess)

    def strongest(self, code: int) -> int:
        """Return the leaf of an item with the highest excess."""
        first, last = self.starts[code], self.starts[code + 1]
        return int(first + np.argmax(self.excess[first:last]))

    def search(
        self, codes: NDArray[np.int64], excess: NDArray[np.int64], places: list[int], budget: int
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Search the smaller rules of these items for one with a higher excess than known; yield place, figures and set."""
        if not places:
            return
        from setveil.mining import _rule_search_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        contents = self.contents
        records = kernels.Records(
            offsets=contents.offsets,
            items=contents.items,
            weights=read_only(self.weights),
            words=np.empty(contents.records, np.uint64),
            starts=contents.holders[0],
            lists=contents.holders[1],
            supports=read_only(self.supports),
        )
        kernels.signatures(0, contents.records, records.offsets, records.items, records.words)
        for_more = max(STEPS_FOR_MORE // len(places), LEAST_STEPS)

        def part(first: int, control: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
            room = kernels.make_room(contents.records, len(contents.vocabulary), int(contents.lengths.max()))
            found = []
            for place in places[first : first + ITEMS_AT_ONCE]:
                code = codes[place]
                of_item = slice(self.starts[code], self.starts[code + 1])
                rows = self.rows[of_item].copy()
                room.slack[rows] = self.slack[of_item]
                steps = min(budget, for_more) if excess[place] > 0 else budget
                bounds = kernels.Bounds(self.num, self.den, steps)
                kernels.search(code, rows, int(excess[place]), records, bounds, room, control)
                found.append((place, room.best.copy(), room.best_set[: room.best[_SIZE]].copy()))
            return found

        starts = range(0, len(places), ITEMS_AT_ONCE)
        for results in share("searching rules", list(starts), part, total=len(places)):
            yield from results


@dataclass(frozen=True, eq=False)
class LargestRules:
    """The rules "all other items of a record → the item", for each distinct content with at least two items and each consequent in it."""

    row: NDArray[np.int64]
    """For each rule: the number of the content in `Transactions.distinct`."""
    weight: NDArray[np.int64]
    """For each rule: the number of records with exactly this content."""
    place: NDArray[np.int64]
    """For each rule: the position of the item among the items of all contents."""
    with_item: NDArray[np.int64]
    """For each rule: the number of records that hold the whole content."""
    held: NDArray[np.int64]
    """For each rule: the number of records that hold the other items of the content."""


def largest_rules(
    data: Transactions,
    is_consequent: NDArray[np.bool_],
    known: tuple[Transactions, NDArray[np.int64]] | None = None,
) -> LargestRules:
    """Count the largest rules of some items. The result is cached in the data, unless it is large.

    `known` are the distinct records of the data and their counts, if the caller has them.
    """
    key = (largest_rules.__qualname__, is_consequent.tobytes())
    if key in data.remembered:
        cached: LargestRules = data.remembered[key]
        return cached
    contents, weights = known or data.distinct()[:2]
    place = np.flatnonzero(is_consequent[contents.items])
    row = records_of(place, contents.offsets)
    more = contents.lengths[row] > 1  # only the empty set implies the item of a record with one item
    place, row = place[more], row[more]
    held = _held_without(data, contents, row, place)
    # A content that more records hold than have exactly this content: only if each of its parts does.
    fewest = np.full(contents.records, np.iinfo(np.int64).max)
    np.minimum.at(fewest, row, held)
    inside = np.flatnonzero((fewest > weights) & (fewest < np.iinfo(np.int64).max))
    whole = contents.take(inside)
    with_item = weights.copy()
    with_item[inside] = supports(data, (whole.offsets, whole.items))
    found = LargestRules(row, weights[row], place, with_item[row], held)
    if len(row) <= MOST_CACHED:
        data.remembered[key] = found
    return found


def _held_without(
    data: Transactions, contents: Transactions, row: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each (content, position of an item in it) the number of records that hold all other items of the content."""
    held = np.empty(len(row), np.int64)
    sizes = contents.lengths[row]
    ends = np.cumsum(sizes)
    first = 0
    while first < len(row):
        last = max(first + 1, int(np.searchsorted(ends, (ends[first - 1] if first else 0) + CODES_AT_ONCE)))
        size = sizes[first:last]
        starts = offsets_of(size)
        places = runs(contents.offsets[row[first:last]], size)
        others = places != np.repeat(place[first:last], size)
        offsets = starts - np.arange(len(starts))
        held[first:last] = supports(data, (offsets, contents.items[places[others]]))
        first = last
    return held
