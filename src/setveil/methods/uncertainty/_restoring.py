"""A safe table, and occurrences of the original that come back to it as long as it stays safe."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import offsets_of, owner_of, read_only, sums_within
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.methods.base import Outcome
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.random import Generator
    from numpy.typing import NDArray


NODES = 20_000
"""So many sets are looked at for one content; where they do not suffice, nothing is put back, which is always safe."""
HOT = 200
"""An item that at least one of so many records holds has a bit a record."""
TAKEN_OUT = (4, 40)
"""A round of improvement takes out one of so many items, at least and at most."""


class Restoring:
    """The state of a table between passes: which occurrences are there, and what is known of the others.

    `order` are the items that may come back, the first of them first. Where these are all sensitive and nothing else is missing, what is
    not sensitive stays as it is for good, and much need not be looked at twice.
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
        # Which of several equal records keep an item is drawn, so that the order of the data tells nothing.
        by_item = np.lexsort((rng.permutation(data.records)[row], data.items))
        self._starts = read_only(offsets_of(data.supports))
        self._listed = (self._starts, read_only(row[by_item]), read_only(by_item))
        self._parts = self._parts_of(plain & present, plain_is_fixed, num, den)
        self._present = present.astype(np.uint8)
        self._lay_out()
        self.counts = np.zeros(8, np.int64)
        self.passes = 0

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which occurrences of the original are there."""
        return self._present.astype(np.bool_)

    def run(self, order: NDArray[np.int64] | None = None, label: str = "putting items back") -> None:
        """Put back what stays safe, pass by pass, until a pass puts nothing back."""
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
        """Take some items out and put everything back in another order, as often as was asked; return what that gained."""
        gained = 0
        for number in range(rounds):
            before, given_up = self._snapshot(), self.counts[self._kernels.REFUSED]
            there = int(before[0].sum())
            share = int(self._rng.integers(*TAKEN_OUT, endpoint=True))
            chosen = self._rng.choice(self._order, -(-len(self._order) // share), replace=False)
            self._take_out(chosen)
            others = self._rng.permutation(np.setdiff1d(self._order, chosen))
            parts = (others, chosen) if self._rng.random() < 0.7 else (chosen, others)
            self.run(np.concatenate(parts), f"improving, round {number + 1} of {rounds}")
            gain = int(self._present.sum()) - there
            if gain < 0:
                self._put_back_snapshot(before)
                self.counts[self._kernels.REFUSED] = given_up
            gained += max(gain, 0)
        return gained

    def account(self) -> dict[str, int]:
        """Return what was counted."""
        kernels = self._kernels
        return {
            "passes": self.passes,
            "not-tried-for-length": int(self.counts[kernels.REFUSED]),
            "contents-looked-at": int(self.counts[kernels.EVALUATED]),
            "sets-searched": int(self.counts[kernels.NODES]),
        }

    def _lay_out(self) -> None:
        """Lay the table out as the kernels keep it, and make room for their work."""
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

    def _parts_of(
        self, plain: NDArray[np.bool_], plain_is_fixed: bool, num: int, den: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
        """Return which records can never hold a sensitive item, and of each record its part that is not sensitive."""
        data = self._data
        parts, sizes, part_of = data.keeping(plain).distinct()
        dead = np.zeros(parts.records, np.bool_)
        if plain_is_fixed:
            dead = (supports(data, (parts.offsets, parts.items)) * num < den) & (parts.lengths > 0)
        return read_only(dead[part_of]), read_only(part_of), read_only(sizes)

    def _take_out(self, order: NDArray[np.int64]) -> None:
        held, _lists, _words, sums, hot, bits = self._table
        table = (self._data.offsets, self._present, held, sums, hot, bits)
        self._kernels.take_out(read_only(order), *self._listed, self._for_good, *table, *self._known)

    def _snapshot(self) -> list[NDArray[Any]]:
        return [array.copy() for array in self._changing()]

    def _put_back_snapshot(self, before: list[NDArray[Any]]) -> None:
        for array, old in zip(self._changing(), before, strict=True):
            array[:] = old

    def _changing(self) -> tuple[NDArray[Any], ...]:
        held, lists, words, sums, _hot, bits = self._table
        return self._present, held, lists, words, sums, bits, self._for_good, *self._known


def outcome_of(
    data: Transactions, present: NDArray[np.bool_], is_sensitive: NDArray[np.bool_], account: dict[str, Any]
) -> Outcome:
    """Return the records with what is present, and what became of sensitive and other occurrences."""
    published = data.keeping(present)
    hidden = is_sensitive[data.items]
    counted = {
        "sensitive-occurrences": int(np.count_nonzero(hidden)),
        "sensitive-occurrences-left-out": int(np.count_nonzero(hidden & ~present)),
        "other-occurrences-left-out": int(np.count_nonzero(~hidden & ~present)),
        "records-made-empty": published.empty_records - data.empty_records,
    }
    return Outcome(published, Alignment.identity(data.records), counted | account)
