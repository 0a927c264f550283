"""Global suppression and TDControl (cao2010, in our reading), step by step with the definitions, slow and obvious.

Records are Python sets of items, labels are compared as texts, ρ is a Fraction. Nothing is imported from the package.
"""

from fractions import Fraction
from itertools import combinations

from oracle.uncertainty import support, unsafe_items


def without(records, gone):
    return [record - gone for record in records]


def occurrences(records, item):
    return sum(item in record for record in records)


def kept_items(records, sensitive, alive, *limit):
    """Restore suppressed sensitive items, the most frequent first, each if nothing can be inferred then."""
    alive = set(alive)
    for item in sorted(sensitive - alive, key=lambda x: (-occurrences(records, x), x)):
        if occurrences(records, item) and not unsafe_items(
            without(records, sensitive - alive - {item}), sensitive, *limit
        ):
            alive.add(item)
    return alive


def unsafe_rules(records, sensitive, rho, size):
    """Return all unsafe rules with `size` known items: pairs of the known items and the sensitive one."""
    return [
        (frozenset(known), item)
        for known in combinations(sorted(set().union(*records)), size)
        for item in sorted(sensitive - set(known))
        if support(records, {*known, item}) > rho * support(records, set(known))
    ]


def after_payoff(records, sensitive, rho, include_empty):
    """Return the items that the paper's payoff suppresses, for no, one and two known items."""
    gone = set()
    for size in (0, 1, 2) if include_empty else (1, 2):
        rules = [known | {item} for known, item in unsafe_rules(without(records, gone), sensitive, rho, size)]
        while rules:
            hits = {x: sum(x in rule for rule in rules) for x in set().union(*rules)}
            best = min(hits, key=lambda x: (-Fraction(hits[x], occurrences(records, x)), x))
            gone.add(best)
            rules = [rule for rule in rules if best not in rule]
    return gone


def global_suppression(records, sensitive, rho, include_empty, knows, payoff):
    gone = after_payoff(records, sensitive, rho, include_empty) if payoff == "cao" else set()
    left = without(records, gone)
    alive = kept_items(left, sensitive - gone, set(), rho, include_empty, knows)
    return without(left, sensitive - alive)


class Tree:
    """A tree over items, by the parent of each node, and which of its items are not sensitive."""

    def __init__(self, parent_of, sensitive):
        self.parent_of = parent_of
        inner = set(parent_of.values())
        self.all_items = [x for x in parent_of if x not in inner]
        self.items = sorted(set(self.all_items) - sensitive)
        self.root = next(iter({x for x in inner if x not in parent_of}))

    def children(self, node):
        """Return the children of a node: items first, then inner nodes, both in label order."""
        below = [x for x, above in self.parent_of.items() if above == node]
        return sorted(below, key=lambda x: (x not in self.all_items, x))

    def way_up(self, node):
        """Yield a node and all nodes above it."""
        yield node
        while node in self.parent_of:
            node = self.parent_of[node]
            yield node

    def leaves(self, node):
        return [x for x in self.all_items if node in self.way_up(x)]

    def tops(self):
        """Return the highest nodes without a sensitive item below them."""
        above = [[x for x in self.way_up(item) if set(self.leaves(x)) <= set(self.items)][-1] for item in self.items]
        return set(above)

    def number(self, node):
        """Return the position of a node, depth first."""
        order, stack = [], [self.root]
        while stack:
            order.append(stack.pop())
            stack += reversed(self.children(order[-1]))
        return order.index(node)

    def down(self, node):
        while len(self.children(node)) == 1:
            node = self.children(node)[0]
        return node

    def written(self, records, cut, alive):
        """Return the records with nodes for items, and with the sensitive items that are alive."""
        return [
            (record & alive) | {x for item in record & set(self.items) for x in self.way_up(item) if x in cut}
            for record in records
        ]


def td_control(records, sensitive, rho, include_empty, knows, parent_of):
    """Return the records, the cut and the number of split nodes. Nodes with a sensitive item below them are never shown."""
    limit = (rho, include_empty, knows)
    tree = Tree(parent_of, set(sensitive))
    sensitive = {x for x in sensitive if occurrences(records, x)}

    def cost(node):
        return sum(occurrences(records, x) for x in tree.leaves(node)) * len(tree.leaves(node))

    def gain(node):
        return cost(node) - sum(cost(child) for child in tree.children(node))

    cut, steps = {tree.down(top) for top in tree.tops()}, 0
    alive = kept_items(tree.written(records, cut, sensitive), sensitive, set(), *limit)
    final = set()
    while candidates := [node for node in cut - final if tree.children(node)]:
        node = min(candidates, key=lambda x: (-gain(x), tree.number(x)))
        finer = (cut - {node}) | {tree.down(child) for child in tree.children(node)}
        left, lost = set(alive), 0
        for item in sorted(alive, key=lambda x: (occurrences(records, x), x)):
            unsafe = unsafe_items(tree.written(records, finer, left), sensitive, *limit)
            if item in {where[0] for _kind, where in unsafe}:
                left.remove(item)
                lost += occurrences(records, item)
        if gain(node) > lost * (len(tree.items) - 1):
            cut, alive, steps = finer, left, steps + 1
        else:
            final.add(node)
    alive = kept_items(tree.written(records, cut, sensitive), sensitive, alive, *limit)
    return tree.written(records, cut, alive), cut, steps


def loss_split(records, rows, released, parent_of, sensitive=()):
    """Return the suppressed occurrences, and the sum of (items under its node - 1) / (items - 1) of the others; row r is of record rows[r].

    Items are those of the tree, without the sensitive ones if these are given.
    """
    inner = set(parent_of.values())
    items = [x for x in parent_of if x not in inner and x not in sensitive]

    def way_up(node):
        yield node
        while node in parent_of:
            node = parent_of[node]
            yield node

    gone, generalized = 0, Fraction(0)
    for number, record in enumerate(records):
        shown = set().union(*(row for at, row in zip(rows, released, strict=True) if at == number))
        for item in record:
            node = next((x for x in way_up(item) if x in shown), None)
            if node is None:
                gone += 1
            elif len(items) > 1 and node in inner:
                generalized += Fraction(sum(node in way_up(x) for x in items) - 1, len(items) - 1)
    return gone, generalized
