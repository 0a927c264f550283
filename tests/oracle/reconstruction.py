"""Whether records are one way to put the chunks of clusters together, in plain Python."""

from collections import Counter


def violations(clusters, records, places, terms):
    """Return what is wrong, each with where: a place, a place with an item of another cluster, a chunk, or an item of a term chunk.

    `places` numbers the records of all clusters one after another; `terms` tells whether items of term chunks are in one record each.
    """
    slots = [(number, slot) for number, cluster in enumerate(clusters) for slot in range(cluster["size"])]
    known = Counter(places)
    lost = {place for place, times in known.items() if not 0 <= place < len(slots) or times > 1}
    if lost:
        return {("row-without-a-place", place) for place in lost}
    found = set()
    for number, cluster in enumerate(clusters):
        mine = [(place, record) for place, record in zip(places, records, strict=True) if slots[place][0] == number]
        domains = [set().union(*(items for items, _count in chunk)) for chunk in cluster["record_chunks"]]
        named = set().union(*domains, cluster["term_chunk"])
        found |= {("item-of-another-cluster", place) for place, record in mine if record - named}
        for chunk, (domain, bag) in enumerate(zip(domains, cluster["record_chunks"], strict=True)):
            parts = Counter(frozenset(record & domain) for _place, record in mine if record & domain)
            if parts != Counter({frozenset(items): count for items, count in bag}):
                found.add(("chunk-with-other-subrecords", (number, chunk, ())))
        for item in cluster["term_chunk"]:
            if sum(item in record for _place, record in mine) != terms:
                found.add(("term-item-not-placed-once", (number, item)))
    return found
