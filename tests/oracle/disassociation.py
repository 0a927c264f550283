"""Disassociation as in the papers and our notes, in plain Python. Records are increasing tuples of numbers, in the order of content."""

from collections import Counter
from itertools import combinations


def even_parts(rows, parts):
    """Cut a list into `parts` parts of about the same size."""
    return [rows[len(rows) * p // parts : len(rows) * (p + 1) // parts] for p in range(parts)]


def _evenly(rows, k, delta, safe):
    parts = -(-len(rows) // delta)
    if safe:
        parts = max(1, min(parts, len(rows) // k))
    return even_parts(rows, parts)


def horpart(records, k, delta, safe):
    """Return clusters as lists of record numbers: the most frequent item splits; it is ignored further down."""

    def split(rows, ignored):
        if len(rows) <= delta:
            return [rows] if rows else []
        counts = Counter(item for row in rows for item in records[row] if item not in ignored)
        if not counts:
            return _evenly(rows, k, delta, safe)
        most = max(counts.values())
        best = min(item for item, count in counts.items() if count == most)
        usable = {item: count for item, count in counts.items() if count < len(rows)}
        if safe and max(usable.values(), default=0) < k:
            return _evenly(rows, k, delta, safe)
        with_it = [row for row in rows if best in records[row]]
        without = [row for row in rows if best not in records[row]]
        return split(with_it, ignored | {best}) + split(without, ignored)

    clusters = split(list(range(len(records))), frozenset())
    return joined(clusters, k) if safe else clusters


def top_of_tree(records, least, most):
    """Return the parts of records, as lists of numbers, that are left when parts of more than `most` records are split as HORPART does."""

    def split(rows):
        counts = Counter(item for row in rows for item in records[row])
        usable = {item: count for item, count in counts.items() if least <= count < len(rows)}
        if len(rows) <= most or not usable:
            return [rows]
        best = min(usable, key=lambda item: (-usable[item], item))
        return split([row for row in rows if best in records[row]]) + split(
            [row for row in rows if best not in records[row]]
        )

    return split(list(range(len(records))))


def horpart_flat(records, k, delta, safe):
    """Return clusters: repeatedly at most delta records with the most frequent item of the rest."""
    left = list(range(len(records)))
    clusters = []
    while left:
        counts = Counter(item for row in left for item in records[row])
        most = max(counts.values(), default=0)
        if most == 0 or (safe and most < k):
            clusters += _evenly(left, k, delta, safe)
            break
        best = min(item for item, count in counts.items() if count == most)
        chosen = [row for row in left if best in records[row]][:delta]
        clusters.append(chosen)
        left = [row for row in left if row not in set(chosen)]
    return joined(clusters, k) if safe else clusters


def joined(clusters, k):
    """Join clusters below k to the one before, and the first one to the next."""
    made = []
    for cluster in clusters:
        if made and (len(cluster) < k or len(made[-1]) < k):
            made[-1] = made[-1] + cluster
        else:
            made.append(list(cluster))
    return made


def is_km_anonymous(parts, k, m):
    """Return whether every set of 1 to m items that one of the parts holds is in at least k of them."""
    parts = [frozenset(part) for part in parts]
    sets = {
        frozenset(chosen)
        for part in set(parts)
        for size in range(1, min(m, len(part)) + 1)
        for chosen in combinations(sorted(part), size)
    }
    return all(sum(one <= part for part in parts) >= k for one in sets)


def verpart(records, k, m):
    """Return the items of each record chunk of a cluster, and those of its term chunk."""
    counts = Counter(item for record in records for item in record)
    waiting = sorted((item for item in counts if counts[item] >= k), key=lambda item: (-counts[item], item))
    terms = {item for item in counts if counts[item] < k}
    chunks = []
    while waiting:
        chunk = []
        for item in waiting:
            if is_km_anonymous([set(record) & {*chunk, item} for record in records], k, m):
                chunk.append(item)
        chunks.append(chunk)
        waiting = [item for item in waiting if item not in chunk]
    subrecords = sum(any(item in record for item in chunk) for chunk in chunks for record in records)
    if not terms and subrecords < len(records) + k * (min(m, len(chunks)) - 1):
        least = max((item for chunk in chunks for item in chunk), key=lambda item: (-counts[item], item))
        terms = {least}
        chunks = [[item for item in chunk if item != least] for chunk in chunks]
    return [set(chunk) for chunk in chunks if chunk], terms


def arranged(clusters):
    """Return clusters of codes in the order in which they are published, and the number of each.

    A cluster is a size, a list of chunks and a list of terms; a chunk is a list of pairs of a subrecord and its count.
    """
    made = []
    for number, (size, chunks, terms) in enumerate(clusters):
        bags = [Counter() for _chunk in chunks]
        for bag, chunk in zip(bags, chunks, strict=True):
            for items, count in chunk:
                bag[tuple(sorted(items))] += count
        made.append((size, sorted(sorted(bag.items()) for bag in bags), sorted(terms), number))
    return [(size, chunks, terms) for size, chunks, terms, _number in sorted(made)], [one[3] for one in sorted(made)]


def certain_links(cluster):
    """Return pairs of items of different chunks that some record certainly holds; an item of the term chunk is in at least one record."""
    size = cluster["size"]
    held = []
    for number, chunk in enumerate(cluster["record_chunks"]):
        supports = Counter()
        for items, count in chunk:
            supports.update(dict.fromkeys(items, count))
        held += [(item, number, support) for item, support in supports.items()]
    links = {frozenset((x, y)) for x, a, sx in held for y, b, sy in held if a != b and sx + sy > size}
    return links | {frozenset((x, y)) for x, _a, sx in held for y in cluster["term_chunk"] if sx + 1 > size}
