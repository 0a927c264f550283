"""Suppression of data in blocks: each block is made safe by itself, then items are restored in view of all blocks.

The union of safe blocks is safe (`_division`), but a rule at its limit in one block may be far from it in all data. So items are restored
once more, in groups of items, in the order of restoring. The records of a group are those that held one of its items in the original. They
show exactly how many records hold q and t, or q, t and f, for an item t of the group. Of the records that hold q they show some. So what is
safe among them is safe in all data: there, a rule q → t has at most the same confidence, and a rule q + t → f has the same. `Restoring`
examines no other rules.

Memory: that of a block for each thread, then that of two blocks. The marks of what is kept are on disk.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.in_blocks import room_for
from setveil.data.records.ragged import BLOCK, among, owner_of, picked, pieces, record_ranges, sums_within
from setveil.engines.blocks import current_engine
from setveil.kernels.control import DONE
from setveil.kernels.threads import run
from setveil.methods.in_blocks import applied_to_each
from setveil.methods.uncertainty._restoring import Restoring, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.base import Outcome
    from setveil.methods.uncertainty.base import SuppressesOccurrences

BLOCKS_AT_ONCE = 2
"""The maximum number of records of a group, in blocks: the more, the more is restored."""


def suppress_in_blocks(
    method: SuppressesOccurrences, data: Transactions, rng_of: Callable[[int], Generator]
) -> Outcome:
    """Make each block of the data safe by itself, then restore what stays safe in view of all blocks."""
    safe = applied_to_each(method, data, rng_of, largest=("passes",))
    present: NDArray[np.bool_] = room_for(data, data.occurrences, np.bool_)
    mark_kept(data, safe.rows, present)
    advice = method.advice_on(safe.account)
    restored = 0 if advice else restore_in_view_of_all(method, data, present, rng_of(-1))
    outcome = outcome_of(data, present, method.sensitive.among(data), {"restored-in-view-of-all-blocks": restored})
    return replace(outcome, account=safe.account | outcome.account, advice=advice)


def mark_kept(data: Transactions, kept: Transactions, present: NDArray[np.bool_]) -> None:
    """Mark the occurrences of the data that are in `kept`, which has the same records without some items."""
    width = len(data.vocabulary)
    for first, last in record_ranges(data.offsets, BLOCK, BLOCK):
        keys, left = (
            owner_of(one.offsets[first : last + 1]) * width + one.items[one.offsets[first] : one.offsets[last]]
            for one in (data, kept)
        )
        present[data.offsets[first] : data.offsets[last]] = among(keys, left)


def restore_in_view_of_all(
    method: SuppressesOccurrences, data: Transactions, present: NDArray[np.bool_], rng: Generator
) -> int:
    """Restore occurrences that stay safe in all data, and mark them; return their number."""
    left = np.zeros(len(data.vocabulary), np.int64)
    for part in pieces(data.occurrences):
        left += np.bincount(data.items[part][present[part]], minlength=len(left))
    order = method.turns(data, left)
    if method.rho.share == 1 or not len(order):
        return 0
    most = BLOCKS_AT_ONCE * current_engine().block_records

    def restore(control: NDArray[np.int64]) -> int:
        added = 0
        for codes in _groups(order, data.supports, most):
            rows = _records_of_group(data, codes, present, most, rng)
            if len(rows):
                places = picked(data.offsets, rows)[1]
                table = Restoring(data.take(rows, ids=None), present[places], codes, method, rng, records=data.records)
                table.run()
                present[places] = table.present
                added += table.added
            control[DONE] += len(codes)
        return added

    return run("restoring items in view of all blocks", restore, total=len(order))


def _groups(order: NDArray[np.int64], supports: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    """Divide items into groups, in their order: at most `most` records hold the items of one. A more frequent item is its own group."""
    first = 0
    while first < len(order):
        last = first + max(int(np.searchsorted(np.cumsum(supports[order[first:]]), most, side="right")), 1)
        yield order[first:last]
        first = last


def _records_of_group(
    data: Transactions, codes: NDArray[np.int64], present: NDArray[np.bool_], most: int, rng: Generator
) -> NDArray[np.int64]:
    """Return the records that held an item of a group.

    If these are more than `most`, the group is a single item. Then only some of those that lost it are returned; or none at all if those
    that hold it are too many.
    """
    is_chosen = np.zeros(len(data.vocabulary), np.bool_)
    is_chosen[codes] = True
    rows = data.holding(is_chosen)
    if len(rows) <= most:
        return rows
    holds = np.zeros(len(rows), np.bool_)
    for part in pieces(len(rows)):
        offsets, places = picked(data.offsets, rows[part])
        holds[part] = sums_within(offsets, is_chosen[data.items[places]] & present[places]) > 0
    room = most - int(np.count_nonzero(holds))
    if room < 0:
        return rows[:0]
    lost = np.flatnonzero(~holds)
    holds[rng.choice(lost, room, replace=False)] = True
    return rows[holds]
