"""A safe table, and occurrences of the original that come back to it as long as it stays safe."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.alignment import Alignment
from setveil.data.tidying import record_numbers
from setveil.data.transactions import Transactions
from setveil.methods.base import Outcome
from setveil.methods.exchanging import sealed
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.engines.base import Engine

NODES = 20_000
"""So many sets are looked at for one content; where they do not suffice, nothing is put back, which is always safe."""
HOT = 200
"""An item that at least one of so many records holds has a bit a record."""
JITTER_STEPS = 1000
"""Limits of single items are drawn in steps of this part of ρ."""


class Restoring:
    """The state of a table between passes: which occurrences are there, and what is known of the others."""

    def __init__(
        self,
        data: Transactions,
        is_sensitive: NDArray[np.bool_],
        present: NDArray[np.bool_],
        rho: Fraction,
        *,
        include_empty: bool,
        whole: bool,
        rng: Generator,
        jitter: float = 0.0,
    ) -> None:
        self.data, self.is_sensitive, self.include_empty, self.whole = data, is_sensitive, include_empty, whole
        self._present = present.astype(np.uint8)
        self._num, self._den = rho.as_integer_ratio()
        self._nums = np.full(len(data.vocabulary), self._num, np.int64)
        if jitter:
            self._den *= JITTER_STEPS
            least = round((1 - jitter) * JITTER_STEPS)
            self._nums *= rng.integers(least, JITTER_STEPS, len(data.vocabulary), endpoint=True)
        row = record_numbers(data.offsets)
        # Which of several equal records keep an item is drawn, so that the order of the data tells nothing.
        by_item = np.lexsort((rng.permutation(data.records)[row], data.items))
        self._starts = sealed(np.concatenate(([0], np.cumsum(data.supports))))
        self._rows, self._places = sealed(row[by_item]), sealed(by_item)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which occurrences of the original are there."""
        return self._present.astype(np.bool_)

    def run(self, order: NDArray[np.int64], engine: Engine) -> dict[str, Any]:
        """Put back what stays safe, pass by pass, until a pass puts nothing back; return what was counted."""
        from setveil.methods.uncertainty import _insert_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        data = self.data
        plain_is_fixed = bool(self.is_sensitive[order].all()) and bool(
            self._present[~self.is_sensitive[data.items]].all()
        )
        table, rest = self._laid_out(kernels, order)
        dead, part_of, part_sizes = self._parts(plain_is_fixed)
        for_good = np.zeros(data.occurrences, np.bool_)
        counts = np.zeros(8, np.int64)
        fixed = (sealed(order), self._starts, self._rows, self._places, sealed(dead), for_good, part_of, part_sizes)
        settings = (self.whole, self.include_empty, plain_is_fixed, sealed(self._nums), self._den, NODES)
        passes = 0
        while True:
            before = int(counts[kernels.ADDED])
            counts[kernels.REFUSED] = 0
            passes += 1
            label = "putting items back" if passes == 1 else f"putting items back, pass {passes}"
            work = partial(kernels.put_back, *fixed, *settings, *table, *rest, counts)
            engine.run(label, work, total=len(order))
            if counts[kernels.ADDED] == before:
                break
        return {
            "occurrences-put-back": int(counts[kernels.ADDED]),
            "passes": passes,
            "not-tried-for-length": int(counts[kernels.REFUSED]),
            "contents-looked-at": int(counts[kernels.EVALUATED]),
            "sets-searched": int(counts[kernels.NODES]),
        }

    def _laid_out(self, kernels: Any, order: NDArray[np.int64]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the table as the kernels keep it, and room for their work."""
        data = self.data
        items, records = len(data.vocabulary), data.records
        is_hot = data.supports * HOT > records
        hot = sealed(np.where(is_hot, np.cumsum(is_hot) - 1, -1).astype(np.int64))
        bits = np.zeros((max(int(is_hot.sum()), 1), (records + 63) // 64), np.uint64)
        held = np.zeros(items, np.int64)
        lists = np.empty(data.occurrences, np.int64)
        words, sums = np.zeros(records, np.uint64), np.zeros(records, np.uint64)
        layout = (self._starts, held, lists, words, sums, hot, bits)
        kernels.set_up(data.offsets, data.items, self._present, *layout)
        most = int(data.supports[order].max(initial=0))
        slots = 2
        while slots < 2 * most:
            slots *= 2
        lengths = data.lengths[self._rows]
        ends = np.concatenate(([0], np.cumsum(lengths)))
        entries = int((ends[self._starts[1:]] - ends[self._starts[:-1]])[order].max(initial=0))
        rest = (
            np.zeros(items, np.int64),
            np.full(data.occurrences, -1, np.int64),
            np.zeros(1, np.int64),
            np.zeros(slots, np.int64),
            np.full(items, -1, np.int64),
            np.empty(entries, np.int64),
            np.empty(entries, np.int64),
            np.zeros(records, np.int64),
            int(data.lengths.max(initial=0)),
        )
        return (data.offsets, data.items, self._present, sealed(self.is_sensitive), *layout), rest

    def _parts(self, plain_is_fixed: bool) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
        """Return which records can never hold a sensitive item, and of each record its part that is not sensitive."""
        data = self.data
        plain = (~self.is_sensitive[data.items]) & self._present.astype(np.bool_)
        kept = np.concatenate(([0], np.cumsum(plain)))
        parts, sizes, part_of = Transactions(kept[data.offsets], data.items[plain], data.vocabulary).distinct()
        dead = np.zeros(parts.records, np.bool_)
        if plain_is_fixed:
            held = supports(data, (parts.offsets, parts.items))
            dead = (held * int(self._nums.max(initial=0)) < self._den) & (parts.lengths > 0)
        return dead[part_of], sealed(part_of), sealed(sizes)


def outcome_of(
    data: Transactions, present: NDArray[np.bool_], is_sensitive: NDArray[np.bool_], account: dict[str, Any]
) -> Outcome:
    """Return the records with what is present, and what became of sensitive and other occurrences."""
    kept = np.concatenate(([0], np.cumsum(present)))
    published = Transactions(kept[data.offsets], data.items[present], data.vocabulary, ids=data.ids, unit=data.unit)
    hidden = is_sensitive[data.items]
    counted = {
        "sensitive-occurrences": int(np.count_nonzero(hidden)),
        "sensitive-occurrences-left-out": int(np.count_nonzero(hidden & ~present)),
        "other-occurrences-left-out": int(np.count_nonzero(~hidden & ~present)),
        "records-made-empty": published.empty_records - data.empty_records,
    }
    return Outcome(published, Alignment.identity(data.records), counted | account)
