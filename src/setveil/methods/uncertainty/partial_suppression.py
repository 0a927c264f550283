"""Partial suppression: suppress single occurrences until no known items reveal a sensitive one.

Paper    jia2014 (references.bib), sections 3.1 to 3.3: PARTIALSUPPRESSOR, SANITIZEBUFFER, DNCSPLITDATA.
Departs  the paper lists all subsets of each record, 2^|record| of them, in a buffer (b_max). Here only the largest subset, all other items
         of the record, is tested. If it reveals a sensitive item, it is shrunk to a rule in which every item is necessary. So there is no
         buffer and no b_max. The exact search over the whole table finds the remaining rules, and proves that none is left.
         N_s is a fraction when items are compared, and rounded up when they are suppressed. In (8) the length is the mean record length,
         T(t) is a share of all occurrences, and "half of the items" means half of the records. Parts keep at least LEAST_RECORDS records.
         All departures: docs/methods/partial-suppression.md.
Cost     about the number of sensitive occurrences times the support of the rarest item in the same record.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.advice import Advice
from setveil.base.declaration import parameter
from setveil.data.records.ragged import offsets_of, owner_of, read_only
from setveil.data.records.transactions import Transactions
from setveil.kernels.control import STOP
from setveil.kernels.threads import share
from setveil.methods.uncertainty._division import at_most_one_per_record, divide, join
from setveil.methods.uncertainty._restoring import Restoring, outcome_of
from setveil.methods.uncertainty.base import SuppressesOccurrences
from setveil.mining.rule_search import strongest_rules

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.methods.base import Outcome

HANDICAP = 0.02
"""Added to the remaining share of a sensitive item, so that others are restored slightly earlier; the best value on BMS-WebView-2."""
LEAST_RECORDS = 1000
"""Minimum number of records of a part that is split off to save time: smaller parts keep too little and save no time."""

UNDECIDED = Advice(
    "The search for unsafe rules ended before it had tried all of them, so it is not proved that none is left.",
    ["name fewer sensitive items"],
)


class PartialSuppression(SuppressesOccurrences):
    """Suppress single occurrences of items until no rule infers a sensitive item with a confidence above ρ."""

    name = "partial-suppression"
    title = "PartialSuppression"
    paper = "jia2014"
    truthful = "subset"

    objective: Literal["mine", "dist"] = parameter(
        "mine",
        public=True,
        description="What to preserve: most occurrences, and rules between items that are not sensitive (mine), or how often items occur "
        "relative to each other (dist).",
    )
    t_max: int = parameter(
        500,
        ge=1,
        public=True,
        description="Maximum cost of a part by the paper's estimate. The records are split in halves until no part exceeds it.",
    )
    parts: int = parameter(
        0, ge=0, public=True, description="Number of parts to split the records into; with 0, t_max decides."
    )
    restore: bool = parameter(
        True,
        public=True,
        description="At the end, restore occurrences where this is safe: parts and the order of steps suppress more than necessary. false "
        "gives the paper's result.",
    )

    def number_of_parts(self, data: Transactions) -> int:
        """Return the number of parts: `parts` if it is set, otherwise the smallest power of two that meets `t_max`."""
        if self.parts:
            return at_most_one_per_record(self.parts, data)
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
        """Suppress occurrences until the search finds no unsafe rule, and restore those that stay safe."""
        present, account = self.suppressed(data, rng)
        is_sensitive = self.sensitive.among(data)
        if self.restore and not account["undecided-items"]:
            present_before = int(np.count_nonzero(present))
            present = self._restored(data, present, rng)
            account["occurrences-put-back"] = int(np.count_nonzero(present)) - present_before
        return replace(outcome_of(data, present, is_sensitive, account), advice=self.advice_on(account))

    def suppressed(self, data: Transactions, rng: Generator) -> tuple[NDArray[np.bool_], dict[str, int]]:
        """Return for each occurrence whether it stays before any is restored, and an account."""
        is_sensitive = read_only(self.sensitive.among(data))
        number = self.number_of_parts(data)
        division = divide(data, number, rng)
        parts = [_Part(self, part.records, is_sensitive, part.seed) for part in division]
        searches = 0
        while True:
            share("suppressing items", parts, _Part.settle, total=data.records)
            present = join(division, (~part.gone for part in parts), data.occurrences)
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
            # A rule that is unsafe in the whole is unsafe in at least one part, so every round suppresses something.
            for part in parts:
                part.unsafe = (found.items, found.sets)
        account = {
            "parts": number,
            "rules-made-safe": sum(part.rules for part in parts),
            "searches": searches,
            "undecided-items": found.undecided,
        }
        return present, account

    def turns(self, data: Transactions, left: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items to restore: the most frequent first for `mine`, those with the smallest remaining share first for `dist`."""
        is_sensitive = self.sensitive.among(data)
        lost = left < data.supports
        if self.knows == "whole":
            # A restored non-sensitive item would move records between the groups that are compared.
            lost &= is_sensitive
        codes = np.flatnonzero(lost) if self.restore else np.empty(0, np.int64)
        share_left = left[codes] / data.supports[codes] + HANDICAP * is_sensitive[codes]
        rank = share_left if self.objective == "dist" else -data.supports[codes]
        return codes[np.argsort(rank, kind="stable")]

    def advice_on(self, account: dict[str, Any]) -> Advice:
        """Return why the data are not proved safe, if they are not."""
        return UNDECIDED if account["undecided-items"] else Advice()

    def _restored(self, data: Transactions, present: NDArray[np.bool_], rng: Generator) -> NDArray[np.bool_]:
        """Restore what stays safe."""
        order = self.turns(data, np.bincount(data.items[present], minlength=len(data.vocabulary)))
        if self.rho.share == 1 or not len(order):
            return present
        restoring = Restoring(data, present, order, self, rng)
        restoring.run()
        return restoring.present


