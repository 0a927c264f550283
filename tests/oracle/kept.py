"""What a release keeps, counted occurrence by occurrence; imports nothing from setveil."""

from collections import Counter


def _of_items(before, exactly, less, chosen):
    """Count occurrences and items: (exactly, less exactly, of) each."""
    held = [item for item in before if item in chosen]
    exactly = {item: min(exactly[item], before[item]) for item in held}
    less = {item: min(less[item], before[item] - exactly[item]) for item in held}
    occurrences = (sum(exactly.values()), sum(less.values()), sum(before[item] for item in held))
    there = {item for item in held if exactly[item]}
    items = (len(there), len({item for item in held if less[item]} - there), len(held))
    return occurrences, items


def _both(before, exactly, less, sensitive):
    every = _of_items(before, exactly, less, set(before))
    return (*every, *_of_items(before, exactly, less, sensitive))


def supports(records):
    return Counter(item for record in records for item in record)


def of_records(original, rows, record_of_row, sensitive):
    """Plain records: which item counts are kept, which records changed, and which released occurrences are false."""
    by_record = {r: [] for r in range(len(original))}
    for row, record in zip(rows, record_of_row, strict=True):
        by_record[record].append(row)
    changed = sum(not found or any(row != original[r] for row in found) for r, found in by_record.items())
    untrue = sum(len(row - original[r]) for r, found in by_record.items() for row in found)
    counts = _both(supports(original), supports(rows), Counter(), sensitive)
    return *counts, (changed, len(original)), (untrue, sum(map(len, rows)))


def of_nodes(original, rows, record_of_row, below, sensitive):
    """Records over nodes; `below` gives the items below each inner node."""
    row_of = dict(zip(record_of_row, rows, strict=True))
    less = Counter(
        item
        for record, held in enumerate(original)
        for item in held
        if item not in row_of[record] and any(item in below.get(node, ()) for node in row_of[record])
    )
    changed = sum(row_of[record] != held for record, held in enumerate(original))
    untrue = sum(
        not (node in held or below.get(node, set()) & held)
        for record, held in enumerate(original)
        for node in row_of[record]
    )
    counts = _both(supports(original), supports(rows), less, sensitive)
    return *counts, (changed, len(original)), (untrue, sum(map(len, rows)))


def of_groups(original, groups, sensitive):
    """Groups of rows, each with counts of sensitive items."""
    rows = [set(row) for lists, _counts in groups for row in lists]
    by_group = Counter()
    for _lists, counts in groups:
        by_group.update(counts)
    return *_both(supports(original), supports(rows), by_group, sensitive), None, None


def of_clusters(original, clusters, record_of_place, sensitive):
    """Clusters of chunks; the places of all clusters, one after another, are those of `record_of_place`."""
    exactly, less, places = Counter(), Counter(), iter(record_of_place)
    for cluster in clusters:
        for chunk in cluster["record_chunks"]:
            for items, count in chunk:
                exactly.update(dict.fromkeys(items, count))
        for _place in range(cluster["size"]):
            less.update(original[next(places)] & set(cluster["term_chunk"]))
    return *_both(supports(original), exactly, less, sensitive), None, None


def of_sets(original, rows, sensitive):
    """Re-associated data, by its first set."""
    return *_both(supports(original), supports(rows), Counter(), sensitive), None, None
