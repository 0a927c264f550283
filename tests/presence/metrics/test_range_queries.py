"""Errors of range queries against counting by hand."""

import json
import random
import time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.presence.metrics import range_queries as joined_queries
from setveil.presence.metrics.range_queries import RangeQueries

from oracle import range_queries as oracle
from support.exhaustive import examples
from support.joined_cases import Case, drawn, table_two
from support.program import HANG_SECONDS

seeds = st.integers(min_value=0, max_value=2**32)


def people(case):
    return [(*case.a[one], *case.b[one][0], case.b[one][1]) for one in case.ids if one in case.a and one in case.b]


def records(case):
    return [[*a, *b, (value, value + 1)] for a, b, value in case.records]


def one_group(case):
    whole = [(0, one.cells) for one in case.schema.attributes]
    return [[*whole, (value, value + 1)] for *_cells, value in people(case)]


def as_sets(asked):
    queries = [{} for _ in range(asked.count)]
    for query, place, low, high in zip(asked.query, asked.place, asked.low, asked.high, strict=True):
        queries[query].setdefault(int(place), set()).update(range(low, high))
    return queries


def agrees(case, measured, queries):
    errors = oracle.errors(people(case), records(case), queries)
    assert measured.details["queries-that-nobody-meets"] == len(queries) - len(errors)
    if not errors:
        assert measured.value is None
        assert measured.reason == "no common user meets any query"
        return
    assert measured.value == pytest.approx(float(sum(errors) / len(errors)), rel=1e-9, abs=1e-9)
    assert measured.details["max"] == pytest.approx(float(max(errors)), rel=1e-9, abs=1e-9)
    blunt = oracle.errors(people(case), one_group(case), queries)
    assert measured.details["error-of-one-group"] == pytest.approx(float(sum(blunt) / len(blunt)), rel=1e-9, abs=1e-9)


@settings(max_examples=examples(150), deadline=None)
@given(seed=seeds, attributes=st.integers(1, 5), share=st.sampled_from(["1%", "1/10", "0.3", "1"]))
def test_random_queries_give_what_the_oracle_gives(seed, attributes, share):
    case = drawn(seed, splits=6)
    metric = sv.RangeQueryError(selectivity=share, attributes=attributes, queries=20, seed=seed)
    agrees(case, metric(case.originals, case.table), as_sets(metric._queries(case.schema)))


def any_predicates(case, rng):
    found, sets = [], []
    attributes = (*case.schema.attributes, case.schema.sensitive)
    for _ in range(rng.randint(1, 6)):
        query, wanted = {}, {}
        for place in rng.sample(range(len(attributes)), rng.randint(1, len(attributes))):
            one = attributes[place]
            if isinstance(one, sv.NumericAttribute):
                low, high = sorted(rng.sample(range(one.cells + 1), 2))
                edges = [one.low + one.step * low, one.low + one.step * high]
                kind = rng.choice([str, float, Decimal])
                query[one.name] = [None if low == 0 and rng.random() < 0.5 else kind(edges[0]), kind(edges[1])]
                wanted[place] = set(range(low, high))
            else:
                wanted[place] = set(rng.sample(range(one.cells), rng.randint(1, one.cells)))
                query[one.name] = [one.values[cell] for cell in wanted[place]]
        found.append(query)
        sets.append(wanted)
    return found, sets


@settings(max_examples=examples(150), deadline=None)
@given(seed=seeds)
def test_given_queries_give_what_the_oracle_gives(seed):
    case = drawn(seed, splits=6)
    found, sets = any_predicates(case, random.Random(seed))  # noqa: S311 - test data
    agrees(case, sv.RangeQueryError(predicates=found)(case.originals, case.table), sets)


def test_blocks_make_no_difference(monkeypatch):
    case = drawn(11, splits=8)
    metric = sv.RangeQueryError(queries=300)
    whole = metric(case.originals, case.table)
    monkeypatch.setattr(joined_queries, "_NUMBERS_AT_ONCE", 64)
    monkeypatch.setattr(joined_queries, "_USERS_AT_ONCE", 3)
    assert metric(case.originals, case.table) == whole


