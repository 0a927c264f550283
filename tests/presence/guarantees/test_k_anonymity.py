"""k-anonymity of joined tables, counted record by record."""

import random
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.base.verdict import MOST_WITNESSES
from setveil.presence.guarantees.k_anonymity import overlapping

from support.exhaustive import examples
from support.joined_cases import drawn, joined, table_two

seeds = st.integers(min_value=0, max_value=2**32)


def counted(records, k, least):
    """Count the violations, a record at a time and a pair at a time."""
    values = defaultdict(list)
    for a, b, value in records:
        values[(*a, *b)].append(value)
    found = Counter()
    for held in values.values():
        found["too-few-records"] += len(held) < k
        found["too-few-sensitive-values"] += len(set(held)) < least
    for one, other in combinations(values, 2):
        found["groups-overlap"] += all(x[0] < y[1] and y[0] < x[1] for x, y in zip(one, other, strict=True))
    return {kind: number for kind, number in found.items() if number}


@settings(max_examples=examples(200), deadline=None)
@given(seed=seeds, k=st.integers(1, 6), least=st.integers(1, 3))
def test_it_counts_what_a_person_counts(seed, k, least):
    case = drawn(seed, splits=6)
    rng = random.Random(seed)  # noqa: S311 - test data
    records = list(case.records)
    if rng.random() < 0.5:  # boxes at random, which overlap
        for place in range(len(records)):
            if rng.random() < 0.3:
                boxes = tuple(
                    tuple(sorted(rng.sample(range(x.cells + 1), 2)) for x in side)
                    for side in (case.schema.a, case.schema.b)
                )
                records[place] = (*(tuple(map(tuple, box)) for box in boxes), records[place][2])
    verdict = sv.KAnonymity(k=k, l=least).check(joined(case.schema, records))
    assert verdict.violations == counted(records, k, least)
    assert bool(verdict) == (not verdict.violations)
    assert verdict.counts["records"] == len(records)
    for kind, number in verdict.violations.items():
        assert sum(witness.kind == kind for witness in verdict.witnesses) == min(number, MOST_WITNESSES)


@settings(max_examples=examples(200), deadline=None)
@given(seed=seeds)
def test_the_sweep_finds_the_pairs_that_a_comparison_of_all_finds(seed):
    rng = np.random.default_rng(seed)
    groups, width, cells = rng.integers(0, 40), rng.integers(1, 4), rng.integers(1, 9)
    lows = rng.integers(0, cells, size=(groups, width))
    highs = lows + 1 + rng.integers(0, cells, size=(groups, width))
    expected = {
        (one, other)
        for one, other in combinations(range(groups), 2)
        if np.all((lows[one] < highs[other]) & (lows[other] < highs[one]))
    }
    count, pairs = overlapping(lows, highs, most=10_000)
    assert count == len(pairs) == len(expected)
    assert set(pairs) == expected
    assert overlapping(lows, highs, most=1) == (count, pairs[:1])


def test_pairs_are_found_in_blocks_too(monkeypatch):
    monkeypatch.setattr("setveil.presence.guarantees.k_anonymity._PAIRS_AT_ONCE", 7)
    lows = np.array([[0, 0]] * 9 + [[5, 5]] * 3)
    assert overlapping(lows, lows + 1, most=100)[0] == 9 * 8 // 2 + 3


def test_thousands_of_groups_are_settled_quickly():
    grid = np.stack(np.meshgrid(*[np.arange(20)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    assert overlapping(grid, grid + 1, most=10) == (0, [])
    grid[-1] -= 1
    assert overlapping(grid, grid + 1, most=10) == (1, [(7999 - 421, 7999)])


def test_one_group_of_two_below_k_is_enough():
    table = table_two().table
    counts = table.counts.copy()
    counts[2, 1] = 0
    for order in ([0, 1, 2], [2, 1, 0]):
        one_short = replace(table, lows=table.lows[order], highs=table.highs[order], counts=counts[order])
        found = sv.KAnonymity(k=2).check(one_short)
        assert found.violations == {"too-few-records": 1}
        assert found.witnesses[0].detail == "has 1 record; k = 2 requires at least 2"


def test_groups_with_the_same_intervals_count_as_one():
    table = table_two().table
    halves = [0, 1, 2, 0, 1, 2]
    counts = np.zeros((6, 2), dtype=np.int64)
    counts[:3, 0], counts[3:, 1] = table.counts[:, 0], table.counts[:, 1]
    parted = replace(table, lows=table.lows[halves], highs=table.highs[halves], counts=counts)
    assert sv.KAnonymity(k=2, l=2).check(parted)


def test_a_table_without_groups_holds_and_other_forms_are_refused():
    table = table_two().table
    assert sv.KAnonymity().check(replace(table, lows=table.lows[:0], highs=table.highs[:0], counts=table.counts[:0]))
    with pytest.raises(sv.BadParameter, match=r"^k-anonymity applies to a joined table only, but this is "):
        sv.KAnonymity().check(sv.from_lists([["a"]]))
