"""Disassociated data at random: records taken apart in any way, or in a way that keeps k^m-anonymity. Slow and simple."""

from itertools import combinations

import numpy as np


def cluster_of(records, chunks, term_chunk):
    """Take records apart: `chunks` are sets of items, what is in no chunk is told in the term chunk or not at all."""
    made = []
    for domain in chunks:
        parts = [tuple(sorted(set(record) & set(domain))) for record in records]
        bag = [(list(part), parts.count(part)) for part in sorted(set(parts)) if part]
        made += [bag] * bool(bag)
    return {"size": len(records), "record_chunks": made, "term_chunk": sorted(term_chunk)}


def any_cluster(rng, k, *, most_records=6, most_items=5):
    """Draw a few records and take them apart at random; rare items often go to the term chunk, as a method would do."""
    size = int(rng.integers(max(k, 2), most_records + 1))
    labels = [f"i{j}" for j in range(int(rng.integers(2, most_items + 1)))]
    density = rng.choice([0.3, 0.5, 0.8])
    records = [{label for label in labels if rng.random() < density} or {str(rng.choice(labels))} for _ in range(size)]
    held = sorted(set().union(*records))
    rare = {label for label in held if sum(label in record for record in records) < k}
    term_chunk = [label for label in held if label in rare and rng.random() < 0.9][:2]
    if len(term_chunk) < 2 and rng.random() < 0.2:
        term_chunk = sorted({*term_chunk, str(rng.choice(held))})
    where = {label: int(rng.integers(0, 3)) for label in held if label not in term_chunk}
    chunks = [[label for label, chunk in where.items() if chunk == j] for j in range(3)]
    return cluster_of(records, chunks, term_chunk)


def is_safe(parts, k, m):
    """Tell whether every set of at most m items that one of the parts holds is in at least k of them."""
    for part in parts:
        for size in range(1, min(m, len(part)) + 1):
            for chosen in combinations(sorted(part), size):
                if sum(set(chosen) <= other for other in parts) < k:
                    return False
    return True


def safe_cluster(records, k, m):
    """Take at least k records, none of them empty, apart so that they are k^m-anonymous: chunk by chunk, an item at a time."""
    support = {}
    for record in records:
        for item in record:
            support[item] = support.get(item, 0) + 1
    rest = sorted((item for item in support if support[item] >= k), key=lambda item: (-support[item], item))
    term_chunk = {item for item in support if support[item] < k}
    chunks = []
    while rest:
        chosen = []
        for item in rest:
            if is_safe([record & {*chosen, item} for record in records], k, m):
                chosen.append(item)
        chunks.append(chosen)
        rest = [item for item in rest if item not in chosen]
    made = cluster_of(records, chunks, term_chunk)
    subrecords = sum(count for chunk in made["record_chunks"] for _items, count in chunk)
    if not term_chunk and subrecords < len(records) + k * (min(m, len(chunks)) - 1):
        least = chunks[-1].pop()
        made = cluster_of(records, chunks, {least})
    return made


def clusters_of(records, k, m, rng, *, most=8):
    """Take records apart that stand in clusters of k records or more as they come; empty records are left out."""
    records = [set(record) for record in records if record]
    found, at = [], 0
    while at < len(records):
        size = int(rng.integers(k, max(most, k) + 1))
        if len(records) - at - size < k:
            size = len(records) - at
        found.append(records[at : at + size])
        at += size
    return [
        safe_cluster(part, k, m) if len(part) >= k else cluster_of(part, [set().union(*part)], []) for part in found
    ]


def disturbed(clusters, rng):
    """Return a copy with a fault here and there: of a count, a size, an item in the wrong chunk."""
    faulty = []
    for cluster in clusters:
        made = {
            "size": cluster["size"],
            "record_chunks": [[(list(items), count) for items, count in chunk] for chunk in cluster["record_chunks"]],
            "term_chunk": list(cluster["term_chunk"]),
        }
        faulty.append(made)
        if rng.random() < 0.9 or not made["record_chunks"]:
            continue
        chunk = made["record_chunks"][rng.integers(len(made["record_chunks"]))]
        at = int(rng.integers(len(chunk)))
        items, count = chunk[at]
        match rng.integers(7):
            case 0:
                made["size"] = max(1, made["size"] + int(rng.integers(-2, 3)))
            case 1:
                chunk[at] = (items, max(1, count + int(rng.integers(-2, 3))))
            case 2:
                made["term_chunk"] = sorted({*made["term_chunk"], *items[:1]})  # a subrecord may be empty
            case 3:
                made["term_chunk"] = []
            case 4:
                made["record_chunks"].append([(items[:1], count)])
            case 5:
                chunk.append(([], 1))
            case 6:
                del made["record_chunks"][-1]
    return faulty


def generator(seed):
    return np.random.default_rng(seed)
