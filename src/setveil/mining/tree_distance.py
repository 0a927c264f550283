"""The tree edit distance of two data sets: the minimum number of items to insert, delete or replace to turn one into the other.

A data set is a tree: one root, and below it one path of items per record, items in label order within a record, records sorted by content,
equal records as often as they occur. Inserting a node, deleting it or changing its label costs 1. Records without items are paths without
nodes and do not count. The order of labels is that of all labels that occur in either data set (`data.labels`); the distance depends on
this order.

Exact   The distance of two such trees is the minimum cost of a non-crossing matching of records: a matched pair costs its Levenshtein
        distance, an unmatched record its length. Equivalently, it is the number of nodes of both, less the heaviest such matching, where a
        pair gains |a| + |b| - Lev(a, b), which is at least min(|a|, |b|) and at most that plus the number of items in both.
How     Contents that occur several times are compared once, and only pairs that share an item are compared. The Levenshtein distance of two
        sets in the same order is that of the best chain of shared items, of any length. Rows of the table are processed by vector
        instructions. A first matching considers only records with common first items. After that, cells that cannot be as good are skipped:
        the remaining records can gain at most the items and lengths that both sides have left.
Cost    records times records, 0.1 to 0.2 ns each, and a few ns for every pair of contents and item that both hold; less if the data sets
        are similar. Memory: some 10 bytes per record and 50 per content in addition to the data, and 8 per occurrence for the index.
Paper   awad2020, section 3.2; the reduction to a matching is ours, see docs/metrics.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.labels import Vocabulary, label_order
from setveil.data.records.ragged import (
    offsets_of,
    owner_of,
    places_of,
    read_only,
    rises_within_records,
    sealed,
    sorted_within,
    sums_within,
)
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH, HEIGHT, _SLOTS, _CELLS_IN_STEP = 32, 64, 7, 128
"""Constants of `_tree_distance_kernels`, repeated here because that module imports Numba."""
_NO_BUDGET = 1 << 60
_NO_GOAL = -1
SMALL = 1 << 20
"""Tables of at most this many cells are computed completely: skipping cells would take longer."""
_DEEPEST = 64
"""The first matching compares at most this many first items of a record."""
_EQUAL = 1 << 40
"""More items than any record has."""
_FIRST_SHARE = 50
"""The first matching computes about one in this many cells."""
_STEPS_OF_NEAR = 16
"""Steps per cell of the first matching: records with common first items share several items. More steps are rare."""


@dataclass(frozen=True)
class TreeDistance:
    """The distance of two data sets, or bounds of it."""

    nodes: tuple[int, int]
    """The total number of items in the records of each data set."""
    least: int
    most: int
    """The distance is between these; they are equal if it is known."""
    steps: int
    """The work done, or an estimate of the work needed if the distance is not known; see `bounded_tree_distance`."""

    @property
    def value(self) -> int | None:
        """The distance, or None if it is not known."""
        return self.most if self.least == self.most else None


def tree_distance(a: Transactions, b: Transactions, *, prune: bool | None = None) -> int:
    """Return the tree edit distance of two data sets, however long it takes.

    `prune` is whether to skip cells that cannot affect the result, which changes only the time; by default for large tables.

    >>> left = Transactions.from_lists([["a", "b"], ["b"]])
    >>> tree_distance(left, Transactions.from_lists([["a", "b", "c"]]))
    2
    """
    return bounded_tree_distance(a, b, prune=prune).most


def bounded_tree_distance(
    a: Transactions,
    b: Transactions,
    *,
    budget: int | None = None,
    prune: bool | None = None,
    order: np.random.Generator | None = None,
) -> TreeDistance:
    """Return the distance, or bounds of it if it takes more than `budget` steps; if it would take many times more, bounds return early.

    A step is one item that two compared contents share, or 128 cells of the table: some 20 ns. With `order`, items are in a random
    order drawn from this generator instead of label order.
    """
    left, right = sides(a, b, order)
    total = left.nodes + right.nodes
    # The gains of equal adjacent rows are computed once: choose as rows the side where this saves more.
    swap = right.contents * left.records < left.contents * right.records
    table = _Table(right, left) if swap else _Table(left, right)
    gain, highest, steps = _heaviest(table, _NO_BUDGET if budget is None else budget, prune=prune)
    return TreeDistance((left.nodes, right.nodes), total - highest, total - gain, steps)


def _heaviest(table: _Table, budget: int, *, prune: bool | None) -> tuple[int, int, int]:
    """Return a lower and an upper bound of the gain, equal if the budget was sufficient, and the number of steps."""
    known, highest, steps = table.equal_gain(), table.common, 0
    if known == highest:
        return known, known, steps
    if prune is None:
        prune = table.rows.records * table.columns.records > SMALL
    if prune:
        near = table.match(table.near_borders(budget), goal=_NO_GOAL, budget=budget)
        known, steps = max(known, near.gain), near.steps
        if known == highest or steps > budget:
            return known, highest, steps
    found = table.match(table.all_borders(none=prune), goal=known if prune else _NO_GOAL, budget=budget - steps)
    known = max(known, found.gain)
    return known, known if found.is_complete else highest, steps + found.steps


@dataclass(frozen=True, eq=False)
class Side:
    """The records of a data set that hold an item, sorted by content: the paths of its tree."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    """The distinct contents."""
    starts: NDArray[np.int64]
    """For each content: the number of its first record."""
    numbers: NDArray[np.int32]
    """For each record: the number of its content."""
    width: int
    """The number of items of both data sets."""

    @property
    def records(self) -> int:
        """The number of these records."""
        return len(self.numbers)

    @property
    def contents(self) -> int:
        """The number of contents."""
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of items of each content."""
        return np.diff(self.offsets)

    @property
    def weights(self) -> NDArray[np.int64]:
        """The number of records with each content."""
        return np.diff(self.starts)

    @property
    def longest(self) -> int:
        """The number of items of the longest content."""
        return int(self.lengths.max(initial=0))

    @property
    def nodes(self) -> int:
        """The total number of items in all records."""
        return int(self.lengths @ self.weights)

    def counts(self, longest: int) -> NDArray[np.int64]:
        """Return the number of records with each item, followed by the number of records of at least each length."""
        held = np.bincount(self.items, np.repeat(self.weights, self.lengths), self.width)
        of_length = np.bincount(self.lengths, self.weights, longest + 1)
        return np.concatenate((held, np.cumsum(of_length[::-1])[::-1][1:])).astype(np.int64)


