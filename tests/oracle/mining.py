"""What frequent itemsets, association rules and supports are, straight from the definitions; for few records and items.

Records are a list of sets. The empty set is no itemset here.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations


def support(records, itemset):
    """Return the number of records that hold every item of the set; all records hold the empty set."""
    return sum(set(itemset) <= set(record) for record in records)


def supports(records, itemsets):
    return [support(records, itemset) for itemset in itemsets]


def frequent(records, min_count):
    """Return every non-empty itemset that at least `min_count` records hold, with its support; `min_count` is at least 1."""
    found = {}
    items = sorted(set().union(*records))
    layer = [frozenset([item]) for item in items]
    while layer:
        counted = {itemset: support(records, itemset) for itemset in layer}
        kept = {itemset: count for itemset, count in counted.items() if count >= min_count}
        found |= kept
        # Every part of a frequent set is frequent, so that each is met by adding its last item to the others.
        layer = [itemset | {item} for itemset in kept for item in items if item > max(itemset)]
    return found


def closed(records, min_count):
    """Return the frequent itemsets of which every larger set is held by fewer records."""
    items = set().union(*records)
    return {
        itemset: count
        for itemset, count in frequent(records, min_count).items()
        if all(support(records, itemset | {item}) < count for item in items - itemset)
    }


def maximal(records, min_count):
    """Return the frequent itemsets that are part of no other frequent one."""
    found = frequent(records, min_count)
    return {itemset: count for itemset, count in found.items() if not any(itemset < other for other in found)}


def top(records, how_many):
    """Return the supports of the most frequent itemsets, falling; which sets of equal support come is left open."""
    return sorted(frequent(records, 1).values(), reverse=True)[:how_many]


def rules(records, min_count, min_confidence, max_length=None):
    """Return {(antecedent, consequent): (support, confidence, lift)} of the rules with one item as consequent, as fractions."""
    found = {}
    for itemset, count in frequent(records, min_count).items():
        if len(itemset) < 2 or (max_length is not None and len(itemset) > max_length):
            continue
        for consequent in itemset:
            antecedent = itemset - {consequent}
            confidence = Fraction(count, support(records, antecedent))
            if confidence >= Fraction(min_confidence):
                lift = confidence / Fraction(support(records, {consequent}), len(records))
                found[antecedent, consequent] = (count, confidence, lift)
    return found


def compare(before, after):
    """Return which sets of two collections are in both, only in the first, only in the second."""
    before, after = set(map(frozenset, before)), set(map(frozenset, after))
    return before & after, before - after, after - before


def jaccard(before, after):
    """Return the size of the intersection by that of the union, or None where both are empty."""
    before, after = set(before), set(after)
    return Fraction(len(before & after), len(before | after)) if before | after else None


def relative_errors(before, after, itemsets, sanity):
    """Return how far the support after lies from that before, by the larger of that before and `sanity`."""
    return [
        Fraction(abs(support(after, itemset) - support(before, itemset)), max(support(before, itemset), sanity))
        for itemset in itemsets
    ]


def by_subsets(records):
    """Return every itemset that a record holds, with its support, from all subsets of all records: a second way to the same."""
    found = {}
    for record in records:
        for size in range(1, len(record) + 1):
            for itemset in combinations(sorted(record), size):
                found[frozenset(itemset)] = found.get(frozenset(itemset), 0) + 1
    return found
