"""The state of exact swapping: records, tracked sets and named itemsets as arrays, and the calls of the loops that change them.

An *entry* is an occurrence that could be moved: a record, and an item of a named itemset that the record holds.

Arrays as long as the data are on disk if the data have more records than a block; what is in memory grows with the entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.in_blocks import room_for
from setveil.data.records.ragged import BLOCK, inverted, offsets_of, owner_of, places_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter
from setveil.kernels.threads import run, share
from setveil.methods.itemsets import _exact_swap_kernels as kernels_module
from setveil.methods.itemsets import _exchange_kernels as exchange
from setveil.methods.itemsets import _heap_kernels as heaps
from setveil.methods.itemsets import _tracking_kernels as tracking_module
from setveil.methods.itemsets._tracking import EXAMPLES, Tracked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray


kernels: Any = kernels_module  # without types, since Numba infers them
tracking: Any = tracking_module

ALL_PAIRS = 4096
"""Up to this number of ranked items, the pairs of all of them are counted, so that each can be given in return."""
MOST_PAIRS = 1 << 28
"""Maximum size of the table of pairs."""
SCARCE = 50
"""Ranked items are given in return only if there are fewer than this number of other occurrences per occurrence to move."""
AROUND = 1 << 23
"""Maximum number of sets around entries that are stored, to avoid repeated lookups."""
PARTS = 4
"""Number of parts of the weighing. It does not depend on the number of threads, because the stored sets must not."""
COUNTING = 20
"""Budget of exact counts: the total number of records that they may read, per occurrence in the data."""
AFI = {"forbid": exchange.FORBID, "cost": exchange.COST, "off": exchange.OFF}


class Hiding:
    """The state of one run: built from the data, changed by `weigh` and `hide`, read as `result` and `account`."""

    def __init__(
        self,
        data: Transactions,
        named: tuple[NDArray[np.int64], NDArray[np.int32]],
        targets: NDArray[np.int64],
        levels: Sequence[int],
        frequent_from: int,
    ) -> None:
        self.data = data
        self.offsets, self.codes = named
        self.targets = targets
        self.tracked = Tracked(data, levels, named)
        self._rank_items()
        self._lay_out_rows()
        starts, sets = inverted(self.offsets, self.codes, len(data.vocabulary))
        self.named = tracking.Named(self.offsets, self.codes, starts, sets.astype(np.int32))
        self.tracked.lay_out(self.rank, self.ranks, self.named, frequent_from)
        self._find_holders()
        self.driving = self._driving()
        self.is_open = self.driving & (self.before > targets)
        self.excess = int((self.before - targets)[self.is_open].sum())
        self.swapped, self.suppressed = (np.zeros(len(targets), dtype=np.int64) for _ in range(2))
        self._list_entries()

    def _rank_items(self) -> None:
        """Give a rank, that is a number, to every item that is frequent or in a named itemset."""
        data = self.data
        is_ranked = data.supports >= self.tracked.lowest
        is_ranked[self.codes] = True
        of_rank = np.flatnonzero(is_ranked)
        self.ranks = len(of_rank)
        self.rank = np.full(len(data.vocabulary), -1, dtype=np.int32)
        self.rank[of_rank] = np.arange(self.ranks)
        self.starts = offsets_of(data.supports[of_rank])

    def _lay_out_rows(self) -> None:
        """Count pairs of ranked items, and list the records of each ranked item and the places of the other occurrences."""
        data, ranks = self.data, self.ranks
        free = data.occurrences - int(self.starts[-1])
        counted = np.zeros(ranks, dtype=bool)
        counted[self.rank[self.codes]] = True
        self.gives_all = ranks <= ALL_PAIRS and free < SCARCE * self.tracked.excess(self.targets)
        if self.gives_all:
            counted[:] = True
        if np.count_nonzero(counted) * ranks > MOST_PAIRS:
            raise BadParameter(
                f"{np.count_nonzero(counted):,} items are in named itemsets and {ranks:,} items are frequent or named: these have more "
                f"than {MOST_PAIRS:,} pairs, too many to count; use a higher `min_support=`, or fewer itemsets"
            )
        self.items = room_for(data, data.occurrences, np.int32)
        self.items[:] = data.items
        self.rows = tracking.Rows(data.offsets, self.items, self.rank)
        self.index = tracking.Index(
            record_of=room_for(data, data.occurrences, np.int32),
            starts=self.starts,
            held_by=room_for(data, int(self.starts[-1]), np.int32),
            entered_head=np.full(ranks, -1, dtype=np.int64),
            entered_next=np.empty(0, dtype=np.int64),  # as long as there may be changes, once that is known
            entered_record=np.empty(0, dtype=np.int32),
            pair_row=np.where(counted, np.cumsum(counted) - 1, -1),
            pairs=np.zeros((np.count_nonzero(counted), ranks), dtype=np.int32),
            seen=room_for(data, data.records + 1, np.int64),
        )
        self.free = room_for(
            data, free + 1, np.int64
        )  # the last value is the step for visiting the others (_with_step)
        run(
            "laying out the records",
            lambda control: tracking.lay_out(
                self.rows, self.index, np.zeros(ranks, dtype=np.int64), self.free, control
            ),
            total=data.records,
        )

    def _find_holders(self) -> None:
        """Find the records that hold each named itemset, and group the itemsets by record."""
        data = self.data
        by_support = np.lexsort((data.supports[self.codes], owner_of(self.offsets)))
        rarest = self.rank[self.codes[by_support[self.offsets[:-1]]]].astype(np.int64)
        most = int((self.starts[rarest + 1] - self.starts[rarest]).sum())
        secret, record = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        found = run(
            "finding the named itemsets",
            lambda control: kernels.find_holders(rarest, self.rows, self.index, self.named, secret, record, control),
            total=len(rarest),
        )
        secret, record = secret[:found], record[:found]
        self.before = np.bincount(secret, minlength=len(rarest)).astype(np.int64)
        self.after = self.before.copy()
        self.group_starts, by_record = places_of(record, data.records)
        self.group = secret[by_record]

    def _driving(self) -> NDArray[np.bool_]:
        """Return which named itemsets need work: an itemset is at its target if a named subset reaches a target that is no higher."""
        sets = [
            frozenset(self.codes[first:last].tolist())
            for first, last in zip(self.offsets[:-1], self.offsets[1:], strict=True)
        ]
        driving = np.ones(len(sets), dtype=bool)
        of_item: dict[int, list[int]] = {}
        for number, one in enumerate(sets):
            of_item.setdefault(min(one), []).append(number)
        for number, one in enumerate(sets):
            parts = (part for item in one for part in of_item.get(item, ()) if sets[part] < one)
            driving[number] = not any(self.targets[part] <= self.targets[number] for part in parts)
        return driving

    def _list_entries(self) -> None:
        """List the entries: items of open named itemsets in the records that hold them, in groups of one record."""
        most = int((np.diff(self.offsets) * self.before)[self.is_open].sum())
        room = kernels.Entries(
            starts=np.empty(most + 1, dtype=np.int64),
            record=np.empty(most, dtype=np.int32),
            item=np.empty(most, dtype=np.int32),
            keys=np.empty(most),
        )
        entries, groups = kernels.list_entries(self.is_open, self.named, self.group_starts, self.group, room)
        self.entries = kernels.Entries(room.starts[: groups + 1], *(one[:entries] for one in room[1:]))

    def weigh(self, *, swaps: bool) -> None:
        """Weigh what would be lost with each entry, and store the sets that it is part of."""
        tracked = self.tracked
        entries = len(self.entries.record)
        self.swaps = swaps
        self.goals = self.make_goals()
        parts = PARTS
        stretch = AROUND // parts
        self.around = kernels.Around(
            *(np.empty(entries, dtype=np.int64) for _ in range(2)),
            np.empty(stretch * parts, dtype=np.int32),
            np.zeros(self.data.records, dtype=bool),
        )
        taking_part = np.zeros((parts, len(tracked.itemsets)), dtype=np.int64)

        def score(part: np.int64, control: Any) -> None:
            of = kernels.Part(part, np.int64(parts), (part + 1) * np.int64(stretch), taking_part[part])
            kernels.score_records(of, self.entries, self.around, self.goals, swaps, self.make_world(), control)

        share(
            "weighing items to move",
            [np.int64(part) for part in range(parts)],
            score,
            total=len(self.entries.starts) - 1,
        )
        self.taking_part = taking_part.sum(axis=0)

    def hide(self, *, afi: str, most: int, rng: Generator, planned: NDArray[np.int64] | None = None) -> None:
        """Move or suppress items until every named itemset is at its target, starting with the entries of a plan."""
        entries = len(self.entries.record)
        changes = 2 * self.excess + 1
        self.index = self.index._replace(
            entered_next=np.empty(changes, dtype=np.int64), entered_record=np.empty(changes, dtype=np.int32)
        )
        world = self.make_world()
        self.counters = world.counters
        self.counters[exchange.OPEN] = np.count_nonzero(self.is_open)
        self.counters[tracking.BUDGET] = COUNTING * self.data.occurrences
        if planned is not None:
            self.entries.keys[planned] = -1.0
        heap = heaps.Heap(
            np.arange(entries), self.entries.keys.copy(), rng.permutation(entries), np.empty(entries, dtype=np.int64)
        )
        offers = self.make_offers(afi, most, rng)
        run(
            "hiding the named itemsets",
            lambda control: kernels.hide(
                self.entries, self.around, heap, self._taking_part(), self.goals, offers, world, control
            ),
            total=self.excess,
        )

    def make_goals(self) -> exchange.Goals:
        """Return what each named itemset needs, when no record has changed yet."""
        return exchange.Goals(
            self.named,
            self.after,
            self.targets,
            self.driving,
            self.group_starts,
            self.group,
            np.ones(len(self.group), dtype=bool),
            self.swapped,
            self.suppressed,
        )

    def make_offers(self, afi: str, most: int, rng: Generator) -> exchange.Offers:
        """Return the items that may be given in return, to be visited in random order."""
        ranked = self.gives_all and self.swaps
        others = room_for(self.data, 1 + (int(self.starts[-1]) if ranked else 0), np.int64)
        number = 0
        for first in range(0, self.data.occurrences if ranked else 0, BLOCK):
            places = first + np.flatnonzero(self.rank[self.data.items[first : first + BLOCK]] >= 0)
            others[number : number + len(places)] = places
            number += len(places)
        return exchange.Offers(
            swaps=self.swaps,
            free=_with_step(self.free, rng),
            others=_with_step(others, rng),
            remembered=np.empty(exchange.N_REMEMBERED + 1, dtype=np.int64),
            patience=np.full(self.ranks, most, dtype=np.int64),
            most=np.int64(most),
            afi=np.int64(AFI[afi]),
        )

    def _taking_part(self) -> kernels_module.TakingPart:
        """Return the entries of each set at risk, that is, one that is lost if an average share of its entries is moved."""
        tracked = self.tracked
        share_to_move = self.excess / max(int(np.count_nonzero(self.is_open[self.group])), 1)
        at_risk = self.taking_part * share_to_move * tracked.weights[tracked.before] >= 1
        starts = offsets_of(np.where(at_risk, self.taking_part, 0))
        entries = np.empty(starts[-1], dtype=np.int32)
        kernels.list_taking_part(self.around, starts, np.zeros(len(at_risk), dtype=np.int64), entries)
        return kernels_module.TakingPart(starts, entries, np.empty(4 * len(at_risk), dtype=np.int64))

    @property
    def _longest(self) -> int:
        """The number of items in the longest record."""
        return int(self.data.lengths.max(initial=0))

    def make_world(self) -> tracking_module.World:
        """Return the records and the tracked sets with room of their own: lists for each length, and all sets that a record may hold."""
        longest, deepest, sets = self._longest + 2, self.tracked.itemsets.longest + 2, len(self.tracked.itemsets) + 1
        lists = longest * deepest
        room = tracking_module.Room(
            members=np.empty(longest, dtype=np.int32),
            parts=np.empty(longest, dtype=np.int32),
            list_items=np.empty(lists, dtype=np.int32),
            list_sets=np.empty(lists, dtype=np.int64),
            list_bits=np.empty(lists, dtype=np.int64),
            frames=np.empty((deepest + 1, 2), dtype=np.int64),
            found=np.empty(sets, dtype=np.int32),
            found_bits=np.empty(sets, dtype=np.int64),
        )
        counters = np.zeros(exchange.N_COUNTERS, dtype=np.int64)
        return tracking_module.World(self.rows, self.index, self.tracked.sets, room, counters)

    def result(self) -> Transactions:
        """Return the records in their current state."""
        data = self.data
        offsets, items = room_for(data, data.records + 1, np.int64), room_for(data, data.occurrences, np.int32)
        kept = kernels.tidy(self.rows, data.items, offsets, items)
        return Transactions.of_parts(offsets, items[:kept], data.vocabulary, ids=data.ids, unit=data.unit)

    def account(self) -> dict[str, Any]:
        """Return what was done, in total and for each named itemset."""
        tracked, lost = self.tracked, self.tracked.lost
        figures: dict[str, Any] = {
            "items-exchanged": int(self.counters[exchange.SWAPPED]),
            "items-left-out": int(self.counters[exchange.LEFT_OUT]),
            "frequent-itemsets": len(tracked.itemsets),
            "lost-that-could-have-been-kept": int(np.count_nonzero(lost)),
            "hold-a-named-itemset": int(np.count_nonzero(~tracked.matters)),
        }
        if tracked.longest_tracked is not None:
            figures["looked-after-up-to-items"] = tracked.longest_tracked
        return figures | {"itemsets": [self._row(number, lost) for number in range(len(self.targets))]}

    def _row(self, number: int, lost: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the account of one named itemset."""
        tracked, vocabulary = self.tracked, self.data.vocabulary
        for_this = np.flatnonzero(lost & (tracked.lost_for == number))
        above = tracked.supersets[number]
        return {
            "items": [vocabulary[code] for code in self.codes[self.offsets[number] : self.offsets[number + 1]]],
            "before": int(self.before[number]),
            "target": int(self.targets[number]),
            "after": int(self.after[number]),
            "by-exchange": int(self.swapped[number]),
            "by-leaving-out": int(self.suppressed[number]),
            "lost": len(for_this),
            "lost-such-as": [tracked.labels(int(one)) for one in for_this[:EXAMPLES]],
            "cannot-be-kept": int(above[0]),
            "cannot-be-kept-such-as": [tracked.labels(int(one)) for one in above[1 : 1 + int(above[0])]],
        }


def _with_step(places: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
    """Set the last place to a random step coprime to the number of the others, so that stepping visits each of them once."""
    step, length = 1, len(places) - 1
    if length > 1:
        step = int(rng.integers(1, length))
        while np.gcd(step, length) != 1:
            step = int(rng.integers(1, length))
    places[-1] = step
    return places
