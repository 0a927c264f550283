"""How far a release is from its original as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric
from setveil.mining.tree_distance import TreeDistance, bounded_tree_distance

if TYPE_CHECKING:
    from setveil.data.records.alignment import Alignment

SEED = 2020
"""The first of the two numbers that an order of items is drawn with; the second is the number of the order, from 0 on."""


class TreeEditDistance(Metric):
    """How many items must be inserted, deleted or replaced to turn the original into the release, both as trees of sorted records."""

    name = "tree-edit-distance"
    title = "Tree edit distance"
    unit = "items"
    better = "lower"
    about = "utility"
    formula = (
        "min over matchings of records that do not cross of Σ Lev(t, t~) over matched pairs + Σ |t| over all others; items in label order,"
        " records sorted by content. relative: by the items of both"
    )
    blind_to = (
        "who holds what: exchanging whole records leaves it 0. It depends on the order of items, which means nothing: an early item that is"
        " gone moves its record to another place, a late one does not. Whether what analysts look for is still there"
    )
    only_if_named = (Transactions,)

    orders: int = parameter(
        5,
        public=True,
        ge=0,
        le=1000,
        description="In how many random orders of the items it is measured beside label order.",
    )
    budget: int = parameter(
        400_000_000,
        public=True,
        ge=0,
        description="How many steps an order may take: pairs of contents that meet at an item, and 128 cells each of the table.",
    )

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Measure in label order, and in some others."""
        del alignment
        found = bounded_tree_distance(original, published, budget=self.budget)
        details: dict[str, Any] = {"nodes": found.nodes[0], "nodes-after": found.nodes[1]}
        if found.value is None:
            return None, {**details, **self._bounds(found)}
        if total := sum(found.nodes):
            details["relative"] = found.value / total
        return float(found.value), {**details, **self._other_orders(original, published)}

    def _bounds(self, found: TreeDistance) -> dict[str, Any]:
        reason = (
            f"it would take about {found.steps:,} steps, and {self.budget:,} are allowed; raise budget. The distance is from"
            f" {found.least:,} to {found.most:,}"
        )
        return {"at-least": found.least, "at-most": found.most, "steps": found.steps, "reason": reason}

    def _other_orders(self, original: Transactions, published: Transactions) -> dict[str, Any]:
        """Return the least, mean and largest distance over orders that are drawn; such as take too long are left out and counted."""
        distances = []
        for number in range(self.orders):
            order = np.random.default_rng([SEED, number])
            found = bounded_tree_distance(original, published, budget=self.budget, order=order)
            if found.value is not None:
                distances.append(found.value)
        details: dict[str, Any] = (
            {"orders-left-out": self.orders - len(distances)} if len(distances) < self.orders else {}
        )
        if distances:
            spread = {"least": min(distances), "mean": sum(distances) / len(distances), "largest": max(distances)}
            details["other-orders"] = {**spread, "orders": len(distances)}
        return details
