"""Range queries on a joined table, one by one and in fractions."""

from fractions import Fraction
from math import prod


def meets(cells, query):
    """Tell whether somebody's cells are in the wanted ones: `query` gives the set of cells of each attribute it names."""
    return all(cells[place] in wanted for place, wanted in query.items())


def estimate(records, query):
    """Sum over records the share of each interval that is wanted; `records` are lists of intervals, the last of one cell."""
    return sum(
        prod(
            (
                Fraction(len(wanted & set(range(*record[place]))), record[place][1] - record[place][0])
                for place, wanted in query.items()
            ),
            start=Fraction(1),
        )
        for record in records
    )


def errors(people, records, queries):
    """Return the relative error of each query that somebody meets."""
    found = []
    for query in queries:
        actual = sum(meets(cells, query) for cells in people)
        if actual:
            found.append(abs(actual - estimate(records, query)) / actual)
    return found
