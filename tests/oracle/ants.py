"""Ants that keep rules together, straight from the description of the algorithm and its corrections. Imports nothing from the package.

Records are sets of items whose own order is that of the data; everything is counted anew whenever it is needed.
"""

from fractions import Fraction


class Ants:
    """The clusters of ants: lists of record numbers in the order in which they came."""

    def __init__(self, records, rules, k, beta, *, stable):
        self.records = [frozenset(record) for record in records]
        self.rules = [frozenset(rule) for rule in rules]
        self.k, self.beta, self.stable = k, Fraction(str(beta)), stable
        self.by_content = sorted(range(len(records)), key=lambda r: sorted(records[r]))
        self.clusters = [[] for _ in rules]
        self.moves = self.iterations = 0
        self.supports = [sum(rule <= record for record in self.records) for rule in self.rules]
        self.wanted = [self.beta * support for support in self.supports]

    def held(self, rule, cluster):
        """Return A[l][c]: how many records of a cluster hold a rule."""
        return sum(self.rules[rule] <= self.records[r] for r in self.clusters[cluster])

    def settle(self):
        """Let each ant in turn take its next free record, if there is one."""
        free = [r for r in self.by_content if any(rule <= self.records[r] for rule in self.rules)]
        while free:
            for ant, rule in enumerate(self.rules):
                mine = next((r for r in free if rule <= self.records[r]), None)
                if mine is not None:
                    self.clusters[ant].append(mine)
                    free.remove(mine)

    def potential(self):
        """Return the potential, which grows with each move of stable ants."""
        return sum(min(self.held(i, i), max(self.wanted[i], self.k)) for i in range(len(self.rules)))

    def may_leave(self, record, cluster):
        if not self.stable or not self.rules[cluster] <= self.records[record]:
            return True
        left = self.held(cluster, cluster) - 1
        return left >= self.wanted[cluster] and left >= self.k

    def pick_up(self, rule):
        """Bring a record to the cluster of a rule, from the densest cluster that can give one; return whether there was one."""
        others = [c for c in range(len(self.rules)) if c != rule and self.held(rule, c) > 0]
        others = [c for c in others if len(self.clusters[c]) > self.k]
        for c in sorted(others, key=lambda c: (-Fraction(self.held(rule, c), len(self.clusters[c])), c)):
            for record in self.clusters[c]:
                if self.rules[rule] <= self.records[record] and self.may_leave(record, c):
                    self.clusters[c].remove(record)
                    self.clusters[rule].append(record)
                    self.moves += 1
                    return True
        return False

    def drop_load(self, ant):
        """Move a record for the rule that lacks the most, if any lacks one."""
        lacks = {j: self.wanted[j] - self.held(j, j) for j in range(len(self.rules)) if j != ant}
        if lacks and max(lacks.values()) > 0:
            return self.pick_up(max(lacks, key=lambda j: (lacks[j], -j)))
        return False

    def carry(self, iterations, after_move=lambda: None):
        """Run the ants until all are satisfied, none moved, or the iterations are over."""
        satisfied = 0
        while self.iterations < iterations and satisfied < len(self.rules):
            satisfied, moved = 0, False
            for ant in range(len(self.rules)):
                has = self.held(ant, ant)
                if has < self.wanted[ant] or (has < self.k and self.k < self.supports[ant]):
                    went = self.pick_up(ant)
                else:
                    satisfied += 1
                    went = self.drop_load(ant)
                if went:
                    moved = True
                    after_move()
            self.iterations += 1
            if not moved:
                break

    def reached(self):
        """Return how many of the rules that occur have their share."""
        return sum(s > 0 and self.held(i, i) >= self.wanted[i] for i, s in enumerate(self.supports))


def even_parts(rows, k, delta):
    """Cut into the fewest even parts of at most delta records, or fewer if one would be below k."""
    number = max(min(-(-len(rows) // delta), len(rows) // k), 1)
    borders = [len(rows) * part // number for part in range(number + 1)]
    return [rows[borders[part] : borders[part + 1]] for part in range(number)]


def cut(ants, k, delta, *, safe):
    """Return the parts of the ants' clusters, and all records that are in none of them."""
    made = []
    for cluster in ants.clusters:
        if not safe:
            rows = sorted(cluster)
            made += [rows[at : at + delta] for at in range(0, len(rows), delta)]
        elif len(cluster) >= k:

            def key(r):
                pattern = [i for i, rule in enumerate(ants.rules) if rule <= ants.records[r]]
                return pattern, sorted(ants.records[r]), r

            made += even_parts(sorted(cluster, key=key), k, delta)
    placed = {r for cluster in made for r in cluster}
    return made, [r for r in range(len(ants.records)) if r not in placed]
