"""`setveil presence measure`."""

from __future__ import annotations

from typing import Any

from setveil.cli.options import Option, argument, declared, of_declaration
from setveil.cli.presence.options import BOTH_TABLES, both_tables
from setveil.cli.show import say, say_json, say_table
from setveil.presence.metrics.range_queries import RangeQueryError
from setveil.presence.release.release import open_joined

TEXT = """Counts with random range queries, or with those of a file, on the joined table and on the true join of both tables, in a trial.

Example:
  setveil presence measure joined trial/a.csv trial/b.csv \\
      --population trial/population.csv"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        argument("release", "The folder of the joined table."),
        *BOTH_TABLES,
        *of_declaration(RangeQueryError),
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Measure."""
    opened = open_joined(given["release"])
    metric = declared(RangeQueryError, given, None)
    originals = both_tables(given["a"], given["b"], opened.table.schema, given)
    found = metric(originals, opened.table)
    if given["json"]:
        say_json({"metrics": [found.to_dict()]})
        return 0
    value = "not computed" if found.value is None else f"{found.value:.4g} {found.unit}"
    say(f"{found.title}: {value}{f' ({found.reason})' if found.reason else ''}")
    say_table(["detail", "value"], [[key.replace("_", " "), str(value)] for key, value in found.details.items()])
    return 0
