"""TDControl: generalize non-sensitive items and suppress sensitive ones, until no known items reveal a sensitive one.

Paper    cao2010 (references.bib), TDControl, as described by jia2014 and our notes: we did not have the paper.
Idea     top down. A node is *pure* if no item below it is sensitive. At first every record shows each of its non-sensitive items as the
         highest pure node above it. Then nodes are split, the one with the largest gain first: its records show those children of which
         they have items, and sensitive items that can then be inferred are suppressed in all records. The split is kept if it gains more
         than it loses; otherwise the node is final.
Pure     the hierarchy covers all items, sensitive ones too, and is published completely: gaps in it would reveal the sensitive items.
         A node above a sensitive item would say that a person may have it, and the guarantee counts such a node as sensitive. So none is
         ever shown. Items that share every group with sensitive ones are shown as themselves; those in groups of their own are generalized.
Loss     1 for a suppressed occurrence. (m - 1) / (I - 1) for one shown as a node above m of the I non-sensitive items of the hierarchy, so
         an item shown as itself loses nothing. Gains and losses are compared in whole numbers.
Departs  of the items that can be inferred after a split, the rarest are suppressed first, ties in label order, each only if it can still be
         inferred at its turn. Between two splits nothing is restored. At the start and at the end suppressed sensitive items are tried,
         the most frequent first, and each is restored if everything stays safe. A node with a single child is replaced by it at once, since
         both cover the same items. A split can make rules unsafe, so each step searches the rules that know a child, with at most
         5,000,000 steps per item: an item that takes more counts as inferred. At the end the guarantee's own search proves the records
         safe; where it fails, more items are suppressed.
         Without a given hierarchy, a balanced tree covers all items that occur. Only the names that are shown and the items below them are
         published. Otherwise a suppressed item would be in the hierarchy and in no record, and gaps would show where it was.
Cost     each step examines the records that hold the node, once for each living sensitive item in them. Memory: for every pure node of the
         hierarchy the records below it, so its height times the data.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from setveil.data.forms.generalized import Generalized
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import read_only
from setveil.errors import BadParameter
from setveil.kernels.control import DONE, STOP
from setveil.kernels.threads import run
from setveil.methods.base import Outcome
from setveil.methods.hierarchies import OverTree, tree_over
from setveil.methods.uncertainty._cut import Cut
from setveil.methods.uncertainty._live import always_inferable, items_to_suppress
from setveil.methods.uncertainty.base import ReachesUncertainty
from setveil.parameters.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class TDControl(OverTree, ReachesUncertainty):
    """Generalize non-sensitive items to nodes of a hierarchy, top down, and suppress sensitive items that can be inferred."""

    name = "td-control"
    title = "TDControl"
    paper = "cao2010"
    truthful = "subset"
    form = Generalized

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check the hierarchy against the data."""
        bound = super().bind(data, linked=linked, rng=rng)
        self._tree(data)
        return bound

    def _tree(self, data: Transactions) -> Hierarchy:
        """Return the tree over all items, sensitive ones too."""
        if not np.any(~self.sensitive.among(data) & (data.supports > 0)):
            raise BadParameter(
                "every item is sensitive, so there is nothing to generalize; name fewer sensitive items, or use global-suppression, which "
                "needs no others"
            )
        return tree_over(data, self.hierarchy, self.fanout)

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Split nodes as long as that gains more than it loses, and prove the records safe."""
        del rng
        sensitive = self.sensitive.among(data)
        tree = self._tree(data)
        cut = Cut(data, sensitive, tree, set(tree.nodes_above(self.sensitive)).union(self.sensitive))
        self._restore(cut)
        steps = self._split_nodes(cut)
        self._restore(cut)
        rows = cut.rows()
        while unsafe := items_to_suppress(rows, self.guarantee):
            cut.table.alive[cut.hidden_among(set(unsafe))] = False
            rows = cut.rows()
        dead = ~cut.table.alive[: cut.hidden]
        suppressed = int(cut.table.supports[: cut.hidden][dead].sum())
        account: dict[str, Any] = {
            "nodes-specialised": steps,
            "nodes-of-the-cut": int(np.count_nonzero(cut.occurrences[list(cut.nodes)])),
            "types-suppressed": int(np.count_nonzero(dead)),
            "occurrences-suppressed": suppressed,
            "suppression-loss": suppressed / data.occurrences,
            "generalization-loss": cut.generalization() / data.occurrences,
        }
        published: Any = Generalized(rows, _readable_part(tree, rows) if self.hierarchy is None else tree)
        return Outcome(published, Alignment.identity(data.records), account)

    def _restore(self, cut: Cut) -> None:
        """Restore suppressed sensitive items as long as everything stays safe."""
        everything = cut.rows(everything=True)
        inferred = always_inferable(everything, self.sensitive.among(everything), self.guarantee)
        labels = {everything.vocabulary[code] for code in np.flatnonzero(inferred).tolist()}
        cut.table.restore(~cut.hidden_among(labels), self.rho.share)

    def _split_nodes(self, cut: Cut) -> int:
        """Replace nodes by their children, the one with the largest gain first; return how many were replaced."""
        from setveil.methods.uncertainty import _live_kernels as kernels  # noqa: PLC0415 - imports Numba

        table, most = cut.table, cut.plain_leaves - 1
        rows = len(table.table.records.weights) if self.knows == "whole" else 0
        parts = kernels.Parts(np.empty(rows, np.int64), np.empty(rows, np.int64), np.zeros(rows, np.int64))
        state = (parts, table.table, table.bounds(self.rho.share), table.room)
        leaves = read_only(cut.leaf_offsets), read_only(cut.leaves)

        def split(control: NDArray[np.int64]) -> int:
            queue = [(-gain, node) for node in cut.nodes if (gain := cut.gain(node))]
            heapq.heapify(queue)
            tried = accepted = 0
            while queue and not control[STOP]:
                gain, node = heapq.heappop(queue)
                most_loss = (-gain - 1) // most
                below = kernels.Split(*leaves, read_only(cut.codes_below(node)), int(cut.tree.leaf_starts[node]))
                loss = kernels.specialise(cut.hidden + node, most_loss, below, *state, control)
                tried += 1
                control[DONE] = tried
                if loss < 0:
                    continue
                accepted += 1
                children = [cut.down(child) for child in cut.children[node]]
                cut.nodes.remove(node)
                cut.nodes.update(children)
                for child in children:
                    if gain := cut.gain(child):
                        heapq.heappush(queue, (-gain, child))
            return accepted

        inner = sum(len(children) > 1 and cut.is_pure[node] for node, children in enumerate(cut.children))
        return run("splitting nodes", split, total=inner)


def _readable_part(tree: Hierarchy, records: Transactions) -> Hierarchy:
    """Return the part of the tree that readers of the records need: the shown names, directly below the root, and the items below them."""
    parent_of = {}
    for name in records.vocabulary:
        if name != tree.root:
            parent_of[name] = tree.root
        if not tree.is_leaf(name):
            parent_of |= dict.fromkeys(tree.leaves_under(name), name)
    return Hierarchy(parent_of)
