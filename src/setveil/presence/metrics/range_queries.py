"""The error of a joined table for queries that count the common users with values in given ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from pydantic import field_validator

from setveil.base.declaration import parameter
from setveil.data.records.ragged import distinct
from setveil.errors import BadData
from setveil.metrics.base import Metric
from setveil.parameters.shares import Share
from setveil.presence.tables import EXAMPLE_LINES
from setveil.presence.tables.joined_table import JoinedTable
from setveil.presence.tables.predicates import Predicates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.metrics.pair import Pair
    from setveil.presence.tables.originals import Originals
    from setveil.presence.tables.schema import Schema

_NUMBERS_AT_ONCE = 1 << 21
_USERS_AT_ONCE = 1 << 12


class RangeQueryError(Metric):
    """Mean relative error of the number of records within given ranges, over random queries or your own."""

    name = "range-query-error"
    example_lines = (
        *EXAMPLE_LINES,
        "outcome = sv.Mondrian(k=2).apply(originals, keys=keys)",
        "metric = {call}",
        "measured = metric(originals, outcome.table)",
    )
    title = "Error of range queries"
    unit = "mean relative error"
    better = "lower"
    about = "utility"
    formula = (
        "mean over queries of |act − est| / act: act is the number of common users within all ranges of the query, est the sum over groups"
        " of records × the share of each interval that the range covers, as if values were evenly distributed. A random query picks"
        " `attributes` quasi-identifiers and a range of whole cells on each, with a uniformly random start. Attributes are processed from"
        " the fewest cells to the most: with m attributes left, the range covers the m-th root of the selectivity still to reach, rounded"
        " to whole cells, at least one. Queries that no common user meets are skipped"
    )
    blind_to = (
        "queries that no common user meets, for which the table may still report some; sensitive values, unless your own queries name them;"
        " relations among more attributes than a query names"
    )
    takes = (JoinedTable,)

    selectivity: Share = parameter(
        Share("10%"),
        public=True,
        description="Share of the domain that the ranges of a random query cover together.",
    )
    attributes: int = parameter(
        3,
        public=True,
        ge=1,
        le=100,
        description="Number of quasi-identifiers in a random query; all if there are fewer.",
    )
    queries: int = parameter(10_000, public=True, ge=1, le=1_000_000, description="Number of random queries.")
    seed: int = parameter(1, public=True, ge=0, description="Seed of the random queries.")
    predicates: Predicates | None = parameter(
        None, public=False, description="Your own queries, instead of random ones."
    )

    @field_validator("selectivity")
    @classmethod
    def _some(cls, given: Share) -> Share:
        if not given.share:
            raise ValueError("is 0; allowed is a share above 0, such as 10%")
        return given

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Count the common users that meet each query, and compare with the estimate from the table."""
        original, published = cast("Originals", pair.original), pair.published
        schema = published.schema
        if original.schema != schema:
            raise BadData(
                "the joined table has other attributes than the tables of the providers; expected the tables that it was made from"
            )
        common = original.existing("a") & original.existing("b")
        if not common.any():
            return None, {"reason": "the providers have no common user"}
        sides = (original.codes("a"), original.codes("b"), original.sensitive())
        codes = np.column_stack([side[common] for side in sides]).astype(np.int64)
        asked = self._queries(schema)
        true = asked.counted(codes)
        met = true > 0
        details: dict[str, Any] = {
            "queries-that-nobody-meets": int(np.count_nonzero(~met)),
            "selectivity": float(asked.selectivity(schema).mean()),
        }
        if not met.any():
            return None, details | {"reason": "no common user meets any query"}
        error = np.abs(asked.estimated(published) - true)[met] / true[met]
        of_one_group = np.abs(asked.estimated(_one_group(schema, codes)) - true)[met] / true[met]
        details |= {
            "median": float(np.median(error)),
            "max": float(error.max()),
            "error-of-one-group": float(of_one_group.mean()),
        }
        return float(error.mean()), details

    def _queries(self, schema: Schema) -> RangeQueries:
        if self.predicates is not None:
            return RangeQueries.given(self.predicates, schema)
        rng = np.random.default_rng(self.seed)
        return RangeQueries.drawn(schema, self.queries, self.attributes, float(self.selectivity.share), rng)


def _one_group(schema: Schema, codes: NDArray[np.int64]) -> JoinedTable:
    """Return the table with a single group, which shows only how often each sensitive value occurs: the reference for the error."""
    cells = np.array([[one.cells for one in schema.attributes]], dtype=np.int32)
    counts = np.bincount(codes[:, -1], minlength=schema.sensitive.cells).astype(np.int64)
    return JoinedTable(schema, np.zeros_like(cells), cells, counts[None])


