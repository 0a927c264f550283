"""Generalized data: records whose items may be replaced by nodes of a hierarchy that stand above them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from setveil.data.hierarchy import Hierarchy
    from setveil.data.records.transactions import Transactions


@dataclass(frozen=True, eq=False)
class Generalized:
    """Records over names of nodes, and the tree that says which items a node can stand for.

    A node in a record says that the person has at least one item below it. An item that is no node of the hierarchy stands for itself.
    """

    form_in_words: ClassVar[str] = "generalized data"

    records: Transactions
    """What was published: one row a record, its items are names of nodes."""
    hierarchy: Hierarchy

    def can_stand_for(self, items: Container[str]) -> NDArray[np.bool_]:
        """Return for each name of the records whether it is one of these items or a node above one."""
        above = set(self.hierarchy.nodes_above(items))
        return np.array([name in items or name in above for name in self.records.vocabulary], np.bool_)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Generalized):
            return NotImplemented
        return self.records == other.records and self.hierarchy == other.hierarchy

    __hash__ = None  # type: ignore[assignment]  # arrays of any size: not meant for dictionaries
