"""Loops of ExactSwap, each by itself, against plain definitions: the sets of a record, and the items that could be moved."""

from itertools import pairwise

import numpy as np
import pytest

from setveil.kernels.threads import using_threads
from setveil.methods.itemsets import _exact_swap_kernels as kernels
from setveil.methods.itemsets import _exchange_kernels as exchange
from setveil.methods.itemsets import _heap_kernels as heaps
from setveil.methods.itemsets import _hiding, _tracking
from setveil.methods.itemsets import _tracking_kernels as tracking

from oracle import exact_swap as oracle
from support.hiding_cases import State, assert_pairs_are_counted, split

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),  # hashing, with the compiler off
    pytest.mark.plain_python,
]
seeds = pytest.mark.parametrize("seed", range(30))


# -- layout of records and sets ------------------------------------------------------------------------------------------


@seeds
def test_rows_are_laid_out(seed):
    state = State(seed)
    hiding, rows = state.hiding, state.rows
    lowest = min(state.levels)
    matter = {i for row in rows for i in row if oracle.support(rows, {i}) >= lowest} | set().union(*state.named)
    assert state.ranked().tolist() == sorted(matter)
    assert hiding.index.record_of.tolist() == [r for r, row in enumerate(rows) for _ in row]
    assert hiding.free[:-1].tolist() == [place for place, item in enumerate(state.items) if item not in matter]
    for code in matter:
        number = hiding.rank[code]
        held_by = hiding.index.held_by[hiding.starts[number] : hiding.starts[number + 1]]
        assert held_by.tolist() == [r for r, row in enumerate(rows) if code in row]
    assert_pairs_are_counted(state)


@seeds
def test_a_set_with_one_more_item_is_found(seed):
    state = State(seed)
    numbers = {one: number for number, one in enumerate(state.known)}
    assert set(numbers) == set(oracle.frequent(state.rows, min(state.levels)))
    rank = state.hiding.rank
    for one, number in numbers.items():
        for code in set(state.ranked().tolist()) - one:
            found = state.call(tracking.child, one=np.int64(number), item=rank[code])
            assert found == numbers.get(one | {code}, -1)
    for code in state.ranked():
        assert state.hiding.tracked.sets.tree.single[rank[code]] == numbers.get(frozenset([code]), -1)


@seeds
def test_the_sets_around_an_item_are_the_sets_of_the_record_with_this_item(seed):
    state = State(seed)
    for row in state.rows:
        for item in state.ranked():
            n_members = state.write_members(row - {item})
            n_found = state.call(tracking.sets_around, item=state.hiding.rank[item], n_members=n_members)
            found = [state.known[number] for number in state.room.found[:n_found]]
            assert len(found) == len(set(found))
            assert set(found) == oracle.sets_around(row, item, state.known)


@seeds
def test_the_sets_of_a_record_are_found_once_with_their_entries(seed):
    state = State(seed)
    for record, row in enumerate(state.rows):
        ranked = [code for code in sorted(row) if state.hiding.rank[code] >= 0]
        entries = state.rng.permutation(ranked)[: state.rng.integers(0, len(ranked) + 1)].astype(np.int32)
        entry_item = np.concatenate(([-7], entries, [-7])).astype(np.int32)
        ends = {"first": np.int64(1), "last": np.int64(1 + len(entries))}
        n_found = state.call(tracking.sets_of_record, record=np.int32(record), **ends, entry_item=entry_item)
        found = [state.known[number] for number in state.room.found[:n_found]]
        bits = state.room.found_bits[:n_found].tolist()
        held = [{int(code) for e, code in enumerate(entries) if word >> e & 1} for word in bits]
        assert len(found) == len(set(found))
        expected = oracle.sets_of_record(row, entries.tolist(), state.known)
        assert dict(zip(found, held, strict=True)) == expected
        assert all(word < 1 << len(entries) for word in bits)


@seeds
def test_members_are_the_ranked_items_except_two(seed):
    state = State(seed)
    gone = state.rng.random(len(state.items)) < 0.2
    state.items[gone] = -1
    for record, row in enumerate(state.rows):
        two = state.rng.integers(0, len(state.data.vocabulary), size=2).astype(np.int32)
        n_members = state.call(tracking.members_of, record=np.int32(record), left_out=two[0], also_left_out=two[1])
        expected = sorted(state.hiding.rank[[*(row - set(two.tolist()))]].tolist()) if row - set(two.tolist()) else []
        assert sorted(state.room.members[:n_members].tolist()) == [rank for rank in expected if rank >= 0]


