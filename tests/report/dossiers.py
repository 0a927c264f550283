"""Dossiers for tests of the report: made by hand where a real release would not show the case."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any, ClassVar

import setveil as sv
from setveil.data.records.alignment import Alignment
from setveil.methods.base import Method, Outcome

HOSTILE = (
    "</script><script>document.title='hit'</script>",
    "{{7*7}}",
    "{% raw %}",
    "<img src=x onerror=\"document.title='hit'\">",
    "<!--<script>",
    "' onmouseover='alert(1)",
    '"><svg onload=alert(1)>',
    "${7*7}",
    "javascript:alert(1)",
    "\u202eabc",
    "&lt;b&gt;",
    "datum.item",
    "x" * 200,
    "x" * 199 + "y",
)
"""Labels of items that would do harm where they were taken for anything but text."""


class Nothing(Method):
    """Change nothing, and promise nothing."""

    name: ClassVar[str] = "nothing"
    title: ClassVar[str] = "Nothing"
    truthful: ClassVar[str] = "yes"
    guarantee: ClassVar[None] = None

    def apply(self, data, *, rng):
        del rng
        return Outcome(data, Alignment.identity(data.records))


def without_guarantee(folder, lists, *, source=""):
    """Write a release that promises nothing, and return its private folder."""
    release = replace(sv.publish(sv.from_lists(lists), Nothing(), no_guarantee=True, metrics="full"), source=source)
    release.save(folder / "out", format="list")
    return folder / "out.private"


def hostile_lists():
    """Return records of hostile items."""
    return [[HOSTILE[(row * step + step) % len(HOSTILE)] for step in (1, 3, 5)] for row in range(60)]


def dossier_in(folder) -> dict[str, Any]:
    return json.loads((folder / "dossier.json").read_text(encoding="utf-8"))


def fi_similarity(support, kept, lost, new, **other) -> dict[str, Any]:
    """Return the entry of a comparison of frequent itemsets."""
    counts = {"kept": kept, "lost": lost, "new": new, "before": kept + lost, "after": kept + new, "count": 40}
    entry = {
        "name": "fi-similarity",
        "value": kept / max(kept + lost + new, 1),
        "unit": "Jaccard similarity",
        "better": "higher",
        "parameters": {"min_support": support},
        "details": counts,
        "reason": "",
    }
    return entry | other


def with_itemsets(dossier) -> dict[str, Any]:
    """Return a dossier in which frequent itemsets were compared, at one support in vain."""
    changed = copy.deepcopy(dossier)
    changed["metrics"] = [m for m in changed["metrics"] if m["name"] != "fi-similarity"]
    changed["metrics"] += [
        fi_similarity("1%", 1000, 20, 5),
        fi_similarity("0.5%", 2600, 1200, 900),
        fi_similarity("0.1%", 0, 0, 0, value=None, details={}, reason="more than 5,000,000 itemsets"),
    ]
    return changed


def older(dossier) -> dict[str, Any]:
    """Return a dossier as version 1 had it."""
    return {
        key: value for key, value in dossier.items() if key not in {"pictures", "metric_notes", "summary", "examples"}
    } | {"dossier_version": 1}


def named_itemset(*items, before=150, target=60, after=60, **other) -> dict[str, Any]:
    """Return what the account of exact-swap tells of a named itemset."""
    row = {"items": [*items], "before": before, "target": target, "after": after, "by-exchange": 0, "by-leaving-out": 0}
    row |= {"lost": 0, "lost-such-as": [], "cannot-be-kept": 0, "cannot-be-kept-such-as": []}
    return row | {key.replace("_", "-"): value for key, value in other.items()}


def with_named(dossier, rows, *, frequent_from=100, **account) -> dict[str, Any]:
    """Return a dossier of a release in which named itemsets were hidden."""
    changed = copy.deepcopy(dossier)
    changed["account"] = {"frequent-from": frequent_from, **account, "itemsets": rows}
    changed["method"]["parameters"]["itemsets"] = [row["items"] for row in rows]
    counts = {"itemsets-to-hide": len(rows), "held-by-no-record": sum(row["after"] == 0 for row in rows)}
    changed["verdict"] |= {"guarantee": "hidden-itemsets", "counts": counts}
    changed["card"]["guarantee"]["name"] = "hidden-itemsets"
    return changed


def border_exposure(value, base_rate) -> dict[str, Any]:
    """Return the entry of the attack on named itemsets."""
    details = {"recall": 0.5, "base-rate": base_rate, "times-base-rate": value / base_rate, "best-support": 59}
    details |= {"listed": 187, "named-in-list": 15, "frequent-before": 20, "border": 5000, "count": 60}
    entry = {"name": "border-exposure", "value": value, "unit": "named itemsets", "better": "lower"}
    return entry | {"parameters": {}, "details": details, "reason": ""}
