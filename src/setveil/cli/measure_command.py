"""`setveil measure`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

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
from setveil.cli.show import say_json, say_table
from setveil.errors import ExitCode
from setveil.release.measuring import required_parameters

if TYPE_CHECKING:
    from setveil.metrics.base import Measurement


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
    private: Annotated[
        str | None,
        about(
            "The private folder of the release, with its alignment and private parameters (default: RELEASE.private, if it exists)."
        ),
    ] = None,
    exact: Annotated[
        bool, about("Compute in full what is otherwise estimated from a sample or bounded; can take long.")
    ] = False,
    source: ReadingOptions,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(of_metrics, after="private")],
) -> ExitCode:
    r"""Measure what a release costs and what it still reveals.

    Without --metric, all metrics are computed; a metric that lacks a parameter reports what it needs. The reading options apply to
    ORIGINAL. Without them, the original is read as for publish, if the private folder exists.

    Example:
      setveil measure sample:supermarket release \
          --metric record-loss --metric dissimilarity:form=printed
    """
    places = {"original": original, "release": release}
    results = sv.measure(
        original,
        release,
        metric or None,
        private=private,
        reading=source.given(),
        separator=list_separator({**asdict(source), **places}),
        exact=exact,
        **parameters,
    )
    if output.json:
        say_json({"metrics": [m.to_dict() for m in results]})
        return ExitCode.OK
    say_table(
        ["metric", "value", "unit", "better", "details"],
        [[m.title, _value(m), m.unit, m.better, _text(m)] for m in results],
    )
    return ExitCode.OK


def _value(measured: Measurement) -> Any:
    """Return the value of a measurement; a share is in percent."""
    if measured.value is None or not measured.unit.startswith("share of "):
        return measured.value
    return share(measured.value)


def _text(measured: Measurement) -> str:
    """Return the reason why there is no value, or how far the value is exact, and its details."""
    return measured.reason or ", ".join(filter(None, (measured.remark, _details(measured.details))))


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
