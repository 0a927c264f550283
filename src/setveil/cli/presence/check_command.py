"""`setveil presence check`."""

from __future__ import annotations

from typing import Annotated

import setveil as sv
from setveil.cli.options import OutputOptions, about, refuse_negative
from setveil.cli.presence.options import EitherTableOptions, JoinedArgument, TableAOption, TableBOption
from setveil.cli.show import say, say_counts, say_json, say_verdict
from setveil.errors import ExitCode, Missing
from setveil.presence.release.checking import ProviderSide


def check(
    release: JoinedArgument,
    /,
    *,
    private_a: Annotated[str | None, about("The private folder that provider A has after the run.")] = None,
    private_b: Annotated[str | None, about("The private folder that provider B has after the run.")] = None,
    a: TableAOption = None,
    b: TableBOption = None,
    tables: EitherTableOptions,
    witnesses: Annotated[int, about("Show at most this number of violations.")] = 0,
    output: OutputOptions,
) -> ExitCode:
    r"""Check a joined table again, with or without the providers' tables.

    Without tables it checks k-anonymity, as the collector can. With the table and the private folder of one provider it also checks the
    part of δ-site-presence that this provider can see. With those of both providers it checks all of δ-site-presence, and that the joined
    table is the true join. The exit code is 0 if everything that was checked holds, and 3 if not. A provider's table requires the
    provider's private folder and --population.

    Example:
      setveil presence check joined --population trial/population.csv \
          --a trial/a.csv --private-a joined.private/a \
          --b trial/b.csv --private-b joined.private/b
    """
    refuse_negative(witnesses=witnesses)
    opened = sv.open_joined(release)
    sides = _sides(tables, {"a": (a, private_a), "b": (b, private_b)})
    verdicts = sv.check_joined(opened, population=tables.people(), **sides)
    holds = all(verdicts)
    if output.json:
        say_json({"kept": holds, "verdicts": [one.to_dict(witnesses=witnesses) for one in verdicts]})
    else:
        for verdict in verdicts:
            say_verdict(verdict)
            say_counts(verdict, witnesses)
        if not sides:
            say(
                "site-presence was not checked: this requires the table and the private folder of at least one provider"
            )
    return ExitCode.OK if holds else ExitCode.VIOLATED


def _sides(tables: EitherTableOptions, named: dict[str, tuple[str | None, str | None]]) -> dict[str, ProviderSide]:
    """Return the table and the private folder of each provider that was given; refuse one without the other."""
    sides = {}
    for role, (table, folder) in named.items():
        if table and folder:
            sides[role] = ProviderSide(tables.source(role, table), folder)
        elif table or folder:
            lacking = f"--private-{role}" if table else f"--{role}"
            raise Missing(f"{lacking} is missing: a provider's table and its private folder must be given together")
    if not sides:
        for option in ("population", "query_a", "query_b", "query_population"):
            if getattr(tables, option):
                raise Missing(
                    f"--{option.replace('_', '-')} requires the table and the private folder of a provider: give --a and --private-a, "
                    "--b and --private-b, or all four"
                )
    for role in named:
        if role not in sides and getattr(tables, f"query_{role}"):
            raise Missing(f"--query-{role} requires --{role} and --private-{role}")
    return sides
