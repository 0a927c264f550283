"""Restore occurrences of the original in a safe table, as long as it stays safe."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import offsets_of, owner_of, picked, read_only, sums_within
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.methods.base import Outcome
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.random import Generator
    from numpy.typing import NDArray


NODES = 20_000
"""Maximum number of sets that are examined for one content. Beyond it nothing is restored, which is always safe."""
HOT = 200
"""An item in more than one of this many records has a bitmap, with one bit per record."""
REMOVED_ONE_IN = (4, 40)
"""An improvement round removes one in N items; N is drawn from this range."""


class Restoring:
    """The state of a table between passes: which occurrences are present, and what is known about the others.

    `order` lists the items that may be restored, in this order. If all of them are sensitive and nothing else is missing, the
    non-sensitive part of the records never changes, and much need not be examined twice.
    """

    def __init__(
        self,
        data: Transactions,
        is_sensitive: NDArray[np.bool_],
        present: NDArray[np.bool_],
        order: NDArray[np.int64],
        rho: Fraction,
        *,
        include_empty: bool,
        whole: bool,
        rng: Generator,
    ) -> None:
        from setveil.methods.uncertainty import _insert_kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        self._kernels: Any = _insert_kernels
        self._data, self._is_sensitive, self._order, self._rng = data, read_only(is_sensitive), read_only(order), rng
        num, den = rho.as_integer_ratio()
        plain = ~is_sensitive[data.items]
        plain_is_fixed = bool(is_sensitive[order].all() and present[plain].all())
        self._settings = (whole, include_empty, plain_is_fixed, num, den)
        row = owner_of(data.offsets)
        # Which of several equal records keep an item is drawn at random, so that the order of the data reveals nothing.
        by_item = np.lexsort((rng.permutation(data.records)[row], data.items))
        self._starts = read_only(offsets_of(data.supports))
        self._listed = (self._starts, read_only(row[by_item]), read_only(by_item))
        parts, sizes, part_of = data.keeping(plain & present).distinct()
        dead = np.zeros(parts.records, np.bool_)
        if plain_is_fixed:
            is_asked = np.zeros(parts.records, np.bool_)
            is_asked[part_of[row[~plain]]] = True
            dead = dead_parts(data, parts, sizes, is_asked, rho)
        self._parts = (read_only(dead[part_of]), read_only(part_of), read_only(sizes))
        self._present = present.astype(np.uint8)
        self._lay_out()
        self.counts = np.zeros(8, np.int64)
        self.passes = 0

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which occurrences of the original are present."""
        return self._present.astype(np.bool_)

    def run(self, order: NDArray[np.int64] | None = None, label: str = "restoring items") -> None:
        """Restore what stays safe, pass by pass, until a pass restores nothing."""
        data, kernels = self._data, self._kernels
        whole, include_empty, plain_is_fixed, num, den = self._settings
        longest = int(data.lengths.max(initial=0))
        work = partial(
            kernels.put_back,
            self._order if order is None else read_only(order),
            *self._listed,
            self._parts[0],
            self._for_good,
            *self._parts[1:],
            whole,
            include_empty,
            plain_is_fixed,
            num,
            den,
            NODES,
            data.offsets,
            data.items,
            self._present,
            self._is_sensitive,
            self._starts,
            *self._table,
            *self._known,
            *self._slacks,
            *self._room,
            longest,
            self.counts,
        )
        added = -1
        passes = 0
        while added != self.counts[kernels.ADDED]:
            added = int(self.counts[kernels.ADDED])
            self.counts[kernels.REFUSED] = 0
            passes += 1
            run(f"{label}, pass {passes}", work, total=len(self._order))
        self.passes += passes

    def improve(self, rounds: int) -> int:
        """Suppress some items, restore everything in another order, `rounds` times; return the number of occurrences gained."""
        gained = 0
        for number in range(rounds):
            before, refused = self._snapshot(), self.counts[self._kernels.REFUSED]
            present_before = int(before[0].sum())
            one_in = int(self._rng.integers(*REMOVED_ONE_IN, endpoint=True))
            chosen = self._rng.choice(self._order, -(-len(self._order) // one_in), replace=False)
            self._suppress(chosen)
            others = self._rng.permutation(np.setdiff1d(self._order, chosen))
            parts = (others, chosen) if self._rng.random() < 0.7 else (chosen, others)
            self.run(np.concatenate(parts), f"improving, round {number + 1} of {rounds}")
            gain = int(self._present.sum()) - present_before
            if gain < 0:
                self._restore_snapshot(before)
                self.counts[self._kernels.REFUSED] = refused
            gained += max(gain, 0)
        return gained

    def account(self) -> dict[str, int]:
        """Return the counts of all passes."""
        kernels = self._kernels
        return {
            "passes": self.passes,
            "not-tried-for-length": int(self.counts[kernels.REFUSED]),
            "contents-looked-at": int(self.counts[kernels.EVALUATED]),
            "sets-searched": int(self.counts[kernels.NODES]),
        }

    def _lay_out(self) -> None:
        """Build the arrays of the table that the kernels use, and allocate their working memory."""
        data = self._data
        items, records = len(data.vocabulary), data.records
        is_hot = data.supports * HOT > records
        hot = read_only(np.where(is_hot, np.cumsum(is_hot) - 1, -1).astype(np.int64))
        bits = np.zeros((max(int(is_hot.sum()), 1), (records + 63) // 64), np.uint64)
        held, lists = np.zeros(items, np.int64), np.empty(data.occurrences, np.int64)
        words, sums = np.zeros(records, np.uint64), np.zeros(records, np.uint64)
        self._table = (held, lists, words, sums, hot, bits)
        self._kernels.set_up(data.offsets, data.items, self._present, self._starts, *self._table)
        self._known = (np.zeros(items, np.int64), np.full(data.occurrences, -1, np.int64), np.zeros(1, np.int64))
        self._for_good = np.zeros(data.occurrences, np.bool_)
        self._slacks = (np.empty(data.occurrences, np.int64), np.full(data.occurrences, -1, np.int64))
        slots = 2
        while slots < 2 * int(data.supports[self._order].max(initial=0)):
            slots *= 2
        entries = int(sums_within(self._starts, data.lengths[self._listed[1]])[self._order].max(initial=0))
        self._room = (
            np.zeros(slots, np.int64),
            np.full(items, -1, np.int64),
            np.empty(entries, np.int64),
            np.empty(entries, np.int64),
            np.zeros(records, np.int64),
        )

    def _suppress(self, order: NDArray[np.int64]) -> None:
        """Suppress all occurrences of these items."""
        held, _lists, _words, sums, hot, bits = self._table
        table = (self._data.offsets, self._present, held, sums, hot, bits)
        self._kernels.take_out(read_only(order), *self._listed, self._for_good, *table, *self._known)
        self._forget_slacks()

    def _forget_slacks(self) -> None:
        """Forget the slacks of all holders: where items were suppressed, they may be less."""
        self._slacks[1].fill(-1)

    def _snapshot(self) -> list[NDArray[Any]]:
        """Copy the state that passes change."""
        return [array.copy() for array in self._state()]

    def _restore_snapshot(self, before: list[NDArray[Any]]) -> None:
        """Return to a copied state."""
        for array, old in zip(self._state(), before, strict=True):
            array[:] = old

    def _state(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays that passes change."""
        held, lists, words, sums, _hot, bits = self._table
        return self._present, held, lists, words, sums, bits, self._for_good, *self._known, *self._slacks


def dead_parts(
    data: Transactions, parts: Transactions, sizes: NDArray[np.int64], is_asked: NDArray[np.bool_], rho: Fraction
) -> NDArray[np.bool_]:
    """Return which of the non-sensitive parts that are asked for are in too few records to hold any sensitive item.

    A part that enough records have as a whole needs no count.
    """
    num, den = rho.as_integer_ratio()
    rows = np.flatnonzero(is_asked & (sizes * num < den) & (parts.lengths > 0))
    dead = np.zeros(parts.records, np.bool_)
    offsets, places = picked(parts.offsets, rows)
    dead[rows] = supports(data, (offsets, parts.items[places])) * num < den
    return dead


def outcome_of(
    data: Transactions, present: NDArray[np.bool_], is_sensitive: NDArray[np.bool_], account: dict[str, Any]
) -> Outcome:
    """Return the records with the present occurrences, and count the suppressed ones, sensitive and other."""
    published = data.keeping(present)
    hidden = is_sensitive[data.items]
    counted = {
        "sensitive-occurrences": int(np.count_nonzero(hidden)),
        "sensitive-occurrences-left-out": int(np.count_nonzero(hidden & ~present)),
        "other-occurrences-left-out": int(np.count_nonzero(~hidden & ~present)),
        "records-made-empty": published.empty_records - data.empty_records,
    }
    return Outcome(published, Alignment.identity(data.records), counted | account)