def test_the_example_of_the_paper():
    """5 records of income 10-20K, asked for 10-12K: 20 % of the interval, so 1 record is expected."""
    income = sv.NumericAttribute("income", Decimal(0), Decimal(29), Decimal(1))
    schema = sv.Schema((income,), (sv.OrderedAttribute("plan", ("p", "q")),), sv.OrderedAttribute("title", ("X", "Y")))
    ids = [str(number) for number in range(6)]
    box = (((10, 20),), ((0, 2),))
    a, b = {one: (10 + int(one),) for one in ids[:5]}, dict.fromkeys(ids[:5], ((0,), 0))
    case = Case(schema, ids, a, b, dict.fromkeys(ids, 0), [box], [(*box, 0)] * 5)
    measured = sv.RangeQueryError(predicates=[{"income": [10, 12]}])(case.originals, case.table)
    assert measured.value == pytest.approx(0.5)  # there are 2, and 1 is expected
    assert measured.details["selectivity"] == pytest.approx(2 / 30)
    exact = sv.RangeQueryError(predicates=[{"title": ["X"]}, {"title": ["Y"]}])(case.originals, case.table)
    assert exact.value == 0
    assert exact.details["queries-that-nobody-meets"] == 1


@settings(max_examples=examples(50), deadline=None)
@given(seed=seeds, share=st.sampled_from([0.05, 0.1, 0.2, 0.3]))
def test_random_queries_cover_their_share_of_the_domain(seed, share):
    sides = [
        tuple(
            sv.NumericAttribute(f"{side}{place}", Decimal(0), Decimal(cells), Decimal(1))
            for place, cells in enumerate(many)
        )
        for side, many in (("a", (1, 72, 99)), ("b", (15, 40, 6)))
    ]
    schema = sv.Schema(*sides, sv.OrderedAttribute("title", ("X", "Y")))
    asked = RangeQueries.drawn(schema, 200, 3, share, np.random.default_rng(seed))
    assert np.array_equal(np.bincount(asked.query), np.full(200, 3))
    assert len({*zip(asked.query.tolist(), asked.place.tolist(), strict=True)}) == 600
    cells = np.array([one.cells for one in schema.attributes])
    assert np.all((asked.low >= 0) & (asked.low < asked.high) & (asked.high <= cells[asked.place]))
    covered = asked.selectivity(schema)
    # The attribute with the most cells makes up for the others, to within half a cell of it: 8 of 41 at the worst.
    assert np.all(covered < share * 1.5)
    assert np.all(covered > share * 0.5)
    assert abs(covered.mean() - share) < 0.1 * share


def test_ten_thousand_queries_of_adult_size_are_no_trouble():
    rng = np.random.default_rng(1)
    many = [72, 7, 99, 15, 15, 6, 13, 5, 4, 1, 99, 99, 98, 40]
    attributes = [sv.NumericAttribute(f"x{n}", Decimal(0), Decimal(cells), Decimal(1)) for n, cells in enumerate(many)]
    schema = sv.Schema(tuple(attributes[:9]), tuple(attributes[9:]), sv.OrderedAttribute("title", ("X", "Y")))
    users, groups = 6000, 500
    codes = np.column_stack([rng.integers(0, one.cells, users) for one in attributes]).astype(np.int32)
    ids = pa.array([str(number) for number in range(users)], pa.large_string())
    sides = (
        sv.ProviderTable(ids, codes[:, :9]),
        sv.ProviderTable(ids, codes[:, 9:], rng.integers(0, 2, users)),
    )
    originals = sv.Originals(schema, sv.Population(ids), *sides)
    cells = np.array([one.cells for one in attributes])
    lows = np.minimum((rng.random((groups, 14)) * cells).astype(np.int32), cells - 1).astype(np.int32)
    highs = np.minimum(lows + 1 + (rng.random((groups, 14)) * cells).astype(np.int32), cells).astype(np.int32)
    table = sv.JoinedTable.arranged(schema, lows, highs, np.full((groups, 2), 6))
    began = time.perf_counter()
    assert sv.RangeQueryError()(originals, table).value > 0
    assert time.perf_counter() - began < HANG_SECONDS


