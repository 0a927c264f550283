"""Where a table of people is, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.data.databases import is_database, shown
from setveil.errors import BadParameter, Missing
from setveil.presence.tables.drafting import draft_attributes, draft_sensitive
from setveil.presence.tables.table_files import read_population, read_provider_table

if TYPE_CHECKING:
    from collections.abc import Collection

    from setveil.presence.tables.attributes import Attribute, OrderedAttribute
    from setveil.presence.tables.population import Population
    from setveil.presence.tables.provider_table import ProviderTable
    from setveil.presence.tables.schema import Schema


@dataclass(frozen=True, kw_only=True)
class TableSource:
    """A file, or a database and what to ask it."""

    place: str
    query: str | None = None
    id_column: str = "id"
    separator: str | None = None
    called: str = "query"
    """The parameter that the query was given as, for messages."""

    def __post_init__(self) -> None:
        if is_database(self.place):
            if not self.query:
                raise Missing(
                    f"`{self.called}=` is missing: {shown(self.place)} is a database; name its rows with a SELECT"
                )
        elif self.query is not None:
            raise BadParameter(
                f"`{self.called}=` goes with a database (postgresql://, sqlite:///, duckdb:///), not with {self.place}"
            )

    @property
    def _reading(self) -> dict[str, Any]:
        return {"id_column": self.id_column, "query": self.query, "separator": self.separator}

    def population(self) -> Population:
        """Read a population."""
        return read_population(self.place, **self._reading)

    def table(self, role: str, schema: Schema, population: Population, *, person: str | None = None) -> ProviderTable:
        """Read the table of a provider, whose users are of the population."""
        sensitive = schema.sensitive if role == "b" else None
        return read_provider_table(
            self.place, schema.of(role), sensitive, population=population, person=person, **self._reading
        )

    def attributes(self, *, leaving_out: Collection[str]) -> tuple[Attribute, ...]:
        """Draft an attribute for each column but the ids and those that are left out."""
        return draft_attributes(self.place, leaving_out=leaving_out, **self._reading)

    def sensitive(self, column: str) -> OrderedAttribute:
        """Draft the sensitive attribute."""
        return draft_sensitive(self.place, column, **self._reading)
