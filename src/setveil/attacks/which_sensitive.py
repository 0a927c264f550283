"""Read the list of sensitive items off a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.trials import Trial
from setveil.base.declaration import parameter
from setveil.data.records.ragged import offsets_of, owner_of, picked, record_ranges
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.attacks.target import Target
    from setveil.data.records.transactions import Transactions

AT_ONCE = 1 << 21
"""Number of occurrences of tested rows whose rules are counted together; it limits the memory."""


class WhichSensitive(Attack):
    """Name the sensitive items: those that no rest of a row implies with more than ρ."""

    name = "which-sensitive"
    title = "Reading the list of sensitive items"
    knows = "the limit ρ, which is on the card"
    statistic = (
        "an item is sensitive that no tested row implies with more than ρ, from all other items of the row. At most rows_per_item rows with"
        " each item are tested, and items without such a row are not named"
    )
    base_rate = "items are named at random: the share of sensitive items"
    success = "sensitive items named right"
    blind_to = "what the names of items reveal"
    fits = ("rho-uncertainty",)
    guesses_all = True

    rows_per_item: int = parameter(200, ge=1, le=100_000, public=True, description="Number of rows tested per item.")

    def run(self, target: Target) -> Finding:
        """Test rules from whole rows for every item."""
        rows, rho, sensitive = target.published.plain, target.known.get("rho"), target.known.get("sensitive")
        assert rows is not None
        if rho is None or sensitive is None:
            return self.impossible("the release has no sensitive items with a limit ρ")
        is_sensitive = sensitive.among(rows)
        tested, strongest = _strongest(rows, self.rows_per_item, target.rng(self.name))
        named = tested & (strongest <= float(rho.share))
        there = tested & is_sensitive
        if not named.any() or not tested.any():
            return self.without_result("no item is without a strong rule")
        found = int(np.count_nonzero(named & is_sensitive))
        return self.finding(
            Trial(found, int(named.sum())),
            Trial.known(float(is_sensitive[tested].mean())),
            details={"named": int(named.sum()), "recall": found / max(int(there.sum()), 1), "items": int(tested.sum())},
        )


def _strongest(
    data: Transactions, most: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return for each item whether a row with further items was tested, and the highest confidence of the tested rules."""
    starts, holders = data.holders
    several = data.lengths > 1
    items, rows = [], []
    for code in range(len(data.vocabulary)):
        mine = holders[starts[code] : starts[code + 1]]
        mine = mine[several[mine]]
        mine = mine if len(mine) <= most else rng.choice(mine, most, replace=False)
        items.append(np.full(len(mine), code))
        rows.append(mine)
    item, row = np.concatenate([*items, np.empty(0, np.int64)]), np.concatenate([*rows, np.empty(0, np.int64)])
    strongest = np.zeros(len(data.vocabulary))
    for first, last in record_ranges(offsets_of(data.lengths[row]), AT_ONCE, AT_ONCE):
        tested = item[first:last]
        np.maximum.at(strongest, tested, _confidences(data, tested, row[first:last]))
    return np.bincount(item, minlength=len(data.vocabulary)) > 0, strongest


def _confidences(data: Transactions, item: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the confidence of each rule from all other items of a row to one of its items."""
    offsets, places = picked(data.offsets, row)
    codes = data.items[places]
    rest = codes != item[owner_of(offsets)]
    with_item = supports(data, (offsets, codes))
    without = supports(data, (offsets_of(np.diff(offsets) - 1), codes[rest]))
    confidences: NDArray[np.float64] = with_item / np.maximum(without, 1)
    return confidences
