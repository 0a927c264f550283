"""Frequent itemsets and association rules that analysts find in a release, compared with those of the original.

A share is converted to a number of records for each data set separately, because an analyst of the release knows only its size.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.metrics.base import Metric
from setveil.metrics.mined import LEAST, Undefined
from setveil.mining.comparison import common_codes, compare
from setveil.mining.rules import Rules, association_rules
from setveil.parameters.sensitive_items import SensitiveItems
from setveil.parameters.shares import MinConfidence, MinSupport

if TYPE_CHECKING:
    from setveil.metrics.pair import Pair

LIMIT = 2_000_000
"""Maximum number of itemsets to compare; more would take longer than the release itself."""
RULE_LIMIT = 500_000
"""Maximum number of itemsets for rules: there may be one rule per item of each itemset."""
SUPPORTS = ("5%", "2%", "1%", "0.5%", "0.2%")


def _counts(pair: Pair, min_support: MinSupport) -> tuple[int, int]:
    """Return the minimum supports of both in records; raise `Undefined` for 1, at which every part of every record is frequent."""
    sides = {"original": pair.original.records, "release": pair.published.records}
    for where, records in sides.items():
        if min_support.count(records) < LEAST:
            raise Undefined(
                f"at {min_support}, one of the {records:,} records of the {where} is enough: every part of every record is frequent; "
                "choose a higher min_support"
            )
    count, count_after = map(min_support.count, sides.values())
    return count, count_after


def _plan(pair: Pair, min_support: MinSupport, limit: int) -> None:
    """Plan the frequent itemsets of both."""
    with suppress(Undefined):
        count, count_after = _counts(pair, min_support)
        pair.before.plan(count, limit)
        pair.after.plan(count_after, limit)


_MIN_SUPPORT = "Minimum support of a frequent itemset; a share is of the records of each data set, rounded up."
_MIN_CONFIDENCE = "Minimum confidence of a rule: the share of the records with A that also hold b."


class FrequentItemsets(Metric):
    """Number of frequent itemsets in the release; the details have the number of the original."""

    name = "frequent-itemsets"
    title = "Frequent itemsets"
    unit = "itemsets"
    better = "like the original"
    about = "utility"
    formula = "|FI~|, the number of itemsets that at least ⌈min_support × |D~|⌉ released records hold"
    blind_to = "which itemsets they are: lost and new ones cancel"
    variants = tuple({"min_support": share} for share in SUPPORTS)

    min_support: MinSupport = parameter(MinSupport("1%"), public=True, description=_MIN_SUPPORT)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Count the frequent itemsets of both."""
        count, count_after = _counts(pair, self.min_support)
        before, after = pair.before.number(count), pair.after.number(count_after)
        return float(after), {"before": before, "count": count, "count-after": count_after}


class FiSimilarity(Metric):
    """Share of the itemsets frequent before or after that are frequent both before and after."""

    name = "fi-similarity"
    title = "Similarity of frequent itemsets"
    unit = "share of itemsets"
    better = "higher"
    about = "utility"
    formula = "U = |FI ∩ FI~| / |FI ∪ FI~|, FI and FI~ the itemsets that at least ⌈min_support × records⌉ records hold"
    blind_to = (
        "which records hold an itemset: swapping whole records leaves it 1; how far supports moved on one side of the threshold, for"
        " example many just below it; and how much of a support is lost: a near miss weighs as much as a total loss"
    )
    variants = tuple({"min_support": share} for share in SUPPORTS)

    min_support: MinSupport = parameter(MinSupport("1%"), public=True, description=_MIN_SUPPORT)

    def plan(self, pair: Pair) -> None:
        """Plan the frequent itemsets of both."""
        _plan(pair, self.min_support, LIMIT)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Mine both and match the itemsets."""
        count, count_after = _counts(pair, self.min_support)
        before, after = pair.before.listed(count, LIMIT), pair.after.listed(count_after, LIMIT)
        found = compare(before, after)
        if found.similarity is None:
            return None, {"reason": "no itemset is frequent before or after"}
        sizes = {"before": len(before), "after": len(after)}
        return found.similarity, {
            "kept": found.kept,
            "lost": found.lost,
            "new": found.new,
            **sizes,
            "count": count,
            "count-after": count_after,
        }


class RuleSimilarity(Metric):
    """Share of the association rules A → b holding before or after that hold both before and after."""

    name = "rule-similarity"
    title = "Similarity of association rules"
    unit = "share of rules"
    better = "higher"
    about = "utility"
    formula = (
        "|R ∩ R~| / |R ∪ R~|, R = {A → b : A ∪ {b} frequent at min_support, support(A ∪ {b}) / support(A) ≥ min_confidence}, b one item."
        " confidence-difference: mean over R ∩ R~ of the absolute difference of the confidences"
    )
    blind_to = (
        "which records hold an itemset: swapping whole records leaves it 1; rules below either threshold; and that one strong pair of"
        " items produces as many rules as there are itemsets around it, all of which count"
    )
    variants = ({"min_support": "2%"}, {"min_support": "0.5%"})

    min_support: MinSupport = parameter(MinSupport("1%"), public=True, description=_MIN_SUPPORT)
    min_confidence: MinConfidence = parameter(MinConfidence("50%"), public=True, description=_MIN_CONFIDENCE)

    def plan(self, pair: Pair) -> None:
        """Plan the frequent itemsets of both."""
        _plan(pair, self.min_support, RULE_LIMIT)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Mine both and match the rules."""
        return _similarity_of_rules(pair, self.min_support, self.min_confidence)


