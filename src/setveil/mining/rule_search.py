"""The strongest rules q → e for given items e and sets q of any size: items that can be inferred with a confidence above a limit.

Exact, without listing all q. Only closed q can be strongest: the sets of all items that some records with e have in common. The largest q
are all other items of a record with e (`largest_rules`). The number of records that hold these and not e is a lower bound for every smaller
q, which decides most cases. Otherwise closed sets are searched depth first, with that bound at each.

The search needs the records with e only. How many records hold a set q is counted in all data for many q at once: a search first goes on as
if no q that it comes to were stronger than the best rule known, and notes these q. Then they are counted, and the search starts again with
what is known. It ends when it comes to no other q. It visits no q that was not noted before, so it ends where counting at once would.

With p records that hold q and e, n that hold q without e, and a limit of num/den, the *excess* is p (den - num) - num n. A rule is too
strong if its excess is above 0; the strongest rule has the highest excess.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.records.ragged import offsets_of, read_only, starts_of
from setveil.kernels.threads import share
from setveil.mining.largest_rules import largest_rules
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.mining.largest_rules import Part

STEPS_FOR_MORE = 100_000_000
"""Maximum number of steps for finding stronger rules where one above the limit is known, divided among the items."""
LEAST_STEPS = 10_000
ITEMS_AT_ONCE = 64
"""Number of items per part of the search."""
NOTED_AT_FIRST, NOTED_LATER, NOTED_AT_LAST = 1000, 8, 64_000
"""Maximum number of sets of an item that one search notes: in the first search, the factor by which it grows, and how far."""


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
    best: dict[int, _Rule] = {}
    for code in np.flatnonzero(is_consequent & (data.supports > 0)).tolist() if include_empty else ():
        held = int(data.supports[code])
        rule = _Rule(held * (den - num) - num * (data.records - held), held, data.records - held, _NOTHING)
        if rule.excess > 0:
            best[code] = rule
    undecided, exposed = set[int](), 0
    for part in largest_rules(data, is_consequent, confidence):
        leaves = _Leaves(data, part, confidence)
        exposed += int(part.rules.weight[leaves.excess > 0].sum())
        is_open = [code for code in leaves.codes.tolist() if leaves.bound[code] > _excess(best, code)]
        for code in is_open:
            leaf = leaves.strongest(code)
            if leaf.excess > _excess(best, code):
                best[code] = leaf
        for code, found, is_complete in leaves.search(is_open, [_excess(best, code) for code in is_open], budget):
            if found is not None:
                best[code] = found
            elif not is_complete and code not in best:
                undecided.add(code)
    codes = sorted(best)
    excess, with_item, without_item = np.array([best[code][:3] for code in codes], np.int64).reshape(-1, 3).T
    sets = [best[code].known for code in codes]
    return StrongestRules(np.array(codes, np.int64), excess, with_item, without_item, sets, len(undecided), exposed)


class _Rule(NamedTuple):
    """A rule: its excess, how many of the records with the known items hold the item and how many do not, and the known items."""

    excess: int
    with_item: int
    without_item: int
    known: NDArray[np.int64]


_NOTHING = np.empty(0, np.int64)


def _excess(best: dict[int, _Rule], code: int) -> int:
    return best[code].excess if code in best else 0


class _Sets(NamedTuple):
    """Sets in the order in which a search comes to them, as offsets and items."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]

    @classmethod
    def joined(cls, sets: Iterable[_Sets]) -> _Sets:
        """Return all of these sets, one after the other."""
        sizes = [np.empty(0, np.int64)]
        items = [_NOTHING]
        for one in sets:
            sizes.append(np.diff(one.offsets))
            items.append(one.items)
        return cls(offsets_of(np.concatenate(sizes)), np.concatenate(items))


_NO_SETS = _Sets(np.zeros(1, np.int64), _NOTHING)


