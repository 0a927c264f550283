"""What a report tells of sensitive items: what betrayed them in the original, and how much of each was left out."""

from __future__ import annotations

from typing import Any

from setveil.base.display import cut
from setveil.report.charts import Axis, Chart, decades, paired_dots

MOST_RULES = 30
MOST_DRAWN = 30
LONGEST_NAME = 40
FAR = 100
"""From so many times the least on a scale in powers of ten is needed to see both."""


def sensitive_items(dossier: dict[str, Any]) -> dict[str, Any] | None:
    """Return what is known of sensitive items, strongest rules first; None where the release is not about them."""
    before = dossier.get("before")
    if before is not None and before["guarantee"] != "rho-uncertainty":
        before = None
    lost = _lost(dossier)
    if before is None and lost is None:
        return None
    witnesses = (before or {}).get("witnesses", [])
    return {
        "before": before,
        "betrayed": sum((before or {}).get("violations", {}).values()),
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
    """Return what items-lost measured, if it gave a figure."""
    found = (m for m in dossier["metrics"] if m["name"] == "items-lost" and m["value"] is not None)
    return next(found, None)


def sensitive_chart(dossier: dict[str, Any]) -> Chart | None:
    """Draw the sensitive items that lost most, with how many records held each before and hold it after."""
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
    text = f"The {len(rows)} sensitive items of which most was left out: how many records held each, and how many hold it now."
    spec = paired_dots(drawn, down=Axis("item", "", ""), along=along, text=text)
    table = [(name, *row[1:]) for name, row in zip(names, rows, strict=True)]
    title = "Sensitive items of which most was left out"
    note = "The scale is in powers of ten." if along.scale == "symlog" else ""
    return Chart("sensitive", title, text, spec, ("item", "original", "release"), table, note)
