"""The page of a comparison, which opens offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.display import figure
from setveil.comparison.charts import frontier, itemset_chart, parameter_charts
from setveil.comparison.results import ALL, NOT_TRIED, interval_text
from setveil.report.page import page_with_charts

if TYPE_CHECKING:
    from setveil.comparison.results import Comparison, SetUpSummary

LOOKS = {"holds": "holds", "violated": "violated", "undecided": "part", "refused": "none", "ended": "none"}
"""The style class of each status."""
TABLE_SCRIPT = ("setveil.comparison", "table.js")
"""The script that sorts the table."""


def comparison_page(found: Comparison) -> str:
    """Return the page of a comparison as HTML."""
    drawn = {"frontier": frontier(found), "itemsets": itemset_chart(found)}
    parameters = [*parameter_charts(found)]
    charts = [one for one in (drawn["frontier"], *parameters, drawn["itemsets"]) if one is not None]
    return page_with_charts(
        "compare.html.jinja",
        charts,
        package="setveil.comparison",
        more_scripts=(TABLE_SCRIPT,),
        facts=found.facts,
        best=found.best,
        set_ups=found.ordered,
        task_text=lambda one: interval_text(one.task, is_share=False),
        excess_text=lambda one: interval_text(one.excess),
        drawn=drawn,
        parameters=parameters,
        columns=columns_of(found),
        failed=[one for one in found.set_ups if one.fails],
        coarse=[one for one in found.set_ups if one.stage not in (ALL, NOT_TRIED)],
        not_tried=[one for one in found.set_ups if one.stage == NOT_TRIED],
        trials=sum(len(one.trials) for one in found.set_ups),
        looks=LOOKS,
    )


def columns_of(found: Comparison) -> list[dict[str, Any]]:
    """Return the columns of the table of all set-ups: the title, whether it is a number, the cells, and whether they all are equal.

    A cell is its text and the value to sort by.
    """
    set_ups = found.ordered
    columns = [_texts("method", [one.method for one in set_ups])]
    for name in dict.fromkeys(name for one in set_ups for name in one.settings):
        texts = [one.settings.get(name, "") for one in set_ups]
        columns.append(_texts(name.replace("_", " "), texts) | {"same": len({*texts} - {""}) < 2})
    stages = [one.status if one.stage in (ALL, NOT_TRIED) else f"{one.status} ({one.stage})" for one in set_ups]
    columns += [
        _numbers("task", [_cell(one.task, interval_text(one.task, is_share=False)) for one in set_ups]),
        _numbers("beyond", [_cell(one.excess, interval_text(one.excess)) for one in set_ups]),
        _texts("strongest attack", [one.attack for one in set_ups]),
        _texts("best", ["best" if one.is_best else "" for one in set_ups]),
        _texts("guarantee", stages),
    ]
    for title in dict.fromkeys(title for one in set_ups for title in one.measurements):
        columns.append(_numbers(title, [_measured(one, title) for one in set_ups]))
    columns += [
        _numbers("task rank", [(figure(one.task_rank), one.task_rank) for one in set_ups]),
        _numbers("attack rank", [(figure(one.excess_rank), one.excess_rank) for one in set_ups]),
        _numbers("seconds", [("" if one.seconds is None else f"{one.seconds:.1f}", one.seconds) for one in set_ups]),
    ]
    return columns


def _cell(estimate: Any, text: str) -> tuple[str, float | None]:
    return text, None if estimate is None else estimate.value


def _measured(one: SetUpSummary, title: str) -> tuple[str, float | None]:
    value = one.measurements.get(title)
    return figure(value), value


def _texts(title: str, texts: list[str]) -> dict[str, Any]:
    return {"title": title, "is_number": False, "cells": [(text, text) for text in texts], "same": len({*texts}) < 2}


def _numbers(title: str, cells: list[tuple[str, float | int | None]]) -> dict[str, Any]:
    return {"title": title, "is_number": True, "cells": cells, "same": len({text for text, _value in cells}) < 2}
