"""Which records stand out by a few known items, straight from the definition.

A record is unique by m known items if it holds some set of one to m items that no other record holds all of.
"""

from __future__ import annotations

from itertools import combinations


def is_unique(records, number, known):
    record = set(records[number])
    others = [set(other) for place, other in enumerate(records) if place != number]
    return any(
        not any(set(itemset) <= other for other in others)
        for size in range(1, known + 1)
        for itemset in combinations(sorted(record), size)
    )


def unique_records(records, known):
    """Return the numbers of the records that are unique by at most `known` items."""
    return [number for number in range(len(records)) if is_unique(records, number, known)]


def duplicate_records(records):
    """Return the numbers of the records whose content another record has too."""
    contents = [set(record) for record in records]
    return [number for number, content in enumerate(contents) if contents.count(content) > 1]
