"""What every method is and does that makes a joined table of two providers' tables."""

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
    """What a method made: the table, the groups behind it, and the method's own account, which no check believes."""

    table: JoinedTable
    groups: BothGroups
    account: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Keys:
    """The secret keys of both providers' dummy streams; known together in a trial alone."""

    a: bytes
    b: bytes

    def __repr__(self) -> str:
        return "Keys(...)"


class JoiningMethod(Declaration, ABC):
    """A recipe for a joined table, run on both tables at once: a trial, or a method that has no protocol."""

    title: ClassVar[str]
    paper: ClassVar[str]
    example_lines: ClassVar[tuple[str, ...]] = (
        *EXAMPLE_LINES,
        "method = {call}",
        "outcome = method.apply(originals, keys=keys)",
    )

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Name the guarantees on the help page."""
        return {"Guarantee": [cls.guarantees.__doc__ or ""]}

    @property
    @abstractmethod
    def guarantees(self) -> tuple[Guarantee, ...]:
        """What the table will be checked for."""

    @abstractmethod
    def apply(self, originals: Originals, *, keys: Keys) -> JoinedOutcome:
        """Make the table. The same keys, tables and parameters give the same table."""
