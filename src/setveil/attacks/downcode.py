"""Recover items below the nodes of generalized data."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.guess_items import SHARE_GUESSED
from setveil.attacks.matrices import held, together
from setveil.attacks.trials import Trial
from setveil.data.forms.generalized import Generalized
from setveil.data.records.ragged import distinct, owner_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.attacks.target import Target
    from setveil.data.records.transactions import Transactions
    from setveil.parameters.hierarchy import Hierarchy


class Downcode(Attack):
    """Guess the item below each node of a row, knowing that the method generalizes as little as necessary."""

    name = "downcode"
    title = "Recovering items below nodes"
    knows = (
        "the hierarchy, k and m, that no node can be replaced by its children, and how common items are among half of the people who are"
        " not in the release"
    )
    statistic = (
        "a record holds the item that is guessed for a node of its row. The surest guesses are counted, a quarter of the nodes in rows. A"
        " node whose children are all common among other people has a child in fewer than k rows, or its children would be shown; the"
        " likeliest one is ruled out"
    )
    base_rate = "an item below the node at random"
    success = "items below nodes guessed right"
    blind_to = (
        "items that go with other labels of the row, and what rare sets of several labels or limits ρ say about a node"
    )
    paper: ClassVar[str] = "cohen2022"
    fits = ("km-anonymity", "rho-uncertainty")
    needs = ("control",)
    bytes_per_occurrence = 60
    takes = (Generalized,)

    def run(self, target: Target) -> Finding:
        """Guess an item for every node, and count in how many rows it is there."""
        data = cast("Generalized", target.published)
        assert target.control is not None
        number, codes = target.control.records, target.rng(self.name).permutation(target.control.records)
        public, others = (target.control.take(np.sort(part), ids=None) for part in np.split(codes, [number // 2]))
        cut = _Cut.of(data)
        if not len(cut.nodes):
            return self.without_result("no row shows a node")
        if not min(public.records, others.records):
            return self.without_result("needs people who are not in the release")
        guesses = _guesses(cut, public, data.rows, target.known.get("k"))
        people = target.original.take(target.alignment.rows, ids=None)
        trials, common = [], 0.0
        for records in (people, others):
            cases = _Cases.of(cut, guesses, records)
            if not len(cases.sure):
                return self.without_result("too few people have an item below a node")
            chosen = target.drawn(self.name, cases.surest(target.rng("downcode ties")))
            trials.append(Trial(float(cases.right[chosen].sum()), len(chosen)))
            if records is people:
                naive = Trial.known(float(cases.by_chance[chosen].mean()))
                common = float(cases.right_by_support[chosen].mean())
        details = {"nodes": len(cut.nodes), "most-common-item": common, "surest-guess": float(guesses.sure.max())}
        return self.finding(trials[0], naive, control=trials[1], details=details)


class _Cut(NamedTuple):
    """The nodes that a release shows in place of items."""

    tree: Hierarchy
    nodes: list[int]
    """The numbers of the nodes in the tree."""
    labels: NDArray[np.int64]
    """Their codes in the rows."""
    node_of: NDArray[np.int64]
    """For each leaf of the tree the place in `nodes` of the node that stands for it; -1 if it is none of these."""

    @classmethod
    def of(cls, data: Generalized) -> _Cut:
        tree = data.hierarchy
        leaves, names = set(tree.leaves), set(tree.nodes)
        labels = [code for code, label in enumerate(data.vocabulary) if label in names and label not in leaves]
        nodes = [tree.number(data.vocabulary[code]) for code in labels]
        node_of = np.full(len(tree.leaves), -1, np.int64)
        for place in np.argsort(tree.depths[nodes], kind="stable") if nodes else ():
            node_of[tree.leaf_starts[nodes[place]] : tree.leaf_ends[nodes[place]]] = place  # the lowest node wins
        return cls(tree, nodes, np.array(labels, np.int64), node_of)

    def pairs(self, records: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the record, the node and the leaf of each occurrence of an item below a node."""
        place_of = {leaf: place for place, leaf in enumerate(self.tree.leaves)}
        leaf = np.array([place_of.get(label, -1) for label in records.vocabulary] or [-1], np.int64)[records.items]
        below = leaf >= 0
        below[below] = self.node_of[leaf[below]] >= 0
        return owner_of(records.offsets)[below], self.node_of[leaf[below]], leaf[below]


class _Guesses(NamedTuple):
    """For each node the item that is guessed, how sure it is, and the item that is most common among other people."""

    leaf: NDArray[np.int64]
    sure: NDArray[np.float64]
    most_common: NDArray[np.int64]


