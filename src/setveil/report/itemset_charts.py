"""The part of a report about named itemsets: the result for each, and whether their supports reveal them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from setveil.base.display import cut, quantity
from setveil.report.charts import Axis, Chart, Series, bars, decades, paired_dots, wrapped
from setveil.report.page import plain
from setveil.report.theme import AFTER, BEFORE, CONTROL, NEUTRAL

MOST_ROWS = 200
MOST_DRAWN = 30
LINES, WIDTH = 3, 20
"""Maximum number of lines of an itemset in a chart, and of characters per line."""
FAR = 10
"""Supports above this multiple of the threshold need a logarithmic scale, to show what is below the threshold."""

SUPPORTS = Series("side", ("before", "target", "after"), (BEFORE, CONTROL, AFTER))
LISTS = Series("kind", ("all frequent itemsets", "the border of the release"), (NEUTRAL, AFTER))
LACKING = "not computed, needs"
"""The start of the reason of a metric that does not apply to this release."""


def named_itemsets(dossier: dict[str, Any]) -> dict[str, Any] | None:
    """Return the results for the named itemsets, the most costly first; None if the method does not report them."""
    account = dossier["account"] or {}
    found = account.get("itemsets")
    if not isinstance(found, list):
        return None
    costly = sorted(found, key=lambda row: (-row["lost"], -row["cannot-be-kept"]))
    return {
        "count": len(found),
        "above": sum(row["before"] > row["target"] for row in found),
        "swapped": sum(row["by-exchange"] for row in found),
        "suppressed": sum(row["by-leaving-out"] for row in found),
        "lost": sum(row["lost"] for row in found),
        "frequent_from": _frequent_from(account),
        "plan": account.get("plan"),
        "rows": [{**row, "how": _how(row)} for row in costly[:MOST_ROWS]],
        "more": max(0, len(found) - MOST_ROWS),
    }


def _frequent_from(account: dict[str, Any]) -> int | None:
    """Return the smallest frequent support; None if it is not recorded, or a target is not below it."""
    number: int | None = account.get("frequent-from")
    return None if number is None or any(row["target"] >= number for row in account["itemsets"]) else number


def _how(row: dict[str, Any]) -> str:
    changes = ((row["by-exchange"], "swapped"), (row["by-leaving-out"], "suppressed"))
    text = ", ".join(f"{count:,} {word}" for count, word in changes if count)
    return text or ("was not frequent" if row["before"] <= row["target"] else "with another itemset")


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """Return the itemsets wrapped into lines; long ones are cut, and equal results are numbered."""
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
    """Draw the support of each named itemset before and after, with its target and the threshold."""
    named = named_itemsets(dossier)
    if named is None or named["count"] < 2:  # for a single one the table is enough
        return None
    rows, limit = named["rows"][:MOST_DRAWN], named["frequent_from"]
    which = "All named itemsets" if len(rows) == named["count"] else f"The {len(rows)} most costly named itemsets"
    text = f"{which}: the number of records with each in the original and in the release, and the target."
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
    note = "Where marks overlap, the smallest one is the number after."
    if limit is not None:
        note += f" The dashed line is the threshold: an itemset in at least {quantity(limit, 'record')} is frequent."
    if far:
        note += " The scale is logarithmic."
    table = [
        (name.replace("\n", " "), *(row[side] for side in SUPPORTS.names))
        for name, row in zip(names, rows, strict=True)
    ]
    return Chart("named", which, text, spec, ("itemset", *SUPPORTS.names), table, note)


def border_attack(dossier: dict[str, Any]) -> dict[str, Any] | None:
    """Return the measurement of border-exposure, with or without a value; None if it was not measured."""
    found = [m for m in dossier["metrics"] if m["name"] == "border-exposure" and not m["reason"].startswith(LACKING)]
    with_figure = [m for m in found if m["value"] is not None]
    return next(iter(with_figure + found), None)


def border_chart(dossier: dict[str, Any]) -> Chart | None:
    """Draw how many named itemsets are guessed correctly from the border of the release, and from all frequent itemsets."""
    found = border_attack(dossier)
    if found is None or found["value"] is None:
        return None
    details = found["details"]
    secrets = details["frequent-before"]
    figures = (details["base-rate"], found["value"])
    drawn = [{"kind": kind, "right": right} for kind, right in zip(LISTS.names, figures, strict=True)]
    text = (
        f"Of {quantity(secrets, 'named itemset')}, {plain(found['value'])} are guessed correctly from the border of the release, "
        f"and {plain(details['base-rate'])} from a list of all frequent itemsets."
    )
    room = (0, 1.25 * max(figures))  # for the number at the end of the longer bar
    along = Axis("right", f"named itemsets guessed correctly, of {secrets:,}", ".3~r", limits=room)
    spec = bars(drawn, down=Axis("kind", "", ""), along=along, series=LISTS, legend=False, text=text)
    rows = [(row["kind"], plain(row["right"])) for row in drawn]
    return Chart("border", "Named itemsets guessed correctly", text, spec, ("list", "guessed correctly"), rows)
