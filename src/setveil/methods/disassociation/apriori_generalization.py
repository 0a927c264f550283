"""AprioriGeneralization: generalize items to nodes of a hierarchy, alike in all records, until any m known nodes lead to k records.

Paper    terrovitis2008 (references.bib), algorithm AA (apriori-based anonymization). We did not have the paper; this is from memory: global
         recoding of full subtrees. For i = 1 to m, examine the sets of i nodes of the present cut in order. If a set is in fewer than k
         records, generalize its nodes: of all ways that make it frequent, take the one with the least loss.
Idea     every item is shown as one node of a cut. A coarser cut never makes a set rare: if the smaller sets are frequent they stay so, and
         what was examined need not be examined again.
Loss     NCP: an occurrence shown as a node above s > 1 of the I items of the tree loses s / I, one shown as itself loses nothing. Losses
         are compared in whole numbers, over the occurrences of the original records.
Order    nodes and sets of nodes in the order of the tree, where children are in the order of labels, items first. Of ways with equal loss,
         the one whose nodes come first.
Departs  the order of the sets is our own. Sets are counted when they are examined, not in a tree of all counts. At most 10,000 ways are
         tried for a set, those with the least loss; beyond that, the node whose next step loses least is generalized until the set is
         frequent. `refine` is our own: at the end nodes are replaced by their children, the largest gain first, where the release stays
         k^m-anonymous. Afterwards no node of the cut can be refined, which AA alone does not guarantee. A node with one child covers the
         same items as the child and is never shown. Empty records stay: they show nothing. A given hierarchy is published completely, so
         it does not show which of its items occur.
Cost     for each node the sets with it are searched in the records with it: for m = 2 the squares of the lengths of all records, for m = 3
         at most their cubes, since nodes in the same records are examined once. A generalization does not restart the search.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from setveil.base.declaration import parameter
from setveil.base.display import quantity
from setveil.data.forms.generalized import Generalized
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import (
    distinct,
    inverted,
    offsets_of,
    owner_of,
    picked,
    ranks_of_sequences,
    read_only,
    sums_within,
)
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData
from setveil.guarantees.km_anonymity import KmAnonymity, KmLimit
from setveil.kernels.control import DONE, STOP
from setveil.kernels.threads import run
from setveil.methods.base import Method, Outcome
from setveil.methods.disassociation._rare_items import rare_items
from setveil.methods.hierarchies import OverTree, tree_over
from setveil.parameters.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


MOST_TRIED = 10_000
"""Maximum number of ways to generalize a set that are tried, those with the least loss first."""


class AprioriGeneralization(OverTree, KmLimit, Method):
    """Generalize items to nodes of a hierarchy, step by step, until any m known nodes lead to at least k records."""

    name = "apriori-generalization"
    title = "AprioriGeneralization"
    paper = "terrovitis2008"
    truthful = "subset"
    form = Generalized

    refine: bool = parameter(
        True,
        public=True,
        description="At the end, replace nodes by their children where the guarantee still holds; false follows the paper.",
    )

    @property
    def guarantee(self) -> KmAnonymity:
        """The guarantee that the release is checked for."""
        return KmAnonymity(k=self.k, m=self.m)

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check that there are enough records, and the hierarchy against the data."""
        del linked, rng
        self._tree(data)
        return self

    def bound_in(self, data: Transactions) -> str:
        """Return how many items are too rare to be shown as themselves."""
        return rare_items(data, self.k, "so they must be generalized")

    def _tree(self, data: Transactions) -> Hierarchy:
        """Return the tree over all items that occur."""
        if not data.occurrences:
            raise BadData("no record holds an item, so there is nothing to generalize; give data with items")
        holding = data.records - data.empty_records
        if holding < self.k:
            raise BadData(
                f"the data have {quantity(holding, 'record')} with items, fewer than k = {self.k:,}, so even a node above all items would "
                "be rare; choose a smaller k"
            )
        return tree_over(data, self.hierarchy, self.fanout)

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Make the cut coarser for sets of 1 to m nodes, refine it, and write the records with its nodes."""
        del rng
        published = self._tree(data)
        place_of = np.zeros(len(data.vocabulary), np.int64)
        used = np.flatnonzero(data.supports)
        numbers = np.array([published.number(data.vocabulary[code]) for code in used.tolist()], np.int64)
        place_of[used] = published.leaf_starts[numbers]
        occurrences = np.zeros(len(published.leaves), np.int64)
        occurrences[place_of[used]] = data.supports[used]
        tree = _Tree(published, occurrences)
        width = len(published.leaves)
        places = np.sort(owner_of(data.offsets) * width + place_of[data.items]) % width
        cut = np.flatnonzero(np.array([not below for below in tree.below]) & tree.is_lowest)
        steps = refined = 0
        if self.k > 1:
            search = _Search(tree, self.k, self.m)
            cut, steps = search.coarsen(data.offsets, places, cut)
            if self.refine:
                cut, refined = search.refine(data.offsets, places, cut)
        offsets, ranks = _recode(data.offsets, places, np.repeat(np.arange(len(cut)), tree.sizes[cut]))
        shown, codes = np.unique(ranks, return_inverse=True)
        cut = cut[shown]
        account: dict[str, Any] = {
            "sets-generalized": steps,
            "nodes-refined": refined,
            "nodes-of-the-cut": len(cut),
            "items-of-the-cut": int(np.count_nonzero(tree.sizes[cut] == 1)),
            "generalization-loss": sum(tree.loss[v] for v in cut.tolist()) / (width * data.occurrences),
        }
        records = Transactions.from_codes(
            offsets, codes, [published.nodes[v] for v in cut.tolist()], ids=data.ids, unit=data.unit
        )
        made: Any = Generalized(records, published)
        return Outcome(made, Alignment.identity(data.records), account)


class _Tree:
    """The nodes of a hierarchy that cover different items: of a chain of nodes with one child each, the lowest."""

    def __init__(self, tree: Hierarchy, occurrences: NDArray[np.int64]) -> None:
        """Prepare a hierarchy, given the occurrences of each of its items."""
        self.firsts, self.ends = tree.leaf_starts, tree.leaf_ends
        self.sizes = tree.leaf_ends - tree.leaf_starts
        before = offsets_of(occurrences)
        shown = before[tree.leaf_ends] - before[tree.leaf_starts]
        self.loss = [n * s if s > 1 else 0 for n, s in zip(shown.tolist(), self.sizes.tolist(), strict=True)]
        """The loss of all occurrences under a node if it is shown, times the number of items."""
        above = tree.parents.tolist()
        self.up = [-1] * len(above)
        """The next node above that covers more items; -1 at the root."""
        self.is_lowest = np.ones(len(above), np.bool_)
        for node in range(1, len(above)):
            more = self.sizes[above[node]] > self.sizes[node]
            self.up[node] = above[node] if more else self.up[above[node]]
            self.is_lowest[above[node]] &= more
        self.below: list[list[int]] = [[] for _ in above]
        for node in np.flatnonzero(self.is_lowest).tolist():
            if self.up[node] >= 0:
                self.below[self.up[node]].append(node)

    def highest(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        """Return the nodes that are below no other of them, in the order of the tree."""
        kept: list[int] = []
        for node in sorted(set(nodes)):
            if not kept or self.ends[node] > self.ends[kept[-1]]:
                kept.append(node)
        return tuple(kept)


class _Rows:
    """Distinct records over some nodes, whose positions are their ranks, and a cut of these nodes or nodes above them."""

    def __init__(
        self, offsets: NDArray[np.int64], places: NDArray[np.int64], units: NDArray[np.int64], tree: _Tree
    ) -> None:
        """Write records, given as positions of leaves, with the nodes `units`; these are also the first cut."""
        from setveil.methods.disassociation import _apriori_generalization_kernels as kernels  # noqa: PLC0415 - imports Numba

        self.tree, self.units = tree, len(units)
        self.unit_starts = tree.firsts[units]
        offsets, ranks = _recode(offsets, places, np.repeat(np.arange(len(units)), tree.sizes[units]))
        content = ranks_of_sequences(offsets, ranks)
        _contents, first, weights = np.unique(content, return_index=True, return_counts=True)
        offsets, taken = picked(offsets, first)
        ranks, row = ranks[taken], owner_of(offsets)
        holders = inverted(offsets, ranks, len(units))
        self.arrays = kernels.Rows(*map(read_only, (offsets, ranks, weights.astype(np.int64), *holders)))
        self.level = np.zeros(len(weights), np.int64)
        self.node_of = np.arange(len(units))
        self.end_of = np.arange(1, len(units) + 1)
        self.shown = units.copy()
        self.supports = np.bincount(ranks, weights[row], len(units)).astype(np.int64)

    def longest(self) -> int:
        """Return the maximum number of nodes of the cut in a record."""
        offsets, ranks = self.arrays[:2]
        nodes = self.node_of[ranks]
        differs = np.ones(len(nodes) + 1, np.int64)
        differs[1:-1] = nodes[1:] != nodes[:-1]
        differs[offsets] = 1
        return int(sums_within(offsets, differs[:-1]).max(initial=0))

    def interval(self, node: int) -> tuple[int, int]:
        """Return the first rank under a node, and the end of its ranks."""
        borders = (self.tree.firsts[node], self.tree.ends[node])
        first, end = np.searchsorted(self.unit_starts, borders).tolist()
        return first, end

    def records_with(self, nodes: tuple[int, ...]) -> int:
        """Count the records that hold an item of each of these nodes."""
        from setveil.methods.disassociation import _apriori_generalization_kernels as kernels  # noqa: PLC0415 - imports Numba

        firsts, ends = np.array([self.interval(node) for node in nodes]).T
        return int(kernels.records_with(read_only(firsts), read_only(ends), self.arrays, self.level))

    def show(self, node: int) -> None:
        """Add a node to the cut, where it replaces the nodes below it or above it."""
        first, end = self.interval(node)
        self.node_of[first:end] = first
        self.end_of[first] = end
        self.shown[first] = node
        self.supports[first] = self.records_with((node,))

    def cut(self) -> NDArray[np.int64]:
        """Return the nodes of the cut."""
        return self.shown[distinct(self.node_of)]


class _Search:
    """Search for sets of nodes that fewer than k records hold, and change the cut."""

    def __init__(self, tree: _Tree, k: int, m: int) -> None:
        self.tree, self.k, self.m = tree, k, m
        self.lost = [0] * len(tree.up)
        """The loss of the cut under each node, while the cut is not above it."""

    def coarsen(
        self, offsets: NDArray[np.int64], places: NDArray[np.int64], cut: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], int]:
        """Make the cut coarser until no set of 1 to m nodes is rare; return it, and the number of sets that were generalized."""
        steps, size = 0, 1
        rows = _Rows(offsets, places, cut, self.tree)
        while size <= min(self.m, rows.longest()):
            label = f"generalizing rare sets of {size}" if size > 1 else "generalizing rare items"
            done = run(label, self._level(rows, size), total=rows.units)
            if done:
                rows = _Rows(offsets, places, rows.cut(), self.tree)
            steps, size = steps + done, size + 1
        return rows.cut(), steps

    def _level(self, rows: _Rows, size: int) -> Any:
        """Return the function that treats sets of one size; all smaller sets are frequent."""

        def work(control: NDArray[np.int64]) -> int:
            find = self._finder(rows, size, control)
            steps = position = 0
            border = 1
            while position < rows.units and not control[STOP]:
                rare = find(position, border)
                if rare is None:
                    position = int(rows.end_of[position])
                    border = int(rows.end_of[position]) if position < rows.units else 0
                    control[DONE] = position
                    continue
                if control[STOP]:
                    break
                before = rows.shown[position]
                for node in self._least_loss(rows, tuple(int(rows.shown[rank]) for rank in rare)):
                    self._raise(rows, node)
                steps += 1
                position = int(rows.node_of[position])
                # Sets with the same first node and an earlier second node were examined already.
                same = size > 1 and rows.shown[position] == before
                border = int(rows.node_of[rare[1]]) if same else int(rows.end_of[position])
            return steps

        return work

    def _finder(self, rows: _Rows, size: int, control: NDArray[np.int64]) -> Any:
        """Return a function that finds the first rare set of a node and others at or after a border; smaller sets are frequent."""
        from setveil.methods.disassociation import _apriori_generalization_kernels as kernels  # noqa: PLC0415 - imports Numba

        if size == 1:
            return lambda node, _border: (node,) if 0 < rows.supports[node] < self.k else None
        by_depth = (size, rows.units)
        room = kernels.Room(
            rows.level, np.zeros(by_depth, np.int64), np.zeros(by_depth, np.bool_), np.empty(size - 1, np.int64)
        )
        cut = kernels.Cut(rows.node_of, rows.end_of)

        def find(node: int, border: int) -> tuple[int, ...] | None:
            if kernels.rare_set_with(node, border, size, self.k, rows.arrays, cut, room, control):
                return (node, *room.found.tolist())
            return None

        return find

    def _least_loss(self, rows: _Rows, rare: tuple[int, ...]) -> tuple[int, ...]:
        """Return the nodes, at or above those of a rare set, that make it frequent with the least loss."""
        queue = [(0, rare, rare)]
        seen = {rare}
        for _ in range(MOST_TRIED):
            _cost, nodes, raised = heapq.heappop(queue)
            if self._is_frequent(rows, nodes, rare):
                return nodes
            for way in self._one_up(raised):
                if way[2] not in seen:
                    seen.add(way[2])
                    heapq.heappush(queue, way)
        while not self._is_frequent(rows, nodes, rare):
            _cost, nodes, raised = min(self._one_up(raised))
        return nodes

    def _is_frequent(self, rows: _Rows, nodes: tuple[int, ...], rare: tuple[int, ...]) -> bool:
        """Return whether a generalized rare set is frequent; if nodes of it were merged it is, since all smaller sets are frequent."""
        return len(nodes) < len(rare) or (nodes != rare and rows.records_with(nodes) >= self.k)

    def _one_up(self, raised: tuple[int, ...]) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        """Return the loss, the shown nodes and the new set for each way to generalize one node by one step."""
        ways = []
        for at, node in enumerate(raised):
            if self.tree.up[node] >= 0:
                after = (*raised[:at], self.tree.up[node], *raised[at + 1 :])
                nodes = self.tree.highest(after)
                ways.append((sum(self.tree.loss[v] - self.lost[v] for v in nodes), nodes, after))
        return ways

    def _raise(self, rows: _Rows, node: int) -> None:
        """Show a node, and add its loss to the nodes above it."""
        if rows.shown[rows.interval(node)[0]] == node:
            return
        rows.show(node)
        more = self.tree.loss[node] - self.lost[node]
        while node >= 0:
            self.lost[node] += more
            node = self.tree.up[node]

    def refine(
        self, offsets: NDArray[np.int64], places: NDArray[np.int64], cut: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], int]:
        """Replace nodes by their children where no set becomes rare, the largest gain first; return the cut and the number replaced.

        A node that cannot be replaced now never can: however much finer the cut becomes, the rare set stays rare or splits into rare sets.
        """
        tree, rows, units = self.tree, _Rows(offsets, places, cut, self.tree), set(cut.tolist())

        def entry(node: int) -> tuple[int, int]:
            return sum(tree.loss[child] for child in tree.below[node]) - tree.loss[node], node

        def work(control: NDArray[np.int64]) -> int:
            nonlocal rows, units
            queue = [entry(node) for node in cut.tolist() if tree.below[node]]
            heapq.heapify(queue)
            replaced = tried = 0
            while queue and not control[STOP]:
                _gain, node = heapq.heappop(queue)
                if not units.issuperset(tree.below[node]):  # keep ranks coarse, so that more records are equal
                    shown = rows.cut().tolist()
                    units = {child for v in shown for child in tree.below[v] or [v]}
                    rows = _Rows(offsets, places, np.array(sorted(units), np.int64), tree)
                    for v in shown:
                        rows.show(v)
                for child in tree.below[node]:
                    rows.show(child)
                if self._any_rare(rows, tree.below[node], control) or control[STOP]:
                    rows.show(node)
                else:
                    replaced += 1
                    for child in tree.below[node]:
                        if tree.below[child] and tree.loss[child]:  # nodes without loss cover no occurrence
                            heapq.heappush(queue, entry(child))
                tried += 1
                control[DONE] = tried
            return replaced

        replaced = run("refining nodes", work, total=sum(map(bool, tree.below)))
        return rows.cut(), replaced

    def _any_rare(self, rows: _Rows, nodes: list[int], control: NDArray[np.int64]) -> bool:
        """Return whether a set of at most m nodes with one of these is rare; all other sets are frequent."""
        firsts = [first for first, _end in map(rows.interval, nodes) if rows.supports[first]]
        if min(rows.supports[first] for first in firsts) < self.k:
            return True
        for size in range(2, min(self.m, rows.longest()) + 1):
            find = self._finder(rows, size, control)
            if any(find(first, 0) is not None for first in firsts):
                return True
        return False


def _recode(
    offsets: NDArray[np.int64], places: NDArray[np.int64], rank_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Replace positions by ranks, each once per record. Positions increase in a record, and `rank_of` never decreases."""
    ranks = rank_of[places]
    keep = np.ones(len(ranks), np.bool_)
    keep[1:] = ranks[1:] != ranks[:-1]
    keep[offsets[:-1][offsets[:-1] < len(ranks)]] = True
    return offsets_of(keep)[offsets], ranks[keep]
