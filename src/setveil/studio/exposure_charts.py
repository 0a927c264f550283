"""The charts of what data show today, drawn from the result of `profile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.display import share
from setveil.report.charts import Axis, Chart, Series, bars, grouped_bars
from setveil.report.theme import BEFORE

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 40
ROOM = 1.2
"""The length of the axis as a multiple of the highest value: the numbers are to the right of the bars."""


def length_chart(found: Mapping[str, Any], unit: str) -> Chart | None:
    """Draw how many items records hold; None if there are no records."""
    bins = ((found.get("lengths") or {}).get("histogram")) or []
    shown = [
        (_range(one["shortest"], one["longest"]), one["records"]) for one in bins if one["records"] or one["shortest"]
    ]
    if not shown:
        return None
    rows = [{"items": name, "records": count, "kind": "records"} for name, count in shown]
    text = f"Number of {unit} by the number of their items."
    spec = grouped_bars(
        rows,
        across=Axis("items", "items per record", ""),
        up=Axis("records", f"number of {unit}"),
        series=Series("kind", ("records",), (BEFORE,)),
        legend=False,
        text=text,
        height=300,
    )
    return Chart("lengths", "Items per record", text, spec, ("items", unit), shown)


def popular_chart(found: Mapping[str, Any], unit: str) -> Chart | None:
    """Draw the supports of the most frequent items; None if there are none."""
    names = found.get("item_names") or {}
    top = found["popularity"]["top"]
    if not top:
        return None
    rows = [{"item": _named(one["label"], names), "records": one["support"], "kind": "items"} for one in top]
    text = (
        f"The {len(rows)} most frequent items, by the number of {unit} who have them."
        if unit == "people"
        else f"The {len(rows)} most frequent items."
    )
    spec = bars(
        rows,
        down=Axis("item", "", ""),
        along=Axis("records", f"number of {unit}", limits=(0, ROOM * top[0]["support"])),
        series=Series("kind", ("items",), (BEFORE,)),
        legend=False,
        text=text,
    )
    table = [(_named(one["label"], names), one["support"], share(one["share"])) for one in top]
    return Chart("popular", "The most frequent items", text, spec, ("item", unit, "share"), table)


def _range(shortest: int, longest: int) -> str:
    return f"{shortest:,}" if shortest == longest else f"{shortest:,} to {longest:,}"


def _named(name: str, names: Mapping[str, str]) -> str:
    whole = f"{name} {names[name]}" if name in names else name
    return whole if len(whole) <= LONGEST else whole[: LONGEST - 1] + "…"
