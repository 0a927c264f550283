"""The charts of the ρ-uncertainty paper run again: every loss between the trivial one and the estimated bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.report.charts import Axis, Chart
from setveil.report.reproduction_charts import Panels
from setveil.report.theme import AFTER, BEFORE, SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLOURS = {
    "printed-mine": "#4D4D4D",
    "mine": BEFORE,
    "mine-whole": "#56B4E9",
    "printed-dist": "#8A94A3",
    "dist": AFTER,
    "dist-whole": "#F2A56B",
    "printed-global": "#A9A9A9",
    "global": "#CC79A7",
    "global-sensitive": "#8B1A5A",
    "printed-td-control": "#C3CAD3",
    "td-control": "#B58900",
    "permutation": "#5B3A8E",
    "insert": "#009E73",
    "trivial": "#7A5C00",
    "estimated-bound": "#1c2430",
}
"""A colour a line, and its place in every chart; what the paper prints is grey."""
RHOS = ("ρ=0.3", "ρ=0.7")
DRAWS = "the draws of sensitive items"


def uncertainty_charts(found: Mapping[str, Any], datasets: Sequence[str], *, prefix: str) -> dict[str, list[Chart]]:
    """Return the charts of Figures 2 to 9, of Table 3 and of our figures, of some data sets; those without figures are left out."""
    panels = Panels(found["summary"], found["methods"], prefix, colours=COLOURS, drawn=DRAWS)
    loss = Axis("value", "share of occurrences", SHARE)
    similarity = Axis("value", "similarity (Jaccard)", ".2f")
    nats = Axis("value", "nats", ".2~g")
    seconds = Axis("value", "seconds", ".2~g")
    return {
        "rho": [
            *_curves(panels, datasets, "info-loss", "what is lost", "ρ", loss, ".3f", more_than=2),
            *_curves(panels, datasets, "symmetric-kl", "symmetric divergence", "ρ", nats, ".3g", more_than=2),
            *_curves(panels, datasets, "rule-similarity", "similarity of rules", "ρ", similarity, ".3g", more_than=2),
        ],
        "loss": _bars(panels, datasets, "info-loss", "What is lost", loss, ".1%"),
        "divergence": _bars(panels, datasets, "symmetric-kl", "Symmetric divergence of item shares", nats, ".3g"),
        "rules": [
            *_bars(panels, datasets, "cut-rule-similarity", "Similarity of all rules", similarity, ".3f"),
            *_bars(panels, datasets, "cut-non-sensitive-rules", "Similarity of rules without sensitive items", similarity, ".3f"),
        ],
        "table": _seconds(panels, datasets, "table-3-seconds", "", "Seconds, as in Table 3"),
        "scale": _curves(panels, datasets, "scale-seconds", "seconds by the share of the records", "share of the records", seconds, ".2g"),
        "t-max": [
            *_curves(panels, datasets, "t-max-loss", "what is lost by t_max", "t_max", loss, ".4f"),
            *_curves(panels, datasets, "t-max-seconds", "seconds by t_max", "t_max", seconds, ".2g"),
        ],
        "buffer": [],
        "permutation": [
            *_curves(panels, datasets, "reconstruction-kl", "reconstruction error", "p, with ρ = 1/p", nats, ".3g"),
            *_curves(panels, datasets, "permutation-seconds", "seconds by p", "p, with ρ = 1/p", seconds, ".2g"),
        ],
        "beside": [
            *_bars(panels, datasets, "sensitive-types-left", "Sensitive types of which something is left",
                   Axis("value", "share of sensitive types", SHARE, limits=(0, 1)), ".1%"),
            *_seconds(panels, datasets, "seconds", RHOS[1], "Seconds at ρ = 0.7, at the default t_max"),
        ],
    }  # fmt: skip


def _at(panels: Panels, metric: str, setting: str, name: str) -> Panels:
    """Return panels that see one metric at one setting only, with a prefix of their own, under the name `metric`."""
    rows = [{**row, "metric": name} for row in panels.summary if (row["metric"], row["support"]) == (metric, setting)]
    word = setting.replace("ρ=0.", "rho-").replace("=", "-") or "table"
    return Panels(rows, panels.methods, f"{panels.prefix}{word}-", colours=panels.colours, drawn=panels.drawn)


def _bars(panels: Panels, datasets: Sequence[str], metric: str, title: str, up: Axis, form: str) -> list[Chart]:
    """Draw bars by data set, a chart for each of both ρ."""
    charts = []
    for setting in RHOS:
        at = _at(panels, metric, setting, metric)
        if at.rows(metric, datasets):
            charts.append(at.bars(datasets, metric, f"{title}, {setting}", up, form, note=_notes(at, metric, datasets)))
    return charts


def _notes(panels: Panels, metric: str, datasets: Sequence[str]) -> str:
    """Tell where there is no figure, and why."""
    said = [
        f"{panels.methods[row['method']]} on {row['dataset']}: {row['note']}"
        for row in panels.summary
        if row["metric"] == metric and row["dataset"] in datasets and row["note"]
    ]
    return "; ".join(dict.fromkeys(said))


def _seconds(panels: Panels, datasets: Sequence[str], metric: str, setting: str, title: str) -> list[Chart]:
    """Draw the time in powers of ten."""
    at = _at(panels, metric, setting, "seconds")
    if not at.rows("seconds", datasets):
        return []
    drawn = at.seconds(datasets)
    return [Chart(f"{at.prefix}{metric}", title, drawn.text, drawn.spec, drawn.columns, drawn.rows, drawn.note)]


def _curves(
    panels: Panels,
    datasets: Sequence[str],
    metric: str,
    what: str,
    across: str,
    up: Axis,
    form: str,
    *,
    more_than: int = 1,
) -> list[Chart]:
    """Draw lines for each data set that was measured at more than so many settings."""
    charts = []
    for name in datasets:
        rows = panels.rows(metric, [name])
        settings = {row["support"] for row in rows}
        if len(settings) > more_than:
            drawn = [row for row in rows if _settings_of(rows, row["key"]) > more_than]
            charts.append(
                panels.lines(metric, name, rows, drawn, up, what, form, title=f"{name}: {what}", across=across)
            )
    return charts


def _settings_of(rows: list[dict[str, Any]], key: str) -> int:
    return sum(row["key"] == key for row in rows)
