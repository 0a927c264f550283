"""A swap of blocks between records, step by step: choose the records that take part, pair them, rebuild the records.

Imports Numba, so it is itself imported only when a method runs. Every record that takes part has a *position*: first the records of several
categories in processing order, then the records of a single category.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.advice import Advice
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import (
    AT_ONCE,
    counted,
    distinct,
    offsets_of,
    picked,
    read_only,
    record_ranges,
    sums_within,
)
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.methods.base import Outcome
from setveil.methods.tendency import _ladder_kernels as ladder
from setveil.methods.tendency import _part_swap_kernels as plain
from setveil.methods.tendency import _partner_search_kernels as search
from setveil.methods.tendency import _tendency_kernels as shape
from setveil.methods.tendency._bounds import KINDS, Bounds, Tally
from setveil.methods.tendency._part_swap_kernels import Enlisted
from setveil.methods.tendency._tendency_kernels import Lists, Moves, Records

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.methods.tendency.base import Order, Step, SwapPlan, Ties
    from setveil.parameters.categories import Categories

HOT_ITEMS = 10
"""Number of most frequent items that a signature has a bit for, so that there are at most 2^10 lists."""

SEEN_ITEMS = 62
"""Number of most frequent items that a signature of the partner search has a bit for; the lowest bits number the lists."""

NOBODY = -1
"""The partner, helper or parent of a record that has none."""
HOW = ("untouched", "partner", "whole", "cycle", "helper", "adopt", "suppress")
"""How a record was hidden, by its code in `BlockSwap.how`."""
NOT_DUE, HELPS = -1, -2
"""The codes of other records in `BlockSwap.state`: those that need not be hidden, and those of them that help."""


class BlockSwap:
    """The state of one swap: filled step by step, read as `result`, `account` and `advice`."""

    def __init__(self, data: Transactions, categories: Categories, *, ties: Ties = "first") -> None:
        self.data = data
        codes, self.names = categories.bind(data)
        self.category = read_only(codes)
        n = data.records
        found = shape.Leanings(
            np.empty(n, np.int8), np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
        )
        arguments = (data.offsets, data.items, self.category, len(self.names), found)
        run("weighing categories", lambda _control: shape.classify(*arguments))
        self.kind, self.top, self.tied, self.above = map(read_only, found)
        self.ties = ties
        self.hidden = self._listed(read_only(np.arange(n)), ties)
        self.content: Transactions | None = None
        self.mixed = self.whole = np.empty(0, np.int64)
        self.how = np.zeros(n, np.int8)
        self.helps = np.zeros(n, np.bool_)
        self.helped_by = np.full(n, NOBODY, np.int64)
        self.given: dict[int, NDArray[np.int32]] = {}
        self.adoptions: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def _listed(self, chosen: NDArray[np.int64], which: Literal["first", "all", "above-mean"]) -> Lists:
        """Return the list of categories of each chosen record."""
        above_mean = which == "above-mean"
        counts = np.minimum(self.tied, 1) if which == "first" else self.tied
        if above_mean:
            counts = np.maximum(self.above, np.isin(self.kind, (shape.SINGLE, shape.FULL)))
        starts = read_only(offsets_of(counts[chosen]))
        if which == "first":
            return Lists(starts, read_only(self.top[chosen][self.tied[chosen] > 0]))
        lists = Lists(starts, np.empty(starts[-1], np.int32))
        fixed = (self.data.offsets, self.data.items, self.category, len(self.names))
        shape.list_categories(*fixed, chosen, above_mean, lists)
        return Lists(starts, read_only(lists.values))

    @cached_property
    def records(self) -> Records:
        """The records of the data, with their blocks."""
        return self._with_blocks(self.data, self.hidden)

    def _with_blocks(self, content: Transactions, hidden: Lists) -> Records:
        """Return the records, with the mark of each occurrence that is in the block of its record."""
        in_block = np.empty(content.occurrences, np.bool_)
        shape.mark_blocks(content.offsets, content.items, self.category, hidden, in_block)
        return Records(content.offsets, content.items, read_only(in_block))

    def _marks(self) -> NDArray[np.int64]:
        """Return room for the marks of items: none is marked."""
        return np.full(len(self.data.vocabulary), -1, np.int64)

    # -- records that take part ------------------------------------------------------------------------------------------------

    def enlist_mixed(self, order: Order, rng: Generator) -> None:
        """Enlist the records of several categories that have a tendency."""
        chosen = np.flatnonzero(self.kind == shape.PARTIAL)
        if order != "file":
            chosen = rng.permutation(chosen)
        if order == "hard":
            chosen = chosen[np.argsort(-self._block_support()[chosen], kind="stable")]
        self.mixed = chosen

    def enlist_whole(self, full_min: int, rng: Generator) -> None:
        """Enlist the records of a single category."""
        self.whole = rng.permutation(np.flatnonzero(np.isin(self.kind, whole_kinds(full_min))))

    def _block_support(self) -> NDArray[np.int64]:
        """Return the summed support of each record's block, a measure of how hard it is to find a partner."""
        data, in_block = self.data, self.records.in_block
        support = np.empty(data.records, np.int64)
        for first, last in record_ranges(
            data.offsets, AT_ONCE, AT_ONCE
        ):  # a large array would be fresh memory each time
            borders = data.offsets[first : last + 1]
            part = slice(borders[0], borders[-1])
            held = np.where(in_block[part], data.supports[data.items[part]], 0)
            support[first:last] = sums_within(borders - borders[0], held)
        return support

    @cached_property
    def record(self) -> NDArray[np.int64]:
        """The record at each position, once all are enlisted."""
        return read_only(np.concatenate((self.mixed, self.whole)))

    # -- partners -------------------------------------------------------------------------------------------------------------

    def find_partners(self, *, strict: bool, one_sided: bool) -> None:
        """Pair the mixed records. `one_sided` is the paper's collision rule, for which all pairs are compared."""
        self.strict = strict
        self.lay_out()
        m = len(self.mixed)
        partner = np.full(m, NOBODY, np.int64)
        if one_sided:
            everyone = (self.enlisted, m, one_sided, self._marks(), partner)
            run("finding partners among all pairs", partial(plain.pair_plainly, *everyone), total=m)
        elif m:
            run(
                "finding partners",
                partial(search.pair_exactly, *self.prepare_search(m), self._marks(), partner),
                total=m,
            )
        found = partner >= 0
        self.gives_to = np.full(len(self.record), NOBODY, np.int64)
        self.gets_from = np.full(len(self.record), NOBODY, np.int64)
        self.gives_to[:m][found] = self.gets_from[:m][found] = partner[found]
        self.how[self.record[:m][found]] = HOW.index("partner")

    def prepare_search(self, count: int) -> tuple[Enlisted, search.Groups, search.Slots, search.Free]:
        """Return what `pair_exactly` needs to know about the first records: all are free. It has signatures of more items."""
        records, tops, clash, *_narrow = self.enlisted
        wide = Enlisted(records, tops, clash, *self._signatures(records, hot_items(self.supports, SEEN_ITEMS)))
        lengths = np.diff(records.offsets[: count + 1])
        groups = search_groups(wide, lengths, 1 << int(self.hot_bit.max(initial=-1) + 1))
        by_place, by_length = np.empty(count, np.int64), np.empty(count, np.int64)
        by_place[groups.by_place] = by_length[groups.by_length] = np.arange(count)
        slots = search.Slots(
            read_only(by_place), read_only(by_length), np.empty(count, np.int64), np.empty(count, np.int64)
        )
        lists, width = len(groups.starts) - 1, len(self.names) + 1
        keys = (groups.signature & (lists - 1)) * width + groups.top
        in_list = np.bincount(keys, minlength=(lists + 1) * width).reshape(lists + 1, width)
        in_list[:-1, -1] = np.diff(groups.starts)
        in_list[-1] = in_list.sum(axis=0)
        free = search.Free(np.arange(count + 1), np.arange(count + 1), np.arange(count + 1), in_list)
        return wide, groups, slots, free

    def lay_out(self) -> None:
        """Copy the items of the enlisted records in processing order, and compute which of the most frequent items each holds."""
        offsets = read_only(offsets_of(self.data.lengths[self.record]))
        copied = Records(offsets, np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.bool_))
        shape.copy_records(self.records, self.record, copied)
        records = Records(*map(read_only, copied))
        tops = read_only(self.top[self.record])
        self.supports = counted(records.items, len(self.data.vocabulary))
        self.hot_bit = hot_items(self.supports, list_bits(len(self.names)))
        self.hidden_enlisted = self._listed(self.record, self.ties)
        clash = self._listed(self.record, "above-mean") if self.strict else self.hidden_enlisted
        self.enlisted = Enlisted(records, tops, clash, *self._signatures(records))

    def _signatures(
        self, records: Records, bits: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return bit sets of the most frequent items that each record holds, and that its block holds."""
        n = len(records.offsets) - 1
        signature, block = np.empty(n, np.int64), np.empty(n, np.int64)
        plain.sign(records, self.hot_bit if bits is None else bits, signature, block)
        return read_only(signature), read_only(block)

    def rotate_whole(self, rng: Generator) -> None:
        """Swap whole records of a single category: sort them by category and move them on by half of their number.

        No record then meets its own category. If one category has more than half of the records, only as many of them take part as there
        are others: this is the maximum that can be hidden.
        """
        m = len(self.mixed)
        position = m + rng.permutation(len(self.whole))
        if not len(position):
            return
        tops = self.enlisted.tops[position]
        counts = np.bincount(tops)
        major = int(counts.argmax())
        others = len(position) - int(counts[major])
        if counts[major] > others:
            position = np.concatenate((position[tops == major][:others], position[tops != major]))
        position = position[np.argsort(self.enlisted.tops[position], kind="stable")]
        source = np.roll(position, len(position) // 2)
        self.gets_from[position] = source
        self.gives_to[source] = position
        self.how[self.record[position]] = HOW.index("whole")

    # -- leftovers ------------------------------------------------------------------------------------------------------------

    def waiting(self) -> NDArray[np.int64]:
        """Return the positions of records that are not hidden yet."""
        return np.flatnonzero(self.how[self.record] == 0)

    def treat_leftovers(self, step: Step | Literal["whole"], rng: Generator) -> None:
        """Take one step of the ladder for the records that are not hidden yet; `whole`: whole records join swaps of whole records."""
        waiting = read_only(self.waiting())
        if len(waiting):
            steps = {
                "whole": self._join_whole,
                "cycle": self._join_swaps,
                "helper": self._find_helpers,
                "adopt": self._find_parents,
                "suppress": self._suppress,
            }
            steps[step](waiting, rng)

    def _join_whole(self, waiting: NDArray[np.int64], rng: Generator) -> None:
        """Let records of a single category join swaps of such records."""
        self._join_swaps(read_only(waiting[waiting >= len(self.mixed)]), rng, way="whole")

    def _join_swaps(
        self, waiting: NDArray[np.int64], rng: Generator, *, way: Literal["cycle", "whole"] = "cycle"
    ) -> None:
        """Let records join existing swaps, and the swaps that result, until none finds a place. `whole`: swaps of whole records only."""
        enlisted = self.enlisted
        while len(waiting):
            giver = np.flatnonzero(self.gives_to >= 0)
            if way == "whole":
                is_whole = self.how[self.record] == HOW.index(way)
                giver = giver[is_whole[giver] & is_whole[self.gives_to[giver]]]
            giver = read_only(rng.permutation(giver))
            receiver = read_only(self.gives_to[giver])
            exchanges = ladder.Exchanges(giver, receiver, self.gives_to, self.gets_from)
            looks = ladder.Looks(
                read_only(enlisted.tops[giver]),
                read_only(enlisted.tops[receiver]),
                read_only(enlisted.block_signature[giver]),
                read_only(enlisted.signature[receiver]),
            )
            numbers = list_numbers(enlisted.clash, waiting)
            queue = in_classes(waiting, numbers, enlisted.signature[waiting], enlisted.block_signature[waiting])
            joined = np.zeros(len(waiting), np.bool_)
            arguments = (queue, enlisted, exchanges, looks, self._marks(), joined)
            run("joining swaps", partial(ladder.join_exchanges, *arguments), total=len(waiting))
            self.how[self.record[waiting[joined]]] = HOW.index(way)
            if not joined.any():
                return
            waiting = read_only(waiting[~joined])

    def _find_helpers(self, waiting: NDArray[np.int64], rng: Generator) -> None:
        """Let records without a tendency take blocks, and give at most as many items in return."""
        helpers = rng.permutation(np.flatnonzero((self.kind == shape.UNIFORM) & ~self.helps))
        if not len(helpers):
            return
        chosen = self.data.take(helpers, ids=None)
        records = Records(chosen.offsets, chosen.items, read_only(np.zeros(chosen.occurrences, np.bool_)))
        signature, _block = self._signatures(records)
        priority = read_only(rng.permutation(len(self.data.vocabulary)))
        queue = in_classes(waiting, self.enlisted.block_signature[waiting])
        helper_of, counts = np.full(len(waiting), NOBODY, np.int64), np.zeros(len(helpers), np.int64)
        given = np.empty(chosen.occurrences, np.int32)
        run(
            "finding helpers",
            partial(
                ladder.find_helpers,
                queue,
                self.enlisted,
                self.category,
                self.hidden_enlisted,
                ladder.Helpers(records, signature, priority),
                ladder.Given(helper_of, counts, given),
                self._marks(),
            ),
            total=len(waiting),
        )
        for w in np.flatnonzero(helper_of >= 0):
            u = helper_of[w]
            record, helper = int(self.record[waiting[w]]), int(helpers[u])
            first = chosen.offsets[u]
            self.given[helper] = given[first : first + counts[u]].copy()
            self.helped_by[record] = helper
            self.helps[helper] = True
            self.how[record] = HOW.index("helper")

    def _find_parents(self, waiting: NDArray[np.int64], rng: Generator) -> None:
        """Move blocks to records that are hidden already or need no hiding, until no record can take another block.

        A record of a single category would be empty without its block, so it stays unchanged.
        """
        children = self.record[waiting]
        children = children[self.kind[children] == shape.PARTIAL]
        content = self.result()
        # A record that need not be hidden may take any block.
        barred = np.zeros(content.records, np.bool_)
        barred[self.record] = True
        _all, block = self._signatures(self.records)
        while len(children):
            able = np.ones(content.records, np.bool_)
            able[self.record[self.waiting()]] = False
            chosen = read_only(rng.permutation(np.flatnonzero(able)))
            records = self._with_blocks(content, self.hidden)
            signature, _none = self._signatures(records)
            parents = ladder.Parents(chosen, read_only(signature[chosen]), read_only(barred))
            queue = in_classes(children, list_numbers(self.hidden, children), block[children])
            parent = np.full(len(children), NOBODY, np.int64)
            arguments = (queue, records, self.hidden, block, parents, self._marks(), parent)
            run("finding records that adopt", partial(ladder.find_parents, *arguments), total=len(children))
            found = parent >= 0
            if not found.any():
                return
            self.adoptions.append((parent[found], children[found]))
            content = self._moved(content, *self.adoptions[-1])
            self.how[children[found]] = HOW.index("adopt")
            children = children[~found]

    def _suppress(self, waiting: NDArray[np.int64], rng: Generator) -> None:
        """Suppress the blocks. A record of a single category would become empty, so it stays unchanged."""
        del rng
        records = self.record[waiting]
        self.how[records[self.kind[records] == shape.PARTIAL]] = HOW.index("suppress")

    # -- a swap that goes on -----------------------------------------------------------------------------------------------------

    def state(self) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Return how each record was hidden, with codes for those that need not be hidden, and the record whose block it got, or -1."""
        how = np.where(self.helps, np.int8(HELPS), np.int8(NOT_DUE))
        how[self.record] = self.how[self.record]
        source = np.full(len(how), NOBODY, np.int64)
        taking = self.gets_from >= 0
        source[self.record[taking]] = self.record[self.gets_from[taking]]
        return how, source

    def resume(
        self, how: NDArray[np.int8], source: NDArray[np.int64], *, strict: bool, content: Transactions | None = None
    ) -> None:
        """Continue from a state, which may have records that are hidden although nothing is known of a swap.

        `content` has the records as they are now, for steps that work on the result of the others.
        """
        self.mixed = np.flatnonzero((how >= 0) & (self.kind == shape.PARTIAL))
        self.whole = np.flatnonzero((how >= 0) & (self.kind != shape.PARTIAL))
        self.how, self.helps, self.content, self.strict = np.maximum(how, 0), how == HELPS, content, strict
        self.lay_out()
        position = np.full(len(how), NOBODY, np.int64)
        position[self.record] = np.arange(len(self.record))
        self.gives_to, self.gets_from = np.full((2, len(self.record)), NOBODY, np.int64)
        taking = np.flatnonzero(source[self.record] >= 0)
        self.gets_from[taking] = position[source[self.record[taking]]]
        self.gives_to[self.gets_from[taking]] = taking
        self.resumed_from = self.gets_from.copy()

    def changed(self) -> NDArray[np.int64]:
        """Return the records that changed since the swap was resumed."""
        swapped = self.record[self.gets_from != self.resumed_from]
        helped = np.flatnonzero(self.helped_by >= 0)
        moved = [records for pair in self.adoptions for records in pair]
        return distinct(np.concatenate((swapped, helped, self.helped_by[helped], *moved)))

    # -- the result -----------------------------------------------------------------------------------------------------------

    def result(self) -> Transactions:
        """Return the rebuilt records, in the order of the original."""
        content = self._swapped() if self.content is None else self.content
        for parents, children in self.adoptions:
            content = self._moved(content, parents, children)
        return content

    def _swapped(self) -> Transactions:
        """Return the records after all steps but adoption."""
        data, n = self.data, self.data.records
        taking = self.gets_from >= 0
        receives = np.full(n, NOBODY, np.int64)
        receives[self.record[taking]] = self.record[self.gets_from[taking]]
        gets_given = np.full(n, NOBODY, np.int64)
        helped = np.flatnonzero(self.helped_by >= 0)
        receives[self.helped_by[helped]] = helped
        gets_given[self.helped_by[helped]] = helped
        counts = np.zeros(n, np.int64)
        for helper, items in self.given.items():
            counts[helper] = len(items)
        listed = [self.given[helper] for helper in sorted(self.given)]
        given = Lists(
            read_only(offsets_of(counts)), read_only(np.concatenate(listed) if listed else np.empty(0, np.int32))
        )
        gives = (self.how > 0) & (self.how != HOW.index("adopt"))
        moves = Moves(read_only(gives), read_only(receives), given, read_only(gets_given))
        return rebuilt(data, self.records, moves)

    def _moved(self, content: Transactions, parents: NDArray[np.int64], children: NDArray[np.int64]) -> Transactions:
        """Move the blocks of the children to their parents."""
        n = content.records
        gives, receives = np.zeros(n, np.bool_), np.full(n, NOBODY, np.int64)
        gives[children] = True
        receives[parents] = children
        nothing = Lists(read_only(np.zeros(n + 1, np.int64)), read_only(np.empty(0, np.int32)))
        moves = Moves(read_only(gives), read_only(receives), nothing, read_only(np.full(n, NOBODY, np.int64)))
        return rebuilt(content, self._with_blocks(content, self.hidden), moves)

    @cached_property
    def bounds(self) -> Bounds:
        """Bounds on how many of the records that take part can be hidden."""
        takes_part = np.zeros(self.data.records, np.bool_)
        takes_part[self.record] = True
        return Bounds.of(self.tally(takes_part), self.category, self.names)

    def due(self, plan: SwapPlan) -> NDArray[np.bool_]:
        """Return which records take part."""
        kinds = whole_kinds(plan.full_min) + (shape.PARTIAL,) * plan.mixed
        return np.isin(self.kind, kinds)

    def tally(self, takes_part: NDArray[np.bool_]) -> Tally:
        """Count the records, and what those that take part lean to."""
        listed = self.hidden.values[np.repeat(takes_part, np.diff(self.hidden.starts))]
        return Tally(
            np.bincount(self.kind, minlength=len(KINDS)),
            np.array([np.count_nonzero(takes_part)]),
            np.bincount(listed, minlength=len(self.names)),
            self.data.supports,
        )

    def reasons(self, bounds: Bounds, failed: NDArray[np.int64]) -> dict[str, int]:
        """Count the reasons why records were not hidden."""
        offsets, places = picked(self.data.offsets, failed)
        too_common = self.records.in_block[places] & (bounds.item_excess > 0)[self.data.items[places]]
        starts, listed = picked(self.hidden.starts, failed)
        crowded = self.hidden.values[listed] == bounds.crowd_code
        return bounds.reasons(sums_within(offsets, too_common) > 0, sums_within(starts, crowded) > 0)

    def account(self) -> dict[str, Any]:
        """Return how many records were hidden in which way, and the bounds."""
        part = self.how[self.record]
        kinds = np.bincount(self.kind, minlength=len(KINDS))
        reasons = self.reasons(self.bounds, self.record[part == 0])
        return account_of(kinds, np.bincount(part, minlength=len(HOW)), reasons, len(self.given), self.bounds)

    def advice(self, *, whole: bool = False) -> Advice:
        """Return why records were not hidden and what to do; empty if all were. With `whole`, only whole records are swapped."""
        return advice_on(len(self.waiting()), self.bounds, whole=whole)


def swapped(data: Transactions, plan: SwapPlan, rng: Generator) -> BlockSwap:
    """Return the swap of a plan after all its steps."""
    swap = BlockSwap(data, plan.categories, ties=plan.ties)
    if plan.mixed:
        swap.enlist_mixed(plan.order, rng)
    if plan.full_min:
        swap.enlist_whole(plan.full_min, rng)
    swap.find_partners(strict=plan.strict, one_sided=plan.one_sided)
    swap.rotate_whole(rng)
    for step in plan.steps:
        swap.treat_leftovers(step, rng)
    return swap


def outcome_of(swap: BlockSwap, plan: SwapPlan) -> Outcome:
    """Return what a swap made of the data."""
    alignment = Alignment.identity(swap.data.records)
    return Outcome(swap.result(), alignment, swap.account(), swap.advice(whole=not plan.mixed))


def account_of(
    kinds: NDArray[np.int64], by_way: NDArray[np.int64], reasons: dict[str, int], helpers: int, bounds: Bounds
) -> dict[str, Any]:
    """Return how many records were hidden in which way, and the bounds, as the dossier has them."""
    return {
        "kinds": dict(zip(KINDS, kinds.tolist(), strict=True)),
        "to-hide": int(by_way.sum()),
        "hidden": dict(zip(HOW[1:], by_way[1:].tolist(), strict=True)),
        "not-hidden": int(by_way[0]),
        "not-hidden-why": reasons,
        "helpers": helpers,
        "bounds": bounds.to_dict(),
    }


def advice_on(left: int, bounds: Bounds, *, whole: bool) -> Advice:
    """Return why records were not hidden and what to do; empty if all were."""
    return bounds.explain(left, whole=whole) if left else Advice()


def whole_kinds(full_min: int) -> tuple[int, ...]:
    """Return the kinds of records of a single category with at least `full_min` items; none if it is 0."""
    return ((), (shape.FULL, shape.SINGLE), (shape.FULL,))[full_min]


def list_bits(categories: int) -> int:
    """Return the number of bits that lists of signatures have: fewer if the table by list and category would be too large."""
    bits = HOT_ITEMS
    while bits > 1 and (categories << bits) > 1 << 24:
        bits -= 1
    return bits


def hot_items(supports: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Return a bit number for each of the most frequent items, -1 for the others. The most frequent one has bit 0."""
    hottest = np.argsort(-supports, kind="stable")[:bits]
    bit_of = np.full(len(supports), -1, np.int64)
    bit_of[hottest] = np.arange(len(hottest))
    return read_only(bit_of)


def list_numbers(lists: Lists, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each chosen record, equal for records that list the same categories."""
    starts, values = lists
    numbers: dict[tuple[int, ...], int] = {}
    sets = (tuple(sorted(values[starts[p] : starts[p + 1]].tolist())) for p in chosen)
    return np.array([numbers.setdefault(one, len(numbers)) for one in sets], dtype=np.int64)


def in_classes(waiting: NDArray[np.int64], *features: NDArray[Any]) -> ladder.Waiting:
    """Return the waiting records in classes: those with equal features are in one, which looks from the first candidate on."""
    distinct, number = np.unique(np.stack(features, axis=1).astype(np.int64), axis=0, return_inverse=True)
    return ladder.Waiting(read_only(waiting), read_only(number.reshape(-1)), np.zeros(len(distinct), np.int64))


def rebuilt(content: Transactions, records: Records, moves: Moves) -> Transactions:
    """Return the records after the moves; `records` are those of the content."""
    offsets, items = np.zeros(content.records + 1, np.int64), np.empty(content.occurrences, np.int32)
    length = run("swapping items", lambda _control: shape.rebuild(records, moves, offsets, items))
    items = items if length == len(items) else items[:length].copy()
    return Transactions.of_parts(offsets, items, content.vocabulary, ids=content.ids, unit=content.unit)


def search_groups(enlisted: Enlisted, lengths: NDArray[np.int64], lists: int) -> search.Groups:
    """Group the records that have these lengths by their signature, each group by position and by decreasing length."""
    number = enlisted.signature[: len(lengths)] & (lists - 1)
    by_place = np.argsort(number.astype(np.int16), kind="stable")  # for so few bits a radix sort
    shorter_by = lengths.max(initial=0) - lengths
    by_length = np.argsort(shorter_by.astype(np.min_scalar_type(shorter_by.max(initial=0))), kind="stable")
    by_length = by_length[np.argsort(number[by_length].astype(np.int16), kind="stable")]
    starts = offsets_of(np.bincount(number, minlength=lists))
    beside = (enlisted.tops, enlisted.signature, enlisted.block_signature)
    arrays = (starts, by_place, by_length, *(values[by_place] for values in beside))
    return search.Groups(*map(read_only, arrays))
