"""The dummy user protocol in plain Python, group by group and by recursion, straight from Figure 1 and formulas (2) to (4).

Slow, and shares nothing with the package. The keyed stream is given as a function: `draw(role, id, way)` is a number, of which the
remainder by the number of existing users picks the row of a dummy, and `order(role, way)` is the order in which candidates stand.
"""

import math
from fractions import Fraction

UNIT = 1 << 16
WIDEST = 1 << 20
WORST = -4 * UNIT + 1


class Protocol:
    """One run over known data."""

    def __init__(self, policy, cells, rows, sensitive, population, draw, order):
        self.policy = policy
        self.cells = cells  # {"a": [cells of each attribute], "b": [...]}
        self.rows = rows  # {"a": {id: [codes]}, "b": {...}}
        self.sensitive = sensitive  # {id: value}, of B's users
        self.population = population
        self.draw = draw
        self.order = order
        self.opened = {}
        self.leaves = {}

    def run(self):
        """Return the final groups by way, or None if the root does not keep the policy."""
        everybody = list(self.population)
        neither = sum(i not in self.rows["a"] and i not in self.rows["b"] for i in everybody)
        root = self.keeps(everybody, Fraction(0)) and neither >= self.policy["outsiders"]
        self.opened[("root", "")] = root
        if not root:
            return None
        boxes = {side: [(0, cells) for cells in self.cells[side]] for side in "ab"}
        self.split(everybody, "", boxes)
        return self.leaves

    def keeps(self, ids, margin):
        """Check k, l and both limits on a group."""
        p = self.policy
        in_a, in_b = self.rows["a"], self.rows["b"]
        common = [i for i in ids if i in in_a and i in in_b]
        if len(common) < p["k"] or len({self.sensitive[i] for i in common}) < p["l"]:
            return False
        at_a, at_b = [i for i in ids if i in in_a], [i for i in ids if i in in_b]
        pairs = [("a", len(common), len(at_a))]
        if p["scope"] == "qi":
            pairs.append(("b", len(common), len(at_b)))
        else:
            for value in set(self.sensitive.values()):
                both = sum(self.sensitive[i] == value for i in common)
                pairs.append(("b", both, sum(self.sensitive[i] == value for i in at_b)))
        for side, both, here in pairs:
            least, most = p[f"min_{side}"], p[f"max_{side}"]
            least, most = least + margin if least > 0 else 0, most - margin if most < 1 else 1
            if here and not least <= Fraction(both, here) <= most:
                return False
        return True

    def shown(self, side, ids, way):
        """Return the codes of each id: its own, or of a dummy those of an existing user of the group."""
        existing = [i for i in ids if i in self.rows[side]]
        return {
            i: self.rows[side][i]
            if i in self.rows[side]
            else self.rows[side][existing[self.draw(side, i, way) % len(existing)]]
            for i in ids
        }

    def split(self, ids, way, boxes):
        shown = {side: self.shown(side, ids, way) for side in "ab"}
        widest = {}
        for side in "ab":
            widths = []
            for attribute, cells in enumerate(self.cells[side]):
                values = [shown[side][i][attribute] for i in ids]
                widths.append((max(values) - min(values)) * WIDEST // max(cells - 1, 1))
            best = max(widths)
            widest[side] = best, widths.index(best)
        owner = "a" if widest["a"][0] >= widest["b"][0] else "b"
        self.opened[("side", way)] = owner
        attribute = widest[owner][1]
        values = {i: shown[owner][i][attribute] for i in ids}
        cuts = self.candidates(ids, values)
        scores = [self.score(ids, values, cut, cuts, owner) for cut in cuts]
        order = self.order(owner, way)
        shuffled = [(scores[place], cuts[place]) for place in order]
        winner = max(range(len(shuffled)), key=lambda place: (shuffled[place][0], -place))
        if self.policy["score"] == "both":
            self.opened[("winner", way)] = winner
        cut = shuffled[winner][1][0]
        lower = [i for i in ids if cut is None or values[i] < cut]
        upper = [i for i in ids if not (cut is None or values[i] < cut)]
        margin = self.policy["margin"]
        passed = self.keeps(lower, margin) and self.keeps(upper, margin)
        self.opened[("pass", way)] = passed
        if not passed:
            self.leaves[way] = (ids, boxes)
            return
        self.opened[("ids", way)] = len(lower)
        for part, members, edge in (("0", lower, 1), ("1", upper, 0)):
            mine = list(boxes[owner])
            low, high = mine[attribute]
            mine[attribute] = (low, cut) if edge else (cut, high)
            self.split(members, way + part, {**boxes, owner: mine})

    def candidates(self, ids, values):
        """Return cuts at quantiles: (place, real); of a group with one value the first stands for no cut, with None as its place."""
        wanted = self.policy["candidates"]
        rising = sorted(values.values())
        distinct = sorted(set(rising))
        if len(distinct) < 2:
            return [(None, j == 0) for j in range(wanted)]
        cuts, last = [], 0
        for j in range(1, wanted + 1):
            at = rising[j * len(ids) // (wanted + 1)]
            nth = max(distinct.index(at), 1, last + 1)
            last = nth
            cuts.append((distinct[min(nth, len(distinct) - 1)], nth < len(distinct)))
        return cuts

    def score(self, ids, values, cut, cuts, owner):
        """Return formula (3) in whole units, with the owner's part rounded by itself and each entropy too."""
        p = self.policy
        weight = float(1 - p["alpha"]) / 2 * math.e / 2
        place, real = cut
        lower = {i for i in ids if place is None or values[i] < place}

        def distance(at):
            return sum(abs(2 * values[i] - (2 * at - 1)) for i in ids)

        total = 0
        if place is not None:
            most = max(*(distance(other[0]) for other in cuts), 1)
            total += round(-float(p["alpha"]) * (distance(place) / most) * UNIT)
        if not real:
            other = "b" if owner == "a" else "a"
            return WORST + (self.entropy(ids, lower, other, weight) if p["score"] == "both" else 0)
        for side in "ab":
            if side == owner or p["score"] == "both":
                total += self.entropy(ids, lower, side, weight)
        return total

    def entropy(self, ids, lower, side, weight):
        total = 0
        for part in (lower, set(ids) - lower):
            share = sum(i not in self.rows[side] for i in part) / len(ids)
            total += round(-share * math.log(share) * weight * UNIT) if share else 0
        return total
