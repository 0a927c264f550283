"""What methods share that publish items as nodes of a hierarchy: the tree that fits the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.base.declaration import Declaration, parameter
from setveil.data.files.side_files import shown
from setveil.errors import BadData
from setveil.parameters.hierarchy import Hierarchy

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions


class OverTree(Declaration):
    """What a method asks for that publishes items as nodes of a tree."""

    hierarchy: Hierarchy | None = parameter(
        None,
        public=False,
        inferable=True,
        description="A tree over at least all items of the data, which is published whole; default otherwise is a balanced tree over the "
        "items in label order.",
    )
    fanout: int = parameter(
        5, ge=2, public=True, description="How many children a node of the balanced tree has at most."
    )


def tree_over(data: Transactions, hierarchy: Hierarchy | None, fanout: int) -> Hierarchy:
    """Return the given tree, which must have all items that occur as leaves, else a balanced one over these items.

    Nothing is cut off a given tree, so that what is published of it depends neither on which items occur nor on any private list.
    """
    items = [data.vocabulary[code] for code in np.flatnonzero(data.supports).tolist()]
    if hierarchy is None:
        return Hierarchy.balanced(items, fanout)
    leaves = set(hierarchy.leaves)
    missing = [label for label in items if label not in leaves]
    if missing:
        examples = ", ".join(map(shown, missing[:3]))
        count = f"{len(missing):,} of {len(items):,} items"
        raise BadData(f"{count} are no leaves of the hierarchy, such as {examples}; add a line for each")
    return hierarchy
