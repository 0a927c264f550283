"""What leaving out items cost and what it may still tell, straight from the definitions; records are a list of sets.

Shares are fractions; divergences are decimals of 40 digits. None stands where there is no figure.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction


def occurrences(records):
    return Counter(item for record in records for item in record)


def info_loss(before, after):
    total, left = sum(map(len, before)), sum(map(len, after))
    return Fraction(total - left, total) if total and left <= total else None


def items_lost(before, after, chosen):
    """Return how many occurrences of the chosen items are gone, item by item, and how many there were."""
    old, new = occurrences(before), occurrences(after)
    return sum(max(old[i] - new[i], 0) for i in old if i in chosen), sum(old[i] for i in old if i in chosen)


def shares(records):
    counted = occurrences(records)
    return {item: Fraction(count, sum(counted.values())) for item, count in counted.items()}


def divergence(one, other):
    """Return KL(one‖other) of two distributions in nats, or None where the second lacks an item of the first."""
    if not one or not other or one.keys() - other.keys():
        return None
    with localcontext() as context:
        context.prec = 40
        parts = [(share, share / other[item]) for item, share in one.items()]
        return sum((_decimal(share) * _decimal(ratio).ln() for share, ratio in parts), Decimal(0))


def kl(before, after):
    return divergence(shares(after), shares(before))


def symmetric_kl(before, after):
    one, other = shares(before), shares(after)
    if not one or not other:
        return None
    mean = {item: (one.get(item, 0) + other.get(item, 0)) / Fraction(2) for item in one.keys() | other.keys()}
    return (divergence(one, mean) + divergence(other, mean)) / 2


def rules_without(rules, sensitive):
    """Return the rules {(antecedent, consequent): ...} in which no sensitive item stands."""
    return {rule: figures for rule, figures in rules.items() if not (rule[0] | {rule[1]}) & sensitive}


def exposed_pairs(records, sensitive, rho, include_empty):
    """Return the pairs (whole part that is not sensitive, sensitive item) with a confidence above ρ, with the records that hold them."""
    found = {}
    for part in {frozenset(record - sensitive) for record in records}:
        alike = [number for number, record in enumerate(records) if record - sensitive == part]
        for item in sensitive:
            holders = [number for number in alike if item in records[number]]
            if Fraction(len(holders), len(alike)) > rho and (part or include_empty):
                found[part, item] = holders
    return found


def rests(records, sensitive, include_empty):
    """Return for each sensitive occurrence whose rule counts: how many records hold the rest and it, and how many hold the rest."""
    found = []
    for record in records:
        for item in record & sensitive:
            rest = record - {item}
            if rest or include_empty:
                holders = [other for other in records if rest <= other]
                found.append((sum(item in other for other in holders), len(holders)))
    return found


def _decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)
