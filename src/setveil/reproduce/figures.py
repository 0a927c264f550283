"""What was measured: one long table, asked for means, spreads and single values."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, dataclass, fields
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

ORIGINAL = "original"
"""Stands where a method would, for the data before anything was done."""


@dataclass(frozen=True)
class Figure:
    """One measured value; None with a note where there is none."""

    dataset: str
    method: str
    seed: int | None
    support: str
    metric: str
    value: float | None
    note: str = ""


@dataclass(frozen=True)
class Spread:
    """The mean over the seeds, the least and the largest value; all None where one of them is missing."""

    mean: float | None
    low: float | None
    high: float | None
    note: str = ""


class Figures:
    """All figures of a run, in the order they were measured.

    In the long table `seed_column` says what the seeds draw, and `setting_column` what else than a support tells figures apart.
    """

    def __init__(
        self, rows: Iterable[Figure] = (), *, seed_column: str = "seed", setting_column: str = "support"
    ) -> None:
        self.rows: list[Figure] = []
        self._headings = {"seed": seed_column, "support": setting_column}
        self._by_seed: dict[tuple[str, str, str, str], dict[int | None, Figure]] = {}
        for row in rows:
            self.add(row)

    def add(self, row: Figure) -> None:
        """Take another figure."""
        self.rows.append(row)
        self._by_seed.setdefault((row.dataset, row.method, row.metric, row.support), {})[row.seed] = row

    def seeds(self) -> list[int]:
        """Return the seeds, in rising order."""
        return sorted({row.seed for row in self.rows if row.seed is not None})

    def supports(self, dataset: str) -> list[str]:
        """Return the supports at which a data set was mined, in the order they were measured."""
        return list(dict.fromkeys(row.support for row in self.rows if row.dataset == dataset and row.support))

    def value(self, dataset: str, method: str, metric: str, seed: int, support: str = "") -> float | None:
        """Return one value; the original's and those that a paper prints do not depend on the seed."""
        found = self._by_seed.get((dataset, method, metric, support), {})
        row = found.get(seed) or found.get(None)
        return row.value if row else None

    def spread(self, dataset: str, method: str, metric: str, support: str = "") -> Spread:
        """Return mean and range over the seeds."""
        found = self._by_seed.get((dataset, method, metric, support), {}).values()
        values = [row.value for row in found if row.value is not None]
        note = next((row.note for row in found if row.note), "")
        if not values or len(values) < len(found):
            return Spread(None, None, None, note)
        return Spread(fmean(values), min(values), max(values), note)

    def to_csv(self) -> str:
        """Return the table as CSV with a header."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([self._headings.get(field.name, field.name) for field in fields(Figure)])
        writer.writerows(["" if cell is None else cell for cell in astuple(row)] for row in self.rows)
        return text.getvalue()

    def summary(self) -> list[dict[str, Any]]:
        """Return mean and range of every cell as plain values, for a page."""
        cells = dict.fromkeys((row.dataset, row.method, row.metric, row.support) for row in self.rows)
        plain = []
        for dataset, method, metric, support in cells:
            found = self.spread(dataset, method, metric, support)
            plain.append({
                "dataset": dataset,
                "method": method,
                "metric": metric,
                "support": support,
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
                "note": found.note,
            })  # fmt: skip
        return plain
