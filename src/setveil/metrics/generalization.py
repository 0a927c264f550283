"""What became of each occurrence: kept, shown as a node that stands above it, or gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.forms.generalized import Generalized, lowest_shown
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric

if TYPE_CHECKING:
    from setveil.data.forms.plain import RowsOfRecords
    from setveil.data.records.alignment import Alignment


class LossSplit(Metric):
    """Which share of the original's occurrences is gone, and how much of the rest is lost by being shown as a node above it."""

    name = "loss-split"
    title = "Loss by suppression and generalization"
    unit = "share of occurrences"
    better = "lower"
    about = "utility"
    formula = (
        "(s + Σ (|leaves(v)| − 1) / (|I| − 1)) / Σ |t|: s occurrences whose record holds neither the item nor a node above it, the sum over"
        " the others, v the lowest such node or the item itself, I the leaves of the published hierarchy; without one the sum is 0"
    )
    blind_to = "items that came in, and that several items of a record under one node are shown as a single one"
    needs = ("alignment",)
    takes = (Transactions, Generalized)

    def measure(
        self, original: Transactions, published: RowsOfRecords, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Look up each occurrence in the rows of its record, then the nodes above it, one after the other."""
        assert alignment is not None
        if not original.occurrences:
            return None, {"reason": "the original holds no item"}
        tree = published.tree
        _own, lowest = lowest_shown(original, published, alignment)
        gone = int(np.count_nonzero(lowest < 0))
        generalized, most = 0, 0
        if tree is not None:
            inside = lowest[(lowest >= 0) & (lowest < len(tree.nodes))]
            generalized = int((tree.leaf_ends[inside] - tree.leaf_starts[inside] - 1).sum())
            most = len(tree.leaves) - 1
        parts = gone / original.occurrences, generalized / most / original.occurrences if most else 0.0
        details = {"suppression": parts[0], "generalization": parts[1], "occurrences-suppressed": gone}
        return sum(parts), details
