"""Look at rules that are as strong as the guarantee allows: where items were suppressed, some are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.guess_items import sought_items
from setveil.attacks.matrices import held
from setveil.attacks.trials import Trial
from setveil.data.records.ragged import among, distinct, offsets_of, records_of
from setveil.mining.supports import supports

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
            return self.impossible("the release has no limit ρ")
        limit = float(rho.share)
        sought = [original.vocabulary[code] for code in sought_items(target)]
        shown = [label for label in sought if label in rows.code_of]
        rules = _Rules.of(rows, [rows.code_of[label] for label in shown], limit / 2)
        strong = {code: rules.near_highest(code, limit / 2) for code in (rows.code_of[label] for label in shown)}
        numbers = {code: len(_cases(rows, code, found)) for code, found in strong.items() if found}
        codes = np.array([code for code, number in numbers.items() if number], np.int64)
        if not len(codes):
            return self.without_result("no rule is near a limit")
        starts = offsets_of([numbers[code] for code in codes.tolist()])
        chosen = target.drawn_of(self.name, int(starts[-1]))
        place = records_of(chosen, starts)
        item = codes[place]
        row = np.concatenate(
            [
                _cases(rows, int(codes[one]), strong[int(codes[one])])[chosen[place == one] - starts[one]]
                for one in distinct(place)
            ]
        )
        own = np.array([original.code_of.get(label, -1) for label in rows.vocabulary])
        had = target.true_pairs(target.alignment.rows[row], own[item])
        hidden, left = original.supports[own[item]] - rows.supports[item], rows.records - rows.supports[item]
        return self.finding(
            Trial(float(had.sum()), len(row)),
            Trial.known(float((hidden / np.maximum(left, 1)).mean())),
            bound=limit,
            details={"rules": sum(map(len, strong.values())), "items": len(codes)},
        )


class _Rules(NamedTuple):
    """The rules from one or two items to a sensitive item whose confidence may be near a highest one that counts."""

    item: NDArray[np.int64]
    """The code of the sensitive item of each rule."""
    one: NDArray[np.int64]
    other: NDArray[np.int64]
    """The codes of the items that the rule starts from; the same code twice for a rule from one item."""
    confidence: NDArray[np.float64]

    @classmethod
    def of(cls, data: Transactions, sensitive: list[int], least: float) -> _Rules:
        """Count the rules; only those matter that are near a confidence of at least `least` and about enough rows."""
        is_other = data.supports >= LEAST_ROWS
        is_other[sensitive] = False
        others = np.flatnonzero(is_other)
        parts = [(np.empty(0, np.int64),) * 4]
        for item in sensitive:
            part = data.take(_rows_with(data, (item,)), ids=None)
            matrix = held(part.offsets, part.items, len(part.vocabulary))[:, others]
            both = (matrix.T @ matrix).tocoo()
            enough = (both.row <= both.col) & (both.data >= NEAR * least * LEAST_ROWS)
            ends = others[both.row[enough]], others[both.col[enough]]
            parts.append((np.full(len(ends[0]), item), *ends, both.data[enough].astype(np.int64)))
        items, one, other, with_item = map(np.concatenate, zip(*parts, strict=True))
        keys = one * len(data.vocabulary) + other
        pairs = distinct(keys)
        codes = np.column_stack((pairs // len(data.vocabulary), pairs % len(data.vocabulary))).ravel()
        counts = supports(data, (2 * np.arange(len(pairs) + 1), codes))[np.searchsorted(pairs, keys)]
        known = counts >= LEAST_ROWS
        return cls(items[known], one[known], other[known], with_item[known] / counts[known])

    def near_highest(self, item: int, least: float) -> list[tuple[int, ...]]:
        """Return the itemsets whose rule to an item is near the highest one of this item."""
        mine = self.item == item
        highest = self.confidence[mine].max(initial=0)
        if highest < least:
            return []
        near = np.flatnonzero(mine & (self.confidence >= NEAR * highest))
        return [
            (one, other) if one != other else (one,)
            for one, other in zip(self.one[near].tolist(), self.other[near].tolist(), strict=True)
        ]


def _rows_with(data: Transactions, items: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the rows that hold all of these items."""
    starts, holders = data.holders
    lists = [holders[starts[code] : starts[code + 1]] for code in items]
    return lists[0] if len(lists) == 1 else lists[0][among(lists[0], lists[1])]


def _cases(data: Transactions, code: int, strong: list[tuple[int, ...]]) -> NDArray[np.int64]:
    """Return the rows that hold the items of a strong rule to an item, but not the item."""
    under = distinct(np.concatenate([_rows_with(data, one) for one in strong]))
    return under[~among(under, _rows_with(data, (code,)))]
