"""The strongest rule for a sensitive item, and how strong rules are, by trying every set. Imports nothing from the package.

The excess of a rule q → e at ρ = num/den is den · p - num · s, where s records hold q and p of them e too: above 0 it is unsafe.
"""

from fractions import Fraction

from oracle.uncertainty import every_known_set, support


def known_sets(records, item, include_empty):
    return {q for q in every_known_set(records, item) if q or include_empty}


def excess(records, known, item, rho):
    num, den = rho.as_integer_ratio()
    return den * support(records, known | {item}) - num * support(records, known)


def strongest_excess(records, item, rho, include_empty):
    """The highest excess of any rule for the item, or None where it has no rule."""
    return max((excess(records, q, item, rho) for q in known_sets(records, item, include_empty)), default=None)


def confidences(records, sensitive, include_empty):
    """The confidence of every rule for a sensitive item: all values that there are, ascending."""
    return sorted(
        {
            Fraction(support(records, q | {item}), support(records, q))
            for item in sensitive
            for q in known_sets(records, item, include_empty)
        }
    )


def unsafe_rules(records, item, rho, include_empty):
    """Every set of known items that betrays the item."""
    return {q for q in known_sets(records, item, include_empty) if excess(records, q, item, rho) > 0}


def betrayed_by_their_record(records, sensitive, rho):
    """How many sensitive occurrences all other items of their record betray."""
    pairs = [(record, item) for record in records for item in record & sensitive if len(record) > 1]
    return sum(excess(records, record - {item}, item, rho) > 0 for record, item in pairs)
