"""Where a person of whom some items are known can be, by the meaning of each published form. Sets and loops only."""


def candidates(published, known):
    """Return the place of every record that may hold all known items, once per record of the place."""
    kind = type(published).__name__
    return {"Transactions": _rows, "Generalized": _nodes, "Grouped": _groups, "Disassociated": _clusters}[kind](
        published, set(known)
    )


def _rows(data, known):
    return [row for row, items in enumerate(data.to_lists()) if known <= set(items)]


def _nodes(data, known):
    below = {node: set(data.hierarchy.leaves_under(node)) for node in data.hierarchy.nodes}
    found = []
    for row, names in enumerate(data.rows.to_lists()):
        if all(any(item == name or item in below.get(name, ()) for name in names) for item in known):
            found.append(row)
    return found


def _groups(data, known):
    found, row = [], 0
    for rows, sensitive in data.to_groups():
        for items in rows:
            if known <= set(items) | set(sensitive):
                found.append(row)
            row += 1
    return found


def _clusters(data, known):
    found = []
    for number, cluster in enumerate(data.to_clusters()):
        shown = set(cluster["term_chunk"])
        for chunk in cluster["record_chunks"]:
            for items, _count in chunk:
                shown |= set(items)
        if known <= shown:
            found += [number] * cluster["size"]
    return found
