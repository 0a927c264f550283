"""The charts of the site-presence paper run again: errors by selectivity, and the limits of Figure 4 as fields of colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.report.charts import Axis, Chart, Series, grouped_bars, heat_map
from setveil.report.reproduction_charts import Panels
from setveil.report.theme import AFTER, BEFORE, COUNT, INK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLOURS = {
    "protocol": BEFORE,
    "default": "#56B4E9",
    "extended": AFTER,
    "retrying": "#B58900",
    "mpalm": "#009E73",
    "mpalm-fixed": "#66C2A5",
    "one-group": INK,
    "dropped": "#8A94A3",
    "protocol-qi": "#005580",
    "default-qi": "#3A86B7",
    "extended-qi": "#8B3E00",
    "retrying-qi": "#7A5C00",
}
"""A colour a line, and its place in every chart; protocols are blue, Mondrian is brown, MPALM green."""
KEYS = "the keys"
KINDS = {"domain": "domain queries", "even": "even queries"}
AS_DEFINED = ("protocol", "default", "extended", "retrying", "one-group")
BY_QI = ("protocol-qi", "default-qi", "extended-qi", "retrying-qi", "one-group")
BESIDE_MPALM = ("protocol", "default", "mpalm", "mpalm-fixed", "one-group")
SCOPES = {"protocol": "", "protocol-qi": ", by quasi-identifiers"}
NOTHING = "nothing can be published"
STEPS = ("#DCEBF5", "#9CC9E6", "#4F9FCF", "#1F6AA5", "#0B3C66", "#D9D9D9")
"""Darker is worse; the last one is for limits without a table."""
FIRST_DARK = 3
SHARES = ("below 60 %", "60–70 %", "70–80 %", "80–90 %", "90 % and more")
"""Steps of our own for shares of the error of one group, which begin higher."""
FIGURE_4_AT = "θ=10%"


def presence_charts(found: Mapping[str, Any], datasets: Sequence[str], *, prefix: str) -> dict[str, list[Chart]]:
    """Return the charts of Figures 2 to 4 and of our figures; those without figures are left out."""
    panels = Panels(found["summary"], found["methods"], prefix, colours=COLOURS, drawn=KEYS)
    main, *others = datasets
    return {
        "mondrian": [
            chart
            for lines, scope in ((AS_DEFINED, ""), (BY_QI, ", by quasi-identifiers"))
            for kind in KINDS
            for chart in _by_theta(panels, main, kind, lines, scope)
        ],
        "mpalm": [chart for name in others for kind in KINDS for chart in _by_theta(panels, name, kind, BESIDE_MPALM, "")],
        "limits": [
            chart
            for line in SCOPES
            for kind in ("even", "domain")
            for side in "ab"
            for chart in _limits(found, main, line, kind, side, prefix)
        ],
        "beside": [
            *(chart for kind in KINDS for chart in _variants(panels, main, f"error-{kind}", f"Error, {KINDS[kind]}", ".2~%")),
            *_variants(panels, main, "groups", "Number of groups", COUNT),
            *_groups(panels, datasets),
        ],
    }  # fmt: skip


def _by_theta(panels: Panels, dataset: str, kind: str, lines: Sequence[str], scope: str) -> list[Chart]:
    """Draw the errors of some lines at each selectivity."""
    metric = f"error-{kind}"
    rows = [row for row in panels.rows(metric, [dataset]) if row["support"].startswith("θ=") and row["key"] in lines]
    if not rows:
        return []
    title = f"Error, {KINDS[kind]}{scope}"
    up = Axis("value", "mean relative error", ",.3~p" if kind == "even" else ",.0%")
    key = f"{metric}-{lines[0]}"
    said = f"mean relative error of {KINDS[kind]}{scope}"
    drawn = panels.lines(key, dataset, rows, rows, up, said, ",.1%", title=title, across="expected selectivity")
    return [drawn]


def _variants(panels: Panels, dataset: str, metric: str, title: str, form: str) -> list[Chart]:
    """Draw a figure of the protocol with our score for each change of its settings."""
    changed = _Changes(panels.summary)
    rows = [
        row
        for row in panels.rows(metric, [dataset])
        if row["key"] in ("default", "default-qi") and row["support"] in changed.names
    ]
    if not rows:
        return []
    told = f"{title}, by settings of the protocol"
    up = Axis("value", "mean relative error" if metric != "groups" else "groups", form)
    spec = grouped_bars(rows, across=Axis("support", "", ""), up=up, series=panels.series(rows), text=f"{told}.")
    columns, table = panels.by_setting(rows, ",.1%" if metric != "groups" else ",.0f")
    return [Chart(f"{panels.prefix}changed-{metric}", told, f"{told}.", spec, columns, table)]


class _Changes:
    """The settings of the protocol that were changed: neither a selectivity nor limits."""

    def __init__(self, summary: Sequence[Mapping[str, Any]]) -> None:
        told = dict.fromkeys(row["support"] for row in summary if row["method"] == "default")
        self.names = [name for name in told if name and not name.startswith(("θ=", "A: ", "B: "))]


def _groups(panels: Panels, datasets: Sequence[str]) -> list[Chart]:
    """Draw how many groups each line has."""
    rows = [row for row in panels.rows("groups", datasets) if not row["support"]]
    if not rows:
        return []
    title = "Number of groups, by method"
    up, across = Axis("value", "groups", COUNT), Axis("dataset", "", "")
    spec = grouped_bars(rows, across=across, up=up, series=panels.series(rows), text=f"{title}.")
    columns, table = panels.by_dataset(rows, datasets, ",.0f")
    return [Chart(f"{panels.prefix}groups", title, f"{title}.", spec, columns, table)]


def _limits(found: Mapping[str, Any], dataset: str, line: str, kind: str, side: str, prefix: str) -> list[Chart]:
    """Draw the error at each pair of limits of a provider, in the steps of the paper."""
    metric = f"error-{kind}"
    cells = {row["support"]: row for row in found["summary"] if _is(row, dataset, line, metric)}
    floor = (row for row in found["summary"] if _is(row, dataset, "one-group", metric))
    whole = next((row["mean"] for row in floor if row["support"] == FIGURE_4_AT), None)
    least, largest = found["limits"]["least"], found["limits"]["largest"]
    bands = tuple(found["bands"]) if kind == "even" else SHARES
    rows: list[dict[str, Any]] = []
    table: list[tuple[Any, ...]] = []
    for low in least:
        told = []
        for high in largest:
            cell = cells.get(f"{side.upper()}: {low} to {high}")
            told.append(_told(cell))
            if cell is not None:
                rows.append(
                    {"least": low, "largest": high, **_field(cell["mean"], None if kind == "even" else whole, bands)}
                )
        table.append((low, *told))
    if not rows:
        return []
    what = "error" if kind == "even" else "share of the error of one group"
    title = f"Limits of {side.upper()}: {what}, {KINDS[kind]}{SCOPES[line]}"
    text = f"{title}, for each least and largest share of {side.upper()}'s users that may be at the other provider too."
    series = Series("band", (*bands, NOTHING), STEPS)
    spec = heat_map(
        rows,
        across=Axis("largest", f"largest share of {side.upper()}", ""),
        down=Axis("least", f"least share of {side.upper()}", ""),
        up=Axis("label", what, ""),
        series=series,
        text=text,
    )
    columns = (f"error: least share of {side.upper()}", *(f"at most {high}" for high in largest))
    return [Chart(f"{prefix}limits-{side}-{kind}-{line}", title, text, spec, columns, table)]


def _is(row: Mapping[str, Any], dataset: str, line: str, metric: str) -> bool:
    return (row["dataset"], row["method"], row["metric"]) == (dataset, line, metric)


def _field(error: float | None, whole: float | None, bands: Sequence[str]) -> dict[str, Any]:
    """Return what a field shows: an error in the steps of the paper, or as a share of that of one group in ours."""
    if error is None:
        return {"band": NOTHING, "label": "–", "dark": False}
    value = error / whole if whole else error
    step = int((value - 0.5) / 0.1) if whole else int(value / 0.2)
    step = min(max(step, 0), len(bands) - 1)
    return {"band": bands[step], "label": f"{value:.1%}", "dark": step >= FIRST_DARK}


def _told(cell: Mapping[str, Any] | None) -> str:
    """Write a mean and its range, or why there is none; nothing where the least share is above the largest."""
    if cell is None:
        return ""
    if cell["mean"] is None:
        return NOTHING
    mean, low, high = (f"{cell[part]:,.1%}" for part in ("mean", "low", "high"))
    return mean if low == high else f"{mean} ({low}–{high})"
