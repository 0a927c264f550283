"""Find hidden itemsets: pairs of items that are rarer together than they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.matrices import held, independent, low_rank, together
from setveil.attacks.trials import Trial
from setveil.base.declaration import parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.attacks.target import Target

RANK = 8
MOST_ITEMS = 5000
"""Maximum number of items whose pairs are compared; the most frequent ones are taken."""


class Holes(Attack):
    """Find hidden pairs of items among the infrequent pairs of the release."""

    name = "holes"
    title = "Holes where frequent pairs were"
    knows = "the minimum support; with model=rival also data of other people, given as the control"
    statistic = (
        "a hidden pair is among the first n infrequent pairs, n the number of hidden pairs, if pairs are ranked by"
        " (expected - seen) / √(expected + 1). Expected: by independence, by a model of rank 8 of the departures from it, or by a rival's"
        " data"
    )
    base_rate = "n infrequent pairs at random"
    success = "hidden pairs of items named right"
    blind_to = "hidden itemsets of three or more items"
    fits = ("hidden-itemsets",)
    guesses_all = True
    variants = ({"model": "independence"}, {"model": "low-rank"}, {"model": "rival"})
    quick_variants = ({"model": "independence"},)

    model: Literal["independence", "low-rank", "rival"] = parameter(
        "independence", public=True, description="How the attacker predicts the support of a pair."
    )

    def run(self, target: Target) -> Finding:
        """Rank the infrequent pairs."""
        rows = target.published.plain
        assert rows is not None
        itemsets, support = target.known.get("itemsets"), target.known.get("min_support")
        if itemsets is None or support is None:
            return self.impossible("the release hides no itemsets")
        least = support.count(target.original.records)
        secret = {frozenset(one) for one in itemsets if len(set(one)) == 2}
        if not secret:
            return self.without_result("no hidden itemset is a pair")
        if self.model == "rival" and (target.control is None or target.shadow):
            return self.impossible("needs the data of other people: give them as the control")
        items, seen = target.once(_seen)
        expected = self._expected(target, [rows.vocabulary[code] for code in items], seen)
        one, other = np.triu_indices(len(items), 1)
        infrequent = seen[one, other] < least
        one, other = one[infrequent], other[infrequent]
        if not len(one):
            return self.without_result("no pair of items of the release is infrequent")
        score = (expected[one, other] - seen[one, other]) / np.sqrt(np.maximum(expected[one, other], 0) + 1)
        ranked = np.argsort(-score, kind="stable")
        number = len(secret)
        first = [
            {rows.vocabulary[items[one[at]]], rows.vocabulary[items[other[at]]]} in secret
            for at in ranked[: 5 * number]
        ]
        return self.finding(
            Trial(sum(first[:number]), number),
            Trial.known(min(number / len(one), 1)),
            details={"hidden-pairs": number, "infrequent-pairs": len(one), "in-the-first-5n": sum(first)},
        )

    def _expected(self, target: Target, labels: list[str], seen: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the support of each pair that the attacker expects."""
        records = max(target.published.records, 1)
        if self.model == "independence":
            return independent(seen, records)
        if self.model == "low-rank":
            return low_rank(seen, records, RANK)
        rival = target.control
        assert rival is not None
        code = [rival.code_of.get(label, len(rival.vocabulary)) for label in labels]
        matrix = held(rival.offsets, rival.items, len(rival.vocabulary) + 1)[:, code]
        return together(matrix, matrix) * (records / max(rival.records, 1))


def _seen(target: Target) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the most frequent items of the release, and the support of each pair of them; the diagonal has those of the items."""
    rows = target.published.plain
    assert rows is not None
    order = np.argsort(-rows.supports, kind="stable")[:MOST_ITEMS]
    items = np.sort(order[rows.supports[order] > 0])
    return items, rows.pair_supports([rows.vocabulary[code] for code in items.tolist()]).counts
