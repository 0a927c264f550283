"""A joined table is the same after it was written and read."""

import json
import random
import time
from decimal import Decimal

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.formats import Layout
from setveil.parameters.hierarchy import Hierarchy
from setveil.presence.tables.joined_files import JoinedFiles

from support.exhaustive import examples
from support.joined_cases import drawn, table_two
from support.program import HANG_SECONDS

KINDS = ["data.csv", "data.csv.gz", "data.csv.zst", "data.parquet"]
seeds = st.integers(min_value=0, max_value=2**32)


def same(one, other):
    pairs = [(getattr(one, name), getattr(other, name)) for name in ("lows", "highs", "counts")]
    return one.schema == other.schema and all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)


def odd_schema():
    """Return attributes whose texts need quotes, and a taxonomy with a node for every kind of interval."""
    tree = Hierarchy(
        {
            "a, b": "left",
            'c "c"': "left",
            "left": "*",
            "=d": "right",
            "é": "right",
            "right": "*",
            "only": "chain",
            "chain": "*",
        }
    )
    return sv.Schema(
        (
            sv.NumericAttribute("age, years", Decimal("-1.5"), Decimal(2), Decimal("0.25")),
            sv.TaxonomyAttribute.over("place", tree),
        ),
        (sv.OrderedAttribute('said "so"', (" x", "y ", "#", "null", "")[:4]),),
        sv.OrderedAttribute("title", ("X, x", "Y", "NaN")),
    )


def odd_table(seed):
    rng = random.Random(seed)  # noqa: S311 - test data
    schema = odd_schema()
    groups = rng.randrange(12)
    edges = [[sorted(rng.sample(range(one.cells + 1), 2)) for one in schema.attributes] for _ in range(groups)]
    boxes = np.array(edges, dtype=np.int32).reshape(groups, len(schema.attributes), 2)
    counts = np.array([[rng.choice([0, 1, 3]), 0, rng.choice([1, 40])] for _ in range(groups)], dtype=np.int64)
    return sv.JoinedTable.arranged(schema, boxes[:, :, 0], boxes[:, :, 1], counts.reshape(groups, 3))


@settings(max_examples=examples(100), deadline=None)
@given(seed=seeds, file=st.sampled_from(KINDS), odd=st.booleans())
def test_it_is_the_same_after_a_round_trip(tmp_path_factory, seed, file, odd):
    folder = tmp_path_factory.mktemp("joined")
    table = odd_table(seed) if odd else drawn(seed, splits=8).table
    sv.write_joined(table, folder, file)
    assert same(sv.read_joined(folder, file), table)
    assert sorted(path.name for path in folder.iterdir()) == sorted(["attributes.json", file])
    before = (folder / file).read_bytes()
    JoinedFiles().write(table, folder / file, Layout())
    assert (folder / file).read_bytes() == before
    assert same(JoinedFiles().read(folder / file, Layout()), table)


def test_what_stands_in_the_files(tmp_path):
    sv.write_joined(table_two().table, tmp_path)
    assert (tmp_path / "data.csv").read_text().splitlines() == [
        "income,time,title",
        '"[0, 40)","[0, 19)",X movie',
        '"[0, 40)","[0, 19)",Y sports',
        '*,"[19, 24)",X movie',
        '*,"[19, 24)",Y sports',
        '*,"[19, 24)",Y sports',
        '"[40, 80)","[0, 19)",X movie',
        '"[40, 80)","[0, 19)",Y sports',
    ]
    told = json.loads((tmp_path / "attributes.json").read_text())
    assert told == {
        "a": [{"name": "income", "kind": "numeric", "low": "0", "high": "79", "step": "5"}],
        "b": [{"name": "time", "kind": "numeric", "low": "0", "high": "23.5", "step": "0.5"}],
        "sensitive": {"name": "title", "values": ["X movie", "Y sports"]},
    }
    sv.write_joined(table_two().table, tmp_path, "data.parquet")
    stored = pq.ParquetFile(tmp_path / "data.parquet")
    assert stored.schema_arrow.metadata is None
    assert stored.read().to_pylist()[0] == {"income": "[0, 40)", "time": "[0, 19)", "title": "X movie"}


