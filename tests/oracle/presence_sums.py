"""What secure computation must answer, counted one id after another in plain Python.

Users are dictionaries by id: `at_a` holds a truth value, `value` the sensitive value at B or None for those who are not there.
A rule is a pair of weights for (a, b[0..], c[0..]) and a constant; it is kept where the weighted sum plus the constant is not negative.
"""

import math


def numbers(ids, at_a, value, values):
    a = sum(1 for i in ids if at_a[i])
    b = [sum(1 for i in ids if value[i] == s) for s in range(values)]
    c = [sum(1 for i in ids if value[i] == s and at_a[i]) for s in range(values)]
    return a, b, c


def keeps(ids, at_a, value, values, rules, least_values):
    a, b, c = numbers(ids, at_a, value, values)
    for weights, constant in rules:
        if sum(w * v for w, v in zip(weights, [a, *b, *c], strict=True)) + constant < 0:
            return False
    return least_values <= 1 or sum(1 for count in c if count > 0) >= least_values


def part_of_entropy(dummies, size, weight, unit):
    """What dummies in one part of a group of that size add to a score; Python rounds halves to even numbers, as is meant."""
    if dummies == 0 or size == 0:
        return 0
    share = dummies / size
    return round(-share * math.log(share) * weight * unit)


def winner(ids, is_dummy_of_other, cuts, scores, weight, unit):
    """The first cut of the highest score; each cut is the set of ids in its lower part."""
    best, place = None, None
    for number, (lower, score) in enumerate(zip(cuts, scores, strict=True)):
        low = sum(1 for i in ids if is_dummy_of_other[i] and i in lower)
        high = sum(1 for i in ids if is_dummy_of_other[i] and i not in lower)
        total = score + sum(part_of_entropy(count, len(ids), weight, unit) for count in (low, high))
        if best is None or total > best:
            best, place = total, number
    return place
