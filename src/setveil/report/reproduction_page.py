"""The page of a paper run again: each figure beside what the paper says of it, and a verdict on each claim."""

from __future__ import annotations

from collections import Counter
from typing import Any

from setveil.report.page import page_with_charts

LOOKS = {"holds": "holds", "holds in part": "part", "does not hold": "broken", "cannot be decided": "none"}
"""The style of each verdict."""
FIGURES = (
    ("Figure 3", "Number of frequent itemsets", "itemsets"),
    ("Figure 4", "Similarity of frequent itemsets", "similarity"),
    ("Figure 5", "Dissimilarity", "dissimilarity"),
    ("Figure 6", "Time", "seconds"),
)


def render_reproduction(found: dict[str, Any]) -> str:
    """Return the page as HTML."""
    from setveil.report.reproduction_charts import reproduction_charts  # noqa: PLC0415 - loads what draws

    by_size = {size: [d["name"] for d in found["datasets"] if d["size"] == size] for size in ("paper", "full")}
    drawn = {
        size: reproduction_charts(found["summary"], found["methods"], names, prefix=f"{size}-")
        for size, names in by_size.items()
        if names
    }
    every = [chart for group in drawn.values() for charts in group.values() for chart in charts]
    topics: dict[str, list[dict[str, Any]]] = {}
    for verdict in found["verdicts"]:
        topics.setdefault(verdict["topic"], []).append(verdict)
    return page_with_charts(
        "reproduction.html.jinja",
        every,
        d=found,
        about=found["about"],
        drawn=drawn,
        figures=FIGURES,
        topics=topics,
        looks=LOOKS,
        counts=Counter(verdict["status"] for verdict in found["verdicts"] if not verdict["ours"]),
    )
