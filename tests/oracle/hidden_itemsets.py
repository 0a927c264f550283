"""Hiding itemsets, straight from the definitions (gunawan2021, and the settled readings), slow and obvious.

Records are Python sets of items. A threshold is a whole number of records, or a Fraction of them. Nothing is imported from the package.
"""

from fractions import Fraction


def support(records, itemset):
    return sum(all(item in record for item in itemset) for record in records)


def frequent_from(threshold, n):
    """The least number of records from which on an itemset is frequent among n; an itemset that no record holds never is."""
    if not isinstance(threshold, Fraction):
        return threshold
    least = 1
    while Fraction(least) < threshold * n:
        least += 1
    return least


def thresholds(records, threshold):
    """The threshold of an analyst whose program counts empty records, and of one whose program leaves them out."""
    return frequent_from(threshold, len(records)), frequent_from(threshold, sum(bool(record) for record in records))


def violations(records, itemsets, threshold, targets=None):
    """What is wrong with released records: a set of (kind, itemset). One that is frequent for some analyst is not named again."""
    found = set()
    for number, itemset in enumerate(itemsets):
        held = support(records, itemset)
        if any(held >= least for least in thresholds(records, threshold)):
            found.add(("still-frequent", tuple(itemset)))
        elif targets is not None and held > targets[number]:
            found.add(("above-target", tuple(itemset)))
    return found