def sides(a: Transactions, b: Transactions, order: np.random.Generator | None) -> tuple[Side, Side]:
    """Return both data sets with a common numbering of items: by label, or at random."""
    occurring = [
        [label for label, held in zip(data.vocabulary, data.supports.tolist(), strict=True) if held] for data in (a, b)
    ]
    labels = list(dict.fromkeys((*occurring[0], *occurring[1])))
    ranked = label_order(labels)
    if order is not None:
        ranked = ranked[order.permutation(len(ranked))]
    rank_of = {labels[place]: rank for rank, place in enumerate(ranked.tolist())}
    numbers = Vocabulary(map(str, range(len(labels))))
    return _side(a, rank_of, numbers), _side(b, rank_of, numbers)


def _side(data: Transactions, rank_of: dict[str, int], numbers: Vocabulary) -> Side:
    rank = np.array([rank_of.get(label, -1) for label in data.vocabulary], dtype=np.int32)
    items = rank[data.items] if len(rank) else np.empty(0, np.int32)
    if not rises_within_records(data.offsets, items):
        items = sorted_within(data.offsets, items, len(numbers)).astype(np.int32)
    made = Transactions.of_parts(data.offsets, items, numbers, ids=None, unit="record").without_empty()
    contents, weights, _content_of = made.distinct()
    starts = offsets_of(weights)
    content_of = np.repeat(np.arange(contents.records, dtype=np.int32), weights)
    return Side(contents.offsets, contents.items, sealed(starts, np.int64), sealed(content_of, np.int32), len(numbers))


@dataclass(frozen=True)
class _Match:
    """The gain of a matching."""

    gain: int
    steps: int
    """The number of steps taken, extrapolated to all rows if the matching is not complete."""
    is_complete: bool


