"""What methods share that let pairs of records exchange items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import read_only
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray


def exchanged(data: Transactions, partner: NDArray[np.int64], leaves: NDArray[np.bool_]) -> Transactions:
    """Let each record give what leaves it to its partner, all at once; `partner` is -1 for a record that stays as it is."""
    from setveil.methods import _exchanging_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    fixed = (data.offsets, data.items, read_only(partner), read_only(leaves))
    offsets = np.zeros(data.records + 1, np.int64)

    def put_together(control: Any) -> NDArray[np.int32]:
        kernels.exchange(*fixed, offsets, np.empty(0, np.int32), False, control)
        np.cumsum(offsets, out=offsets)
        items = np.empty(offsets[-1], np.int32)
        kernels.exchange(*fixed, offsets, items, True, control)
        return items

    items = run("exchanging items", put_together, total=data.records)
    return Transactions(offsets, items, data.vocabulary, ids=data.ids, unit=data.unit)
