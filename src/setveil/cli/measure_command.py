"""`setveil measure`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.catalog import METRICS
from setveil.cli.options import READING, Option, argument, list_separator, of_parameter, reading_of
from setveil.cli.show import say_json, say_table
from setveil.release.inputs import as_published, as_records, original_of, private_of
from setveil.release.measuring import measure, required_parameters
from setveil.release.opening import open_release

TEXT = """Without --metric all metrics are measured that have what they need; the others say what they lack. RELEASE is a release folder
or a data file. The reading options are those of ORIGINAL; without any, it is read as it was for publish, if the private folder is there.

Example:
  setveil measure sample:supermarket release \\
      --metric record-loss --metric dissimilarity:form=printed"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        argument("original", "The data that the release was made from."),
        argument("release", "A release folder, or a data file of the same format as ORIGINAL."),
        Option(
            "metric", list[str], f"NAME or NAME:parameter=value,...; may be repeated. Names: {' | '.join(METRICS)}."
        ),
        Option(
            "private",
            str,
            "The private folder of the release: alignment and private parameters (default: RELEASE.private, if it is there).",
        ),
        *_of_metrics(),
        *READING,
    ]


def _of_metrics() -> list[Option]:
    """Return the parameters that metrics require as options."""
    options: dict[str, Option] = {}
    for required_by in required_parameters().values():
        p = next(iter(required_by.values()))
        metrics = ", ".join(required_by)
        options |= of_parameter(p, f"{p.description} ({p.allowed}; for {metrics}; default: as in the private folder)")
    return list(options.values())


def run(_name: str, given: dict[str, Any]) -> int:
    """Measure."""
    place = Path(given["release"])
    private = private_of(place, given["private"])
    original = as_records(original_of(given["original"], private, reading_of(given)))
    release = open_release(place) if place.is_dir() else as_published(place, reading_of(given))
    parameters = {option.name: given[option.name] for option in _of_metrics()}
    separator = list_separator(given)
    results = measure(original, release, given["metric"] or None, private=private, separator=separator, **parameters)
    if given["json"]:
        say_json({"metrics": [m.to_dict() for m in results]})
        return 0
    say_table(
        ["metric", "value", "unit", "better", "details"],
        [[m.title, m.value, m.unit, m.better, m.reason or _details(m.details)] for m in results],
    )
    return 0


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
