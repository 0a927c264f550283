"""Apriori generalization in plain, slow Python, and k^m-anonymity, straight from the definition.

A node is the set of items below it, so nodes that cover the same items are one. Records are sets of items.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product


def rare_sets(rows, k, m):
    """Return every set of 1 to m labels that some rows hold, but fewer than k, and how many do."""
    longest = max(map(len, rows), default=0)
    counts = Counter(
        frozenset(chosen)
        for row in rows
        for size in range(1, min(m, len(row), longest) + 1)
        for chosen in combinations(sorted(row), size)
    )
    return {chosen: count for chosen, count in counts.items() if count < k}


def nodes_of(parent_of):
    """Return the nodes as sets of items: for each the lowest name, and a place in the order of the tree."""
    inner = set(parent_of.values())
    (root,) = inner - set(parent_of)
    order = []

    def visit(node):
        below = sorted((x for x, above in parent_of.items() if above == node), key=lambda x: (x in inner, x))
        found = {node} if node not in inner else set()
        place = len(order)
        order.append(None)
        for child in below:
            found |= visit(child)
        order[place] = (node, frozenset(found))
        return found

    visit(root)
    names, places = {}, {}
    for place, (name, items) in enumerate(order):  # the lowest comes last
        names[items], places[items] = name, place
    return names, places


class Recoding:
    """A cut through a tree, and what it does to records."""

    def __init__(self, records, parent_of):
        self.records = [frozenset(record) for record in records]
        self.names, self.places = nodes_of(parent_of)
        self.occurrences = Counter(item for record in records for item in record)
        self.cut = {node for node in self.names if len(node) == 1}

    def loss(self, node):
        return len(node) * sum(self.occurrences[item] for item in node) if len(node) > 1 else 0

    def rows(self, cut=None):
        return [frozenset(node for node in cut or self.cut if node & record) for record in self.records]

    def labels(self):
        return [{self.names[node] for node in row} for row in self.rows()]

    def support(self, nodes):
        return sum(all(node & record for node in nodes) for record in self.records)

    def in_order(self, nodes):
        return sorted(self.places[node] for node in nodes)

    def first_rare(self, k, size):
        found = {
            frozenset(chosen): 0
            for row in self.rows()
            for chosen in combinations(sorted(row, key=self.places.get), size)
        }
        rare = [chosen for chosen in found if self.support(chosen) < k]
        return min(rare, key=self.in_order, default=None)

    def with_nodes(self, nodes):
        return {node for node in self.cut if not any(node <= new for new in nodes)} | set(nodes)

    def generalize(self, rare, k):
        """Of all ways to generalize the nodes of a rare set that make it frequent, take the one with the least loss."""
        ways = {
            frozenset(x for x in way if not any(x < y for y in way))
            for way in product(*([node for node in self.names if node >= one] for one in rare))
        }
        now = sum(map(self.loss, self.cut))

        def cost(way):
            return sum(map(self.loss, self.with_nodes(way))) - now, self.in_order(way)

        self.cut = self.with_nodes(min((way for way in ways if self.support(way) >= k), key=cost))

    def children(self, node):
        below = [x for x in self.names if x < node]
        return {x for x in below if not any(x < y for y in below)}

    def refinable(self, k, m):
        """Return the nodes of the cut that some record shows and that their children can replace."""
        inner = [node for node in self.cut if self.loss(node)]
        return [x for x in inner if not rare_sets(map_places(self, self.cut - {x} | self.children(x)), k, m)]

    def refine(self, k, m):
        """Repeatedly replace the node with the largest gain by its children; return how many were replaced."""
        steps = 0
        while able := self.refinable(k, m):
            best = min(able, key=lambda x: (sum(map(self.loss, self.children(x))) - self.loss(x), self.places[x]))
            self.cut = self.cut - {best} | self.children(best)
            steps += 1
        return steps


def map_places(recoding, cut):
    return [{recoding.places[node] for node in row} for row in recoding.rows(cut)]


def generalized(records, parent_of, k, m, *, refine):
    """Return the recoding that the method finds, how many sets were generalized, and how many nodes were refined."""
    recoding, steps = Recoding(records, parent_of), 0
    for size in range(1, min(m, max(map(len, records))) + 1):
        while rare := recoding.first_rare(k, size):
            recoding.generalize(rare, k)
            steps += 1
    return recoding, steps, recoding.refine(k, m) if refine else 0
