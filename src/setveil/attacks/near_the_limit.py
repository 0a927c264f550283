"""Look at rules that are as strong as the guarantee allows: where items were suppressed, some are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.guess_items import sought_items
from setveil.attacks.matrices import held, together
from setveil.attacks.trials import Trial
from setveil.data.records.ragged import among, distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.attacks.target import Target
    from setveil.data.records.transactions import Transactions

LEAST_ROWS = 20
"""Rules about fewer rows are not looked at."""
NEAR = 0.95
"""A rule is near the highest of its item from this share of its confidence."""


class NearTheLimit(Attack):
    """Name people whose sensitive item was suppressed, by rules that are near the highest confidence of the item."""

    name = "near-the-limit"
    title = "Rules near the limit"
    knows = "the limit ρ, that the method suppresses as little as possible, and one or two items of a person"
    statistic = (
        "a row that holds one or two items, does not show a sensitive item, and for which this rule has at least 95 % of the highest"
        " confidence of the item (itself at least ρ / 2), had the item. Rules about fewer than 20 rows do not count"
    )
    base_rate = "the share of rows without the item that had it, for the same items"
    success = "suppressed sensitive items guessed right"
    blind_to = "rules from three or more items, and attackers who learn from data of their own"
    paper: ClassVar[str] = "wong2007"
    fits = ("rho-uncertainty",)

    def run(self, target: Target) -> Finding:
        """Look at rows under such rules, drawn at random."""
        rows, original = target.published.plain, target.original
        assert rows is not None
        rho = target.known.get("rho")
        if rho is None:
            return self.without_result("the release has no limit ρ")
        limit = float(rho.share)
        sought = [original.vocabulary[code] for code in sought_items(target)]
        shown = [label for label in sought if label in rows.code_of]
        rules = _Rules.of(rows, {rows.code_of[label] for label in shown})
        cases: dict[int, NDArray[np.int64]] = {}
        strong = 0
        for label in shown:
            code = rows.code_of[label]
            found = rules.near_highest(code, limit / 2)
            strong += len(found)
            under = [rules.rows_with(one) for one in found]
            if under:
                cases[code] = _without(distinct(np.concatenate(under)), rules.rows_with((code,)))
        pairs = [(code, len(places)) for code, places in cases.items() if len(places)]
        if not pairs:
            return self.without_result("no rule is near a limit")
        item = np.repeat([code for code, _ in pairs], [count for _, count in pairs])
        row = np.concatenate([cases[code] for code, _ in pairs])
        chosen = target.drawn(self.name, np.arange(len(row)))
        item, row = item[chosen], row[chosen]
        own = np.array([original.code_of.get(label, -1) for label in rows.vocabulary])
        had = target.true_pairs(target.alignment.rows[row], own[item])
        hidden, left = original.supports[own[item]] - rows.supports[item], rows.records - rows.supports[item]
        return self.finding(
            Trial(float(had.sum()), len(row)),
            Trial.known(float((hidden / np.maximum(left, 1)).mean())),
            bound=limit,
            details={"rules": strong, "items": len(pairs)},
        )


class _Rules(NamedTuple):
    """The rules from one or two items to an item, with their counts."""

    data: Transactions
    others: NDArray[np.int64]
    """The codes of the items that rules start from."""
    counts: NDArray[np.float64]
    """The number of rows with each pair of these items; the diagonal has those with one."""

    @classmethod
    def of(cls, data: Transactions, sensitive: set[int]) -> _Rules:
        frequent = np.flatnonzero(data.supports >= LEAST_ROWS)
        others = np.array([code for code in frequent.tolist() if code not in sensitive], np.int64)
        return cls(data, others, _pairs(data, np.arange(data.records), others))

    def near_highest(self, item: int, least: float) -> list[tuple[int, ...]]:
        """Return the itemsets whose rule to an item is near the highest one of this item."""
        with_item = _pairs(self.data, self.rows_with((item,)), self.others)
        confidence = np.where(self.counts >= LEAST_ROWS, with_item / np.maximum(self.counts, 1), 0)
        highest = confidence.max(initial=0)
        if highest < least:
            return []
        one, other = np.nonzero(confidence >= NEAR * highest)
        return [
            (int(self.others[i]), int(self.others[j])) if i != j else (int(self.others[i]),)
            for i, j in zip(one, other, strict=True)
            if i <= j
        ]

    def rows_with(self, items: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the rows that hold all of these items."""
        starts, holders = self.data.holders
        lists = [holders[starts[code] : starts[code + 1]] for code in items]
        return lists[0] if len(lists) == 1 else lists[0][among(lists[0], lists[1])]


def _pairs(data: Transactions, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
    part = data if len(rows) == data.records else data.take(rows, ids=None)
    matrix = held(part.offsets, part.items, len(part.vocabulary))[:, others]
    return together(matrix, matrix)


def _without(rows: NDArray[np.int64], left_out: NDArray[np.int64]) -> NDArray[np.int64]:
    return rows[~among(rows, left_out)]
