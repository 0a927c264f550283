"""How many records a few known items single out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.declaration import parameter
from setveil.metrics.base import Metric
from setveil.mining.uniqueness import unique_records

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions
    from setveil.metrics.pair import Pair


class SingledOut(Metric):
    """Share of the released records that a few known items single out."""

    name = "singled-out"
    title = "Singled out"
    unit = "share of records"
    better = "lower"
    about = "privacy"
    formula = (
        "|{t~ : no other released record holds all items of some set of at most `known` items of t~}| / |D~|. Details: their number, and"
        " before, the same share of the original"
    )
    blind_to = (
        "whether the row is the right person's: in data with false items it can belong to another person, see the attack find-record; and"
        " attackers who know more items"
    )

    known: int = parameter(2, public=True, ge=1, le=3, description="Number of items that an attacker knows.")

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Search both for records that no other record resembles."""
        if not pair.published.records:
            return None, {"reason": "the release holds no record"}
        count, before = (self._count(data) for data in (pair.published, pair.original))
        return count / pair.published.records, {"records": count, "before": before / pair.original.records}

    def _count(self, data: Transactions) -> int:
        return unique_records(data, self.known)[-1] if data.records else 0
