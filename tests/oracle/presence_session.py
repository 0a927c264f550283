"""The answers of a secure session, counted one id at a time with Python's whole numbers.

Nothing here is fast, and nothing is taken from the package.
"""

import math
from fractions import Fraction


class Plain:
    """Everything about a population, and the questions that a session answers."""

    def __init__(self, in_a, in_b, sensitive, values):
        self.in_a, self.in_b, self.sensitive = list(in_a), list(in_b), list(sensitive)
        self.values = values

    def numbers(self, ids):
        """Return a, b[s], c[s] of some ids."""
        a = sum(1 for i in ids if self.in_a[i])
        b = [sum(1 for i in ids if self.in_b[i] and self.sensitive[i] == s) for s in range(self.values)]
        c = [
            sum(1 for i in ids if self.in_a[i] and self.in_b[i] and self.sensitive[i] == s) for s in range(self.values)
        ]
        return [a, *b, *c]

    def keeps(self, ids, weights, constants, least_values):
        numbers = self.numbers(ids)
        for row, constant in zip(weights, constants, strict=True):
            if sum(int(w) * n for w, n in zip(row, numbers, strict=True)) + int(constant) < 0:
                return False
        return least_values <= 1 or sum(1 for c in numbers[1 + self.values :] if c) >= least_values

    def winner(self, ids, *, owned_by_a, lowers, scores, weight, unit):
        """Return the first best candidate; `lowers` holds for each candidate the set of ids of the lower part."""
        exists = self.in_b if owned_by_a else self.in_a
        best, found = None, 0
        for candidate, (lower, score) in enumerate(zip(lowers, scores, strict=True)):
            below = sum(1 for i in ids if i in lower and not exists[i])
            above = sum(1 for i in ids if i not in lower and not exists[i])
            whole = int(score) + sum(entropy(part, len(ids), weight, unit) for part in (below, above))
            if best is None or whole > best:
                best, found = whole, candidate
        return found


def entropy(dummies, size, weight, unit):
    if not dummies:
        return 0
    share = float(Fraction(dummies, size))
    return round(-share * math.log(share) * weight * unit)
