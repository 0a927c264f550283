"""Slow twin of queries on an even scale: each cell weighs a little and as much as it has records; imports nothing of setveil."""

from fractions import Fraction


def expected_records(query, groups, weights):
    """Return how many records groups lead to expect.

    `query` has a range of cells for some attributes, `groups` are pairs of a list of intervals and a number of records, and `weights` has
    the weights of all cells of every attribute.
    """
    total = Fraction(0)
    for intervals, records in groups:
        share = Fraction(1)
        for place, (low, high) in query.items():
            inside = range(*intervals[place])
            whole = sum(weights[place][cell] for cell in inside)
            covered = sum(weights[place][cell] for cell in inside if low <= cell < high)
            share *= Fraction(covered, whole)
        total += records * share
    return total


def records_that_meet(query, rows):
    """Return how many rows have all their cells in the ranges of a query."""
    return sum(all(low <= row[place] < high for place, (low, high) in query.items()) for row in rows)
