"""What became of single records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.forms.comparing import shared_items
from setveil.metrics.base import Metric

if TYPE_CHECKING:
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions


class RecordLoss(Metric):
    """How much of a record is not in its released row and the other way round, on average."""

    name = "record-loss"
    title = "Record loss"
    unit = "mean Jaccard distance"
    better = "lower"
    about = "utility"
    formula = (
        "mean over records of 1 − |t ∩ t~| / |t ∪ t~|; 0 for an empty record that stayed empty; the mean over its rows for a record that"
        " was split"
    )
    blind_to = "whether the items that came in are plausible beside the others"
    needs = ("alignment",)

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Compare every row with its record."""
        assert alignment is not None
        if not published.records:
            return None, {"reason": "the release holds no record"}
        shared = shared_items(original, published, alignment.rows)
        union = published.lengths + original.lengths[alignment.rows] - shared
        by_row = np.where(union > 0, 1 - shared / np.maximum(union, 1), 0.0)
        # A record counts once, however many rows it became: else those that were split most would count most.
        rows = np.bincount(alignment.rows, minlength=original.records)
        loss = np.bincount(alignment.rows, by_row, original.records)[rows > 0] / rows[rows > 0]
        return float(loss.mean()), {"records-changed": int(np.count_nonzero(loss))}


class FalseContent(Metric):
    """Which share of the released occurrences is untrue: the item was not in that record."""

    name = "false-content"
    title = "False content"
    unit = "share of released occurrences"
    better = "lower"
    about = "utility"
    formula = "Σ |t~ \\ t| / Σ |t~|"
    blind_to = "items that are missing"
    needs = ("alignment",)

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Count released items that their record did not hold."""
        assert alignment is not None
        if not published.occurrences:
            return None, {"reason": "the release holds no item"}
        untrue = published.occurrences - int(shared_items(original, published, alignment.rows).sum())
        return untrue / published.occurrences, {"untrue-occurrences": untrue}
