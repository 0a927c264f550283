"""One search for itemsets: rows that are laid out for it, and ranges of their items that are searched side by side.

The ranges do not depend on the number of threads, so that the result does not either.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import distinct, offsets_of
from setveil.kernels.control import CONTROL_WIDTH, STOP
from setveil.kernels.threads import run, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.mining._list_search_kernels import Pairs
    from setveil.mining._row_kernels import Rows
    from setveil.mining._writing_kernels import Asked

Range = tuple[int, int, int]
"""The first item, the one after the last, and the estimated work below them."""

WENT_WELL, TOO_MANY, OUT_OF_BUDGET = 0, 1, 3
_SETS, _STATUS, _NODES = 2, 4, 5
_ALL, _CLOSED, _MAXIMAL = range(3)
"""RUNNING, TOO_MANY, OUT_OF_BUDGET; SETS, STATUS, NODES; ALL, CLOSED and MAXIMAL of `_writing_kernels`, which imports Numba."""
NO_BOUND = 1 << 40
"""Larger than any count, length or limit that occurs, and small enough that sums do not overflow."""
_RANGES = 48
"""Largest number of ranges: enough that no thread waits long for another."""
_LEAST_WORK = 1 << 14
"""Minimum of the mean number of occurrences per range: fewer are not worth the start of a search."""
MOST_CELLS = 1 << 22
"""Maximum size of a table of all pairs of items."""


@dataclass(frozen=True)
class Laid:
    """Rows with an index of their items, the frequent pairs if they are known, and the ranges to search."""

    rows: Rows
    longest: int
    """The number of items in the longest row."""
    pairs: Pairs
    ranges: list[Range]


@dataclass
class Part:
    """What was found below one range of items; `tally` is a table of counts, for sets that are not listed."""

    items: NDArray[np.int32]
    lengths: NDArray[np.int32]
    supports: NDArray[np.int64]
    tally: NDArray[np.int64]
    sets: int
    status: int
    nodes: int

    @classmethod
    def of(cls, found: tuple[Any, ...], tally: NDArray[np.int64]) -> Part:
        """Return what a kernel found.

        It is copied: the arrays of the kernel have far more room, and memory that the next range can take over need not be cleared again.
        """
        *arrays, state = found
        items, lengths, supports = (array.copy() for array in arrays)
        return cls(items, lengths, supports, tally, int(state[_SETS]), int(state[_STATUS]), int(state[_NODES]))


# -- laying out -------------------------------------------------------------------------------------------------------------------


def lay_out(data: Transactions, names: NDArray[np.int32], min_count: int, kind: int) -> Laid:
    """Lay out all records for a search among the items `names`, which are numbered by rising support."""
    from setveil.mining import _row_kernels as kernels  # noqa: PLC0415 - imports Numba

    ranks = ranks_of(names, len(data.vocabulary))
    spans, places = np.empty(kernels.SPAN * data.records, dtype=np.int64), np.empty(data.occurrences, np.int32)
    n_rows = kernels.recode(data.offsets, data.items, ranks, spans, places)
    spans, work = merged(n_rows, spans, places, len(names))
    lengths = lengths_of(spans)
    rows = indexed(spans, places, int(lengths.sum()), names, data.supports[names])
    ranges = ranges_of(work, 0, len(names))
    pairs = _pairs(rows, work, ranges, min_count, kind)
    return Laid(rows, int(lengths.max(initial=1)), pairs, ranges)


def ranks_of(names: NDArray[np.int32], codes: int) -> NDArray[np.int32]:
    """Return the number of each code among the names, -1 if it is not among them."""
    ranks = np.full(codes, -1, dtype=np.int32)
    ranks[names] = np.arange(len(names), dtype=np.int32)
    return ranks


def merged(
    n_rows: int, spans: NDArray[np.int64], places: NDArray[np.int32], n_items: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make one row of equal ones; return the spans that remain, and the estimated work below each item."""
    from setveil.mining import _row_kernels as kernels  # noqa: PLC0415 - imports Numba

    slots = np.empty(1 << max(2 * n_rows, 8).bit_length(), dtype=np.int64)
    work = np.zeros(n_items, dtype=np.int64)
    n_rows = kernels.merge_equal(n_rows, spans, places, slots, work)
    return spans[: kernels.SPAN * n_rows], work