class _Part:
    """A part of the records, in random order, and what they still hold."""

    def __init__(
        self,
        method: PartialSuppression,
        part: Transactions,
        is_sensitive: NDArray[np.bool_],
        seed: np.uint64,
    ) -> None:
        from setveil.methods.uncertainty import _occurrences_kernels as occurrences  # noqa: PLC0415 - imports Numba: only when a kernel runs
        from setveil.methods.uncertainty import _partial_suppression_kernels as kernels  # noqa: PLC0415 - the same

        self.method = method
        self.aim = kernels.Aim(*method.rho.share.as_integer_ratio(), method.objective == "dist")
        self.is_sensitive = is_sensitive
        self.part = part
        self.unsafe: tuple[NDArray[np.int64], list[NDArray[np.int64]]] = (np.empty(0, np.int64), [])
        """Rules to make safe, as sensitive items and the known items of each."""
        items, longest = len(part.vocabulary), int(part.lengths.max(initial=0)) + 1
        self.gone = np.zeros(part.occurrences, np.bool_)
        self.totals = np.zeros(4, np.int64)
        starts = read_only(offsets_of(part.supports))
        self.original = occurrences.Original(part.offsets, part.items, starts, part.supports, is_sensitive)
        self.now = occurrences.Now(
            held=part.items.copy(),
            lengths=np.zeros(part.records, np.int64),
            lists=np.empty(part.occurrences, np.int32),
            spots=np.empty(part.occurrences, np.int64),
            supports=np.zeros(items, np.int64),
            words=np.empty(part.records, np.uint64),
            is_gone=self.gone,
            random=np.array([seed], np.uint64),
            totals=self.totals,
        )
        self.room = kernels.Room(
            rows=np.empty(part.records, np.int64),
            ranks=np.full(items, -1, np.int64),
            tally=np.zeros(items, np.int64),
            keys=np.empty(longest, np.int64),
            q=np.empty(longest, np.int64),
            seen=np.zeros(longest, np.int64),
            heads=np.empty(longest, np.int64),
            links=np.empty(part.records, np.int64),
            is_kept=np.empty(longest, np.bool_),
            touched=np.empty(items, np.int64),
        )
        self.fresh = True

    @property
    def rules(self) -> int:
        """The number of rules that were made safe."""
        from setveil.methods.uncertainty._occurrences_kernels import RULES  # noqa: PLC0415 - imports Numba: only when a kernel runs

        return int(self.totals[RULES])

    def settle(self, control: NDArray[np.int64]) -> None:
        """Make the given rules safe, then suppress items until no record reveals a sensitive one.

        That is by its other items, and by the empty set and whole records where these count.
        """
        from setveil.methods.uncertainty import _occurrences_kernels as occurrences  # noqa: PLC0415 - imports Numba: only when a kernel runs
        from setveil.methods.uncertainty import _partial_suppression_kernels as kernels  # noqa: PLC0415 - the same

        if self.fresh:
            occurrences.fill(self.original, self.now)
            self.fresh = False
            if self.method.include_empty:
                self._suppress_in_all_records()
        inferred, sets = self.unsafe
        self.unsafe = (inferred[:0], [])
        known = np.concatenate([np.empty(0, np.int64), *map(np.sort, sets)])
        unsafe = kernels.Unsafe(
            read_only(offsets_of(list(map(len, sets)))), read_only(known), read_only(inferred, np.int64)
        )
        before = -1
        while before != self.totals[occurrences.REMOVED]:
            kernels.sweep(unsafe, self.aim, self.original, self.now, self.room, control)
            unsafe = kernels.Unsafe(unsafe.offsets[:1], unsafe.known[:0], unsafe.inferred[:0])
            before = self.totals[occurrences.REMOVED]
            if self.method.knows == "whole" and not control[STOP]:
                self._suppress_in_equal_records()

    def _suppress_in_groups(self, group_of: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
        """Suppress sensitive items that too many records of a group hold; `sizes` has the records per group, 0 for no limit."""
        from setveil.methods.uncertainty import _occurrences_kernels as occurrences  # noqa: PLC0415 - imports Numba: only when a kernel runs

        secret = np.flatnonzero(~self.gone & self.is_sensitive[self.part.items])
        row, item = owner_of(self.part.offsets)[secret], self.part.items[secret].astype(np.int64)
        order = np.lexsort((row, item, group_of[row]))
        row, item, group = row[order], item[order], group_of[row[order]]
        is_new = np.concatenate(([True], (np.diff(item) != 0) | (np.diff(group) != 0)))[: len(row)]
        first = np.flatnonzero(is_new)
        held = np.diff(np.append(first, len(row)))
        size = sizes[group[first]]
        excess = np.where(size > 0, held - self.aim.num * size // self.aim.den, 0)
        unsafe = np.flatnonzero(excess > 0)
        chosen = np.repeat(excess > 0, held)
        starts = offsets_of(held[unsafe])
        cases = (read_only(starts), row[chosen], read_only(item[first[unsafe]]), read_only(excess[unsafe]))
        occurrences.remove_cases(*cases, self.original, self.now)

    def _suppress_in_all_records(self) -> None:
        """Suppress sensitive items that too many of all records hold."""
        self._suppress_in_groups(np.zeros(self.part.records, np.int64), np.array([self.part.records]))

    def _suppress_in_equal_records(self) -> None:
        """Suppress sensitive items that too many of the records with the same non-sensitive items hold."""
        shown = ~self.gone & ~self.is_sensitive[self.part.items]
        contents, sizes, group_of = self.part.keeping(shown).distinct()
        bounded = self.method.include_empty | (contents.lengths > 0)
        self._suppress_in_groups(group_of, np.where(bounded, sizes, 0))
