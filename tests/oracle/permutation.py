"""Permutation, its guarantee and its metric, as plain definitions, slow and obvious. Nothing is imported from the package.

Records are Python sets of items. Items compare as their codes do. A group is a list of rows and a dictionary of counts.
"""

from math import log


def violations(groups, sensitive, p):
    """Return the violations: each with the group and the item, or with the row, counted over all groups, and the item."""
    found = set()
    number = 0
    for group, (rows, counts) in enumerate(groups):
        found |= {("too-often-in-a-group", (group, s)) for s in counts if s in sensitive and counts[s] * p > len(rows)}
        for row in rows:
            found |= {("sensitive-item-in-a-row", (number, s)) for s in set(row) & set(sensitive)}
            number += 1
    return found


def order(records, sensitive, limit):
    """Reverse Cuthill-McKee over records and items: without items that are sensitive or in more records than the limit."""
    items = sorted(set().union(*records))
    shaping = {i for i in items if i not in sensitive and sum(i in t for t in records) <= limit}
    nodes = [("record", r) for r in range(len(records))] + [("item", i) for i in items]
    near = {
        node: [("item", i) for i in items if i in records[node[1]] & shaping]
        if node[0] == "record"
        else [("record", r) for r, t in enumerate(records) if node[1] in t & shaping]
        for node in nodes
    }
    place = {node: number for number, node in enumerate(nodes)}

    def by_degree(some):
        return sorted(some, key=lambda node: (len(near[node]), place[node]))

    visited = []
    for start in by_degree(nodes):
        waiting = [start]
        while waiting:
            node = waiting.pop(0)
            if node not in visited:
                visited.append(node)
                waiting += [other for other in by_degree(near[node]) if other not in visited]
    return [node[1] for node in reversed(visited) if node[0] == "record"]


def grouped(records, sensitive, p, alpha, limit):
    """Return the groups of records, the last one for the rest; None if p cannot be reached."""
    hidden = [t & sensitive for t in records]
    if any(sum(s in h for h in hidden) * p > len(records) for s in sensitive):
        return None
    remaining = order(records, sensitive, limit)
    groups = []
    for t in list(remaining):
        if t not in remaining or not hidden[t]:
            continue
        at = remaining.index(t)
        sides = [remaining[:at][::-1], remaining[at + 1 :]]
        listed = [[r for r in side if not hidden[r] & hidden[t]][: alpha * p] for side in sides]
        ranked = sorted(
            (-len((records[r] & records[t]) - sensitive), rank, which, r)
            for which, side in enumerate(listed)
            for rank, r in enumerate(side)
        )
        group = [t]
        for *_key, r in ranked:
            if len(group) < p and not any(hidden[r] & hidden[member] for member in group):
                group.append(r)
        after = [r for r in remaining if r not in group]
        if len(group) == p and all(sum(s in hidden[r] for r in after) * p <= len(after) for s in sensitive):
            groups.append(group)
            remaining = after
    return groups + [remaining] * bool(remaining)


def divergence(records, estimated, sensitive, asked, smoothing):
    """Return the mean divergence over sensitive items that occur, None if undefined; `estimated(s, cell)` is the release's count."""
    cells = [frozenset(i for k, i in enumerate(asked) if mask >> k & 1) for mask in range(1 << len(asked))]
    occurring = [s for s in sorted(sensitive) if any(s in t for t in records)]
    found = []
    for s in occurring:
        true = [sum(s in t and t & set(asked) == cell for t in records) + smoothing for cell in cells]
        other = [estimated(s, cell) + smoothing for cell in cells]
        if any(a and not e for a, e in zip(true, other, strict=True)):
            return None
        found.append(
            sum(a / sum(true) * log(a / sum(true) / (e / sum(other))) for a, e in zip(true, other, strict=True) if a)
        )
    return sum(found) / len(found) if found else None


def estimate(groups, asked):
    """Return the expected count of an item in a cell, if every row of a group is equally likely to hold the item."""
    return lambda s, cell: sum(
        sum(set(row) & set(asked) == cell for row in rows) * counts.get(s, 0) / len(rows) for rows, counts in groups
    )


def counted(rows, asked):
    """Return the count of an item in a cell of plain records."""
    return lambda s, cell: sum(s in t and t & set(asked) == cell for t in rows)


def most_frequent(records, sensitive, number):
    """Return the most frequent non-sensitive items, ties in item order."""
    plain = sorted(set().union(*records) - sensitive)
    return sorted(plain, key=lambda i: (-sum(i in t for t in records), i))[:number]
