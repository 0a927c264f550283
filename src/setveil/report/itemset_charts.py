"""What a report tells of named itemsets: what became of each, and whether their supports give them away."""

from __future__ import annotations

from collections import Counter
from typing import Any

from setveil.base.display import cut
from setveil.report.charts import Axis, Chart, Series, bars, decades, paired_dots, wrapped
from setveil.report.page import plain
from setveil.report.theme import AFTER, BEFORE, NEUTRAL

MOST_ROWS = 200
MOST_DRAWN = 30
LINES, WIDTH = 3, 20
"""Lines of an itemset beside its dots, and characters in each."""
FAR = 10
"""From so many times the threshold on a scale in powers of ten is needed to see what lies below it."""

SUPPORTS = Series("side", ("before", "target", "after"), (BEFORE, "#5B6675", AFTER))
LISTS = Series("kind", ("all frequent itemsets", "the border of the release"), (NEUTRAL, AFTER))
LACKING = "not computed, needs"
"""How a metric begins to say that it is about something else than this release."""


def named_itemsets(dossier: dict[str, Any]) -> dict[str, Any] | None:
    """Return what became of the named itemsets, those that cost most first; None where the method does not tell."""
    account = dossier["account"] or {}
    found = account.get("itemsets")
    if not isinstance(found, list):
        return None
    costly = sorted(found, key=lambda row: (-row["lost"], -row["cannot-be-kept"]))
    return {
        "count": len(found),
        "above": sum(row["before"] > row["target"] for row in found),
        "exchanged": sum(row["by-exchange"] for row in found),
        "left_out": sum(row["by-leaving-out"] for row in found),
        "lost": sum(row["lost"] for row in found),
        "frequent_from": _frequent_from(account),
        "plan": account.get("plan"),
        "rows": [{**row, "how": _how(row)} for row in costly[:MOST_ROWS]],
        "more": max(0, len(found) - MOST_ROWS),
    }


def _frequent_from(account: dict[str, Any]) -> int | None:
    """Return from how many records on an itemset is frequent; None where it is not told, or cannot be, since targets are below it."""
    number: int | None = account.get("frequent-from")
    return None if number is None or any(row["target"] >= number for row in account["itemsets"]) else number


def _how(row: dict[str, Any]) -> str:
    done = ((row["by-exchange"], "exchanged"), (row["by-leaving-out"], "left out"))
    said = ", ".join(f"{count:,} {word}" for count, word in done if count)
    return said or ("was not frequent" if row["before"] <= row["target"] else "with another itemset")


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """Return the itemsets in lines, cut where they are long, and numbered where two would then be the same."""
    taken: Counter[str] = Counter()
    names = []
    for row in rows:
        name = wrapped("{" + ", ".join(cut(item) for item in row["items"]) + "}", WIDTH, LINES)
        while taken[name]:
            taken[name] += 1
            name = f"{name} ({taken[name]})"
        taken[name] += 1
        names.append(name)
    return names


def named_chart(dossier: dict[str, Any]) -> Chart | None:
    """Draw how many records hold each named itemset before and after, beside its target and the threshold."""
    named = named_itemsets(dossier)
    if named is None or named["count"] < 2:  # of a single one the table tells all
        return None
    rows, limit = named["rows"][:MOST_DRAWN], named["frequent_from"]
    which = "All named itemsets" if len(rows) == named["count"] else f"The {len(rows)} named itemsets that cost most"
    text = f"{which}: how many records hold each in the original and in the release, and how many may at most."
    names = _names(rows)
    drawn = [
        {"itemset": name, "side": side, "records": row[side]}
        for name, row in zip(names, rows, strict=True)
        for side in SUPPORTS.names
    ]
    most = max(row["records"] for row in drawn)
    far = limit is not None and most > FAR * limit
    along = Axis("records", "number of records with the itemset")
    if far:
        along = Axis("records", along.title, scale="symlog", ticks=(0, *decades((1, most))))
    spec = paired_dots(
        drawn,
        down=Axis("itemset", "", ""),
        along=along,
        series=SUPPORTS,
        sizes=(150, 110, 40),
        lines=max(2, *(name.count("\n") + 1 for name in names)),
        limit=limit,
        text=text,
    )
    note = "Where marks lie on each other, the smallest one is the number after."
    if limit is not None:
        note += f" The dashed line is at {limit:,} records: from there on an itemset is frequent."
    if far:
        note += " The scale is in powers of ten."
    table = [
        (name.replace("\n", " "), *(row[side] for side in SUPPORTS.names))
        for name, row in zip(names, rows, strict=True)
    ]
    return Chart("named", which, text, spec, ("itemset", *SUPPORTS.names), table, note)


def border_attack(dossier: dict[str, Any]) -> dict[str, Any] | None:
    """Return what border-exposure measured, or why it gives no figure; None where it was not measured."""
    found = [m for m in dossier["metrics"] if m["name"] == "border-exposure" and not m["reason"].startswith(LACKING)]
    with_figure = [m for m in found if m["value"] is not None]
    return next(iter(with_figure + found), None)


def border_chart(dossier: dict[str, Any]) -> Chart | None:
    """Draw how many named itemsets are guessed rightly from the border of the release, and from a list of all frequent ones."""
    found = border_attack(dossier)
    if found is None or found["value"] is None:
        return None
    details = found["details"]
    secrets = details["frequent-before"]
    figures = (details["base-rate"], found["value"])
    drawn = [{"kind": kind, "right": right} for kind, right in zip(LISTS.names, figures, strict=True)]
    text = (
        f"Of {secrets:,} named itemsets {plain(found['value'])} are guessed rightly from the border of the release, "
        f"and {plain(details['base-rate'])} from a list of all frequent itemsets."
    )
    room = (0, 1.25 * max(figures))  # for the number at the end of the longer bar
    along = Axis("right", f"named itemsets guessed rightly, of {secrets:,}", ".3~r", limits=room)
    spec = bars(drawn, down=Axis("kind", "", ""), along=along, series=LISTS, legend=False, text=text)
    rows = [(row["kind"], plain(row["right"])) for row in drawn]
    return Chart("border", "How many named itemsets are guessed", text, spec, ("list", "guessed rightly"), rows)
