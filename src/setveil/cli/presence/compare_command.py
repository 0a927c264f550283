"""`setveil presence compare`."""

from __future__ import annotations

from typing import Annotated

from setveil.base.declaration import split_commas
from setveil.catalog import named
from setveil.cli.options import OutputOptions, about
from setveil.cli.presence.options import TableAArgument, TableBArgument, TrialOptions
from setveil.cli.show import say, say_json, say_table
from setveil.errors import BadParameter, ExitCode
from setveil.presence.catalog import METHODS
from setveil.presence.comparing import compare_methods
from setveil.presence.metrics.range_queries import RangeQueryError


def compare(
    a: TableAArgument,
    b: TableBArgument,
    /,
    *,
    tables: TrialOptions,
    methods: Annotated[str, about("The methods to run, separated by commas.")] = ",".join(METHODS),
    selectivity: Annotated[
        str, about("Shares of the domain that queries cover, separated by commas.")
    ] = "5%,10%,20%,30%",
    output: OutputOptions,
) -> ExitCode:
    r"""Compare the protocol with other methods in a trial.

    Runs the protocol and the other methods on both tables, in the clear and with the limits of the policy. Checks the guarantees of each
    method and measures the error of random range queries. Nothing is published: extended-mondrian would reveal the customers of both
    providers, and mpalm and mondrian need both tables in one place.

    Example:
      setveil presence compare trial/a.csv trial/b.csv \
          --population trial/population.csv --policy trial/policy.toml
    """
    kinds = [named("method", METHODS, name) for name in _listed(methods, "--methods")]
    metrics = [RangeQueryError(selectivity=share) for share in _listed(selectivity, "--selectivity")]
    found = compare_methods(kinds, *tables.trial(a, b), metrics)
    if output.json:
        say_json({"methods": [one.to_dict() for one in found]})
        return ExitCode.OK
    errors = [f"error at {metric.selectivity}" for metric in metrics]
    rows = [
        [
            one.name,
            one.groups,
            *(None if error is None else f"{error:.3g}" for error in one.errors),
            round(one.seconds, 2),
            one.promises,
        ]
        for one in found
    ]
    say_table(["method", "groups", *errors, "seconds", "guarantees"], rows)
    for one in found:
        if one.reason:
            say(f"{one.name}: {one.reason}")
    return ExitCode.OK


def _listed(text: str, option: str) -> list[str]:
    names: list[str] = split_commas(text)
    if not names:
        raise BadParameter(f"{option} is empty; expected at least one value, separated by commas")
    return names
