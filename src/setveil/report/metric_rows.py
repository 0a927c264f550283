"""The tables of metrics in a report: only what has a result, settings with the same result in one row, and no references to papers."""

from __future__ import annotations

import re
from typing import Any

from setveil.metrics.base import NOT_COMPUTED

_REFERENCE = re.compile(r" \((?:[^()]* )?(?:after )?[a-z]+\d{4}[^()]*\)")
TITLES = {
    "utility": "Utility: what the release costs",
    "privacy": "Privacy: what can still be inferred",
    "": "Other metrics",
}


def metric_groups(metrics: list[dict[str, Any]], notes: dict[str, dict[str, str]]) -> list[dict[str, Any]]:
    """Return the computed metrics by what they are about; dossiers of version 1 do not state it.

    Each group has its `title`, the `metrics` with their rows, and the `same`: utility metrics that find no difference to the original.
    """
    grouped: dict[str, dict[str, dict[str, Any]]] = {about: {} for about in TITLES}
    for one in metrics:
        if one["reason"].startswith(NOT_COMPUTED):
            continue
        note = notes.get(one["name"], {})
        of_metric = grouped.setdefault(note.get("about", ""), {}).setdefault(
            one["name"],
            {
                "name": one["name"],
                "title": note.get("title", one["name"]),
                "summary": without_references(note.get("summary", "")),
                "rows": [],
            },
        )
        _add(of_metric["rows"], one)
    return [
        {
            "title": TITLES.get(about, about),
            "metrics": [one for one in of.values() if not _finds_nothing(about, one)],
            "same": [one for one in of.values() if _finds_nothing(about, one)],
        }
        for about, of in grouped.items()
        if of
    ]


def _add(rows: list[dict[str, Any]], one: dict[str, Any]) -> None:
    """Add a measurement; one with the same value and reason as another setting joins its row."""
    key = (one["value"], one["unit"], one["better"], one["reason"])
    for row in rows:
        if row["key"] == key:
            row["settings"].append(one["parameters"])
            return
    rows.append({**one, "key": key, "settings": [one["parameters"]]})


def _finds_nothing(about: str, metric: dict[str, Any]) -> bool:
    return about == "utility" and all(row["value"] == 0 and row["better"] == "lower" for row in metric["rows"])


def not_computed(metrics: list[dict[str, Any]], notes: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    """Return the titles of the metrics that were not computed, grouped by the reason, each once."""
    found: dict[str, list[str]] = {}
    for one in metrics:
        if one["reason"].startswith(NOT_COMPUTED):
            titles = found.setdefault(one["reason"].removeprefix(NOT_COMPUTED), [])
            title = notes.get(one["name"], {}).get("title", one["name"])
            if title not in titles:
                titles.append(title)
    return found


def without_references(summary: str) -> str:
    """Return a summary without the references to papers and their equations in parentheses.

    >>> without_references("Share of the occurrences that the release lacks (NS of jia2014, equation 2).")
    'Share of the occurrences that the release lacks.'
    """
    return _REFERENCE.sub("", summary)
