"""Shared by methods that publish items as nodes of a hierarchy: the parameters, and the tree to use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.base.declaration import Declaration, parameter
from setveil.parameters.hierarchy import Hierarchy

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions


class OverTree(Declaration):
    """The parameters of a method that publishes items as nodes of a tree."""

    hierarchy: Hierarchy | None = parameter(
        None,
        public=False,
        inferable=True,
        description="A tree whose leaves include every item of the data; it is published whole. Without one, a balanced tree over the "
        "items in label order is used.",
    )
    fanout: int = parameter(
        5, ge=2, public=True, description="Maximum number of children of a node in the balanced tree."
    )


def tree_over(data: Transactions, hierarchy: Hierarchy | None, fanout: int) -> Hierarchy:
    """Return the given tree, whose leaves must include all items that occur; without one, a balanced tree over these items.

    A given tree is published whole, so that its published part reveals neither which items occur nor any private list.
    """
    items = [data.vocabulary[code] for code in np.flatnonzero(data.supports).tolist()]
    if hierarchy is None:
        return Hierarchy.balanced(items, fanout)
    leaves = set(hierarchy.leaves)
    hierarchy.refuse_without_leaf([label for label in items if label not in leaves], len(items))
    return hierarchy
