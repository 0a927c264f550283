"""How often single items occur, before and after.

Paper    gunawan2019, equation 3; jia2014, equation 3 and the symmetric form of section 4 (references.bib).
Departs  jia2014 defines neither the probability of an item nor the union of two distributions. Here the probability is the item's share of
         all occurrences, and the union is the mean of both. See docs/metrics.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.base.display import quantity
from setveil.data.forms.grouped import Grouped
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.metrics.pair import Pair


NO_ITEM = "the original holds no item"
NO_ITEM_RELEASED = "the release holds no item"


def supports_after(original: Transactions, published: Transactions) -> NDArray[np.int64]:
    """Return the support in the release of each item of the original."""
    after = np.zeros(len(original.vocabulary), dtype=np.int64)
    for label, held in zip(published.vocabulary, published.supports.tolist(), strict=True):
        if label in original.code_of:
            after[original.code_of[label]] = held
    return after


class Dissimilarity(Metric):
    """How far item counts differ from those of the original (Diss of gunawan2019, equation 3)."""

    name = "dissimilarity"
    title = "Dissimilarity"
    unit = "share of occurrences"
    better = "lower"
    about = "utility"
    quick = True
    formula = "per-item: Σ|f(i) − f~(i)| / Σ f(i); printed: |Σ f(i) − Σ f~(i)| / Σ f(i)"
    blind_to = "which record holds an item: shuffling whole records leaves it 0. In the printed form gains and losses also cancel"
    variants = ({"form": "per-item"}, {"form": "printed"})
    takes = (Transactions, Grouped)

    form: Literal["per-item", "printed"] = parameter(
        "per-item",
        public=True,
        description="Differences item by item (per-item), or of the totals, as in the paper (printed).",
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare the supports of all items."""
        original, published = pair.original, pair.published
        if not original.occurrences:
            return None, {"reason": NO_ITEM}
        if self.form == "printed":
            return abs(original.occurrences - published.occurrences) / original.occurrences, {}
        before = dict(zip(original.vocabulary, original.supports.tolist(), strict=True))
        after = dict(zip(published.vocabulary, published.supports.tolist(), strict=True))
        changed = sum(abs(before.get(label, 0) - after.get(label, 0)) for label in before.keys() | after.keys())
        return changed / original.occurrences, {}


class KullbackLeibler(Metric):
    """How far the item shares of the release diverge from those of the original (KL of jia2014, equation 3)."""

    name = "kl"
    title = "Kullback-Leibler divergence"
    unit = "nats"
    better = "lower"
    about = "utility"
    quick = True
    formula = "KL(P~‖P) = Σ P~(i) ln(P~(i) / P(i)), P(i) = f(i) / Σ f, P~(i) = f~(i) / Σ f~"
    blind_to = (
        "how much is gone: suppressing the same share of every item leaves it 0; which record holds an item; and rare items, which weigh"
        " little even if all their occurrences are gone"
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare the shares of all items."""
        original, published = pair.original, pair.published
        if reason := _lacks_items(original, published):
            return None, {"reason": reason}
        after = supports_after(original, published)
        new = published.occurrences - int(after.sum())
        if new:
            return None, {
                "reason": f"the release has {quantity(new, 'occurrence')} of items that the original does not hold"
            }
        held = after > 0
        value = _divergence(after[held] / published.occurrences, original.supports[held] / original.occurrences)
        return value, {"items-gone": int(np.count_nonzero((original.supports > 0) & ~held))}


class SymmetricKl(Metric):
    """How far the item shares before and after are from their mean: the Jensen-Shannon divergence (jia2014, section 4)."""

    name = "symmetric-kl"
    title = "Symmetric Kullback-Leibler divergence"
    unit = "nats"
    better = "lower"
    about = "utility"
    quick = True
    formula = (
        "½ KL(P‖M) + ½ KL(P~‖M), M = (P + P~) / 2, P(i) = f(i) / Σ f, P~(i) = f~(i) / Σ f~; at most ln 2 = 0.693,"
        " if no item is in both"
    )
    blind_to = (
        "how much is gone: suppressing the same share of every item leaves it 0; which record holds an item; and rare items, which weigh"
        " little"
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare the shares of all items with their mean."""
        original, published = pair.original, pair.published
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
    """Return the reason if one of both holds no item and so has no shares."""
    return NO_ITEM if not original.occurrences else "" if published.occurrences else NO_ITEM_RELEASED


def _divergence(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return Σ one ln(one / other), which is below 0 only by rounding."""
    return max(0.0, math.fsum((one * np.log(one / other)).tolist()))
