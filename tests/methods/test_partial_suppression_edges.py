"""Partial suppression at its edges: no or only sensitive items, ρ of 0 and 1, long records, parts, being stopped."""

import time
from fractions import Fraction

import numpy as np
import pytest

import setveil as sv
from setveil.data.records.ragged import read_only
from setveil.kernels.control import CONTROL_WIDTH, STOP
from setveil.kernels.threads import using_threads
from setveil.methods.uncertainty.partial_suppression import LEAST_RECORDS, PartialSuppression, _Part

from oracle import partial_suppression as oracle
from oracle import uncertainty
from support.random_data import as_sets, make

EVERY_OBJECTIVE = pytest.mark.parametrize("objective", ["mine", "dist"])


def apply(data, seed=0, threads=None, **chosen):
    method = PartialSuppression(**{"rho": 0.5, "parts": 1, "restore": False} | chosen)
    with using_threads(threads):
        return method.apply(data, rng=np.random.default_rng(seed)).published, method


def assert_safe(published, method):
    found = uncertainty.unsafe_items(
        as_sets(published), set(method.sensitive), Fraction(str(method.rho)), method.include_empty, method.knows
    )
    assert found == set()


def some_data(seed=4):
    return make(seed, records=60, items=12, hot=0.7)[0]


# -- ρ of 0 and 1, and which items are sensitive ----------------------------------------------------------------------


@EVERY_OBJECTIVE
@pytest.mark.parametrize("knows", ["subset", "whole"])
def test_with_rho_1_nothing_is_suppressed(objective, knows):
    data = some_data()
    published, _method = apply(data, sensitive=data.vocabulary, rho=1, objective=objective, knows=knows)
    assert published == data


@EVERY_OBJECTIVE
def test_with_rho_0_every_sensitive_occurrence_is_suppressed_and_nothing_else(objective):
    data = some_data()
    sensitive = set(data.vocabulary[::2])
    published, _method = apply(data, sensitive=sorted(sensitive), rho=0, objective=objective)
    assert as_sets(published) == [record - sensitive for record in as_sets(data)]


@EVERY_OBJECTIVE
def test_with_rho_0_a_sensitive_item_may_be_the_only_one_without_include_empty(objective):
    data = sv.from_lists([["s"], ["s"], ["s", "x"], ["x", "y"]])
    published, method = apply(data, sensitive=["s"], rho=0, objective=objective, include_empty=False)
    assert_safe(published, method)
    assert as_sets(published)[:2] == [{"s"}, {"s"}]
    assert len(as_sets(published)[2]) == 1


@EVERY_OBJECTIVE
@pytest.mark.parametrize("rho", [0, 0.5, 1])
def test_without_a_sensitive_item_nothing_is_suppressed(objective, rho):
    data = some_data()
    assert apply(data, sensitive=[], rho=rho, objective=objective)[0] == data


@EVERY_OBJECTIVE
@pytest.mark.parametrize("include_empty", [True, False])
@pytest.mark.parametrize("knows", ["subset", "whole"])
def test_all_items_can_be_sensitive(objective, include_empty, knows):
    data = some_data()
    chosen = {"objective": objective, "include_empty": include_empty, "knows": knows, "rho": "1/3"}
    published, method = apply(data, sensitive=data.vocabulary, **chosen)
    assert_safe(published, method)
    assert published.occurrences


@EVERY_OBJECTIVE
@pytest.mark.parametrize("include_empty", [True, False])
def test_a_sensitive_item_can_be_in_every_record(objective, include_empty):
    lists = [["s", *record] for record in some_data().to_lists()]
    data = sv.from_lists(lists)
    published, method = apply(data, sensitive=["s"], rho=0.7, objective=objective, include_empty=include_empty)
    assert_safe(published, method)
    left = published.supports[published.code_of["s"]]
    assert 0 < left < data.records
    assert not include_empty or left <= 0.7 * data.records


@pytest.mark.parametrize(
    "case", [[], [[]], [[], []], [["s"]], [["s"], []], [["x"]], [["s", "x"]], [[], ["s", "t"], []]]
)
@pytest.mark.parametrize("include_empty", [True, False])
@pytest.mark.parametrize("knows", ["subset", "whole"])
def test_tiny_data(case, include_empty, knows):
    data = sv.from_lists(case)
    for parts in (0, 1, 7):
        sensitive = [item for item in data.vocabulary if item != "x"]
        published, method = apply(data, sensitive=sensitive, include_empty=include_empty, knows=knows, parts=parts)
        assert_safe(published, method)
        assert published.records == data.records


