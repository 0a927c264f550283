"""A hierarchy: a tree whose leaves are the items and whose inner nodes are the groups that items can be generalized to.

Nodes are numbered depth first, starting with the root. So the items below a node are an interval of `leaves`, and generalizing is a
comparison of numbers. Among the children of a node, items come before inner nodes, both in label order, so that equal trees have equal
numbers. Nothing here is recursive, so that a tree may be as deep as memory allows.

If several nodes have no parent, a common root is added above them. Its name is `*`, or the shortest run of stars that no node has as its
name. A single node without a parent is the root itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.data.files.side_files import shown
from setveil.data.records.labels import label_order
from setveil.data.records.ragged import offsets_of
from setveil.errors import BadData, BadParameter, OutputRefused
from setveil.parameters.categories import Categories
from setveil.parameters.kind import Option, ParameterKind
from setveil.parameters.layouts import ITEM_COLUMN, PATH_OPTIONS, SIDE_ENCODING, missing_option
from setveil.parameters.prefixes import checked_lengths, parents_by_prefix
from setveil.parameters.tree_numbering import number_nodes

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

_MOST_CELLS = 100_000_000


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Hierarchy(ParameterKind):
    """An immutable tree over items, for parameters of methods, guarantees and metrics.

    Use `read_hierarchy` to read one from a file, or `Hierarchy.balanced` to build one for data without a taxonomy.

    Parameters
    ----------
    parent_of : mapping of str to str
        The parent of each item and inner node. A node without a parent is the root; if there are several, a common root `*` is added.

    Attributes
    ----------
    nodes : tuple of str
        The names of all nodes. The position of a node is its number; the root has number 0.
    leaves : tuple of str
        The items, in the order of `nodes`.
    parents : ndarray of int64
        The number of each node's parent, which is smaller than its own; -1 for the root.
    depths : ndarray of int64
        The distance of each node from the root.
    leaf_starts, leaf_ends : ndarray of int64
        The items below node v, or v itself if it is an item, are `leaves[leaf_starts[v]:leaf_ends[v]]`.

    Raises
    ------
    BadData
        If there is no item, a name is invalid, or parents form a cycle.

    Examples
    --------
    >>> import setveil as sv
    >>> tree = sv.Hierarchy({"milk": "dairy", "ham": "meat"})
    >>> tree
    Hierarchy(2 items under 3 inner nodes, height 2)
    >>> tree.ancestors("milk")
    ('dairy', '*')
    """

    allowed_text: ClassVar[str] = "a hierarchy file, or a text such as prefix:1,3, icd10cm or balanced:5"
    python_type: ClassVar[str] = "Hierarchy or a mapping from node to parent"
    reader = "read_hierarchy"
    ending: ClassVar[str] = ".csv"
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "levels",
            str,
            "Columns of the hierarchy file to use, from the most specific to the most general level, separated by commas (default: "
            "all, in their order).",
        ),
        Option(
            "paths",
            bool,
            "Name the nodes of the hierarchy by their paths; needed if one name occurs in several places.",
            default=False,
        ),
        ITEM_COLUMN,
        missing_option("Group"),
        *PATH_OPTIONS,
        SIDE_ENCODING,
    )
    bad_values: ClassVar[tuple[Any, ...]] = ("a text", {}, {"a": "a"}, {"a": 3}, {"a": ""}, 17)
    names_items: ClassVar[bool] = True

    nodes: tuple[str, ...]
    leaves: tuple[str, ...]
    parents: NDArray[np.int64]
    depths: NDArray[np.int64]
    leaf_starts: NDArray[np.int64]
    leaf_ends: NDArray[np.int64]
    _node_ends: NDArray[np.int64]
    _number_of: dict[str, int]

    def __init__(self, parent_of: Mapping[str, str]) -> None:
        """Build the tree from the parent of each item and inner node."""
        for name, value in number_nodes(parent_of).items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def balanced(cls, items: Iterable[str], fanout: int) -> Hierarchy:
        """Build a balanced tree over items in label order, for data without a taxonomy.

        All items have the same depth. Groups have nearly equal sizes of at most `fanout`. The root is a star. The name of another node is
        its path from the root: `*2.1` is the first child of `*2`, and `*02` is a sibling of `*10`. Names start with one star more than any
        item does, so that no node has the name of an item.

        Parameters
        ----------
        items : iterable of str
            The items, each once.
        fanout : int
            The maximum number of children of a node, at least 2.

        Returns
        -------
        Hierarchy
            The tree.

        Raises
        ------
        BadParameter
            If `fanout` is below 2, or there is no item, or an item occurs twice.

        Examples
        --------
        >>> import setveil as sv
        >>> tree = sv.Hierarchy.balanced(["ale", "beer", "gin", "rum", "tea"], fanout=3)
        >>> tree.children("*"), tree.leaves_under("*2")
        (('*1', '*2'), ('gin', 'rum', 'tea'))
        """
        labels = list(items)
        if fanout < 2:
            raise BadParameter(f"the fan-out is {fanout}; it must be at least 2")
        if not labels:
            raise BadParameter("there are no items; a hierarchy needs at least one")
        if len(set(labels)) < len(labels):
            raise BadParameter("an item occurs twice; a hierarchy holds each item once")
        labels = [labels[place] for place in label_order(labels)]
        capacity = 1  # how many items fit below a child of the root
        while capacity * fanout < len(labels):
            capacity *= fanout
        row = [("*" * (1 + max(len(label) - len(label.lstrip("*")) for label in labels)), 0, len(labels))]
        parent_of: dict[str, str] = {}
        dot = ""
        while capacity > 1:
            below = []
            for parent, first, end in row:
                size = end - first
                children = -(-size // capacity)
                digits = len(str(children))
                for child in range(children):
                    name = f"{parent}{dot}{child + 1:0{digits}}"
                    parent_of[name] = parent
                    below.append((name, first + child * size // children, first + (child + 1) * size // children))
            row, dot = below, "."
            capacity //= fanout
        for parent, first, end in row:
            parent_of.update(dict.fromkeys(labels[first:end], parent))
        return cls(parent_of)

    @classmethod
    def by_prefix(cls, items: Iterable[str], lengths: Sequence[int]) -> Hierarchy:
        """Build a tree over codes from their first characters, for codes such as those of ATC, UNSPSC, HS, NACE and ICD.

        The name of a group is its prefix with a star, so that no group has the name of an item. If items end with stars, groups end with
        one more. An item with too few characters for a prefix is directly below the longest prefix that it has.

        Parameters
        ----------
        items : iterable of str
            The codes.
        lengths : sequence of int
            The lengths of the prefixes in increasing order, from 1 to 100. Dots are not counted.

        Returns
        -------
        Hierarchy
            The tree.

        Raises
        ------
        BadData
            If there is no item.
        BadParameter
            If a length is out of range, or they do not increase.

        Examples
        --------
        >>> import setveil as sv
        >>> tree = sv.Hierarchy.by_prefix(["A10BA02", "A10BB01", "N02BE01"], [1, 3, 4])
        >>> tree.ancestors("A10BA02")
        ('A10B*', 'A10*', 'A*', '*')
        """
        return cls(parents_by_prefix(items, checked_lengths(lengths)))

    @classmethod
    def read(
        cls, source: str | Path, *, data: Transactions | None = None, separator: str | None = None, **options: Any
    ) -> Hierarchy:
        """Read a hierarchy with `read_hierarchy`."""
        from setveil.parameters.hierarchy_files import read_hierarchy  # noqa: PLC0415 - it imports this file

        del separator
        return read_hierarchy(source, data=data, **options)

    @classmethod
    def example_for(cls, data: Transactions) -> Hierarchy:
        """Return a balanced tree over the items."""
        return cls.balanced(data.vocabulary, 3)

    def to_json(self) -> dict[str, str]:
        """Return the parent of each node except the root."""
        return self.parent_of()

    def to_file(self) -> str:
        """Return the content of an `item,parent` file."""
        return self.to_parents_csv().decode()

    @classmethod
    def validated(cls, value: Any) -> Hierarchy:
        """Return a mapping from nodes to parents as a hierarchy."""
        if isinstance(value, Hierarchy):
            return value
        if not isinstance(value, Mapping):
            wanted = "a mapping from item or node to its parent (setveil.read_hierarchy reads one from a file)"
            raise ValueError(f"expected {wanted}, not {type(value).__name__}")  # noqa: TRY004 - pydantic expects it
        return super().validated(value)

    # -- queries -------------------------------------------------------------------------------------------------------

    @property
    def root(self) -> str:
        """The name of the root."""
        return self.nodes[0]

    @property
    def height(self) -> int:
        """The distance of the deepest item from the root."""
        return int(self.depths.max())

    def number(self, node: str) -> int:
        """Return the number of a node: its position in `nodes`."""
        try:
            return self._number_of[node]
        except KeyError:
            raise BadParameter(f"the hierarchy has no node {shown(node)}") from None

    def depth(self, node: str) -> int:
        """Return the distance of a node from the root."""
        return int(self.depths[self.number(node)])

    def is_leaf(self, node: str) -> bool:
        """Return whether a node is an item."""
        number = self.number(node)
        return bool(self._node_ends[number] == number + 1)

    def parent(self, node: str) -> str | None:
        """Return the parent of a node; None for the root."""
        above = int(self.parents[self.number(node)])
        return None if above < 0 else self.nodes[above]

    def ancestors(self, node: str) -> tuple[str, ...]:
        """Return the ancestors of a node, from its parent to the root."""
        found = []
        above = int(self.parents[self.number(node)])
        while above >= 0:
            found.append(self.nodes[above])
            above = int(self.parents[above])
        return tuple(found)

    def children(self, node: str) -> tuple[str, ...]:
        """Return the children of a node, in their order."""
        number = self.number(node)
        found = []
        child, end = number + 1, int(self._node_ends[number])
        while child < end:
            found.append(self.nodes[child])
            child = int(self._node_ends[child])
        return tuple(found)

    def interval(self, node: str) -> tuple[int, int]:
        """Return the start and end in `leaves` of the items below a node."""
        number = self.number(node)
        return int(self.leaf_starts[number]), int(self.leaf_ends[number])

    def leaves_under(self, node: str) -> tuple[str, ...]:
        """Return the items below a node; an item counts as below itself."""
        first, end = self.interval(node)
        return self.leaves[first:end]

    def nodes_above(self, items: Container[str]) -> tuple[str, ...]:
        """Return the inner nodes above at least one of these items, in their order."""
        before = offsets_of([leaf in items for leaf in self.leaves])
        holds = (before[self.leaf_ends] > before[self.leaf_starts]) & (
            self._node_ends > np.arange(1, len(self.nodes) + 1)
        )
        return tuple(self.nodes[number] for number in np.flatnonzero(holds).tolist())

    def parent_of(self) -> dict[str, str]:
        """Return the parent of each node except the root: the argument of the constructor."""
        return {
            node: self.nodes[above]
            for node, above in islice(zip(self.nodes, self.parents.tolist(), strict=True), 1, None)
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self.nodes == other.nodes and np.array_equal(self.parents, other.parents)

    def __hash__(self) -> int:
        return hash((self.nodes, self.parents.tobytes()))

    def __repr__(self) -> str:
        inner = len(self.nodes) - len(self.leaves)
        return f"Hierarchy({len(self.leaves):,} items under {inner:,} inner nodes, height {self.height})"

    # -- binding -------------------------------------------------------------------------------------------------------

    def bind(self, data: Transactions) -> NDArray[np.int64]:
        """Return the position in `leaves` of each item code; refuse data with items that are not leaves."""
        is_leaf = self._node_ends == np.arange(1, len(self.nodes) + 1)
        numbers = np.array([self._number_of.get(label, 0) for label in data.vocabulary], dtype=np.int64)
        missing = np.flatnonzero(~is_leaf[numbers])  # the root, which is not a leaf, represents unknown labels
        self.refuse_without_leaf([data.vocabulary[code] for code in missing.tolist()], len(data.vocabulary))
        return self.leaf_starts[numbers]

    def refuse_without_leaf(self, missing: Sequence[str], items: int) -> None:
        """Refuse data if some of their items are no leaves."""
        if not missing:
            return
        examples = ", ".join(map(shown, missing[:3]))
        groups = sum(label in self._number_of for label in missing)
        also = f"; {groups:,} of them are groups in it: read it with the argument `data`" if groups else ""
        raise BadData(
            f"the hierarchy has no leaf for {len(missing):,} of {items:,} items, such as {examples}{also}; add a line for each, or put all "
            "of them into one group with `missing_category='other'`",
            file=None if self.origin is None else self.origin.source,
        )

    def level(self, distance: int) -> Categories:
        """Return the group of each item at this distance from the root, as categories; 1 gives the groups directly below the root."""
        if not 1 <= distance < self.height:
            known = (
                f"1 to {self.height - 1}" if self.height > 1 else "none, because all items are directly below the root"
            )
            raise BadData(f"has no level {distance}; its levels are: {known}")
        at_distance = np.flatnonzero(self.depths == distance)
        groups = at_distance[self._node_ends[at_distance] > at_distance + 1]
        of_item = {leaf: self.nodes[v] for v in groups for leaf in self.leaves_under(self.nodes[v])}
        higher = [leaf for leaf in self.leaves if leaf not in of_item]
        if higher:
            examples = ", ".join(shown(leaf) for leaf in higher[:3])
            count = f"{len(higher):,} of {len(self.leaves):,} items"
            raise BadData(
                f"{count} are too close to the root to have a group on level {distance}, such as {examples}; choose a smaller level"
            )
        return Categories(of_item)

    # -- exporting ----------------------------------------------------------------------------------------------------

    def to_parents_csv(self) -> bytes:
        """Return the bytes of an `item,parent` file: all nodes except the root, depth first."""
        cells = [_cell(node) for node in self.nodes]
        rows = (
            f"{cell},{cells[above]}\n"
            for cell, above in islice(zip(cells, self.parents.tolist(), strict=True), 1, None)
        )
        return ("item,parent\n" + "".join(rows)).encode()

    def to_levels_csv(self) -> bytes:
        """Return the bytes of a file with one column per level, named by its distance from the root: `level-2,level-1,level-0`.

        An item that is closer to the root than others has empty cells between it and its first group.
        """
        height = self.height
        if height * len(self.leaves) > _MOST_CELLS:
            size = f"{len(self.leaves):,} items with {height:,} levels each"
            raise OutputRefused(
                f"a file with one column per level would hold {size}; write the shape 'parents' instead"
            )
        cells = [_cell(node) for node in self.nodes]
        above_of: dict[int, str] = {}
        rows = [",".join(["item", *(f"level-{distance}" for distance in reversed(range(height)))])]
        for leaf in np.flatnonzero(self._node_ends == np.arange(1, len(self.nodes) + 1)).tolist():
            parent = int(self.parents[leaf])
            if parent not in above_of:
                padding = [""] * (height - 1 - int(self.depths[parent]))
                above_of[parent] = ",".join([*padding, cells[parent], *map(_cell, self.ancestors(self.nodes[parent]))])
            rows.append(f"{cells[leaf]},{above_of[parent]}")
        return ("\n".join(rows) + "\n").encode()


def _cell(name: str) -> str:
    """Return a name as a CSV field."""
    return '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name
