"""The search for itemsets in data of more than one block: groups of items, each of which is searched by itself.

A set is found at its rarest item. So the records that hold an item are enough to find the sets at this item, and of these records only the
items that form a frequent pair with it. Each group gets what its items need, which is what a search of all records would look at: the same
sets are found, with the same supports, whatever the size of blocks and groups. No part of the data is mined for itself.

Cost: the records are read four times. What the groups need is written to files of the engine: for each record at most as many items as it
has pairs of items, usually two to three times the record. A group takes GROUP_BYTES of memory, or as much as its only item needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.in_blocks import ITEMS, in_blocks
from setveil.data.records.ragged import owner_of, read_only
from setveil.kernels.threads import run
from setveil.mining.pair_counts import count_pairs, rows_of
from setveil.mining.searching import (
    MOST_CELLS,
    OUT_OF_BUDGET,
    TOO_MANY,
    Laid,
    Part,
    indexed,
    lengths_of,
    merged,
    no_pairs,
    pairs_of,
    ranges_of,
    ranks_of,
    search,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.engines.blocks import BlockKey, Blocks
    from setveil.mining._group_kernels import Ranked
    from setveil.mining._list_search_kernels import Pairs
    from setveil.mining._writing_kernels import Asked

GROUP_BYTES = 1 << 27
"""The memory of a group, estimated as if its items were in no record together. The work on it takes about this much, and twice as much if
the search looks back."""
BLOCK_RECORDS = 1 << 18
"""The number of records that are shared out at once: what the groups need of them takes several times as much memory."""
BYTES_PER_ROW, BYTES_PER_ITEM = 80, 8
"""The memory of a row of a group, and of an item in it."""
GROUP = "group"
"""The column of the group of a row."""


@dataclass(frozen=True)
class Groups:
    """Items in groups, and what each group needs of the records. Items are numbered by rising support."""

    names: NDArray[np.int32]
    supports: NDArray[np.int64]
    starts: NDArray[np.int64]
    """The first item of each group, and the number of items."""
    pairs: Pairs
    blocks: Blocks | None
    """A block for each group; None if there are no items."""

    @classmethod
    def of(cls, data: Transactions, names: NDArray[np.int32], min_count: int, kind: int) -> Groups:
        """Share out the records to groups of the items `names`."""
        from setveil.mining import _group_kernels as kernels  # noqa: PLC0415 - imports Numba

        supports = data.supports[names]
        if not len(names):
            return cls(names, supports, np.zeros(1, np.int64), no_pairs(), None)
        blocks, width = in_blocks(data, at_most=BLOCK_RECORDS), len(names)
        ranks = read_only(ranks_of(names, len(data.vocabulary)))
        cells = count_pairs(blocks, ranks, width, min(width**2, MOST_CELLS))
        ranked = kernels.Ranked(ranks, np.int64(width), read_only(cells >= min_count), np.int64(kind > 0))
        sizes = blocks.fold("measuring groups of items", partial(_measure, ranked)).reshape(2, width)
        starts = _starts(sizes[0] * BYTES_PER_ROW + sizes[1] * BYTES_PER_ITEM)
        group_of = read_only(owner_of(starts), np.int32)
        shared = blocks.map("sharing out the records", partial(_share_out, ranked, group_of))
        grouped = shared.regroup("grouping the records", _group_of, len(starts) - 1)
        pairs = _pairs(cells.reshape(width, width), min_count) if len(cells) == width**2 else no_pairs()
        return cls(names, supports, starts, pairs, grouped)

    def search(self, perfect: NDArray[np.int32], asked: Asked) -> list[Part]:
        """Search all groups; each may find as many sets as are allowed in all, and visit as many nodes."""
        if self.blocks is None:
            return []
        given = (self.names, self.supports, self.starts, self.pairs)
        found = self.blocks.map("mining", partial(_search_group, given, perfect, asked))
        parts: list[Part] = []
        sets = nodes = 0
        for block in found:
            parts += [_part_of(block, row) for row in range(block.num_rows)]
            sets, nodes = sum(part.sets for part in parts), sum(part.nodes for part in parts)
            if asked.listing and sets > asked.limit:
                parts[-1].status = TOO_MANY
                break
        if asked.budget and nodes > asked.budget:
            parts[-1].status = OUT_OF_BUDGET
        return parts


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the borders of groups of items that are not larger than allowed, except for single items."""
    ends = np.cumsum(sizes)
    starts = [0]
    while starts[-1] < len(sizes):
        before = ends[starts[-1] - 1] if starts[-1] else 0
        last = int(np.searchsorted(ends, before + GROUP_BYTES, side="right"))
        starts.append(max(last, starts[-1] + 1))
    return np.array(starts, np.int64)


