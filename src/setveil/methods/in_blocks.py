"""Run a method on each block of the data by itself."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from setveil.data.records.alignment import Alignment
from setveil.data.records.in_blocks import ROW, as_block, as_records, gathered, in_blocks
from setveil.engines.growing import GrowingArray
from setveil.methods.base import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions
    from setveil.engines.blocks import BlockKey
    from setveil.methods.base import Method

ACCOUNT = "account"
"""The column of a block whose first value is the account of the method, as JSON."""


def applied_to_each(
    method: Method,
    data: Transactions,
    rng_of: Callable[[int], Generator],
    *,
    like: Transactions | None = None,
    largest: tuple[str, ...] = (),
) -> Outcome:
    """Return what a method makes of each block, one after the other.

    The rows have the ids and the unit of `like`, by default those of the data. Figures of the account are summed over the blocks; for those
    in `largest`, the maximum is taken.
    """
    made = in_blocks(data).map(f"running {method.name}", partial(_apply, method, data.vocabulary, rng_of))
    origin, account = GrowingArray("int64"), dict[str, Any]()
    for block in made:
        origin.append(block.column(ROW).to_numpy())
        for name, value in json.loads(block.column(ACCOUNT)[0].as_py()).items():
            before = account.get(name, 0)
            account[name] = max(before, value) if name in largest else before + value
    return Outcome(gathered(made, like or data), Alignment(origin.finish()), account)


def _apply(
    method: Method, vocabulary: tuple[str, ...], rng_of: Callable[[int], Generator], block: Any, key: BlockKey
) -> Any:
    outcome = method.apply(as_records(block, vocabulary), rng=rng_of(key.number))
    account = pa.array([json.dumps(outcome.account)], pa.large_string())
    others = pa.nulls(outcome.rows.records - 1, pa.large_string())
    origin = key.first_row + outcome.alignment.rows
    return as_block(outcome.rows, **{ROW: origin, ACCOUNT: pa.concat_arrays([account, others])})
