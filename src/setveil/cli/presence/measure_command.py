"""`setveil presence measure`."""

from __future__ import annotations

from typing import Annotated

import setveil as sv
from setveil.cli.options import Declared, OutputOptions, Value, declared
from setveil.cli.presence.options import BothTablesOptions, JoinedArgument, TableAArgument, TableBArgument
from setveil.cli.show import say, say_json, say_table
from setveil.errors import ExitCode
from setveil.presence.metrics.range_queries import RangeQueryError


def measure(
    release: JoinedArgument,
    a: TableAArgument,
    b: TableBArgument,
    /,
    *,
    tables: BothTablesOptions,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(RangeQueryError, after="tables")],
) -> ExitCode:
    r"""Measure the query error of a joined table.

    Answers random range queries, or the queries of a file, on the joined table and on the true join of both tables, and compares the
    counts. This requires both tables, as in a trial.

    Example:
      setveil presence measure joined trial/a.csv trial/b.csv \
          --population trial/population.csv
    """
    opened = sv.open_joined(release)
    metric = declared(RangeQueryError, parameters, None)
    found = metric(tables.originals(a, b, opened.table.schema), opened.table)
    if output.json:
        say_json({"metrics": [found.to_dict()]})
        return ExitCode.OK
    value = "not computed" if found.value is None else f"{found.value:.3g} {found.unit}"
    say(f"{found.title}: {value}{f' ({found.reason})' if found.reason else ''}")
    say_table(["detail", "value"], [[key.replace("_", " "), value] for key, value in found.details.items()])
    return ExitCode.OK