def test_rows_may_stand_in_any_order(tmp_path):
    table = odd_table(5)
    sv.write_joined(table, tmp_path)
    first, *lines = (tmp_path / "data.csv").read_text().splitlines()
    random.Random(1).shuffle(lines)  # noqa: S311 - test data
    (tmp_path / "data.csv").write_text("\n".join([first, *lines]))
    assert same(sv.read_joined(tmp_path), table)


@pytest.mark.parametrize("file", ["data.csv", "data.parquet"])
def test_a_million_records_are_no_trouble(tmp_path, file):
    schema = odd_schema()
    rng = np.random.default_rng(1)
    lows = np.column_stack([rng.integers(0, one.cells, 5000) for one in schema.attributes]).astype(np.int32)
    table = sv.JoinedTable.arranged(schema, lows, lows + 1, rng.integers(0, 134, (5000, 3)) + 1)
    table = sv.JoinedTable(schema, table.lows, table.highs, table.counts * (1_000_000 // table.records + 1))
    began = time.perf_counter()
    sv.write_joined(table, tmp_path, file)
    assert same(sv.read_joined(tmp_path, file), table)
    assert table.records >= 1_000_000
    assert time.perf_counter() - began < HANG_SECONDS


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            '"[40, 80)","[0, 19)",Y',
            '"[41, 80)","[0, 19)",Y',
            r"data.csv, line 8: '\[41, 80\)' is not an interval or value of 'income' in attributes.json",
        ),
        ("Y sports\n*", "Z\n*", r"data.csv, line 3: 'Z' is not an interval or value of 'title' in attributes.json"),
        (
            "income,",
            "Income,",
            r"data.csv, line 1: has the columns Income, time, title; attributes.json next to it requires income, time, title",
        ),
        ("income,time,title", "time,income,title", r"line 1: has the columns time, income, title"),
        ("X movie\n*", "X movie,1\n*", r"data.csv, line 4: has 4 fields where the header has 3"),
    ],
)
def test_faults_of_the_data_file_are_said_with_their_line(tmp_path, old, new, sentence):
    sv.write_joined(table_two().table, tmp_path)
    path = tmp_path / "data.csv"
    content = path.read_text()
    changed = content.replace(old, new, 1) if old != "X movie\n*" else content.replace("X movie\n*", "X movie,1\n*", 1)
    assert changed != content
    path.write_text(changed)
    with pytest.raises(sv.BadData, match=sentence) as refused:
        sv.read_joined(tmp_path)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", r"attributes.json: is not JSON"),
        ("[]", r"attributes.json: is a list; expected an object with a, b, sensitive"),
        ('{"a": [], "b": [], "sensitive": {}, "made": 1}', r"has the field 'made'"),
        ("{}", r"attributes.json: expected the attributes of provider A"),
        ('{"a": [{"name": "x", "kind": "odd"}], "b": []}', r"attribute 'x' has the kind 'odd'"),
        ("\udcff", r"holds the byte 0xff"),
    ],
)
def test_faults_of_the_attributes_are_said(tmp_path, content, sentence):
    sv.write_joined(table_two().table, tmp_path)
    (tmp_path / "attributes.json").write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(sv.BadData, match=sentence) as refused:
        sv.read_joined(tmp_path)
    assert len(str(refused.value).splitlines()) == 1


def test_names_that_are_no_joined_table_are_refused(tmp_path):
    for name in ("data.json", "data.parquet.gz", "data"):
        with pytest.raises(sv.OutputRefused, match=r"ends in \.csv or \.parquet"):
            sv.write_joined(table_two().table, tmp_path, name)
    with pytest.raises(sv.BadData, match="there is no such file"):
        sv.read_joined(tmp_path)
