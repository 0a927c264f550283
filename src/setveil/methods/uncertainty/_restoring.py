"""Restore occurrences of the original in a safe table, as long as it stays safe."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.base import progress
from setveil.base.display import round_minutes
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import (
    distinct,
    offsets_of,
    read_only,
    record_ranges,
    records_of,
    starts_of,
    sums_within,
)
from setveil.data.records.transactions import Transactions
from setveil.kernels.control import STOP
from setveil.kernels.threads import is_part, share
from setveil.methods.base import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.guarantees.rho_uncertainty import InferenceLimit


NODES = 20_000
"""Maximum number of sets that are examined for one content. Beyond it nothing is restored, which is always safe."""
HOT = 200
"""An item in more than one of this many records has a bitmap, with one bit per record."""
FEW = 256
"""Up to this many parts of records with the same rarest item are compared with all that have it: listing these again takes longer."""
RANGES = 64
"""Number of ranges of items in which parts of records are counted: enough to keep several threads busy to the end."""
MEASURED_SHARE = 0.1
"""Share of its work after which the first pass estimates how long the run will take."""
TIME_OF_ALL_PASSES = 1.4
"""The time of all passes divided by that of the first one, on 1,000,000 generated baskets with 40 % of the items sensitive."""
LONG_SECONDS = 60
"""If a run is estimated to take longer, a note announces it."""
REMOVED_ONE_IN = (4, 40)
"""An improvement round removes one in N items; N is drawn from this range."""


class Restoring:
    """The state of a table between passes: which occurrences are present, and what is known about the others.

    `order` lists the items that may be restored, in this order. If all of them are sensitive and nothing else is missing, the
    non-sensitive part of the records never changes, and much need not be examined twice.

    `data` may be a part of data with `records` records, if it has every record that held one of these items. It then shows exactly how
    often one of them occurs together with others, and other items at least as often as they occur in it. So nothing becomes unsafe.
    """

    def __init__(
        self,
        data: Transactions,
        present: NDArray[np.bool_],
        order: NDArray[np.int64],
        limit: InferenceLimit,
        rng: Generator,
        *,
        records: int | None = None,
    ) -> None:
        from setveil.methods.uncertainty import _insert_kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs
        from setveil.methods.uncertainty._limit_kernels import Rules  # noqa: PLC0415 - the same

        self._kernels: Any = _insert_kernels
        self._order, self._rng = read_only(order), rng
        self.turns = self._order
        """The items of the next passes, in their order."""
        is_sensitive = limit.sensitive.among(data)
        num, den = limit.rho.share.as_integer_ratio()
        plain = ~is_sensitive[data.items]
        plain_is_fixed = bool(is_sensitive[order].all() and present[plain].all())
        of_all = limit.include_empty, limit.knows == "whole", plain_is_fixed, records or data.records
        self._rules = Rules(num, den, NODES, *of_all)
        # Before the table, which takes as much memory again.
        self._parts = self._find_parts(data, plain, present)
        # Which of several equal records keep an item is drawn at random, so that the order of the data reveals nothing.
        drawn = rng.permutation(data.records)
        is_listed = np.zeros(len(data.vocabulary), np.bool_)
        is_listed[order] = True
        places = np.flatnonzero(is_listed[data.items])
        rows = records_of(places, data.offsets)
        order_of_lists = np.lexsort((drawn[rows], data.items[places]))
        places, rows = places[order_of_lists], rows[order_of_lists]
        starts = offsets_of(np.where(is_listed, data.supports, 0))
        self._lists = _insert_kernels.Lists(read_only(starts), read_only(rows), read_only(places))
        self._table = lay_out(data, present, is_sensitive, data.supports * HOT > data.records)
        self._memory = _insert_kernels.Memory(
            versions=np.zeros(len(data.vocabulary), np.int64),
            evaluated=np.full(data.occurrences, -1, np.int64),
            for_good=np.zeros(data.occurrences, np.bool_),
            slacks=np.full((len(places), 2), -1, np.int64),
            counts=np.zeros(5, np.int64),
        )
        entries = int(sums_within(starts, data.lengths[self._lists.rows]).max(initial=0))
        room = make_room(data, int(data.supports[order].max(initial=0)), entries)
        self._state_of_passes = (self._lists, self._rules, self._parts, self._memory, self._table, room)
        self.passes = 0

    def _find_parts(self, data: Transactions, plain: NDArray[np.bool_], present: NDArray[np.bool_]) -> Any:
        """Return the non-sensitive parts of the records, and how many records hold them if that never changes."""
        num, den = self._rules.num, self._rules.den
        parts, sizes, part_of = data.keeping(plain & present).distinct()
        together = np.full(parts.records, -1, np.int64)
        if self._rules.plain_is_fixed:
            is_asked = np.zeros(parts.records, np.bool_)
            is_asked[part_of[records_of(np.flatnonzero(~plain), data.offsets)]] = True
            together = count_parts(parts, sizes, is_asked, -(-den // num) if num else data.records + 1)
        # Parts in too few records to hold any sensitive item.
        is_dead = (together >= 0) & (together * num < den)
        return self._kernels.Parts(
            is_dead=read_only(is_dead[part_of]),
            of=read_only(part_of),
            sizes=read_only(sizes),
            held=np.zeros(parts.records, np.int64),
            together=together,
        )

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which occurrences of the original are present."""
        present: NDArray[np.bool_] = self._table.present.astype(np.bool_)
        return present

    @property
    def counts(self) -> NDArray[np.int64]:
        """What the passes count."""
        counts: NDArray[np.int64] = self._memory.counts
        return counts

    @property
    def added(self) -> int:
        """The number of occurrences restored so far."""
        return int(self.counts[self._kernels.ADDED])

    def run(self) -> None:
        """Restore what stays safe, pass by pass, until a pass restores nothing."""
        run_passes([self], report=announce)

    def next_pass(self, control: NDArray[np.int64]) -> None:
        """Go through the items once, and restore what stays safe."""
        self._begin_pass()
        self._kernels.put_back(self.turns, *self._state_of_passes, control)

    def measured_pass(self, report: Callable[[float, float], None], control: NDArray[np.int64]) -> None:
        """Do the same as `next_pass`, and estimate after a part of it how many seconds all passes of this table will take.

        `report` is called with the seconds and the share of the occurrences from which they are estimated.
        """
        self._begin_pass()
        put_back, order, state = self._kernels.put_back, self.turns, self._state_of_passes
        occurrences = self._lists.starts[order + 1] - self._lists.starts[order]
        # Where a run is long, contents are compared with holders, and both grow with the item.
        work = np.cumsum(occurrences.astype(np.float64) ** 2)
        measured = int(np.searchsorted(work, MEASURED_SHARE * work[-1:].sum())) + 1
        put_back(order[:0], *state, control)  # compiles, if that was not done before
        started = time.monotonic()
        put_back(order[:measured], *state, control)
        if len(order) and not control[STOP]:
            seconds = (time.monotonic() - started) * TIME_OF_ALL_PASSES * work[-1] / work[measured - 1]
            report(seconds, occurrences[:measured].sum() / occurrences.sum())
        put_back(order[measured:], *state, control)

    def _begin_pass(self) -> None:
        self.passes += 1
        self.counts[self._kernels.REFUSED] = 0

    def begin_round(self) -> _Before:
        """Suppress some items again, draw a new order in which everything is restored, and return the state before."""
        before = _Before(self._snapshot(), int(self._table.present.sum()), int(self.counts[self._kernels.REFUSED]))
        one_in = int(self._rng.integers(*REMOVED_ONE_IN, endpoint=True))
        chosen = self._rng.choice(self._order, -(-len(self._order) // one_in), replace=False)
        self._suppress(chosen)
        others = self._rng.permutation(np.setdiff1d(distinct(self._order), chosen, assume_unique=True))
        parts = (others, chosen) if self._rng.random() < 0.7 else (chosen, others)
        self.turns = read_only(np.concatenate(parts))
        return before

    def end_round(self, before: _Before) -> int:
        """Return how many occurrences the round gained; if it lost some, return to the state before it."""
        gain = int(self._table.present.sum()) - before.present
        if gain < 0:
            self._restore_snapshot(before.state)
            self.counts[self._kernels.REFUSED] = before.refused
        return max(gain, 0)

    def account(self) -> dict[str, int]:
        """Return the counts of all passes."""
        kernels = self._kernels
        return {
            "passes": self.passes,
            "not-tried-for-length": int(self.counts[kernels.REFUSED]),
            "contents-looked-at": int(self.counts[kernels.EVALUATED]),
            "sets-searched": int(self.counts[kernels.NODES]),
        }

    def _suppress(self, order: NDArray[np.int64]) -> None:
        """Suppress all occurrences of these items."""
        self._kernels.take_out(read_only(order), self._lists, self._memory, self._table)
        self._forget_slacks()

    def _forget_slacks(self) -> None:
        """Forget the slacks of all holders: where items were suppressed, they may be less."""
        self._memory.slacks.fill(-1)

    def _snapshot(self) -> list[NDArray[Any]]:
        """Copy the state that passes change."""
        return [array.copy() for array in self._state()]

    def _restore_snapshot(self, before: list[NDArray[Any]]) -> None:
        """Return to a copied state."""
        for array, old in zip(self._state(), before, strict=True):
            array[:] = old

    def _state(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays that passes change, except for counts."""
        table = self._table
        return table.present, table.held, table.lists, table.list_words, table.sums, table.bits, *self._memory[:-1]


class _Before(NamedTuple):
    """A table before an improvement round."""

    state: list[NDArray[Any]]
    present: int
    refused: int


def run_passes(
    tables: Sequence[Restoring],
    label: str = "restoring items",
    report: Callable[[float, float], None] | None = None,
) -> None:
    """Restore what stays safe in each table, pass by pass, until a pass restores nothing; threads share the tables.

    `report` is called after a part of the first pass of the first table (`measured_pass`), unless all of this is a part of other work.
    """
    remaining, passes = list(tables), 0
    while remaining:
        passes += 1
        added = [table.added for table in remaining]
        works: list[Callable[[NDArray[np.int64]], None]] = [table.next_pass for table in remaining]
        if report is not None and passes == 1 and not is_part():
            works[0] = partial(tables[0].measured_pass, report)
        total = sum(len(table.turns) for table in remaining)
        share(f"{label}, pass {passes}", works, lambda work, control: work(control), total=total)
        remaining = [table for table, before in zip(remaining, added, strict=True) if table.added != before]


def improve(tables: Sequence[Restoring], rounds: int) -> int:
    """Suppress some items, restore everything in another order, `rounds` times; return the number of occurrences gained."""
    gained = 0
    for number in range(rounds):
        before = [table.begin_round() for table in tables]
        run_passes(tables, f"improving, round {number + 1} of {rounds}")
        gained += sum(table.end_round(old) for table, old in zip(tables, before, strict=True))
    return gained


def account_of(tables: Sequence[Restoring]) -> dict[str, int]:
    """Return the counts of all tables together, and the most passes of any of them."""
    accounts = [table.account() for table in tables]
    summed = {name: sum(account[name] for account in accounts) for name in accounts[0]}
    return summed | {"passes": max(account["passes"] for account in accounts)}


def announce(seconds: float, examined: float, advice: str = "") -> None:
    """Note how long a run will take, if that is long."""
    if seconds >= LONG_SECONDS:
        progress.note(
            f"Restoring items will take about {round_minutes(seconds)}, estimated from the first "
            f"{100 * examined:.0f} % of the sensitive occurrences.{advice}"
        )


def lay_out(
    data: Transactions, present: NDArray[np.bool_], is_sensitive: NDArray[np.bool_], is_hot: NDArray[np.bool_]
) -> Any:
    """Return the table of the kernels for records of which some occurrences are present; hot items have one bit per record."""
    from setveil.methods.uncertainty import _table_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    table = kernels.Table(
        offsets=data.offsets,
        items=data.items,
        is_sensitive=read_only(is_sensitive),
        starts=read_only(offsets_of(data.supports)),
        hot=read_only(np.where(is_hot, np.cumsum(is_hot) - 1, -1), np.int64),
        present=present.astype(np.uint8),
        held=np.zeros(len(data.vocabulary), np.int64),
        lists=np.empty(data.occurrences, np.int64),
        list_words=np.empty(data.occurrences, np.uint64),
        words=np.empty(data.records, np.uint64),
        sums=np.zeros(data.records, np.uint64),
        bits=np.zeros((max(int(is_hot.sum()), 1), (data.records + 63) // 64), np.uint64),
    )
    kernels.set_up(table)
    return table


def make_room(data: Transactions, most: int, entries: int) -> Any:
    """Return room for the turn of an item that at most `most` records hold, with at most `entries` items in all of them."""
    from setveil.methods.uncertainty import _insert_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs
    from setveil.methods.uncertainty import _limit_kernels as limits  # noqa: PLC0415 - the same
    from setveil.methods.uncertainty._table_kernels import Groups  # noqa: PLC0415 - the same

    def numbers(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, np.int64)

    slots = 2
    while slots < 2 * most:
        slots *= 2
    longest = int(data.lengths.max(initial=0))
    holding, lost = (
        Groups(numbers(most), numbers(most), numbers(most), numbers(most), numbers(most), numbers(slots))
        for _ in range(2)
    )
    sharing, ordered = (
        limits.Sharing(numbers(most), np.zeros(most, np.uint64), numbers(most), numbers(most)) for _ in range(2)
    )
    holders = kernels.Holders(
        sizes=numbers(2),
        known=numbers(most, 4),
        words=np.zeros(most, np.uint64),
        masks=np.zeros(most, np.uint64),
        heads=np.full(len(data.vocabulary), -1, np.int64),
        numbers=numbers(len(data.vocabulary)),
        blocks=np.empty((entries // kernels.BLOCK + min(entries, len(data.vocabulary)), kernels.BLOCK + 2), np.int64),
        items=numbers(longest),
    )
    search = limits.Search(
        sizes=numbers(3),
        items=numbers(longest),
        used=numbers(64),
        q=numbers(64),
        stack=numbers(limits.LEVELS, 4),
        closed=np.zeros(limits.LEVELS, np.uint64),
        without=numbers(64),
        counts=numbers(max(4 * most + 66, longest + 2)),
    )
    return kernels.Room(holding, lost, holders, sharing, ordered, search)


def count_parts(
    parts: Transactions, sizes: NDArray[np.int64], is_asked: NDArray[np.bool_], enough: int
) -> NDArray[np.int64]:
    """Return how many records hold all items of each part that is asked for and not empty; -1 for others.

    The parts are distinct; `sizes` is how many records have each of them as a whole. A number that would take long to find may be -1 too,
    if it is at least `enough`.
    """
    from setveil.methods.uncertainty import _parts_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    starts, lists = parts.holders
    words = np.empty(parts.records, np.uint64)
    sets = kernels.Sets(parts.offsets, parts.items, read_only(sizes), read_only(starts), read_only(lists), words)
    rarest, seconds = (np.empty(parts.records, np.int64) for _ in range(2))
    kernels.find_rarest(sets, rarest, seconds)
    rows = np.flatnonzero(is_asked & (parts.lengths > 0))
    width = len(parts.vocabulary)
    rows = rows[np.argsort(rarest[rows] * (width + 1) + seconds[rows], kind="stable")]
    asked = kernels.Asked(read_only(starts_of(rarest[rows], width)), read_only(rows), read_only(seconds[rows]))
    counts = np.full(parts.records, -1, np.int64)
    share(
        "examining records",
        list(record_ranges(starts, max(parts.occurrences // RANGES, 1), width)),
        lambda items, control: kernels.count_records(*items, sets, asked, FEW, enough, counts, control),
        total=len(rows),
    )
    return counts


def outcome_of(
    data: Transactions, present: NDArray[np.bool_], is_sensitive: NDArray[np.bool_], account: dict[str, Any]
) -> Outcome:
    """Return the records with the present occurrences, and count the suppressed ones, sensitive and other."""
    published = data.keeping(present)
    gone = data.supports - published.supports
    counted = {
        "sensitive-occurrences": int(data.supports[is_sensitive].sum()),
        "sensitive-occurrences-left-out": int(gone[is_sensitive].sum()),
        "other-occurrences-left-out": int(gone[~is_sensitive].sum()),
        "records-made-empty": published.empty_records - data.empty_records,
    }
    return Outcome(published, Alignment.identity(data.records), counted | account)
