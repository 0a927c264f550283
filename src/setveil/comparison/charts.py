"""The charts of a comparison: the frontier, the effect of each parameter, and what happens to frequent itemsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from setveil.attacks.base import Finding
from setveil.base.display import cut
from setveil.comparison.results import ALL, SetUpSummary, interval_text
from setveil.report.charts import (
    Axis,
    Chart,
    Series,
    points_per_name,
    points_with_intervals,
    stacked_shares,
)
from setveil.report.theme import LOST, NEUTRAL, NEW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setveil.comparison.results import Comparison, Estimate

FATES: Final = Series("fate", ("kept", "lost", "new"), (NEUTRAL, LOST, NEW))
EXCESS: Final = "found beyond the control"
MOST_BARS: Final = 40
"""Maximum number of bars in a chart: more cannot be read."""
LONGEST: Final = 44


def frontier(found: Comparison) -> Chart | None:
    """Draw what a task keeps against what the strongest attack gains; None if no set-up has both."""
    placed = [one for one in found.set_ups if one.task is not None and one.excess is not None]
    if not placed:
        return None
    rows = [_row(one, one.task, one.excess) for one in placed if one.task is not None and one.excess is not None]
    methods = tuple(dict.fromkeys(one.method for one in placed))
    task = found.facts["task"]
    spec = points_with_intervals(
        rows,
        across=Axis("task", cut(task["title"], LONGEST), ".2~f"),
        up=Axis("excess", EXCESS, ".3~%"),
        series=Series("method", methods),
        size=Axis("seconds", "processor seconds", ".1f"),
        tooltip=[
            Axis("set_up", "set-up", ""),
            Axis("settings", "settings", ""),
            Axis("status", "guarantee", ""),
            Axis("task_text", "task", ""),
            Axis("excess_text", "beyond", ""),
            Axis("attack", "strongest attack", ""),
            Axis("seconds", "processor seconds", ".2f"),
        ],
        text="What each set-up keeps, and what the strongest attack finds, with 95 % intervals.",
    )
    columns = ("set-up", "guarantee", "task", "beyond", "strongest attack", "best")
    table = [
        (row["set_up"], row["status"], row["task_text"], row["excess_text"], row["attack"], row["best"]) for row in rows
    ]
    better = "right" if task["better"] == "higher" else "left"
    note = (
        f"Good set-ups are below and to the {better}. The dashed line connects those that no other one beats, among those whose guarantee "
        f"holds. {task['title']}: {task['unit']}. Bars are 95 % intervals. "
        "A larger point took longer. A cross: the guarantee does not hold. A ring: run on a sample only."
    )
    return Chart(
        "kept_and_gained",
        "What a task keeps, and what an attacker gains",
        spec["description"],
        spec,
        columns,
        table,
        note,
    )


def _row(one: SetUpSummary, task: Estimate, excess: Estimate) -> dict[str, Any]:
    return {
        "set_up": one.title,
        "settings": ", ".join(f"{name} {value}" for name, value in one.settings.items()),
        "method": one.method,
        "status": one.status if one.stage == ALL else f"{one.status} ({one.stage})",
        "task": task.value,
        "across_low": task.low,
        "across_high": task.high,
        "task_text": interval_text(task, is_share=False),
        "excess": excess.value,
        "up_low": excess.low,
        "up_high": excess.high,
        "excess_text": interval_text(excess),
        "attack": one.attack,
        "seconds": one.seconds,
        "best": one.is_best,
        "fails": one.fails,
        "coarse": one.stage != ALL,
    }


def parameter_charts(found: Comparison) -> Iterator[Chart]:
    """Draw the effect of each parameter that was varied, one method at a time, with one point per trial."""
    by_method: dict[str, list[SetUpSummary]] = {}
    for one in found.set_ups:
        by_method.setdefault(one.method, []).append(one)
    number = 0
    for method, several in by_method.items():
        for name in several[0].settings:
            if len({one.settings.get(name) for one in several}) > 1:
                yield from _of_parameter(found, method, name, several, f"parameter_{number}")
                number += 1


def _of_parameter(
    found: Comparison, method: str, name: str, several: Sequence[SetUpSummary], key: str
) -> Iterator[Chart]:
    rows = [row for one in several if one.stage == ALL for row in _trials(one, name)]
    task = found.facts["task"]
    ups = {
        "task": Axis("task", f"{task['title']}", ".2~f"),
        "excess": Axis("excess", "beyond the control", ".3~%"),
    }
    titles = {"task": "what the task keeps", "excess": "what the strongest attack gains"}
    for side, up in ups.items():
        shown = [row for row in rows if row[side] is not None]
        if len({row["value"] for row in shown}) < 2:
            continue
        others = tuple(dict.fromkeys(row["others"] for row in shown))
        text = f"{method}: {titles[side]} for each value of {name}, one point per seed."
        spec = points_per_name(
            shown,
            across=Axis("value", name.replace("_", " "), ""),
            up=up,
            series=Series("others", others, title="other settings"),
            within="seed",
            text=text,
        )
        columns = (name.replace("_", " "), "other settings", "seed", side)
        table = [(row["value"], row["others"], row["seed"], row[side]) for row in shown]
        yield Chart(f"{key}_{side}", f"{method}, {name.replace('_', ' ')}: {titles[side]}", text, spec, columns, table)


def _trials(one: SetUpSummary, name: str) -> Iterator[dict[str, Any]]:
    others = ", ".join(f"{key}={value}" for key, value in one.settings.items() if key != name) or "none"
    for trial in one.trials:
        measured = trial["measurements"]
        found = (each["excess"] for each in trial["findings"] if Finding.from_dict(each).title == one.attack)
        excess = next((each["value"] for each in found if each is not None), None)
        yield {
            "value": cut(one.settings.get(name, "default"), LONGEST),
            "others": cut(others, LONGEST),
            "seed": str(trial["seed"]),
            "task": measured[0]["value"] if measured else None,
            "excess": excess,
        }


def itemset_chart(found: Comparison) -> Chart | None:
    """Draw how many frequent itemsets each set-up keeps, loses and adds; None if this was not measured."""
    rows: list[dict[str, Any]] = []
    table: list[tuple[Any, ...]] = []
    for one in found.set_ups:
        counts = [
            measured["details"]
            for trial in one.trials
            for measured in trial["measurements"]
            if measured["name"] == "fi-similarity" and measured["value"] is not None
        ]
        if counts and len(table) < MOST_BARS:
            means = {fate: round(sum(each[fate] for each in counts) / len(counts)) for fate in FATES.names}
            rows += [{"set-up": cut(one.title, LONGEST), "fate": fate, "itemsets": means[fate]} for fate in FATES.names]
            table.append((one.title, *means.values()))
    if not rows:
        return None
    text = "Frequent itemsets that each set-up keeps, loses and adds, on average over its trials."
    spec = stacked_shares(
        rows,
        down=Axis("set-up", "", ""),
        along=Axis("itemsets", "share of the itemsets"),
        series=FATES,
        text=text,
    )
    note = (
        "Itemsets that are frequent before or after. Only forms with whole records have frequent itemsets of their own."
        + (f" The first {MOST_BARS} set-ups are shown." if len(table) == MOST_BARS else "")
    )
    return Chart("itemsets", "Frequent itemsets", text, spec, ("set-up", *FATES.names), table, note)
