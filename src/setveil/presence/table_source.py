"""The source of a table of people: a file or a database, and how to read it."""

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
    """The source of a population or of a provider's table: a file, or a database with a query.

    Parameters
    ----------
    place : str
        A CSV, Parquet or text file, or the address of a database.
    query : str, optional
        The SELECT statement; required for a database, not allowed for a file.
    id_column : str
        The column of ids.
    separator : str, optional
        The column separator of a CSV file (default: a comma).
    called : str
        The name of the parameter `query` in messages.

    Raises
    ------
    Missing
        `place` is a database and `query` is missing.
    BadParameter
        `query` is given for a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import setveil as sv
    >>> from setveil.presence.sample_files import write_sample
    >>> folder = Path(tempfile.mkdtemp()) / "trial"
    >>> originals = write_sample(folder, people=400, seed=1, made_by="an example")
    >>> population = sv.TableSource(place=str(folder / "population.csv")).population()
    >>> len(population)
    400
    >>> policy = sv.read_policy(folder / "policy.toml")
    >>> table = sv.TableSource(place=str(folder / "a.csv")).table("a", policy.schema, population)
    >>> len(table) == len(originals.a)
    True
    """

    place: str
    query: str | None = None
    id_column: str = "id"
    separator: str | None = None
    called: str = "query"

    def __post_init__(self) -> None:
        if is_database(self.place):
            if not self.query:
                raise Missing(
                    f"`{self.called}=` is missing: {shown(self.place)} is a database; give a SELECT statement that returns the rows"
                )
        elif self.query is not None:
            raise BadParameter(
                f"`{self.called}=` requires a database (postgresql://, sqlite:///, duckdb:///); {self.place} is not one"
            )

    @property
    def _reading(self) -> dict[str, Any]:
        return {"id_column": self.id_column, "query": self.query, "separator": self.separator}

    def population(self) -> Population:
        """Read the population.

        Returns
        -------
        Population
            The ids, in their order.

        Raises
        ------
        BadData
            The source cannot be read, or an id is missing or repeated.
        """
        return read_population(self.place, **self._reading)

    def table(self, role: str, schema: Schema, population: Population, *, person: str | None = None) -> ProviderTable:
        """Read the table of a provider.

        Parameters
        ----------
        role : str
            The provider: ``"a"`` or ``"b"``.
        schema : Schema
            The columns of both providers, as in a policy.
        population : Population
            The population, which must include all users of the table.
        person : str, optional
            The column of the provider's own customer keys, which a run over a network requires.

        Returns
        -------
        ProviderTable
            The users of the provider with their values.

        Raises
        ------
        BadData
            The source cannot be read, a column is missing, or a value or an id does not fit.
        """
        sensitive = schema.sensitive if role == "b" else None
        return read_provider_table(
            self.place, schema.of(role), sensitive, population=population, person=person, **self._reading
        )

    def attributes(self, *, leaving_out: Collection[str]) -> tuple[Attribute, ...]:
        """Draft attributes for a policy from the columns of the table.

        Parameters
        ----------
        leaving_out : collection of str
            Columns to skip. The column of ids is always skipped.

        Returns
        -------
        tuple of Attribute
            One attribute per column.

        Raises
        ------
        BadData
            The source cannot be read, or a column does not fit any attribute.
        """
        return draft_attributes(self.place, leaving_out=leaving_out, **self._reading)

    def sensitive(self, column: str) -> OrderedAttribute:
        """Draft the sensitive attribute for a policy from a column.

        Parameters
        ----------
        column : str
            The sensitive column.

        Returns
        -------
        OrderedAttribute
            The attribute with the values of the column.

        Raises
        ------
        BadData
            The source cannot be read, or the column is missing.
        """
        return draft_sensitive(self.place, column, **self._reading)
