"""`setveil measure`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import setveil as sv
from setveil.base.display import quantity, share
from setveil.catalog import METRICS
from setveil.cli.options import (
    Declared,
    Option,
    OutputOptions,
    ReadingOptions,
    Value,
    about,
    list_separator,
    of_parameter,
)
from setveil.cli.show import say, say_headline, say_json, say_table
from setveil.errors import BadParameter, ExitCode
from setveil.metrics.base import NOT_COMPUTED
from setveil.metrics.folding import folded
from setveil.metrics.headline import TITLES
from setveil.release.measuring import required_parameters

if TYPE_CHECKING:
    from setveil.metrics.base import Measurement
    from setveil.metrics.measurements import Measurements

COLUMNS = ("metric", "value", "unit", "better", "details")


def of_metrics() -> list[Option]:
    """Return options for the parameters that metrics require."""
    options: dict[str, Option] = {}
    for required_by in required_parameters().values():
        p = next(iter(required_by.values()))
        metrics = ", ".join(required_by)
        options |= of_parameter(p, f"{p.description} ({p.allowed}; for {metrics}; default: as in the private folder)")
    return list(options.values())


def measure(
    original: Annotated[str, about("The data that the release was made from.")],
    release: Annotated[str, about("A release folder, or a data file of the same format as ORIGINAL.")],
    /,
    *,
    metric: Annotated[
        list[str] | None,
        about(f"NAME or NAME:parameter=value,...; can be repeated. Names: {' | '.join(METRICS)}."),
    ] = None,
    all_figures: Annotated[
        bool, Parameter(name="--all", help="Show all figures that can be computed, instead of the most important ones.")
    ] = False,
    private: Annotated[
        str | None,
        about(
            "The private folder of the release, with its alignment and private parameters (default: RELEASE.private, if it exists)."
        ),
    ] = None,
    exact: Annotated[
        bool, about("Compute in full what is otherwise estimated from a sample or bounded; can take long.")
    ] = False,
    heldout: Annotated[
        str | None,
        about(
            "Records of people who are not in ORIGINAL, to test models on that are trained on the release; read like ORIGINAL (default: the"
            " people of ORIGINAL, which is optimistic, and only for metrics that are named)."
        ),
    ] = None,
    source: ReadingOptions,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(of_metrics, after="private")],
) -> ExitCode:
    r"""Measure what a release costs and what it still reveals.

    Shows at most ten figures, the most important ones for this release; with --all every figure, and with --metric those named. A metric
    that is named and cannot be computed states why. The reading options apply to ORIGINAL. Without them, the original is read as for
    publish, if the private folder exists.

    Example:
      setveil measure sample:supermarket release \
          --metric record-loss --metric dissimilarity:form=printed
    """
    if metric and all_figures:
        raise BadParameter("`all=` and `metric=` contradict each other: use one of them", parameter="metric")
    places = {"original": original, "release": release}
    results = sv.measure(
        original,
        release,
        metric or None,
        private=private,
        reading=source.given(),
        separator=list_separator({**asdict(source), **places}),
        exact=exact,
        heldout=heldout,
        **parameters,
    )
    if output.json:
        say_json({"headline": [one.to_dict() for one in results.headline], "metrics": [m.to_dict() for m in results]})
    elif metric:
        _say_named(results)
    elif all_figures:
        _say_all(results)
    else:
        _say_headline(results)
    return ExitCode.OK


def _say_headline(results: Measurements) -> None:
    """Print the headline, and how to see more."""
    say_headline(results.headline)
    say()
    more = quantity(len(folded(results)), "figure")
    say(f"All {more}: --all. What attackers find out: setveil attack. What a metric means: setveil metrics NAME")


def _say_named(results: Measurements) -> None:
    """Print the metrics that were named, or why they have no figure."""
    rows = [[m.title, _value(m), m.unit, m.better, m.reason or _text(m.remark, m.details)] for m in results]
    say_table(COLUMNS, rows)


def _say_all(results: Measurements) -> None:
    """Print all figures, grouped, and how many metrics have none."""
    for group, title in TITLES.items():
        found = folded(one for one in results if METRICS[one.name].about == group)
        rows = [
            [one.title, _value(one[0]), one[0].unit, one[0].better, _text(one[0].remark, one.details)] for one in found
        ]
        if rows:
            say_table(COLUMNS, rows, title=title)
            say()
    lacking: dict[str, set[str]] = {}
    for one in results:
        if one.value is None:
            is_missing = one.reason.startswith(NOT_COMPUTED)
            reason = (
                one.reason.removeprefix(NOT_COMPUTED).partition(":")[0] if is_missing else "not defined for these data"
            )
            lacking.setdefault(reason, set()).add(one.name)
    if lacking:
        say(
            f"Not computed: {', '.join(f'{len(names)} ({reason})' for reason, names in lacking.items())}. Why: --metric NAME"
        )


def _value(measured: Measurement) -> Any:
    """Return the value of a measurement; a share is in percent."""
    if measured.value is None or not measured.unit.startswith("share of "):
        return measured.value
    return share(measured.value)


def _text(remark: str, details: dict[str, Any]) -> str:
    """Return how far the value is exact, and its details."""
    return ", ".join(filter(None, (remark, _details(details))))


def _details(details: dict[str, Any]) -> str:
    return ", ".join(f"{key.replace('-', ' ')} {_detail(value)}" for key, value in details.items())


def _detail(value: Any) -> str:
    match value:
        case dict():
            return f"({_details(value)})"
        case list():
            return quantity(len(value), "entry", "entries")
        case float():
            return f"{value:,.3g}"
        case int() if not isinstance(value, bool):
            return f"{value:,}"
        case _:
            return str(value)
