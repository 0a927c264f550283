"""How often items occur, before and after.

Paper    gunawan2019, equation 3; jia2014, equation 3 and the symmetric form of section 4 (references.bib).
Departs  jia2014 does not say what the probability of an item is, nor what the union of two distributions is. Here it is the item's share
         of all occurrences, and the union is the mean of both. See docs/metrics.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.forms.grouped import Grouped
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.alignment import Alignment

NO_ITEM = "the original holds no item"
NO_ITEM_RELEASED = "the release holds no item"


def supports_after(original: Transactions, published: Transactions) -> NDArray[np.int64]:
    """Return for each item of the original how many released records hold it."""
    after = np.zeros(len(original.vocabulary), dtype=np.int64)
    for label, held in zip(published.vocabulary, published.supports.tolist(), strict=True):
        if label in original.code_of:
            after[original.code_of[label]] = held
    return after


class Dissimilarity(Metric):
    """How far the occurrences of items differ from the original's (Diss of gunawan2019, equation 3)."""

    name = "dissimilarity"
    title = "Dissimilarity"
    unit = "share of occurrences"
    better = "lower"
    about = "utility"
    formula = "per-item: Σ|f(i) − f~(i)| / Σ f(i); printed: |Σ f(i) − Σ f~(i)| / Σ f(i)"
    blind_to = "which record an item is in: shuffling whole records leaves it 0. The printed form also lets gains and losses cancel."
    variants = ({"form": "per-item"}, {"form": "printed"})
    takes = (Transactions, Grouped)

    form: Literal["per-item", "printed"] = parameter(
        "per-item", public=True, description="Differences item by item, or of the totals as the paper prints it."
    )

    def measure(
        self, original: Transactions, published: Transactions | Grouped, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Compare the supports of all items."""
        del alignment
        if not original.occurrences:
            return None, {"reason": NO_ITEM}
        if self.form == "printed":
            return abs(original.occurrences - published.occurrences) / original.occurrences, {}
        before = dict(zip(original.vocabulary, original.supports.tolist(), strict=True))
        after = dict(zip(published.vocabulary, published.supports.tolist(), strict=True))
        changed = sum(abs(before.get(label, 0) - after.get(label, 0)) for label in before.keys() | after.keys())
        return changed / original.occurrences, {}


class KullbackLeibler(Metric):
    """How far the shares of the items in all occurrences diverge from the original's (KL of jia2014, equation 3)."""

    name = "kl"
    title = "Kullback-Leibler divergence"
    unit = "nats"
    better = "lower"
    about = "utility"
    formula = "KL(P~‖P) = Σ P~(i) ln(P~(i) / P(i)), P(i) = f(i) / Σ f, P~(i) = f~(i) / Σ f~"
    blind_to = (
        "how much is gone: leaving out the same share of every item leaves it 0; which record an item is in; and rare items weigh little,"
        " also where all of their occurrences are gone"
    )

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Compare the shares of all items."""
        del alignment
        if reason := _lacks_items(original, published):
            return None, {"reason": reason}
        after = supports_after(original, published)
        new = published.occurrences - int(after.sum())
        if new:
            return None, {"reason": f"{new:,} occurrences in the release are of items that the original does not hold"}
        held = after > 0
        value = _divergence(after[held] / published.occurrences, original.supports[held] / original.occurrences)
        return value, {"items-gone": int(np.count_nonzero((original.supports > 0) & ~held))}


class SymmetricKl(Metric):
    """How far the shares of the items, before and after, lie from their mean (Jensen-Shannon; jia2014, section 4)."""

    name = "symmetric-kl"
    title = "Symmetric Kullback-Leibler divergence"
    unit = "nats"
    better = "lower"
    about = "utility"
    formula = (
        "½ KL(P‖M) + ½ KL(P~‖M), M = (P + P~) / 2, P(i) = f(i) / Σ f, P~(i) = f~(i) / Σ f~; at most ln 2 = 0.693,"
        " where no item is in both"
    )
    blind_to = (
        "how much is gone: leaving out the same share of every item leaves it 0; which record an item is in; and rare"
        " items weigh little"
    )

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Compare the shares of all items with their mean."""
        del alignment
        if reason := _lacks_items(original, published):
            return None, {"reason": reason}
        is_new = np.array([label not in original.code_of for label in published.vocabulary], dtype=bool)
        new = published.supports[is_new]
        before = np.concatenate((original.supports, np.zeros_like(new))) / original.occurrences
        after = np.concatenate((supports_after(original, published), new)) / published.occurrences
        mean = (before + after) / 2
        parts = [_divergence(one[one > 0], mean[one > 0]) for one in (before, after)]
        gone = int(np.count_nonzero((before > 0) & (after == 0)))
        return sum(parts) / 2, {"items-gone": gone, "items-new": int(np.count_nonzero(new))}


def _lacks_items(original: Transactions, published: Transactions) -> str:
    """Say which of both holds no item and so has no shares."""
    return NO_ITEM if not original.occurrences else "" if published.occurrences else NO_ITEM_RELEASED


def _divergence(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return Σ one ln(one / other), which is never below 0 but by rounding."""
    return max(0.0, math.fsum((one * np.log(one / other)).tolist()))
