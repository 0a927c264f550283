"""TDControl: items that are not sensitive become nodes of a hierarchy, sensitive types leave, until no known items betray a sensitive one.

Paper    cao2010 (references.bib), TDControl, as far as jia2014 and our notes tell: the paper was not at hand.
Idea     top down. A node is *pure* if no item below it is sensitive. At first every record shows, for each of its items that is not
         sensitive, the highest pure node above it. The node whose giving way to its children gains most is tried first: its records show
         the children that they have items of, and sensitive types that can then be inferred leave all records. It stays so if that gains
         more than it loses; else the node is final.
Pure     the hierarchy is over all items, sensitive ones too, and is published whole: what it lacks would give the sensitive items away.
         So a node above a sensitive item would say that a person may have it, and the guarantee counts such a node as sensitive. None is
         ever shown. Items that share each group with sensitive ones stand for themselves; those in groups of their own are generalized.
Loss     of an occurrence that is left out 1, of one shown as a node with m of the I items of the hierarchy that are not sensitive below
         it (m - 1) / (I - 1), so that an item that stands for itself loses nothing. Gains and losses are compared in whole numbers.
Departs  of the types that can be inferred after a step, the rarest leave first, then the first in label order, each only if it still can
         be when its turn comes. Between two steps nothing comes back, but at the start and at the end sensitive types that are out are
         tried again, the most frequent first, each if everything stays safe. A node with a single child gives way to it at once, since
         both stand for the same items. Safety is not kept when nodes give way, so rules that know a child are searched at each step, with
         at most 5,000,000 steps a type: one that takes more counts as inferred. The records are proved safe in the end, by the guarantee's
         own search, and lose more types where they are not.
         A balanced tree is laid over all items that occur. Of it only the shown names and what is below them are published: a suppressed
         type would otherwise be named in the hierarchy and nowhere in the records, and gaps would show where it was.
Cost     each step looks at the records that hold the node, once for each living sensitive type in them. Memory: for every pure node of the
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
from setveil.methods.uncertainty._live import STEPS_FOR_A_TYPE, inferred_unaided, to_leave_out
from setveil.methods.uncertainty.base import ReachesUncertainty
from setveil.parameters.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class TDControl(OverTree, ReachesUncertainty):
    """Publish items that are not sensitive as nodes of a hierarchy, top down, and leave out sensitive types that can be inferred."""

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
                "every item is sensitive, so that there is nothing to generalize; global-suppression needs no other items"
            )
        return tree_over(data, self.hierarchy, self.fanout)

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Let nodes give way as long as that gains more than it loses, and prove the records safe."""
        del rng
        sensitive = self.sensitive.among(data)
        tree = self._tree(data)
        cut = Cut(data, sensitive, tree, set(tree.nodes_above(self.sensitive)).union(self.sensitive))
        self._bring_back(cut)
        steps = self._specialise(cut)
        self._bring_back(cut)
        rows = cut.rows()
        while left := to_leave_out(rows, self.guarantee):
            cut.table.alive[cut.hidden_among(set(left))] = False
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

    def _bring_back(self, cut: Cut) -> None:
        """Let sensitive types that are out come back as long as everything stays safe."""
        everything = cut.rows(everything=True)
        inferred = inferred_unaided(everything, self.sensitive.among(everything), self.guarantee)
        labels = {everything.vocabulary[code] for code in np.flatnonzero(inferred).tolist()}
        cut.table.bring_back(~cut.hidden_among(labels), self.rho.share, STEPS_FOR_A_TYPE)

    def _specialise(self, cut: Cut) -> int:
        """Let nodes give way to their children, the one that gains most first; return how many did."""
        from setveil.methods.uncertainty import _live_kernels as kernels  # noqa: PLC0415 - imports Numba

        table, most = cut.table, cut.plain_leaves - 1
        rows = len(table.weights)
        parts = (np.empty(rows, np.int64), np.empty(rows, np.int64), np.zeros(rows, np.int64))
        state = (self.knows == "whole", table.sensitive, table.alive, table.tally, *parts)
        state = (*state, *table.arguments(self.rho.share, STEPS_FOR_A_TYPE))
        items_below = read_only(cut.leaf_offsets), read_only(cut.leaves)

        def give_way(control: NDArray[np.int64]) -> int:
            queue = [(-gain, node) for node in cut.nodes if (gain := cut.gain(node))]
            heapq.heapify(queue)
            tried = accepted = 0
            while queue and not control[STOP]:
                gain, node = heapq.heappop(queue)
                most_loss = (-gain - 1) // most
                below = read_only(cut.codes_below(node))
                first = int(cut.tree.leaf_starts[node])
                loss = kernels.specialise(cut.hidden + node, below, first, *items_below, most_loss, *state, control)
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
        return run("letting nodes give way", give_way, total=inner)


def _readable_part(tree: Hierarchy, records: Transactions) -> Hierarchy:
    """Return what is needed to read the records: the names that they show right below the top, and the items below these."""
    parent_of = {}
    for name in records.vocabulary:
        if name != tree.root:
            parent_of[name] = tree.root
        if not tree.is_leaf(name):
            parent_of |= dict.fromkeys(tree.leaves_under(name), name)
    return Hierarchy(parent_of)
