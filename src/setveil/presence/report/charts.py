"""Charts of a trial and of one provider's run: shares of common users, sizes of groups, openings, and the cost of each level.

The charts show only numbers from the dossier or the run record. Shares and sizes are known in trials only.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from setveil.base.display import quantity, share
from setveil.parameters.shares import Share
from setveil.presence.channel import PARTY_NAMES
from setveil.report.charts import Axis, Chart, Series, bars, curves, grouped_bars
from setveil.report.theme import AFTER, NEUTRAL, SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEGABYTE = 1_000_000
MOST_POINTS = 100
"""Maximum number of groups drawn per provider; if there are more, they are picked evenly from the smallest share to the largest."""

COLOURS = {"a": "#009E73", "b": "#CC79A7"}
"""The colours of the providers in all charts that compare them."""
PROVIDERS = Series("provider", ("of A's users", "of B's users"), tuple(COLOURS.values()))
GROUPS = Series("kind", ("groups",), (AFTER,))
BETWEEN = Series("between", ("between A and B",), (NEUTRAL,))
KINDS = {
    "root": "whole population",
    "side": "owner of the cut",
    "winner": "best cut",
    "pass": "check of the limits",
    "ids": "ids of a part",
    "counts": "counts of a group",
}
"""The chart label of each kind of opening."""
OPENED = Series("kind", ("opened",), (NEUTRAL,))
ERRORS = Series("table", ("this table", "one group"), (AFTER, NEUTRAL))
QUERIES, ONE_GROUP = "range-query-error", "error-of-one-group"
"""The metric, and its detail for a table of one group."""
REST = "rest"
"""The bar for costs outside of levels: set-up and the counts at the end; for seconds also the time with the collector."""


def trial_charts(dossier: dict[str, Any]) -> dict[str, Chart]:
    """Return the charts of a trial by key, without those that have no numbers."""
    drawn = (
        share_chart(dossier["shares"], dossier["method"]),
        size_chart(dossier["table"]["sizes"], dossier["method"]["k"]),
        opening_chart(dossier["openings"]),
        *level_charts({role: dossier["costs"][role] for role in ("a", "b")}),
        query_chart(dossier["measurements"]),
    )
    return {chart.key: chart for chart in drawn if chart is not None}


def run_charts(record: dict[str, Any]) -> dict[str, Chart]:
    """Return the charts of one provider's run by key."""
    drawn = opening_chart(record["openings"]), *level_charts({record["role"]: record["costs"]})
    return {chart.key: chart for chart in drawn if chart is not None}


def share_chart(shares: Mapping[str, Sequence[Sequence[int]]], method: Mapping[str, Any]) -> Chart | None:
    """Draw the share of common users per group, from the smallest to the largest, with its limits."""
    known = {
        role: sorted((Fraction(common, users), common, users) for common, users in shares[role] if users)
        for role in ("a", "b")
    }
    if not all(known.values()):
        return None
    groups = max(map(len, known.values()))
    ranks = [*dict.fromkeys(round(place * (groups - 1) / (MOST_POINTS - 1)) for place in range(MOST_POINTS))]
    drawn, table = [], []
    for rank in ranks:
        row: list[Any] = [rank + 1]
        for role, name in zip(("a", "b"), PROVIDERS.names, strict=True):
            if rank < len(known[role]):
                part, common, users = known[role][rank]
                drawn.append({"group": rank + 1, "share": float(part), "provider": name})
                row.append(f"{common:,} of {users:,} ({share(float(part))})")
            else:  # a group without users of one provider has no share there
                row.append(None)
        table.append(tuple(row))
    text = (
        f"Share of a provider's users who are common users, in {quantity(groups, 'group')}, from the smallest share to the largest, "
        "with the limits of the policy."
    )
    spec = curves(
        drawn,
        across=Axis("group", "groups, from the smallest share to the largest"),
        up=Axis("share", "share of common users", SHARE, limits=(0, 1)),
        series=PROVIDERS,
        limits=_limits(method, groups),
        widest=5,
        text=text,
        height=340,
    )
    note = "The groups of each provider are sorted separately: at the same position, the two curves may show different groups."
    if method["scope"] == "qi+sa":
        note += " B's limits also apply to each sensitive value of a group; the chart shows whole groups."
    if len(ranks) < groups:
        note += f" The chart shows {len(ranks):,} of {groups:,} groups, evenly spaced."
    columns = ("group", *(f"share {name}" for name in PROVIDERS.names))
    return Chart("shares", "Common users in groups", text, spec, columns, table, note)


def _limits(method: Mapping[str, Any], groups: int) -> list[dict[str, Any]]:
    """Return the lines of the limits; equal limits of both providers are one line."""
    found = []
    for bound, words, side in (("max", "at most", "below"), ("min", "at least", "above")):
        a, b = (Share(method[f"{bound}_{role}"]) for role in ("a", "b"))
        named = [(a, "A and B")] if a == b else [(a, "A"), (b, "B")]
        for place, (value, provider) in enumerate(named):
            # Curves rise from bottom left to top right, so labels are in the other two corners; B's are further from the edge.
            along = groups * (0.02 + 0.3 * place)
            found.append({
                "share": float(value.share),
                "name": f"{words} {value} ({provider})",
                "side": side,
                "group": along if side == "below" else groups - along,
            })  # fmt: skip
    return found


