"""The tree edit distance: that of a general algorithm for trees, of the plain table over all cells, and of what a distance must be."""

import numpy as np
import pytest
from apted import APTED
from apted.helpers import Tree
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.mining.tree_distance import bounded_tree_distance, tree_distance

from oracle import tree_distance as oracle
from support.exhaustive import examples
from support.random_data import seeds

plain_python = pytest.mark.plain_python
BOTH_WAYS = pytest.mark.parametrize("prune", [False, True])


def drawn(rng, most_records, most_items=8):
    """Draw a few records: some empty, many equal, from sparse to dense."""
    items = int(rng.integers(1, most_items + 1))
    chance = rng.choice([0.15, 0.4, 0.8]) * rng.random(items) ** rng.choice([0, 1])
    pool = [
        [f"i{j:02}" for j in np.flatnonzero(rng.random(items) < chance)]
        for _ in range(rng.integers(1, most_records + 1))
    ]
    return [pool[rng.integers(len(pool))] for _ in range(rng.integers(0, most_records + 1))]


def distance(records, others, **ways):
    return tree_distance(sv.from_lists(records), sv.from_lists(others), **ways)


def test_as_a_general_algorithm_for_trees_finds():
    """1,200 pairs, against APTED."""
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(1200):
        records, others = drawn(rng, 5, 6), drawn(rng, 5, 6)
        trees = (Tree.from_text(oracle.bracket(side)) for side in (records, others))
        expected = APTED(*trees).compute_edit_distance()
        assert distance(records, others, prune=False) == distance(records, others, prune=True) == expected
        assert oracle.tree_distance(records, others) == expected
        found += expected > 0
    assert found > 900


@plain_python
@settings(max_examples=examples(60))
@given(seed=seeds)
def test_as_the_plain_table_says(seed):
    rng = np.random.default_rng(seed)
    records, others = drawn(rng, 12), drawn(rng, 12)
    expected = oracle.tree_distance(records, others)
    assert distance(records, others, prune=False) == expected
    assert distance(records, others, prune=True) == expected


@settings(max_examples=examples(25))
@given(seed=seeds)
def test_as_the_plain_table_says_of_many_records(seed):
    """More than a segment of columns and a block of rows, also where one side has many more."""
    rng = np.random.default_rng(seed)
    records, others = drawn(rng, 150, 14), drawn(rng, int(rng.choice([40, 150])), 14)
    expected = oracle.tree_distance(records, others)
    assert distance(records, others, prune=False) == expected
    assert distance(records, others, prune=True) == expected


@plain_python
@BOTH_WAYS
def test_small_cases_by_hand(prune):
    cases = [
        ([], [], 0),
        ([], [["a", "b"]], 2),
        ([[]], [], 0),
        ([["a"]], [["a"], []], 0),
        ([["a", "b"]], [["a", "c"]], 1),
        ([["a", "b", "c"]], [["b", "c"]], 1),
        ([["a", "b"], ["c"]], [["c"], ["a", "b"]], 0),
        ([["a"], ["b"]], [["a", "b"]], 2),  # b hangs below a: one node goes, one comes
        ([["a"]] * 5, [["a"]] * 3, 2),
        ([["a", "z"]], [["z"], ["a"]], 2),
        ([["b"], ["a", "c"]], [["b"], ["c"]], 3),  # {a, c} stands before {b}, {c} behind it: both pairs would cross
    ]
    for records, others, expected in cases:
        assert distance(records, others, prune=prune) == expected, (records, others)


def as_tuples(records):
    return sorted(tuple(sorted(set(record))) for record in records if record)


@plain_python
@settings(max_examples=examples(40))
@given(seed=seeds)
def test_it_is_a_distance(seed):
    """Symmetric, 0 for equal multisets of records alone, and no detour is shorter."""
    rng = np.random.default_rng(seed)
    one, two, three = (drawn(rng, 7, 5) for _ in range(3))
    if rng.random() < 0.3:
        two = [[], *one[::-1]]
    there = distance(one, two)
    assert there == distance(two, one)
    assert (there == 0) == (as_tuples(one) == as_tuples(two))
    assert distance(one, three) <= there + distance(two, three)
    assert bounded_tree_distance(sv.from_lists(one), sv.from_lists(two)).nodes == tuple(
        sum(map(len, side)) for side in (one, two)
    )


