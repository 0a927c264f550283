"""How far Insert is from the least loss there is, on samples so small that an integer program finds that, and what other tries gain.

The program has a variable an occurrence, 1 if it stays. Rules are added as they are found broken in its last answer: for q → e the records
that hold q and e, counted from below by their items, are at most ρ of those that hold q, counted from above. When the exact search finds
nothing any more, the answer is safe, and no safe table keeps more. Run: python benchmarks/bench_uncertainty_gap.py [SAMPLES [SECONDS]]
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction

import numpy as np
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

import setveil as sv
from setveil.mining.rule_search import strongest_rules

from measuring import data_folder

RHO = Fraction(7, 10)
RECORDS = 200
DATA = ("bms-webview-2", "retail", "bms-pos-100k")


def sample(name, seed):
    """Draw records among those with up to 12 items, and name two fifths of the items sensitive."""
    data = sv.read(data_folder() / f"{name}.dat.gz")
    rng = np.random.default_rng(seed)
    short = np.flatnonzero(data.lengths <= 12)
    drawn = data.take(rng.choice(short, RECORDS, replace=False)).compacted()
    chosen = rng.permutation(len(drawn.vocabulary))[: round(0.4 * len(drawn.vocabulary))]
    return drawn, [drawn.vocabulary[code] for code in chosen]


class Program:
    """The integer program, which grows by rules."""

    def __init__(self, data):
        self.data = data
        self.place_of = [
            {
                int(code): data.offsets[row] + k
                for k, code in enumerate(data.items[data.offsets[row] : data.offsets[row + 1]])
            }
            for row in range(data.records)
        ]
        self.variables = data.occurrences
        self.rows, self.columns, self.values, self.upper = [], [], [], []
        self.whole = {}  # (record, items) -> variable that counts the record

    def constrain(self, terms, most):
        """Let the sum of these terms be at most so much."""
        for column, value in terms:
            self.rows.append(len(self.upper))
            self.columns.append(column)
            self.values.append(value)
        self.upper.append(most)

    def counted(self, row, items, *, from_above):
        """Return the variable that is 1 if a record holds all the items, at most or at least."""
        key = (row, items, from_above)
        if key not in self.whole:
            places = [self.place_of[row][code] for code in items]
            if len(places) == 1:
                self.whole[key] = places[0]
                return places[0]
            self.whole[key] = self.variables
            self.variables += 1
            if from_above:
                for place in places:
                    self.constrain([(self.whole[key], 1), (place, -1)], 0)
            else:
                self.constrain([*((place, 1) for place in places), (self.whole[key], -1)], len(places) - 1)
        return self.whole[key]

    def add_rule(self, q, e):
        """Let at most ρ of the records with q hold e too."""
        q = tuple(sorted(q))
        both = tuple(sorted((*q, e)))
        terms = {}
        for row, places in enumerate(self.place_of):
            if all(code in places for code in q):
                column = self.counted(row, q, from_above=True)
                terms[column] = terms.get(column, 0) - RHO.numerator
                if e in places:
                    column = self.counted(row, both, from_above=False)
                    terms[column] = terms.get(column, 0) + RHO.denominator
        self.constrain(terms.items(), 0)

    def solve(self, seconds):
        """Return which occurrences stay, and how many can at most."""
        cost = np.zeros(self.variables)
        cost[: self.data.occurrences] = -1
        shape = (len(self.upper), self.variables)
        limits = LinearConstraint(csr_array((self.values, (self.rows, self.columns)), shape), -np.inf, self.upper)
        integral = np.zeros(self.variables)
        integral[: self.data.occurrences] = 1
        options = {"time_limit": seconds, "mip_rel_gap": 0}
        found = milp(cost, constraints=limits, bounds=(0, 1), integrality=integral, options=options)
        if found.x is None:
            return None, None
        return found.x[: self.data.occurrences] > 0.5, -found.mip_dual_bound


def kept(data, present):
    before = np.concatenate(([0], np.cumsum(present)))
    return sv.Transactions(before[data.offsets], data.items[present], data.vocabulary)


def unsafe_rules(data, present, mask):
    found = strongest_rules(kept(data, present), mask, RHO, include_empty=False, budget=10**9)
    return list(zip(found.sets, found.items.tolist(), strict=True))


def least_loss(data, mask, seconds):
    """Return how many occurrences any safe table keeps at most, and whether a safe one was found that keeps so many."""
    program = Program(data)
    for row in range(data.records):
        whole = [int(code) for code in data.items[data.offsets[row] : data.offsets[row + 1]]]
        for e in whole:
            if mask[e] and len(whole) > 1:
                program.add_rule([code for code in whole if code != e], e)
                for other in whole:
                    if other != e:
                        program.add_rule([other], e)
    ends = time.perf_counter() + seconds
    bound = data.occurrences
    while time.perf_counter() < ends:
        present, bound_now = program.solve(max(ends - time.perf_counter(), 1))
        if present is None:
            break
        bound = min(bound, bound_now)
        rules = unsafe_rules(data, present, mask)
        if not rules:
            return round(bound), bool(present.sum() >= bound - 0.5)
        for q, e in rules:
            program.add_rule([int(code) for code in q], e)
    return int(bound + 1e-6), False


def other_contents(data, mask, sensitive, present):
    """Let single records hold other items, fewer that are not sensitive and more that are, as long as that keeps more and is safe."""
    guarantee = sv.RhoUncertainty(sensitive=sensitive, rho="0.7", include_empty=False)
    best = present.copy()
    improved = True
    while improved:
        improved = False
        for row in range(data.records):
            places = np.arange(data.offsets[row], data.offsets[row + 1])
            hidden = places[mask[data.items[places]]]
            plain = places[~mask[data.items[places]] & best[places]]
            if best[hidden].all() or len(hidden) < 2:
                continue
            for drop in plain:
                trial = best.copy()
                trial[drop] = False
                for place in hidden:
                    if not trial[place]:
                        trial[place] = True
                        if not guarantee.check(kept(data, trial)):
                            trial[place] = False
                if trial.sum() > best.sum() and guarantee.check(kept(data, trial)):
                    best, improved = trial, True
                    break
    return best


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    print(
        f"samples of {RECORDS} records of up to 12 items, rho 0.7, occurrences kept; * where the least loss is proven"
    )
    print(
        f"{'data':<16}{'seed':>5}{'all':>7}{'trivial':>9}{'insert':>8}{'rarest':>8}{'rounds':>8}{'contents':>10}{'bound':>8}{'gap':>8}"
    )
    for name in DATA:
        for seed in range(samples):
            data, sensitive = sample(name, seed)
            mask = sv.SensitiveItems(sensitive).among(data)
            tries = []
            for chosen in ({}, {"order": "rarest"}, {"rounds": 50}):
                method = sv.Insert(sensitive=sensitive, rho="0.7", include_empty=False, **chosen)
                tries.append(method.apply(data, rng=np.random.default_rng(0)).published)
            present = np.zeros(data.occurrences, bool)
            for row in range(data.records):
                held = set(tries[0].items[tries[0].offsets[row] : tries[0].offsets[row + 1]].tolist())
                for place in range(data.offsets[row], data.offsets[row + 1]):
                    present[place] = int(data.items[place]) in held
            contents = int(other_contents(data, mask, sensitive, present).sum())
            bound, proven = least_loss(data, mask, seconds)
            trivial = int(data.supports[~mask].sum())
            figures = [published.occurrences for published in tries]
            gap = f"{(bound - figures[0]) / data.occurrences:.1%}"
            print(
                f"{name:<16}{seed:>5}{data.occurrences:>7,}{trivial:>9,}"
                + "".join(f"{figure:>8,}" for figure in figures)
                + f"{contents:>10,}{bound:>7,}{'*' if proven else ' '}{gap:>8}",
                flush=True,
            )


if __name__ == "__main__":
    main()
