"""Which ids move between two runs, slowly: each id is compared with each other id of a division.

A run is the way of each id, a text of 0 (lower part) and 1 (upper part), and the owner of each division by the way to it.
"""

from math import log


def divisions(ways, owners, owner):
    """Return the divisions of an owner that passed: by the way to each, the ids with whether they are in the lower part."""
    inner = {way[:length] for way in ways for length in range(len(way))}
    return {
        node: {i: way[len(node)] == "0" for i, way in enumerate(ways) if way.startswith(node)}
        for node in inner
        if owners[node] == owner
    }


def scores(first, second, owner, pull):
    """Return the score of each id of the first run; a run is (ways, owners). Ids that only the second run has are left out."""
    ways = first[0]
    before = divisions(*first, owner)
    found = [0.0] * len(ways)
    for node, everybody in divisions(*second, owner).items():
        lower = {i: is_lower for i, is_lower in everybody.items() if i < len(ways)}
        if before.get(node) == lower:
            continue
        for i, is_lower in lower.items():
            others = [j for j in lower if j != i]
            base = chance = (sum(lower[j] for j in others) + 0.5) / len(lower)
            for length in range(1, len(ways[i]) + 1):
                others = [j for j in others if ways[j][:length] == ways[i][:length]]
                chance = (sum(lower[j] for j in others) + pull * chance) / (len(others) + pull)
            found[i] += log(chance / base) if is_lower else log((1 - chance) / (1 - base))
    return found
