"""The distance between a release and its original as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric
from setveil.mining.tree_distance import bounded_tree_distance

if TYPE_CHECKING:
    from setveil.metrics.pair import Pair

SEED = 2020
"""The first of the two seeds of an order of items; the second is the number of the order, starting with 0."""


class TreeEditDistance(Metric):
    """Number of items to insert, delete or replace to turn the original into the release, both as trees of sorted records."""

    name = "tree-edit-distance"
    title = "Tree edit distance"
    unit = "items"
    better = "lower"
    about = "utility"
    formula = (
        "minimum over non-crossing matchings of records of Σ Lev(t, t~) over matched pairs + Σ |t| over all others; items in label order,"
        " records sorted by content. relative: divided by the number of items of both. Beyond the budget: the cost of the best matching"
        " found, an upper bound"
    )
    blind_to = (
        "which person has which record: swapping whole records leaves it 0; and whether analysts still find the same. It depends on the"
        " order of items, which has no meaning: a lost early item moves its record to another place, a lost late item does not"
    )
    only_if_named = (Transactions,)

    orders: int = parameter(
        5,
        public=True,
        ge=0,
        le=1000,
        description="Number of random orders of the items that are measured in addition to label order.",
    )
    budget: int = parameter(
        400_000_000,
        public=True,
        ge=0,
        description="Maximum number of steps per order: an item that two compared records share, or 128 cells of the table. Beyond it, the "
        "figure is an upper bound.",
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Measure in label order and, if the budget is sufficient, in some random orders."""
        original, published = pair.original, pair.published
        budget = None if pair.exact else self.budget
        found = bounded_tree_distance(original, published, budget=budget)
        details: dict[str, Any] = {"nodes": found.nodes[0], "nodes-after": found.nodes[1]}
        if total := sum(found.nodes):
            details["relative"] = found.most / total
        if found.value is None:
            return float(found.most), {**details, "steps-needed": found.steps, "status": "upper bound"}
        return float(found.value), {**details, **self._other_orders(original, published, budget)}

    def _other_orders(self, original: Transactions, published: Transactions, budget: int | None) -> dict[str, Any]:
        """Return the smallest, mean and largest distance over random orders; orders that take too long are skipped and counted."""
        distances = []
        for number in range(self.orders):
            order = np.random.default_rng([SEED, number])
            found = bounded_tree_distance(original, published, budget=budget, order=order)
            if found.value is not None:
                distances.append(found.value)
        details: dict[str, Any] = (
            {"orders-left-out": self.orders - len(distances)} if len(distances) < self.orders else {}
        )
        if distances:
            spread = {"least": min(distances), "mean": sum(distances) / len(distances), "largest": max(distances)}
            details["other-orders"] = {**spread, "orders": len(distances)}
        return details
