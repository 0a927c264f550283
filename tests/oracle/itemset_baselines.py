"""The baselines that hide itemsets, as plain definitions, slow and obvious. Nothing is imported from the package.

Records are Python sets of items, named itemsets are sets too; items compare as their codes do.
"""

from fractions import Fraction


def held_by(record, named):
    """The numbers of the named itemsets that a record holds."""
    return {number for number, itemset in enumerate(named) if itemset <= record}


def support(records, itemset):
    return sum(itemset <= t for t in records)


def jaccard(a, b):
    return Fraction(len(a & b), len(a | b))


def pairs(records, named, order):
    """Who is paired with whom, when records take their turns in this order."""
    free = list(order)
    found = []
    while free:
        t = free.pop(0)
        fitting = [q for q in free if not held_by(records[t], named) & held_by(records[q], named)]
        if fitting:
            partner = min(fitting, key=lambda q: (jaccard(records[t], records[q]), free.index(q)))
            free.remove(partner)
            found.append((t, partner))
    return found


def given_away(records, named, t, partner, reading):
    """The items that a record gives to its partner."""
    open_sets = [named[number] for number in held_by(records[t], named)]
    given = set()
    while open_sets:
        possible = set().union(*open_sets) - records[partner]
        hits = {i: sum(i in s for s in open_sets) if reading == "all" else 0 for i in possible}
        item = min(possible, key=lambda i: (-hits[i], support(records, {i}), i))
        given.add(item)
        open_sets = [s for s in open_sets if item not in s] if reading == "all" else []
    return given


def swap_itemsets(records, named, order, reading):
    """The released records, and how many pairs there were."""
    released = [set(t) for t in records]
    found = pairs(records, named, order)
    for a, b in found:
        from_a = given_away(records, named, a, b, reading)
        from_b = given_away(records, named, b, a, reading)
        released[a] = (records[a] - from_a) | from_b
        released[b] = (records[b] - from_b) | from_a
    return released, len(found)


def heu(records, named, targets):
    """One item a step, and everything counted anew before each."""
    now = [set(t) for t in records]
    for s, target in zip(named, targets, strict=True):
        while support(now, s) > target:
            still = [x for x, most in zip(named, targets, strict=True) if support(now, x) > most]
            holders = [r for r, t in enumerate(now) if s <= t]
            r = min(holders, key=lambda r: (-sum(x <= now[r] for x in still), len(now[r]), r))
            of_record = [x for x in still if x <= now[r]]
            item = min(s, key=lambda i: (-sum(i in x for x in of_record), support(records, {i}), i))
            now[r].discard(item)
    return now


def naive(records, named):
    return [t - set().union(*(s for s in named if s <= t)) for t in records]
