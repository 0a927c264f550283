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


# -- the order of the steps --------------------------------------------------------------------------------------------


def watched(rows, entries, known, named, is_open, must_leave, weigh):
    """Return the sets that may well be lost, each with the entries that take part in it: those become cheaper when it is lost."""
    stay, taking_part = can_stay(known, named), {}
    for number, (record, item) in enumerate(entries):
        for x in sets_around(rows[record], item, stay):
            taking_part.setdefault(x, []).append(number)
    held = sum(s <= row for row in rows for s, wanted in zip(named, is_open, strict=True) if wanted)
    share = must_leave / max(held, 1)
    return {x: those for x, those in taking_part.items() if len(those) * share * weigh(support(rows, x)) >= 1}


class Steps:
    """Entries leave one after another until all is at its target; whatever a step needs to know is counted anew.

    Keys are numbers as the method has them, so that equal ones are equal. Where there are `free` places, what stands there is given in
    exchange: they are gone round by a step, as far as patience goes. Sets that become frequent by that are allowed.
    """

    def __init__(self, items, owner, named, targets, entries, keys, ranks, known, levels, weigh, lowered, free=None):
        self.items, self.owner, self.named, self.targets = list(items), list(owner), named, targets
        self.entries, self.keys, self.ranks, self.levels = entries, list(keys), ranks, levels
        self.known, self.stay, self.weigh, self.lowered = known, can_stay(known, named), weigh, lowered
        self.free, self.patience, self.turn, self.looked, self.steps = free, {}, 0, 0, 0
        self.taken = []  # entries, with the place that each was exchanged for or None, and the itemset it was for
        self.count()

    def count(self):
        self.rows = [set() for _ in range(max(self.owner) + 1)]
        for item, record in zip(self.items, self.owner, strict=True):
            self.rows[record] |= {item} - {-1}
        self.held = {x: support(self.rows, x) for x in self.known}
        self.named_held = [support(self.rows, s) for s in self.named]

    def cost(self, record, item, *, alone=False):
        around = sets_around(self.rows[record], item, self.stay) | ({frozenset([item])} & self.stay if alone else set())
        return sum(self.weigh(self.held[x]) for x in around)

    def run(self, most, enough=1.3, tiny=1e-3, cheaper=0.5):
        waiting = set(range(len(self.entries)))
        needed = driving(self.named, self.targets)
        while waiting and any(n and h > t for n, h, t in zip(needed, self.named_held, self.targets, strict=True)):
            self.steps += 1
            entry = min(waiting, key=lambda one: (self.keys[one], self.ranks[one]))
            record, item = self.entries[entry]
            closed = closes(self.rows[record], item, self.named, self.named_held, self.targets)
            lost = []
            if closed:
                now = self.cost(record, item, alone=self.free is None) / len(closed)
                second = min((self.keys[one] for one in waiting - {entry}), default=float("inf"))
                if 0 <= self.keys[entry] < now and now > second * enough + tiny:
                    self.keys[entry] = now
                    continue
                lost = self.leave(entry, closed[0], most)
            waiting.remove(entry)
            for x in lost:
                for other in waiting.intersection(self.lowered.get(x, ())):
                    if self.keys[other] > 0:
                        self.keys[other] = max(0.0, self.keys[other] - cheaper)

    def leave(self, entry, secret, most):
        """Take the entry away, and return the sets that fall below a level by it."""
        record, item = self.entries[entry]
        patience = self.patience.get(item, most)
        place = None if self.free is None else self.search(record, item, patience)
        self.patience[item] = max(1, patience // 2) if place is None else min(most, 2 * patience)
        self.taken.append((entry, place, secret))
        left = [(record, item)] if place is None else [(record, item), (self.owner[place], self.items[place])]
        around = [x for who, what in left for x in sets_around(self.rows[who], what, self.known)]
        lost = []
        for x in around:
            lost += [x] if self.held[x] in self.levels else []
            self.held[x] -= 1
        own = next(p for p, one in enumerate(self.items) if one == item and self.owner[p] == record)
        self.items[own] = -1 if place is None else self.items[place]
        if place is not None:
            self.items[place] = item
        self.count()
        return lost

    def search(self, record, item, patience):
        *places, step = self.free
        best, best_price = None, float("inf")
        for _ in range(min(patience, len(places))):
            self.looked += 1
            self.turn = (self.turn + step) % len(places)
            place = places[self.turn]
            given, donor = self.items[place], self.owner[place]
            if given < 0 or donor == record or item in self.rows[donor] or given in self.rows[record]:
                continue
            ends = (donor, item, given), (record, given, item)
            if any(completes(self.rows[one], gets, gives, self.named) for one, gets, gives in ends):
                continue
            price = self.cost(donor, given)
            if price < best_price:
                best, best_price = place, price
            if price == 0:
                break
        return best
