"""Hiding itemsets by exchanging items, piece by piece from the definitions, slow and obvious. Nothing is imported from the package.

Records are Python sets of items, itemsets frozensets of at least one item. A threshold is a whole number of records or a Fraction of them.
"""

from fractions import Fraction
from itertools import combinations
from math import ceil


def support(records, itemset):
    return sum(itemset <= record for record in records)


def subsets(items):
    """Return every set of these items but the empty one."""
    items = sorted(items)
    return [frozenset(one) for size in range(1, len(items) + 1) for one in combinations(items, size)]


def all_supports(records):
    """Return the support of every itemset that a record holds: each item narrows down the records, written as the bits of a number."""
    holders = {}
    for number, record in enumerate(records):
        for item in record:
            holders[item] = holders.get(item, 0) | 1 << number
    found = {}

    def extend(itemset, records_left, items_left):
        for place, item in enumerate(items_left):
            both = records_left & holders[item]
            if both:
                longer = itemset | {item}
                found[longer] = both.bit_count()
                extend(longer, both, items_left[place + 1 :])

    extend(frozenset(), (1 << len(records)) - 1, sorted(holders))
    return found


def frequent(records, least):
    return {itemset: held for itemset, held in all_supports(records).items() if held >= least}


# -- thresholds and targets --------------------------------------------------------------------------------------------


def count_of(threshold, records):
    return threshold if isinstance(threshold, int) else max(1, ceil(threshold * records))


def may_become_empty(records, named):
    """Return how many records consist of items of named itemsets only, one of which is a named itemset by itself."""
    items = frozenset().union(*named)
    return sum(record <= items and any(len(s) == 1 and s <= record for s in named) for record in records)


def frequent_from(records, named, threshold):
    """Return the threshold that is sure to hold: as if every record that can become empty did."""
    filled = sum(bool(record) for record in records)
    return count_of(threshold, filled - may_become_empty(records, named))


def thresholds(records, named, threshold, levels):
    filled = sum(bool(record) for record in records)
    counts = {frequent_from(records, named, threshold), count_of(threshold, filled), count_of(threshold, len(records))}
    return sorted(counts | {count_of(level, filled) for level in levels})


def driving(named, targets):
    """Tell which named itemsets are not already at their target once a smaller named one is at its own."""
    pairs = list(zip(named, targets, strict=True))
    return [not any(part < s and own <= target for part, own in pairs) for s, target in pairs]


def excess(records, named, targets):
    """Return by how many records the itemsets that need work are above their targets, in all."""
    work = zip(named, targets, driving(named, targets), strict=True)
    return sum(max(support(records, s) - target, 0) for s, target, needed in work if needed)


# -- what a record holds and what leaving loses ------------------------------------------------------------------------


def sets_around(row, item, known):
    """Return the known sets of two items and more that hold the item and else only items of the row."""
    return {x for x in known if len(x) > 1 and item in x and x - {item} <= row}


def sets_of_record(row, entries, known):
    """Return the known sets of two items and more in the row that hold an entry, each with its entries."""
    return {x: x & set(entries) for x in known if len(x) > 1 and x <= row and x & set(entries)}


def can_stay(known, named):
    """Return the sets that hold no named itemset."""
    return {x for x in known if not any(s <= x for s in named)}


def weight(held, levels):
    below = [level for level in levels if level <= held]
    return Fraction(1, 1 + held - max(below)) if below else Fraction(0)


def loss(row, item, now, named, levels, *, alone=False):
    """Return what the leaving of an item costs, by the supports of the known sets now; `alone` counts the item as a set too."""
    around = sets_around(row, item, now) | ({frozenset([item])} & set(now) if alone else set())
    return sum(weight(now[x], levels) for x in can_stay(around, named))


def closes(row, item, named, now, targets):
    """Return the numbers of the open named itemsets in a row that hold an item."""
    needed = driving(named, targets)
    return [k for k, s in enumerate(named) if needed[k] and now[k] > targets[k] and s <= row and item in s]


def becomes_frequent(records, row, item, before, levels):
    """Return the sets that become frequent at a level where they were not in the original when the item joins the row."""
    found = set()
    for rest in [frozenset(), *subsets(row - {item})]:
        x = rest | {item}
        held = support(records, x) + 1
        if len(x) > 1 and held in levels and before.get(x, 0) < held:
            found.add(x)
    return found


def new_frequent(before, after, levels):
    """Return what is frequent at a level after that was not before, from the supports of all sets."""
    return {x for x, held in after.items() for level in levels if held >= level > before.get(x, 0)}


def completes(row, gets, gives, named):
    """Tell whether a row that gets an item and loses another would then hold a named itemset with that item."""
    changed = (row - {gives}) | {gets}
    return any(gets in s and s <= changed for s in named)


def entries(row, named, is_open):
    """Return the items of the open named itemsets that a row holds."""
    return set().union(*(s for s, wanted in zip(named, is_open, strict=True) if wanted and s <= row))


def exchanged(records, one, item, other, given):
    """Return the records after an exchange of single items."""
    now = [set(record) for record in records]
    now[one] = (now[one] - {item}) | {given}
    now[other] = (now[other] - {given}) | {item}
    return now


# -- the account -------------------------------------------------------------------------------------------------------


def account(before, after, named, targets, levels, frequent_from):
    """Return the figures that follow from the records alone."""
    known = frequent(before, min(levels))
    keepable = can_stay(known, named)
    return {
        "frequent-itemsets": len(known),
        "lost-that-could-have-been-kept": sum(support(after, x) < min(levels) for x in keepable),
        "hold-a-named-itemset": len(known) - len(keepable),
        "itemsets": [
            {
                "items": sorted(s),
                "before": support(before, s),
                "target": target,
                "after": support(after, s),
                "cannot-be-kept": len(above(s, frequent(before, max(frequent_from, min(levels))), named)),
            }
            for s, target in zip(named, targets, strict=True)
        ],
    }


def above(s, known, named):
    """Return the known sets that hold a named itemset and are not named themselves."""
    return {x for x in known if s <= x and x not in named}
