"""The part of a report about sensitive items: how they could be inferred from the original, and how much of each is suppressed."""

from __future__ import annotations

from typing import Any

from setveil.base.display import cut
from setveil.report.charts import Axis, Chart, decades, paired_dots

MOST_RULES = 30
MOST_DRAWN = 30
LONGEST_NAME = 40
FAR = 100
"""Numbers whose ratio exceeds this need a logarithmic scale to show both."""


def sensitive_items(dossier: dict[str, Any]) -> dict[str, Any] | None:
    """Return the facts about sensitive items, the strongest rules first; None if the release has none."""
    before = dossier.get("before")
    if before is not None and before["guarantee"] != "rho-uncertainty":
        before = None
    lost = _lost(dossier)
    if before is None and lost is None:
        return None
    witnesses = (before or {}).get("witnesses", [])
    return {
        "before": before,
        "inferred": sum((before or {}).get("violations", {}).values()),
        "rules": [
            {
                "item": row["items"][0],
                "known": row["place"].removesuffix(f" → {row['items'][0]}"),
                "found": row["detail"],
            }
            for row in witnesses[:MOST_RULES]
        ],
        "lost": lost,
        "rows": (lost or {}).get("details", {}).get("by-item", []),
    }


def _lost(dossier: dict[str, Any]) -> dict[str, Any] | None:
    """Return the measurement of items-lost, if it has a value."""
    found = (m for m in dossier["metrics"] if m["name"] == "items-lost" and m["value"] is not None)
    return next(found, None)


def sensitive_chart(dossier: dict[str, Any]) -> Chart | None:
    """Draw the supports of the most suppressed sensitive items, before and after."""
    found = sensitive_items(dossier)
    rows = [] if found is None else [row for row in found["rows"] if row[1] > row[2]][:MOST_DRAWN]
    if not rows:
        return None
    names = [cut(label, LONGEST_NAME) for label, _before, _after in rows]
    names = [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, start=1)]
    drawn = [
        {"item": name, "side": side, "records": held}
        for name, (_label, *both) in zip(names, rows, strict=True)
        for side, held in zip(("original", "release"), both, strict=True)
    ]
    most = max(row[1] for row in rows)
    along = Axis("records", "number of records with the item")
    if most > FAR * max(1, min(row[2] for row in rows)):
        along = Axis("records", along.title, scale="symlog", ticks=(0, *decades((1, most))))
    text = f"The {len(rows)} most suppressed sensitive items: the number of records with each, before and after."
    spec = paired_dots(drawn, down=Axis("item", "", ""), along=along, text=text)
    table = [(name, *row[1:]) for name, row in zip(names, rows, strict=True)]
    title = "Most suppressed sensitive items"
    note = "The scale is logarithmic." if along.scale == "symlog" else ""
    return Chart("sensitive", title, text, spec, ("item", "original", "release"), table, note)
