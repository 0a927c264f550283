"""Generalized data: records whose items may be replaced by nodes of a hierarchy that stand above them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from setveil.data.hierarchy import Hierarchy
    from setveil.data.transactions import Transactions


@dataclass(frozen=True, eq=False)
class Generalized:
    """Records over names of nodes, and the tree that says which items a node can stand for.

    A node in a record says that the person has at least one item below it. An item that is no node of the hierarchy stands for itself.
    """

    form_in_words: ClassVar[str] = "generalized data"

    records: Transactions
    """What was published: one row a record, its items are names of nodes."""
    hierarchy: Hierarchy

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Generalized):
            return NotImplemented
        return self.records == other.records and self.hierarchy == other.hierarchy

    __hash__ = None  # type: ignore[assignment]  # arrays of any size: not meant for dictionaries
