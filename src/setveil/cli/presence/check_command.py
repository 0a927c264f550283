"""`setveil presence check`."""

from __future__ import annotations

from typing import Annotated

import setveil as sv
from setveil.cli.options import OutputOptions, about, refuse_negative
from setveil.cli.presence.options import EitherTableOptions, JoinedArgument, TableAOption, TableBOption
from setveil.cli.show import say, say_counts, say_json
from setveil.errors import ExitCode, Missing
from setveil.presence.release.checking import ProviderSide


def check(
    release: JoinedArgument,
    /,
    *,
    private_a: Annotated[str | None, about("The private folder of provider A after the run.")] = None,
    private_b: Annotated[str | None, about("The private folder of provider B after the run.")] = None,
    a: TableAOption = None,
    b: TableBOption = None,
    tables: EitherTableOptions,
    witnesses: Annotated[int, about("Show at most this number of violations.")] = 0,
    output: OutputOptions,
) -> ExitCode:
    r"""Check a joined table again, alone or with both tables.

    Without tables it checks k-anonymity, as the collector can. With the table and the private folder of one provider it checks what that
    provider can see of δ-site-presence alone; with those of both it checks the whole promise, and that the table is the true one. Ends with
    0 if everything that was checked holds, with 3 if not. A table goes with its provider's private folder and with --population.

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
            say(str(verdict))
            say_counts(verdict, witnesses)
        if not sides:
            say("site-presence was not checked: it needs the table and the private folder of a provider, or of both")
    return ExitCode.OK if holds else ExitCode.VIOLATED


def _sides(tables: EitherTableOptions, named: dict[str, tuple[str | None, str | None]]) -> dict[str, ProviderSide]:
    """Return what was named of each provider: its table and its private folder go together."""
    sides = {}
    for role, (table, folder) in named.items():
        if table and folder:
            sides[role] = ProviderSide(tables.source(role, table), folder)
        elif table or folder:
            lacking = f"--private-{role}" if table else f"--{role}"
            raise Missing(f"{lacking} is missing: a table goes with its provider's private folder")
    if not sides:
        for option in ("population", "query_a", "query_b", "query_population"):
            if getattr(tables, option):
                raise Missing(
                    f"--{option.replace('_', '-')} goes with the table and the private folder of a provider: name them with --a and "
                    "--private-a, --b and --private-b, or both"
                )
    for role in named:
        if role not in sides and getattr(tables, f"query_{role}"):
            raise Missing(f"--query-{role} goes with --{role} and --private-{role}")
    return sides
