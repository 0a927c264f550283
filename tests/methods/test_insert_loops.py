"""Kernels of Insert, each alone: records that hold some items now, and records of one content, however similar their hashes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.records.ragged import read_only
from setveil.methods.uncertainty import _limit_kernels as limits
from setveil.methods.uncertainty import _restoring
from setveil.methods.uncertainty import _sorting_kernels as sorting
from setveil.methods.uncertainty import _table_kernels as kernels
from setveil.methods.uncertainty._restoring import count_parts, lay_out, make_room

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
        self.data = data
        self.rows = [
            frozenset(data.items[a:b][present[a:b]].tolist())
            for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)
        ]
        self.laid_out = lay_out(data, present, np.zeros(len(is_hot), np.bool_), is_hot)

    def records_with(self, q, enough=10**6):
        return kernels.records_with(np.array(q, np.int64), len(q), enough, self.laid_out)


@settings(max_examples=examples(80))
@given(seeds, st.sampled_from([0, 0.5, 1]), st.booleans())
def test_the_records_that_hold_some_items_are_counted(seed, hot, filled):
    table = Table(seed, hot=hot, filled=filled)
    rng = np.random.default_rng(seed)
    held = table.laid_out.held
    assert held.tolist() == [support(table.rows, {item}) for item in range(len(held))]
    few = min(len(held), 8)
    for _ in range(30 if few else 0):
        q = sorted(rng.choice(few, int(rng.integers(1, few + 1)), replace=False).tolist())
        count = support(table.rows, set(q))
        assert table.records_with(q) == count
        for enough in range(1, count + 2):
            assert (table.records_with(q, enough) >= enough) == (count >= enough)


@settings(max_examples=examples(80))
@given(seeds, st.sampled_from([0, 2, 256]), st.integers(1, 4))
def test_the_records_that_hold_a_part_are_counted_for_all_parts_at_once(seed, few, enough):
    records = with_sensitive(seed, most_records=150 if seed % 2 else 16)[0]
    parts, sizes, _part_of = sv.from_lists([sorted(record) for record in records]).distinct()
    is_asked = np.random.default_rng(seed).random(parts.records) < 0.7
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_restoring, "FEW", few)
        counts = count_parts(parts, sizes, is_asked, enough)
    for part, asked, count in zip(map(set, parts.to_lists()), is_asked, counts.tolist(), strict=True):
        expected = support(records, part) if asked and part else -1
        assert count == expected or (few and expected >= enough and count == -1)


@settings(max_examples=examples(80))
@given(seeds, st.sampled_from(["their own", "equal", "of two kinds"]))
def test_records_are_grouped_by_content_whatever_their_sums(seed, sums):
    table = Table(seed, hot=0)
    if sums != "their own":
        table.laid_out.sums[:] = 0 if sums == "equal" else np.array([len(row) % 2 for row in table.rows], np.uint64)
    n = len(table.rows)
    rows = np.random.default_rng(seed).permutation(n)
    groups = make_room(table.data, n, 0).holding
    groups.members[:] = np.arange(n)
    n_groups = kernels.group(n, read_only(rows), table.laid_out, groups)
    assert not groups.slots.any()
    found = []
    for number in range(n_groups):
        at, members = int(groups.lasts[number]), []
        while at >= 0:
            members.append(at)
            at = int(groups.before[at])
        assert len(members) == groups.sizes[number]
        found.append(members[::-1])
    expected = {}
    for at, row in enumerate(rows.tolist()):
        expected.setdefault(table.rows[row], []).append(at)
    assert found == list(expected.values())


@settings(max_examples=examples(100))
@given(st.lists(st.integers(-3, 9), max_size=40), st.integers(0, 3))
def test_places_come_in_the_order_of_their_keys(keys, more):
    places = np.full(len(keys) + more, -7, np.int64)
    values = np.array([*keys, *[-9] * more], np.int64)
    sorting.sort_places(values, len(keys), places)
    assert places.tolist() == sorted(range(len(keys)), key=lambda place: keys[place]) + [-7] * more
    sorting.sort_values(values, len(keys))
    assert values.tolist() == sorted(keys) + [-9] * more


@settings(max_examples=examples(100))
@given(st.lists(st.integers(-3, 300), min_size=1, max_size=30), st.integers(-5, 400))
def test_holders_come_in_the_order_of_their_slack(slacks, most):
    search, sharing = searched(len(slacks), masks=range(len(slacks)), weights=range(len(slacks)), slacks=slacks)
    _search, ordered = searched(len(slacks))
    limits.order_by_slack(len(slacks), most, search.counts, sharing, ordered)
    assert not search.counts.any()
    assert ordered.masks.tolist() == ordered.weights.tolist()
    assert ordered.slacks.tolist() == [slacks[place] for place in ordered.weights]
    spread = min(max(slacks), most) - min(*slacks, most)
    bounded = slacks if spread >= 4 * len(slacks) + 64 else [min(slack, most) for slack in slacks]
    assert ordered.weights.tolist() == sorted(range(len(slacks)), key=lambda place: bounded[place])


def searched(size, *, used=0, masks=(), **columns):
    """Return room for a search in a content of `size` items of which `used` have a bit, and the holders that share some of them."""
    room = make_room(sv.from_lists([[f"{k:04}" for k in range(max(size, 1))]]), max(len(masks), size), 0)
    room.search.sizes[:] = size, used, len(masks)
    room.sharing.masks[: len(masks)] = np.array(list(masks), np.uint64)
    for name, column in columns.items():
        getattr(room.sharing, name)[: len(masks)] = list(column)
    return room.search, room.sharing


def rules_of(rho, limit):
    return limits.Rules(*rho.as_integer_ratio(), limit, True, False, False, 0)


# -- rules q + t → f --------------------------------------------------------------------------------------------------------


def second_kind(x, masks, weights, f_bit, rest, full_rest, all_with_t, rho, limit):
    """Return how many of x records may take t, and how many sets were examined."""
    bits = int(rest | 1 << f_bit).bit_count()
    search, sharing = searched(bits + (not full_rest), used=bits, masks=masks, weights=weights)
    found, sets = limits.second_kind(x, f_bit, all_with_t, search, sharing, rules_of(rho, limit))
    return found, int(sets)


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
        items = len(self.table.laid_out.held)
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
        order = np.argsort(self.slacks, kind="stable")
        bits = len(self.used)
        columns = {"masks": self.masks, "weights": self.weights, "slacks": self.slacks}
        ordered = {name: np.array(column)[order].tolist() for name, column in columns.items()}
        search, sharing = searched(len(self.k_items), used=bits, **ordered)
        search.items[: len(self.k_items)] = self.k_items
        search.used[:bits] = self.used
        table = self.table.laid_out._replace(is_sensitive=read_only(self.is_sensitive))
        most, forever, sets = limits.first_kind(self.x, self.base, search, sharing, table, rules_of(self.rho, limit))
        return int(most), bool(forever), int(sets)


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
