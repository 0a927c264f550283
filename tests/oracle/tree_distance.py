"""The tree edit distance of two lists of records by the plain definition: every cell of the table, every pair of records.

Items are compared as Python compares them, so that numbers stand in the order of numbers and texts in that of code points.
"""


def levenshtein(a, b):
    """Return how many items must be inserted, deleted or replaced to turn one sequence into the other."""
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(row[-1] + 1, before[j] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


def tree_distance(records, others):
    """Return the least cost of matching records without crossing: a pair costs its distance, a record alone its length."""
    a, b = (sorted(sorted(record) for record in side) for side in (records, others))
    away = {}
    before = [0]
    for y in b:
        before.append(before[-1] + len(y))
    for x in a:
        row = [before[0] + len(x)]
        for j, y in enumerate(b, start=1):
            pair = (tuple(x), tuple(y))
            if pair not in away:
                away[pair] = levenshtein(x, y)
            row.append(min(before[j] + len(x), row[-1] + len(y), before[j - 1] + away[pair]))
        before = row
    return before[-1]


def bracket(records):
    """Write the tree as text: one root, a path for each record."""
    paths = sorted(sorted(record) for record in records)
    return "{root" + "".join("".join(f"{{{item}" for item in path) + "}" * len(path) for path in paths) + "}"
