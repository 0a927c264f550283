"""A swap of blocks between records, step by step: choose the records that take part, pair them, rebuild the records.

Imports Numba, so it is itself imported only when a method runs. Every record that takes part has a *position*: first the records of several
categories in processing order, then the records of a single category.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.data.records.ragged import offsets_of, read_only, sums_within
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.methods.tendency import _ladder_kernels as ladder
from setveil.methods.tendency import _part_swap_kernels as plain
from setveil.methods.tendency import _partner_search_kernels as search
from setveil.methods.tendency import _tendency_kernels as shape
from setveil.methods.tendency._bounds import Bounds, Leanings

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.parameters.categories import Categories

HOT_ITEMS = 10
"""Number of most frequent items that a signature has a bit for, so that there are at most 2^10 lists."""

NOBODY = -1
"""The partner, helper or parent of a record that has none."""
Ties = Literal["first", "all"]
Step = Literal["cycle", "helper", "adopt", "suppress"]
HOW = ("untouched", "partner", "whole", "cycle", "helper", "adopt", "suppress")
"""How a record was hidden, by its code in `BlockSwap.how`."""


class BlockSwap:
    """The state of one swap: filled step by step, read as `result`, `account` and `advice`."""

    def __init__(self, data: Transactions, categories: Categories, *, ties: Ties = "first") -> None:
        self.data = data
        codes, self.names = categories.bind(data)
        self.category = read_only(codes)
        n = data.records
        kind, top = np.empty(n, np.int8), np.empty(n, np.int32)
        tied, above = np.empty(n, np.int32), np.empty(n, np.int32)
        arguments = (data.offsets, data.items, self.category, len(self.names), kind, top, tied, above)
        run("weighing categories", lambda _control: shape.classify(*arguments))
        self.kind, self.top, self.tied, self.above = read_only(kind), read_only(top), read_only(tied), read_only(above)
        self.ties = ties
        self.hidden_starts, self.hidden = self._listed(read_only(np.arange(n)), ties)
        self.in_block = self._blocks(data, self.hidden_starts, self.hidden)
        self.mixed = self.whole = np.empty(0, np.int64)
        self.how = np.zeros(n, np.int8)
        self.helped_by = np.full(n, NOBODY, np.int64)
        self.given: dict[int, NDArray[np.int32]] = {}
        self.adoptions: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def _listed(
        self, chosen: NDArray[np.int64], which: Literal["first", "all", "above-mean"]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the start of each chosen record's list of categories, and the lists."""
        above_mean = which == "above-mean"
        counts = np.minimum(self.tied, 1) if which == "first" else self.tied
        if above_mean:
            counts = np.maximum(self.above, np.isin(self.kind, (shape.SINGLE, shape.FULL)))
        starts = read_only(offsets_of(counts[chosen]))
        if which == "first":
            return starts, read_only(self.top[chosen][self.tied[chosen] > 0])
        listed = np.empty(starts[-1], np.int32)
        fixed = (self.data.offsets, self.data.items, self.category, len(self.names), self.top)
        shape.list_categories(*fixed, chosen, above_mean, starts, listed)
        return starts, read_only(listed)

    def _blocks(self, content: Transactions, hidden_starts: Any, hidden: Any) -> NDArray[np.bool_]:
        """Return whether each occurrence is in the block of its record."""
        in_block = np.empty(content.occurrences, np.bool_)
        shape.mark_blocks(content.offsets, content.items, self.category, hidden_starts, hidden, in_block)
        return read_only(in_block)

    # -- records that take part ------------------------------------------------------------------------------------------------

    def enlist_mixed(self, order: Literal["hard", "seeded", "file"], rng: Generator) -> None:
        """Enlist the records of several categories that have a tendency."""
        chosen = np.flatnonzero(self.kind == shape.PARTIAL)
        if order != "file":
            chosen = rng.permutation(chosen)
        if order == "hard":
            chosen = chosen[np.argsort(-self._block_support()[chosen], kind="stable")]
        self.mixed = chosen

    def enlist_whole(self, full_min: int, rng: Generator) -> None:
        """Enlist the records of a single category."""
        kinds = (shape.FULL,) if full_min > 1 else (shape.FULL, shape.SINGLE)
        self.whole = rng.permutation(np.flatnonzero(np.isin(self.kind, kinds)))

    def _block_support(self) -> NDArray[np.int64]:
        """Return the summed support of each record's block, a measure of how hard it is to find a partner."""
        data = self.data
        return sums_within(data.offsets, np.where(self.in_block, data.supports[data.items], 0))

    # -- partners -------------------------------------------------------------------------------------------------------------

    def find_partners(self, *, strict: bool, one_sided: bool) -> None:
        """Pair the mixed records. `one_sided` is the paper's collision rule, for which all pairs are compared."""
        self.strict = strict
        self.record = read_only(np.concatenate((self.mixed, self.whole)))
        self.lay_out()
        m = len(self.mixed)
        partner = np.full(m, NOBODY, np.int64)
        starts, top = self.starts[: m + 1], self.tops[:m]
        rules = (self.clash_starts, self.clash)
        if one_sided:
            everyone = (starts, self.items, self.blocks, top, *rules, one_sided, len(self.data.vocabulary), partner)
            run("finding partners among all pairs", partial(plain.pair_plainly, *everyone), total=m)
        elif m:
            lists = signature_lists(self.signature[:m], np.diff(starts))
            arguments = (
                starts, self.items, self.blocks, len(self.names), top, *rules, len(self.data.vocabulary), self.signature[:m],
                self.block_signature[:m], *lists, partner,
            )  # fmt: skip
            run("finding partners", partial(search.pair_exactly, *arguments), total=m)
        found = partner >= 0
        self.gives_to = np.full(len(self.record), NOBODY, np.int64)
        self.gets_from = np.full(len(self.record), NOBODY, np.int64)
        self.gives_to[:m][found] = self.gets_from[:m][found] = partner[found]
        self.how[self.record[:m][found]] = HOW.index("partner")

    def lay_out(self) -> None:
        """Copy the items of the enlisted records in processing order, and compute which of the most frequent items each holds."""
        chosen = self.data.take(self.record, ids=None)
        self.starts, self.items = chosen.offsets, chosen.items
        self.tops = read_only(self.top[self.record])
        self.hot_bit = hot_items(chosen.supports, len(self.names))
        self.tops_starts, self.tops_list = self._listed(self.record, self.ties)
        self.clash_starts, self.clash = self.tops_starts, self.tops_list
        if self.strict:
            self.clash_starts, self.clash = self._listed(self.record, "above-mean")
        self.blocks = self._blocks(chosen, self.tops_starts, self.tops_list)
        self.signature, self.block_signature = self._signatures(chosen, self.blocks)

    def _signatures(
        self, content: Transactions, in_block: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return bit sets of the most frequent items that each record holds, and that its block holds."""
        signature, block = np.empty(content.records, np.int64), np.empty(content.records, np.int64)
        plain.sign(content.offsets, content.items, in_block, self.hot_bit, signature, block)
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
        tops = self.tops[position]
        counts = np.bincount(tops)
        major = int(counts.argmax())
        others = len(position) - int(counts[major])
        if counts[major] > others:
            position = np.concatenate((position[tops == major][:others], position[tops != major]))
        position = position[np.argsort(self.tops[position], kind="stable")]
        source = np.roll(position, len(position) // 2)
        self.gets_from[position] = source
        self.gives_to[source] = position
        self.how[self.record[position]] = HOW.index("whole")

    # -- leftovers ------------------------------------------------------------------------------------------------------------

    def waiting(self) -> NDArray[np.int64]:
        """Return the positions of records that are not hidden yet."""
        return np.flatnonzero(self.how[self.record] == 0)

    def treat_leftovers(self, step: Step, rng: Generator) -> None:
        """Take one step of the ladder for the records that are not hidden yet."""
        waiting = read_only(self.waiting())
        if len(waiting):
            steps = {
                "cycle": self._join_swaps,
                "helper": self._find_helpers,
                "adopt": self._find_parents,
                "suppress": self._suppress,
            }
            steps[step](waiting, rng)

    def _join_swaps(self, waiting: NDArray[np.int64], rng: Generator) -> None:
        """Let records join existing swaps, and the swaps that result, until no record finds a place."""
        while len(waiting):
            giver = read_only(rng.permutation(np.flatnonzero(self.gives_to >= 0)))
            receiver = read_only(self.gives_to[giver])
            class_of, classes = classes_of(
                list_numbers(self.clash_starts, self.clash, waiting),
                self.signature[waiting],
                self.block_signature[waiting],
            )
            joined = np.zeros(len(waiting), np.bool_)
            arguments = (
                waiting, class_of, classes, self.starts, self.items, self.blocks, self.tops, self.clash_starts, self.clash,
                len(self.data.vocabulary), self.signature, self.block_signature, giver, receiver, self.gives_to, self.gets_from,
                joined,
            )  # fmt: skip
            run("joining swaps", partial(ladder.join_exchanges, *arguments), total=len(waiting))
            self.how[self.record[waiting[joined]]] = HOW.index("cycle")
            if not joined.any():
                return
            waiting = read_only(waiting[~joined])

    def _find_helpers(self, waiting: NDArray[np.int64], rng: Generator) -> None:
        """Let records without a tendency take blocks, and give at most as many items in return."""
        helpers = rng.permutation(np.flatnonzero((self.kind == shape.UNIFORM) & (self.how == 0)))
        if not len(helpers):
            return
        chosen = self.data.take(helpers, ids=None)
        signature, _block = self._signatures(chosen, read_only(np.zeros(chosen.occurrences, np.bool_)))
        priority = read_only(rng.permutation(len(self.data.vocabulary)))
        class_of, classes = classes_of(self.block_signature[waiting])
        helper_of = np.full(len(waiting), NOBODY, np.int64)
        counts = np.zeros(len(helpers), np.int64)
        given = np.empty(len(chosen.items), np.int32)
        arguments = (
            waiting, class_of, classes, self.starts, self.items, self.blocks, self.category, self.tops_starts, self.tops_list,
            len(self.data.vocabulary), self.block_signature, chosen.offsets, chosen.items, signature, priority, helper_of, counts,
            given,
        )  # fmt: skip
        run("finding helpers", partial(ladder.find_helpers, *arguments), total=len(waiting))
        for w in np.flatnonzero(helper_of >= 0):
            u = helper_of[w]
            record, helper = int(self.record[waiting[w]]), int(helpers[u])
            first = chosen.offsets[u]
            self.given[helper] = given[first : first + counts[u]].copy()
            self.helped_by[record] = helper
            self.how[record] = HOW.index("helper")

    def _find_parents(self, waiting: NDArray[np.int64], rng: Generator) -> None:
        """Move blocks to records that are hidden already or need no hiding, until no record can take another block.

        A record of a single category would be empty without its block, so it stays unchanged.
        """
        children = self.record[waiting]
        children = children[self.kind[children] == shape.PARTIAL]
        content = self.result()
        # A record that need not be hidden may take any block.
        barred = np.full(content.records, NOBODY, np.int32)
        barred[self.record] = self.tops
        _all, block = self._signatures(self.data, self.in_block)
        while len(children):
            able = np.ones(content.records, np.bool_)
            able[self.record[self.waiting()]] = False
            parents = read_only(rng.permutation(np.flatnonzero(able)))
            in_block = self._blocks(content, self.hidden_starts, self.hidden)
            signature, _none = self._signatures(content, in_block)
            class_of, classes = classes_of(list_numbers(self.hidden_starts, self.hidden, children), block[children])
            parent = np.full(len(children), NOBODY, np.int64)
            arguments = (
                read_only(children), class_of, classes, content.offsets, content.items, in_block, self.top, self.hidden_starts, self.hidden,
                read_only(barred), len(self.data.vocabulary), read_only(signature[parents]), block, parents, parent,
            )  # fmt: skip
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

    # -- the result -----------------------------------------------------------------------------------------------------------

    def result(self) -> Transactions:
        """Return the rebuilt records, in the order of the original."""
        data, n = self.data, self.data.records
        taking = self.gets_from >= 0
        receives = np.full(n, NOBODY, np.int64)
        receives[self.record[taking]] = self.record[self.gets_from[taking]]
        gets_given = np.full(n, NOBODY, np.int64)
        helped = np.flatnonzero(self.helped_by >= 0)
        receives[self.helped_by[helped]] = helped
        gets_given[self.helped_by[helped]] = helped
        given_counts = np.zeros(n + 1, np.int64)
        for helper, items in self.given.items():
            given_counts[helper + 1] = len(items)
        given = [self.given[helper] for helper in sorted(self.given)]
        given_items = np.concatenate(given) if given else np.empty(0, np.int32)
        fixed = (read_only(np.cumsum(given_counts)), read_only(given_items), read_only(gets_given))
        gives = (self.how > 0) & (self.how != HOW.index("adopt"))
        content = self._rebuilt(data, gives, receives, *fixed)
        for parents, children in self.adoptions:
            content = self._moved(content, parents, children)
        return content

    def _moved(self, content: Transactions, parents: NDArray[np.int64], children: NDArray[np.int64]) -> Transactions:
        """Move the blocks of the children to their parents."""
        n = content.records
        gives, receives = np.zeros(n, np.bool_), np.full(n, NOBODY, np.int64)
        gives[children] = True
        receives[parents] = children
        nothing = (
            read_only(np.zeros(n + 1, np.int64)),
            read_only(np.empty(0, np.int32)),
            read_only(np.full(n, NOBODY, np.int64)),
        )
        return self._rebuilt(content, gives, receives, *nothing)

    def _rebuilt(self, content: Transactions, gives: Any, receives: Any, *given: Any) -> Transactions:
        """Return the records after the blocks moved; `gives` marks records that lose their block, `receives` names whose block they get."""
        in_block = self.in_block if content is self.data else self._blocks(content, self.hidden_starts, self.hidden)
        fixed = (content.offsets, content.items, in_block, read_only(gives), read_only(receives), *given)
        offsets = np.zeros(content.records + 1, np.int64)

        def rebuild(_control: Any) -> NDArray[np.int32]:
            shape.rebuild(*fixed, offsets, np.empty(0, np.int32), False)
            np.cumsum(offsets, out=offsets)
            items = np.empty(offsets[-1], np.int32)
            shape.rebuild(*fixed, offsets, items, True)
            return items

        items = run("swapping items", rebuild)
        return Transactions(offsets, items, content.vocabulary, ids=content.ids, unit=content.unit)

    @cached_property
    def bounds(self) -> Bounds:
        """Bounds on how many of the records that take part can be hidden."""
        return Bounds.of(
            Leanings(self.data, self.category, self.hidden_starts, self.hidden),
            self.names,
            self.record,
            int(np.count_nonzero(self.kind == shape.UNIFORM)),
        )

    def account(self) -> dict[str, Any]:
        """Return how many records were hidden in which way, and the bounds."""
        part = self.how[self.record]
        by_way = {way: int(np.count_nonzero(part == code)) for code, way in enumerate(HOW) if code}
        kinds = ("empty", "single", "full", "partial", "uniform")
        return {
            "kinds": {name: int(np.count_nonzero(self.kind == code)) for code, name in enumerate(kinds)},
            "to-hide": len(self.record),
            "hidden": by_way,
            "not-hidden": int(np.count_nonzero(part == 0)),
            "not-hidden-why": self.bounds.reasons(self.record[part == 0]),
            "helpers": len(self.given),
            "bounds": self.bounds.to_dict(),
        }

    def advice(self, *, whole: bool = False) -> str:
        """Return why records were not hidden and what to do; empty if all were. With `whole`, only whole records are swapped."""
        left = len(self.waiting())
        return self.bounds.explain(left, whole=whole) if left else ""


def hot_items(supports: NDArray[np.int64], categories: int) -> NDArray[np.int64]:
    """Return a bit number for each of the most frequent items, -1 for the others.

    There are fewer bits if the table by list and category would be too large.
    """
    bits = HOT_ITEMS
    while bits > 1 and (categories << bits) > 1 << 26:
        bits -= 1
    hottest = np.argsort(-supports, kind="stable")[:bits]
    bit_of = np.full(len(supports), -1, np.int64)
    bit_of[hottest] = np.arange(len(hottest))
    return read_only(bit_of)


def list_numbers(starts: NDArray[np.int64], listed: NDArray[np.int32], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each chosen record, equal for records that list the same categories."""
    numbers: dict[tuple[int, ...], int] = {}
    lists = (tuple(sorted(listed[starts[p] : starts[p + 1]].tolist())) for p in chosen)
    return np.array([numbers.setdefault(one, len(numbers)) for one in lists], dtype=np.int64)


def classes_of(*features: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Return a number for each record, equal for records with equal features, and how many numbers there are."""
    distinct, number = np.unique(np.stack(features, axis=1).astype(np.int64), axis=0, return_inverse=True)
    return read_only(number.reshape(-1)), len(distinct)


def signature_lists(signature: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Group positions by signature; return them by position and by decreasing length, and the starts and signatures of the groups."""
    by_place = np.argsort(signature, kind="stable")
    by_length = np.lexsort((-lengths, signature))
    found, first = np.unique(signature[by_place], return_index=True)
    return read_only(by_place), read_only(by_length), read_only(np.append(first, len(signature))), read_only(found)
