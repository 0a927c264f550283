"""The base of methods that make a joined table from the tables of two providers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.declaration import Declaration
from setveil.presence.tables import EXAMPLE_LINES

if TYPE_CHECKING:
    from setveil.guarantees.base import Guarantee
    from setveil.presence.tables.joined_table import JoinedTable
    from setveil.presence.tables.originals import BothGroups, Originals


@dataclass(frozen=True)
class JoinedOutcome:
    """The result of a method: the joined table, and the groups of ids behind it.

    You get one from the method `apply` of `DummyUsers`, `ExtendedMondrian`, `Mpalm` or `Mondrian`.

    Attributes
    ----------
    table : JoinedTable
        The table to publish.
    groups : BothGroups
        The group of each id, and the intervals of the groups. Private.
    account : dict
        Counters of the method, such as the number of cuts tried. No check relies on them.

    Examples
    --------
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> outcome = sv.Mondrian(k=2).apply(sample(people=2000).originals, keys=sv.Keys(b"a" * 16, b"b" * 16))
    >>> outcome.table.records
    281
    """

    table: JoinedTable
    groups: BothGroups
    account: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Keys:
    """The secret keys from which both providers draw their dummies.

    In a real run each provider has only its own key, in its home. Both keys together exist in trials only. The same keys, tables and
    parameters give the same joined table.

    Parameters
    ----------
    a, b : bytes
        The keys of provider A and provider B, 16 to 64 secret bytes each.

    Examples
    --------
    >>> import secrets
    >>> import setveil as sv
    >>> sv.Keys(a=secrets.token_bytes(32), b=secrets.token_bytes(32))
    Keys(...)
    """

    a: bytes
    b: bytes

    def __repr__(self) -> str:
        return "Keys(...)"


class JoiningMethod(Declaration, ABC):
    """A method that makes a joined table from both tables at once: a trial of the protocol, or a baseline that has no protocol."""

    title: ClassVar[str]
    paper: ClassVar[str]
    example_lines: ClassVar[tuple[str, ...]] = (
        *EXAMPLE_LINES,
        "method = {call}",
        "outcome = method.apply(originals, keys=keys)",
    )

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Return the section of the help page that names the guarantees."""
        return {"Guarantee": [cls.guarantees.__doc__ or ""]}

    @property
    @abstractmethod
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The guarantees that the joined table is checked for."""

    @abstractmethod
    def apply(self, originals: Originals, *, keys: Keys) -> JoinedOutcome:
        """Return the joined table and its groups. The same keys, tables and parameters give the same table."""
