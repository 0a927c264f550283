"""The charts of a release, drawn from its dossier; a chart without numbers is omitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.display import share
from setveil.catalog import GUARANTEES
from setveil.report.attack_charts import attack_charts
from setveil.report.charts import (
    SIDES,
    Axis,
    Chart,
    Series,
    bars,
    curves,
    decades,
    grouped_bars,
    paired_dots,
    stacked_shares,
)
from setveil.report.facts import unit_of
from setveil.report.itemset_charts import border_chart, named_chart
from setveil.report.known_items_charts import cluster_chart, pair_chart
from setveil.report.page import words
from setveil.report.sensitive_charts import sensitive_chart
from setveil.report.theme import AFTER, LOST, NEUTRAL, NEW, SHARE, WARNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

RECORDS = "number of records"
ITEMSETS = Series("fate", ("kept", "lost", "new"), (NEUTRAL, LOST, NEW))
"""Itemsets of both sides, of the original only, and of the release only."""
STATUS = Series("kind", ("counted", "violated"), (NEUTRAL, WARNING))
ATTACK = Series("kind", ("without the release", "with the release"), (NEUTRAL, AFTER))
GUESSERS = {
    "absent": "the most common category that is absent from the row",
    "beside-heaviest": "the most common category that is not the row's heaviest one",
    "bayes": "naive Bayes over the categories of the row",
}
"""Descriptions of the guessers of tendency-posterior."""


def release_charts(dossier: dict[str, Any]) -> dict[str, Chart]:
    """Return the charts by their keys, in the order of the page."""
    drawn: Iterable[Callable[[dict[str, Any]], Chart | None]] = (
        named_chart,
        sensitive_chart,
        cluster_chart,
        pair_chart,
        _items,
        _ranks,
        _itemsets,
        _lengths,
        _status,
        _attack,
        border_chart,
    )
    charts = [chart for draw in drawn if (chart := draw(dossier)) is not None]
    charts += attack_charts(dossier)
    return {chart.key: chart for chart in charts}


def _sides(rows: Iterable[dict[str, Any]], value: str) -> list[dict[str, Any]]:
    """Return two rows for each row: one for the original and one for the release."""
    return [
        {**{k: v for k, v in row.items() if k not in {"before", "after"}}, "side": side, value: row[key]}
        for row in rows
        for side, key in zip(SIDES.names, ("before", "after"), strict=True)
    ]


def _items(dossier: dict[str, Any]) -> Chart | None:
    found = dossier.get("pictures", {}).get("items", {}).get("most_frequent", [])
    if not found:
        return None
    which = (
        "All items" if len(found) == dossier["pictures"]["items"]["items"] else f"The {len(found)} most frequent items"
    )
    text = f"{which}: the number of records with each item, in the original and in the release."
    spec = paired_dots(
        _sides(found, "records"),
        down=Axis("item", "", ""),
        along=Axis("records", "number of records with the item"),
        text=text,
    )
    rows = [(row["item"], row["before"], row["after"], row["after"] - row["before"]) for row in found]
    return Chart("items", which, text, spec, ("item", "original", "release", "difference"), rows)


def _ranks(dossier: dict[str, Any]) -> Chart | None:
    ranks = dossier.get("pictures", {}).get("ranks", {})
    points = {side: ranks.get(key, []) for side, key in zip(SIDES.names, ("before", "after"), strict=True)}
    shown = dossier.get("pictures", {}).get("items", {})
    if not any(points.values()) or len(shown["most_frequent"]) == shown["items"]:  # the chart beside it shows them all
        return None
    text = "All items from the most to the least frequent: rank and number of records, on logarithmic scales."
    drawn = [{"side": side, "rank": rank, "records": count} for side, found in points.items() for rank, count in found]
    spec = curves(
        drawn,
        across=Axis(
            "rank", "rank of the item (1: most frequent)", scale="log", ticks=decades(row["rank"] for row in drawn)
        ),
        up=Axis("records", RECORDS, scale="log", ticks=decades(row["records"] for row in drawn)),
        text=text,
        height=330,
    )
    old, new = (dict(map(tuple, found)) for found in points.values())
    rows = [(rank, old.get(rank), new.get(rank)) for rank in sorted(old.keys() | new.keys())]
    note = "Where the curves coincide, the narrow one is the release." if old == new else ""
    return Chart("ranks", "All items by rank", text, spec, ("rank", "original", "release"), rows, note)


def _itemsets(dossier: dict[str, Any]) -> Chart | None:
    measured = [m for m in dossier["metrics"] if m["name"] == "fi-similarity" and m["value"] is not None]
    drawn: list[dict[str, Any]] = []
    rows: list[tuple[Any, ...]] = []
    for metric in measured:
        parts = metric["details"]
        name = str(metric["parameters"].get("min_support", "?"))
        if "count" in parts:
            after = parts.get("count-after", parts["count"])
            name += f" ({parts['count']:,}{f' → {after:,}' if after != parts['count'] else ''} records)"
        drawn += [{"support": name, "fate": fate, "itemsets": parts[fate]} for fate in ITEMSETS.names]
        rows.append(
            (name, parts["before"], parts["after"], parts["kept"], parts["lost"], parts["new"], share(metric["value"]))
        )
    if not any(row["itemsets"] for row in drawn):
        return None
    text = (
        "Frequent itemsets of the original that the release keeps or loses, and new ones, at several minimum supports."
    )
    spec = stacked_shares(
        drawn,
        down=Axis("support", "minimum support", ""),
        along=Axis("itemsets", "share of the itemsets"),
        series=ITEMSETS,
        text=text,
    )
    columns = ("minimum support", "in the original", "in the release", "kept", "lost", "new", "similarity")
    note = "The share of kept itemsets is the similarity (Jaccard): 100 % if the same itemsets are frequent before and after."
    return Chart("itemsets", "By minimum support", text, spec, columns, rows, note)


def _lengths(dossier: dict[str, Any]) -> Chart | None:
    bins = dossier.get("pictures", {}).get("lengths", {}).get("bins", [])
    if not bins:
        return None
    named, drawn = [], []
    for row in bins:
        name = f"{row['from']:,}" if row["from"] == row["to"] else f"{row['from']:,}–{row['to']:,}"
        width = row["to"] - row["from"] + 1
        named.append((name, row["before"], row["after"]))
        # The total of a wide bin would look like a peak, so its bar shows the mean per length.
        drawn += _sides([{"length": name, "before": row["before"] / width, "after": row["after"] / width}], "records")
    several = any(row["from"] != row["to"] for row in bins)
    text = "Number of records by their number of items, in the original and in the release."
    up = Axis("records", "records of each length", ",.1~f") if several else Axis("records", RECORDS)
    spec = grouped_bars(drawn, across=Axis("length", "items per record", ""), up=up, text=text)
    note = "A bar for several lengths shows their mean; the table has the counts." if several else ""
    return Chart("lengths", "Records by length", text, spec, ("items per record", "original", "release"), named, note)


def _status(dossier: dict[str, Any]) -> Chart | None:
    verdict = dossier["verdict"]
    if verdict is None:
        return None
    counts, violations = verdict["counts"], verdict["violations"]
    found = [(key, count, "counted") for key, count in counts.items() if key not in violations]
    found += [(key, count, "violated") for key, count in violations.items()]
    if not any(count for _, count, _ in found):
        return None
    guarantee = GUARANTEES.get(verdict["guarantee"])
    if guarantee is not None and not guarantee.counts_of_one_kind:
        return None
    unit = unit_of(dossier)
    text = f"Number of {unit} by status, as the check counted them."
    drawn = [{"status": words(key), unit: count, "kind": kind} for key, count, kind in found]
    spec = bars(drawn, down=Axis("status", "", ""), along=Axis(unit, f"number of {unit}"), series=STATUS, text=text)
    rows = [(words(key) + (" (violated)" if kind == "violated" else ""), count) for key, count, kind in found]
    return Chart("status", f"{unit.capitalize()} by status", text, spec, ("status", unit), rows)


def _attack(dossier: dict[str, Any]) -> Chart | None:
    found = [m for m in dossier["metrics"] if m["name"] == "tendency-posterior" and m["value"] is not None]
    if not found or "base-rate" not in found[0]["details"]:
        return None
    value, details = found[0]["value"], found[0]["details"]
    without, with_it = ATTACK.names
    drawn = [
        {"guess": "always the most common category", "right": details["base-rate"], "kind": without},
        {"guess": "the best of the guessers", "right": value, "kind": with_it},
    ]
    text = f"Records guessed correctly by an attacker: {share(value)} with the release, {share(details['base-rate'])} without it."
    along = Axis("right", "share of records guessed correctly", SHARE, limits=(0, 1))
    spec = bars(drawn, down=Axis("kind", "", ""), along=along, series=ATTACK, legend=False, text=text)
    rows = [(row["kind"], row["guess"], share(row["right"])) for row in drawn]
    rows += [(with_it, guess, share(details[key])) for key, guess in GUESSERS.items() if key in details]
    return Chart("attack", "Hidden category guessed correctly", text, spec, ("", "guess", "correct"), rows)
