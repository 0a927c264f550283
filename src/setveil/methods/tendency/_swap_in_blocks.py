"""A swap of blocks between records of data that are worked on in parts, which are called *data blocks* here.

1. The records are dealt out to the data blocks at random, so that the order of a file does not matter. In each data block, records find
   partners, and whole records are swapped.
2. The records that are left over in all data blocks do the same with each other; if they are too many, in random groups.
3. Each step for leftovers is taken for all data blocks before the next one: the records that still wait visit the data blocks in turn.
   They join swaps of the records there, use helpers there, or are adopted there, and so do the records of the data block that wait.

Steps 2 and 3 end as soon as the bounds rule out that more records can be hidden. What a data block keeps for visits is the place in it of
the record whose block each record got (`source`, -1 if there is none, or if the swap goes beyond the data block). A visit changes few rows:
they replace those of the data block.

Imports Numba, so it is itself imported only when a method runs.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from setveil.data.records.alignment import Alignment
from setveil.data.records.in_blocks import ITEMS, ROW, as_block, as_records, chained, in_blocks, on_disk
from setveil.data.records.ragged import among
from setveil.engines.blocks import current_engine
from setveil.kernels.control import DONE
from setveil.kernels.threads import run
from setveil.methods.base import Outcome
from setveil.methods.tendency._block_swap import HELPS, HOW, NOBODY, BlockSwap, account_of, advice_on, swapped
from setveil.methods.tendency._bounds import Bounds, Tally
from setveil.methods.tendency._tendency_kernels import PARTIAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.base.advice import Advice
    from setveil.data.records.transactions import Transactions
    from setveil.engines.blocks import BlockKey, Blocks
    from setveil.methods.tendency.base import Step, SwapPlan

MOST_LEFTOVERS = 1 << 20
"""The maximum number of leftovers that swap with each other, and of those that visit data blocks: they are in memory at once."""

NOW = "now"
"""The column that holds the codes of the items of each record as it is now."""
Change = tuple["NDArray[np.int64]", "Transactions"]
"""The numbers of some records, and what they hold now."""


class SwapInBlocks:
    """The state of a swap of all data: how each record was hidden, and the rows that visits changed."""

    def __init__(self, data: Transactions, plan: SwapPlan, rng_of: Callable[[int], Generator]) -> None:
        self.data, self.plan, self.rng_of = data, plan, rng_of
        self.tally, self.bounds = _counted(data, plan)
        self.rng = rng_of(-1)
        self.block_records = current_engine().block_records
        self.how = np.empty(data.records, np.int8)
        self.is_changed = np.zeros(data.records, np.bool_)
        self.changes: list[Change] = []
        self.on_disk: list[Change] = []

    def outcome(self) -> Outcome:
        """Take all steps, and return the result."""
        start = in_blocks(self.data, numbered=True)
        self.count = len(start)
        swap = partial(swap_block, self.plan._replace(steps=()), self.data.vocabulary)
        dealt = start.regroup("dealing out records", self._drawing(deal, 1, self.count), self.count)
        found = dealt.map("swapping in blocks", self._drawing(swap, 0))
        self._learn(found)
        returned = self._swap_leftovers(found, swap) if self._can_hide_more() else None
        ladder: list[Step | Literal["whole"]] = ["whole"] if self.plan.full_min else []
        for step in ladder + [step for step in self.plan.steps if step in ("cycle", "helper")]:
            self._take(step, dealt, found)
        now = on_disk(self._at_home(found, returned), self.data)
        if "adopt" in self.plan.steps and self._can_hide_more():
            now = self._adopted(now)
        if "suppress" in self.plan.steps and not self.how.all():
            now = on_disk(self._suppressed(now), self.data)
        account = self._account()
        return Outcome(now, Alignment.identity(self.data.records), account, self._advice(account["not-hidden"]))

    def _drawing(self, work: Callable[..., Any], phase: int, *values: Any) -> Any:
        """Return work with the generators of a phase: their numbers follow those of the phases before."""
        return partial(work, self.rng_of, phase * self.count, *values)

    def _learn(self, found: Blocks) -> None:
        """Take over how the records of data blocks were hidden."""
        for block in found:
            self.how[_column(block, ROW)] = _column(block, "how")

    def _can_hide_more(self) -> bool:
        """Return whether records wait, and the bounds do not rule out that some of them can be hidden."""
        bounds, steps = self.bounds, self.plan.steps
        crowd = bounds.by_crowd_with_helpers if "helper" in steps else bounds.by_crowd
        return int(np.count_nonzero(self.how == 0)) > max(bounds.by_item, 0 if "adopt" in steps else crowd)

    # -- swaps between data blocks --------------------------------------------------------------------------------------------

    def _swap_leftovers(self, found: Blocks, swap: Callable[..., Any]) -> Blocks:
        """Let the records that are left over swap with each other."""
        waiting = found.map("collecting leftovers", waiting_of)
        groups = -(-int(waiting.rows.sum()) // MOST_LEFTOVERS)
        dealt = waiting.regroup("dealing out leftovers", self._drawing(deal, 2, groups), groups)
        done = dealt.map("swapping leftovers", self._drawing(swap, 3))
        self._learn(done)
        return done

    def _guests(self, *, only_whole: bool) -> tuple[NDArray[np.int64], Transactions]:
        """Return the records that wait, or some of them if there are too many: their numbers, and what they hold."""
        rows = np.flatnonzero(self.how == 0)
        if len(rows) > MOST_LEFTOVERS:
            rows = np.sort(self.rng.choice(rows, MOST_LEFTOVERS, replace=False))
        guests = self.data.take(rows, ids=None)
        if not only_whole:
            return rows, guests
        chosen = self._state_of(guests).kind != PARTIAL
        return rows[chosen], guests.take(chosen)

    def _take(self, step: Step | Literal["whole"], before: Blocks, found: Blocks) -> None:
        """Let the records that still wait visit all data blocks for a step; `before` has the records as they were."""
        if not self._can_hide_more():
            return
        rows, guests = self._guests(only_whole=step == "whole")
        if len(rows):
            work = partial(self._visit_all, step, zip(before, found, strict=True), rows, guests)
            run(f"visiting blocks: {step}", work, total=self.count)

    def _visit_all(
        self,
        step: Step | Literal["whole"],
        blocks: Iterable[tuple[Any, Any]],
        guest_rows: NDArray[np.int64],
        guests: Transactions,
        control: NDArray[np.int64],
    ) -> None:
        for then, block in blocks:
            if not self._can_hide_more():
                return
            rows = _column(block, ROW)
            away = (self.how[guest_rows] == 0) & ~among(guest_rows, rows)
            visitors, numbers = guests.take(away), np.concatenate((rows, guest_rows[away]))
            source, content = np.full(len(numbers), NOBODY, np.int64), None
            if step == "adopt":
                content = chained([self._now(block), visitors])
            else:
                source[: len(rows)] = np.where(self.is_changed[rows], NOBODY, _column(block, "source"))
            swap = self._state_of(chained([self._records(then), visitors]))
            swap.resume(self.how[numbers], source, strict=self.plan.strict, content=content)
            swap.treat_leftovers(step, self.rng)
            changed = swap.changed()
            if len(changed):
                self._change(numbers[changed], swap.result().take(changed))
                self.how[numbers], _source = swap.state()
            control[DONE] += 1

    def _change(self, rows: NDArray[np.int64], records: Transactions) -> None:
        """Keep what a visit made of these records; on disk, if it becomes much."""
        self.is_changed[rows] = True
        self.changes.append((rows, records))
        if sum(len(numbers) for numbers, _records in self.changes) > MOST_LEFTOVERS:
            numbers, parts = zip(*self.changes, strict=True)
            self.on_disk.append((np.concatenate(numbers), on_disk(parts, parts[0])))
            self.changes = []

    def _adopted(self, now: Transactions) -> Transactions:
        """Return the records after the step `adopt`."""
        self.changes, self.on_disk = [], []
        engine = current_engine()
        borders = engine.borders(self.data.records)
        both = engine.blocks(partial(_then_and_now, self.data, now, borders), np.diff(borders))
        self._take("adopt", both, both)
        return on_disk(map(self._now, both), self.data)

    # -- the result -----------------------------------------------------------------------------------------------------------

    def _at_home(self, found: Blocks, leftovers: Blocks | None) -> Iterator[Transactions]:
        """Return all records in the order of the data, as data blocks, swaps of leftovers and visits made them."""
        home = partial(home_of, self.block_records)
        blocks = found.regroup("returning records", home, self.count)
        if leftovers is None:
            return map(self._ordered, blocks, repeat(None))
        return map(self._ordered, blocks, leftovers.regroup("returning leftovers", home, self.count))

    def _ordered(self, block: Any, leftovers: Any) -> Transactions:
        """Return the records of a data block in the order of the data."""
        order = np.argsort(_column(block, ROW), kind="stable")
        first = int(_column(block, ROW)[order[0]])
        records = self._records(block.take(pa.array(order)))
        if leftovers is not None:
            records = _replaced(records, _column(leftovers, ROW) - first, self._records(leftovers))
        return self._with_changes(records, first)

    def _now(self, block: Any) -> Transactions:
        """Return the records of a data block as they are now."""
        records = self._records(block.select([NOW]).rename_columns([ITEMS]))
        return self._with_changes(records, int(_column(block, ROW)[0]))

    def _with_changes(self, records: Transactions, first: int) -> Transactions:
        """Return records with what visits changed so far; `first` is the number of the first one, and the others follow it."""
        last = first + records.records
        mine = []
        for rows, new in self.on_disk + self.changes:
            here = (rows >= first) & (rows < last)
            mine.append((rows[here] - first, new.take(here)))
        if not mine:
            return records
        places, news = zip(*mine, strict=True)
        return _replaced(records, np.concatenate(places), chained(news))

    def _suppressed(self, now: Transactions) -> Iterator[Transactions]:
        """Yield all records, without the blocks of those of several categories that still wait."""
        borders = current_engine().borders(self.data.records)
        for first, last in pairwise(borders):
            waiting = np.flatnonzero(self.how[first:last] == 0)
            swap = self._state_of(self.data.take(first + waiting, ids=None))
            chosen = swap.kind == PARTIAL
            self.how[first + waiting[chosen]] = HOW.index("suppress")
            rest = swap.data.keeping(~swap.records.in_block).take(chosen)
            yield _replaced(self._records(as_block(now, first, last)), waiting[chosen], rest)

    def _records(self, block: Any) -> Transactions:
        return as_records(block, self.data.vocabulary)

    def _state_of(self, records: Transactions) -> BlockSwap:
        return BlockSwap(records, self.plan.categories, ties=self.plan.ties)

    def _account(self) -> dict[str, Any]:
        """Return how many records were hidden in which way, and the bounds."""
        by_way = np.bincount(self.how[self.how >= 0], minlength=len(HOW))
        failed = np.flatnonzero(self.how == 0)
        reasons: dict[str, int] = {}
        for start in range(0, max(len(failed), 1), self.block_records):
            swap = self._state_of(self.data.take(failed[start : start + self.block_records], ids=None))
            for reason, count in swap.reasons(self.bounds, np.arange(swap.data.records)).items():
                reasons[reason] = reasons.get(reason, 0) + count
        helpers = int(np.count_nonzero(self.how == HELPS))
        return account_of(self.tally.kinds, by_way, reasons, helpers, self.bounds)

    def _advice(self, left: int) -> Advice:
        return advice_on(left, self.bounds, whole=not self.plan.mixed)


def bounds_in(data: Transactions, plan: SwapPlan) -> Bounds:
    """Return the bounds of a plan on data of any size."""
    return _counted(data, plan)[1]


def _counted(data: Transactions, plan: SwapPlan) -> tuple[Tally, Bounds]:
    category, names = plan.categories.bind(data)
    counted = in_blocks(data).fold("counting categories", partial(count_block, plan, data.vocabulary))
    tally = Tally.of(counted, len(names))
    return tally, Bounds.of(tally, category, names)


# -- work on a data block -----------------------------------------------------------------------------------------------------


def count_block(plan: SwapPlan, vocabulary: tuple[str, ...], block: Any, _key: BlockKey) -> NDArray[np.int64]:
    """Count what the bounds need to know."""
    swap = BlockSwap(as_records(block, vocabulary), plan.categories, ties=plan.ties)
    return swap.tally(swap.due(plan)).numbers


def deal(
    rng_of: Callable[[int], Generator], first_number: int, groups: int, block: Any, key: BlockKey
) -> NDArray[np.int64]:
    """Return a random group for each record."""
    group: NDArray[np.int64] = rng_of(first_number + key.number).integers(groups, size=block.num_rows)
    return group


def swap_block(
    plan: SwapPlan,
    vocabulary: tuple[str, ...],
    rng_of: Callable[[int], Generator],
    first_number: int,
    block: Any,
    key: BlockKey,
) -> Any:
    """Swap inside a data block, and keep the state for visitors."""
    swap = swapped(as_records(block, vocabulary), plan, rng_of(first_number + key.number))
    how, source = swap.state()
    return as_block(swap.result(), how=how, source=source, row=block.column(ROW))


def waiting_of(block: Any, key: BlockKey) -> Any:
    """Return the records of a data block that wait, with their numbers."""
    del key
    return block.select([ITEMS, ROW]).take(pa.array(np.flatnonzero(_column(block, "how") == 0)))


def home_of(size: int, block: Any, _key: BlockKey) -> NDArray[np.int64]:
    """Return the number of the data block that each record is from."""
    home: NDArray[np.int64] = _column(block, ROW) // size
    return home


def _then_and_now(data: Transactions, now: Transactions, borders: NDArray[np.int64], key: BlockKey) -> Any:
    """Return a data block with the records as they were and as they are now."""
    first, last = borders[key.number : key.number + 2]
    return as_block(data, first, last, **{NOW: as_block(now, first, last).column(ITEMS), ROW: np.arange(first, last)})


def _column(block: Any, name: str) -> NDArray[Any]:
    column: NDArray[Any] = block.column(name).to_numpy()
    return column


def _replaced(records: Transactions, places: NDArray[np.int64], new: Transactions) -> Transactions:
    """Return records of which those at some places are replaced by new ones."""
    origin = np.arange(records.records)
    origin[places] = records.records + np.arange(len(places))
    return chained([records, new]).take(origin) if len(places) else records
