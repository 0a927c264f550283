"""Queries of both kinds: those of the domain are the metric's, those of records agree with a slow twin."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.presence.metrics.range_queries import RangeQueryError
from setveil.presence.tables.attributes import NumericAttribute, OrderedAttribute
from setveil.presence.tables.joined_table import JoinedTable
from setveil.presence.tables.schema import Schema
from setveil.reproduce.adult import adult_originals
from setveil.reproduce.presence_lines import DOMAIN, EVEN
from setveil.reproduce.presence_measuring import keys_of, one_group
from setveil.reproduce.presence_queries import EvenScale, Questions, common_cells, drawn_by_records

from oracle.even_queries import expected_records, records_that_meet
from reproduce.tiny import write_tiny_adult
from support.exhaustive import examples

CELLS = (2, 5, 30)
EACH = 1 << 19


def schema_of(cells=CELLS):
    lines = [NumericAttribute(f"n{place}", Decimal(0), Decimal(one - 1), Decimal(1)) for place, one in enumerate(cells)]
    return Schema((lines[0],), tuple(lines[1:]), OrderedAttribute("s", ("x", "y")))


@st.composite
def tables(draw):
    """Draw records that are skewed, and groups of two parts of one attribute."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    records = draw(st.integers(1, 60))
    codes = np.column_stack([np.minimum(rng.geometric(0.4, records) - 1, one - 1) for one in CELLS]).astype(np.int64)
    place = draw(st.integers(0, len(CELLS) - 1))
    cut = draw(st.integers(1, CELLS[place] - 1))
    lows, highs = np.zeros((2, 3), np.int32), np.tile(np.array(CELLS, np.int32), (2, 1))
    highs[0, place] = lows[1, place] = cut
    below = int((codes[:, place] < cut).sum())
    sizes = np.array([below, records - below])
    kept = sizes > 0
    counts = np.column_stack((sizes, np.zeros_like(sizes)))
    return codes, JoinedTable(schema_of(), lows[kept], highs[kept], counts[kept]), rng


@settings(deadline=None, max_examples=examples(60))
@given(tables(), st.sampled_from([0.05, 0.1, 0.3, 1.0]))
def test_estimates_on_an_even_scale_agree_with_a_slow_twin(made, selectivity):
    codes, table, rng = made
    schema = schema_of()
    drawn = drawn_by_records(schema, codes, 8, 3, selectivity, rng)
    scale = EvenScale.of(schema, codes)
    found = scale.queries(drawn).estimated(scale.table(table))
    counted = drawn.counted(np.column_stack((codes, np.zeros(len(codes), np.int64))))
    each = EACH // len(codes)
    weights = [
        (1 + each * np.bincount(codes[:, place], minlength=one)).tolist()
        for place, one in enumerate(table.highs.max(0))
    ]
    groups = [
        ([*zip(low, high, strict=True)], records)
        for low, high, records in zip(
            table.lows.tolist(), table.highs.tolist(), table.counts.sum(axis=1).tolist(), strict=True
        )
    ]
    for number in range(8):
        rows = drawn.query == number
        query = {
            int(place): (int(low), int(high))
            for place, low, high in zip(drawn.place[rows], drawn.low[rows], drawn.high[rows], strict=True)
        }
        assert len(query) == 3
        assert found[number] == pytest.approx(float(expected_records(query, groups, weights)), rel=1e-9)
        assert counted[number] == records_that_meet(query, codes.tolist())


def test_ranges_hold_the_share_of_records_that_was_asked_for_where_cells_are_fine_and_attributes_independent():
    rng = np.random.default_rng(0)
    cells = (4_000, 5_000, 6_000, 7_000)
    codes = np.column_stack([np.minimum(rng.geometric(0.002, 20_000) - 1, one - 1) for one in cells]).astype(np.int64)
    for selectivity in (0.1, 0.3):
        drawn = drawn_by_records(schema_of(cells), codes, 2_000, 3, selectivity, np.random.default_rng(1))
        held = drawn.counted(np.column_stack((codes, np.zeros(len(codes), np.int64))))
        assert held.mean() / len(codes) == pytest.approx(selectivity, rel=0.03)


def test_a_cell_is_never_cut_even_if_it_holds_more_than_was_asked_for():
    codes = np.array([[0, 0, 0]] * 9 + [[1, 4, 20]], np.int64)
    drawn = drawn_by_records(schema_of(), codes, 50, 3, 0.05, np.random.default_rng(1))
    held = drawn.counted(np.column_stack((codes, np.zeros(len(codes), np.int64))))
    assert set(held.tolist()) <= {0, 1, 9, 10}
    assert held.mean() > 0.05 * len(codes)


@pytest.mark.parametrize("theta", ["5%", "30%"])
def test_domain_queries_are_those_of_the_metric(tmp_path, theta):
    originals = adult_originals(write_tiny_adult(tmp_path), common=90, only_a=180, only_b=90)
    table = one_group(originals)
    measured = RangeQueryError(selectivity=theta, queries=300)(originals, table)
    assert Questions(originals, DOMAIN, theta, 300).error(table) == pytest.approx(measured.value)
    assert measured.details["error-of-one-group"] == pytest.approx(measured.value)


def test_one_group_knows_single_attributes_on_an_even_scale(tmp_path):
    originals = adult_originals(write_tiny_adult(tmp_path), common=90, only_a=180, only_b=90)
    codes = common_cells(originals)
    drawn = drawn_by_records(originals.schema, codes, 100, 1, 0.3, np.random.default_rng(2))
    scale = EvenScale.of(originals.schema, codes)
    true = drawn.counted(np.column_stack((codes, np.zeros(len(codes), np.int64))))
    assert scale.queries(drawn).estimated(scale.table(one_group(originals))) == pytest.approx(true, rel=0.01)
    even, domain = (Questions(originals, kind, "10%", 300).error(one_group(originals)) for kind in (EVEN, DOMAIN))
    assert even < domain


def test_keys_differ_by_seed_and_side():
    keys = [key for seed in (0, 1, 2) for key in (keys_of(seed).a, keys_of(seed).b)]
    assert len(set(keys)) == 6
    assert {len(key) for key in keys} == {32}
