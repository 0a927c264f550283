"""Shared by methods in which pairs of records swap items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import read_only
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray


def swap_items(data: Transactions, partner: NDArray[np.int64], given: NDArray[np.bool_]) -> Transactions:
    """Let each record give its occurrences marked in `given` to its partner, all at once.

    `partner` is -1 for a record that stays unchanged. An item that a record both keeps and receives counts once.
    """
    from setveil.methods import _exchanging_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    fixed = (data.offsets, data.items, read_only(partner), read_only(given))
    offsets = np.zeros(data.records + 1, np.int64)

    def rebuild(control: Any) -> NDArray[np.int32]:
        kernels.exchange(*fixed, offsets, np.empty(0, np.int32), False, control)
        np.cumsum(offsets, out=offsets)
        items = np.empty(offsets[-1], np.int32)
        kernels.exchange(*fixed, offsets, items, True, control)
        return items

    items = run("swapping items", rebuild, total=data.records)
    return Transactions(offsets, items, data.vocabulary, ids=data.ids, unit=data.unit)
