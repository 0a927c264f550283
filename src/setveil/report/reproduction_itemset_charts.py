"""The charts of the itemset-swapping paper run again: what it prints and what we measured, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.report.charts import Axis, Chart, grouped_bars
from setveil.report.reproduction_charts import Panels
from setveil.report.theme import AFTER, BEFORE, COUNT, SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLOURS = {
    "printed-sw": "#4D4D4D",
    "sw-one": BEFORE,
    "sw-all": "#56B4E9",
    "printed-heu": "#8A94A3",
    "heu": AFTER,
    "printed-nv": "#C3CAD3",
    "nv": "#CC79A7",
    "exact-random": "#009E73",
    "exact-border": "#B58900",
    "exact-levels": "#7A5C00",
    "exact-zero": "#5B3A8E",
    "exact-zero-ilp": "#A98BD0",
    "heu-zero": "#F2A56B",
}
"""A colour a line, and its place in every chart; what the paper prints is grey."""
IN_LINES = ("printed-sw", "sw-one", "sw-all", "printed-heu", "heu", "printed-nv", "nv", "exact-random")
"""What is drawn where every method is a line; more could not be told apart. The tables have all."""
FAR_OFF = (("artificial-itemsets", "printed-nv"),)
"""What is so far from all other lines that these would be one; the tables have it."""
DRAWS = "the draws of named itemsets"
UNKNOWN_UNIT = "dissimilarity-of-unknown-unit"


def itemset_charts(
    found: Mapping[str, Any], datasets: Sequence[str], *, prefix: str, histogram: bool
) -> dict[str, list[Chart]]:
    """Return the charts of Figures 4 to 8 and of our figures, of some data sets; `histogram` adds Figure 6."""
    panels = Panels(found["summary"], found["methods"], prefix, colours=COLOURS, drawn=DRAWS)
    frequencies = [_frequencies(panels, found["item_frequencies"])] if histogram else []
    return {
        "failure": [
            panels.shares(
                datasets, "hiding-failure", "Named itemsets that are still frequent", "share of named itemsets"
            )
        ],
        "misses": [
            *_by_threshold(panels, datasets, "misses-cost", "misses cost", "share of the frequent itemsets"),
            *_by_threshold(panels, datasets, "avoidable-misses-cost", "avoidable misses cost",
                           "share of those that could stay"),
            _lost(panels, datasets),
        ],
        "dissimilarity": [*frequencies, _dissimilarity(panels, datasets)],
        "artificial": _by_threshold(panels, datasets, "artificial-itemsets", "artificial itemsets",
                                    "share of the frequent itemsets"),
        "beside": [
            panels.shares(datasets, "residual", "Named itemsets that some record still holds", "share of named itemsets"),
            _border(panels, datasets),
            panels.bars(datasets, "false-content", "Released content that is untrue",
                        Axis("value", "share of occurrences", ".2~%"), ".2%"),
            panels.bars(datasets, "number-touched", "Records that were changed", Axis("value", "records", COUNT), ",.0f"),
            panels.seconds(datasets),
        ],
    }  # fmt: skip


def _by_threshold(panels: Panels, datasets: Sequence[str], metric: str, what: str, side: str) -> list[Chart]:
    """Draw lines for a data set that is mined at several thresholds, bars side by side for those with one."""
    mined: dict[str, set[str]] = {name: set() for name in datasets}
    for row in panels.rows(metric, datasets):
        mined[row["dataset"]].add(row["support"])
    charts = []
    for name in (name for name, supports in mined.items() if len(supports) > 1):
        rows = panels.rows(metric, [name])
        drawn = [row for row in rows if row["key"] in IN_LINES and (metric, row["key"]) not in FAR_OFF]
        up = Axis("value", side, ".2~%")
        title, said = f"{name}: {what}", f"{what} at each least support"
        charts.append(panels.lines(metric, name, rows, drawn, up, said, ".3f", title=title))
    single = [name for name, supports in mined.items() if len(supports) == 1]
    if single:
        title = f"{what[0].upper()}{what[1:]}"
        charts.append(panels.bars(single, metric, title, Axis("value", side, ".2~%"), ".3f"))
    return charts


def _lost(panels: Panels, datasets: Sequence[str]) -> Chart:
    """Draw how many itemsets were lost at the threshold at which they hide; the note says how many had to be."""
    first: dict[str, str] = {}
    for row in panels.rows("lost", datasets):
        first.setdefault(row["dataset"], row["support"])
    own = [
        row
        for row in panels.summary
        if row["metric"] not in ("lost", "unavoidable") or row["support"] == first.get(row["dataset"])
    ]
    at_own = Panels(own, panels.methods, panels.prefix, colours=panels.colours, drawn=panels.drawn)
    had_to = {row["dataset"]: row["value"] for row in at_own.rows("unavoidable", datasets)}
    said = "; ".join(f"{name} at {first[name]}: {value:,.0f}" for name, value in had_to.items())
    note = f"Of these had to go, since they hold a named itemset, on average: {said}." if said else ""
    title = "Frequent itemsets that were lost, at the threshold at which they are hidden"
    return at_own.bars(datasets, "lost", title, Axis("value", "itemsets", COUNT), ",.0f", note=note)


def _dissimilarity(panels: Panels, datasets: Sequence[str]) -> Chart:
    """Draw Diss in per mille; what the paper prints has no unit, and is told below."""
    said = ", ".join(f"{row['method']} {row['value']:g}" for row in panels.rows(UNKNOWN_UNIT, datasets))
    note = f"The paper prints values without a unit, which fit none: {said}." if said else ""
    up = Axis("value", "Diss, per mille", ",.2~f")
    return panels.bars(datasets, "dissimilarity", "Diss, item by item, in per mille", up, ".2f", times=1000, note=note)


def _border(panels: Panels, datasets: Sequence[str]) -> Chart:
    """Draw how common named itemsets are in the best list from the border; the note tells the base rate."""
    rates = {row["dataset"]: row["value"] for row in panels.rows("border-base-rate", datasets)}
    said = "; ".join(f"{name} {100 * value:.2g} %" for name, value in rates.items())
    note = f"Among all frequent itemsets of the original they are: {said}." if said else ""
    title = "Named itemsets in the list that tells most of those just below the threshold"
    return panels.bars(
        datasets,
        "border-exposure",
        title,
        Axis("value", "share of the list", SHARE, limits=(0, 1)),
        ".1%",
        note=note,
    )


def _frequencies(panels: Panels, frequencies: Sequence[Mapping[str, Any]]) -> Chart:
    """Draw how many items are in so many records more or fewer than before; those that are in as many are in the table alone."""
    changed = sorted((row for row in frequencies if row["difference"]), key=lambda row: row["difference"])
    drawn = [
        {
            "key": row["method"],
            "method": panels.methods[row["method"]],
            "difference": f"{row['difference']:+d}",
            "items": row["items"],
        }
        for row in changed
    ]
    differences = [*dict.fromkeys(row["difference"] for row in drawn)]
    text = (
        "How many items are in so many records more or fewer than in the original, for each method, in the first draw."
    )
    spec = grouped_bars(
        drawn,
        across=Axis("difference", "records more or fewer", ""),
        up=Axis("items", "items", COUNT),
        series=panels.series(drawn),
        text=text,
    )
    by_method: dict[str, dict[str, int]] = {}
    for row in frequencies:
        key = f"{row['difference']:+d}" if row["difference"] else "unchanged"
        by_method.setdefault(panels.methods[row["method"]], {})[key] = row["items"]
    columns = ("method", "unchanged", *differences)
    table = [(method, *(cells.get(name, 0) for name in columns[1:])) for method, cells in by_method.items()]
    title = "Items whose frequency changed, by how much"
    return Chart(f"{panels.prefix}item-frequencies", title, text, spec, columns, table)
