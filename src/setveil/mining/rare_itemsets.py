"""Rare itemsets: up to m items that some records hold together, but fewer than k; the smallest of them.

An itemset is *minimal* if all its parts are in k records or more: every rare itemset has a minimal one in it. Exact, and without listing
them all. Items in exactly the same records go one for the other: a minimal set has at most one of them, so that they are searched as one
item, and the sets found are counted by how many items each stands for. Sets are searched by size, depth first within a size; what keeps
that small is told with the loops (`_rare_itemsets_kernels`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import inverted, owner_of, picked, places_of, ranks_of_sequences, starts_of
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

STEPS_FOR_MORE = 100_000_000
"""Where rare itemsets are known, so many steps are spent on counting all of them."""
MOST_STEPS = 1 << 62
"""A budget above this is no other one."""


@dataclass(frozen=True, eq=False)
class RareItemsets:
    """The minimal rare itemsets, the smallest first."""

    sets: list[NDArray[np.int64]]
    """Rising codes of some of them, as many as were asked for."""
    supports: NDArray[np.int64]
    """How many records hold each of these."""
    parts: NDArray[np.int64]
    """In which part of the records each of these is; 0 where the records are not in parts."""
    by_size: dict[int, int]
    """How many there are of each size, where there are any."""
    complete: bool
    """Whether all were found; else there are at least so many."""
    exposed: int
    """How many records hold one of those found."""

    @property
    def found(self) -> int:
        """How many were found."""
        return sum(self.by_size.values())

    @property
    def undecided(self) -> bool:
        """Whether the search ended before any was found."""
        return not self.complete and not self.by_size


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
    """Find the minimal sets of at most m items that 1 to k - 1 records hold.

    `weights` tells how many records each stands for. `parts` tells in which part each record is: an item of one part is then another one
    than the same item of another part. The search ends after `budget` steps, or earlier where something was found. At most `limit` sets
    are listed.
    """
    if weights is None:
        weights = np.ones(data.records, np.int64)
    table = _Items.of(data, weights, parts)
    k = min(k, int(weights.sum()) + 1)  # so many hold nothing, and it fits into a word
    singles = np.flatnonzero(table.supports < k)
    is_exposed = np.zeros(data.records, np.bool_)
    is_exposed[table.row[(table.supports < k)[table.item]]] = True
    by_size = {1: len(singles)} if len(singles) else {}
    listed = [
        (singles[place : place + 1], int(table.supports[singles[place]])) for place in range(len(singles))[:limit]
    ]
    complete = True
    if m > 1 and k > 1:
        found = _Search.of(table, weights, data.records, k, by_size)
        complete = found.run(m, budget, limit - len(listed))
        listed += found.listed
        is_exposed |= found.exposed[found.content_of]
    return RareItemsets(
        [np.sort(table.codes[one]) for one, _support in listed],
        np.array([support for _one, support in listed], np.int64),
        np.array([table.parts[one[0]] for one, _support in listed], np.int64),
        by_size,
        complete,
        int(weights[is_exposed].sum()),
    )


@dataclass(frozen=True, eq=False)
class _Items:
    """The occurrences: for each its row and its item; items that occur are numbered from 0 on, apart for each part of the records."""

    row: NDArray[np.int64]
    item: NDArray[np.int64]
    codes: NDArray[np.int64]
    """For each item its code."""
    parts: NDArray[np.int64]
    """For each item its part."""
    supports: NDArray[np.int64]

    @classmethod
    def of(cls, data: Transactions, weights: NDArray[np.int64], parts: NDArray[np.int64] | None) -> _Items:
        row = owner_of(data.offsets)
        width = max(len(data.vocabulary), 1)
        key = data.items.astype(np.int64) if parts is None else parts[row] * width + data.items
        keys, item = np.unique(key, return_inverse=True)
        supports = np.zeros(len(keys), np.int64)
        np.add.at(supports, item, weights[row])
        return cls(row, item, keys % width, keys // width, supports)


@dataclass(eq=False)
class _Search:
    """Distinct records over items that k records or more hold, of equal items one; and what was found in them."""

    k: int
    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    weights: NDArray[np.int64]
    supports: NDArray[np.int64]
    members: list[NDArray[np.int64]]
    """The items that each item stands for."""
    content_of: NDArray[np.int64]
    """For each record of the data which of these it is; the last stands for all that hold fewer than two items."""
    exposed: NDArray[np.bool_]
    by_size: dict[int, int]
    """How many were found of each size, single items among them."""
    listed: list[tuple[NDArray[np.int64], int]]

    @classmethod
    def of(cls, table: _Items, weights: NDArray[np.int64], records: int, k: int, by_size: dict[int, int]) -> _Search:
        often = np.flatnonzero(table.supports >= k)
        number = np.zeros(len(table.supports), np.int64)
        number[often] = np.arange(len(often))
        keep = table.supports[table.item] >= k
        row, item = table.row[keep], number[table.item[keep]]
        offsets = starts_of(row, records)
        content_of = ranks_of_sequences(offsets, item)
        contents, first = np.unique(content_of, return_index=True)
        of_content = np.zeros(len(contents), np.int64)
        np.add.at(of_content, content_of, weights)
        offsets, places = picked(offsets, first)
        item, row = item[places], owner_of(offsets)
        # Items in the same records are one: the first of them stays.
        kind = ranks_of_sequences(*inverted(offsets, item, len(often)))
        _kinds, head, copies = np.unique(kind, return_index=True, return_counts=True)
        order = np.lexsort((head, table.supports[often[head]]))
        rank = np.full(len(often), -1, np.int64)
        rank[head[order]] = np.arange(len(order))
        by_kind = often[np.argsort(kind, kind="stable")]
        ends = np.cumsum(copies)
        members = [by_kind[ends[one] - copies[one] : ends[one]] for one in order.tolist()]
        # A record with one item holds no larger set.
        keep = rank[item] >= 0
        row, item = row[keep], rank[item[keep]]
        lengths = np.bincount(row, minlength=len(contents))
        long = lengths > 1
        new = np.where(long, np.cumsum(long) - 1, np.count_nonzero(long))
        keep = long[row]
        row, item = new[row[keep]], item[keep]
        item = item[np.lexsort((item, row))]
        return cls(
            k,
            starts_of(row, int(np.count_nonzero(long))),
            item,
            of_content[long],
            table.supports[often[head[order]]],
            members,
            new[content_of],
            np.zeros(int(np.count_nonzero(long)) + 1, np.bool_),
            by_size,
            [],
        )

    def run(self, m: int, budget: int, limit: int) -> bool:
        """Search one size after the other, and tell whether all was searched."""
        longest = int(np.diff(self.offsets).max(initial=0))
        if longest < 2:
            return True
        from setveil.mining import _rare_itemsets_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        list_starts, by_item = places_of(self.items, len(self.supports))
        lists = owner_of(self.offsets)[by_item]
        copies = np.array([len(members) for members in self.members], np.int64)
        arrays = (self.offsets, self.items, self.weights, list_starts, lists, by_item, self.supports, copies)
        for array in arrays:
            array.flags.writeable = False
        state = np.zeros(8, np.int64)
        for size in range(2, min(m, longest) + 1):
            sets = np.empty((limit - len(self.listed), size), np.int64)
            held_by = np.empty(len(sets), np.int64)
            already = sum(self.by_size.values())
            state[kernels.FOUND], state[kernels.LISTED], state[kernels.MORE] = already, 0, 0
            steps = (min(budget, MOST_STEPS), min(budget, STEPS_FOR_MORE))
            part = (size, self.k, *arrays, *steps, self.exposed, sets, held_by, state)
            run(f"searching rare sets of {size} items", partial(kernels.search, *part), total=len(self.supports))
            if state[kernels.FOUND] > already:
                self.by_size[size] = int(state[kernels.FOUND]) - already
            for place in range(state[kernels.LISTED]):
                self._list(sets[place], int(held_by[place]), limit)
            if state[kernels.ENDED] or state[kernels.CUT]:
                return False
            if not state[kernels.MORE]:
                return True
        return True

    def _list(self, found: NDArray[np.int64], support: int, limit: int) -> None:
        """List the sets of items that a found set stands for, as many as there is room for."""
        choices = product(*(self.members[one].tolist() for one in found.tolist()))
        self.listed += [(np.array(one), support) for one in islice(choices, limit - len(self.listed))]
