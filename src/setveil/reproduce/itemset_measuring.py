"""What is measured of a release that hides named itemsets: the figures of gunawan2021, and those that it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.metrics.border import BorderExposure
from setveil.metrics.distribution import Dissimilarity
from setveil.metrics.hiding import ArtificialItemsets, HidingFailure, MissesCost, RecordsTouched, ResidualItemsets
from setveil.metrics.records import FalseContent
from setveil.mining.frequent import mine
from setveil.reproduce.figures import ORIGINAL, Figure
from setveil.reproduce.paper import shortest_run

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions
    from setveil.methods.base import Method, Outcome
    from setveil.metrics.base import Measurement
    from setveil.parameters.named_itemsets import NamedItemsets
    from setveil.reproduce.figures import Figures
    from setveil.reproduce.paper import Dataset

TIMED_SECONDS = 0.05
"""A method is run again within this time, and the shortest run counts: whatever else a machine does only adds to it."""
MOST_TIMED = 5


class Experiment:
    """One data set: what the original is, and then one release after the other."""

    def __init__(self, dataset: Dataset, figures: Figures) -> None:
        self.dataset, self.data, self.figures = dataset, dataset.data, figures

    def measure_original(self) -> None:
        """Count what the data set holds, and what is frequent in it."""
        data = self.data
        counts = {"records": data.records, "items": data.occurrences, "distinct-items": len(data.vocabulary)}
        for metric, count in counts.items():
            self._add(ORIGINAL, None, metric, float(count))
        self._add(ORIGINAL, None, "mean-length", data.occurrences / max(data.records, 1))
        for support in self.dataset.supports:
            found = float(len(mine(data, support)))
            self._add(ORIGINAL, None, "frequent-itemsets", found, support=support)

    def measure(self, name: str, method: Method, named: NamedItemsets, seed: int) -> dict[str, int]:
        """Make a release and measure it; return by how many records each item is in more, or in fewer."""
        # Targets are drawn from a stream of their own, as they are when a person publishes.
        bound = method.bind(self.data, linked=False, rng=np.random.default_rng([seed, 1]))
        made, seconds = shortest_run(
            lambda rng: bound.apply(self.data, rng=rng),
            seed,
            within=TIMED_SECONDS,
            most=MOST_TIMED,
        )
        self._add(name, seed, "seconds", seconds)
        self._add_plan(name, made.account, seed)
        for support in self.dataset.supports:
            self._measure_at(support, name, made, named, seed)
        self._measure_once(name, made, named, seed)
        return self._measure_frequencies(name, made.rows, seed)

    def _add_plan(self, name: str, account: dict[str, Any], seed: int) -> None:
        """Add how many itemsets that could have stayed a plan loses, and whether no plan loses fewer; the method alone knows."""
        plan = account.get("plan")
        if plan is not None:
            whole = not plan["parts-without-a-plan"]
            note = "" if whole else "no plan was found for a part of the job"
            self._add(name, seed, "plan-lost", float(plan["loses"]) if whole else None, note=note)
            self._add(name, seed, "plan-proven", float(plan["proven"]))
        elif "lost-that-could-have-been-kept" in account:
            self._add(name, seed, "plan-lost", float(account["lost-that-could-have-been-kept"]))

    def _measure_at(self, support: str, name: str, made: Outcome, named: NamedItemsets, seed: int) -> None:
        """Measure what an analyst finds who mines the release at a threshold."""
        settings = {"itemsets": named, "min_support": support}
        for metric, measured in {
            "misses-cost": MissesCost(**settings, which="all"),
            "avoidable-misses-cost": MissesCost(**settings, which="avoidable"),
            "artificial-itemsets": ArtificialItemsets(**settings),
        }.items():
            found = measured(self.data, made.rows, made.alignment)
            self._add(name, seed, metric, found.value, support=support, note=found.reason)
            more = {"lost": "lost", "unavoidable": "unavoidable"} if metric == "misses-cost" else {}
            self._add_details(name, seed, found, more, support=support)

    def _measure_once(self, name: str, made: Outcome, named: NamedItemsets, seed: int) -> None:
        """Measure what belongs to the release as a whole, at the threshold at which it hides."""
        settings = {"itemsets": named, "min_support": self.dataset.supports[0]}
        for metric, measured in {
            "hiding-failure": HidingFailure(**settings),
            "residual": ResidualItemsets(**settings),
            "border-exposure": BorderExposure(**settings),
            "dissimilarity": Dissimilarity(form="per-item"),
            "dissimilarity-printed": Dissimilarity(form="printed"),
            "records-touched": RecordsTouched(),
            "false-content": FalseContent(),
        }.items():
            found = measured(self.data, made.rows, made.alignment)
            self._add(name, seed, metric, found.value, note=found.reason)
            more = {
                "base-rate": "border-base-rate",
                "times-base-rate": "border-times-base-rate",
                "recall": "border-recall",
            }
            self._add_details(name, seed, found, more if metric == "border-exposure" else {"records": "number-touched"})

    def _measure_frequencies(self, name: str, published: Transactions, seed: int) -> dict[str, int]:
        before = dict(zip(self.data.vocabulary, self.data.supports.tolist(), strict=True))
        after = dict(zip(published.vocabulary, published.supports.tolist(), strict=True))
        changes = {label: after.get(label, 0) - support for label, support in before.items()}
        changed = sum(change != 0 for change in changes.values())
        self._add(name, seed, "items-changed", changed / max(len(changes), 1))
        return changes

    def _add_details(
        self, name: str, seed: int, found: Measurement, more: dict[str, str], *, support: str = ""
    ) -> None:
        """Add what a metric tells beside its value, under the names on the right."""
        for detail, metric in more.items():
            if detail in found.details:
                self._add(name, seed, metric, float(found.details[detail]), support=support)

    def _add(
        self, method: str, seed: int | None, metric: str, value: float | None, *, support: str = "", note: str = ""
    ) -> None:
        self.figures.add(Figure(self.dataset.name, method, seed, support, metric, value, note))
