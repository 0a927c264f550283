"""Minimal rare itemsets: at most m items that some records hold together, but fewer than k.

A rare itemset is *minimal* if all its proper subsets are in at least k records; every rare itemset contains a minimal one. The search is
exact and does not list all sets. A minimal set has at most one of several items that are in exactly the same records. Such items are
searched as one item, and each set found counts once per combination of the items that it represents. Sets are searched by size, depth
first within a size; `_rare_itemsets_kernels` describes how the search is pruned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import inverted, owner_of, picked, places_of, ranks_of_sequences, read_only, starts_of
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    @property
    def found(self) -> int:
        """The number of sets found."""
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
    """Return the minimal sets of at most m items that 1 to k - 1 records hold.

    `weights` is the number of records that each row represents. `parts` is the part of each row: the same item in different parts counts as
    different items. The search ends after `budget` steps, or earlier if it found sets. At most `limit` sets are listed.
    """
    if weights is None:
        weights = np.ones(data.records, np.int64)
    table = _Items.of(data, weights, parts)
    k = min(k, int(weights.sum()) + 1)  # no itemset has a higher support, and the number fits into 64 bits
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
    """The row and the item of each occurrence. Items that occur are numbered from 0, separately in each part of the records."""

    row: NDArray[np.int64]
    item: NDArray[np.int64]
    codes: NDArray[np.int64]
    """The code of each item."""
    parts: NDArray[np.int64]
    """The part of each item."""
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
    """Distinct records over items with a support of at least k, items in the same records merged into one; and the sets found."""

    k: int
    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    weights: NDArray[np.int64]
    supports: NDArray[np.int64]
    members: list[NDArray[np.int64]]
    """The items that each merged item represents."""
    content_of: NDArray[np.int64]
    """The distinct record of each record of the data; the last one represents all with fewer than two items."""
    exposed: NDArray[np.bool_]
    by_size: dict[int, int]
    """The number of sets found of each size, including single items."""
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
        # Merge items that are in the same records: keep the first.
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
        """Search one size after the other, and return whether the search is complete."""
        longest = int(np.diff(self.offsets).max(initial=0))
        if longest < 2:
            return True
        from setveil.mining import _rare_itemsets_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        starts, by_item = places_of(self.items, len(self.supports))
        columns = (
            self.offsets,
            self.items,
            self.weights,
            starts,
            owner_of(self.offsets)[by_item],
            by_item,
            self.supports,
        )
        copies = np.array([len(members) for members in self.members], np.int64)
        records = kernels.Records(*map(read_only, (*columns, copies)))
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
                return False
            if not state[kernels.MORE]:
                return True
        return True

    def _list(self, found: NDArray[np.int64], support: int, limit: int) -> None:
        """List the sets of items that a found set represents, up to the limit."""
        choices = product(*(self.members[one].tolist() for one in found.tolist()))
        self.listed += [(np.array(one), support) for one in islice(choices, limit - len(self.listed))]
