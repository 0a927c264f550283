"""The ledger of openings: everything that a provider learns in a run beyond its own table, and everything that it reveals.

A run opens only this: whether the population as a whole satisfies the rules; for each group, which provider's attribute is wider, which
candidate cut won (score = both), and whether both parts satisfy the rules; for a group that passed, which ids are in which part; for a
final group, its number of common users.
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
    """One value that a run opened."""

    kind: Kind
    way: str
    """The path from the root to the group: 0 for a lower part, 1 for an upper part."""
    value: Any = field(repr=False)
    """The opened value. For `ids`, the number of ids in the lower part; for `counts`, the count of each sensitive value. None if only
    another party learned it."""
    to: str
    """The parties that learned the value: ab, a, b or c."""


@dataclass
class Openings:
    """All openings of a run, in their order."""

    entries: list[Opening] = field(default_factory=list, repr=False)

    def note(self, kind: Kind, ways: Iterable[bytes], values: Iterable[Any], to: str) -> None:
        """Add the values that one step opened."""
        self.entries += [Opening(kind, way.decode(), value, to) for way, value in zip(ways, values, strict=True)]

    def counts(self) -> dict[str, int]:
        """Return the number of openings of each kind."""
        return {kind: sum(entry.kind == kind for entry in self.entries) for kind in KINDS}

    def save(self, path: Path) -> None:
        """Write the openings as JSON lines."""
        with path.open("w", encoding="utf-8") as file:
            for entry in self.entries:
                file.write(
                    json.dumps({"kind": entry.kind, "way": entry.way, "value": entry.value, "to": entry.to}) + "\n"
                )
