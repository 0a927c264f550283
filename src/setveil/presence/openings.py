"""The ledger of openings: everything that a provider learns in a run beyond its own table, and what it tells.

Only this is opened: whether the root keeps its rules; for each group which provider's attribute is wider, which candidate won (score =
both), and whether both parts keep the rules; who is in which part, of a group that passed; how many common users a final group has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Kind = Literal["root", "side", "winner", "pass", "ids", "counts"]
KINDS: tuple[Kind, ...] = ("root", "side", "winner", "pass", "ids", "counts")


@dataclass(frozen=True)
class Opening:
    """One thing that became known."""

    kind: Kind
    way: str
    """The way from the root to the group: 0 for a lower part, 1 for an upper one."""
    value: Any = field(repr=False)
    """What was opened; for `ids` how many ids the lower part has, for `counts` those of each sensitive value, None where another party
    alone learned it."""
    to: str
    """Who learned it: ab, a, b or c."""


@dataclass
class Openings:
    """All openings of a run, in their order."""

    entries: list[Opening] = field(default_factory=list, repr=False)

    def note(self, kind: Kind, ways: Iterable[bytes], values: Iterable[Any], to: str) -> None:
        """Add what one step opened."""
        self.entries += [Opening(kind, way.decode(), value, to) for way, value in zip(ways, values, strict=True)]

    def counts(self) -> dict[str, int]:
        """Return how many of each kind there are."""
        return {kind: sum(entry.kind == kind for entry in self.entries) for kind in KINDS}

    def save(self, path: Path) -> None:
        """Write it as JSON lines."""
        with path.open("w", encoding="utf-8") as file:
            for entry in self.entries:
                file.write(
                    json.dumps({"kind": entry.kind, "way": entry.way, "value": entry.value, "to": entry.to}) + "\n"
                )
