"""A generated stand-in for WD, the private third data set of gunawan2019: web pages that Internet users visited.

Only what Table 3 of the paper prints of WD is taken from it: 797 records, 174,499 items in all, 26,506 distinct ones. Everything else is
made up, from a seed:

- lengths of records are log-normal: a median of about 160 items, from fewer than ten to more than a thousand;
- popularity follows Zipf's law with exponent 1, flattened at the very top: weight = 1 / (rank + 16), which puts the most visited page into
  two thirds of the records and lets some thousand itemsets be frequent at 20 % and a dozen at 50 %;
- within a record items are drawn by popularity, each at most once, and independently of each other;
- every item is dealt out to one record first, so that all of them occur.

It has the shape of WD and nothing of its content: what is measured on it says little about WD, and nothing about people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import offsets_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

RECORDS, OCCURRENCES, ITEMS = 797, 174_499, 26_506
SEED = 2019

_LOG_LENGTH_SPREAD = 0.8
_LONGEST_SHARE = 0.995
"""Records beyond this quantile of the lengths are cut to it."""
_ZIPF_SHIFT = 16


def generated_browsing(
    *, records: int = RECORDS, occurrences: int = OCCURRENCES, items: int = ITEMS, seed: int = SEED
) -> Transactions:
    """Make the data set; the counts are met exactly.

    >>> generated_browsing(records=20, occurrences=400, items=100).occurrences
    400
    """
    if not max(records, items) <= occurrences <= records * items:
        raise BadParameter(
            f"{records:,} records cannot hold {items:,} items {occurrences:,} times in all, each record one and each item once at least"
        )
    rng = np.random.default_rng(seed)
    lengths = _lengths(records, occurrences, items, rng)
    weight = 1 / (np.arange(items) + 1 + _ZIPF_SHIFT)
    owner = rng.permutation(np.repeat(np.arange(records), lengths))[:items]
    chosen: list[NDArray[np.int64]] = []
    for record, length in enumerate(lengths):
        # Who comes first in a race of exponential clocks is a draw by weight without repetition; an owned item has won already.
        arrival = rng.exponential(size=items) / weight
        arrival[owner == record] = -1
        chosen.append(np.sort(np.argpartition(arrival, length - 1)[:length]))
    offsets = offsets_of(lengths)
    labels = [f"page-{rank + 1}" for rank in range(items)]
    return Transactions.from_codes(offsets, np.concatenate(chosen), labels, unit="person")


def _lengths(records: int, occurrences: int, items: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return skewed lengths that sum up to the occurrences; each is at least 1 and at most the number of items."""
    raw = rng.lognormal(0, _LOG_LENGTH_SPREAD, records)
    raw = np.minimum(raw, np.quantile(raw, _LONGEST_SHARE))
    lengths: NDArray[np.int64] = np.clip(np.floor(raw / raw.sum() * occurrences), 1, items).astype(np.int64)
    # Rounding leaves a few over, or takes a few too many: the shortest records that have room get them, the longest give them.
    while (missing := occurrences - int(lengths.sum())) != 0:
        order = np.argsort(lengths, kind="stable")
        able = order[lengths[order] < items] if missing > 0 else order[lengths[order] > 1][::-1]
        lengths[able[: abs(missing)]] += np.sign(missing)
    return lengths
