"""Minimal rare itemsets: at most m items that some records hold together, but fewer than k.

A rare itemset is *minimal* if all its proper subsets are in at least k records; every rare itemset contains a minimal one. The search is
exact and does not list all sets. A minimal set has at most one of several items that are in exactly the same records. Such items are
searched as one item, and each set found counts once per combination of the items that it represents. Sets are searched by size, depth
first within a size; `_rare_itemsets_kernels` describes how the search is pruned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import (
    inverted,
    offsets_of,
    picked,
    places_of,
    ranks_of_sequences,
    read_only,
    records_of,
    sums_within,
)
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.disassociated import Disassociated
    from setveil.data.records.transactions import Transactions

STEPS_FOR_MORE = 100_000_000
"""Maximum number of steps for counting all rare itemsets after the first is found."""
MOST_STEPS = 1 << 62
"""Larger budgets are reduced to this one."""


@dataclass(frozen=True, eq=False)
class RareItemsets:
    """The minimal rare itemsets, by rising size."""

    sets: list[NDArray[np.int64]]
    """The codes of the first sets, up to the limit, in rising order within a set."""
    supports: NDArray[np.int64]
    """The number of records that hold each of these sets."""
    parts: NDArray[np.int64]
    """The part of the records in which each of these sets is; 0 if the records have no parts."""
    by_size: dict[int, int]
    """The number of sets of each size, without sizes that do not occur."""
    complete: bool
    """Whether all were found; otherwise the counts are lower bounds."""
    exposed: int
    """The number of records that hold one of the sets found."""
    rarest: NDArray[np.int64]
    """The support of the rarest item of each of these sets. Sets of several items are listed in this order within a size."""
    steps: int
    """How many steps the search took."""

    @property
    def found(self) -> int:
        """The number of sets found."""
        return sum(self.by_size.values())

    @property
    def undecided(self) -> bool:
        """Whether the search ended before any was found."""
        return not self.complete and not self.by_size

    @classmethod
    def merged(cls, parts: Sequence[RareItemsets], limit: int) -> RareItemsets:
        """Return the sets of several data sets that share no part, in the order of parts, as a search of all together would list them."""
        found = [one for part in parts for one in zip(part.sets, part.supports, part.parts, part.rarest, strict=True)]
        found = sorted(found, key=lambda one: (len(one[0]), one[3] if len(one[0]) > 1 else 0))[:limit]
        sizes = sorted({size for part in parts for size in part.by_size})
        supports, of_parts, rarest = (np.array([one[column] for one in found], np.int64) for column in (1, 2, 3))
        return cls(
            [one[0] for one in found],
            supports,
            of_parts,
            {size: sum(part.by_size.get(size, 0) for part in parts) for size in sizes},
            all(part.complete for part in parts),
            sum(part.exposed for part in parts),
            rarest,
            sum(part.steps for part in parts),
        )


def rare_itemsets(
    data: Transactions,
    k: int,
    m: int,
    *,
    weights: NDArray[np.int64] | None = None,
    parts: NDArray[np.int64] | None = None,
    budget: int,
    limit: int,
) -> RareItemsets:
    """Return the minimal sets of at most m items that 1 to k - 1 records hold.

    `weights` is the number of records that each row represents. `parts` is the part of each row: the same item in different parts counts as
    different items. The search ends after `budget` steps, or earlier if it found sets. At most `limit` sets are listed.
    """
    if weights is None:
        weights = np.ones(data.records, np.int64)
    table = _Items.of(data, weights, parts)
    k = min(k, int(weights.sum()) + 1)  # no itemset has a higher support, and the number fits into 64 bits
    is_rare = table.supports < k
    singles = np.flatnonzero(is_rare)
    is_exposed = np.zeros(data.records, np.bool_)
    is_exposed[records_of(np.flatnonzero(is_rare[table.item]), table.offsets)] = True
    by_size = {1: len(singles)} if len(singles) else {}
    listed = [
        (singles[place : place + 1], int(table.supports[singles[place]])) for place in range(len(singles))[:limit]
    ]
    complete, steps = True, 0
    if m > 1 and k > 1:
        found = _Search.of(table, weights, k, by_size)
        complete, steps = found.run(m, budget, limit - len(listed))
        listed += found.listed
        is_exposed |= found.exposed[found.content_of]
    return RareItemsets(
        [np.sort(table.codes[one]) for one, _support in listed],
        np.array([support for _one, support in listed], np.int64),
        np.array([table.parts[one[0]] for one, _support in listed], np.int64),
        by_size,
        complete,
        int(weights[is_exposed].sum()),
        np.array([table.supports[one].min() for one, _support in listed], np.int64),
        steps,
    )


def rare_itemsets_in_chunks(data: Disassociated, k: int, m: int, *, budget: int, limit: int) -> RareItemsets:
    """Return the minimal sets of at most m items that 1 to k - 1 subrecords of a record chunk hold; a part is a chunk.

    Chunks are searched in pieces of the data, which take no more steps than all together.
    """
    pieces: list[RareItemsets] = []
    chunks = 0
    for piece in data.in_pieces():
        steps = sum(found.steps for found in pieces)
        most = min(budget, STEPS_FOR_MORE) if any(found.found for found in pieces) else budget
        weights, parts = piece.counts, piece.chunk_of_subrecord
        found = rare_itemsets(
            piece.subrecords, k, m, weights=weights, parts=parts, budget=max(most - steps, 0), limit=limit
        )
        pieces.append(replace(found, parts=found.parts + chunks))
        chunks += piece.chunks
    return RareItemsets.merged(pieces, limit)


@dataclass(frozen=True, eq=False)
class _Items:
    """The item of each occurrence, by record. Items that occur are numbered from 0, separately in each part of the records."""

    offsets: NDArray[np.int64]
    item: NDArray[np.int64]
    codes: NDArray[np.int64]
    """The code of each item."""
    parts: NDArray[np.int64]
    """The part of each item."""
    supports: NDArray[np.int64]

    @classmethod
    def of(cls, data: Transactions, weights: NDArray[np.int64], parts: NDArray[np.int64] | None) -> _Items:
        if parts is None:
            codes = np.flatnonzero(data.supports)
            number = np.zeros(len(data.vocabulary), np.int64)
            number[codes] = np.arange(len(codes))
            item, parts_of = number[data.items], np.zeros(len(codes), np.int64)
        else:
            width = max(len(data.vocabulary), 1)
            keys, item = np.unique(np.repeat(parts, data.lengths) * width + data.items, return_inverse=True)
            codes, parts_of = keys % width, keys // width
        supports = np.zeros(len(codes), np.int64)
        np.add.at(supports, item, np.repeat(weights, data.lengths))
        return cls(data.offsets, item, codes, parts_of, supports)


@dataclass(eq=False)
class _Search:
    """Distinct records over items with a support of at least k, items in the same records merged into one; and the sets found."""

    k: int
    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    weights: NDArray[np.int64]
    supports: NDArray[np.int64]
    starts: NDArray[np.int64]
    """The start of the records of each item in `holders`."""
    holders: NDArray[np.int64]
    """The records that hold each item."""
    members: NDArray[np.int64]
    """The items that the merged items represent: those of item i from `member_starts[i]` on."""
    member_starts: NDArray[np.int64]
    content_of: NDArray[np.int64]
    """The distinct record of each record of the data; the last one represents all with fewer than two items."""
    exposed: NDArray[np.bool_]
    by_size: dict[int, int]
    """The number of sets found of each size, including single items."""
    listed: list[tuple[NDArray[np.int64], int]]

    @classmethod
    def of(cls, table: _Items, weights: NDArray[np.int64], k: int, by_size: dict[int, int]) -> _Search:
        is_often = table.supports >= k
        often = np.flatnonzero(is_often)
        keep = is_often[table.item]
        offsets, item = offsets_of(keep)[table.offsets], (np.cumsum(is_often) - 1)[table.item[keep]]
        content_of = ranks_of_sequences(offsets, item)
        of_content = np.zeros(int(content_of.max(initial=-1)) + 1, np.int64)
        np.add.at(of_content, content_of, weights)
        example = np.empty(len(of_content), np.int64)
        example[content_of] = np.arange(len(content_of))
        offsets, places = picked(offsets, example)
        item = item[places]
        # Merge items that are in the same records: keep the first.
        kind = ranks_of_sequences(*inverted(offsets, item, len(often)))
        _kinds, head, copies = np.unique(kind, return_index=True, return_counts=True)
        order = np.lexsort((head, table.supports[often[head]]))
        rank = np.full(len(often), -1, np.int64)
        rank[head[order]] = np.arange(len(order))
        member_starts, members = picked(offsets_of(copies), order)
        members = often[np.argsort(kind, kind="stable")][members]
        # A record with one item holds no larger set.
        item = rank[item]
        keep = item >= 0
        lengths = sums_within(offsets, keep)
        long = lengths > 1
        n_long = int(np.count_nonzero(long))
        new = np.where(long, np.cumsum(long) - 1, n_long)
        keep &= np.repeat(long, np.diff(offsets))
        offsets = offsets_of(lengths[long])
        starts, holders = inverted(offsets, item[keep], len(order))
        return cls(
            k,
            offsets,
            inverted(starts, holders, n_long)[1],
            of_content[long],
            table.supports[often[head[order]]],
            starts,
            holders,
            members,
            member_starts,
            new[content_of],
            np.zeros(n_long + 1, np.bool_),
            by_size,
            [],
        )

    def run(self, m: int, budget: int, limit: int) -> tuple[bool, int]:
        """Search one size after the other, and return whether the search is complete, and how many steps it took."""
        longest = int(np.diff(self.offsets).max(initial=0))
        if longest < 2:
            return True, 0
        from setveil.mining import _rare_itemsets_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        places, copies = places_of(self.items, len(self.supports))[1], np.diff(self.member_starts)
        columns = (self.offsets, self.items, self.weights, self.starts, self.holders, places, self.supports, copies)
        records = kernels.Records(*map(read_only, columns))
        steps = (min(budget, MOST_STEPS), min(budget, STEPS_FOR_MORE))
        state = np.zeros(8, np.int64)
        for size in range(2, min(m, longest) + 1):
            sets = np.empty((limit - len(self.listed), size), np.int64)
            held_by = np.empty(len(sets), np.int64)
            already = sum(self.by_size.values())
            state[kernels.FOUND], state[kernels.LISTED], state[kernels.MORE] = already, 0, 0
            limits, found = kernels.Limits(size, self.k, *steps), kernels.Found(self.exposed, sets, held_by, state)
            work = partial(kernels.search, limits, records, found)
            run(f"searching rare sets of {size} items", work, total=len(self.supports))
            if state[kernels.FOUND] > already:
                self.by_size[size] = int(state[kernels.FOUND]) - already
            for place in range(state[kernels.LISTED]):
                self._list(sets[place], int(held_by[place]), limit)
            if state[kernels.ENDED] or state[kernels.CUT]:
                return False, int(state[kernels.STEPS])
            if not state[kernels.MORE]:
                break
        return True, int(state[kernels.STEPS])

    def _list(self, found: NDArray[np.int64], support: int, limit: int) -> None:
        """List the sets of items that a found set represents, up to the limit."""
        starts = self.member_starts
        choices = product(*(self.members[starts[one] : starts[one + 1]].tolist() for one in found.tolist()))
        self.listed += [(np.array(one), support) for one in islice(choices, limit - len(self.listed))]
