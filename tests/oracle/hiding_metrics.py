"""What the metrics of hiding itemsets are, straight from the definitions, over all subsets of the items; for few records and items.

Records are lists of sets, named itemsets a list of sets. A share is a fraction of the records that hold an item; a figure is a fraction, or
None where it is not defined. The empty set is no itemset here.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import ceil


def support(records, itemset):
    return sum(set(itemset) <= set(record) for record in records)


def threshold(records, least):
    """Return from how many records on a set is frequent; `least` is a whole number of records or a share."""
    return least if isinstance(least, int) else max(1, ceil(least * sum(1 for record in records if record)))


def subsets(items):
    items = sorted(items)
    return [frozenset(one) for size in range(1, len(items) + 1) for one in combinations(items, size)]


def all_supports(records):
    """Return the support of every set of the items that records hold."""
    found = dict.fromkeys(subsets(set().union(*records)), 0)
    for record in records:
        for part in subsets(record):
            found[part] += 1
    return found


def frequent(records, count):
    return {itemset for itemset, held in all_supports(records).items() if held >= count}


def minimal_infrequent(records, count):
    """Return every set of items that records hold which is not frequent while each set with one item less is, with its support."""
    held = all_supports(records)
    return {
        itemset: number
        for itemset, number in held.items()
        if number < count and all(held[part] >= count for part in subsets(itemset) if part != itemset)
    }


def _share(part, whole):
    return Fraction(len(part), len(whole)) if whole else None


def _thresholds(before, after, least):
    """Return the number for both, and that for the release where privacy is measured."""
    return threshold(before, least), min(threshold(before, least), threshold(after, least))


def hiding_failure(before, after, named, least):
    """Return the figure, and the named sets that are frequent before, still, and only after."""
    count, count_after = _thresholds(before, after, least)
    was = [s for s in named if support(before, s) >= count]
    still = [s for s in was if support(after, s) >= count_after]
    became = [s for s in named if s not in was and support(after, s) >= count_after]
    return _share(still, was), was, still, became


def residual(after, named):
    return _share([s for s in named if any(set(s) <= record for record in after)], named)


def misses_cost(before, after, named, least, which):
    """Return the figure, what is lost, what is counted, and what could not stay."""
    count = threshold(before, least)
    named = {frozenset(s) for s in named}
    others = frequent(before, count) - named
    unavoidable = {x for x in others if any(s < x for s in named)}
    counted = others - unavoidable if which == "avoidable" else others
    lost = {x for x in counted if support(after, x) < count}
    return _share(lost, counted), lost, counted, unavoidable


def artificial(before, after, least):
    """Return the figure, and what is new and frequent after."""
    count = threshold(before, least)
    now = frequent(after, count)
    new = {x for x in now if support(before, x) < count}
    return _share(new, now), new, now


def touched(before, rows, origins):
    """Return the share of records that are not released as one row like them; `origins` are the records that the rows came from."""
    changed = [r for r, record in enumerate(before) if [rows[i] for i, o in enumerate(origins) if o == r] != [record]]
    return _share(changed, before)


def border_exposure(before, after, named, least):
    """Return what attackers get who know all secrets but one and list the minimal infrequent sets at the support that suits these best."""
    count, count_after = _thresholds(before, after, least)
    secrets = {frozenset(s) for s in named if support(before, s) >= count}
    border = minimal_infrequent(after, count_after)
    if not secrets or not border:
        return None
    value, hits = Fraction(0), 0
    for one in secrets:
        others = secrets - {one}
        s = _best_support({x: number for x, number in border.items() if x != one}, others, set(border.values()))
        listed = {x for x, number in border.items() if number == s} - others
        if one in listed:
            hits += 1
            value += Fraction(1, len(listed))
    best = _best_support(border, secrets, set(border.values()))
    listed = {x for x, number in border.items() if number == best}
    base = Fraction(len(secrets), len(frequent(before, count)) - len(secrets) + 1)
    return {
        "value": value,
        "recall": Fraction(hits, len(secrets)),
        "best-support": best,
        "listed": len(listed),
        "named-in-list": len(listed & secrets),
        "base-rate": base,
        "times-base-rate": value / base,
        "border": len(border),
    }


def _best_support(border, secrets, supports):
    tried = []
    for s in supports:
        listed = {x for x, number in border.items() if number == s}
        precision = _share(listed & secrets, listed) if listed else Fraction(0)
        recall = _share(listed & secrets, secrets) if secrets else Fraction(0)
        both = precision + recall
        tried.append((2 * precision * recall / both if both else Fraction(0), precision, s))
    return max(tried)[2]