@BOTH_WAYS
@pytest.mark.parametrize("size", [7, 8, 64, 65, 267, 1000])
def test_long_records(size, prune):
    """Pairs that share all, most, half and none of many items."""
    rng = np.random.default_rng(size)
    whole = np.arange(2 * size)
    bases = [np.sort(rng.choice(whole, size, replace=False)) for _ in range(2)]
    picked = [bases[0], bases[0][rng.random(size) > 0.05], bases[1], bases[1][size // 2 :], whole[:: size // 3]]
    lists = [[f"{item:04}" for item in one] for one in picked]
    records, others = [lists[0], lists[2]], [lists[1], lists[3], lists[4]]
    assert distance(records, others, prune=prune) == oracle.tree_distance(records, others)


@pytest.mark.exhaustive
def test_records_of_5000_items():
    rng = np.random.default_rng(5)
    bases = [np.sort(rng.choice(9000, 5000, replace=False)) for _ in range(2)]
    records, others = ([[f"{item:04}" for item in base]] for base in bases)
    assert distance(records, others) == oracle.levenshtein(records[0], others[0])
    parts = [record[k::7] for k, record in enumerate(records * 3)]
    assert distance(records * 3, parts) == 3 * 5000 - sum(map(len, parts))


@BOTH_WAYS
def test_a_record_whose_places_fit_no_slot(prune):
    """More than 32,768 items."""
    rng = np.random.default_rng(6)
    whole = np.array([f"{item:05}" for item in range(33_000)])
    part = whole[rng.random(len(whole)) > 0.01]
    left, right = [whole.tolist(), ["00001"]], [part.tolist(), ["00001", "00002"]]
    assert distance(left, right, prune=prune) == len(whole) - len(part) + 1


@BOTH_WAYS
def test_many_long_records_that_fit_no_small_numbers(prune):
    """A segment of records of 540 items gains more than 16 bits hold."""
    rng = np.random.default_rng(8)
    pool = [[f"{item:03}" for item in np.flatnonzero(rng.random(600) < 0.9)] for _ in range(3)]
    records, others = ([pool[k] for k in rng.integers(0, 3, 70)] for _ in range(2))
    assert distance(records, others, prune=prune) == oracle.tree_distance(records, others)


@pytest.mark.parametrize(
    ("labels", "as_they_sort"),
    [(["9", "10", "100", "11"], int), (["9", "10", "100", "x"], str), (["9", "10", "011", "1"], str)],
)
def test_items_stand_in_the_order_of_all_labels(labels, as_they_sort):
    """By number only if every label of either data set is one, also one that the other data set alone holds."""
    rng = np.random.default_rng(3)
    differs = False
    for _ in range(60):
        records, others = ([[x for x in labels[:k] if rng.random() < 0.5] for _ in range(6)] for k in (3, 4))
        others.append([labels[3]])
        sides = ([[as_they_sort(x) for x in record] for record in side] for side in (records, others))
        expected = oracle.tree_distance(*sides)
        assert distance(records, others) == distance(others, records) == expected
        other = str if as_they_sort is int else (lambda x: int(x) if x != "x" else 10**6)
        sides = ([[other(x) for x in record] for record in side] for side in (records, others))
        differs |= oracle.tree_distance(*sides) != expected
    assert differs


def test_a_label_that_no_record_holds_does_not_matter():
    codes, offsets = np.array([0, 1, 1]), np.array([0, 2, 3])
    data = sv.Transactions.from_codes(offsets, codes, ("9", "10", "a label"))
    assert tree_distance(data, sv.from_lists([["9", "10"], ["10"]])) == 0
    assert tree_distance(data, sv.from_lists([["10"], ["9"]])) == oracle.tree_distance([[9, 10], [10]], [[10], [9]])


@settings(max_examples=examples(30))
@given(seed=seeds, order=st.integers(0, 99))
def test_a_drawn_order_is_one_order_for_both(seed, order):
    rng = np.random.default_rng(seed)
    records, others = drawn(rng, 10), drawn(rng, 10)
    labels = sorted({item for side in (records, others) for record in side for item in record})
    place = {labels[at]: rank for rank, at in enumerate(np.random.default_rng(order).permutation(len(labels)))}
    sides = ([[place[item] for item in record] for record in side] for side in (records, others))
    found = bounded_tree_distance(sv.from_lists(records), sv.from_lists(others), order=np.random.default_rng(order))
    assert found.value == oracle.tree_distance(*sides)