@seeds
def test_sets_that_hold_a_named_itemset_are_marked(seed):
    state = State(seed)
    tracked = state.hiding.tracked
    assert {one for one, matters in zip(state.known, tracked.matters, strict=True) if matters} == oracle.can_stay(
        state.known, state.named
    )
    for s, row in zip(state.named, tracked.supersets.tolist(), strict=True):
        above = oracle.above(s, state.known, state.named)
        assert row[0] == len(above)
        assert [state.known[one] for one in row[1 : 1 + row[0]]] == [x for x in state.known if x in above][:3]


@pytest.mark.parametrize("levels", [[1], [3], [2, 5, 6], [4, 30], [50]])
def test_a_set_weighs_most_at_a_threshold_and_less_the_farther_above(levels):
    found = _tracking._weights(np.array(levels), 20)
    assert found == pytest.approx([float(oracle.weight(held, levels)) for held in range(21)])


# -- named itemsets ------------------------------------------------------------------------------------------------------


@seeds
def test_the_holders_of_each_named_itemset_are_found(seed):
    state = State(seed)
    hiding = state.hiding
    held = [sorted(one) for one in split(hiding.group_starts, hiding.group)]
    assert held == [[k for k, s in enumerate(state.named) if s <= row] for row in state.rows]
    assert hiding.before.tolist() == hiding.after.tolist() == [oracle.support(state.rows, s) for s in state.named]
    assert hiding.driving.tolist() == oracle.driving(state.named, state.targets.tolist())
    needed = zip(hiding.driving, hiding.before > state.targets, strict=True)
    assert hiding.is_open.tolist() == [bool(a and b) for a, b in needed]
    assert hiding.excess == oracle.excess(state.rows, state.named, state.targets.tolist())


def assert_entries_are_listed(state):
    hiding = state.hiding
    listed = {}
    for record, items in zip(
        hiding.entries.record[hiding.entries.starts[:-1]],
        split(hiding.entries.starts, hiding.entries.item),
        strict=True,
    ):
        assert 0 < len(items) <= kernels.MOST_ENTRIES
        listed.setdefault(int(record), []).extend(items)
    for first, last in zip(hiding.entries.starts[:-1], hiding.entries.starts[1:], strict=True):
        assert len(set(hiding.entries.record[first:last].tolist())) == 1
    expected = [oracle.entries(row, state.named, hiding.is_open) for row in state.rows]
    assert {record: sorted(items) for record, items in listed.items()} == {
        record: sorted(items) for record, items in enumerate(expected) if items
    }


@seeds
def test_entries_are_listed_once_per_record(seed):
    assert_entries_are_listed(State(seed))


@pytest.mark.parametrize("items", [61, 62, 63, 64, 124, 125, 150])
def test_a_record_with_more_entries_than_a_word_has_bits(items):
    """Pairs of adjacent items are named; some records hold all of them, some hold few."""
    labels = [f"i{j:03}" for j in range(items)]
    named = [[j, j + 1] for j in range(items - 1)]
    state = State(items, lists=[labels, labels[::-1], labels[:3], labels[-1:], []], named=named, levels=[3])
    state.hiding.targets[:] = 0
    state.hiding.is_open[:] = True
    state.hiding.excess = int(state.hiding.before.sum())
    state.hiding._list_entries()
    assert_entries_are_listed(state)
    assert len(state.hiding.entries.record) == 2 * items + 3
    assert_entries_are_weighed(state, swaps=True)
    state.hiding.hide(afi="cost", most=256, rng=np.random.default_rng(1))
    assert not any(oracle.support(state.rows, s) for s in state.named)


def assert_entries_are_weighed(state, *, swaps, room=None):
    hiding, rows, now = state.hiding, state.rows, state.now
    hiding.weigh(swaps=swaps)
    held = [oracle.support(rows, s) for s in state.named]
    fits = 0
    for entry, (record, item) in enumerate(zip(hiding.entries.record, hiding.entries.item, strict=True)):
        row = rows[record]
        closed = oracle.closes(row, item, state.named, held, hiding.targets.tolist())
        cost = oracle.loss(row, item, now, state.named, state.levels, alone=not swaps) / max(len(closed), 1)
        assert hiding.entries.keys[entry] == pytest.approx(float(cost))
        first, last = hiding.around.first[entry], hiding.around.last[entry]
        if last < 0:
            assert room is not None
            continue
        fits += last - first
        around = [state.known[number] for number in hiding.around.sets[first:last]]
        assert len(around) == len(set(around))
        assert set(around) == oracle.can_stay(oracle.sets_around(row, item, state.known), state.named)
    assert room is None or fits <= room


