"""Options that several commands of `setveil presence` share, and the tables that they refer to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from setveil.cli.options import about, together
from setveil.presence.policy import read_policy
from setveil.presence.table_source import TableSource
from setveil.presence.tables.originals import Originals
from setveil.presence.trial import trial_keys

if TYPE_CHECKING:
    from setveil.presence.methods.base import Keys
    from setveil.presence.policy import Policy
    from setveil.presence.tables.schema import Schema

_POPULATION = about(
    "The ids of all people, from a third source: a table with the id column, a text file with one id per line, or a database."
)
PopulationOption = Annotated[str, _POPULATION]
PolicyOption = Annotated[str, about("The policy file.")]
IdOption = Annotated[str, about("The id column of all tables.")]
QueryPopulationOption = Annotated[str | None, about("The SELECT statement of the population, if it is in a database.")]
SeparatorOption = Annotated[str | None, about("The column separator of CSV files (default: a comma).")]
WaitOption = Annotated[float, about("Wait this number of seconds for the other parties to start.")]
HomeOption = Annotated[str, about("This party's home, created with presence init.")]
TableAArgument = Annotated[str, about("The table of provider A: a CSV or Parquet file, or a database with --query-a.")]
TableBArgument = Annotated[str, about("The table of provider B: a CSV or Parquet file, or a database with --query-b.")]
TableAOption = Annotated[str | None, about("The table of provider A.")]
TableBOption = Annotated[str | None, about("The table of provider B.")]
JoinedArgument = Annotated[str, about("The folder of the joined table.")]


@dataclass(frozen=True, kw_only=True)
class _TablesOptions:
    """Options for reading the population and the tables of both providers."""

    population: Annotated[str | None, _POPULATION]
    query_a: Annotated[str | None, about("The SELECT statement of provider A's table, if it is in a database.")] = None
    query_b: Annotated[str | None, about("The SELECT statement of provider B's table, if it is in a database.")] = None
    query_population: QueryPopulationOption = None
    id: IdOption = "id"
    separator: SeparatorOption = None

    def source(self, name: str, place: str) -> TableSource:
        """Return the source of the table `a`, the table `b` or the `population`."""
        called = f"query_{name}"
        return TableSource(
            place=place, query=getattr(self, called), id_column=self.id, separator=self.separator, called=called
        )


@together
@dataclass(frozen=True, kw_only=True)
class BothTablesOptions(_TablesOptions):
    """Options of a command that requires both tables."""

    population: PopulationOption

    def originals(self, a: str, b: str, schema: Schema, policy: Policy | None = None) -> Originals:
        """Read both tables; refuse a population that is not that of the policy, if one is given."""
        people = self.source("population", self.population).population()
        if policy is not None:
            policy.refuse_other(people)
        at_a, at_b = (self.source(role, place).table(role, schema, people) for role, place in (("a", a), ("b", b)))
        return Originals(schema, people, at_a, at_b)


@together
@dataclass(frozen=True, kw_only=True)
class EitherTableOptions(_TablesOptions):
    """Options of a command that accepts the table of one provider or of both."""

    population: Annotated[str | None, _POPULATION] = None

    def people(self) -> TableSource | None:
        """Return the source of the population, if it was given."""
        return self.source("population", self.population) if self.population else None


@together
@dataclass(frozen=True, kw_only=True)
class TrialOptions(BothTablesOptions):
    """Options of a command that runs a policy on both tables."""

    policy: PolicyOption
    home_a: Annotated[
        str | None,
        about("The home of provider A; its dummy key is used (default: a random key for this trial)."),
    ] = None
    home_b: Annotated[str | None, about("The home of provider B, as for provider A.")] = None

    def trial(self, a: str, b: str) -> tuple[Policy, Originals, Keys]:
        """Read the policy, both tables and the dummy keys."""
        policy = read_policy(self.policy)
        originals = self.originals(a, b, policy.schema, policy)
        return policy, originals, trial_keys(self.home_a, self.home_b)
