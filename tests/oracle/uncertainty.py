"""ρ-uncertainty, straight from the definitions (jia2014 section 2.1, cao2010), slow and obvious.

Records are Python sets of items, ρ is a Fraction. Nothing is imported from the package.

A set q of known items betrays a sensitive item e, not in q, if of the records that hold q more than a share of ρ hold e too. Where records
are short all q are tried. Else those that records with e have in common are enough: any other q has a larger one that the same records
with e hold and no more others do, so that this one betrays e at least as surely.

In generalized records a name is sensitive if it is a sensitive item or a node above one. A record that shows a sensitive name says also
what every sensitive node above that name says: so each sensitive node is looked at a second time, in records that show it in the place of
the sensitive names below it.
"""

from itertools import chain, combinations

INFERRED = "inferred-item"
INFERRED_FROM_WHOLE = "inferred-from-whole-record"
MOST_SUBSETS = 2**13


def support(records, itemset):
    return sum(itemset <= record for record in records)


def betrays(records, known, item, rho):
    """Tell whether the rule known → item is stronger than ρ."""
    return support(records, known | {item}) > rho * support(records, known)


def subsets(items):
    """Every subset, the empty one first."""
    items = sorted(items)
    return (frozenset(c) for size in range(len(items) + 1) for c in combinations(items, size))


def every_known_set(records, item):
    """All sets of other items that some record with the item holds, the empty one among them."""
    return set(chain.from_iterable(subsets(record - {item}) for record in records if item in record))


def common_sets(records, item):
    """What any number of records with the item have in common beside it, the largest sets first."""
    whole = {frozenset(record - {item}) for record in records if item in record}
    found, fresh = set(whole), whole
    yield from whole
    while fresh:
        fresh = {a & b for a in fresh for b in whole} - found
        found |= fresh
        yield from fresh


def is_inferred(records, item, rho, include_empty):
    """Tell whether any items betray this one."""
    holders = [record for record in records if item in record]
    short = sum(2 ** len(record) for record in holders) <= MOST_SUBSETS
    sets = every_known_set(records, item) if short else common_sets(records, item)
    if include_empty and holders and betrays(records, frozenset(), item, rho):
        return True
    return any(q and betrays(records, q, item, rho) for q in sets)


def is_inferred_from_whole(records, sensitive, item, rho, include_empty):
    """Tell whether among the records with exactly the same items that are not sensitive too many hold this one."""
    parts = {frozenset(record - sensitive) for record in records if item in record}
    for part in parts:
        if not part and not include_empty:
            continue
        alike = [record for record in records if record - sensitive == part]
        if support(alike, {item}) > rho * len(alike):
            return True
    return False


def unsafe_items(records, sensitive, rho, include_empty=True, knows="subset"):
    """Return what is wrong with released records: a set of (kind, (item,))."""
    records, sensitive = [frozenset(record) for record in records], frozenset(sensitive)
    found = set()
    for item in sensitive:
        if is_inferred(records, item, rho, include_empty):
            found.add((INFERRED, (item,)))
        if knows == "whole" and is_inferred_from_whole(records, sensitive, item, rho, include_empty):
            found.add((INFERRED_FROM_WHOLE, (item,)))
    return found


def way_up(name, parent_of):
    """A name and all nodes above it."""
    while name is not None:
        yield name
        name = parent_of.get(name)


def sensitive_names(parent_of, sensitive):
    """The sensitive items and every node above one of them."""
    inner = set(parent_of.values())
    return {node for item in sensitive for node in (way_up(item, parent_of) if item not in inner else [item])}


def unsafe_names(records, parent_of, sensitive, rho, include_empty=True, knows="subset"):
    """Return what is wrong with released records over the names of a hierarchy."""
    bad = sensitive_names(parent_of, sensitive) & set().union(*records)
    found = unsafe_items(records, bad, rho, include_empty, knows)
    for node in bad:
        below = {name for name in bad if node in way_up(name, parent_of)}
        if below != {node}:
            shown = [record - below | {node} if record & below else record for record in records]
            found |= {case for case in unsafe_items(shown, bad, rho, include_empty, knows) if case[1] == (node,)}
    return found