@seeds
@pytest.mark.parametrize("room", [None, 40, 6])
def test_entries_are_weighed_by_what_would_be_lost(seed, room, monkeypatch):
    if room:
        monkeypatch.setattr(_hiding, "AROUND", room)
    state = State(seed)
    with using_threads(1 + seed % 3):
        assert_entries_are_weighed(state, swaps=bool(seed % 2), room=room)


@seeds
def test_an_item_completes_a_named_itemset_or_does_not(seed):
    state = State(seed)
    rows, codes = state.rows, range(len(state.data.vocabulary))
    for record, row in enumerate(rows):
        for gets in set(codes) - row:
            for gives in row:
                found = state.call(
                    exchange.completes, record=np.int32(record), item=np.int32(gets), left_out=np.int32(gives)
                )
                assert found == oracle.completes(row, gets, gives, state.named)


# -- small loops ---------------------------------------------------------------------------------------------------------


@seeds
def test_a_heap_gives_entries_in_order(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 150))
    keys, ranks = rng.integers(0, 5, size=size) / 4, rng.permutation(size)
    heap = heaps.Heap(np.arange(size), keys.copy(), ranks.copy(), np.empty(size, dtype=np.int64))
    for at in range(size - 1, -1, -1):
        heaps.sift_down(at, size, heap)
    for _ in range(size // 2):
        entry = int(rng.integers(size))
        keys[entry] -= rng.integers(0, 4)
        heap.keys[heap.where[entry]] = keys[entry]
        heaps.sift_up(heap.where[entry], heap)
        assert heap.order[heap.where].tolist() == list(range(size))
        assert heap.keys[heap.where].tolist() == keys.tolist()
        assert heap.ranks[heap.where].tolist() == ranks.tolist()
    taken = []
    while size:
        taken.append(int(heap.order[0]))
        waiting = np.delete(keys, taken)
        assert heaps.second_key(size, heap) == min(waiting, default=np.inf)
        heaps.take_first(size, heap)
        assert heap.where[taken[-1]] == -1
        size -= 1
    assert taken == sorted(range(len(keys)), key=lambda entry: (keys[entry], ranks[entry]))


@seeds
def test_records_are_written_in_order_without_removed_items(seed):
    rng = np.random.default_rng(seed)
    rows = [np.sort(rng.choice(30, size=rng.integers(0, 9), replace=False)) for _ in range(6)]
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    was = np.concatenate(rows).astype(np.int32)
    items = was.copy()
    for place in np.flatnonzero(rng.random(len(items)) < 0.3):
        items[place] = 30 + place if rng.random() < 0.5 else -1
    for first, last in pairwise(offsets):
        if rng.random() < 0.5:
            items[first:last] = rng.permutation(items[first:last])
    new_offsets, new_items = np.zeros_like(offsets), np.full(len(items) + 1, -7, dtype=np.int32)
    rows = tracking.Rows(offsets, items, np.zeros(0, np.int32))
    kept = kernels.tidy(rows, was, new_offsets, new_items)
    assert split(new_offsets, new_items) == [sorted(code for code in row if code >= 0) for row in split(offsets, items)]
    assert kept == new_offsets[-1] == np.count_nonzero(items >= 0)
    assert (new_items[kept:] == -7).all()


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 6, 12, 30, 97])
def test_stepping_visits_every_place_once(length):
    places = np.arange(length) * 7 + 3
    strides = set()
    for seed in range(20):
        *found, stride = _hiding._with_step(np.append(places, 0), np.random.default_rng(seed)).tolist()
        assert found == places.tolist()
        assert sorted(stride * turn % max(length, 1) for turn in range(length)) == list(range(length))
        assert 1 <= stride <= max(length - 1, 1)
        strides.add(stride)
    assert len(strides) > 1 or length in (0, 1, 2, 3, 4, 6)