class _Leaves:
    """The largest rules for some items, sorted by item, then by slack, and the search for stronger rules below them."""

    def __init__(self, data: Transactions, part: Part, confidence: Fraction) -> None:
        self.data, self.contents, rules = data, part.contents, part.rules
        self.weights = read_only(part.weights)
        self.num, self.den = num, den = confidence.as_integer_ratio()
        self.excess = rules.with_item * (den - num) - num * rules.slack
        """The excess of each rule, in the order of the part."""
        order = np.lexsort((rules.row, rules.slack, rules.code))
        self.row, self.slack, self.with_item = rules.row[order], rules.slack[order], rules.with_item[order]
        self.starts = starts_of(rules.code, len(data.vocabulary))
        self.codes = np.flatnonzero(np.diff(self.starts))
        self._sorted_excess = self.excess[order]
        running = np.cumsum(rules.weight[order])
        before = np.concatenate(([0], running))[self.starts[rules.code]]
        prefix = (running - before) * (den - num) - num * self.slack
        self.bound = np.zeros(len(data.vocabulary), np.int64)
        """The highest excess that any rule of each item code can have."""
        if len(self.codes):
            self.bound[self.codes] = np.maximum.reduceat(prefix, self.starts[self.codes])

    def strongest(self, code: int) -> _Rule:
        """Return the largest rule of an item with the highest excess."""
        first, last = self.starts[code], self.starts[code + 1]
        leaf = int(first + np.argmax(self._sorted_excess[first:last]))
        begin, end = self.contents.offsets[self.row[leaf] : self.row[leaf] + 2]
        whole = self.contents.items[begin:end].astype(np.int64)
        excess, both, slack = (int(column[leaf]) for column in (self._sorted_excess, self.with_item, self.slack))
        return _Rule(excess, both, slack, whole[whole != code])

    def search(self, codes: list[int], excess: list[int], budget: int) -> list[tuple[int, _Rule | None, bool]]:
        """Search smaller rules of items for one with a higher excess than is known; return it, and whether all rules were examined."""
        steps = max(STEPS_FOR_MORE // max(len(codes), 1), LEAST_STEPS)
        budgets = [min(budget, steps) if known > 0 else budget for known in excess]
        noted, held = [_NO_SETS] * len(codes), [_NOTHING] * len(codes)
        results: dict[int, tuple[int, _Rule | None, bool]] = {}
        waiting, most = list(range(len(codes))), NOTED_AT_FIRST
        while waiting:
            asked = [_Asked(codes[k], excess[k], budgets[k], noted[k], held[k]) for k in waiting]
            found = self._search_once(asked, most)
            new = _Sets.joined(sets for *_result, sets in found)
            counts = supports(self.data, new)
            first = 0
            for k, (rule, is_complete, sets) in zip(waiting, found, strict=True):
                results[k] = codes[k], rule, is_complete
                last = first + len(sets.offsets) - 1
                noted[k], held[k] = _Sets.joined((noted[k], sets)), np.concatenate((held[k], counts[first:last]))
                first = last
            waiting = [k for k, (*_result, sets) in zip(waiting, found, strict=True) if len(sets.offsets) > 1]
            most = min(NOTED_LATER * most, NOTED_AT_LAST)
        return [results[k] for k in range(len(codes))]

    def _search_once(self, asked: list[_Asked], most: int) -> list[tuple[_Rule | None, bool, _Sets]]:
        """Search the rules of some items once; return for each the strongest, whether all were examined, and sets to count."""
        from setveil.mining import _rule_search_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        contents, none = self.contents, read_only(_NOTHING)
        records = kernels.Records(
            offsets=contents.offsets,
            items=contents.items,
            weights=self.weights,
            words=np.empty(0, np.uint64),
            starts=none,
            lists=none,
            supports=read_only(self.data.supports),
        )

        def part(first: int, control: NDArray[np.int64]) -> list[tuple[_Rule | None, bool, _Sets]]:
            longest = int(contents.lengths.max(initial=1))
            room = kernels.make_room(contents.records, len(contents.vocabulary), longest, most)
            found = []
            for one in asked[first : first + ITEMS_AT_ONCE]:
                of_item = slice(self.starts[one.code], self.starts[one.code + 1])
                rows = self.row[of_item].copy()
                room.slack[rows] = self.slack[of_item]
                known = kernels.Known(*one.noted, one.held)
                bounds = kernels.Bounds(self.num, self.den, one.budget)
                kernels.search(one.code, rows, one.excess, records, bounds, room._replace(known=known), control)
                found.append(
                    (_rule_in(room.best, room.best_set), bool(room.best[kernels.COMPLETE]), _sets_in(room.notes))
                )
            return found

        starts = range(0, len(asked), ITEMS_AT_ONCE)
        results = share("searching rules", list(starts), part, total=len(asked))
        return [one for found in results for one in found]


class _Asked(NamedTuple):
    """One search: the item, the excess to exceed, the maximum number of steps, and the sets that were noted and counted before."""

    code: int
    excess: int
    budget: int
    noted: _Sets
    held: NDArray[np.int64]


def _rule_in(best: NDArray[np.int64], best_set: NDArray[np.int64]) -> _Rule | None:
    """Return the rule that a search found, if it found any; `best` is what `_rule_search_kernels` says of it."""
    excess, both, others, size, _is_complete = best.tolist()
    return _Rule(excess, both, others, best_set[:size].copy()) if size else None


def _sets_in(notes: Any) -> _Sets:
    """Return the sets that a search noted."""
    number = int(notes.state[0])
    return _Sets(notes.offsets[: number + 1].copy(), notes.items[: notes.offsets[number]].copy())
