"""How many records hold each pair of some items, counted over blocks of the records.

The items are numbered. Pairs are counted in cells: one for each pair if there are as many as the square of the number of items, otherwise
one for several pairs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.in_blocks import ITEMS
from setveil.data.records.ragged import read_only
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.engines.blocks import BlockKey, Blocks


def count_pairs(blocks: Blocks, numbers: NDArray[np.int32], width: int, n_cells: int) -> NDArray[np.int64]:
    """Return how often a pair of each cell occurs.

    `numbers` has the number of each item, from 0 to `width` - 1, or -1 for items that do not count. The cell of a pair is the lower number
    times `width` plus the higher one if `n_cells` is the square of `width`; `n_cells` may also be a smaller power of two.
    """
    return blocks.fold("counting pairs", partial(_count_pairs, read_only(numbers), width, n_cells))


def _count_pairs(numbers: NDArray[np.int32], width: int, n_cells: int, block: Any, key: BlockKey) -> NDArray[np.int64]:
    from setveil.mining import _group_kernels as kernels  # noqa: PLC0415 - imports Numba

    del key
    offsets, items, row = rows_of(block)
    cells = np.zeros(n_cells, np.int64)
    work = partial(kernels.count_cells, offsets, items, numbers, np.int64(width), row, cells)
    run("counting pairs", work, total=len(offsets))
    return cells


def rows_of(block: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return the offsets and the items of the rows of a block for kernels, and room for the longest row."""
    lists = block.column(ITEMS)
    offsets, items = read_only(lists.offsets.to_numpy()), read_only(lists.values.to_numpy())
    return offsets, items, np.empty(int(np.diff(offsets).max(initial=0)), np.int32)
