"""How much single records changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import BLOCK
from setveil.metrics.base import Metric

if TYPE_CHECKING:
    from setveil.metrics.pair import Pair


class RecordLoss(Metric):
    """Mean difference between a record and its released row."""

    name = "record-loss"
    title = "Record loss"
    unit = "mean Jaccard distance"
    better = "lower"
    about = "utility"
    quick = True
    formula = (
        "mean over records of 1 − |t ∩ t~| / |t ∪ t~|; 0 for an empty record that remains empty; for a split record the mean over its"
        " rows"
    )
    blind_to = "whether added items are plausible beside the others"
    needs = ("alignment",)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare every row with its record."""
        original, published = pair.original, pair.published
        if not published.records:
            return None, {"reason": "the release holds no record"}
        # A record counts once, even if it became several rows; otherwise the records split most would count most.
        rows = pair.rows_per_record
        loss = np.zeros(original.records)
        for first, piece in published.pieces(BLOCK):
            part = slice(first, first + piece.records)
            shared, record = pair.shared_items[part], pair.rows[part]
            union = piece.lengths + original.offsets[record + 1] - original.offsets[record] - shared
            np.add.at(loss, record, np.where(union > 0, 1 - shared / np.maximum(union, 1), 0.0))
        released = rows > 0
        np.divide(loss, rows, out=loss, where=released)
        if not released.all():
            loss = loss[released]
        return float(loss.mean()), {"records-changed": int(np.count_nonzero(loss))}


class FalseContent(Metric):
    """Share of the released occurrences that are false: the record did not hold the item."""

    name = "false-content"
    title = "False content"
    unit = "share of released occurrences"
    better = "lower"
    about = "utility"
    quick = True
    formula = "Σ |t~ \\ t| / Σ |t~|"
    blind_to = "missing items"
    needs = ("alignment",)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Count the released items that their record did not hold."""
        published = pair.published
        if not published.occurrences:
            return None, {"reason": "the release holds no item"}
        untrue = published.occurrences - int(pair.shared_items.sum())
        return untrue / published.occurrences, {"untrue-occurrences": untrue}
