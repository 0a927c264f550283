"""The charts of the disassociation paper run again: what it prints and what we measured, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.report.charts import Axis, Chart, grouped_bars
from setveil.report.reproduction_charts import Panels
from setveil.report.theme import AFTER, BEFORE, COUNT, INK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLOURS = {
    "printed-original": "#C3CAD3",
    "original": INK,
    "printed-wheel": "#8A94A3",
    "wheel": BEFORE,
    "wheel-safe": AFTER,
    "printed-hp": "#A9A9A9",
    "hp": "#56B4E9",
    "hp-safe": "#005580",
    "printed-ugac": "#6B6B6B",
    "ugac": "#F2A56B",
    "ugac-fighting": "#E69F00",
    "ugac-safe": "#B58900",
    "kmeans": "#CC79A7",
    "kmeans-safe": "#8B1A5A",
}
"""A colour a line, and its place in every chart; what the paper prints is grey."""
SEEDS = "the seeds"
SETTING = "k, m and δ"
NODES = Axis("value", "edits", COUNT)


def disassociation_charts(found: Mapping[str, Any], datasets: Sequence[str], *, prefix: str) -> dict[str, list[Chart]]:
    """Return the charts of Tables 3 to 6, of Figures 5 and 6 and of our figures; those without figures are left out."""
    panels = Panels(found["summary"], found["methods"], prefix, colours=COLOURS, drawn=SEEDS)
    sets = {name: " ".join(labels) for name, labels in found["sets"].items()}
    errors = Axis("value", "sum of relative errors", ",.3~r")
    return {
        "associations": [
            chart
            for name in datasets
            for whose, said in (("ur", "utility rules (UR)"), ("ga", "all couples (GA)"))
            for reading in ("inside", "expected")
            for chart in _bars(panels, name, f"rae-{whose}-{reading}", f"Error of {said}, supports read {reading}", errors)
        ],
        "ted": [
            *_lines(panels, datasets, "ted", "tree edit distance to the original", NODES, ",.0f"),
            *_lines(panels, datasets, "ted-deviation", "standard deviation of the distance", NODES, ",.0f"),
        ],
        "pairs": _sets(panels, datasets, "pair", sets),
        "triples": _sets(panels, datasets, "triple", sets),
        "rules": _rules(panels, datasets, found["rules"]),
        "beside": [
            *_lines(panels, datasets, "violations", "what breaks k^m-anonymity", Axis("value", "clusters and sets", COUNT), ",.0f"),
            *_lines(panels, datasets, "rare-pairs", "pairs of items in fewer than k records", Axis("value", "pairs", COUNT), ",.0f"),
            *_lines(panels, datasets, "records-with-rare-itemsets", "records that hold a set of at most m items that is in fewer than k",
                    Axis("value", "records", COUNT), ",.0f"),
            *_lines(panels, datasets, "items-left-out", "items that re-association leaves out", Axis("value", "items", COUNT), ",.0f"),
            *_lines(panels, datasets, "records", "records after re-association", Axis("value", "records", COUNT), ",.0f"),
        ],
    }  # fmt: skip


def _lines(panels: Panels, datasets: Sequence[str], metric: str, what: str, up: Axis, form: str) -> list[Chart]:
    """Draw a figure at each setting."""
    charts = []
    for name in datasets:
        rows = [row for row in panels.rows(metric, [name]) if row["support"]]
        if rows:
            said = what[0].upper() + what[1:]
            charts.append(panels.lines(metric, name, rows, rows, up, what, form, title=said, across=SETTING))
    return charts


def _bars(panels: Panels, dataset: str, metric: str, title: str, up: Axis) -> list[Chart]:
    """Draw bars for each rule set, a bar a way of clustering."""
    rows = panels.rows(metric, [dataset])
    if not rows:
        return []
    text = f"{title}, for each set of rules."
    spec = grouped_bars(rows, across=Axis("support", "which rules", ""), up=up, series=panels.series(rows), text=text)
    columns, table = panels.by_setting(rows, ".1f" if metric.startswith("rae-ur") else ",.0f")
    return [Chart(panels.prefix + metric, title, text, spec, columns, table)]


def _sets(panels: Panels, datasets: Sequence[str], what: str, sets: Mapping[str, str]) -> list[Chart]:
    """Draw counts and ranks of the most frequent sets, in the order of the original."""
    charts = []
    for name in datasets:
        for metric, side in (("count", "records"), ("rank", "rank")):
            rows = [
                {**row, "support": row["support"].removeprefix(f"{what} ")}
                for row in panels.rows(metric, [name])
                if row["support"].startswith(f"{what} ")
            ]
            if not rows:
                continue
            said = f"{metric} of each of the most frequent {what}s of the original"
            title, across = said[0].upper() + said[1:], f"{what}, by its rank in the original"
            up = Axis("value", side, COUNT if metric == "count" else ",.0~f")
            drawn = panels.lines(f"{metric}-of-{what}s", name, rows, rows, up, said, ",.0f", title=title, across=across)
            items = "; ".join(f"{key.removeprefix(what).strip()}: {of}" for key, of in sets.items() if what in key)
            charts.append(_noted(drawn, f"Their items: {items}."))
    return charts


def _rules(panels: Panels, datasets: Sequence[str], rules: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """Draw the support of each rule of Figure 6 before and after."""
    charts = []
    for name in datasets:
        rows = [{**row, "support": row["support"].removeprefix("rule ")} for row in panels.rows("support", [name])]
        if rows:
            said = "support of each rule, 0 where it is below 0.1 %"
            up = Axis("value", "share of the records", ".2~%")
            across = "rule, by its support in the original"
            title = "Support of the most frequent rules"
            drawn = panels.lines("support", name, rows, rows, up, said, ".3%", title=title, across=across)
            told = "; ".join(f"{n}: {' '.join(rule['left'])} → {rule['right']}" for n, rule in enumerate(rules, 1))
            charts.append(_noted(drawn, f"The rules: {told}."))
    return charts


def _noted(chart: Chart, note: str) -> Chart:
    return Chart(chart.key, chart.title, chart.text, chart.spec, chart.columns, chart.rows, note)
