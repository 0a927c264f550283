"""How often items occur, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.declaration import parameter
from setveil.metrics.base import About, Direction, Metric

if TYPE_CHECKING:
    from setveil.data.alignment import Alignment
    from setveil.data.transactions import Transactions


class Dissimilarity(Metric):
    """How far the occurrences of items differ from the original's (Diss of gunawan2019, equation 3)."""

    name: ClassVar[str] = "dissimilarity"
    title: ClassVar[str] = "Dissimilarity"
    unit: ClassVar[str] = "share of occurrences"
    better: ClassVar[Direction] = "lower"
    about: ClassVar[About] = "utility"
    formula: ClassVar[str] = "per-item: Σ|f(i) − f~(i)| / Σ f(i); printed: |Σ f(i) − Σ f~(i)| / Σ f(i)"
    blind_to: ClassVar[str] = (
        "which record an item is in: shuffling whole records leaves it 0. The printed form also lets gains and losses cancel."
    )
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"form": "per-item"}, {"form": "printed"})

    form: Literal["per-item", "printed"] = parameter(
        "per-item", public=True, description="Differences item by item, or of the totals as the paper prints it."
    )

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Compare the supports of all items."""
        del alignment
        if not original.occurrences:
            return None, {"reason": "the original holds no item"}
        if self.form == "printed":
            return abs(original.occurrences - published.occurrences) / original.occurrences, {}
        before = dict(zip(original.vocabulary, original.supports.tolist(), strict=True))
        after = dict(zip(published.vocabulary, published.supports.tolist(), strict=True))
        changed = sum(abs(before.get(label, 0) - after.get(label, 0)) for label in before.keys() | after.keys())
        return changed / original.occurrences, {}
