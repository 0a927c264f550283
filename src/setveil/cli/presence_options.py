"""Options that several commands of `setveil presence` have, and what they read."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli.options import REQUIRED, Option
from setveil.data.joined.originals import Originals
from setveil.data.joined.table_files import read_population, read_provider_table
from setveil.errors import BadParameter
from setveil.presence.dummies import KEY_BYTES
from setveil.presence.home import Home

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.data.joined.population import Population
    from setveil.data.joined.provider_table import ProviderTable
    from setveil.data.joined.schema import Schema

POLICY = Option("policy", str, "The policy file.", REQUIRED)
POPULATION = Option(
    "population",
    str,
    "The ids of all people, from a third source: a table with the id column, a text file with an id a line, or a database.",
    REQUIRED,
)
ID = Option("id", str, "The column of ids in all tables.", "id")
QUERY = Option("query", str, "What to ask a database, where the table is one.")
SEPARATOR = Option("separator", str, "What separates the columns of CSV files (default: a comma).")
TIMEOUT = Option("timeout", float, "Give up when another party sent nothing for so many seconds.", 60.0)

WAIT = Option("wait", float, "Wait so many seconds for the others to start.", 600.0)


def seconds(given: Mapping[str, Any]) -> tuple[float, float]:
    """Return timeout and wait, or refuse what is no span of time."""
    for name in ("timeout", "wait"):
        if not 0 < given[name] <= 1_000_000:
            raise BadParameter(f"{name} is {given[name]:g}; allowed is a number of seconds above 0, up to 1,000,000")
    return given["timeout"], given["wait"]


def table_of(
    source: str, role: str, schema: Schema, given: Mapping[str, Any], *, query: str = "query"
) -> ProviderTable:
    """Read the table of a provider."""
    sensitive = schema.sensitive if role == "b" else None
    return read_provider_table(
        source,
        schema.of(role),
        sensitive,
        id_column=given["id"],
        query=given.get(query),
        separator=given.get("separator"),
    )


def population_of(given: Mapping[str, Any]) -> Population:
    """Read the population."""
    return read_population(given["population"], id_column=given["id"])


def both_tables(a: str, b: str, schema: Schema, given: Mapping[str, Any]) -> Originals:
    """Read both tables, for a trial."""
    return Originals(
        schema,
        population_of(given),
        table_of(a, "a", schema, given, query="query_a"),
        table_of(b, "b", schema, given, query="query_b"),
    )


def place(text: str | None, default: Path) -> Path:
    """Return a path that may be left out."""
    return Path(text) if text else default


def trial_key(home: str | None, role: str) -> bytes:
    """Return the stored key of a home, or one that lasts for this trial."""
    if not home:
        return secrets.token_bytes(KEY_BYTES)
    opened = Home.open(Path(home))
    if opened.role != role:
        raise BadParameter(f"{home} is the home of another party; --home-{role} wants that of provider {role.upper()}")
    return opened.dummy_key()
