"""Partial suppression: single occurrences are left out until no known items betray a sensitive one.

Paper    jia2014 (references.bib), sections 3.1 to 3.3: PARTIALSUPPRESSOR, SANITIZEBUFFER, DNCSPLITDATA.
Departs  the paper lists all subsets of each record in a buffer (b_max), 2^|record| of them. Here the largest one, all other items of the
         record, finds out whether a record is left to treat, and is then shrunk to a rule of which no item can be missed. So there is no
         buffer and no b_max. What that leaves is found by the exact search over the whole, which also proves that nothing is left.
         N_s is a fraction where items are compared and rounded up where they are left out. (8) is read with the mean length of a record,
         T(t) as a share of all occurrences, "half of the items" as half of the records; parts stay above LEAST_RECORDS records. The rest:
         docs/methods/partial-suppression.md.
Cost     about the sensitive occurrences times the length of the shortest list of records among the items of their record.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.ragged import offsets_of, owner_of, picked, read_only
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import share
from setveil.methods.uncertainty._restoring import Restoring, outcome_of
from setveil.methods.uncertainty.base import ReachesUncertainty
from setveil.mining.rule_search import strongest_rules

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.methods.base import Outcome

HANDICAP = 0.02
"""By so much less of an item that is not sensitive must be left for it to come back first: found best on BMS-WebView-2."""
LEAST_RECORDS = 1000
"""Of a part that is made to save time: with fewer records there is too little to keep, and no time to save."""

UNDECIDED = (
    "the search for rules that are left ended before all were tried, so that it is not proved that none is too strong"
)


class PartialSuppression(ReachesUncertainty):
    """Leave out single occurrences of items, as few as make every rule for a sensitive item weak enough."""

    name = "partial-suppression"
    title = "PartialSuppression"
    paper = "jia2014"
    truthful = "subset"

    objective: Literal["mine", "dist"] = parameter(
        "mine",
        public=True,
        description="What the choice of items preserves: rules that can be mined, with the least loss (mine), or how often items occur "
        "beside each other (dist).",
    )
    t_max: int = parameter(
        500,
        ge=1,
        public=True,
        description="The highest cost of a part by the paper's estimate; the records are split in halves until parts are below it.",
    )
    parts: int = parameter(
        0, ge=0, public=True, description="Into how many parts the records are split; 0 leaves it to t_max."
    )
    restore: bool = parameter(
        True,
        public=True,
        description="Whether occurrences come back in the end that can, since parts and the order of steps take too many; false for the "
        "paper's own result.",
    )

    def number_of_parts(self, data: Transactions) -> int:
        """Return into how many parts these records are split: the smallest power of two that meets `t_max`, unless `parts` says."""
        if self.parts:
            return max(min(self.parts, data.records), 1)
        if not data.occurrences:
            return 1
        # (8), in logarithms: |T| 2^(mean length) / |D(T)|
        items = int(np.count_nonzero(data.supports))
        cost = math.log2(data.records) + data.occurrences / data.records - math.log2(items)
        parts = 1
        while cost - math.log2(parts) > math.log2(self.t_max) and data.records >= 2 * parts * LEAST_RECORDS:
            parts *= 2
        return parts

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Leave out occurrences until the search finds no rule that is too strong."""
        present, account = self.suppressed(data, rng)
        is_sensitive = self.sensitive.among(data)
        if self.restore and not account["undecided-items"]:
            there = int(np.count_nonzero(present))
            present = self._restored(data, is_sensitive, present, rng)
            account["occurrences-put-back"] = int(np.count_nonzero(present)) - there
        outcome = outcome_of(data, present, is_sensitive, account)
        return replace(outcome, advice=UNDECIDED) if account["undecided-items"] else outcome

    def suppressed(self, data: Transactions, rng: Generator) -> tuple[NDArray[np.bool_], dict[str, int]]:
        """Return for each occurrence whether it stays, and an account of that."""
        is_sensitive = read_only(self.sensitive.among(data))
        number = self.number_of_parts(data)
        order = rng.permutation(data.records)
        borders = np.arange(number + 1) * data.records // number
        seeds = rng.integers(1, 2**64, number, np.uint64)
        parts = [
            _Part(self, data, order[first:last], is_sensitive, seed)
            for first, last, seed in zip(borders[:-1], borders[1:], seeds, strict=True)
        ]
        present = np.ones(data.occurrences, np.bool_)
        searches = 0
        while True:
            share("leaving out items", parts, _Part.settle, total=data.records)
            for part in parts:
                present[part.places] = ~part.gone
            found = strongest_rules(
                data.keeping(present),
                is_sensitive,
                self.rho.share,
                include_empty=self.include_empty,
                budget=self.guarantee.budget,
            )
            searches += 1
            if not len(found.items):
                break
            # What is unsafe in all parts together is unsafe in one of them at least: every round leaves something out.
            for part in parts:
                part.sanitize(found.items, found.sets)
        account = {
            "parts": number,
            "rules-made-safe": sum(part.rules for part in parts),
            "searches": searches,
            "undecided-items": found.undecided,
        }
        return present, account

    def _restored(
        self,
        data: Transactions,
        is_sensitive: NDArray[np.bool_],
        present: NDArray[np.bool_],
        rng: Generator,
    ) -> NDArray[np.bool_]:
        """Put back what stays safe: items of which least is left first, for `mine` those in most records."""
        left = np.bincount(data.items[present], minlength=len(data.vocabulary))
        lost = left < data.supports
        if self.knows == "whole":
            lost &= is_sensitive  # another item would move records between the groups that are compared
        codes = np.flatnonzero(lost)
        if self.rho.share == 1 or not len(codes):
            return present
        share_left = left[codes] / data.supports[codes] + HANDICAP * is_sensitive[codes]
        rank = share_left if self.objective == "dist" else -data.supports[codes]
        restoring = Restoring(
            data,
            is_sensitive,
            present,
            codes[np.argsort(rank, kind="stable")],
            self.rho.share,
            include_empty=self.include_empty,
            whole=self.knows == "whole",
            rng=rng,
        )
        restoring.run()
        return restoring.present


