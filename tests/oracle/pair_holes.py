"""Pairs of items that are together in fewer records than if they were independent, counted one by one. Imports nothing from the package."""

from itertools import combinations
from math import sqrt


def deviation(records, pair):
    """How far the pair is below its expected support, in square roots of that."""
    one, other = pair
    expected = sum(one in r for r in records) * sum(other in r for r in records) / len(records)
    return (expected - sum(one in r and other in r for r in records)) / sqrt(expected)


def holes(records, least):
    """All pairs at least so far below, with their deviations, the furthest first."""
    items = sorted(set().union(*records))
    found = [(pair, deviation(records, pair)) for pair in combinations(items, 2)]
    return sorted(((pair, far) for pair, far in found if far >= least), key=lambda one: -one[1])