def lengths_of(spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of items in each row."""
    from setveil.mining import _row_kernels as kernels  # noqa: PLC0415 - imports Numba

    table = spans.reshape(-1, kernels.SPAN)
    lengths: NDArray[np.int64] = table[:, kernels.END] - table[:, kernels.START]
    return lengths


def indexed(
    spans: NDArray[np.int64],
    places: NDArray[np.int32],
    entries: int,
    names: NDArray[np.int32],
    supports: NDArray[np.int64],
    *,
    last: int | None = None,
) -> Rows:
    """Return rows with an index of their items behind the middles, `entries` in all; with `last`, only of those before this one."""
    from setveil.mining import _row_kernels as kernels  # noqa: PLC0415 - imports Numba

    rows = kernels.Rows(
        spans=spans,
        places=places,
        item_starts=np.empty(len(names) + 1, dtype=np.int64),
        entries=np.empty(kernels.ENTRY * entries, dtype=np.int64),
        names=names,
        supports=supports,
    )
    n_items = len(names) if last is None else last
    kernels.index_entries(0, len(spans) // kernels.SPAN, n_items, 0, 0, rows)
    return rows


def ranges_of(work: NDArray[np.int64], first: int, last: int) -> list[Range]:
    """Return ranges of the items from `first` to before `last` with nearly equal work."""
    sums = offsets_of(work[first:last])
    number = max(1, min(_RANGES, int(sums[-1]) // _LEAST_WORK))
    cuts = distinct(np.searchsorted(sums, np.linspace(0, sums[-1], number + 1)[1:-1]))
    borders = [0, *(int(cut) for cut in cuts if 0 < cut < last - first), last - first]
    return [(first + a, first + b, int(sums[b] - sums[a])) for a, b in pairwise(borders) if a < b]


def _pairs(rows: Rows, work: NDArray[np.int64], ranges: list[Range], min_count: int, kind: int) -> Pairs:
    """Return the frequent pairs. If all sets are wanted and a table of all pairs is too large, none: the search counts them on its way."""
    from setveil.mining import _list_search_kernels as kernels  # noqa: PLC0415 - imports Numba
    from setveil.mining._row_kernels import SPAN  # noqa: PLC0415 - the same

    n_items = len(rows.names)
    if n_items**2 <= min(int(work.sum()), MOST_CELLS):
        n_rows = len(rows.spans) // SPAN
        count_all: Any = partial(kernels.find_pairs_by_row, rows, min_count)
        return pairs_of([run("counting pairs", count_all, total=n_rows)])
    if kind == _ALL:
        return no_pairs()

    def find(part: Range, control: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = kernels.find_pairs(*part[:2], rows, min_count, control)
        return found

    return pairs_of(share("counting pairs", ranges, find, total=n_items))


def no_pairs() -> Pairs:
    """Return pairs that are not known."""
    from setveil.mining import _list_search_kernels as kernels  # noqa: PLC0415 - imports Numba

    return kernels.Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))


def pairs_of(parts: Sequence[tuple[Any, ...]]) -> Pairs:
    """Return the pairs that are listed in parts: how many each item has with later ones, these, and the supports."""
    from setveil.mining import _list_search_kernels as kernels  # noqa: PLC0415 - imports Numba

    lengths, later, supports = (
        np.concatenate(arrays) for arrays in zip((np.zeros(0, np.int64), *no_pairs()[1:]), *parts, strict=True)
    )
    pairs: Pairs = kernels.list_partners(offsets_of(lengths), later, supports)
    return pairs


# -- searching --------------------------------------------------------------------------------------------------------------------


def search_root(records: int, perfect: NDArray[np.int32], asked: Asked) -> Part:
    """Find the sets of the items that all records hold."""
    from setveil.mining import _list_search_kernels as kernels  # noqa: PLC0415 - imports Numba

    part = _part(0, (0, 0, 0), len(perfect), asked, np.zeros(1, dtype=np.int64))
    asked_alone = asked._replace(kind=min(asked.kind, _CLOSED))  # no other set can make it larger
    control = np.zeros(CONTROL_WIDTH, dtype=np.int64)
    return Part.of(kernels.search_root(part, records, perfect, asked_alone, control), part.tally)


def search(laid: Laid, perfect: NDArray[np.int32], asked: Asked, *, in_order: bool = False) -> list[Part]:
    """Search all ranges; in order: as one range, so that the sets of a search that ends early show which are maximal.

    `perfect` are the items that all records hold; they are not in the rows.
    """
    from setveil.mining import _list_search_kernels as kernels  # noqa: PLC0415 - imports Numba

    ranges = laid.ranges
    if in_order and ranges:
        ranges = [(ranges[0][0], ranges[-1][1], 0)]
    largest_first = np.argsort([-work for _, _, work in ranges], kind="stable")
    shared = np.zeros(len(ranges), dtype=np.int64)
    left = asked.budget

    def search_range(number: int, control: Any) -> Part:
        nonlocal left
        asked_here = asked._replace(budget=max(left, 1) if asked.budget else 0)
        if asked.listing and shared.sum() > asked.limit:
            control[STOP] = 1
        part = _part(number, ranges[number], laid.longest + len(perfect), asked, shared)
        found = kernels.search_lists(part, laid.rows, laid.pairs, laid.longest, perfect, asked_here, control)
        made = Part.of(found, part.tally)
        left -= made.nodes
        shared[number] = made.sets + (asked.limit + 1) * (made.status == TOO_MANY)
        return made

    total = sum(last - first for first, last, _ in ranges)
    results = share("mining", largest_first.tolist(), search_range, total=total)
    return [results[i] for i in np.argsort(largest_first)]


def _part(number: int, of: Range, longest: int, asked: Asked, shared: NDArray[np.int64]) -> Any:
    """Return a part of the search for the kernels, with a table of counts if sets are only counted."""
    from setveil.mining._writing_kernels import Part as KernelPart  # noqa: PLC0415 - imports Numba

    longest_counted = asked.max_length if asked.max_length < NO_BOUND else asked.min_length
    is_tallied = asked.kind == _ALL and not asked.listing
    shape = (min(longest_counted, longest) + 1, longest + 1) if is_tallied else (1, 1)
    return KernelPart(number, of[0], of[1], np.zeros(shape, dtype=np.int64), shared)


def sum_tallies(parts: list[Part]) -> NDArray[np.int64]:
    """Return the sum of the tables of counts, which are as large as the longest rows of their parts."""
    total = np.zeros(np.max([part.tally.shape for part in parts], axis=0), np.int64)
    for part in parts:
        height, width = part.tally.shape
        total[:height, :width] += part.tally
    return total
