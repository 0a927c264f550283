"""Loss of occurrences: suppressed, or generalized to a node above the item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.forms.generalized import Generalized, lowest_shown
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric

if TYPE_CHECKING:
    from setveil.metrics.pair import Pair


class LossSplit(Metric):
    """Share of the original's occurrences lost by suppression, plus the loss of the others by generalization."""

    name = "loss-split"
    title = "Loss by suppression and generalization"
    unit = "share of occurrences"
    better = "lower"
    about = "utility"
    formula = (
        "(s + Σ (|leaves(v)| − 1) / (|I| − 1)) / Σ |t|: s is the number of occurrences whose row holds neither the item nor a node above"
        " it; the sum is over the other occurrences, v the lowest such node or the item itself, I the leaves of the published hierarchy;"
        " without a hierarchy the sum is 0"
    )
    blind_to = "added items, and that several items of a record below one node appear as one"
    needs = ("alignment",)
    takes = (Transactions, Generalized)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Look up each occurrence in the rows of its record, then each node above it in turn."""
        original, published = pair.original, pair.published
        if not original.occurrences:
            return None, {"reason": "the original holds no item"}
        tree = published.tree
        generalized, most = 0, 0
        if tree is None and not pair.has_split_records:
            gone = original.occurrences - int(pair.shared_items.sum())
        else:
            assert pair.alignment is not None
            _own, lowest = lowest_shown(original, published, pair.alignment)
            gone = int(np.count_nonzero(lowest < 0))
        if tree is not None:
            inside = lowest[(lowest >= 0) & (lowest < len(tree.nodes))]
            generalized = int((tree.leaf_ends[inside] - tree.leaf_starts[inside] - 1).sum())
            most = len(tree.leaves) - 1
        parts = gone / original.occurrences, generalized / most / original.occurrences if most else 0.0
        details = {"suppression": parts[0], "generalization": parts[1], "occurrences-suppressed": gone}
        return sum(parts), details