def size_chart(sizes: Sequence[int], k: int) -> Chart | None:
    """Draw the number of groups by number of records, in bins that start at k and double in width."""
    if not sizes:
        return None
    low, bins = max(1, min(k, *sizes)), []
    while low <= max(sizes):
        high = 2 * low - 1
        name = f"{low:,}" if high == low else f"{low:,} to {high:,}"
        bins.append((name, sum(low <= size <= high for size in sizes)))
        low = high + 1
    text = (
        f"Number of groups by number of records; the smallest group has {min(sizes):,} and the largest {max(sizes):,}."
    )
    spec = bars(
        [{"records": name, "groups": number, "kind": "groups"} for name, number in bins],
        down=Axis("records", "records", ""),
        along=Axis("groups", "number of groups"),
        series=GROUPS,
        legend=False,
        text=text,
    )
    return Chart("sizes", "Groups by size", text, spec, ("records", "groups"), bins)


def opening_chart(openings: Mapping[str, int]) -> Chart | None:
    """Draw the number of openings by kind."""
    if not any(openings.values()):
        return None
    rows = [(KINDS.get(kind, kind), number) for kind, number in openings.items()]
    text = "Number of openings of each kind in the run."
    spec = bars(
        [{"what": name, "openings": number, "kind": "opened"} for name, number in rows],
        down=Axis("what", "", ""),
        along=Axis("openings", "number of openings"),
        series=OPENED,
        legend=False,
        text=text,
    )
    return Chart("openings", "Openings by kind", text, spec, ("kind", "openings"), rows)


def level_charts(costs: Mapping[str, Mapping[str, Any]]) -> list[Chart]:
    """Draw megabytes, messages and seconds per level; `costs` has the costs of one provider or of both."""
    first, one = next(iter(costs.items()))
    if not one["levels"]:
        return []
    line = one["traffic"]["b" if first == "a" else "a"]
    moved = {
        unit: ([level[unit] for level in one["levels"]], line[f"{unit}_sent"] + line[f"{unit}_received"])
        for unit in ("bytes", "messages")
    }
    size, total = moved["bytes"]
    return [
        _by_level(
            "megabytes",
            ("Megabytes per level", "megabytes between A and B", ",.3~f"),
            {BETWEEN.names[0]: ([number / MEGABYTE for number in size], total / MEGABYTE)},
            BETWEEN,
            _groups_and_ids(one),
        ),
        _by_level(
            "messages",
            ("Messages per level", "messages between A and B", ",d"),
            {BETWEEN.names[0]: moved["messages"]},
            BETWEEN,
            _groups_and_ids(one),
        ),
        _by_level(
            "seconds",
            ("Seconds per level", "seconds, including waiting", ",.3~f"),
            {
                PARTY_NAMES[role]: ([level["seconds"] for level in cost["levels"]], cost["seconds"])
                for role, cost in costs.items()
            },
            Series("between", tuple(PARTY_NAMES[role] for role in costs), tuple(COLOURS[role] for role in costs)),
            _groups_and_ids(one),
        ),
    ]


def _groups_and_ids(cost: Mapping[str, Any]) -> list[tuple[int, int]]:
    return [(level["groups"], level["ids"]) for level in cost["levels"]]


def _by_level(
    key: str,
    labels: tuple[str, str, str],
    numbers: Mapping[str, tuple[list[Any], Any]],
    series: Series,
    about: list[tuple[int, int]],
) -> Chart:
    """Draw one bar per level and one for the rest; `numbers` has the values per level and the total of each series."""
    title, unit, number_format = labels
    levels = [*(str(place) for place in range(1, len(about) + 1)), REST]
    whole = {name: [*each, max(0, total - sum(each))] for name, (each, total) in numbers.items()}
    drawn = [
        {"level": level, "between": name, key: number}
        for name, each in whole.items()
        for level, number in zip(levels, each, strict=True)
    ]
    several = len(numbers) > 1
    text = f"{title}; the rest is set-up and the steps after the last level."
    spec = grouped_bars(
        drawn,
        across=Axis("level", "level", ""),
        up=Axis(key, unit, number_format),
        series=series,
        legend=several,
        text=text,
        height=240,
    )
    table: list[tuple[Any, ...]] = [
        (level, *more, *each)
        for level, more, *each in zip(levels, [*about, (None, None)], *whole.values(), strict=True)
    ]
    table.append(("total", None, None, *(total for _each, total in numbers.values())))
    columns = ("level", "open groups", "ids in them", *(numbers if several else (unit,)))
    return Chart(key, title, text, spec, columns, table)


def query_chart(measurements: Sequence[Mapping[str, Any]]) -> Chart | None:
    """Draw the error of queries next to that of a table of one group; None if one of them was not measured."""
    found = [
        (str(one["parameters"].get("selectivity", "")), one["value"], one["details"][ONE_GROUP])
        for one in measurements
        if one["name"] == QUERIES and one["value"] is not None and ONE_GROUP in one["details"]
    ]
    if not found:
        return None
    names = [
        f"{table}{f', selectivity {selectivity}' if len(found) > 1 and selectivity else ''}"
        for selectivity, *_errors in found
        for table in ERRORS.names
    ]
    errors = [error for _selectivity, *pair in found for error in pair]
    drawn = [
        {"what": name, "error": error, "table": ERRORS.names[place % 2]}
        for place, (name, error) in enumerate(zip(names, errors, strict=True))
    ]
    text = "Mean relative error of queries: with this table, and with a table of one group."
    spec = bars(
        drawn,
        down=Axis("what", "", ""),
        along=Axis("error", "mean relative error", ",.3~f"),
        series=ERRORS,
        legend=False,
        text=text,
    )
    table = [(row["what"], row["error"]) for row in drawn]
    return Chart("queries", "Error of queries", text, spec, ("table", "mean relative error"), table)