def _guesses(cut: _Cut, public: Transactions, rows: Transactions, k: int | None) -> _Guesses:
    """Return the guesses by what is known of other people and, with k, by the need for each node."""
    tree = cut.tree
    record, node, leaf = cut.pairs(public)
    with_leaf = np.bincount(leaf, minlength=len(tree.leaves))
    with_node = np.bincount(distinct(record * len(cut.nodes) + node) % len(cut.nodes), minlength=len(cut.nodes))
    together_with = np.zeros((len(cut.nodes), 0))
    if k is not None:
        matrix = held(rows.offsets, rows.items, len(rows.vocabulary))
        together_with = together(matrix[:, cut.labels], matrix)
    found, sure, most_common = [], [], []
    for place, number in enumerate(cut.nodes):
        first, end = int(tree.leaf_starts[number]), int(tree.leaf_ends[number])
        share = (with_leaf[first:end] + 1 / (end - first)) / (with_node[place] + 1)
        children = [tree.number(child) for child in tree.children(tree.nodes[number])]
        bounds = [(int(tree.leaf_starts[child]) - first, int(tree.leaf_ends[child]) - first) for child in children]
        chance = _needed(share, bounds, together_with[place], k) if k is not None else share
        found.append(first + int(chance.argmax()))
        sure.append(float(chance.max()))
        most_common.append(first + int(share.argmax()))
    return _Guesses(np.array(found), np.array(sure), np.array(most_common))


def _needed(
    share: NDArray[np.float64], bounds: list[tuple[int, int]], rows_with: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    """Return the share of a node's rows that hold each item, given that the node is needed.

    It is needed if a child of it is in 1 to k - 1 rows, or in 1 to k - 1 rows with another label. `rows_with` has the number of rows with
    the node and each label. Each child that may be rare is one explanation, and rare pairs together are another one, which says nothing
    about the items. The chances of the explanations come from the shares among other people.
    """
    from scipy.stats import binom  # noqa: PLC0415 - slow to import

    rows = rows_with.max()
    of_child = np.array([1 - np.prod(1 - np.clip(share[first:end], 0, 1)) for first, end in bounds])
    child_share = np.clip(of_child, 1e-9, 1 - 1e-9)[:, None]
    counts = rows_with[rows_with > 0][None, :]
    with np.errstate(divide="ignore"):
        log_rare = np.log(np.maximum(binom.cdf(k - 1, counts, child_share) - binom.pmf(0, counts, child_share), 0))
    alone = log_rare[:, counts[0] == rows][:, 0]
    if not np.isfinite(alone).any():
        alone = -of_child * rows  # beyond floating point: the less common, the likelier
    rare_pair = -np.expm1(np.sum(np.log1p(-np.minimum(np.exp(log_rare[:, counts[0] < rows]), 1 - 1e-12))))
    weight = np.append(alone, np.log(max(rare_pair, 1e-300)))
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    chance: NDArray[np.float64] = weight[-1] * np.minimum(share, 1)
    for (first, end), own, of in zip(bounds, weight[:-1], of_child, strict=True):
        others = np.minimum(share / max(1 - of, 1e-9), 1)
        others[first:end] = np.minimum(share[first:end], k / 2 / rows)
        chance += own * others
    return chance


class _Cases(NamedTuple):
    """Nodes in the rows of some people, and whether the guesses for them are right."""

    sure: NDArray[np.float64]
    right: NDArray[np.bool_]
    right_by_support: NDArray[np.bool_]
    by_chance: NDArray[np.float64]
    """The share of the items below the node that the person has."""

    @classmethod
    def of(cls, cut: _Cut, guesses: _Guesses, records: Transactions) -> _Cases:
        record, node, leaf = cut.pairs(records)
        keys, case, number = np.unique(record * len(cut.nodes) + node, return_inverse=True, return_counts=True)
        at = keys % max(len(cut.nodes), 1)
        right, by_support = (
            np.bincount(case, leaf == guessed[node], minlength=len(keys)) > 0
            for guessed in (guesses.leaf, guesses.most_common)
        )
        below = np.array([cut.tree.leaf_ends[one] - cut.tree.leaf_starts[one] for one in cut.nodes])
        return cls(guesses.sure[at], right, by_support, number / below[at])

    def surest(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the numbers of the quarter of cases with the surest guesses; ties are in random order."""
        order = rng.permutation(len(self.sure))
        order = order[np.argsort(-self.sure[order], kind="stable")]
        return np.sort(order[: max(int(len(order) * SHARE_GUESSED), 1)])
