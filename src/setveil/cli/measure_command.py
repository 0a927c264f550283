"""`setveil measure`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import setveil as sv
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


def of_metrics() -> list[Option]:
    """Return the parameters that metrics require as options."""
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
        about(f"NAME or NAME:parameter=value,...; may be repeated. Names: {' | '.join(METRICS)}."),
    ] = None,
    private: Annotated[
        str | None,
        about(
            "The private folder of the release: alignment and private parameters (default: RELEASE.private, if it is there)."
        ),
    ] = None,
    source: ReadingOptions,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(of_metrics, after="private")],
) -> ExitCode:
    r"""Measure what a release costs and what it still reveals.

    Without --metric all metrics are measured that have what they need; the others say what they lack. RELEASE is a release folder or a data
    file. The reading options are those of ORIGINAL; without any, it is read as it was for publish, if the private folder is there.

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
        **parameters,
    )
    if output.json:
        say_json({"metrics": [m.to_dict() for m in results]})
        return ExitCode.OK
    say_table(
        ["metric", "value", "unit", "better", "details"],
        [[m.title, m.value, m.unit, m.better, m.reason or _details(m.details)] for m in results],
    )
    return ExitCode.OK


def _details(details: dict[str, Any]) -> str:
    return ", ".join(f"{key.replace('-', ' ')} {_detail(value)}" for key, value in details.items())


def _detail(value: Any) -> str:
    match value:
        case dict():
            return f"({_details(value)})"
        case list():
            return f"{len(value):,} entries"
        case float():
            return f"{value:,.4g}"
        case int() if not isinstance(value, bool):
            return f"{value:,}"
        case _:
            return str(value)
