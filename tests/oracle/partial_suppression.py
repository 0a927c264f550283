"""Partial suppression (jia2014, sections 3.1 to 3.3) as it is described, slow and obvious.

Records are Python sets of whole numbers, ρ is a Fraction. Nothing is imported from the package. Every support is counted anew, every
number of records is found by trying. Given the same random numbers the result is the method's, occurrence by occurrence.
"""

from itertools import count
from math import log

ALL = 2**64 - 1


class Numbers:
    """Random whole numbers: xorshift with the shifts 13, 7 and 17."""

    def __init__(self, seed):
        self.word = int(seed)

    def below(self, bound):
        self.word ^= self.word << 13 & ALL
        self.word ^= self.word >> 7
        self.word ^= self.word << 17 & ALL
        return (self.word >> 32) * bound >> 32


class Part:
    """Some of the records, in the order in which they are treated."""

    def __init__(self, records, sensitive, rho, objective, seed, *, include_empty, knows):
        self.first = [frozenset(record) for record in records]
        self.records = [set(record) for record in records]
        self.sensitive, self.rho, self.objective = set(sensitive), rho, objective
        self.include_empty, self.knows = include_empty, knows
        self.numbers = Numbers(seed)
        self.rules = 0
        self.fresh = True

    def holders(self, itemset):
        return [row for row, record in enumerate(self.records) if itemset <= record]

    def support(self, itemset):
        return len(self.holders(itemset))

    def unsafe(self, known, item):
        return self.support(known | {item}) > self.rho * self.support(known)

    def remove(self, item, rows, many):
        """Suppress the item in `many` of these records, drawn without replacement."""
        rows = list(rows)
        for k in range(many):
            other = k + self.numbers.below(len(rows) - k)
            rows[k], rows[other] = rows[other], rows[k]
            self.records[rows[k]].remove(item)

    def shrunk(self, known, item):
        """Remove the items that the rule does not need, most frequent first."""
        for other in sorted(known, key=lambda y: (-self.support({y}), y)):
            if len(known) > 1 and self.unsafe(known - {other}, item):
                known = known - {other}
        return known

    def worth(self, item, known, inferred):
        """Return the heuristic's cost of suppressing this item: the least is best."""
        both, total = self.support(known | {inferred}), self.support(known)
        num, den = self.rho.numerator, self.rho.denominator
        needed = (both * den - total * num) / (den if item == inferred else den - num)
        now, before = self.support({item}), sum(item in record for record in self.first)
        if self.objective == "mine":
            return now / before * needed
        share = now / sum(map(len, self.records))
        return -(share * log(share / (before / sum(map(len, self.first)))) / needed)

    def needed(self, item, known, inferred):
        """Return the minimum number of records with the whole rule that must lose the item."""
        both, total = self.support(known | {inferred}), self.support(known)
        for k in count():
            if both - k <= self.rho * (total if item == inferred else total - k):
                return k
        return None

    def sanitize(self, known, item):
        known = self.shrunk(frozenset(known), item)
        concerned = [e for e in sorted(self.sensitive - known) if self.unsafe(known, e)]
        choices = [(d, e) for e in concerned for d in (e, *sorted(known))]
        victim, inferred = min(choices, key=lambda choice: self.worth(choice[0], known, choice[1]))
        self.remove(victim, self.holders(known | {inferred}), self.needed(victim, known, inferred))
        self.rules += 1

    def inferred(self, row):
        record = self.records[row]
        for item in sorted(record & self.sensitive):
            if len(record) > 1 and self.unsafe(record - {item}, item):
                return item
        return None

    def sweep(self):
        while True:
            before = sum(map(len, self.records))
            for row, record in enumerate(self.records):
                while (item := self.inferred(row)) is not None:
                    self.sanitize(record - {item}, item)
            if sum(map(len, self.records)) == before:
                return

    def suppress_in_group(self, rows):
        for item in sorted(self.sensitive):
            holders = [row for row in rows if item in self.records[row]]
            many = next(k for k in count() if len(holders) - k <= self.rho * len(rows))
            self.remove(item, holders, many)

    def settle(self):
        if self.fresh and self.include_empty:
            self.suppress_in_group(range(len(self.records)))
        self.fresh = False
        while True:
            self.sweep()
            before = sum(map(len, self.records))
            if self.knows == "whole":
                groups = {}
                for row, record in enumerate(self.records):
                    groups.setdefault(tuple(sorted(record - self.sensitive)), []).append(row)
                for plain, rows in sorted(groups.items()):
                    if plain or self.include_empty:
                        self.suppress_in_group(rows)
            if sum(map(len, self.records)) == before:
                return


def suppress(parts, find_rules):
    """Settle the parts until `find_rules` finds none in all of them together."""
    while True:
        for part in parts:
            part.settle()
        rules = find_rules([part.records for part in parts])
        if not rules:
            return
        for part in parts:
            for known, item in rules:
                if part.support(known | {item}) and part.unsafe(known, item):
                    part.sanitize(known, item)


def number_of_parts(records, t_max, least_records):
    """Equation (8) with the mean length of a record; halves until the cost is low enough, or parts would become too small."""
    items = len(set().union(*records))
    parts = 1
    if items:
        cost = len(records) * 2.0 ** (sum(map(len, records)) / len(records)) / items
        while cost / parts > t_max and len(records) / (2 * parts) >= least_records:
            parts *= 2
    return parts
