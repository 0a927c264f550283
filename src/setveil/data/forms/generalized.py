"""Generalized data: records whose items may be replaced by nodes above them in a hierarchy.

A release holds the hierarchy in the further file `hierarchy.csv` (`item,parent`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from setveil.data.forms.comparing import Spans
from setveil.data.forms.plain import RowsOfRecords
from setveil.data.forms.sightings import Sightings
from setveil.data.forms.views import places_of_records, views_of_rows
from setveil.data.records.ragged import distinct, owner_of
from setveil.parameters.hierarchy_files import read_hierarchy

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.base import DataPlace, Published
    from setveil.data.forms.pair_supports import PairSupports
    from setveil.data.forms.views import View
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions, Unit
    from setveil.parameters.hierarchy import Hierarchy

HIERARCHY_NAME = "hierarchy.csv"


@dataclass(frozen=True, eq=False)
class Generalized(RowsOfRecords):
    """Generalized data: records of nodes of a hierarchy.

    A node in a record means that the original record holds at least one item below it. A label that is not a node of the hierarchy is an
    item itself. The methods `AprioriGeneralization` and `TDControl` make such data.

    Parameters
    ----------
    rows : Transactions
        One row per record; its items are names of nodes.
    hierarchy : Hierarchy
        The tree over the items.

    Examples
    --------
    >>> import setveil as sv
    >>> tree = sv.Hierarchy({"milk": "dairy", "butter": "dairy"})
    >>> data = sv.Generalized(sv.from_lists([["dairy"], ["butter", "tea"]]), tree)
    >>> data.records, data.vocabulary
    (2, ('butter', 'dairy', 'tea'))
    """

    form_name: ClassVar[str] = "generalized"
    form_title: ClassVar[str] = "generalized data"
    about_form: ClassVar[str] = (
        "Each row is a record. A node of the hierarchy in a row means that the original record holds at least one item below it. "
        "hierarchy.csv holds the hierarchy."
    )
    beside: ClassVar[tuple[str, ...]] = (HIERARCHY_NAME,)
    schemas_beside: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {HIERARCHY_NAME: {"fields": [{"name": name, "type": "string"} for name in ("item", "parent")]}}
    )
    less_exactly: ClassVar[str] = "shown as a group of items only"

    rows: Transactions
    hierarchy: Hierarchy

    # -- queries --------------------------------------------------------------------------------------------------------------

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
        """`person` if every person has exactly one record, `record` otherwise."""
        return self.rows.unit

    @property
    def tree(self) -> Hierarchy:
        """The hierarchy."""
        return self.hierarchy

    @property
    def labels_shown(self) -> tuple[str, ...]:
        """The labels of the rows and all nodes of the hierarchy."""
        return (*self.vocabulary, *self.hierarchy.nodes)

    def can_stand_for(self, items: Container[str]) -> NDArray[np.bool_]:
        """Return for each label of the rows whether it is one of these items or a node above one."""
        above = set(self.hierarchy.nodes_above(items))
        return np.array([name in items or name in above for name in self.vocabulary], np.bool_)

    def pair_supports(self, labels: Sequence[str]) -> PairSupports:
        """Return the expected numbers if each node in a row is one of the items below it, all equally likely.

        So a row with a node holds one of its items, and not two. The nodes of a row are independent of each other.
        """
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        from setveil.data.forms.pair_supports import PairSupports, as_table, count_pairs, with_diagonal  # noqa: PLC0415

        number_of = {label: number for number, label in enumerate(labels)}
        inner = {*self.hierarchy.nodes} - {*self.hierarchy.leaves}
        below = {x: self.hierarchy.leaves_under(x) if x in inner else (x,) for x in self.vocabulary}
        nodes = [node for node, items in below.items() if not number_of.keys().isdisjoint(items)]
        cells = [
            (row, number_of[item], 1 / len(below[node]))
            for row, node in enumerate(nodes)
            for item in below[node]
            if item in number_of
        ]
        rows, columns, values = (np.array(part) for part in zip(*cells, strict=True)) if cells else ([], [], [])
        shares = csr_array((values, (rows, columns)), shape=(len(nodes), len(labels)))
        counts = count_pairs(as_table(self.rows, nodes))
        items = shares.T @ counts.diagonal()
        np.fill_diagonal(counts, 0)
        return PairSupports(with_diagonal(shares.T @ (shares.T @ counts).T, items), self.records)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Generalized):
            return NotImplemented
        return self.rows == other.rows and self.hierarchy == other.hierarchy

    __hash__ = None  # type: ignore[assignment]  # too large for dictionary keys

    def with_rows(self, rows: Transactions) -> Self:
        """Return the same hierarchy with other rows."""
        return replace(self, rows=rows)

    def with_unit(self, unit: Unit) -> Self:
        """Return the same data with another unit."""
        return self.with_rows(self.rows.with_unit(unit))

    # -- files ----------------------------------------------------------------------------------------------------------------

    def write_to(self, place: DataPlace) -> None:
        """Write the rows, and the hierarchy as an `item,parent` file."""
        super().write_to(place)
        (place.folder / HIERARCHY_NAME).write_bytes(self.hierarchy.to_parents_csv())

    @classmethod
    def read_from(cls, place: DataPlace, unit: Unit) -> Self:
        """Read the rows and the hierarchy."""
        return cls(cls.rows_from(place, unit), read_hierarchy(place.folder / HIERARCHY_NAME))

    # -- comparing ------------------------------------------------------------------------------------------------------------

    def spans(self, original: Transactions) -> Spans:
        """Return the spans of labels: a node represents the items below it, another label itself."""
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
        """Return how often each item is shown, and how often only a node above it is shown."""
        records = original.as_records()
        exactly, _less = super().shown_of(original, alignment)
        own, lowest = lowest_shown(records, self, alignment)
        above = records.items[(lowest >= 0) & (lowest != own)]
        return exactly, np.bincount(above, minlength=len(records.vocabulary))

    def sightings(self, items: Sequence[str]) -> Sightings:
        """Return the rows that hold each item or a node above it."""
        nodes = set(self.hierarchy.nodes)
        return Sightings.in_rows(
            self.rows, ((item, *self.hierarchy.ancestors(item)) if item in nodes else (item,) for item in items)
        )

    def views(self, original: Transactions, alignment: Alignment, records: Sequence[int]) -> Iterable[View]:
        """Return the rows of some records, with the changes marked; a node stands for the items of the record below it."""
        nodes = set(self.hierarchy.nodes)

        def above(item: str) -> set[str]:
            return {*self.hierarchy.ancestors(item)} if item in nodes else set()

        return views_of_rows(self.rows, original, places_of_records(alignment, records), above)

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
    """Return for each original occurrence the number of its item, and of the lowest node at or above it in the rows of its record.

    A node has its number in the hierarchy; items outside the hierarchy have larger numbers. -1 means that the rows do not show the
    occurrence.
    """
    tree, data = published.tree, published.rows
    nodes = len(tree.nodes) if tree is not None else 0
    number_of = {node: number for number, node in enumerate(tree.nodes)} if tree is not None else {}
    width = nodes + len(original.vocabulary)

    def numbers(labels: tuple[str, ...]) -> NDArray[np.int64]:
        """Return the number of each label: that of a node, a larger one for another item, and -1 for an unknown label."""
        codes = ((number_of.get(x, -1), original.code_of.get(x, -1)) for x in labels)
        return np.array([v if v >= 0 else nodes + c if c >= 0 else -1 for v, c in codes], np.int64)

    released = numbers(data.vocabulary)[data.items] if data.occurrences else np.empty(0, np.int64)
    known = released >= 0
    record = alignment.rows[owner_of(data.offsets)[known]]
    shown = distinct(record * width + released[known])
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
