"""What the metrics of utility rules are, straight from their formulas; data are lists of sets, releases too, or lists of clusters.

A cluster is as in `support_bounds`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from oracle import support_bounds


def _support(records, itemset):
    return sum(set(itemset) <= record for record in records)


def _released_supports(release, itemsets, reading):
    if release and isinstance(release[0], dict):
        return support_bounds.bounds(release, itemsets)[reading]
    return [_support(release, one) for one in itemsets]


def associations(records, rules, over):
    """Return the rules that some record holds, or all couples in the records that hold a rule."""
    if over == "rules":
        return [set(rule) for rule in rules if _support(records, rule)]
    with_rule = [record for record in records if any(set(rule) <= record for rule in rules)]
    return [set(couple) for couple in {pair for record in with_rule for pair in combinations(sorted(record), 2)}]


def association_errors(records, release, rules, over, reading):
    """Return the error of every association, each from 0 to 2."""
    asked = associations(records, rules, over)
    before, after = [_support(records, one) for one in asked], _released_supports(release, asked, reading)
    return [abs(Fraction(s) - t) / ((Fraction(s) + t) / 2) for s, t in zip(before, after, strict=True)]


def alphas(records, release, rules, reading):
    """Return for every rule that some record holds which share of its support is left."""
    asked = associations(records, rules, "rules")
    before, after = [_support(records, one) for one in asked], _released_supports(release, asked, reading)
    return [Fraction(t) / s for s, t in zip(before, after, strict=True)]


def lost_items(records, release, k):
    """Return the items that at least k records hold, and those of them that no subrecord and no released record holds."""
    asked = {item for record in records for item in record if _support(records, {item}) >= k}
    if release and isinstance(release[0], dict):
        told = {item for c in release for chunk in c["record_chunks"] for items, _n in chunk for item in items}
    else:
        told = set().union(*release)
    return asked, asked - told
