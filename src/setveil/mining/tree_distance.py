"""The tree edit distance of two data sets: how many items must be inserted, deleted or replaced to turn one into the other.

A data set is a tree: below one root a path of items for each record, items in label order within a record, records sorted by content,
equal ones as often as they occur. Nodes are inserted, deleted or given another label, at a cost of 1 each. Records without items are
paths without nodes and count for nothing. Labels stand in the order of all labels that occur in either data set (`data.labels`); the
distance depends on that order, and another one gives another distance.

Exact   The distance of two such trees is the least cost of a matching of records that does not cross itself: a matched pair costs its
        Levenshtein distance, an unmatched record its length. Said the other way round: the nodes of both, less the heaviest such matching,
        where a pair gains |a| + |b| - Lev(a, b), which is at least min(|a|, |b|) and at most that and the number of items in both.
How     Contents that occur several times are compared once, and only pairs that share an item; the Levenshtein distance of two sets in the
        same order is that of the best chain of shared items, of any length. Rows of the table are worked on by vectors. A first matching
        stays near records that begin alike; after that nothing is looked at that cannot be as good: what is left can gain no more than
        items and lengths that both sides have left.
Cost    records times records, 0.1 to 0.2 ns each, and a few ns for every pair of contents and item that both hold; less where the data
        sets are alike. Memory: some 10 bytes a record and 50 a content beside the data, and 8 an occurrence for the index.
Paper   awad2020, section 3.2; the reduction to a matching is ours, see docs/metrics.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.labels import Vocabulary, label_order
from setveil.data.records.ragged import (
    offsets_of,
    owner_of,
    places_of,
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
"""What `_tree_distance_kernels`, which import Numba, call by the same names."""
_NO_BUDGET = 1 << 60
_NO_GOAL = -1
SMALL = 1 << 20
"""So many cells are all looked at: leaving some out would take longer."""
_DEEPEST = 64
"""Records that begin with so many items alike are not told apart for the first matching."""
_EQUAL = 1 << 40
"""More items than any record has."""
_FIRST_SHARE = 50
"""The first matching looks at about one of so many cells."""
_STEPS_OF_NEAR = 16
"""Records that begin alike share several items, so that a cell takes so many steps, and rarely more."""


@dataclass(frozen=True)
class TreeDistance:
    """The distance of two data sets, or what is known of it."""

    nodes: tuple[int, int]
    """The items of all records together, of either data set."""
    least: int
    most: int
    """The distance lies between these; where it is known they are equal."""
    steps: int
    """How much work that took, or would take, about, where the distance is not known; see `bounded_tree_distance`."""

    @property
    def value(self) -> int | None:
        """The distance, or None where it is not known."""
        return self.most if self.least == self.most else None


def tree_distance(a: Transactions, b: Transactions, *, prune: bool | None = None) -> int:
    """Return the tree edit distance of two data sets, whatever it takes.

    `prune` says whether cells that cannot matter are left out, which changes nothing but the time; without it, where there are many.

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
    """Return the distance, or bounds for it if it takes more than `budget` steps: soon, where it would take many times as many.

    A step is one meeting of two contents at an item that both hold, or 128 cells of the table: some 20 ns. With `order` items stand in a
    random order that is drawn from it, instead of in label order.
    """
    left, right = sides(a, b, order)
    total = left.nodes + right.nodes
    # Equal rows that follow one another need what they gain but once: rows are where that saves more.
    swap = right.contents * left.records < left.contents * right.records
    table = _Table(right, left) if swap else _Table(left, right)
    gain, highest, steps = _heaviest(table, _NO_BUDGET if budget is None else budget, prune=prune)
    return TreeDistance((left.nodes, right.nodes), total - highest, total - gain, steps)


def _heaviest(table: _Table, budget: int, *, prune: bool | None) -> tuple[int, int, int]:
    """Return a gain that is reached, one that is never exceeded, and the steps that took; both are the same where the budget was enough."""
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
    """The contents, each once."""
    starts: NDArray[np.int64]
    """Of each content the number of its first record."""
    numbers: NDArray[np.int32]
    """For each record which content it has."""
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
        """How many records have each content."""
        return np.diff(self.starts)

    @property
    def longest(self) -> int:
        """The number of items of the longest."""
        return int(self.lengths.max(initial=0))

    @property
    def nodes(self) -> int:
        """The number of items of all records together."""
        return int(self.lengths @ self.weights)

    def counts(self, longest: int) -> NDArray[np.int64]:
        """Count the records that hold each item, and then those of at least each length."""
        held = np.bincount(self.items, np.repeat(self.weights, self.lengths), self.width)
        of_length = np.bincount(self.lengths, self.weights, longest + 1)
        return np.concatenate((held, np.cumsum(of_length[::-1])[::-1][1:])).astype(np.int64)


def sides(a: Transactions, b: Transactions, order: np.random.Generator | None) -> tuple[Side, Side]:
    """Return both with items numbered alike: by label, or at random."""
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
    """What a matching gains."""

    gain: int
    steps: int
    """How many steps it took, or would take if it went on like that."""
    is_complete: bool


