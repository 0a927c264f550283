"""The page of a paper run again: each figure beside what the paper says of it, and a verdict on each claim."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from setveil.report.page import page_with_charts
from setveil.report.reproduction_words import DISASSOCIATION, ITEMSETS, PRESENCE, UNCERTAINTY, WORDS

if TYPE_CHECKING:
    from setveil.report.charts import Chart

LOOKS = {"holds": "holds", "holds in part": "part", "does not hold": "violated", "cannot be decided": "none"}
"""The style of each verdict."""


def render_reproduction(found: dict[str, Any]) -> str:
    """Return the page as HTML."""
    by_size = {size: [d["name"] for d in found["datasets"] if d["size"] == size] for size in ("paper", "full")}
    drawn = {size: _charts(found, names, size) for size, names in by_size.items() if names}
    every = [chart for group in drawn.values() for charts in group.values() for chart in charts]
    topics: dict[str, list[dict[str, Any]]] = {}
    for verdict in found["verdicts"]:
        topics.setdefault(verdict["topic"], []).append(verdict)
    words = WORDS[found["paper"]]
    return page_with_charts(
        "reproduction.html.jinja",
        every,
        d=found,
        about=found["about"],
        words=words,
        filled=lambda text: words.filled(text, found["about"]),
        drawn=drawn,
        topics=topics,
        looks=LOOKS,
        counts=Counter(verdict["status"] for verdict in found["verdicts"] if not verdict["ours"]),
    )


def _charts(found: dict[str, Any], names: list[str], size: str) -> dict[str, list[Chart]]:
    """Draw the data sets of a size as the paper's page needs it."""
    from setveil.report.reproduction_charts import reproduction_charts  # noqa: PLC0415 - loads what draws
    from setveil.report.reproduction_disassociation_charts import disassociation_charts  # noqa: PLC0415 - the same
    from setveil.report.reproduction_itemset_charts import itemset_charts  # noqa: PLC0415 - the same
    from setveil.report.reproduction_presence_charts import presence_charts  # noqa: PLC0415 - the same
    from setveil.report.reproduction_uncertainty_charts import uncertainty_charts  # noqa: PLC0415 - the same

    if WORDS[found["paper"]] is PRESENCE:
        return presence_charts(found, names, prefix=f"{size}-")
    if WORDS[found["paper"]] is UNCERTAINTY:
        return uncertainty_charts(found, names, prefix=f"{size}-")
    if WORDS[found["paper"]] is DISASSOCIATION:
        return disassociation_charts(found, names, prefix=f"{size}-")
    if WORDS[found["paper"]] is ITEMSETS:
        return itemset_charts(found, names, prefix=f"{size}-", histogram=size == "paper")
    return reproduction_charts(found["summary"], found["methods"], names, prefix=f"{size}-")
