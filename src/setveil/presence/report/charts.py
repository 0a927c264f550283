"""The charts of a joined table and of one provider's run: shares, sizes of groups, openings, and what each level cost.

Only what a dossier or a run record tells is arranged here. Shares and sizes are known together in a trial alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from setveil.base.display import share
from setveil.presence.channel import PARTY_IN_WORDS
from setveil.report.charts import Axis, Chart, Series, bars, curves, grouped_bars
from setveil.report.theme import AFTER, NEUTRAL, SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEGABYTE = 1_000_000
MOST_POINTS = 100
"""Of many groups, so many are drawn of each provider, evenly from the smallest share to the largest."""

COLOURS = {"a": "#009E73", "b": "#CC79A7"}
"""The same two colours wherever the providers stand beside each other."""
PROVIDERS = Series("provider", ("of A's users", "of B's users"), tuple(COLOURS.values()))
OF_THE_GROUPS = Series("kind", ("groups",), (AFTER,))
BETWEEN = Series("between", ("between A and B",), (NEUTRAL,))
KINDS = {
    "root": "whole population",
    "side": "who cuts",
    "winner": "best cut",
    "pass": "rules kept",
    "ids": "ids of a part",
    "counts": "counts",
}
"""How the ledger names what it opens, in words."""
OPENED = Series("kind", ("opened",), (NEUTRAL,))
ERRORS = Series("table", ("this table", "one group"), (AFTER, NEUTRAL))
QUERIES, ONE_GROUP = "range-query-error", "error-of-one-group"
"""The metric, and its detail that is compared with it."""
REST = "rest"
"""What belongs to no level: setting up and the counts at the end; of the seconds also what the collector takes."""


def trial_charts(dossier: dict[str, Any]) -> dict[str, Chart]:
    """Return the charts of a trial by their keys; one that there are no numbers for is left out."""
    drawn = (
        share_chart(dossier["shares"], dossier["method"]),
        size_chart(dossier["table"]["sizes"], dossier["method"]["k"]),
        opening_chart(dossier["openings"]),
        *level_charts({role: dossier["costs"][role] for role in ("a", "b")}),
        query_chart(dossier["measurements"]),
    )
    return {chart.key: chart for chart in drawn if chart is not None}


def run_charts(record: dict[str, Any]) -> dict[str, Chart]:
    """Return the charts of what one provider knows of a run."""
    drawn = opening_chart(record["openings"]), *level_charts({record["role"]: record["costs"]})
    return {chart.key: chart for chart in drawn if chart is not None}


def share_chart(shares: Mapping[str, Sequence[Sequence[int]]], method: Mapping[str, Any]) -> Chart | None:
    """Draw the share of common users in each group, from the smallest to the largest, between its limits."""
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
        f"The share of a provider's users who are at the other one too, in {groups:,} groups from the smallest to the largest, "
        "and the limits of the policy."
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
    note = "Each provider's groups are put in order by themselves: the same place may be another group."
    if method["scope"] == "qi+sa":
        note += " B's limits hold for each sensitive value of a group too; drawn are groups as a whole."
    if len(ranks) < groups:
        note += f" Of {groups:,} groups {len(ranks):,} are drawn, evenly."
    columns = ("group", *(f"share {name}" for name in PROVIDERS.names))
    return Chart("shares", "Common users in groups", text, spec, columns, table, note)


def _limits(method: Mapping[str, Any], groups: int) -> list[dict[str, Any]]:
    """Return the limits as lines; what is the same for both providers is one line."""
    found = []
    for bound, words, side in (("max", "at most", "below"), ("min", "at least", "above")):
        a, b = (method[f"{bound}_{role}"] for role in ("a", "b"))
        named = [(a, "A and B")] if Fraction(a) == Fraction(b) else [(a, "A"), (b, "B")]
        for place, (value, who) in enumerate(named):
            # Curves rise from the left below to the right above, so names stand in the other corners; B's a little further in.
            along = groups * (0.02 + 0.3 * place)
            found.append({
                "share": float(Fraction(value)),
                "name": f"{words} {value} ({who})",
                "side": side,
                "group": along if side == "below" else groups - along,
            })  # fmt: skip
    return found


def size_chart(sizes: Sequence[int], k: int) -> Chart | None:
    """Draw how many groups have how many records, in bins that double from k on."""
    if not sizes:
        return None
    low, bins = max(1, min(k, *sizes)), []
    while low <= max(sizes):
        high = 2 * low - 1
        name = f"{low:,}" if high == low else f"{low:,} to {high:,}"
        bins.append((name, sum(low <= size <= high for size in sizes)))
        low = high + 1
    text = f"How many groups have how many records; the smallest has {min(sizes):,} and the largest {max(sizes):,}."
    spec = bars(
        [{"records": name, "groups": number, "kind": "groups"} for name, number in bins],
        down=Axis("records", "records", ""),
        along=Axis("groups", "number of groups"),
        series=OF_THE_GROUPS,
        legend=False,
        text=text,
    )
    return Chart("sizes", "Groups by size", text, spec, ("records", "groups"), bins)


def opening_chart(openings: Mapping[str, int]) -> Chart | None:
    """Draw how often something of each kind was opened."""
    if not any(openings.values()):
        return None
    rows = [(KINDS.get(kind, kind), number) for kind, number in openings.items()]
    text = "How often something of each kind became known in the run."
    spec = bars(
        [{"what": name, "openings": number, "kind": "opened"} for name, number in rows],
        down=Axis("what", "", ""),
        along=Axis("openings", "number of openings"),
        series=OPENED,
        legend=False,
        text=text,
    )
    return Chart("openings", "Openings by kind", text, spec, ("what", "openings"), rows)


def level_charts(costs: Mapping[str, Mapping[str, Any]]) -> list[Chart]:
    """Draw megabytes, messages and seconds of each level; `costs` are those of one provider, or of both."""
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
            ("Megabytes at each level", "megabytes between A and B", ",.3~f"),
            {BETWEEN.names[0]: ([number / MEGABYTE for number in size], total / MEGABYTE)},
            BETWEEN,
            _groups_and_ids(one),
        ),
        _by_level(
            "messages",
            ("Messages at each level", "messages between A and B", ",d"),
            {BETWEEN.names[0]: moved["messages"]},
            BETWEEN,
            _groups_and_ids(one),
        ),
        _by_level(
            "seconds",
            ("Seconds at each level", "seconds, with waiting for the other", ",.3~f"),
            {
                PARTY_IN_WORDS[role]: ([level["seconds"] for level in cost["levels"]], cost["seconds"])
                for role, cost in costs.items()
            },
            Series("between", tuple(PARTY_IN_WORDS[role] for role in costs), tuple(COLOURS[role] for role in costs)),
            _groups_and_ids(one),
        ),
    ]


def _groups_and_ids(cost: Mapping[str, Any]) -> list[tuple[int, int]]:
    return [(level["groups"], level["ids"]) for level in cost["levels"]]


def _by_level(
    key: str,
    words: tuple[str, str, str],
    numbers: Mapping[str, tuple[list[Any], Any]],
    series: Series,
    about: list[tuple[int, int]],
) -> Chart:
    """Draw a bar for each level and one for the rest; `numbers` are those of the levels and in all, for each of the series."""
    title, unit, shape = words
    names = [*(str(place) for place in range(1, len(about) + 1)), REST]
    whole = {who: [*each, max(0, total - sum(each))] for who, (each, total) in numbers.items()}
    drawn = [
        {"level": name, "between": who, key: number}
        for who, each in whole.items()
        for name, number in zip(names, each, strict=True)
    ]
    several = len(numbers) > 1
    text = f"{title}, and the rest, which belongs to none: setting up, and what follows the last level."
    spec = grouped_bars(
        drawn,
        across=Axis("level", "level", ""),
        up=Axis(key, unit, shape),
        series=series,
        legend=several,
        text=text,
        height=240,
    )
    table: list[tuple[Any, ...]] = [
        (name, *more, *each) for name, more, *each in zip(names, [*about, (None, None)], *whole.values(), strict=True)
    ]
    table.append(("in all", None, None, *(total for _each, total in numbers.values())))
    columns = ("level", "open groups", "ids in them", *(numbers if several else (unit,)))
    return Chart(key, title, text, spec, columns, table)


def query_chart(measurements: Sequence[Mapping[str, Any]]) -> Chart | None:
    """Draw the error of queries beside that of a table of one group; both must have been measured."""
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
    text = "How far the answers of queries are off on average: those of this table, and those of a table of one group."
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
