"""How many records of a release are expected to hold one or two items, from the definitions; and records drawn from a release at random.

Two items `a` and `b` may be the same: then it is the support of the item.
"""

from fractions import Fraction


def of_records(records, a, b):
    """Count the records with both items."""
    return Fraction(sum({a, b} <= set(record) for record in records))


def of_clusters(clusters, a, b):
    """Disassociated data: parts go to random records, independently; an item of a term chunk is in one record."""
    total = Fraction(0)
    for cluster in clusters:
        parts = [*cluster["record_chunks"], *([([item], 1)] for item in cluster["term_chunk"])]
        total += _in_one_part(parts, a, b) if a == b else _expected(parts, cluster["size"], a, b)
    return total


def of_groups(groups, a, b):
    """Grouped data: each sensitive item is in random rows of its group, independently of the others."""
    total = Fraction(0)
    for rows, sensitive in groups:
        parts = [[(row, 1) for row in rows]] + [[([item], count)] for item, count in sensitive.items()]
        total += _in_one_part(parts, a, b) if a == b else _expected(parts, len(rows), a, b)
    return total


def _in_one_part(parts, a, b):
    return Fraction(sum(count for part in parts for items, count in part if {a, b} <= set(items)))


def _expected(parts, size, a, b):
    """Return the expected number of records with two different items, from the same part or from two."""
    total = _in_one_part(parts, a, b)
    for number, one in enumerate(parts):
        for other in parts[:number] + parts[number + 1 :]:
            total += _in_one_part([one], a, a) * _in_one_part([other], b, b) / size
    return total


def of_nodes(rows, leaves_below, a, b):
    """Generalized data: each label of a row is one of the items below it, all equally likely, independently of the others."""
    total = Fraction(0)
    for row in rows:
        shares = {
            label: [Fraction(item in leaves_below(label), len(leaves_below(label))) for item in (a, b)] for label in row
        }
        if a == b:
            total += sum((one for one, _other in shares.values()), Fraction(0))
        else:
            total += sum(shares[u][0] * shares[v][1] for u in row for v in row if u != v)
    return total


def drawn_from_clusters(clusters, rng):
    """Return records that the clusters could be made from, with all parts placed at random."""
    records = []
    for cluster in clusters:
        slots = [set() for _record in range(cluster["size"])]
        parts = [[items for items, count in chunk for _time in range(count)] for chunk in cluster["record_chunks"]]
        parts += [[[item]] for item in cluster["term_chunk"]]
        for part in parts:
            for items, slot in zip(part, rng.permutation(cluster["size"]), strict=False):
                slots[slot] |= set(items)
        records += slots
    return records


def drawn_from_nodes(rows, leaves_below, rng):
    """Return records in which a random item takes the place of each node."""
    return [{leaves_below(label)[rng.integers(len(leaves_below(label)))] for label in row} for row in rows]
