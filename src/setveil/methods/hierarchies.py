"""What methods share that publish items as nodes of a hierarchy: the tree that fits the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.data.hierarchy import Hierarchy
from setveil.data.side_files import shown
from setveil.declaration import Declaration, parameter
from setveil.errors import BadData

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from setveil.data.transactions import Transactions


class OverTree(Declaration):
    """What a method asks for that publishes items as nodes of a tree."""

    hierarchy: Hierarchy | None = parameter(
        None,
        public=False,
        description="A tree over at least all items that nodes may stand for; without one, a balanced tree over them in label order.",
    )
    fanout: int = parameter(
        5, ge=2, public=True, description="How many children a node of the balanced tree has at most."
    )


def tree_over(
    data: Transactions, codes: NDArray[np.int64], hierarchy: Hierarchy | None, fanout: int, what: str
) -> Hierarchy:
    """Return the tree over just these items, one at least: what is needed of a given one, else a balanced one; `what` names them."""
    items = [data.vocabulary[code] for code in codes.tolist()]
    if hierarchy is None:
        return _balanced(items, data, fanout)
    parent_of = hierarchy.parent_of()
    inner = set(parent_of.values())
    missing = [label for label in items if label not in parent_of or label in inner]
    if missing:
        examples = ", ".join(map(shown, missing[:3]))
        count = f"{len(missing):,} of {len(items):,} {what}"
        raise BadData(f"{count} are no leaves of the hierarchy, such as {examples}; add a line for each")
    needed: dict[str, str] = {}
    for label in items:
        node = label
        while node in parent_of and node not in needed:
            needed[node] = parent_of[node]
            node = parent_of[node]
    both = sorted(set(needed.values()) & data.code_of.keys())
    if both:
        raise BadData(f"the hierarchy has inner nodes with the names of items of the data, such as {shown(both[0])}")
    return Hierarchy(needed)


def _balanced(items: list[str], data: Transactions, fanout: int) -> Hierarchy:
    """Lay a balanced tree over the items; its inner nodes get more stars where another item has the name of one."""
    tree = Hierarchy.balanced(items, fanout)
    parent_of = tree.parent_of()
    if not set(parent_of.values()) & data.code_of.keys():
        return tree
    stars = "*" * max(len(label) - len(label.lstrip("*")) for label in data.vocabulary)
    leaves = set(items)
    return Hierarchy({(x if x in leaves else stars + x): stars + above for x, above in parent_of.items()})
