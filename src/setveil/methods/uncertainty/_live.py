"""A table in which each sensitive item is either alive, in all records that hold it, or suppressed in all of them.

Safe sets of living items are closed downwards: what is safe stays safe if more items are suppressed. So one pass that restores items, each
if everything stays safe, ends where no suppressed item can be restored. A second pass is unnecessary.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import inverted, offsets_of, owner_of, picked, read_only
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.mining.rule_search import strongest_rules
from setveil.mining.whole_parts import whole_parts

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from setveil.guarantees.rho_uncertainty import RhoUncertainty

STEPS_PER_ITEM = 5_000_000
"""If one search takes more steps than this, its item counts as inferred."""


class LiveTable:
    """Distinct records as rows of codes that can be overwritten, and which codes are alive."""

    def __init__(
        self,
        offsets: NDArray[np.int64],
        items: NDArray[np.int32],
        weights: NDArray[np.int64],
        sensitive: NDArray[np.bool_],
        lists: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> None:
        """Start without living sensitive items. Rows are padded with the code `len(sensitive)`; `lists` may give the rows per code."""
        from setveil.methods.uncertainty import _live_kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs
        from setveil.mining import _rule_search_kernels as searching  # noqa: PLC0415 - the same

        self._kernels: Any = _live_kernels
        codes = len(sensitive)
        starts, rows = (read_only(part, np.int64) for part in lists or inverted(offsets, items, codes))
        records = searching.Records(
            offsets=read_only(offsets),
            items=np.array(items, np.int32),
            weights=read_only(weights),
            words=np.empty(len(weights), np.uint64),
            starts=starts,
            lists=rows,
            supports=read_only(np.bincount(owner_of(starts), weights[rows], codes).astype(np.int64)),
        )
        searching.signatures(0, len(weights), records.offsets, records.items, records.words)
        is_sensitive = read_only(np.concatenate((sensitive, [False])))
        self.table = _live_kernels.Table(records, is_sensitive, alive=np.concatenate((~sensitive, [False])))
        self.alive: NDArray[np.bool_] = self.table.alive
        self.supports: NDArray[np.int64] = records.supports
        self.room = searching.make_room(len(weights), codes + 1, int(np.diff(offsets).max(initial=0)) + 1)
        self._bounds = searching.Bounds

    def bounds(self, share: Fraction) -> Any:
        """Return the bounds of a search: the highest confidence and the steps per item."""
        return self._bounds(*share.as_integer_ratio(), STEPS_PER_ITEM)

    def restore(self, allowed: NDArray[np.bool_], share: Fraction) -> None:
        """Restore suppressed sensitive items, the most frequent first, ties in the order of codes, as long as everything stays safe."""
        codes = np.flatnonzero(self.table.is_sensitive[:-1] & ~self.alive[:-1] & (self.supports > 0))
        order = read_only(codes[np.argsort(-self.supports[codes], kind="stable")])
        work = partial(self._kernels.bring_back, order, read_only(allowed), self.table, self.bounds(share), self.room)
        run("restoring sensitive items", work, total=len(order))

    def living_items(
        self, content_of: NDArray[np.int64], alive: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return offsets and codes of the living items of all records; `content_of` has the distinct record of each."""
        keep = (self.alive if alive is None else alive)[self.table.records.items]
        kept = offsets_of(keep)[self.table.records.offsets]
        offsets, places = picked(kept, content_of)
        living: NDArray[np.int32] = self.table.records.items[keep]
        return offsets, living[places]


def always_inferable(data: Transactions, sensitive: NDArray[np.bool_], guarantee: RhoUncertainty) -> NDArray[np.bool_]:
    """Return which items can be inferred whatever other sensitive items are alive: from nothing, or from all non-sensitive items."""
    num, den = guarantee.rho.share.as_integer_ratio()
    found = np.zeros(len(data.vocabulary), np.bool_)
    if guarantee.include_empty:
        found |= sensitive & (data.supports > 0) & (den * data.supports > num * data.records)
    if guarantee.knows == "whole":
        whole = whole_parts(data, sensitive)
        inferred = den * whole.held > num * whole.sizes[whole.part]
        if not guarantee.include_empty:
            inferred &= ~whole.has_empty_part
        found[whole.item[inferred]] = True
    return found


def items_to_suppress(data: Transactions, guarantee: RhoUncertainty) -> list[str]:
    """Return sensitive items to suppress before the records can be proved safe; none if the records are safe.

    These are the items that can be inferred. If there are none, but the search for some items did not end, it is the most frequent one.
    """
    sensitive = guarantee.sensitive.among(data)
    found = strongest_rules(
        data, sensitive, guarantee.rho.share, include_empty=guarantee.include_empty, budget=guarantee.budget
    )
    codes = set(found.items.tolist()) | set(np.flatnonzero(always_inferable(data, sensitive, guarantee)).tolist())
    if not codes and found.undecided:
        codes = {int(np.argmax(np.where(sensitive, data.supports, -1)))}
    return [data.vocabulary[code] for code in sorted(codes)]
