"""The private input of a joined table, and its groups of ids: for checks and metrics, never published."""

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
    """The private input of a joined table: the population, and the tables of both providers or of one.

    Parameters
    ----------
    schema : Schema
        The columns of both tables.
    population : Population
        The ids of all people.
    a, b : ProviderTable, optional
        The tables of provider A and provider B. A provider that checks alone gives only its own table.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> import setveil as sv
    >>> size, plan = sv.OrderedAttribute("size", ("S", "M", "L")), sv.OrderedAttribute("plan", ("basic", "plus"))
    >>> schema = sv.Schema(a=(size,), b=(plan,), sensitive=sv.OrderedAttribute("genre", ("drama", "news")))
    >>> table = sv.ProviderTable(pa.array(["u2"], pa.large_string()), np.array([[2]], dtype=np.int32))
    >>> originals = sv.Originals(schema, sv.Population.of(["u1", "u2", "u3"]), a=table)
    >>> originals.existing("a").tolist()
    [False, True, False]
    """

    schema: Schema
    population: Population
    a: ProviderTable | None = None
    b: ProviderTable | None = None

    def table(self, role: str) -> ProviderTable:
        """Return the table of a provider; raise `Missing` if it was not given."""
        found = self.a if role == "a" else self.b
        if found is None:
            raise Missing(f"the table of provider {role.upper()} is missing; give it as `{role}=`")
        return found

    def existing(self, role: str) -> NDArray[np.bool_]:
        """Return for each id of the population whether it is a user of the provider."""
        existing = np.zeros(len(self.population), dtype=np.bool_)
        existing[self.population.places(self.table(role).ids)] = True
        return existing

    def codes(self, role: str) -> NDArray[np.int32]:
        """Return the cells of each id of the population at a provider; -1 for ids that are not its users."""
        table = self.table(role)
        codes = np.full((len(self.population), table.codes.shape[1]), -1, dtype=np.int32)
        codes[self.population.places(table.ids)] = table.codes
        return codes

    def sensitive(self) -> NDArray[np.int64]:
        """Return the sensitive value of each id of the population; -1 for ids that are not users of B."""
        table = self.table("b")
        assert table.sensitive is not None
        values = np.full(len(self.population), -1, dtype=np.int64)
        values[self.population.places(table.ids)] = table.sensitive
        return values


@dataclass(frozen=True, eq=False)
class SideGroups:
    """The final groups as one provider knows them: the group of each id, and the intervals of the provider's own attributes.

    Both providers use the same numbers for the groups. You get one as `outcome.groups.a` or `outcome.groups.b`.

    Parameters
    ----------
    group_of : numpy.ndarray of int64
        The group of each id of the population; -1 for ids in no group.
    lows, highs : numpy.ndarray of int32
        The first cell, and the cell after the last cell, of each interval (groups x attributes of the provider).

    Examples
    --------
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> outcome = sv.Mondrian(k=50).apply(sample(people=2000).originals, keys=sv.Keys(b"a" * 16, b"b" * 16))
    >>> outcome.groups.a
    SideGroups(4 groups)
    """

    group_of: NDArray[np.int64]
    """The group of each id of the population; -1 for ids in no group."""
    lows: NDArray[np.int32]
    highs: NDArray[np.int32]
    """`lows` and `highs`: the intervals of the provider's attributes (groups x attributes)."""

    def __repr__(self) -> str:
        return f"SideGroups({self.groups:,} groups)"

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.lows)


@dataclass(frozen=True, eq=False)
class BothGroups:
    """The final groups of both providers, or of the provider that checks alone.

    You get one as `groups` of a `JoinedOutcome`.

    Parameters
    ----------
    a, b : SideGroups, optional
        The groups as provider A and provider B know them.

    Examples
    --------
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> originals = sample(people=2000).originals
    >>> outcome = sv.Mondrian(k=50).apply(originals, keys=sv.Keys(b"a" * 16, b"b" * 16))
    >>> outcome.groups.side("b").groups
    4
    >>> only_a = sv.BothGroups(a=outcome.groups.a)  # provider A checks alone
    """

    a: SideGroups | None = None
    b: SideGroups | None = None

    def side(self, role: str) -> SideGroups:
        """Return the groups of a provider; raise `Missing` if they were not given."""
        found = self.a if role == "a" else self.b
        if found is None:
            raise Missing(f"the groups of provider {role.upper()} are missing; they are in its private folder")
        return found
