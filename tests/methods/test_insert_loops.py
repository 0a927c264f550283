"""Kernels of Insert, each alone: records that hold some items now, and records of one content, however similar their hashes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.methods.uncertainty import _limit_kernels as limits
from setveil.methods.uncertainty import _table_kernels as kernels

from oracle.uncertainty import support
from support.exhaustive import examples
from support.random_data import SHARES, seeds, with_sensitive

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),  # hashing, with the compiler off
    pytest.mark.plain_python,
]


class Table:
    """A table with some occurrences present, in the arrays that the kernels use."""

    def __init__(self, seed, *, hot, filled=False):
        rng = np.random.default_rng(seed)
        records = with_sensitive(seed, most_records=150 if seed % 2 else 16)[0]
        # With 300 more items, the signature of a record matches any item.
        filling = [f"z{k:03}" for k in range(300)] if filled else []
        data = sv.from_lists([[*sorted(record), *(filling if rng.random() < 0.5 else [])] for record in records])
        self.lay_out(data, rng.random(data.occurrences) < 0.7, rng.random(len(data.vocabulary)) < hot)

    @classmethod
    def of(cls, data):
        table = cls.__new__(cls)
        table.lay_out(data, np.ones(data.occurrences, np.bool_), np.ones(len(data.vocabulary), np.bool_))
        return table

    def lay_out(self, data, present, is_hot):
        self.offsets, self.items = data.offsets, data.items
        self.present = present.astype(np.uint8)
        self.rows = [
            frozenset(data.items[a:b][self.present[a:b] > 0].tolist())
            for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)
        ]
        self.starts = np.concatenate(([0], np.cumsum(data.supports)))
        self.hot = np.where(is_hot, np.cumsum(is_hot) - 1, -1)
        self.bits = np.zeros((len(is_hot) + 1, (data.records + 63) // 64), np.uint64)
        self.held = np.zeros(len(is_hot), np.int64)
        self.lists = np.empty(data.occurrences, np.int64)
        self.words, self.sums = np.zeros(data.records, np.uint64), np.zeros(data.records, np.uint64)
        layout = (self.starts, self.held, self.lists, self.words, self.sums, self.hot, self.bits)
        kernels.set_up(self.offsets, self.items, self.present, *layout)

    @property
    def laid_out(self):
        where = (self.offsets, self.items, self.present, self.starts, self.held, self.lists, self.words)
        return *where, self.hot, self.bits

    def records_with(self, q):
        return kernels.records_with(np.array(q, np.int64), len(q), *self.laid_out)


@settings(max_examples=examples(80))
@given(seeds, st.sampled_from([0, 0.5, 1]), st.booleans())
def test_the_records_that_hold_some_items_are_counted(seed, hot, filled):
    table = Table(seed, hot=hot, filled=filled)
    rng = np.random.default_rng(seed)
    assert table.held.tolist() == [support(table.rows, {item}) for item in range(len(table.held))]
    few = min(len(table.held), 8)
    for _ in range(30 if few else 0):
        q = sorted(rng.choice(few, int(rng.integers(1, few + 1)), replace=False).tolist())
        assert table.records_with(q) == support(table.rows, set(q))


@settings(max_examples=examples(80))
@given(seeds, st.sampled_from(["their own", "equal", "of two kinds"]))
def test_records_are_grouped_by_content_whatever_their_sums(seed, sums):
    table = Table(seed, hot=0)
    if sums != "their own":
        table.sums[:] = 0 if sums == "equal" else np.array([len(row) % 2 for row in table.rows], np.uint64)
    rows = np.random.default_rng(seed).permutation(len(table.rows))
    n = len(rows)
    slots = 2
    while slots < 2 * n:
        slots *= 2
    room = np.zeros(slots, np.int64)
    firsts, sizes, following = (np.full(n + 1, -7, np.int64) for _ in range(3))
    where = (table.offsets, table.items, table.present, table.sums)
    n_groups = kernels.group(rows, n, *where, room, firsts, sizes, following)
    assert not room.any()
    found = []
    for number in range(n_groups):
        at, members = int(firsts[number]), []
        while at >= 0:
            members.append(at)
            at = int(following[at])
        assert len(members) == sizes[number]
        found.append(members[::-1])  # the last one seen comes first
    expected = {}
    for at, row in enumerate(rows.tolist()):
        expected.setdefault(table.rows[row], []).append(at)
    assert found == list(expected.values())


@settings(max_examples=examples(100))
@given(st.lists(st.integers(-3, 9), max_size=40), st.integers(0, 3))
def test_places_come_in_the_order_of_their_keys(keys, more):
    places = np.full(len(keys) + more, -7, np.int64)
    kernels.sorted_places(np.array([*keys, *[-9] * more], np.int64), len(keys), places)
    assert places.tolist() == sorted(range(len(keys)), key=lambda place: keys[place]) + [-7] * more


# -- rules q + t → f --------------------------------------------------------------------------------------------------------


def second_kind(x, masks, weights, f_bit, rest, full_rest, all_with_t, rho, limit):
    """Return how many of x records may take t, and how many sets were examined."""
    num, den = rho.as_integer_ratio()
    counts = np.zeros(8, np.int64)
    holders = (np.array(masks, np.uint64), np.array(weights, np.int64))
    found = limits.second_kind(
        x, f_bit, np.uint64(rest), full_rest, all_with_t, len(masks), *holders, num, den, limit, counts
    )
    return found, int(counts[limits.NODES])


def most_by_trying(x, masks, weights, f_bit, rest, full_rest, all_with_t, rho):
    """Return the same number by trying every set of the other items and every number."""
    holders = [*zip(masks, weights, strict=True), (0, all_with_t - sum(weights))]
    known = {q for q in range(rest + 1) if q & ~rest == 0}
    for number in range(x, 0, -1):
        rules = [] if full_rest else [(number, number)]  # an item that no holder has: only those that take t hold it
        for q in known:
            held = [(mask, weight) for mask, weight in holders if mask & q == q]
            both = sum(weight for mask, weight in held if mask >> f_bit & 1)
            rules.append((both + number, sum(weight for _mask, weight in held) + number))
        if all(both <= rho * of_all for both, of_all in rules):
            return number
    return 0


@settings(max_examples=examples(300))
@given(seeds)
def test_all_rules_that_know_the_item_are_examined(seed):
    rng = np.random.default_rng(seed)
    bits = int(rng.integers(1, 7))
    f_bit = int(rng.integers(bits))
    rest = (2**bits - 1) & ~(1 << f_bit)
    rho = SHARES[rng.integers(2, len(SHARES))]
    masks = sorted(
        {int(m) for m in rng.integers(1, 2**bits, int(rng.integers(1, 24)))} | {int(1 << f_bit | rest & seed)}
    )
    weights = [
        int(w * (1 if mask >> f_bit & 1 else rng.integers(1, 30)))
        for mask, w in zip(masks, rng.integers(1, 4, len(masks)), strict=True)
    ]
    full = bool(rng.random() < 0.9)
    asked = (int(rng.integers(1, 12)), masks, weights, f_bit, rest, full, sum(weights) + int(rng.integers(0, 40)), rho)
    most, sets = second_kind(*asked, limit=10**6)
    assert most == most_by_trying(*asked)
    if sets:  # this limit is enough, one less is not
        assert second_kind(*asked, limit=sets) == (most, sets)
        assert second_kind(*asked, limit=sets - 1)[0] == -1


# -- rules q → t ----------------------------------------------------------------------------------------------------------


class FirstKind:
    """Holders of t that share items with a content, the records with these items, and lower bounds for all sets."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.rho = SHARES[rng.integers(2, len(SHARES))]
        self.table = Table(seed, hot=rng.choice([0, 0.5, 1]))
        items = len(self.table.held)
        self.k_items = np.arange(items)
        self.used = np.sort(rng.permutation(items)[: min(items, 6)])
        bits = len(self.used)
        self.is_sensitive = rng.random(items) < 0.4
        self.masks = sorted({int(m) for m in rng.integers(1, 2**bits, int(rng.integers(1, 16)))}) if bits else []
        self.weights = rng.integers(1, 4, len(self.masks)).tolist()
        self.x = int(rng.integers(1, 9))
        self.sets = [q for q in range(1, 2**bits) if any(mask & q == q for mask in self.masks)]
        self.slacks = [
            min(self.others(q) for q in self.sets if mask & q == q) - int(rng.integers(0, 3)) for mask in self.masks
        ]
        self.base = min((self.others(q) for q in self.sets), default=0) - int(rng.integers(0, 3))

    def labels(self, q):
        return {int(item) for bit, item in enumerate(self.used) if q >> bit & 1}

    def holders(self, q):
        return sum(weight for mask, weight in zip(self.masks, self.weights, strict=True) if mask & q == q)

    def others(self, q):
        """Return how many records hold these items and not t, after all x took it."""
        return support(self.table.rows, self.labels(q)) - self.holders(q) - self.x

    def room(self, q):
        """Return how many more may take t before these items reveal it."""
        return int(self.rho * support(self.table.rows, self.labels(q))) - self.holders(q)

    def found(self, limit=10**6):
        num, den = self.rho.as_integer_ratio()
        order = np.argsort(self.slacks, kind="stable")
        holders = (np.array(part)[order] for part in (np.array(self.masks, np.uint64), self.weights, self.slacks))
        counts = np.zeros(8, np.int64)
        bits = len(self.used)
        content = (self.k_items, self.used, bits, np.uint64(2**bits - 1), self.base, len(self.masks))
        most, forever = limits.first_kind(
            self.x, *content, *holders, num, den, limit, self.is_sensitive, counts, *self.table.laid_out
        )
        return int(most), bool(forever), int(counts[limits.NODES])


