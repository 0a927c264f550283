"""Options that several commands of `setveil presence` have, and what they read."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli.options import REQUIRED, Option, argument
from setveil.data.databases import is_database, shown
from setveil.errors import BadParameter, Missing
from setveil.presence.dummies import KEY_BYTES
from setveil.presence.home import Home
from setveil.presence.methods.base import Keys
from setveil.presence.policy import read_policy
from setveil.presence.tables.originals import Originals
from setveil.presence.tables.table_files import read_population, read_provider_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.presence.policy import Policy
    from setveil.presence.tables.population import Population
    from setveil.presence.tables.provider_table import ProviderTable
    from setveil.presence.tables.schema import Schema

POLICY = Option("policy", str, "The policy file.", REQUIRED)
POPULATION = Option(
    "population",
    str,
    "The ids of all people, from a third source: a table with the id column, a text file with an id a line, or a database.",
    REQUIRED,
)
ID = Option("id", str, "The column of ids in all tables.", "id")
QUERY = Option("query", str, "What to ask a database, where the table is one.")
QUERY_A = Option("query_a", str, "What to ask the database of A, where its table is one.")
QUERY_B = Option("query_b", str, "What to ask the database of B, where its table is one.")
QUERY_POPULATION = Option("query_population", str, "What to ask the database of the population, where it is one.")
SEPARATOR = Option("separator", str, "What separates the columns of CSV files (default: a comma).")
TIMEOUT = Option("timeout", float, "Give up when another party sent nothing for so many seconds.", 60.0)

BOTH_TABLES = (
    argument("a", "The table of provider A: a CSV or Parquet file, or a database with --query-a."),
    argument("b", "The table of provider B."),
    POPULATION,
    QUERY_A,
    QUERY_B,
    QUERY_POPULATION,
    ID,
    SEPARATOR,
)
"""What a command reads that has both tables at hand."""
EITHER_TABLE = (
    Option("a", str, "The table of provider A."),
    Option("b", str, "The table of provider B."),
    Option(POPULATION.name, str, POPULATION.help),
    QUERY_A,
    QUERY_B,
    QUERY_POPULATION,
    ID,
    SEPARATOR,
)
"""What a command reads that takes the table of one provider, or of both."""
TRIAL = (
    *BOTH_TABLES,
    POLICY,
    Option("home_a", str, "The home of provider A, whose key draws its dummies (default: a key for this trial)."),
    Option("home_b", str, "The home of provider B."),
)
"""What a command reads that runs a policy on both tables."""
WAIT = Option("wait", float, "Wait so many seconds for the others to start.", 600.0)


def seconds(given: Mapping[str, Any]) -> tuple[float, float]:
    """Return timeout and wait, or refuse what is no span of time."""
    for name in ("timeout", "wait"):
        if not 0 < given[name] <= 1_000_000:
            raise BadParameter(f"{name} is {given[name]:g}; allowed is a number of seconds above 0, up to 1,000,000")
    return given["timeout"], given["wait"]


def query_of(source: str, given: Mapping[str, Any], name: str) -> str | None:
    """Return the query that goes with a source, which a database needs and a file has not."""
    query: str | None = given[name]
    option = f"--{name.replace('_', '-')}"
    if is_database(source):
        if not query:
            raise Missing(f"{option} is missing: {shown(source)} is a database; name its rows with a SELECT")
    elif query is not None:
        raise BadParameter(f"{option} goes with a database (postgresql://, sqlite:///, duckdb:///), not with {source}")
    return query


def table_of(
    source: str, role: str, schema: Schema, population: Population, given: Mapping[str, Any], *, query: str = "query"
) -> ProviderTable:
    """Read the table of a provider, whose users are of the population."""
    sensitive = schema.sensitive if role == "b" else None
    return read_provider_table(
        source,
        schema.of(role),
        sensitive,
        id_column=given["id"],
        query=query_of(source, given, query),
        separator=given["separator"],
        population=population,
        person=given.get("person"),
    )


def population_of(given: Mapping[str, Any]) -> Population:
    """Read the population."""
    source = given["population"]
    return read_population(
        source, id_column=given["id"], query=query_of(source, given, "query_population"), separator=given["separator"]
    )


def both_tables(a: str, b: str, schema: Schema, given: Mapping[str, Any], *, policy: Policy | None = None) -> Originals:
    """Read both tables, for a trial; the population must be that of the policy, where there is one."""
    population = population_of(given)
    if policy is not None:
        policy.refuse_other(population)
    return Originals(
        schema,
        population,
        table_of(a, "a", schema, population, given, query="query_a"),
        table_of(b, "b", schema, population, given, query="query_b"),
    )


def trial_of(given: Mapping[str, Any]) -> tuple[Policy, Originals, Keys]:
    """Read the policy, both tables and the keys of dummies."""
    policy = read_policy(given["policy"])
    originals = both_tables(given["a"], given["b"], policy.schema, given, policy=policy)
    return policy, originals, Keys(trial_key(given["home_a"], "a"), trial_key(given["home_b"], "b"))


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