class _Part:
    """Some of the records, in random order, and what they still hold."""

    def __init__(
        self,
        method: PartialSuppression,
        data: Transactions,
        rows: NDArray[np.int64],
        is_sensitive: NDArray[np.bool_],
        seed: np.uint64,
    ) -> None:
        self.method = method
        self.num, self.den = method.rho.share.as_integer_ratio()
        self.by_distribution = method.objective == "dist"
        self.is_sensitive = is_sensitive
        self.part = part = data.take(rows, ids=None)
        self.places = picked(data.offsets, rows)[1]
        """Where in the data each occurrence stands."""
        items, longest = len(data.vocabulary), int(part.lengths.max(initial=0)) + 1
        list_starts = read_only(offsets_of(part.supports))
        self.gone = np.zeros(part.occurrences, np.bool_)
        self.totals = np.zeros(4, np.int64)
        self.fixed = (part.offsets, part.items, list_starts, part.supports, is_sensitive)
        self.state = (
            part.items.copy(),
            np.zeros(part.records, np.int64),
            np.empty(part.occurrences, np.int32),
            np.empty(part.occurrences, np.int64),
            np.zeros(items, np.int64),
            np.empty(part.records, np.uint64),
            self.gone,
            np.array([seed], np.uint64),
            self.totals,
        )
        self.room = (
            np.empty(part.records, np.int64),
            np.full(items, -1, np.int64),
            np.zeros(items, np.int64),
            np.empty(longest, np.int64),
            np.empty(longest, np.int64),
            np.zeros(longest, np.int64),
            np.empty(longest, np.int64),
            np.empty(part.records, np.int64),
            np.empty(longest, np.bool_),
            np.empty(items, np.int64),
        )
        self.fresh = True

    @property
    def rules(self) -> int:
        """How many rules were made safe."""
        return int(self.totals[2])

    def settle(self, control: NDArray[np.int64]) -> None:
        """Leave out items until no record's own items betray a sensitive one, and what else must not betray one does not."""
        from setveil.methods.uncertainty import _occurrences_kernels as occurrences  # noqa: PLC0415 - imports Numba: only when a kernel runs
        from setveil.methods.uncertainty import _partial_suppression_kernels as kernels  # noqa: PLC0415 - the same

        if self.fresh:
            occurrences.fill(self.fixed, self.state)
            self.fresh = False
            if self.method.include_empty:
                self._leave_out_of_all()
        before = -1
        while before != self.totals[1]:
            kernels.sweep(self.num, self.den, self.by_distribution, self.fixed, self.state, self.room, control)
            before = self.totals[1]
            if self.method.knows == "whole" and not control[1]:
                self._leave_out_of_alike()

    def sanitize(self, items: NDArray[np.int64], sets: list[NDArray[np.int64]]) -> None:
        """Make these rules safe where they are not."""
        from setveil.methods.uncertainty import _partial_suppression_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        for item, known in zip(items, sets, strict=True):
            rule = read_only(np.sort(known))
            kernels.sanitize_rule(
                rule, item, self.num, self.den, self.by_distribution, self.fixed, self.state, self.room
            )

    def _leave_out_of_groups(self, group_of: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
        """Let records lose sensitive items that too many of their group hold; `sizes` go by group, and 0 stands for one that may."""
        from setveil.methods.uncertainty import _occurrences_kernels as occurrences  # noqa: PLC0415 - imports Numba: only when a kernel runs

        secret = np.flatnonzero(~self.gone & self.is_sensitive[self.part.items])
        row, item = owner_of(self.part.offsets)[secret], self.part.items[secret].astype(np.int64)
        order = np.lexsort((row, item, group_of[row]))
        row, item, group = row[order], item[order], group_of[row[order]]
        is_new = np.concatenate(([True], (np.diff(item) != 0) | (np.diff(group) != 0)))[: len(row)]
        first = np.flatnonzero(is_new)
        held = np.diff(np.append(first, len(row)))
        size = sizes[group[first]]
        many = np.where(size > 0, held - self.num * size // self.den, 0)
        unsafe = np.flatnonzero(many > 0)
        chosen = np.repeat(many > 0, held)
        starts = offsets_of(held[unsafe])
        cases = (read_only(starts), row[chosen], read_only(item[first[unsafe]]), read_only(many[unsafe]))
        occurrences.remove_cases(*cases, self.fixed, self.state)

    def _leave_out_of_all(self) -> None:
        """Let records lose sensitive items that too many of all hold."""
        self._leave_out_of_groups(np.zeros(self.part.records, np.int64), np.array([self.part.records]))

    def _leave_out_of_alike(self) -> None:
        """Let records lose sensitive items that too many hold of those with the same items that are not sensitive."""
        shown = ~self.gone & ~self.is_sensitive[self.part.items]
        contents, sizes, group_of = self.part.keeping(shown).distinct()
        bounded = self.method.include_empty | (contents.lengths > 0)
        self._leave_out_of_groups(group_of, np.where(bounded, sizes, 0))
