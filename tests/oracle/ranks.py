"""What became of the most frequent itemsets and rules, by the definitions; itemsets are frozensets, supports a dictionary."""

from fractions import Fraction

from oracle.mining import frequent, rules, support


def at_least_as_frequent(supports, how_many):
    """Return the sets that at least as many records hold as the so-many-th most frequent: all, where there are fewer."""
    counts = sorted(supports.values(), reverse=True)
    if not counts:
        return set()
    last = counts[min(how_many, len(counts)) - 1]
    return {one for one, count in supports.items() if count >= last}


def tkd(before, after, top):
    """Return one less the share of the most frequent sets that stayed so."""
    one, other = (at_least_as_frequent(frequent(records, 2), top) for records in (before, after))
    largest = max(len(one), len(other))
    return 1 - Fraction(len(one & other), largest) if largest else None


def ranks(counts):
    """Return for each set one more than how many others are more frequent."""
    return {one: 1 + sum(other > count for other in counts.values()) for one, count in counts.items()}


def rank_table(before, after, length, top):
    """Return for each of the most frequent sets of a length: records and rank before, records and rank after."""
    found = {one: count for one, count in frequent(before, 2).items() if len(one) == length}
    chosen = at_least_as_frequent(found, top)
    old = {one: found[one] for one in chosen}
    new = {one: support(after, one) for one in chosen}
    rank, rank_after = ranks(old), ranks(new)
    return {one: (old[one], rank[one], new[one], rank_after[one]) for one in chosen}


def rule_table(before, after, count, confidence, top):
    """Return for each of the most frequent rules: records with both before and after, records with A before and after."""
    held = {(a, b): support(before, a | {b}) for a, b in rules(before, count, confidence)}
    chosen = at_least_as_frequent(held, top)
    return {(a, b): (held[a, b], support(after, a | {b}), support(before, a), support(after, a)) for a, b in chosen}
