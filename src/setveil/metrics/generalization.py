"""What became of each occurrence: kept, shown as a node that stands above it, or gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.generalized import Generalized
from setveil.data.records.ragged import owner_of
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.alignment import Alignment


class LossSplit(Metric):
    """Which share of the original's occurrences is gone, and how much of the rest is lost by being shown as a node above it."""

    name = "loss-split"
    title = "Loss by suppression and generalization"
    unit = "share of occurrences"
    better = "lower"
    about = "utility"
    formula = (
        "(s + Σ (|leaves(v)| − 1) / (|I| − 1)) / Σ |t|: s occurrences whose record holds neither the item nor a node above it, the sum over"
        " the others, v the lowest such node or the item itself, I the leaves of the published hierarchy; without one the sum is 0"
    )
    blind_to = "items that came in, and that several items of a record under one node are shown as a single one"
    needs = ("alignment",)
    takes = (Transactions, Generalized)

    def measure(
        self, original: Transactions, published: Transactions | Generalized, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Look up each occurrence in the rows of its record, then the nodes above it, one after the other."""
        assert alignment is not None
        if not original.occurrences:
            return None, {"reason": "the original holds no item"}
        tree = published.hierarchy if isinstance(published, Generalized) else None
        _own, lowest = lowest_shown(original, published, alignment)
        gone = int(np.count_nonzero(lowest < 0))
        generalized, most = 0, 0
        if tree is not None:
            inside = lowest[(lowest >= 0) & (lowest < len(tree.nodes))]
            generalized = int((tree.leaf_ends[inside] - tree.leaf_starts[inside] - 1).sum())
            most = len(tree.leaves) - 1
        parts = gone / original.occurrences, generalized / most / original.occurrences if most else 0.0
        details = {"suppression": parts[0], "generalization": parts[1], "occurrences-suppressed": gone}
        return sum(parts), details


def lowest_shown(
    original: Transactions, published: Transactions | Generalized, alignment: Alignment
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each original occurrence the number of its item, and of the lowest node at or above it that its record's rows hold.

    A node has its number in the hierarchy, an item outside of it a larger one; -1 stands for an occurrence that the rows do not show.
    """
    tree = published.hierarchy if isinstance(published, Generalized) else None
    nodes = len(tree.nodes) if tree is not None else 0
    number_of = {node: number for number, node in enumerate(tree.nodes)} if tree is not None else {}
    data = published.records if isinstance(published, Generalized) else published
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
