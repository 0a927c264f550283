"""A cut through a hierarchy: every non-sensitive item is published as the node of the cut that is above it.

Nodes of a cut are *pure*: no item below them is sensitive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import distinct, owner_of, runs, starts_of
from setveil.data.records.transactions import Transactions
from setveil.methods.uncertainty._live import LiveTable

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from setveil.parameters.hierarchy import Hierarchy


class Cut:
    """The nodes that replace the items of the data, and the records written with these nodes.

    Codes of the table: the sensitive items that occur, in label order, then the nodes of the tree by their numbers.
    """

    def __init__(
        self, data: Transactions, sensitive: NDArray[np.bool_], tree: Hierarchy, impure: Container[str]
    ) -> None:
        """Start at the highest pure nodes, or at the first node below each where the tree branches; suppress all sensitive items.

        `impure` contains the sensitive items and all nodes above them.
        """
        self.data, self.tree = data, tree
        self.is_pure = np.array([node not in impure for node in tree.nodes], np.bool_)
        self.plain_leaves = sum(leaf not in impure for leaf in tree.leaves)
        contents, weights, self.content_of = data.distinct()
        hidden = np.flatnonzero(sensitive & (data.supports > 0))
        self.hidden_labels = [data.vocabulary[code] for code in hidden.tolist()]
        self.hidden = len(hidden)
        nodes = len(tree.nodes)
        self.sizes = tree.leaf_ends - tree.leaf_starts
        self.children = _children(tree)
        row = owner_of(contents.offsets)
        is_hidden = sensitive[contents.items]
        plain_row = row[~is_hidden]
        node_of = np.array([tree.number(x) if not s else -1 for x, s in self._labels(sensitive)], np.int64)
        node = node_of[contents.items[~is_hidden]]
        order = np.lexsort((node, plain_row))
        self.leaves = tree.leaf_starts[node[order]]
        self.leaf_offsets = starts_of(plain_row, contents.records)
        weight = weights[plain_row]
        self.occurrences = np.zeros(nodes, np.int64)
        found: list[NDArray[np.int64]] = []
        at, rows = node.copy(), plain_row.copy()
        while len(at):
            self.occurrences += np.bincount(at, weight, nodes).astype(np.int64)
            found.append(distinct(at * contents.records + rows))
            above = (tree.parents[at] >= 0) & self.is_pure[tree.parents[at]]
            at, rows, weight = tree.parents[at[above]], rows[above], weight[above]
        keys = distinct(np.concatenate(found)) if found else np.empty(0, np.int64)
        code_of = np.full(len(data.vocabulary), -1, np.int64)
        code_of[hidden] = np.arange(self.hidden)
        hidden_keys = np.sort(code_of[contents.items[is_hidden]] * contents.records + row[is_hidden])
        codes = np.concatenate((hidden_keys // contents.records, self.hidden + keys // contents.records))
        lists = np.concatenate((hidden_keys % contents.records, keys % contents.records))
        starts = starts_of(codes, self.hidden + nodes)
        pad = self.hidden + nodes
        items = np.full(contents.occurrences, pad, np.int32)
        hidden_in = np.bincount(row[is_hidden], minlength=contents.records)
        items[contents.offsets[row[is_hidden]] + _within(hidden_in)] = code_of[contents.items[is_hidden]]
        tops = np.flatnonzero(self.is_pure & ((tree.parents < 0) | ~self.is_pure[tree.parents]))
        shown = np.array([self.down(top) for top in tops.tolist()], np.int64)
        top_of = shown[np.searchsorted(tree.leaf_starts[tops], self.leaves, side="right") - 1]
        pairs = distinct(plain_row[order] * nodes + top_of)
        top_row = pairs // nodes
        tops_in = np.bincount(top_row, minlength=contents.records)
        items[contents.offsets[top_row] + hidden_in[top_row] + _within(tops_in)] = self.hidden + pairs % nodes
        mask = np.arange(pad) < self.hidden
        self.table = LiveTable(contents.offsets, items, weights, mask, (starts, lists))
        self.nodes = set(shown.tolist())

    def _labels(self, sensitive: NDArray[np.bool_]) -> list[tuple[str, bool]]:
        """Return the label of each item, and whether no node replaces it: it is sensitive or does not occur."""
        not_replaced = sensitive | (self.data.supports == 0)
        return list(zip(self.data.vocabulary, not_replaced.tolist(), strict=True))

    def down(self, node: int) -> int:
        """Return the first node, at or below this one, that is an item or has several children; it covers the same items."""
        while len(self.children[node]) == 1:
            node = self.children[node][0]
        return node

    def gain(self, node: int) -> int:
        """Return how many pairs of an occurrence and another item that it could be are ruled out if children replace the node."""
        below = [self.down(child) for child in self.children[node]]
        if not below:
            return 0
        return int(self.occurrences[node] * self.sizes[node] - sum(self.occurrences[c] * self.sizes[c] for c in below))

    def codes_below(self, node: int) -> NDArray[np.int64]:
        """Return for each leaf under a node the code that replaces the node."""
        first = self.tree.leaf_starts[node]
        codes = np.empty(self.sizes[node], np.int64)
        for child in self.children[node]:
            codes[self.tree.leaf_starts[child] - first : self.tree.leaf_ends[child] - first] = self.hidden + self.down(
                child
            )
        return codes

    def rows(self, *, everything: bool = False) -> Transactions:
        """Return the records as they would be published, or with all sensitive items."""
        alive = self.table.alive.copy()
        if everything:
            alive[: self.hidden] = True
        offsets, codes = self.table.living_items(self.content_of, alive)
        labels = [*self.hidden_labels, *self.tree.nodes]
        used, places = np.unique(codes, return_inverse=True)
        return Transactions.from_codes(
            offsets, places, [labels[code] for code in used.tolist()], ids=self.data.ids, unit=self.data.unit
        )

    def hidden_among(self, labels: set[str]) -> NDArray[np.bool_]:
        """Return for each code of the table whether it is one of these sensitive items."""
        mask = np.zeros(len(self.table.alive), np.bool_)
        mask[: self.hidden] = [label in labels for label in self.hidden_labels]
        return mask

    def generalization(self) -> float:
        """Return Σ (items under its node - 1) / (non-sensitive items - 1) over the occurrences of non-sensitive items."""
        most = self.plain_leaves - 1
        cost = sum(int(self.occurrences[v]) * (int(self.sizes[v]) - 1) for v in self.nodes)
        return cost / most if most else 0.0


def _within(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of each entry in its row, given the number of entries per row."""
    return runs(np.zeros_like(counts), counts)


def _children(tree: Hierarchy) -> list[list[int]]:
    """Return the children of each node."""
    children: list[list[int]] = [[] for _ in tree.nodes]
    for node, above in enumerate(tree.parents.tolist()):
        if above >= 0:
            children[above].append(node)
    return children
