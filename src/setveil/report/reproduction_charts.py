"""The charts of a paper run again: methods side by side, from a plain summary of means and ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.report.charts import Axis, Chart, Series, decades, grouped_bars, lines_with_spread
from setveil.report.theme import AFTER, BEFORE, INK, NEUTRAL, SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Summary = Sequence[Mapping[str, Any]]

ORIGINAL, WHOLE_RECORDS = "original", "whole-records"
COLOURS = {
    "part-swap-paper": BEFORE,
    "part-swap": "#56B4E9",
    "rand-swap": AFTER,
    "rand-swap-matched": "#B58900",
    "part-supp": "#009E73",
    "split-person": "#CC79A7",
    ORIGINAL: INK,
    WHOLE_RECORDS: NEUTRAL,
}
"""A colour a method, and an order that gives each the same shape in all charts: the last two are never in one chart."""
NOTES = 4
"""Cells without a figure that are told of below a chart."""
FEW_SECONDS = ",.2~r"
DEALT_OUT = "the ways to deal out categories"


def reproduction_charts(
    summary: Summary, methods: Mapping[str, str], datasets: Sequence[str], *, prefix: str
) -> dict[str, list[Chart]]:
    """Return the charts of Figures 3 to 6 and of our two figures, of some data sets."""
    panels = Panels(summary, methods, prefix, colours=COLOURS, drawn=DEALT_OUT)
    return {
        "itemsets": [panels.itemsets(name) for name in datasets],
        "similarity": [panels.similarity(name) for name in datasets],
        "dissimilarity": [panels.dissimilarity(datasets)],
        "seconds": [panels.seconds(datasets)],
        "beside": [
            panels.shares(
                datasets,
                "still-on-top",
                "Records with a tendency that still have it on top",
                "share of the records with a tendency",
            ),
            panels.shares(
                datasets, "record-loss", "How much of a record was changed (record loss)", "mean Jaccard distance"
            ),
        ],
    }


class Panels:
    """Draws one summary: each method in its colour, and as a band the range over what the seeds drew."""

    def __init__(
        self, summary: Summary, methods: Mapping[str, str], prefix: str, *, colours: Mapping[str, str], drawn: str
    ) -> None:
        self.summary, self.methods, self.prefix, self.colours, self.drawn = summary, methods, prefix, colours, drawn

    def itemsets(self, dataset: str) -> Chart:
        """Draw the numbers as shares of the original's, which differ by powers of ten between supports; the table has the numbers."""
        rows = self.rows("frequent-itemsets", [dataset])
        whole = {row["support"]: row["value"] for row in rows if row["key"] == ORIGINAL and row["value"]}
        # Permuted whole records have the very itemsets of the original: their line would hide its line.
        drawn = [
            {**row, **{part: row[part] / whole[row["support"]] for part in ("value", "low", "high")}}
            for row in rows
            if row["key"] != WHOLE_RECORDS and row["support"] in whole
        ]
        most = max((row["high"] for row in drawn), default=1)
        up = Axis("value", "frequent itemsets, original = 100%", SHARE, limits=(0, max(1.05, 1.05 * most)))
        said = "number of frequent itemsets at each least support, as a share of the original's"
        return self.lines("frequent-itemsets", dataset, rows, drawn, up, said, ",.0f")

    def similarity(self, dataset: str) -> Chart:
        """Draw how similar the frequent itemsets are to the original's."""
        rows = self.rows("fi-similarity", [dataset])
        up = Axis("value", "similarity U (Jaccard)", ".2f", limits=(0, 1))
        said = "similarity of the frequent itemsets to the original's, at each least support"
        return self.lines("fi-similarity", dataset, rows, rows, up, said, ".2f")

    def lines(
        self,
        metric: str,
        dataset: str,
        rows: list[dict[str, Any]],
        drawn: list[dict[str, Any]],
        up: Axis,
        said: str,
        form: str,
        *,
        title: str = "",
        across: str = "least support",
    ) -> Chart:
        """Draw a figure at each support, or at what `across` says; the table has all rows, those that are not drawn too."""
        text = f"{dataset}: {said}, for each method; the band is the range over {self.drawn}."
        along = Axis("support", across, "")
        series = self.series(drawn)
        spec = lines_with_spread(drawn, across=along, up=up, series=series, spread=("low", "high"), text=text)
        columns, table = self.by_setting(rows, form)
        noted = [row for row in self.summary if (row["metric"], row["dataset"]) == (metric, dataset) and row["note"]]
        said_of = [f"{self.methods[row['method']]}, {row['support']}: {row['note']}" for row in noted]
        more = f" and {len(said_of) - NOTES} more" if len(said_of) > NOTES else ""
        note = "; ".join(said_of[:NOTES]) + more
        return Chart(f"{self.prefix}{metric}-{_word(dataset)}", title or dataset, text, spec, columns, table, note)

    def dissimilarity(self, datasets: Sequence[str]) -> Chart:
        """Draw Diss as printed; the table has it item by item too."""
        drawn = self.rows("dissimilarity-printed", datasets)
        text = "Dissimilarity as the paper prints it, of each method on each data set."
        spec = grouped_bars(
            drawn,
            across=Axis("dataset", "", ""),
            up=Axis("value", "Diss", ".2~%"),
            series=self.series(drawn),
            text=text,
        )
        per_item = {(row["key"], row["dataset"]): row for row in self.rows("dissimilarity-per-item", datasets)}
        columns = ("method", *(f"{name}{how}" for name in datasets for how in (", printed", ", per item")))
        table: list[tuple[Any, ...]] = []
        for method, found in _grouped(drawn):
            cells: list[str] = []
            for name in datasets:
                cells += [_cell(found.get(name), ".2%"), _cell(per_item.get((found["key"], name)), ".2%")]
            table.append((method, *cells))
        return Chart(f"{self.prefix}dissimilarity", "Diss, as the paper prints it", text, spec, columns, table)

    def seconds(self, datasets: Sequence[str]) -> Chart:
        """Draw the time, in powers of ten."""
        rows = [row for row in self.rows("seconds", datasets) if row["value"] > 0 and row["low"] > 0]
        text = "Seconds for making the released data, on a scale in powers of ten."
        ticks = decades(value for row in rows for value in (row["low"], row["high"]))
        up = Axis("value", "seconds", FEW_SECONDS, scale="log", ticks=ticks)
        drawn = [row for row in rows if row["key"] != WHOLE_RECORDS]
        spec = lines_with_spread(
            drawn,
            across=Axis("dataset", "", ""),
            up=up,
            series=self.series(drawn),
            spread=("low", "high"),
            text=text,
        )
        columns, table = self.by_dataset(drawn, datasets, ".2g")
        return Chart(f"{self.prefix}seconds", "Seconds for making the released data", text, spec, columns, table)

    def shares(self, datasets: Sequence[str], metric: str, title: str, side: str) -> Chart:
        """Draw a figure that lies between 0 and 1."""
        up = Axis("value", side, SHARE, limits=(0, 1))
        return self.bars(datasets, metric, title, up, ".1%")

    def bars(
        self, datasets: Sequence[str], metric: str, title: str, up: Axis, form: str, *, times: float = 1, note: str = ""
    ) -> Chart:
        """Draw a figure for each method and data set, in a unit that is so many `times` smaller."""
        drawn = [
            {**row, **{part: times * row[part] for part in ("value", "low", "high")}}
            for row in self.rows(metric, datasets)
        ]
        text = f"{title}, by method and data set."
        across = Axis("dataset", "", "")
        spec = grouped_bars(drawn, across=across, up=up, series=self.series(drawn), text=text)
        columns, table = self.by_dataset(drawn, datasets, form)
        return Chart(self.prefix + metric, title, text, spec, columns, table, note)

    def rows(self, metric: str, datasets: Sequence[str]) -> list[dict[str, Any]]:
        """Return what there is to draw, in the order of the methods and as they were measured."""
        order = [*self.methods]
        found = [
            {
                "key": row["method"],
                "method": self.methods[row["method"]],
                "dataset": row["dataset"],
                "support": row["support"],
                "value": row["mean"],
                "low": row["low"],
                "high": row["high"],
            }
            for row in self.summary
            if row["metric"] == metric and row["dataset"] in datasets and row["mean"] is not None
        ]
        return sorted(found, key=lambda row: order.index(row["key"]))

    def series(self, rows: list[dict[str, Any]]) -> Series:
        """Return the methods that are drawn, each with its own colour."""
        present = {row["key"] for row in rows}
        chosen = [key for key in self.colours if key in present]
        return Series("method", tuple(self.methods[key] for key in chosen), tuple(self.colours[key] for key in chosen))

    def by_setting(self, rows: list[dict[str, Any]], form: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return a table with a row for each method and a column for each support or other setting."""
        supports = [*dict.fromkeys(row["support"] for row in rows)]
        table = [
            (method, *(_cell(found.get(s), form) for s in supports)) for method, found in _grouped(rows, "support")
        ]
        return ("method", *supports), table

    def by_dataset(
        self, rows: list[dict[str, Any]], datasets: Sequence[str], form: str
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return a table with a row for each method and a column for each data set."""
        table = [(method, *(_cell(found.get(name), form) for name in datasets)) for method, found in _grouped(rows)]
        return ("method", *datasets), table


def _grouped(rows: list[dict[str, Any]], by: str = "dataset") -> list[tuple[str, dict[str, Any]]]:
    """Return for each method its rows by data set or support."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        found.setdefault(row["method"], {"key": row["key"]})[row[by]] = row
    return [*found.items()]


def _cell(row: Mapping[str, Any] | None, form: str) -> str:
    """Write a mean, and its range where there is one."""
    if row is None:
        return "–"
    mean, low, high = (_number(row[part], form) for part in ("value", "low", "high"))
    return mean if low == high else f"{mean} ({low}–{high})"


def _number(value: float, form: str) -> str:
    return "0" if value == 0 else format(value, form)


def _word(name: str) -> str:
    return name.lower().replace(" ", "-")
