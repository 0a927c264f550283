"""How much was suppressed, of all items and of the sensitive ones.

Paper    jia2014 (references.bib), equation 2: the number of suppressed occurrences divided by the number of all occurrences.
Departs  `items-lost` is not from the paper. It counts item by item, so that added items do not cancel lost ones. If a release only
         suppresses items, both give the same share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.metrics.base import Metric
from setveil.metrics.distribution import NO_ITEM, supports_after
from setveil.parameters.sensitive_items import SensitiveItems

if TYPE_CHECKING:
    from setveil.metrics.pair import Pair

MOST_ROWS = 50
"""Maximum number of sensitive items that are listed one by one."""


class InfoLoss(Metric):
    """Share of the original's occurrences that the release lacks (NS of jia2014, equation 2)."""

    name = "info-loss"
    title = "Information loss"
    unit = "share of occurrences"
    better = "lower"
    about = "utility"
    quick = True
    formula = "(Σ f(i) − Σ f~(i)) / Σ f(i)"
    blind_to = (
        "which items were suppressed, and in which records; and added items, which cancel suppressed ones, as in every method that swaps"
        " items"
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare the numbers of occurrences."""
        original, published = pair.original, pair.published
        if not original.occurrences:
            return None, {"reason": NO_ITEM}
        lost = original.occurrences - published.occurrences
        if lost < 0:
            return None, {
                "reason": "the release holds more occurrences than the original, so items were added; use items-lost"
            }
        return lost / original.occurrences, {"lost": lost, "occurrences": original.occurrences}


class ItemsLost(Metric):
    """Share of the occurrences that were lost, counted item by item; the details split it by sensitive and other items."""

    name = "items-lost"
    title = "Items lost"
    unit = "share of occurrences"
    better = "lower"
    about = "utility"
    quick = True
    formula = (
        "Σ max(f(i) − f~(i), 0) / Σ f(i). sensitive-lost and others-lost: the same sum over sensitive items and over the others;"
        " trivial-loss: Σ f(i) over sensitive items / Σ f(i), the cost of suppressing every sensitive item"
    )
    blind_to = (
        "added items; items that moved from one record to another: see record-loss; and the value of the lost items"
    )

    sensitive: SensitiveItems = parameter(public=False, description="The items that must not be inferred.")

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare the supports of all items."""
        original, published = pair.original, pair.published
        if not original.occurrences:
            return None, {"reason": NO_ITEM}
        before, after = original.supports, supports_after(original, published)
        lost = np.maximum(before - after, 0)
        is_sensitive = self.sensitive.among(original)
        shown = np.flatnonzero(is_sensitive & (lost > 0))
        shown = shown[np.argsort(-lost[shown], kind="stable")][:MOST_ROWS]
        total, sensitive = original.occurrences, int(before[is_sensitive].sum())
        return int(lost.sum()) / total, {
            "lost": int(lost.sum()),
            "occurrences": total,
            "sensitive-lost": int(lost[is_sensitive].sum()),
            "sensitive": sensitive,
            "others-lost": int(lost[~is_sensitive].sum()),
            "others": total - sensitive,
            "trivial-loss": sensitive / total,
            "by-item": [[original.vocabulary[code], int(before[code]), int(after[code])] for code in shown.tolist()],
        }
