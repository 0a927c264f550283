"""`setveil presence check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.base import progress
from setveil.cli.options import Option, argument
from setveil.cli.presence.options import EITHER_TABLE, population_of, table_of
from setveil.cli.show import say, say_json, say_table
from setveil.errors import BadData, BadParameter, Missing
from setveil.presence.catalog import GUARANTEES
from setveil.presence.release.provider_folder import read_provider_folder
from setveil.presence.release.release import open_joined, promised
from setveil.presence.tables.originals import BothGroups, Originals

TEXT = """Without tables it checks k-anonymity, as the collector can. With the table and the private folder of one provider it checks
what that provider can see of δ-site-presence alone; with those of both it checks the whole promise, and that the table is the true one.
Ends with 0 if everything that was checked holds, with 3 if not. A table goes with its provider's private folder and with --population.

Example:
  setveil presence check joined --population trial/population.csv \\
      --a trial/a.csv --private-a joined.private/a \\
      --b trial/b.csv --private-b joined.private/b"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        argument("release", "The folder of the joined table."),
        Option("private_a", str, "The private folder of provider A after the run."),
        Option("private_b", str, "The private folder of provider B after the run."),
        *EITHER_TABLE,
        Option("witnesses", int, "Show so many cases of what is broken.", 0),
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Check."""
    if given["witnesses"] < 0:
        raise BadParameter(f"witnesses is {given['witnesses']}; allowed is a whole number from 0 on")
    opened = open_joined(given["release"])
    originals, groups = _sides(given, opened)
    verdicts = []
    for guarantee in promised(opened.card, dict(GUARANTEES)):
        if "original" in guarantee.needs and originals is None:
            continue
        with progress.step(f"checking {guarantee.name}"):
            verdicts.append(guarantee.check(opened.table, original=originals, alignment=groups))
    if not verdicts:
        raise Missing(
            "what the card promises needs the table and the private folder of a provider, or of both, to be checked"
        )
    kept = all(verdicts)
    if given["json"]:
        say_json({"kept": kept, "verdicts": [one.to_dict(witnesses=given["witnesses"]) for one in verdicts]})
        return 0 if kept else 3
    for verdict in verdicts:
        say(str(verdict))
        say_table(["", "number"], [[key.replace("-", " "), value] for key, value in verdict.counts.items()])
        for witness in verdict.witnesses[: given["witnesses"]]:
            say(f"{witness.kind}: {witness.place}: {witness.detail}")
    if originals is None:
        say("site-presence was not checked: it needs the table and the private folder of a provider, or of both")
    return 0 if kept else 3


def _sides(given: dict[str, Any], opened: Any) -> tuple[Originals | None, BothGroups | None]:
    """Read what was named of each provider: its table and its groups go together."""
    named = [role for role in ("a", "b") if given[role] or given[f"private_{role}"]]
    if not named:
        for option in ("population", "query_a", "query_b", "query_population"):
            if given[option]:
                raise Missing(
                    f"--{option.replace('_', '-')} goes with the table and the private folder of a provider: name them with --a and "
                    "--private-a, --b and --private-b, or both"
                )
        return None, None
    for role in ("a", "b"):
        if given[f"query_{role}"] and role not in named:
            raise Missing(f"--query-{role} goes with --{role} and --private-{role}")
    for role in named:
        for option in (role, f"private_{role}"):
            if not given[option]:
                raise Missing(
                    f"--{option.replace('_', '-')} is missing: a table goes with its provider's private folder"
                )
    if not given["population"]:
        raise Missing("--population is missing: the ids of all people, which both providers know")
    schema = opened.table.schema
    population = population_of(given)
    tables, sides = {}, {}
    for role in named:
        tables[role] = table_of(given[role], role, schema, population, given, query=f"query_{role}")
        kept = read_provider_folder(Path(given[f"private_{role}"]), role, population)
        if kept.run.get("release_sha256") != opened.card.data.sha256:
            raise BadData("is of a run that published another table", file=given[f"private_{role}"])
        if kept.run.get("data_sha256") != tables[role].checksum():
            raise BadData("is not the table that the run was made from", file=given[role])
        sides[role] = kept.groups
    return Originals(schema, population, **tables), BothGroups(**sides)
