"""The part of a report about k^m-anonymity: sets of items in too few records, clusters and chunks, and the supports of pairs."""

from __future__ import annotations

from typing import Any

from setveil.base.display import cut
from setveil.report.charts import Axis, Chart, Series, bars, paired_dots
from setveil.report.theme import AFTER

MOST_SETS = 15
LONGEST_NAME = 48
ABOUT = ("km-anonymity", "reconstruction")


def known_items(dossier: dict[str, Any]) -> dict[str, Any] | None:
    """Return the facts about rare itemsets and clusters; None if the guarantee is another one."""
    guarantee = dossier["guarantee"]
    if guarantee is None or guarantee["name"] not in ABOUT:
        return None
    before = dossier.get("before")
    return {
        "k": guarantee["parameters"]["k"],
        "m": guarantee["parameters"]["m"],
        "before": before,
        "rare": sum((before or {}).get("violations", {}).values()),
        "at_least": bool((before or {}).get("reason")),
        "exposed": (before or {}).get("counts", {}).get("records-with-a-rare-itemset"),
        "sets": [(row["items"], row["detail"]) for row in (before or {}).get("witnesses", [])[:MOST_SETS]],
        "counts": (dossier["verdict"] or {}).get("counts", {}),
    }


def cluster_chart(dossier: dict[str, Any]) -> Chart | None:
    """Draw the sizes of clusters."""
    bins = dossier.get("pictures", {}).get("clusters", [])
    if not bins:
        return None
    rows = [
        {
            "records": f"{row['from']:,}" if row["from"] == row["to"] else f"{row['from']:,} to {row['to']:,}",
            "clusters": row["clusters"],
            "kind": "clusters",
        }
        for row in bins
    ]
    text = f"Number of clusters by their number of records, from {bins[0]['from']:,} to {bins[-1]['to']:,}."
    spec = bars(
        rows,
        down=Axis("records", "records", ""),
        along=Axis("clusters", "number of clusters"),
        series=Series("kind", ("clusters",), (AFTER,)),
        legend=False,
        text=text,
    )
    table = [(row["records"], row["clusters"]) for row in rows]
    return Chart("clusters", "Clusters by size", text, spec, ("records", "clusters"), table)


def pair_chart(dossier: dict[str, Any]) -> Chart | None:
    """Draw the supports of the most frequent pairs of the original, before and after."""
    if known_items(dossier) is None:
        return None
    measured = (m for m in dossier["metrics"] if m["name"] == "frequent-ranks" and m["parameters"].get("length") == 2)
    lines: list[Any] = next((m["details"]["by-itemset"] for m in measured if m["value"] is not None), [])
    if not lines:
        return None
    names = [cut(", ".join(items), LONGEST_NAME) for items, *_numbers in lines]
    names = [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, start=1)]
    drawn = [
        {"pair": name, "side": side, "records": records}
        for name, (_items, before, _rank, after, _rank_after) in zip(names, lines, strict=True)
        for side, records in (("original", before), ("release", after))
    ]
    text = f"The {len(lines)} most frequent pairs of the original: the number of records with both items, before and after."
    spec = paired_dots(
        drawn, down=Axis("pair", "", ""), along=Axis("records", "number of records with both items"), text=text
    )
    table = [(name, line[1], line[3], line[2], line[4]) for name, line in zip(names, lines, strict=True)]
    note = (
        "For disassociated data, the number is the expected support if chunks are combined at random."
        if dossier["card"]["form"] == "disassociated"
        else ""
    )
    columns = ("pair", "original", "release", "rank before", "rank after")
    return Chart("pairs", "The most frequent pairs", text, spec, columns, table, note)