class _Table:
    """All pairs of a row, a record of one side, and a column, one of the other."""

    def __init__(self, rows: Side, columns: Side) -> None:
        self.rows = rows
        self.columns = columns
        self.segments = -(-columns.records // LENGTH)
        self.blocks = -(-rows.records // HEIGHT)
        longest = max(rows.longest, columns.longest)
        self._counts = rows.counts(longest), columns.counts(longest)
        self.common = int(np.minimum(*self._counts).sum())
        """What both have in common by items and by lengths: no matching gains more."""

    def equal_gain(self) -> int:
        """Return what equal records gain."""
        order, alike = self._merged
        left, right = order[:-1], order[1:]
        equal = alike == _EQUAL
        row = np.minimum(left, right)[equal]
        column = np.maximum(left, right)[equal] - self.rows.contents
        both = np.minimum(self.rows.weights[row], self.columns.weights[column])
        return int(2 * (both * self.rows.lengths[row]).sum())

    def all_borders(self, *, none: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each block of rows all segments, or none."""
        nothing = np.zeros(self.blocks, np.int64)
        return nothing, nothing if none else np.full(self.blocks, self.segments, np.int64)

    def near_borders(self, budget: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each block of rows the segments of records that begin alike: with as few items as leave few enough cells."""
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
        return np.maximum(first - 1, 0), np.minimum(last + 1, self.segments)  # where a group ends within a segment

    @cached_property
    def _merged(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The order of the contents of both, and how many items each has alike at its beginning with the one before.

        Equal contents are alike in more than any others.
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
        """Match rows and columns within these borders; with a goal, within those that may reach it."""
        from setveil.mining import _tree_distance_kernels as kernels  # noqa: PLC0415 - imports Numba

        rows, columns = self.rows, self.columns
        counts = tuple(side.copy() for side in (*self._counts, *self._counts))
        of_rows = rows.offsets, rows.items, rows.numbers
        of_columns = columns.offsets, columns.items, columns.numbers, columns.starts
        for border in borders:
            border.flags.writeable = False
        told = np.zeros(4, np.int64)
        tables, room, limit = self._tables(), self._room(), np.int64(budget)
        run(
            "comparing records",
            lambda control: kernels.heaviest(
                of_rows,
                of_columns,
                self._index,
                borders,
                goal,
                counts,
                self.common,
                rows.width,
                tables,
                room,
                self._efforts,
                limit,
                told,
                control,
            ),
            total=rows.records,
        )
        gain, steps, seen, effort = told.tolist()
        return _Match(gain, steps * int(self._efforts[-1]) // max(effort, 1), seen == rows.records)

    @cached_property
    def _index(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Of each item where its entries start; for each entry a content of the columns that holds it, and the item's place there."""
        columns = self.columns
        starts, by_item = places_of(columns.items, columns.width)
        holds = owner_of(columns.offsets)[by_item]
        return sealed(starts, np.int64), sealed(holds, np.int32), sealed(by_item - columns.offsets[holds], np.int32)

    @cached_property
    def _efforts(self) -> NDArray[np.int64]:
        """The steps that the rows up to the end of each block would take if nothing were left out."""
        rows = self.rows
        entries = np.diff(self._index[0])
        meetings = sums_within(rows.offsets, entries[rows.items])
        is_first = np.diff(rows.numbers, prepend=-1) > 0
        of_row = np.where(is_first, meetings[rows.numbers], 0) + self.segments * LENGTH // _CELLS_IN_STEP + 1
        ends = np.minimum(np.arange(1, self.blocks + 1) * HEIGHT, rows.records) - 1
        return sealed(np.cumsum(of_row)[ends], np.int64)

    def _tables(self) -> tuple[NDArray[Any], ...]:
        """Return room for the values of a row, its gains, the lengths of the columns, and for what is kept a segment."""
        lengths = np.zeros(self.segments * LENGTH, np.int64)
        lengths[: self.columns.records] = self.columns.lengths[self.columns.numbers]
        by_segment = lengths.reshape(self.segments, LENGTH)
        # What a segment holds beyond its carry, and what one row more adds.
        most = 2 * int(by_segment.sum(axis=1).max(initial=0)) + 2 * self.rows.longest
        if most > np.iinfo(np.int32).max:
            raise BadData(
                f"{LENGTH} records that follow one another hold {most // 2:,} items: too many for a tree edit distance"
            )
        number = np.int16 if most <= np.iinfo(np.int16).max else np.int32
        shape = LENGTH, self.segments
        per_segment = (np.zeros(self.segments, number) for _ in range(3))
        tables = np.zeros(shape, number), np.zeros(shape, number), sealed(by_segment.T, number)
        return *tables, *per_segment, np.zeros(self.segments + 1, np.int64)

    def _room(self) -> tuple[NDArray[Any], ...]:
        """Return room for the places of shared items: some for each content of the columns, and all of one pair."""
        longest = max(self.rows.longest, self.columns.longest, _SLOTS)
        of_pair = (np.empty(longest, np.int64) for _ in range(3))
        contents = self.columns.contents
        return np.zeros((contents, 1 + _SLOTS), np.int32), np.empty(contents + 1, np.int32), *of_pair
