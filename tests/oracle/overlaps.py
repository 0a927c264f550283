"""The estimated bound from its definition, pair by pair. Imports nothing from setveil."""

from math import ceil


def best_overlaps(records, k):
    """Return for each record how many items it shares with the k others that share most, most first; 0 where there are fewer."""
    sets = [set(record) for record in records]
    found = []
    for one, mine in enumerate(sets):
        shared = sorted((len(mine & other) for two, other in enumerate(sets) if two != one), reverse=True)
        found.append((shared + [0] * k)[:k])
    return found


def estimated_bound(records, sensitive, rho):
    """Return the share of occurrences that no record can keep."""
    others = ceil(1 / rho) - 1
    lost = 0
    for record, shared in zip(records, best_overlaps(records, max(others, 1)), strict=True):
        plain = len(set(record) - set(sensitive))
        if plain < len(record):
            most = min(len(record), 1 + shared[others - 1]) if others else len(record)
            lost += len(record) - max(plain, most)
    return lost / max(sum(map(len, records)), 1)