def _pairs(cells: NDArray[np.int64], min_count: int) -> Pairs:
    """Return the frequent pairs of a table that has a cell for each."""
    first, later = np.nonzero(cells >= min_count)
    lengths = np.bincount(first, minlength=len(cells))
    return pairs_of([(lengths, later.astype(np.int32), cells[first, later])])


# -- work on blocks ---------------------------------------------------------------------------------------------------------------


def _measure(ranked: Ranked, block: Any, key: BlockKey) -> NDArray[np.int64]:
    """Count the rows, and then the items, that each item would need as a group of its own."""
    from setveil.mining import _group_kernels as kernels  # noqa: PLC0415 - imports Numba

    del key
    offsets, items, row = rows_of(block)
    sizes = np.zeros(2 * int(ranked.n_ranks), np.int64)
    run("measuring groups of items", partial(kernels.measure, offsets, items, ranked, row, sizes), total=len(offsets))
    return sizes


def _share_out(ranked: Ranked, group_of: NDArray[np.int32], block: Any, key: BlockKey) -> Any:
    """Return what each group needs of the records, a row for each record and group."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    from setveil.mining import _group_kernels as kernels  # noqa: PLC0415 - imports Numba

    del key
    offsets, items, row = rows_of(block)
    work: Any = partial(kernels.share_out, offsets, items, ranked, group_of, row, np.empty(len(row), np.bool_))
    rows = run("sharing out the records", work, total=len(offsets))
    groups, starts, shared = kernels.sort_rows(int(group_of[-1]) + 1, *rows)
    lists = pa.LargeListArray.from_arrays(pa.array(starts), pa.array(shared))
    return pa.record_batch({ITEMS: lists, GROUP: pa.array(groups)})


def _group_of(block: Any, key: BlockKey) -> NDArray[np.int64]:
    """Return the group of each row."""
    del key
    group: NDArray[np.int64] = block.column(GROUP).to_numpy().astype(np.int64)
    return group


def _search_group(given: tuple[Any, ...], perfect: NDArray[np.int32], asked: Asked, block: Any, key: BlockKey) -> Any:
    """Search the items of a group; return a row for each part of the search."""
    names, supports, starts, pairs = given
    first, last = int(starts[key.number]), int(starts[key.number + 1])
    laid = _laid(block, (first, last), names, supports, pairs)
    return _as_block(search(laid, perfect, asked))


def _laid(block: Any, of: tuple[int, int], names: NDArray[np.int32], supports: NDArray[np.int64], pairs: Pairs) -> Laid:
    """Lay out the rows of a group for a search of its items."""
    from setveil.mining import _group_kernels as kernels  # noqa: PLC0415 - imports Numba
    from setveil.mining._row_kernels import SPAN  # noqa: PLC0415 - the same

    first, last = of
    offsets, ranks, _ = rows_of(block)
    places = ranks[offsets[0] : offsets[-1]].copy()
    spans = np.empty(SPAN * (len(offsets) - 1), np.int64)
    kernels.write_spans(offsets, spans)
    spans, work = merged(len(offsets) - 1, spans, places, len(names))
    entries = kernels.begin_at(first, last, spans, places)
    rows = indexed(spans, places, entries, names, supports, last=last)
    return Laid(rows, int(lengths_of(spans).max(initial=1)), pairs, ranges_of(work, first, last))


_ARRAYS = ("items", "lengths", "supports")


def _as_block(parts: list[Part]) -> Any:
    """Return what was found as a block."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    def column(arrays: list[NDArray[Any]]) -> Any:
        offsets = np.cumsum([0, *map(len, arrays)])
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate(arrays)))

    numbers = [np.array([part.sets, part.status, part.nodes, *part.tally.shape]) for part in parts]
    return pa.record_batch(
        {name: column([getattr(part, name) for part in parts]) for name in _ARRAYS}
        | {"tally": column([part.tally.ravel() for part in parts]), "numbers": column(numbers)}
    )


def _part_of(block: Any, row: int) -> Part:
    """Return the part in a row of such a block."""
    items, lengths, supports, tally, numbers = (
        block.column(name)[row].values.to_numpy() for name in (*_ARRAYS, "tally", "numbers")
    )
    sets, status, nodes, *shape = map(int, numbers)
    return Part(items, lengths, supports, tally.reshape(shape), sets, status, nodes)