@dataclass(frozen=True)
class RangeQueries:
    """Queries as ranges of cells. Several ranges of one attribute in one query are alternatives of the same condition."""

    count: int
    place: NDArray[np.int64]
    """The attribute of each range: its index in the schema, the sensitive attribute last. Sorted by attribute, then by query."""
    query: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @classmethod
    def of(cls, count: int, ranges: NDArray[np.int64]) -> RangeQueries:
        """Return queries from rows of query, place, low and high."""
        rows = ranges.reshape(-1, 4)
        rows = rows[np.lexsort((rows[:, 2], rows[:, 0], rows[:, 1]))]
        return cls(count, rows[:, 1], rows[:, 0], rows[:, 2], rows[:, 3])

    @classmethod
    def given(cls, predicates: Predicates, schema: Schema) -> RangeQueries:
        """Return the queries of a user as ranges of cells."""
        rows = [
            (query, place, low, high)
            for query, cells in enumerate(predicates.ranges(schema))
            for place, ranges in cells.items()
            for low, high in ranges
        ]
        return cls.of(len(predicates), np.array(rows, dtype=np.int64))

    @classmethod
    def drawn(
        cls, schema: Schema, count: int, attributes: int, selectivity: float, rng: np.random.Generator
    ) -> RangeQueries:
        """Draw queries of a given selectivity; attributes and starts of ranges are uniformly random."""
        cells = np.array([one.cells for one in schema.attributes], dtype=np.int64)
        number = min(attributes, len(cells))
        chosen = np.argsort(rng.random((count, len(cells))), axis=1, kind="stable")[:, :number]
        # Attributes with few cells come first, so that later attributes compensate their rounding to whole cells.
        chosen = np.take_along_axis(chosen, np.argsort(cells[chosen], axis=1, kind="stable"), axis=1)
        rest = np.full(count, selectivity)
        ranges = np.empty((count, number, 4), dtype=np.int64)
        for left in range(number, 0, -1):
            place = chosen[:, number - left]
            of = cells[place]
            width = np.clip(np.rint(np.minimum(rest, 1.0) ** (1 / left) * of), 1, of).astype(np.int64)
            rest *= of / width
            low = rng.integers(0, of - width, endpoint=True)
            ranges[:, number - left] = np.column_stack((np.arange(count), place, low, low + width))
        return cls.of(count, ranges)

    def selectivity(self, schema: Schema) -> NDArray[np.float64]:
        """Return the share of the domain that each query covers."""
        cells = np.array([one.cells for one in (*schema.attributes, schema.sensitive)])
        covered = np.ones(self.count)
        for place, rows in self._by_place():
            share = np.zeros(self.count)
            np.add.at(share, self.query[rows], (self.high[rows] - self.low[rows]) / cells[place])
            concerned = distinct(self.query[rows])
            covered[concerned] *= share[concerned]
        return covered

    def _by_place(self, first: int = 0, last: int | None = None) -> Iterator[tuple[int, slice]]:
        """Yield each attribute with its ranges in the queries from `first` to before `last`."""
        last = self.count if last is None else last
        for place in distinct(self.place):
            start, end = np.searchsorted(self.place, [place, place + 1])
            inner = start + np.searchsorted(self.query[start:end], [first, last])
            if inner[0] < inner[1]:
                yield int(place), slice(int(inner[0]), int(inner[1]))

    def counted(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of rows of codes that meet each query.

        Users are processed in blocks. For each code that occurs, a bit set holds the users with a lower code. The users in a range are the
        difference of two such sets.
        """
        found = np.zeros(self.count, dtype=np.int64)
        for begin in range(0, len(codes), _USERS_AT_ONCE):
            part = codes[begin : begin + _USERS_AT_ONCE]
            below = {int(place): _Below(part[:, place]) for place in distinct(self.place)}
            all_users = np.packbits(np.ones(len(part), dtype=np.bool_))
            at_once = max(_NUMBERS_AT_ONCE // len(all_users), 1)
            for first in range(0, self.count, at_once):
                last = min(first + at_once, self.count)
                meet = np.tile(all_users, (last - first, 1))
                for place, rows in self._by_place(first, last):
                    queries, starts = np.unique(self.query[rows], return_index=True)
                    bits = below[place].between(self.low[rows], self.high[rows])
                    meet[queries - first] &= _together(np.bitwise_or, bits, starts)
                found[first:last] += np.bitwise_count(meet).sum(axis=1, dtype=np.int64)
        return found

    def estimated(self, table: JoinedTable) -> NDArray[np.float64]:
        """Return the expected number of records per query, as if values were evenly distributed over their intervals."""
        sensitive = len(table.schema.attributes)
        sizes = table.counts.sum(axis=1).astype(np.float64)
        spans = [
            np.unique(np.column_stack((table.lows[:, place], table.highs[:, place])), axis=0, return_inverse=True)
            for place in range(sensitive)
        ]
        expected = np.empty(self.count)
        at_once = max(_NUMBERS_AT_ONCE // max(table.groups, 1), 1)
        for first in range(0, self.count, at_once):
            last = min(first + at_once, self.count)
            records = np.tile(sizes, (last - first, 1))
            for place, rows in self._by_place(first, last):
                queries, starts = np.unique(self.query[rows], return_index=True)
                low, high = self.low[rows, None], self.high[rows, None]
                if place == sensitive:
                    values = np.arange(table.counts.shape[1])
                    wanted = _together(np.add, ((low <= values) & (values < high)).astype(np.float64), starts)
                    # Exact, not estimated: the table shows the sensitive value of every record.
                    records[queries - first] *= (wanted @ table.counts.T) / sizes
                    continue
                distinct, group = spans[place]
                overlap = np.minimum(high, distinct[:, 1]) - np.maximum(low, distinct[:, 0])
                share = np.maximum(overlap, 0) / (distinct[:, 1] - distinct[:, 0])
                records[queries - first] *= _together(np.add, share, starts)[:, group.reshape(-1)]
            expected[first:last] = records.sum(axis=1)
        return expected


def _together(ufunc: np.ufunc, parts: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Combine the ranges of each query. If every query has one range, there is nothing to do."""
    return parts if len(parts) == len(starts) else ufunc.reduceat(parts, starts, axis=0)


class _Below:
    """For each code that occurs, the bit set of users with a lower code."""

    def __init__(self, codes: NDArray[np.int64]) -> None:
        self._codes, rank = np.unique(codes, return_inverse=True)
        edges = np.arange(len(self._codes) + 1)
        self._bits = np.packbits(rank.reshape(-1)[None, :] < edges[:, None], axis=1)

    def between(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return for each range the bit set of users whose code is in it."""
        upper, lower = (self._bits[np.searchsorted(self._codes, edge, side="left")] for edge in (high, low))
        found: NDArray[np.uint8] = upper & ~lower
        return found