@settings(max_examples=examples(300))
@given(seeds)
def test_all_rules_that_infer_the_item_are_examined(seed):
    case = FirstKind(seed)
    if not case.masks:
        return
    most, forever, sets = case.found()
    assert most == max(0, min([case.x, *map(case.room, case.sets)]))
    if forever:  # some non-sensitive items, whose support cannot grow, have no room
        assert any(case.room(q) <= 0 and not case.is_sensitive[list(case.labels(q))].any() for q in case.sets)
    assert not (forever and most)
    assert case.found(limit=sets) == (most, forever, sets)
    assert case.found(limit=sets - 1)[:2] == (-1, False)


@pytest.mark.parametrize("depth", [7, 20, 62])
def test_holders_within_holders_are_followed_all_the_way_down(depth):
    items = [f"{k:02}" for k in range(depth)]
    case = object.__new__(FirstKind)
    case.table = Table.of(sv.from_lists([items[:k] for k in range(1, depth + 1) for _ in range(20)]))
    case.rho, case.x, case.base = Fraction(1, 2), 10, 0
    case.k_items = case.used = np.arange(depth)
    case.is_sensitive = np.zeros(depth, np.bool_)
    case.masks = [2**k - 1 for k in range(1, depth + 1)]
    case.weights, case.slacks = [1] * depth, [0] * depth
    most, forever, sets = case.found()
    assert (most, forever) == (9, False)  # one of the 20 records with all items already holds it
    assert sets >= depth
