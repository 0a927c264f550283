"""`setveil measure`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.catalog import METRICS
from setveil.cli.options import LEVEL, READING, Option, argument, named_itemsets, read_any, read_data
from setveil.cli.show import say_json, say_table
from setveil.data.categories import read_categories
from setveil.data.neighbours import Neighbours
from setveil.data.side_files import read_sensitive
from setveil.release.checking import open_release, refuse_other_release
from setveil.release.dossier import Private
from setveil.release.measuring import chosen_metrics, measure_all

TEXT = """Without --metric all metrics are measured that have what they need; the others say what they lack. RELEASE is a release folder
or a data file. The reading options are those of ORIGINAL.

Example:
  setveil measure sample:supermarket release --private release.private \\
      --metric record-loss --metric dissimilarity:form=printed"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        argument("original", "The data that the release was made from."),
        argument("release", "A release folder, or a data file of the same format as ORIGINAL."),
        Option(
            "metric", list[str], f"NAME or NAME:parameter=value,...; may be repeated. Names: {' | '.join(METRICS)}."
        ),
        Option("private", str, "The private folder of the release: alignment and private parameters."),
        Option("categories", str, "Categories, for metrics that need them (default: those in the private folder)."),
        LEVEL,
        Option("sensitive", str, "Sensitive items, for metrics that need them (default: those in the private folder)."),
        Option("itemsets", str, "Named itemsets, for metrics that need them (default: those in the private folder)."),
        Option("rules", str, "Utility rules, for metrics that need them (default: those in the private folder)."),
        Option(
            "min_support",
            str,
            "From which support on an itemset is frequent, for metrics of named itemsets (default: as in the private folder).",
        ),
        Option(
            "k",
            str,
            "From how many records on an item could be told, for metrics that need it (default: as in the private folder).",
        ),
        Option(
            "rho",
            str,
            "The highest confidence with which a sensitive item may be inferred, for metrics of sensitive items (default: as in the "
            "private folder).",
        ),
        *READING,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Measure."""
    original = read_data(given["original"], given)
    private = Private.load(Path(given["private"])) if given["private"] else None
    opened = open_release(given["release"]) if Path(given["release"]).is_dir() else None
    if private and opened:
        refuse_other_release(opened, private)
    published = read_any(given["release"], given) if opened is None else opened.data
    known: dict[str, Any] = dict(private.known_parameters()) if private else {}
    if private and not isinstance(published, Neighbours):  # those were made from disassociated data
        private.refuse_other_original(original)
    if given["categories"]:
        known["categories"] = read_categories(given["categories"], level=given["level"], data=original)
    if given["sensitive"]:
        known["sensitive"] = read_sensitive(given["sensitive"], original)
    for name in ("itemsets", "rules"):
        if given[name]:
            known[name] = named_itemsets(given[name], given, original)
    for name in ("min_support", "k", "rho"):
        if given[name]:
            known[name] = given[name]
    metrics, lacking = chosen_metrics(given["metric"] or None, known, type(published))
    results = measure_all(original, published, private.alignment if private else None, metrics) + lacking
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
