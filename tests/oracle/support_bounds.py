"""What disassociated data tell of supports, straight from the definitions, and by all reconstructions of small clusters.

A cluster is a dictionary: `size`, `record_chunks` (lists of pairs of a subrecord and how often it occurs), and `term_chunk`. The chunks
of a cluster share no item.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

READINGS = ("inside", "certain", "possible", "expected")


def _parts(cluster, itemset):
    """Return for each part of an itemset how often it is told and at most there, and whether by the term chunk; None if an item lacks."""
    left = set(itemset)
    parts = []
    for chunk in cluster["record_chunks"]:
        here = left & {item for items, _count in chunk for item in items}
        if here:
            often = sum(count for items, count in chunk if here <= set(items))
            parts.append((often, often, False))
            left -= here
    for item in left & set(cluster["term_chunk"]):
        parts.append((1, cluster["size"], True))
        left -= {item}
    return None if left else parts


def bounds_in(cluster, itemset):
    """Return inside, certain, possible and expected of an itemset in one cluster."""
    n, parts = cluster["size"], _parts(cluster, itemset)
    if not itemset:
        return n, n, n, Fraction(n)
    if parts is None or any(often == 0 for often, _most, _is_term in parts):
        return 0, 0, 0, Fraction(0)
    inside = parts[0][0] if len(parts) == 1 and not parts[0][2] else 0
    certain = max(0, sum(often for often, _most, _is_term in parts) - (len(parts) - 1) * n)
    expected = Fraction(n)
    for often, _most, _is_term in parts:
        expected *= Fraction(often, n)
    return inside, certain, min(most for _often, most, _is_term in parts), expected


def bounds(clusters, itemsets):
    """Return the four lists, over all clusters."""
    found = [[bounds_in(cluster, set(one)) for cluster in clusters] for one in itemsets]
    return {
        name: [sum((row[place] for row in rows), Fraction(0) if name == "expected" else 0) for rows in found]
        for place, name in enumerate(READINGS)
    }


def frequent(clusters, min_count, reading, max_length):
    """Return every non-empty itemset of up to so many items whose support, in this reading, is at least `min_count`, with all figures."""
    items = sorted({item for c in clusters for chunk in c["record_chunks"] for items, _n in chunk for item in items})
    items = sorted({*items, *(item for c in clusters for item in c["term_chunk"])})
    every = [one for length in range(1, max_length + 1) for one in combinations(items, length)]
    figures = bounds(clusters, every)
    return {
        frozenset(one): tuple(figures[name][place] for name in READINGS)
        for place, one in enumerate(every)
        if figures[reading][place] >= min_count
    }


def _placements(cluster):
    """Give for each record chunk all ways to give its subrecords, told apart by their place in the chunk, to the slots."""
    n = cluster["size"]
    ways = []
    for chunk in cluster["record_chunks"]:
        subrecords = [frozenset(items) for items, count in chunk for _ in range(count)]
        padded = subrecords + [frozenset()] * (n - len(subrecords))
        ways.append(list(permutations(padded)))
    return ways


def reconstructions(cluster, *, once=False):
    """Give every reconstruction as a list of records, empty ones too: each item of the term chunk in some slots, or `once` in just one.

    Subrecords are told apart, so that each placement stands as often as it is likely where all are drawn alike.
    """
    n = cluster["size"]
    most = 1 if once else n
    slots = [set(chosen) for size in range(1, most + 1) for chosen in combinations(range(n), size)]
    terms = [[(item, chosen) for chosen in slots] for item in cluster["term_chunk"]]
    for placed in product(*_placements(cluster)):
        plain = [frozenset().union(*(chunk[slot] for chunk in placed)) for slot in range(n)]
        for named in product(*terms):
            yield [plain[slot] | {item for item, chosen in named if slot in chosen} for slot in range(n)]


def by_reconstruction(cluster, itemset):
    """Return least and most slots with the itemset over all reconstructions, over those with no empty slot, and the mean with terms once.

    The second pair is None where every reconstruction has an empty slot.
    """
    itemset = frozenset(itemset)
    held, held_by_full = set(), set()
    for records in reconstructions(cluster):
        number = sum(itemset <= record for record in records)
        held.add(number)
        if all(records):
            held_by_full.add(number)
    total = ways = 0
    for records in reconstructions(cluster, once=True):
        total += sum(itemset <= record for record in records)
        ways += 1
    full = (min(held_by_full), max(held_by_full)) if held_by_full else None
    return (min(held), max(held)), full, Fraction(total, ways)