def test_attackers_who_know_whole_records_infer_no_more():
    """Half of the records with x and y hold s, but all of those with x alone."""
    data = sv.from_lists([["x", "s"]] * 6 + [["x", "y"]] * 12)
    for knows, left in (("subset", 6), ("whole", 3)):
        published, method = apply(data, sensitive=["s"], include_empty=False, knows=knows)
        assert_safe(published, method)
        assert published.supports[published.code_of["s"]] == left


# -- long records ------------------------------------------------------------------------------------------------------


@EVERY_OBJECTIVE
@pytest.mark.parametrize("items", [500, 5000])
@pytest.mark.parametrize("company", ["alone", "among others"])
def test_long_records_are_handled(objective, items, company):
    """There are 2^500 and 2^5000 sets of items that an attacker may know."""
    everything = [f"i{k:04}" for k in range(items)]
    rng = np.random.default_rng(items)
    others = [] if company == "alone" else [rng.choice(everything, 40, replace=False).tolist() for _ in range(300)]
    data = sv.from_lists([everything, *others])
    began = time.perf_counter()
    published, method = apply(data, sensitive=everything[::3], rho=0.7, objective=objective, include_empty=False)
    assert method.guarantee.check(published, original=data)
    assert published.occurrences
    assert time.perf_counter() - began < 120


# -- parts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "items", "length", "t_max", "parts"),
    [
        (88_162, 16_470, 10, 300, 32),
        (88_162, 16_470, 10, 500, 16),
        (40_000, 2_000, 5, 500, 2),
        (40_000, 2_000, 5, 640, 1),
    ],
)
def test_records_are_split_until_the_papers_estimate_is_low_enough(records, items, length, t_max, parts):
    """The case of 88,162 records and 16,470 items is retail; with its mean of 10.3 items, not 10, the paper also has 32 parts at 300."""
    rng = np.random.default_rng(1)
    codes = np.sort(
        rng.permuted(np.arange(length * (items // length)).reshape(length, -1), axis=1)[:, : items // length].T
    )
    table = codes[np.arange(records) % len(codes)]
    data = sv.Transactions(
        np.arange(records + 1) * length,
        table.ravel().astype(np.int32),
        tuple(f"i{k:05}" for k in range(codes.max() + 1)),
    )
    method = PartialSuppression(sensitive=[], rho=0.5, t_max=t_max)
    cost = records * 2.0**length / len(data.vocabulary)
    assert cost / parts <= t_max < 2 * cost / parts or parts == 1
    assert method.number_of_parts(data) == parts


@pytest.mark.parametrize("seed", range(40))
def test_the_number_of_parts_equals_the_oracles(seed):
    rng = np.random.default_rng(seed)
    records = int(rng.integers(1, 6 * LEAST_RECORDS))
    data, _categories = make(seed, records=records, items=int(rng.integers(3, 12)))
    method = PartialSuppression(sensitive=[], rho=0.5, t_max=int(rng.integers(1, 4000)))
    assert method.number_of_parts(data) == oracle.number_of_parts(as_sets(data), method.t_max, LEAST_RECORDS)


def test_long_records_do_not_make_tiny_parts():
    data = sv.from_lists([[f"i{k}" for k in range(100)]] * 5000)
    assert PartialSuppression(sensitive=[], rho=0.5).number_of_parts(data) == 4
    assert PartialSuppression(sensitive=[], rho=0.5, parts=6).number_of_parts(data) == 6
    assert PartialSuppression(sensitive=[], rho=0.5, parts=9000).number_of_parts(data) == 5000


@pytest.mark.parametrize("records", [2, 7, 50])
@pytest.mark.parametrize("include_empty", [True, False])
def test_every_record_can_be_a_part(records, include_empty):
    data, _categories = make(records, records=records, items=8)
    sensitive = data.vocabulary[::2]
    published, method = apply(data, sensitive=sensitive, parts=records, rho=0.9, include_empty=include_empty)
    assert_safe(published, method)
    for row, record in zip(as_sets(published), as_sets(data), strict=True):
        assert row <= record
        assert len(row) <= 1 or not row & set(sensitive)


# -- being stopped -----------------------------------------------------------------------------------------------------


def test_it_stops_on_request():
    data = some_data()
    method = PartialSuppression(sensitive=data.vocabulary[::2], rho=0.3, knows="whole", include_empty=False)
    part = _Part(method, data, read_only(method.sensitive.among(data)), np.uint64(5))
    control = np.zeros(CONTROL_WIDTH, np.int64)
    control[STOP] = 1
    part.settle(control)
    assert not part.gone.any()
    control[STOP] = 0
    part.settle(control)
    assert part.gone.any()
    assert control[0] == data.records
