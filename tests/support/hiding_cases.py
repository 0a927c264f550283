"""Random cases for tests of ExactSwap: data with named itemsets and settings, and the state of a run."""

import inspect
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
import pytest

import setveil as sv
from setveil.kernels.threads import using_threads
from setveil.methods.itemsets import _exchange_kernels as exchange
from setveil.methods.itemsets import _hiding
from setveil.methods.itemsets import _tracking_kernels as tracking
from setveil.methods.itemsets._hiding import Hiding
from setveil.methods.itemsets.exact_swap import ExactSwap

from oracle import exact_swap as oracle
from support.random_data import as_sets

ENOUGH = 1 << 30


@dataclass
class Case:
    """Random data, itemsets in it, and settings of the method, also in the form that the oracle needs."""

    data: sv.Transactions
    named: list[frozenset[str]]
    settings: dict
    threshold: int | Fraction
    levels: list[int | Fraction]
    seed: int

    @cached_property
    def records(self):
        return as_sets(self.data)

    def bound(self, **changed):
        method = ExactSwap(itemsets=[sorted(s) for s in self.named], **(self.settings | changed))
        return method.bind(self.data, linked=False, rng=np.random.default_rng(self.seed))


def some_data(rng, *, records=None, items=None):
    """Draw sparse to dense records, with frequent items, empty and repeated records; every item is in some record."""
    n = records or int(rng.integers(3, 61))
    v = items or int(rng.integers(3, 13))
    density, skew = rng.choice([0.08, 0.2, 0.4, 0.6, 0.85]), rng.choice([0.0, 0.5, 1.2])
    weight = 1 / np.arange(1, v + 1) ** skew
    table = rng.random((n, v)) < np.minimum(density * weight / weight.mean(), 0.97)
    table[rng.random(n) < rng.choice([0, 0, 0.2])] = False
    if rng.random() < 0.3:
        table[rng.integers(0, n, size=n // 3)] = table[0]
    if rng.random() < 0.1:
        table[:, 0] = True
    if not table.any():
        table[0, :3] = True
    return sv.from_lists([[f"i{j:02}" for j in rng.permutation(np.flatnonzero(row))] for row in table])


def some_named(rng, data):
    """Draw itemsets of 1 to 4 items: most from records, some nested, some of any items."""
    records = [sorted(t) for t in as_sets(data) if t]
    found = []
    for _ in range(int(rng.integers(1, 6))):
        pool = records[rng.integers(len(records))] if rng.random() < 0.8 else list(data.vocabulary)
        size = min(len(pool), int(rng.choice([1, 2, 2, 2, 3, 3, 4])))
        found.append(frozenset(map(str, rng.choice(pool, size=size, replace=False))))
        if size > 1 and rng.random() < 0.3:
            found.append(frozenset(sorted(found[-1])[1:]))
    return list(dict.fromkeys(found))


def some_threshold(rng, n):
    """Draw a number of records or a share; return it for the oracle and for the method."""
    if rng.random() < 0.5:
        count = int(rng.integers(1, max(3, n // 2)))
        return count, count
    percent = int(rng.choice([3, 10, 25, 50]))
    return Fraction(percent, 100), f"{percent}%"


def drawn(seed, **changed):
    rng = np.random.default_rng(seed)
    data = some_data(rng)
    named = some_named(rng, data)
    threshold, as_text = some_threshold(rng, data.records)
    levels = [some_threshold(rng, data.records) for _ in range(int(rng.choice([0, 0, 1, 2])))]
    frequent_from = oracle.frequent_from(as_sets(data), named, threshold)
    given = ",".join(str(rng.integers(0, frequent_from)) for _ in named)
    settings = {
        "min_support": as_text,
        "levels": tuple(text for _, text in levels),
        "target": str(rng.choice(["random", "border", "0", given])),
        "afi": ["forbid", "forbid", "forbid", "cost", "off"][seed % 5],
        "repair": str(rng.choice(["swap", "swap", "swap", "suppress"])),
        "max_scan": int(rng.choice([1, 4, 256])),
    }
    return Case(data, named, settings | changed, threshold, [level for level, _ in levels], seed)


def hidden(method, data, seed=0, threads=1):
    """Run the method; return its final state and its outcome."""
    states = []

    class Watched(Hiding):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            states.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_hiding, "Hiding", Watched)
        outcome = apply(method, data, seed, threads)
    return states[0], outcome


@cache
def done(seed):
    """Return a random case, its method, and the final state and outcome, cached for all checks."""
    case = drawn(seed)
    method = case.bound()
    return case, method, *hidden(method, case.data, seed)


def apply(method, data, seed=0, threads=1):
    with using_threads(threads):
        return method.apply(data, rng=np.random.default_rng(seed))


def assert_hidden(method, named, released):
    after, targets = as_sets(released), method.guarantee.targets
    assert len(targets) == len(named)
    assert all(oracle.support(after, s) <= most for s, most in zip(named, targets, strict=True))
    original = sv.from_lists(
        [sorted(named[0])]
    )  # the named itemset occurs in the original, so the release need not hold it
    assert method.guarantee.check(released, original=original).status == "holds"


def assert_state_is_a_recount(hiding):
    """Compare all counts that were updated while records changed with counts of the result."""
    tracked, result = hiding.tracked, hiding.result()
    held = oracle.all_supports([set(one.tolist()) for one in np.split(result.items, result.offsets[1:-1])])
    assert tracked.supports.tolist() == [
        held.get(one, 0) for one in sets_of(tracked.itemsets.offsets, tracked.itemsets.items)
    ]
    of_rank = np.flatnonzero(hiding.rank >= 0)
    for code in of_rank:
        row = hiding.index.pair_row[hiding.rank[code]]
        others = [other for other in of_rank if other != code]
        if row >= 0 and others:
            counted = hiding.index.pairs[row, hiding.rank[others]].tolist()
            assert counted == [held.get(frozenset((code, other)), 0) for other in others]
    assert hiding.after.tolist() == [held.get(s, 0) for s in sets_of(hiding.offsets, hiding.codes)]


def sets_of(offsets, items):
    return [frozenset(items[first:last].tolist()) for first, last in pairwise(offsets)]


def split(offsets, values):
    return [values[first:last].tolist() for first, last in pairwise(offsets)]


class State:
    """A state of hiding on random data: its structs by their names in the loops, and the same data as sets of codes."""

    def __init__(self, seed, *, records=None, items=None, levels=None, density=None, lists=None, named=None):
        self.rng = rng = np.random.default_rng(seed)
        n, v = records or int(rng.integers(3, 30)), items or int(rng.integers(3, 9))
        density = density or rng.choice([0.3, 0.5, 0.8])
        table = rng.random((n, v)) < density * rng.choice([0.3, 1], size=v)
        table[rng.integers(0, n), :2] = True
        data = sv.from_lists(lists or [[f"i{j:02}" for j in np.flatnonzero(row)] for row in table])
        self.levels = levels or sorted({int(one) for one in rng.integers(1, max(3, n // 2), size=rng.integers(1, 4))})
        rows = split(data.offsets, data.items)
        if named is None:
            full = [row for row in rows if row]
            pools = [full[rng.integers(len(full))] for _ in range(4)]
            named = [rng.choice(row, size=min(len(row), rng.integers(1, 4)), replace=False).tolist() for row in pools]
        self.named = list(dict.fromkeys(map(frozenset, named)))
        offsets = np.concatenate(([0], np.cumsum([len(s) for s in self.named]))).astype(np.int64)
        codes = np.array([code for s in self.named for code in sorted(s)], dtype=np.int32)
        self.targets = rng.integers(0, min(self.levels), size=len(self.named))
        self.hiding = hiding = Hiding(data, (offsets, codes), self.targets.copy(), self.levels, min(self.levels))
        tracked = hiding.tracked
        self.original = [set(row) for row in rows]
        self.known = [frozenset(one) for one in split(tracked.itemsets.offsets, tracked.itemsets.items)]
        hiding.index = hiding.index._replace(
            entered_next=np.empty(500, dtype=np.int64), entered_record=np.empty(500, dtype=np.int32)
        )
        self.goals, self.world, hiding.swaps = hiding.make_goals(), hiding.make_world(), True
        self.room, self.counters = self.world.room, self.world.counters
        self.counters[tracking.BUDGET] = ENOUGH
        self.counters[exchange.OPEN] = np.count_nonzero(hiding.is_open)
        self.fallen = np.empty(4 * len(self.known), dtype=np.int64)
        self.arguments = {
            "rows": hiding.rows, "index": hiding.index, "tree": tracked.sets.tree, "named": hiding.named,
            "room": self.room, "members": self.room.members, "parts": self.room.parts, "counters": self.counters,
            "goals": self.goals, "fallen": self.fallen, "world": self.world,
        }  # fmt: skip

    def call(self, kernel, **given):
        """Call a loop with what this state has under the names of its parameters, and the given arguments."""
        names = inspect.signature(getattr(kernel, "py_func", kernel)).parameters
        return kernel(*[given[name] if name in given else self.arguments[name] for name in names])

    def search(self, record, item, offers):
        """Return the place of the cheapest swap, or -1."""
        self.counters[exchange.TURN_FREE : exchange.TURN_OTHERS + 1] = 0
        return self.call(exchange.search, record=np.int32(record), item=np.int32(item), offers=offers)

    @cached_property
    def before(self):
        return oracle.all_supports(self.original)

    @property
    def data(self):
        return self.hiding.data

    @property
    def items(self):
        return self.hiding.items

    @property
    def rows(self):
        return [{code for code in row if code >= 0} for row in split(self.data.offsets, self.items)]

    @property
    def now(self):
        return dict(zip(self.known, self.hiding.tracked.supports.tolist(), strict=True))

    def write_members(self, row):
        """Write a record where the loops read it, and return the number of its ranked items."""
        ranks = self.hiding.rank[sorted(row)] if row else np.empty(0, np.int32)
        ranks = self.rng.permutation(ranks[ranks >= 0])
        self.room.members[: len(ranks)] = ranks
        return len(ranks)

    def ranked(self):
        return np.flatnonzero(self.hiding.rank >= 0)

    def swaps(self, record, item):
        """Return the allowed swaps of an item of a record: the place of the item given in return, its record, and the item."""
        rows, found = self.rows, []
        for place, given in enumerate(self.items):
            donor = int(self.hiding.index.record_of[place])
            if given < 0 or donor == record or item in rows[donor] or given in rows[record]:
                continue
            ends = (donor, item, given), (record, given, item)
            if not any(oracle.completes(rows[one], gets, gives, self.named) for one, gets, gives in ends):
                found.append((place, donor, int(given)))
        return found

    def change(self):
        """Swap or suppress a random item; return what happened."""
        rng, rows = self.rng, self.rows
        record = int(rng.choice([r for r, row in enumerate(rows) if row]))
        item = int(rng.choice(sorted(rows[record])))
        possible = self.swaps(record, item)
        if possible and rng.random() < 0.8:
            place, donor, given = possible[rng.integers(len(possible))]
            left = [(record, item), (donor, given)]
        else:
            place, left = -1, [(record, item)]
        secret = int(rng.integers(len(self.named)))
        self.counters[exchange.FALLEN] = 0
        self.call(
            exchange.change,
            record=np.int32(record),
            item=np.int32(item),
            place=np.int64(place),
            secret=np.int64(secret),
        )
        return rows, left, place >= 0, secret


def assert_pairs_are_counted(state):
    hiding, rows = state.hiding, state.rows
    assert all(hiding.index.pair_row[hiding.rank[code]] >= 0 for s in state.named for code in s)
    for code in state.ranked():
        line = hiding.index.pair_row[hiding.rank[code]]
        for other in state.ranked():
            if line >= 0 and other != code:
                assert hiding.index.pairs[line, hiding.rank[other]] == oracle.support(rows, {code, other})