def test_a_file_of_queries(tmp_path):
    case = table_two()
    path = tmp_path / "queries.jsonl"
    path.write_text('{"income": [0, 40], "title": ["X movie"]}\n{"time": [null, 19.0]}\n{"time": ["12.5", null]}\n')
    read = sv.RangeQueryError(predicates=str(path))
    assert read.predicates == sv.read_predicates(path)
    assert sv.RangeQueryError(**json.loads(read.model_dump_json())) == read
    assert "predicates" not in read.public_parameters()
    measured = read(case.originals, case.table)
    assert measured.details["queries-that-nobody-meets"] == 0
    assert read.predicates.ranges(case.schema) == [{0: ((0, 8),), 2: ((0, 1),)}, {1: ((0, 38),)}, {1: ((25, 48),)}]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty; expected one query per line"),
        ("{}\n", "line 1: a query is an empty object"),
        ('{"a": [1, 2]}\n[]\n', "line 2: a query is a list"),
        ('{"a": "x"}\n', "line 1: the condition on 'a' is not a list"),
        ('{"a": []}\n', "line 1: the condition on 'a' is not a list"),
        ('{"a": [true]}\n', "line 1: the condition on 'a' contains true or false"),
        ('{"a": [1}\n', "line 1: is not JSON"),
        ('{"a": [1, 2], "a": [1, 2]}\n', "line 1: names a field twice"),
    ],
)
def test_faults_of_a_file_of_queries_are_said_with_their_line(tmp_path, content, sentence):
    path = tmp_path / "queries.jsonl"
    path.write_text(content)
    with pytest.raises(sv.BadData, match=sentence):
        sv.read_predicates(path)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"size": ["X"]}, "query 1 names 'size', which is not an attribute; the attributes are: income, time, title"),
        ({"income": [1]}, "query 1: 'income' has 1 number; expected two"),
        ({"income": [10, 12]}, "query 1: 'income' has 12; expected 0 or a number above it in steps of 5"),
        ({"income": [10, 85]}, "query 1: 'income' has 85; expected 0 or a number above it in steps of 5"),
        ({"income": [10, "ten"]}, "query 1: 'income' has 'ten', which is not a number"),
        ({"income": [10, float("nan")]}, "query 1: 'income' has 'NaN', which is not a number"),
        ({"income": [10, 10]}, "query 1: 'income' has a second number that is not above the first"),
        ({"title": ["Z"]}, "query 1: 'title' has 'Z', which is not one of its categories"),
        ({"title": [None]}, "query 1: 'title' has null, which is not one of its categories"),
    ],
)
def test_queries_that_do_not_fit_are_refused(query, sentence):
    case = table_two()
    with pytest.raises(sv.BadData, match=sentence):
        sv.RangeQueryError(predicates=[query])(case.originals, case.table)


def test_what_cannot_be_measured_is_said():
    case = table_two()
    with pytest.raises(sv.BadParameter, match=r"^range-query-error: selectivity: is 0; allowed is a share above 0"):
        sv.RangeQueryError(selectivity=0)
    with pytest.raises(sv.Missing, match="provider B"):
        sv.RangeQueryError()(case.originals_of("a"), case.table)
    with pytest.raises(sv.BadData, match="other attributes"):
        sv.RangeQueryError()(drawn(3).originals, case.table)
    records_ = sv.from_lists([["milk"]])
    assert sv.RangeQueryError()(records_, records_).reason == "not computed, does not apply to plain records"
    case.b = {one: cells for one, cells in case.b.items() if one not in case.a}
    assert sv.RangeQueryError()(case.originals, case.table).reason == "the providers have no common user"
