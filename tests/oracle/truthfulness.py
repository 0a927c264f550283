"""Is a release true of the records behind it? In plain Python; records, rows and parts are sets of labels.

`whole` asks that nothing is left out either. Each function returns the places of what is not so.
"""

from collections import Counter


def untrue_rows(rows, records, whole, below=None):
    """Return the numbers of rows that are not true; `below` gives the items that a node stands for, and `records` one record per row."""
    below = below or {}
    found = set()
    for number, (row, record) in enumerate(zip(rows, records, strict=True)):
        meanings = [below.get(label, {label}) for label in row]
        if not all(meaning & record for meaning in meanings) or (whole and record - set().union(*meanings)):
            found.add(number)
    return found


def untrue_groups(groups, records, whole):
    """Return rows and groups that are not true; `groups` are rows with counts of sensitive items, `records` a list per group."""
    found, number = set(), 0
    for group, ((rows, counts), behind) in enumerate(zip(groups, records, strict=True)):
        for row, record in zip(rows, behind, strict=True):
            if not set(row) <= record:
                found.add(number)
            number += 1
        for item, count in counts.items():
            if sum(item in record for record in behind) != count:
                found.add(("item", group, item))
    if whole and not found:
        for group, ((rows, counts), behind) in enumerate(zip(groups, records, strict=True)):
            if any(record - set(row) - counts.keys() for row, record in zip(rows, behind, strict=True)):
                found.add(("item", group))
    return found


def untrue_clusters(clusters, records, whole):
    """Return chunks and items of clusters that are not true; `records` is a list per cluster."""
    found = set()
    for number, (cluster, behind) in enumerate(zip(clusters, records, strict=True)):
        held = set().union(*behind)
        named = set(cluster["term_chunk"])
        found |= {("item", number, item) for item in named - held}
        for chunk, bag in enumerate(cluster["record_chunks"]):
            parts = [frozenset(items) for items, count in bag for _ in range(count) if items]
            domain = frozenset().union(*parts)
            named |= domain
            had = [part for record in behind if (part := frozenset(record & domain))]
            if (Counter(parts) != Counter(had)) if whole else not has_places(parts, had):
                found.add(("chunk", number, chunk))
        if whole:
            found |= {("item", number, item) for item in held - named}
    return found


def has_places(parts, records):
    """Tell whether each part can be given a record of its own that holds it: part by part, moving others where that helps."""
    owner = {}

    def place(part, tried):
        for number, record in enumerate(records):
            if number not in tried and parts[part] <= record:
                tried.add(number)
                if number not in owner or place(owner[number], tried):
                    owner[number] = part
                    return True
        return False

    return all(place(part, set()) for part in range(len(parts)))
