"""What a joined table was made from, and how its groups came about: for checks and measures, never published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from setveil.errors import Missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.tables.population import Population
    from setveil.presence.tables.provider_table import ProviderTable
    from setveil.presence.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class Originals:
    """The tables of both providers, or of the one that checks alone, and the population."""

    schema: Schema
    population: Population
    a: ProviderTable | None = None
    b: ProviderTable | None = None

    def table(self, role: str) -> ProviderTable:
        """Return the table of a provider, which must be there."""
        found = self.a if role == "a" else self.b
        if found is None:
            raise Missing(f"the table of provider {role.upper()} is needed; name it with --{role}")
        return found

    def existing(self, role: str) -> NDArray[np.bool_]:
        """Tell of each id of the population whether the provider has it."""
        existing = np.zeros(len(self.population), dtype=np.bool_)
        existing[self.population.places(self.table(role).ids)] = True
        return existing

    def codes(self, role: str) -> NDArray[np.int32]:
        """Return the cells of each id of the population at a provider, -1 for those it does not have."""
        table = self.table(role)
        codes = np.full((len(self.population), table.codes.shape[1]), -1, dtype=np.int32)
        codes[self.population.places(table.ids)] = table.codes
        return codes

    def sensitive(self) -> NDArray[np.int64]:
        """Return the sensitive value of each id of the population, -1 for those that B does not have."""
        table = self.table("b")
        assert table.sensitive is not None
        values = np.full(len(self.population), -1, dtype=np.int64)
        values[self.population.places(table.ids)] = table.sensitive
        return values


@dataclass(frozen=True, eq=False)
class SideGroups:
    """The final groups as one provider knows them: who is in which, and the intervals of its own attributes.

    Both providers number the groups alike.
    """

    group_of: NDArray[np.int64]
    """For each id of the population the number of its group; -1 where a method left an id out."""
    lows: NDArray[np.int32]
    highs: NDArray[np.int32]
    """The intervals of its attributes (groups x attributes)."""

    def __repr__(self) -> str:
        return f"SideGroups({self.groups:,} groups)"

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.lows)


@dataclass(frozen=True, eq=False)
class BothGroups:
    """The groups of both providers, or of the one that checks alone."""

    a: SideGroups | None = None
    b: SideGroups | None = None

    def side(self, role: str) -> SideGroups:
        """Return the groups of a provider, which must be there."""
        found = self.a if role == "a" else self.b
        if found is None:
            raise Missing(f"the groups of provider {role.upper()} are needed; they are in its private folder")
        return found
