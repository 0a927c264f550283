"""Count the records that a few known items identify uniquely.

A record is *unique by m known items* if no other record holds all items of some set of at most m of its items: an attacker who knows these
items of a person finds the person's record. Supports fall as sets grow, so only sets of m items matter, or the whole record if it is
shorter. A record is never unique if it has no items, or if another record has exactly the same items.

The search is exact. Records of equal content are merged. Then, level by level, the rows of an item are scanned for more frequent items
(m = 2), and the rows of a pair for a third item (m = 3). The search skips rows without a record that is still undecided, and stops as soon
as no item can identify a record. Marks of one level are kept for the next, so long records, of which most are unique by two items already,
cost little.

Only the rows of some items are listed at a time, and the merged records are on disk if they are many: so the data may be larger than
memory.

Cost     m = 2: at most the pairs of all records, m = 3: at most their triples; measured in benchmarks/bench_profile.py.
         Memory: about 20 bytes per record, and 16 bytes per occurrence of the items whose rows are listed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.records.ragged import (
    changes,
    distinct,
    offsets_of,
    picked,
    record_ranges,
    records_of,
    sorted_within,
    sums_within,
)
from setveil.engines.growing import room
from setveil.kernels.control import DONE
from setveil.kernels.threads import number_of_threads, run, share

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

PARTS_PER_THREAD = 32
"""Number of parts per thread: enough that all threads end at about the same time."""
AT_ONCE = 1 << 18
"""Number of occurrences that are recoded together."""
LISTED_AT_ONCE = 1 << 21
"""Number of occurrences of the items whose rows are listed at the same time; a more frequent item is listed alone."""
MOST_RANGES = 32
"""Maximum number of times that all records are read to list rows: for more records, more rows are listed at a time."""
COMPARED_AT_ONCE = 1 << 18
"""Number of records whose contents are compared together."""
SEED = 1
"""The seed of the numbers by which contents are compared; no result depends on it."""


def unique_records(data: Transactions, known: int) -> list[int]:
    """Return the numbers of records unique by 1, 2, … `known` items, as in `Profile.unique`, without a whole profile.

    The result is cached in the data.
    """
    key = (unique_records.__qualname__, known)
    if key not in data.remembered:
        data.remembered[key] = unique_by_level(data, Contents.of(data), known)
    found: list[int] = data.remembered[key]
    return found


class Contents(NamedTuple):
    """Which records have the content of another one."""

    is_first: NDArray[np.bool_]
    """Whether each record is the first one with its content."""
    has_twin: NDArray[np.bool_]
    """Whether another record has the same content."""

    @classmethod
    def of(cls, data: Transactions) -> Contents:
        """Compare the contents of all records.

        Each item has two random numbers of 64 bits, and contents are equal if both sums are. Among 10^8 records, the probability that any
        two contents with the same sums differ is 10^-22.
        """
        of_item: NDArray[np.int64] = np.random.default_rng(SEED).integers(-(2**63), 2**63, (2, len(data.vocabulary)))
        sums = [room(data.records, np.int64) for _ in of_item]

        def add(part: tuple[int, int], control: Any) -> None:
            piece = data.between(*part)
            for number, whole in zip(of_item, sums, strict=True):
                whole[slice(*part)] = sums_within(piece.offsets, number[piece.items])
            control[DONE] = piece.records

        label, total = "comparing records", data.records
        share(label, list(record_ranges(data.offsets, AT_ONCE, AT_ONCE)), add, total=total)
        parts = 1
        while parts * COMPARED_AT_ONCE < data.records:
            parts *= 2
        found = cls(np.ones(data.records, np.bool_), np.zeros(data.records, np.bool_))

        def compare(part: int, control: Any) -> None:
            own = _places_where(lambda piece: sums[0][piece] & (parts - 1) == part, data.records)
            one, other = (whole[own] for whole in sums)
            order = np.lexsort((other, one))
            is_new = changes(one[order]) | changes(other[order])
            found.is_first[own[order]] = is_new
            found.has_twin[own[order]] = ~is_new | ~np.append(is_new[1:], True)
            control[DONE] = len(own)

        share(label, range(parts), compare, total=total)
        return found


def unique_by_level(data: Transactions, contents: Contents, known: int) -> list[int]:
    """Return the numbers of records unique by 1, 2, … `known` items."""
    search = _Search(data, contents)
    return [search.unique, *(search.look(level) for level in range(2, known + 1))]


class _Search:
    """The merged records in the layout of `_uniqueness_kernels`, and which of them are decided."""

    def __init__(self, data: Transactions, contents: Contents) -> None:
        from setveil.mining import _uniqueness_kernels  # noqa: PLC0415 - imports Numba

        self._kernels: Any = _uniqueness_kernels  # without types, since Numba infers them
        self._row_starts = offsets_of(data.lengths[contents.is_first])
        self._n_rows, self._n_items = len(self._row_starts) - 1, len(data.vocabulary)
        self._items = room(int(self._row_starts[-1]), np.int32)
        self._marks = self._kernels.Marks(room(self._n_rows, np.uint8), room(self._n_rows, np.int64))
        self._recode(data, contents)
        self._layouts: dict[tuple[int, int], Any] = {}

    @property
    def unique(self) -> int:
        """The number of records that are known to be unique."""
        return int(np.count_nonzero(self._marks.of == self._kernels.UNIQUE))

    def look(self, level: int) -> int:
        """Look for records that a set of `level` items identifies; return the number of unique records."""
        costs = self._kernels.Costs(*(np.zeros(self._n_items, np.int64) for _ in self._kernels.Costs._fields))
        count = self._kernels.count_costs
        arrays = self._row_starts, self._items, self._marks.of
        run("laying out the records", lambda control: count(*arrays, costs, control), total=self._n_rows)
        of_item = costs.pairs if level == 2 else costs.pairs + costs.triples
        search = (self._kernels.search_pairs, self._kernels.search_triples)[level - 2]
        starts = offsets_of(costs.supports)
        most = max(LISTED_AT_ONCE, int(starts[-1]) // MOST_RANGES)
        for first, last in record_ranges(starts, most, self._n_items):
            layout = self._layout(starts, first, last)

            def work(part: tuple[int, int], control: Any, layout: Any = layout) -> None:
                search(*part, layout, self._marks, costs.pairs, of_item, control)

            parts = [(first + one, first + other) for one, other in _parts(of_item[first:last])]
            share(f"looking for records unique by {level} items", parts, work, total=int(of_item[first:last].sum()))
        return self.unique

    def _layout(self, starts: NDArray[np.int64], first: int, last: int) -> Any:
        """Return the layout with the rows of the items `first` to `last` - 1; the last one is kept for the next level."""
        if (first, last) not in self._layouts:
            self._layouts.clear()
            entries = int(starts[last] - starts[first])
            own = starts - starts[first]
            room = np.empty(entries, np.int64), np.empty(entries, np.int64)
            layout = self._kernels.Layout(self._row_starts, self._items, own, *room)
            parts = [(first + one, first + other) for one, other in _parts(np.diff(starts[first : last + 1]), 1)]
            fill = self._kernels.list_rows
            total = len(parts) * self._n_rows
            share("laying out the records", parts, lambda part, control: fill(*part, layout, control), total=total)
            self._layouts[first, last] = layout
        return self._layouts[first, last]

    def _recode(self, data: Transactions, contents: Contents) -> None:
        """Write the items of the merged records, numbered by rising support and sorted within each record, and the first marks."""
        rising = np.argsort(data.supports, kind="stable")
        rank = np.empty(len(rising), dtype=np.int64)
        rank[rising] = np.arange(len(rank))
        is_sole = data.supports[rising] == 1
        parts = list(record_ranges(data.offsets, AT_ONCE, AT_ONCE))
        rows_before = offsets_of([int(np.count_nonzero(contents.is_first[slice(*part)])) for part in parts])

        def recode(number: int, control: Any) -> None:
            part, piece = slice(*parts[number]), data.between(*parts[number])
            chosen = np.flatnonzero(contents.is_first[part])
            offsets, places = picked(piece.offsets, chosen)
            items = sorted_within(offsets, rank[piece.items[places]], len(rank))
            marks = np.where(contents.has_twin[part][chosen], self._kernels.TWIN, self._kernels.OPEN)
            marks[records_of(np.flatnonzero(is_sole[items]), offsets)] = self._kernels.UNIQUE
            first, last = rows_before[number : number + 2]
            self._items[self._row_starts[first] : self._row_starts[last]] = items
            self._marks.of[first:last] = marks
            self._marks.records[first:last] = np.arange(first, last)
            control[DONE] = piece.records

        share("laying out the records", range(len(parts)), recode, total=data.records)


def _places_where(is_wanted: Callable[[slice], NDArray[np.bool_]], length: int) -> NDArray[np.int64]:
    """Return the places of an array where a condition holds, which is evaluated piece by piece."""
    pieces = (slice(first, first + AT_ONCE) for first in range(0, length, AT_ONCE))
    return np.concatenate([np.empty(0, np.int64), *(np.flatnonzero(is_wanted(one)) + one.start for one in pieces)])


def _parts(costs: NDArray[np.int64], per_thread: int = PARTS_PER_THREAD) -> list[tuple[int, int]]:
    """Divide items into ranges of about equal cost, the rarest items first, because they mark most rows."""
    wanted = number_of_threads() * per_thread
    up_to = np.cumsum(costs + 1)
    cuts = np.searchsorted(up_to, np.arange(1, wanted) * (up_to[-1:].sum() / wanted))
    bounds = distinct(np.concatenate(([0], cuts, [len(costs)]))).tolist()
    return list(pairwise(bounds))
