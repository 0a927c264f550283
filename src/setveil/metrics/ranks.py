"""The most frequent itemsets and rules of the original: whether they still are, their ranks and their supports.

All itemsets that are as frequent as the last of the `top` count too, so that the order of labels does not affect the result. Ranks are
competition ranks: 1 plus the number of more frequent itemsets, so that equals share a rank. Only itemsets in at least two records count; in
one record, every part of every record would count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.base.display import quantity
from setveil.data.forms.disassociated import Disassociated
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric
from setveil.metrics.counting import supports_in
from setveil.metrics.mined import LEAST
from setveil.mining.comparison import compare
from setveil.mining.rules import Rules, association_rules
from setveil.parameters.shares import MinConfidence, MinSupport

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.metrics.pair import Pair


LIMIT = 500_000
"""Maximum number of itemsets; it is exceeded if very many are equally frequent."""
SHOWN = 100
"""Maximum number of rows of a table."""


def competition_ranks(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank of each count: 1 plus the number of larger counts."""
    rising = np.sort(counts)
    return 1 + len(counts) - np.searchsorted(rising, counts, side="right")


class TopKDeviation(Metric):
    """Share of the most frequent itemsets that are no longer among the most frequent."""

    name = "tkd"
    title = "Change of the most frequent itemsets"
    unit = "share of itemsets"
    better = "lower"
    about = "utility"
    formula = (
        "tKd = 1 − |T ∩ T~| / max(|T|, |T~|), T and T~ the itemsets that are at least as frequent as the top-th most frequent one, in the"
        " original and in the release; without ties it is 1 − |T ∩ T~| / top"
    )
    blind_to = (
        "the order within the most frequent, and how far supports moved; which records hold an itemset: swapping whole records leaves it"
        " 0; everything less frequent"
    )
    variants = ({"top": 100}, {"top": 1000})

    top: int = parameter(
        1000, public=True, ge=1, le=100_000, description="Number of most frequent itemsets to compare."
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Find the most frequent itemsets of both and match them."""
        before, after = pair.before.top(self.top, LIMIT), pair.after.top(self.top, LIMIT)
        largest = max(len(before), len(after))
        if not largest:
            return None, {"reason": "no itemset is in at least two records, before or after"}
        kept = compare(before, after).kept
        return 1 - kept / largest, {"kept": kept, "before": len(before), "after": len(after)}


class FrequentRanks(Metric):
    """Mean number of places by which the most frequent itemsets of one length moved among each other."""

    name = "frequent-ranks"
    title = "Ranks of frequent itemsets"
    unit = "places"
    better = "lower"
    about = "utility"
    formula = (
        "mean over the top most frequent itemsets of a length of |r − r~|, r and r~ their ranks among each other by the numbers c and c~ of"
        " records that hold them before and after. support-change: mean of |c − c~| / c"
    )
    blind_to = (
        "itemsets that were less frequent before and are frequent now: see tkd; a loss that all share, which changes no rank: see"
        " support-change"
    )
    variants = ({"length": 2}, {"length": 3})
    takes = (Transactions, Disassociated)

    length: int = parameter(2, public=True, ge=1, le=10, description="Number of items of the itemsets.")
    top: int = parameter(17, public=True, ge=1, le=100_000, description="Number of most frequent itemsets to rank.")

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Rank the most frequent itemsets of the original in both."""
        sets = pair.before.top(self.top, LIMIT, length=self.length)
        if not len(sets):
            return None, {
                "reason": f"no itemset of {quantity(self.length, 'item')} is in at least two records of the original"
            }
        before, after = sets.supports, supports_in(pair, sets)
        rank, rank_after = competition_ranks(before), competition_ranks(after)
        columns = (column[:SHOWN].tolist() for column in (before, rank, after, rank_after))
        lists = sets.take(np.arange(min(SHOWN, len(sets)))).to_lists()
        table = [list(line) for line in zip(lists, *columns, strict=True)]
        change = float((np.abs(after - before) / before).mean())
        details = {"itemsets": len(sets), "support-change": change, "by-itemset": table}
        return float(np.abs(rank - rank_after).mean()), details


class TopRules(Metric):
    """Mean relative change of the supports of the most frequent association rules."""

    name = "top-rules"
    title = "Supports of the most frequent rules"
    unit = "mean relative change"
    better = "lower"
    about = "utility"
    formula = (
        "mean over the top most frequent rules A → b of the original, at min_support and min_confidence, of |c − c~| / c, c and c~ the"
        " numbers of records that hold A ∪ {b} before and after. confidence-difference: mean absolute difference of c / c(A), over rules"
        " whose A the release still holds"
    )
    blind_to = "rules that hold only in the release: see rule-similarity; less frequent rules"
    takes = (Transactions, Disassociated)

    top: int = parameter(50, public=True, ge=1, le=100_000, description="Number of most frequent rules to compare.")
    min_support: MinSupport = parameter(
        MinSupport("0.1%"),
        public=True,
        description="Minimum support of the rules in the original, at least two records.",
    )
    min_confidence: MinConfidence = parameter(
        MinConfidence("50%"),
        public=True,
        description="Minimum confidence of a rule: the share of the records with A that also hold b.",
    )

    def plan(self, pair: Pair) -> None:
        """Plan the frequent itemsets of the original."""
        pair.before.plan(self._count(pair), LIMIT)

    def _count(self, pair: Pair) -> int:
        return max(self.min_support.count(pair.original.records), LEAST)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Find the most frequent rules of the original and count them in the release."""
        count = self._count(pair)
        rules = association_rules(pair.before.listed(count, LIMIT), self.min_confidence)
        if not len(rules):
            return None, {"reason": "no rule holds in the original"}
        rules = _most_frequent_rules(rules, self.top)
        before, held = rules.supports, rules.antecedent_supports
        after = supports_in(pair, rules.itemsets.take(rules.wholes))
        held_after = supports_in(pair, rules.antecedent_sets())
        details: dict[str, Any] = {"rules": len(rules), "count": count}
        there = held_after > 0
        if there.any():
            apart = np.abs(before[there] / held[there] - after[there] / held_after[there])
            details["confidence-difference"] = float(apart.mean())
        columns = (column[:SHOWN].tolist() for column in (before, after, held, held_after))
        lines = zip(rules.take(np.arange(min(SHOWN, len(rules)))), *columns, strict=True)
        details["by-rule"] = [[list(rule[0]), rule[1], *numbers] for rule, *numbers in lines]
        return float((np.abs(after - before) / before).mean()), details


def _most_frequent_rules(rules: Rules, how_many: int) -> Rules:
    """Return the `how_many` most frequent rules, and all as frequent as the last of them, by falling support."""
    ordered = rules.ordered()
    by_support = np.argsort(-ordered.supports, kind="stable")
    least = ordered.supports[by_support[min(how_many, len(ordered)) - 1]]
    return ordered.take(by_support[ordered.supports[by_support] >= least])
