"""ρ-uncertainty: no items that somebody may know of a person betray a sensitive one with a confidence above ρ.

Paper    jia2014 (references.bib), section 2.1, after cao2010: conf(q → e) ≤ ρ for every sensitive e and every set q of items, sensitive ones
         among them, of any size.
Checked  on the released file, exactly, with ρ as a fraction of whole numbers. Only closed q can be worst: those that are all that some
         records with e have in common. For each sensitive item first the largest, all other items of each of its records; these also
         tell below how many counterparts without e no smaller q can fall, which mostly settles it. Else the closed q are searched, depth
         first, with that bound at each.
Departs  with `include_empty` the empty q counts, the share of all records with e; with `knows="whole"` also the confidence among the
         records with exactly the same items that are not sensitive. See docs/decisions/0015.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from setveil.data.generalized import Generalized
from setveil.data.sensitive_items import SensitiveItems
from setveil.data.tidying import record_numbers
from setveil.data.transactions import Transactions
from setveil.declaration import parameter
from setveil.guarantees.base import MOST_WITNESSES, Coverage, Guarantee, Verdict, Witness
from setveil.kernels.threads import number_of_threads, share
from setveil.mining.supports import supports
from setveil.mining.threshold import MaxConfidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.alignment import Alignment

INFERRED = "inferred-item"
INFERRED_FROM_WHOLE = "inferred-from-whole-record"
SHOWN_ITEMS = 12
CODES_AT_ONCE = 20_000_000
"""Items of the sets that are counted together: bounds memory."""
STEPS_FOR_MORE = 2_000_000
"""Where a rule above ρ is known, so many steps are spent on finding a stronger one."""
ITEMS_AT_ONCE = 64
"""Sensitive items of one part of the search."""


@dataclass(frozen=True, eq=False)
class Rules:
    """For each sensitive item the strongest rule found: `sets[place]` betrays `items[place]`."""

    items: NDArray[np.int64]
    excess: NDArray[np.int64]
    with_item: NDArray[np.int64]
    without_item: NDArray[np.int64]
    sets: list[NDArray[np.int64]]
    undecided: int
    """How many other sensitive items could not be cleared within the budget."""
    exposed: int
    """How many sensitive occurrences all other items of their record betray."""


class RhoUncertainty(Guarantee):
    """No known items betray a sensitive one with a confidence above ρ."""

    name: ClassVar[str] = "rho-uncertainty"
    title: ClassVar[str] = "ρ-uncertainty"
    paper: ClassVar[str] = "jia2014"
    coverage: ClassVar[Coverage] = Coverage(
        attacker="knows any items of a person's record, sensitive ones among them, and looks for records that hold them",
        singling_out="not bounded: known items can lead to one record, which then holds no sensitive item that is not known",
        linking="not bounded",
        inference="bounded for sensitive items: of the released records with the known items at most a share of ρ holds any other one",
        not_covered=(
            "what the original held: where a share stands exactly at the limit, left out items can be suspected",
            "someone who knows that a person has certain items and no others, unless the release was made with knows=whole",
            "items that were not named sensitive",
            "someone who knows other data about the same people",
        ),
    )

    sensitive: SensitiveItems = parameter(public=False, description="The items that nobody may infer.")
    rho: MaxConfidence = parameter(
        public=True, description="The highest confidence with which a sensitive item may be inferred."
    )
    include_empty: bool = parameter(
        True,
        public=True,
        description="Whether somebody who knows nothing of a person may not infer a sensitive item either.",
    )
    knows: Literal["subset", "whole"] = parameter(
        "subset",
        public=True,
        description="What somebody may know of a person: some items of the record, or also that there are no other items that are not "
        "sensitive.",
    )
    budget: int = parameter(
        1_000_000_000,
        ge=0,
        public=True,
        description="After how many steps the search for a sensitive item's rules ends; without an answer it is undecided.",
    )

    @property
    def statement(self) -> str:
        """The promise in one sentence."""
        nothing = ", or none at all," if self.include_empty else ""
        whole = (
            " The same holds for somebody who knows that a person has no other items that are not sensitive."
            if self.knows == "whole"
            else ""
        )
        return (
            f"Of the released records that hold any items somebody may know{nothing} at most a share of {self.rho} holds any one sensitive "
            f"item beside them.{whole}"
        )

    def check(
        self,
        published: Transactions | Generalized,
        *,
        original: Transactions | None = None,
        alignment: Alignment | None = None,
    ) -> Verdict:
        """Prove that no rule is unsafe, or find the strongest rule for each item that can be inferred."""
        del original, alignment
        data = published.records if isinstance(published, Generalized) else published
        is_sensitive = self.sensitive.among(data)
        found = self.strongest_rules(data)
        breaches = {INFERRED: len(found.items)} if len(found.items) else {}
        order = np.argsort(-found.excess, kind="stable")[:MOST_WITNESSES]
        witnesses = [self._witness(data, found, int(place)) for place in order]
        if self.knows == "whole":
            whole = self._inferred_from_whole(data, is_sensitive)
            if whole:
                breaches[INFERRED_FROM_WHOLE] = len(whole)
                witnesses += whole[:MOST_WITNESSES]
        counts = {
            "sensitive-items": int(np.count_nonzero(data.supports[is_sensitive])),
            "sensitive-occurrences": int(data.supports[is_sensitive].sum()),
            "betrayed-by-their-whole-record": found.exposed,
        }
        if breaches:
            return Verdict("broken", self.name, counts, breaches, 0, tuple(witnesses))
        if found.undecided:
            reason = f"the rules of {found.undecided:,} sensitive items were not all searched within {self.budget:,} steps each"
            return Verdict("undecided", self.name, counts | {"undecided-items": found.undecided}, reason=reason)
        return Verdict("holds", self.name, counts)

    def strongest_rules(self, data: Transactions) -> Rules:
        """Find for each sensitive item the rule that is furthest above ρ; none for items that nothing betrays."""
        num, den = self.rho.share.as_integer_ratio()
        is_sensitive = self.sensitive.among(data)
        contents, weights, _content_of = data.distinct()
        leaves = _Leaves.of(data, contents, weights, is_sensitive, num, den)
        codes = np.flatnonzero(is_sensitive & (data.supports > 0))
        excess = np.zeros(len(codes), np.int64)
        with_item, without = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
        sets: list[NDArray[np.int64]] = [np.empty(0, np.int64)] * len(codes)
        if self.include_empty:
            held = data.supports[codes]
            excess = np.maximum(held * (den - num) - num * (data.records - held), 0)
            with_item, without = held.copy(), data.records - held
        undecided = np.zeros(len(codes), np.bool_)
        open_places = [
            place for place, code in enumerate(codes.tolist()) if leaves.may_exceed(code, int(excess[place]))
        ]
        for place in open_places:
            leaf = leaves.strongest(int(codes[place]))
            if leaves.excess[leaf] > excess[place]:
                excess[place] = leaves.excess[leaf]
                with_item[place], without[place] = leaves.with_item[leaf], leaves.slack[leaf]
                items = contents.items[contents.offsets[leaves.rows[leaf]] : contents.offsets[leaves.rows[leaf] + 1]]
                sets[place] = items[items != codes[place]].astype(np.int64)
        for place, best, items in leaves.search(codes, excess, open_places, self.budget):
            if best[_SIZE]:
                excess[place], with_item[place], without[place] = best[_EXCESS], best[_WITH], best[_WITHOUT]
                sets[place] = items
            undecided[place] = not best[_COMPLETE]
        unsafe = np.flatnonzero(excess > 0)
        return Rules(
            codes[unsafe],
            excess[unsafe],
            with_item[unsafe],
            without[unsafe],
            [sets[place] for place in unsafe],
            int(np.count_nonzero(undecided & (excess <= 0))),
            int(weights[leaves.rows[leaves.excess > 0]].sum()),
        )

    def _inferred_from_whole(self, data: Transactions, is_sensitive: NDArray[np.bool_]) -> list[Witness]:
        """Compare the records with exactly the same items that are not sensitive: the strongest case of each sensitive item."""
        num, den = self.rho.share.as_integer_ratio()
        hidden = is_sensitive[data.items]
        row = record_numbers(data.offsets)
        kept = np.concatenate(([0], np.cumsum(~hidden)))
        plain = Transactions(kept[data.offsets], data.items[~hidden], data.vocabulary)
        parts, sizes, part_of = plain.distinct()
        width = max(len(data.vocabulary), 1)
        keys, held = np.unique(part_of[row[hidden]] * width + data.items[hidden], return_counts=True)
        part, item = keys // width, keys % width
        excess = held * den - num * sizes[part]
        if not self.include_empty:
            excess[parts.lengths[part] == 0] = 0
        unsafe = np.flatnonzero(excess > 0)
        unsafe = unsafe[np.lexsort((-excess[unsafe], item[unsafe]))]
        unsafe = unsafe[np.concatenate(([True], np.diff(item[unsafe]) != 0))] if len(unsafe) else unsafe
        witnesses = []
        for case in unsafe[np.argsort(-excess[unsafe], kind="stable")].tolist():
            label = data.vocabulary[item[case]]
            shown = _shown(parts.record(int(part[case])))
            detail = (
                f"{held[case]:,} of the {sizes[part[case]]:,} released records whose items that are not sensitive are just these hold it: "
                f"{held[case] / sizes[part[case]]:.1%}, allowed is {self.rho}"
            )
            witnesses.append(Witness(INFERRED_FROM_WHOLE, f"exactly {{{shown}}} → {label}", detail, items=(label,)))
        return witnesses

    def _witness(self, data: Transactions, found: Rules, place: int) -> Witness:
        label = data.vocabulary[found.items[place]]
        both = int(found.with_item[place])
        all_of_them = both + int(found.without_item[place])
        known = [data.vocabulary[code] for code in found.sets[place]]
        which = "released records that hold these items" if known else "released records"
        detail = f"{both:,} of the {all_of_them:,} {which} hold it: {both / all_of_them:.1%}, allowed is {self.rho}"
        return Witness(INFERRED, f"{{{_shown(known)}}} → {label}", detail, items=(label,))


def _shown(labels: list[str]) -> str:
    return ", ".join(labels[:SHOWN_ITEMS]) + (", …" if len(labels) > SHOWN_ITEMS else "")


_EXCESS, _WITH, _WITHOUT, _SIZE, _COMPLETE, _WIDTH = range(6)


@dataclass(frozen=True, eq=False)
class _Leaves:
    """The largest rules: of each distinct record with a sensitive item, all other items of it betray that one or not.

    They come by item, and for each item by slack, the number of records that hold the other items and not this one.
    """

    contents: Transactions
    weights: NDArray[np.int64]
    num: int
    den: int
    starts: NDArray[np.int64]
    """Of each item code where its leaves start."""
    rows: NDArray[np.int64]
    slack: NDArray[np.int64]
    with_item: NDArray[np.int64]
    excess: NDArray[np.int64]
    bound: NDArray[np.int64]
    """For each item code the highest excess that any rule can have."""

    @classmethod
    def of(
        cls,
        data: Transactions,
        contents: Transactions,
        weights: NDArray[np.int64],
        is_sensitive: NDArray[np.bool_],
        num: int,
        den: int,
    ) -> _Leaves:
        place = np.flatnonzero(is_sensitive[contents.items])
        row = record_numbers(contents.offsets)[place]
        more = contents.lengths[row] > 1  # a sensitive item alone is betrayed by nothing but the empty set
        place, row = place[more], row[more]
        code = contents.items[place]
        concerned = np.unique(row)
        with_item = np.zeros(contents.records, np.int64)
        with_item[concerned] = supports(data, _sets(contents, concerned))
        slack = _held_without(data, contents, row, place) - with_item[row]
        order = np.lexsort((row, slack, code))
        code, row, slack = code[order], row[order], slack[order]
        starts = np.searchsorted(code, np.arange(len(data.vocabulary) + 1)).astype(np.int64)
        both = with_item[row]
        running = np.cumsum(weights[row])
        before = np.concatenate(([0], running))[starts[code]]
        prefix = (running - before) * (den - num) - num * slack
        bound = np.zeros(len(data.vocabulary), np.int64)
        there = np.flatnonzero(np.diff(starts))
        if len(there):
            bound[there] = np.maximum.reduceat(prefix, starts[there])
        return cls(contents, weights, num, den, starts, row, slack, both, both * (den - num) - num * slack, bound)

    def may_exceed(self, code: int, excess: int) -> bool:
        """Tell whether some rule of an item could be further above ρ than this."""
        return bool(self.bound[code] > excess)

    def strongest(self, code: int) -> int:
        """Return the leaf of an item that is furthest above ρ, or least below it."""
        first, last = self.starts[code], self.starts[code + 1]
        return int(first + np.argmax(self.excess[first:last]))

    def search(
        self, codes: NDArray[np.int64], excess: NDArray[np.int64], places: list[int], budget: int
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Search the smaller rules of these items for one further above ρ than what is known."""
        if not places:
            return
        from setveil.guarantees import _rho_uncertainty_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        contents = self.contents
        words = np.empty(contents.records, np.uint64)
        kernels.signatures(contents.offsets, contents.items, 0, contents.records, words)
        by_item = np.argsort(contents.items, kind="stable")
        lists = record_numbers(contents.offsets)[by_item]
        list_starts = np.concatenate(([0], np.cumsum(contents.supports)))
        supports_of = np.bincount(
            contents.items, np.repeat(self.weights, contents.lengths), len(contents.vocabulary)
        ).astype(np.int64)
        arrays = (contents.offsets, contents.items, self.weights, words, list_starts, lists)
        for array in (*arrays, supports_of, self.rows, self.slack):
            array.flags.writeable = False

        def part(first: int, control: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
            slack = np.empty(contents.records, np.int64)
            count = np.zeros(len(contents.vocabulary), np.int64)
            depth = np.full(len(contents.vocabulary), -1, np.int64)
            longest = np.empty(int(contents.lengths.max()), np.int64)
            found = []
            for place in places[first : first + ITEMS_AT_ONCE]:
                code = codes[place]
                of_item = slice(self.starts[code], self.starts[code + 1])
                rows = self.rows[of_item]
                slack[rows] = self.slack[of_item]
                best = np.zeros(_WIDTH, np.int64)
                steps = min(budget, STEPS_FOR_MORE) if excess[place] > 0 else budget
                start = int(excess[place])
                room = (count, depth, best, longest)
                kernels.search(
                    code, rows, slack, supports_of, *arrays, self.num, self.den, start, steps, *room, control
                )
                found.append((place, best, longest[: best[_SIZE]].copy()))
            return found

        starts = range(0, len(places), ITEMS_AT_ONCE)
        threads = number_of_threads(None)
        for results in share("searching rules", list(starts), part, threads=threads, total=len(places)):
            yield from results


def _sets(contents: Transactions, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    chosen = contents.take(rows)
    return chosen.offsets, chosen.items


def _held_without(
    data: Transactions, contents: Transactions, row: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count for each (content, place of an item in it) the records that hold all its other items."""
    held = np.empty(len(row), np.int64)
    sizes = contents.lengths[row]
    ends = np.cumsum(sizes)
    first = 0
    while first < len(row):
        last = max(first + 1, int(np.searchsorted(ends, (ends[first - 1] if first else 0) + CODES_AT_ONCE)))
        size = sizes[first:last]
        starts = np.concatenate(([0], np.cumsum(size)))
        places = np.repeat(contents.offsets[row[first:last]] - starts[:-1], size) + np.arange(starts[-1])
        others = places != np.repeat(place[first:last], size)
        offsets = starts - np.arange(len(starts))
        held[first:last] = supports(data, (offsets, contents.items[places[others]]))
        first = last
    return held