class NonSensitiveRules(Metric):
    """Share of the association rules without a sensitive item holding before or after that hold both before and after."""

    name = "non-sensitive-rules"
    title = "Similarity of rules without sensitive items"
    unit = "share of rules"
    better = "higher"
    about = "utility"
    formula = (
        "|R ∩ R~| / |R ∪ R~|, R the rules A → b of rule-similarity without a sensitive item in A or b. Rules that reveal sensitive items"
        " must disappear; these rules need not"
    )
    blind_to = "rules with sensitive items: see rule-similarity; and everything that rule-similarity cannot see"
    variants = ({"min_support": "2%"}, {"min_support": "0.5%"})

    sensitive: SensitiveItems = parameter(public=False, description="The items that must not be inferred.")
    min_support: MinSupport = parameter(MinSupport("1%"), public=True, description=_MIN_SUPPORT)
    min_confidence: MinConfidence = parameter(MinConfidence("50%"), public=True, description=_MIN_CONFIDENCE)

    def plan(self, pair: Pair) -> None:
        """Plan the frequent itemsets of both."""
        _plan(pair, self.min_support, RULE_LIMIT)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Match the rules of the itemsets without sensitive items."""
        return _similarity_of_rules(pair, self.min_support, self.min_confidence, self.sensitive)


def _similarity_of_rules(
    pair: Pair, min_support: MinSupport, min_confidence: MinConfidence, hidden: SensitiveItems | None = None
) -> tuple[float | None, dict[str, Any]]:
    """Match the rules of both, without those that contain a hidden item."""
    count, count_after = _counts(pair, min_support)
    before, after = (
        mined.listed(least, RULE_LIMIT, without=None if hidden is None else hidden.among(mined.data))
        for mined, least in ((pair.before, count), (pair.after, count_after))
    )
    old, new = (association_rules(sets, min_confidence) for sets in (before, after))
    kept, difference = _matched(old, new)
    either = len(old) + len(new) - kept
    if not either:
        return None, {"reason": "no rule holds before or after"}
    sizes = {"kept": kept, "lost": len(old) - kept, "new": len(new) - kept, "before": len(old), "after": len(new)}
    apart = {} if difference is None else {"confidence-difference": difference}
    return kept / either, {**sizes, **apart, "count": count, "count-after": count_after}


def _matched(old: Rules, new: Rules) -> tuple[int, float | None]:
    """Return the number of rules in both, and the mean absolute difference of their confidences."""
    # A rule is identified by its itemset and its consequent; itemsets are identified by their number in the first collection.
    places = compare(old.itemsets, new.itemsets).places[new.wholes]
    code, width = common_codes(old.vocabulary, new.vocabulary)
    in_both = np.flatnonzero(places >= 0)
    consequents = code[new.consequents[in_both]] if len(in_both) else in_both
    keys, keys_after = old.wholes * width + old.consequents, places[in_both] * width + consequents
    matched, left, right = np.intersect1d(keys, keys_after, assume_unique=True, return_indices=True)
    if not len(matched):
        return 0, None
    apart = np.abs(old.confidence[left] - new.confidence[in_both[right]])
    return len(matched), float(
        np.sort(apart).mean()
    )  # sorted: the last digit must not depend on the order of the itemsets
