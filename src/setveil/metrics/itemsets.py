"""What analysts find in a release that mine it: frequent itemsets and association rules, beside those of the original.

A share is turned into a number of records for each data set by itself: the analyst of a release knows its size and not the original's.
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
"""More itemsets than these are not compared: they would take longer than the release itself."""
RULE_LIMIT = 500_000
"""The same for rules, of which there can be one for each item of each itemset."""
SUPPORTS = ("5%", "2%", "1%", "0.5%", "0.2%")


class _Undefined(Exception):
    """There is no figure, for a reason that a person can read."""


def _counts(original: Transactions, published: Transactions, min_support: MinSupport) -> tuple[int, int]:
    """Return the least support in records of both; refuse one record, from which on every part of every record is frequent."""
    counts = min_support.count(original.records), min_support.count(published.records)
    for where, data, count in zip(("original", "release"), (original, published), counts, strict=True):
        if count < 2:
            raise _Undefined(
                f"at {min_support} one of the {data.records:,} records of the {where} is enough, and every part of every record is frequent"
            )
    return counts


def _mined(data: Transactions, where: str, count: int, limit: int) -> Itemsets:
    """Return the frequent itemsets. They are counted first: that is much faster where there are many, and done once for all metrics."""
    found, is_all = count_or_at_least(data, count)
    if found <= limit:
        with suppress(TooManyItemsets):  # at most where they could not all be counted
            return mine(data, count, limit=limit)
    raise _Undefined(
        f"{_in_words(found, is_all=is_all)} itemsets are in at least {count:,} records of the {where}, more than the {limit:,} that are "
        "compared; choose a higher min_support"
    )


def _number(data: Transactions, where: str, count: int) -> int:
    """Return how many itemsets are frequent, even where they are too many to list."""
    found, is_all = count_or_at_least(data, count)
    if is_all and found <= sys.float_info.max:
        return found
    raise _Undefined(
        f"{_in_words(found, is_all=is_all)} itemsets are in at least {count:,} records of the {where}, too many to count; choose a higher "
        "min_support"
    )


def _in_words(found: int, *, is_all: bool) -> str:
    return f"{found:,}" if is_all else f"at least {found:,}"


def _both_mined(
    original: Transactions, published: Transactions, min_support: MinSupport, limit: int
) -> tuple[Itemsets, Itemsets, dict[str, Any]]:
    """Return the frequent itemsets of both, and from how many records on they are frequent."""
    count, count_after = _counts(original, published, min_support)
    before, after = _mined(original, "original", count, limit), _mined(published, "release", count_after, limit)
    return before, after, {"count": count, "count-after": count_after}


_MIN_SUPPORT = "From which support on an itemset is frequent; a share is of the records of each data set, rounded up."
_MIN_CONFIDENCE = "The least share of the records with A that hold b too."


class FrequentItemsets(Metric):
    """How many itemsets are frequent in the release; beside it, how many in the original."""

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
        """Mine both."""
        del alignment
        try:
            count, count_after = _counts(original, published, self.min_support)
            before, after = _number(original, "original", count), _number(published, "release", count_after)
        except _Undefined as undefined:
            return None, {"reason": str(undefined)}
        return float(after), {"before": before, "count": count, "count-after": count_after}


class FiSimilarity(Metric):
    """Which share of the itemsets that are frequent before or after is frequent both before and after."""

    name = "fi-similarity"
    title = "Similarity of frequent itemsets"
    unit = "share of itemsets"
    better = "higher"
    about = "utility"
    formula = "U = |FI ∩ FI~| / |FI ∪ FI~|, of the itemsets that at least ⌈min_support × records⌉ records hold"
    blind_to = (
        "who holds what: exchanging whole records leaves it 1; how far supports moved on one side of the threshold, such as many that"
        " pile up just below it; and an itemset that just misses weighs as much as one that is gone"
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
    """Which share of the association rules A → b that hold before or after holds both before and after."""

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
        "who holds what: exchanging whole records leaves it 1; rules below either threshold; and one strong pair of items brings as many"
        " rules as there are itemsets around it, all of which count"
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
    """Which share of the association rules without a sensitive item that hold before or after holds both before and after."""

    name = "non-sensitive-rules"
    title = "Similarity of rules without sensitive items"
    unit = "share of rules"
    better = "higher"
    about = "utility"
    formula = (
        "|R ∩ R~| / |R ∪ R~|, R the rules A → b of rule-similarity of which neither A nor b is sensitive: those that nothing but the method"
        " makes differ, while rules that betray sensitive items must go"
    )
    blind_to = "rules with sensitive items: see rule-similarity; and all that rule-similarity is blind to"
    variants = ({"min_support": "2%"}, {"min_support": "0.5%"})

    sensitive: SensitiveItems = parameter(public=False, description="The items that nobody may infer.")
    min_support: MinSupport = parameter(MinSupport("1%"), public=True, description=_MIN_SUPPORT)
    min_confidence: MinConfidence = parameter(MinConfidence("50%"), public=True, description=_MIN_CONFIDENCE)

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Leave sensitive items out of both, which changes no other support, mine, and match the rules."""
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
    """Return how many rules are in both, and how far their confidences lie apart on average."""
    # A rule is its itemset and which item of it is the consequent; itemsets go by their number in the first collection.
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
