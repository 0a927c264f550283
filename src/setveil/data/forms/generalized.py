"""Generalized data: records whose items may be replaced by nodes of a hierarchy that stand above them.

In a release the hierarchy stands beside the rows, as `hierarchy.csv` (`item,parent`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from setveil.data.forms.comparing import Spans
from setveil.data.forms.plain import RowsOfRecords
from setveil.data.records.ragged import owner_of
from setveil.parameters.hierarchy_files import read_hierarchy

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from setveil.data.forms.base import DataPlace, Published
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions, Unit
    from setveil.parameters.hierarchy import Hierarchy

HIERARCHY_NAME = "hierarchy.csv"


@dataclass(frozen=True, eq=False)
class Generalized(RowsOfRecords):
    """Records over names of nodes, and the tree that says which items a node can stand for.

    A node in a record says that the person has at least one item below it. An item that is no node of the hierarchy stands for itself.
    """

    form_name: ClassVar[str] = "generalized"
    form_in_words: ClassVar[str] = "generalized data"
    about_form: ClassVar[str] = (
        "A row is a record; where it holds the name of a group of items, it says that the person has at least one of them. Which items "
        "belong to a group is in hierarchy.csv."
    )
    beside: ClassVar[tuple[str, ...]] = (HIERARCHY_NAME,)
    less_exactly: ClassVar[str] = "shown as a group of items only"

    rows: Transactions
    """What was published: one row per record, its items are names of nodes."""
    hierarchy: Hierarchy

    # -- looking --------------------------------------------------------------------------------------------------------------

    @property
    def records(self) -> int:
        """The number of records."""
        return self.rows.records

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The labels that occur in the rows."""
        return self.rows.vocabulary

    @property
    def labels(self) -> Any:
        """The vocabulary as an Arrow column."""
        return self.rows.labels

    @property
    def supports(self) -> NDArray[np.int64]:
        """The number of rows that hold each label."""
        return self.rows.supports

    @property
    def occurrences(self) -> int:
        """The number of labels in all rows together."""
        return self.rows.occurrences

    @property
    def empty_records(self) -> int:
        """The number of rows without a label."""
        return self.rows.empty_records

    @property
    def unit(self) -> Unit:
        """Whether a record is a person or one record of several."""
        return self.rows.unit

    @property
    def tree(self) -> Hierarchy:
        """The hierarchy."""
        return self.hierarchy

    @property
    def labels_shown(self) -> tuple[str, ...]:
        """The labels of the rows and all nodes of the hierarchy: a node stands for the items below it."""
        return (*self.vocabulary, *self.hierarchy.nodes)

    def can_stand_for(self, items: Container[str]) -> NDArray[np.bool_]:
        """Return for each name of the rows whether it is one of these items or a node above one."""
        above = set(self.hierarchy.nodes_above(items))
        return np.array([name in items or name in above for name in self.vocabulary], np.bool_)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Generalized):
            return NotImplemented
        return self.rows == other.rows and self.hierarchy == other.hierarchy

    __hash__ = None  # type: ignore[assignment]  # arrays of any size: not meant for dictionaries

    def with_rows(self, rows: Transactions) -> Self:
        """Return other rows over the same hierarchy."""
        return replace(self, rows=rows)

    def with_unit(self, unit: Unit) -> Self:
        """Return the same data, their records said to be one per person (`person`) or not (`record`)."""
        return self.with_rows(self.rows.with_unit(unit))

    # -- files ----------------------------------------------------------------------------------------------------------------

    def write_to(self, place: DataPlace) -> None:
        """Write the rows, and the hierarchy as `item,parent`."""
        super().write_to(place)
        (place.folder / HIERARCHY_NAME).write_bytes(self.hierarchy.to_parents_csv())

    @classmethod
    def read_from(cls, place: DataPlace, unit: Unit) -> Self:
        """Read both."""
        return cls(cls.rows_from(place, unit), read_hierarchy(place.folder / HIERARCHY_NAME))

    # -- comparing ------------------------------------------------------------------------------------------------------------

    def spans(self, original: Transactions) -> Spans:
        """Return what labels stand for: a node for the items below it, another label for itself."""
        tree = self.hierarchy
        place_of = {leaf: place for place, leaf in enumerate(tree.leaves)}
        for label in original.vocabulary:
            place_of.setdefault(label, len(place_of))
        number_of = {node: number for number, node in enumerate(tree.nodes)}
        starts, ends = tree.leaf_starts.tolist(), tree.leaf_ends.tolist()

        def interval(label: str) -> tuple[int, int]:
            if label in number_of:
                return starts[number_of[label]], ends[number_of[label]]
            return (place_of[label], place_of[label] + 1) if label in place_of else (-1, -1)

        intervals = np.array([interval(label) for label in self.rows.vocabulary], dtype=np.int64).reshape(-1, 2)
        places = np.array([place_of[label] for label in original.vocabulary], dtype=np.int64)
        return Spans(places, intervals[:, 0], intervals[:, 1])

    def shown_of(self, original: Published, alignment: Alignment) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how often each item is shown, and how often only a node above it is."""
        records = original.as_records()
        exactly, _less = super().shown_of(original, alignment)
        own, lowest = lowest_shown(records, self, alignment)
        above = records.items[(lowest >= 0) & (lowest != own)]
        return exactly, np.bincount(above, minlength=len(records.vocabulary))

    def true_nodes(self, original: Transactions, alignment: Alignment) -> int:
        """Count released inner nodes whose original record holds an item below them."""
        tree, rows = self.hierarchy, self.rows
        place_of = {leaf: place for place, leaf in enumerate(tree.leaves)}
        width = len(tree.leaves) + 1
        places = np.array([place_of.get(label, -1) for label in original.vocabulary], dtype=np.int64)
        at = places[original.items] if len(places) else np.empty(0, np.int64)
        held = np.sort((owner_of(original.offsets) * width + at)[at >= 0])
        number_of = {node: number for number, node in enumerate(tree.nodes) if node not in place_of}
        numbers = np.array([number_of.get(label, -1) for label in rows.vocabulary], dtype=np.int64)
        node = numbers[rows.items] if len(numbers) else np.empty(0, np.int64)
        record = alignment.rows[owner_of(rows.offsets)] * width
        record, node = record[node >= 0], node[node >= 0]
        first, end = (np.searchsorted(held, record + bound[node]) for bound in (tree.leaf_starts, tree.leaf_ends))
        return int(np.count_nonzero(first < end))


def lowest_shown(
    original: Transactions, published: RowsOfRecords, alignment: Alignment
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each original occurrence the number of its item, and of the lowest node at or above it that its record's rows hold.

    A node has its number in the hierarchy, an item outside of it a larger one; -1 stands for an occurrence that the rows do not show.
    """
    tree, data = published.tree, published.rows
    nodes = len(tree.nodes) if tree is not None else 0
    number_of = {node: number for number, node in enumerate(tree.nodes)} if tree is not None else {}
    width = nodes + len(original.vocabulary)

    def numbers(labels: tuple[str, ...]) -> NDArray[np.int64]:
        """Return numbers of labels: a node's own, after them those of other items, -1 for what neither knows."""
        codes = ((number_of.get(x, -1), original.code_of.get(x, -1)) for x in labels)
        return np.array([v if v >= 0 else nodes + c if c >= 0 else -1 for v, c in codes], np.int64)

    released = numbers(data.vocabulary)[data.items] if data.occurrences else np.empty(0, np.int64)
    known = released >= 0
    record = alignment.rows[owner_of(data.offsets)[known]]
    shown = np.unique(record * width + released[known])
    own = numbers(original.vocabulary)[original.items] if original.occurrences else np.empty(0, np.int64)
    lowest = np.full(len(own), -1, np.int64)
    at, record, occurrence = own, owner_of(original.offsets), np.arange(len(own))
    while len(at):
        keys = record * width + at
        place = np.minimum(np.searchsorted(shown, keys), max(len(shown) - 1, 0))
        found = shown[place] == keys if len(shown) else np.zeros(len(keys), np.bool_)
        lowest[occurrence[found]] = at[found]
        above = np.full(len(at), -1, np.int64)
        if tree is not None:
            above[at < nodes] = tree.parents[at[at < nodes]]
        go_on = ~found & (above >= 0)
        at, record, occurrence = above[go_on], record[go_on], occurrence[go_on]
    return own, lowest
