"""Frequent itemsets and association rules that analysts find in a release, compared with those of the original.

A share is converted to a number of records for each data set separately, because an analyst of the release knows only its size.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.errors import TooManyItemsets
from setveil.metrics.base import Metric
from setveil.mining.comparison import common_codes, compare
from setveil.mining.frequent import count_or_at_least, mine
from setveil.mining.rules import Rules, association_rules
from setveil.mining.whole_parts import without_items
from setveil.parameters.sensitive_items import SensitiveItems
from setveil.parameters.shares import MinConfidence, MinSupport

if TYPE_CHECKING:
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions
    from setveil.mining.itemsets import Itemsets

LIMIT = 2_000_000
"""Maximum number of itemsets to compare; more would take longer than the release itself."""
RULE_LIMIT = 500_000
"""Maximum number of itemsets for rules: there may be one rule per item of each itemset."""
SUPPORTS = ("5%", "2%", "1%", "0.5%", "0.2%")


class _Undefined(Exception):
    """There is no figure; the text is the reason for users."""


def _counts(original: Transactions, published: Transactions, min_support: MinSupport) -> tuple[int, int]:
    """Return the minimum supports of both in records; raise `_Undefined` for 1, at which every part of every record is frequent."""
    counts = min_support.count(original.records), min_support.count(published.records)
    for where, data, count in zip(("original", "release"), (original, published), counts, strict=True):
        if count < 2:
            raise _Undefined(
                f"at {min_support}, one of the {data.records:,} records of the {where} is enough: every part of every record is frequent; "
                "choose a higher min_support"
            )
    return counts


def _mined(data: Transactions, where: str, count: int, limit: int) -> Itemsets:
    """Return the frequent itemsets. They are counted first, which is much faster if there are many, and done once for all metrics."""
    found, is_all = count_or_at_least(data, count)
    if found <= limit:
        with suppress(TooManyItemsets):  # possible only if not all of them could be counted
            return mine(data, count, limit=limit)
    raise _Undefined(
        f"{_number_text(found, is_all=is_all)} itemsets are in at least {count:,} records of the {where}; the limit is {limit:,}; choose a "
        "higher min_support"
    )


def _number(data: Transactions, where: str, count: int) -> int:
    """Return the number of frequent itemsets, even if there are too many to list."""
    found, is_all = count_or_at_least(data, count)
    if is_all and found <= sys.float_info.max:
        return found
    raise _Undefined(
        f"{_number_text(found, is_all=is_all)} itemsets are in at least {count:,} records of the {where}, too many to count; choose a "
        "higher min_support"
    )


def _number_text(found: int, *, is_all: bool) -> str:
    return f"{found:,}" if is_all else f"at least {found:,}"


def _both_mined(
    original: Transactions, published: Transactions, min_support: MinSupport, limit: int
) -> tuple[Itemsets, Itemsets, dict[str, Any]]:
    """Return the frequent itemsets of both, and the minimum supports in records."""
    count, count_after = _counts(original, published, min_support)
    before, after = _mined(original, "original", count, limit), _mined(published, "release", count_after, limit)
    return before, after, {"count": count, "count-after": count_after}


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

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Count the frequent itemsets of both."""
        del alignment
        try:
            count, count_after = _counts(original, published, self.min_support)
            before, after = _number(original, "original", count), _number(published, "release", count_after)
        except _Undefined as undefined:
            return None, {"reason": str(undefined)}
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

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Mine both and match the itemsets."""
        del alignment
        try:
            before, after, counts = _both_mined(original, published, self.min_support, LIMIT)
        except _Undefined as undefined:
            return None, {"reason": str(undefined)}
        found = compare(before, after)
        if found.similarity is None:
            return None, {"reason": "no itemset is frequent before or after"}
        sizes = {"before": len(before), "after": len(after)}
        return found.similarity, {"kept": found.kept, "lost": found.lost, "new": found.new, **sizes, **counts}


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

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Mine both and match the rules."""
        del alignment
        return _similarity_of_rules(original, published, self.min_support, self.min_confidence)


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

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Remove sensitive items from both, which changes no other support; then mine and match the rules."""
        del alignment
        before, after = (without_items(data, self.sensitive.among(data)) for data in (original, published))
        return _similarity_of_rules(before, after, self.min_support, self.min_confidence)


def _similarity_of_rules(
    original: Transactions, published: Transactions, min_support: MinSupport, min_confidence: MinConfidence
) -> tuple[float | None, dict[str, Any]]:
    """Mine both and match the rules."""
    try:
        before, after, counts = _both_mined(original, published, min_support, RULE_LIMIT)
    except _Undefined as undefined:
        return None, {"reason": str(undefined)}
    old, new = (association_rules(sets, min_confidence) for sets in (before, after))
    kept, difference = _matched(old, new)
    either = len(old) + len(new) - kept
    if not either:
        return None, {"reason": "no rule holds before or after"}
    sizes = {"kept": kept, "lost": len(old) - kept, "new": len(new) - kept, "before": len(old), "after": len(new)}
    apart = {} if difference is None else {"confidence-difference": difference}
    return kept / either, {**sizes, **apart, **counts}


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
    return len(matched), float(apart.mean())