class _Table:
    """The table of all pairs of a record of one side (row) and a record of the other (column)."""

    def __init__(self, rows: Side, columns: Side) -> None:
        self.rows = rows
        self.columns = columns
        self.segments = -(-columns.records // LENGTH)
        self.blocks = -(-rows.records // HEIGHT)
        longest = max(rows.longest, columns.longest)
        self._counts = rows.counts(longest), columns.counts(longest)
        self.common = int(np.minimum(*self._counts).sum())
        """What both sides have in common by items and by lengths: an upper bound of the gain."""

    def equal_gain(self) -> int:
        """Return the gain of matching equal records only."""
        order, alike = self._merged
        left, right = order[:-1], order[1:]
        equal = alike == _EQUAL
        row = np.minimum(left, right)[equal]
        column = np.maximum(left, right)[equal] - self.rows.contents
        both = np.minimum(self.rows.weights[row], self.columns.weights[column])
        return int(2 * (both * self.rows.lengths[row]).sum())

    def all_borders(self, *, none: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return borders that contain, for each block of rows, all segments or none."""
        nothing = np.zeros(self.blocks, np.int64)
        return nothing, nothing if none else np.full(self.blocks, self.segments, np.int64)

    def near_borders(self, budget: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return, for each block of rows, the segments of records with common first items: as few items as give few enough cells."""
        order, alike = self._merged
        most = min(self.segments * self.blocks // _FIRST_SHARE, budget // (_STEPS_OF_NEAR * LENGTH * HEIGHT))
        first_rows = np.arange(self.blocks) * HEIGHT
        last_rows = np.minimum(first_rows + HEIGHT, self.rows.records) - 1
        first = last = np.empty(0, np.int64)
        for depth in range(1, _DEEPEST + 1):
            group = np.empty(len(order), np.int64)
            group[order] = offsets_of(alike < depth)
            of_row, of_column = group[: self.rows.contents][self.rows.numbers], group[self.rows.contents :]
            first = self.columns.starts[np.searchsorted(of_column, of_row[first_rows])] // LENGTH
            last = -(-self.columns.starts[np.searchsorted(of_column, of_row[last_rows], side="right")] // LENGTH)
            if (last - first).sum() <= most:
                break
        if (last - first).sum() + 2 * self.blocks > most:
            return first, last
        return np.maximum(first - 1, 0), np.minimum(last + 1, self.segments)  # a group may end within a segment

    @cached_property
    def _merged(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The order of the contents of both sides, and the number of first items that each has in common with the one before.

        It is `_EQUAL` for equal contents.
        """
        rows, columns = self.rows, self.columns
        offsets = np.concatenate((rows.offsets, rows.offsets[-1] + columns.offsets[1:]))
        items = np.concatenate((rows.items, columns.items))
        order = Transactions.of_parts(offsets, items, (), ids=None, unit="record").content_order()
        lengths = np.diff(offsets)[order]
        starts = offsets[:-1][order]
        alike = np.zeros(max(len(order) - 1, 0), np.int64)
        left = np.arange(len(alike))
        depth = 0
        while len(left):
            left = left[(lengths[left] > depth) & (lengths[left + 1] > depth)]
            left = left[items[starts[left] + depth] == items[starts[left + 1] + depth]]
            alike[left] += 1
            depth += 1
        alike[(alike == lengths[:-1]) & (alike == lengths[1:])] = _EQUAL
        return order, alike

    def match(self, borders: tuple[NDArray[np.int64], NDArray[np.int64]], *, goal: int, budget: int) -> _Match:
        """Match rows and columns within these borders; with a goal, only where the goal may be reached."""
        from setveil.mining import _tree_distance_kernels as kernels  # noqa: PLC0415 - imports Numba

        rows, columns = self.rows, self.columns
        first, last = map(read_only, borders)
        plan = kernels.Plan(first, last, goal, self.common, rows.width, self._efforts, budget)
        counts = kernels.Counts(*(side.copy() for side in (*self._counts, *self._counts)))
        sides = (kernels.Side(side.offsets, side.items, side.numbers, side.starts) for side in (rows, columns))
        meetings, table = kernels.Meetings(*self._index, *self._room()), kernels.Table(*self._tables())
        results = np.zeros(4, np.int64)
        work = partial(kernels.heaviest, *sides, meetings, plan, counts, table, results)
        run("comparing records", work, total=rows.records)
        gain, steps, seen, effort = results.tolist()
        return _Match(gain, steps * int(self._efforts[-1]) // max(effort, 1), seen == rows.records)

    @cached_property
    def _index(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """The start of the entries of each item; for each entry, a column content with the item, and the position of the item there."""
        columns = self.columns
        starts, by_item = places_of(columns.items, columns.width)
        holds = owner_of(columns.offsets)[by_item]
        return sealed(starts, np.int64), sealed(holds, np.int32), sealed(by_item - columns.offsets[holds], np.int32)

    @cached_property
    def _efforts(self) -> NDArray[np.int64]:
        """The number of steps for all rows up to the end of each block if no cell is skipped."""
        rows = self.rows
        entries = np.diff(self._index[0])
        meetings = sums_within(rows.offsets, entries[rows.items])
        is_first = np.diff(rows.numbers, prepend=-1) > 0
        of_row = np.where(is_first, meetings[rows.numbers], 0) + self.segments * LENGTH // _CELLS_IN_STEP + 1
        ends = np.minimum(np.arange(1, self.blocks + 1) * HEIGHT, rows.records) - 1
        return sealed(np.cumsum(of_row)[ends], np.int64)

    def _tables(self) -> tuple[NDArray[Any], ...]:
        """Return work arrays for the values of a row, its gains, the lengths of the columns, and the values per segment."""
        lengths = np.zeros(self.segments * LENGTH, np.int64)
        lengths[: self.columns.records] = self.columns.lengths[self.columns.numbers]
        by_segment = lengths.reshape(self.segments, LENGTH)
        # The largest value in a segment, relative to its carry, plus what one further row can add.
        most = 2 * int(by_segment.sum(axis=1).max(initial=0)) + 2 * self.rows.longest
        if most > np.iinfo(np.int32).max:
            raise BadData(
                f"{LENGTH} adjacent records hold {most // 2:,} items, too many for a tree edit distance; use data with shorter records"
            )
        number = np.int16 if most <= np.iinfo(np.int16).max else np.int32
        shape = LENGTH, self.segments
        per_segment = (np.zeros(self.segments, number) for _ in range(3))
        tables = np.zeros(shape, number), np.zeros(shape, number), sealed(by_segment.T, number)
        return *tables, *per_segment, np.zeros(self.segments + 1, np.int64)

    def _room(self) -> tuple[NDArray[Any], ...]:
        """Return work arrays for the positions of shared items: a few per column content, and all of one pair."""
        longest = max(self.rows.longest, self.columns.longest, _SLOTS)
        of_pair = (np.empty(longest, np.int64) for _ in range(3))
        contents = self.columns.contents
        return np.zeros((contents, 1 + _SLOTS), np.int32), np.empty(contents + 1, np.int32), *of_pair
