"""Random queries on a joined table, in two readings of what their selectivity is, with the answers of the original.

Paper    takenouchi2012, section V: a range predicate on three random attributes "covers θ percent of the domain size. In other words", of
         12,000 records and θ = 10 % the expected count is 1,200. Both are true only where values are spread evenly over the domain, and
         those of Adult are not: of the cells of capital-gain one holds nine in ten records.
domain   θ is a share of the cells, and records are spread over the cells of an interval: `RangeQueryError`.
even     θ is a share of the records, if attributes were independent and as near as whole cells allow, which often hold more. Each cell is
         as wide as it has records, as if attributes had been coded by their ranks. The widths are taken from the original, which who gets
         the table does not have: even a table of one group then knows how each single attribute is distributed.
         This reading is ours. It was added because errors of the first are far beyond all that the paper says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import distinct, offsets_of
from setveil.parameters.shares import Share
from setveil.presence.metrics.range_queries import RangeQueries
from setveil.presence.tables.attributes import NumericAttribute
from setveil.presence.tables.joined_table import JoinedTable
from setveil.presence.tables.schema import Schema
from setveil.reproduce.presence_lines import DOMAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.presence.tables.originals import Originals

ATTRIBUTES = 3
SEED = 1
_FINEST = 1 << 19
"""Steps of an even scale in all; an attribute has at most twice as many cells."""


@dataclass(frozen=True)
class EvenScale:
    """The attributes anew, each cell as wide as it has records; a cell without any has the least width there is."""

    schema: Schema
    edges: tuple[NDArray[np.int32], ...]
    """Where each cell of each attribute begins, and where the last one ends."""

    @classmethod
    def of(cls, schema: Schema, codes: NDArray[np.int64]) -> EvenScale:
        """Make it from the records' cells."""
        each = max(_FINEST // max(len(codes), 1), 1)
        edges = []
        for place, one in enumerate(schema.attributes):
            widths = 1 + each * np.bincount(codes[:, place], minlength=one.cells)
            edges.append(offsets_of(widths).astype(np.int32))
        lines = [
            NumericAttribute(one.name, Decimal(0), Decimal(int(edge[-1]) - 1), Decimal(1))
            for one, edge in zip(schema.attributes, edges, strict=True)
        ]
        cut = len(schema.a)
        return cls(Schema(tuple(lines[:cut]), tuple(lines[cut:]), schema.sensitive), tuple(edges))

    def table(self, table: JoinedTable) -> JoinedTable:
        """Return a table with its intervals on this scale."""
        lows, highs = (
            np.column_stack([edge[bounds[:, place]] for place, edge in enumerate(self.edges)])
            for bounds in (table.lows, table.highs)
        )
        return JoinedTable(self.schema, lows, highs, table.counts)

    def queries(self, queries: RangeQueries) -> RangeQueries:
        """Return queries with their ranges on this scale."""
        low, high = queries.low.copy(), queries.high.copy()
        for place, edge in enumerate(self.edges):
            here = queries.place == place
            low[here], high[here] = edge[low[here]], edge[high[here]]
        return replace(queries, low=low, high=high)


class Questions:
    """Queries of one kind and selectivity, with the true answers."""

    def __init__(
        self, originals: Originals, kind: str, theta: str, count: int, *, scale: EvenScale | None = None
    ) -> None:
        schema, rng, selectivity = originals.schema, np.random.default_rng(SEED), float(Share(theta).share)
        codes = common_cells(originals)
        self._scale = None if kind == DOMAIN else scale or EvenScale.of(schema, codes)
        if self._scale is None:
            self._asked = drawn = RangeQueries.drawn(schema, count, ATTRIBUTES, selectivity, rng)
        else:
            drawn = drawn_by_records(schema, codes, count, ATTRIBUTES, selectivity, rng)
            self._asked = self._scale.queries(drawn)
        self.true = drawn.counted(codes)
        self.held = float(self.true.mean()) / len(codes)
        """The share of the records that a query holds, on average."""

    def error(self, table: JoinedTable) -> float:
        """Return the mean relative error of the queries that somebody meets."""
        estimated = self._asked.estimated(table if self._scale is None else self._scale.table(table))
        met = self.true > 0
        return float((np.abs(estimated - self.true)[met] / self.true[met]).mean())


def common_cells(originals: Originals) -> NDArray[np.int64]:
    """Return the cells of the common users, those of A's attributes first."""
    common = originals.existing("a") & originals.existing("b")
    return np.column_stack([originals.codes(role)[common] for role in ("a", "b")]).astype(np.int64)


def drawn_by_records(
    schema: Schema, codes: NDArray[np.int64], count: int, attributes: int, selectivity: float, rng: Generator
) -> RangeQueries:
    """Draw queries that hold a share of the records, if attributes were independent: attributes and where ranges begin at random.

    From the attribute with the fewest cells on each range takes the root of what is still to reach, and as whole cells may hold more, the
    others take less.
    """
    records, cells = len(codes), np.array([one.cells for one in schema.attributes])
    in_order = np.sort(codes, axis=0)
    number = min(attributes, len(cells))
    chosen = np.argsort(rng.random((count, len(cells))), axis=1, kind="stable")[:, :number]
    chosen = np.take_along_axis(chosen, np.argsort(cells[chosen], axis=1, kind="stable"), axis=1)
    rest = np.full(count, selectivity)
    ranges = np.empty((count, number, 4), dtype=np.int64)
    for left in range(number, 0, -1):
        place = chosen[:, number - left]
        wanted = np.clip(np.rint(np.minimum(rest, 1.0) ** (1 / left) * records), 1, records).astype(np.int64)
        first = rng.integers(0, records - wanted, endpoint=True)
        low, high = in_order[first, place], in_order[first + wanted - 1, place] + 1
        rest /= _held(in_order, place, low, high) / records
        ranges[:, number - left] = np.column_stack((np.arange(count), place, low, high))
    return RangeQueries.of(count, ranges)


def _held(
    in_order: NDArray[np.int64], place: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many records each range holds."""
    held = np.empty(len(place), dtype=np.int64)
    for one in distinct(place):
        here = place == one
        column = in_order[:, one]
        held[here] = np.searchsorted(column, high[here]) - np.searchsorted(column, low[here])
    return held


def questions_of(
    originals: Originals, kinds: Sequence[str], thetas: Sequence[str], count: int
) -> dict[tuple[str, str], Questions]:
    """Draw the queries of every kind and selectivity, on one scale."""
    scale = EvenScale.of(originals.schema, common_cells(originals))
    return {(kind, theta): Questions(originals, kind, theta, count, scale=scale) for kind in kinds for theta in thetas}
