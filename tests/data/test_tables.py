"""Tables that other libraries hold: the same transactions as from lists, and back, without importing those libraries."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given

import setveil as sv
from setveil.errors import BadData, BadParameter

from support.random_data import make, seeds

LISTS = [["milk", "bread"], [], ["milk"], ["7", "beer"]]
IDS = ["p", "q", "r", "s"]
DATA = sv.from_lists(LISTS, ids=IDS)
LONG = {"who": ["p", "q", "p", "q"], "what": ["milk", "beer", "bread", "milk"]}
LONG_DATA = sv.from_lists([["milk", "bread"], ["beer", "milk"]], ids=["p", "q"])


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"id": IDS, "items": LISTS}),
        pa.table({"other": [1.5] * 4, "items": LISTS, "id": IDS}),
        pa.table({"id": IDS, "items": LISTS}).to_reader(max_chunksize=2),
        pa.RecordBatch.from_pydict({"id": IDS, "items": LISTS}),
        pl.DataFrame({"id": IDS, "items": LISTS}),
        pd.DataFrame({"id": IDS, "items": LISTS}),
        DATA,
    ],
    ids=["table", "other columns", "reader", "batch", "polars", "pandas", "transactions"],
)
def test_tables_with_a_row_a_record(table):
    assert sv.from_arrow(table) == DATA


@pytest.mark.parametrize("made", [pa.table, pl.DataFrame, pd.DataFrame], ids=["arrow", "polars", "pandas"])
def test_tables_with_a_row_an_item(made):
    data = sv.from_arrow(made(LONG), id="who", item="what")
    assert data == LONG_DATA
    assert data.unit == "record"
    assert sv.from_arrow(made(LONG), id="who", item="what", unit="person").unit == "person"


@pytest.mark.parametrize(
    "column",
    [
        pa.array(LISTS),
        pa.chunked_array([LISTS[:1], LISTS[1:]], pa.list_(pa.string())),
        pl.Series(LISTS),
        DATA.to_arrow(),
    ],
    ids=["array", "chunked", "polars", "ours"],
)
def test_a_column_of_lists(column):
    assert sv.from_arrow(column) == DATA.with_ids(None)


def test_pandas_and_polars_by_name():
    assert sv.from_pandas(pd.DataFrame({"id": IDS, "items": LISTS, "odd": [object()] * 4})) == DATA
    assert sv.from_pandas(pd.DataFrame(LONG), id="who", item="what") == LONG_DATA
    assert sv.from_pandas(pd.Series(LISTS)) == DATA.with_ids(None)
    assert sv.from_pandas(pd.DataFrame({"id": [1, 1, 2], "item": [10, 9, 10]})).to_lists() == [["9", "10"], ["10"]]
    categorical = pd.DataFrame(LONG).astype("category")
    assert sv.from_pandas(categorical[:1], id="who", item="what").vocabulary == ("milk",)
    assert sv.from_polars(pl.DataFrame({"id": IDS, "items": LISTS})) == DATA


def test_what_comes_out_goes_in_again():
    frame = DATA.to_pandas()
    assert list(frame.columns) == ["id", "items"]
    assert [list(row) for row in frame["items"]] == DATA.to_lists()
    assert sv.from_pandas(frame) == DATA
    assert sv.from_polars(pl.DataFrame(DATA)) == DATA
    assert sv.from_arrow(pa.table(DATA)) == DATA
    assert sv.from_lists(DATA.to_lists(), ids=IDS) == DATA
    assert pa.table(DATA.with_ids(None)).column_names == ["items"]


@given(seeds)
def test_random_data_goes_round(seed):
    data, _categories = make(seed)
    data = data.with_ids(data.names())
    for again in (sv.from_arrow(data), sv.from_polars(pl.DataFrame(data)), sv.from_pandas(data.to_pandas())):
        assert again == data.compacted()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
@pytest.mark.parametrize("dtype", [bool, np.int8, float])
def test_sparse_matrices(kind, dtype):
    rng = np.random.default_rng(5)
    dense = rng.random((30, 12)) < 0.2
    labels = [f"item {j}" for j in range(12)]
    matrix = scipy.sparse.csr_array(dense.astype(dtype)).asformat(kind)
    expected = sv.from_lists([[labels[j] for j in np.flatnonzero(row)] for row in dense])
    assert sv.from_scipy(matrix, labels=labels) == expected
    numbered = sv.from_scipy(matrix, ids=[f"r{i}" for i in range(30)])
    assert numbered.to_lists() == [[str(j) for j in np.flatnonzero(row)] for row in dense]
    assert numbered.ids.to_pylist()[3] == "r3"


def test_zeros_that_a_sparse_matrix_names_are_no_items():
    matrix = scipy.sparse.csr_array((np.array([0, 2]), np.array([0, 1]), np.array([0, 2])), shape=(1, 3))
    assert sv.from_scipy(matrix).to_lists() == [["1"]]
    assert matrix.nnz == 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sv.from_arrow([["a"]]), "table is of the type list; expected Arrow data"),
        (lambda: sv.from_arrow(pa.table({"a": [1]})), "the table: has no column 'id'; the columns are: a. Name yours"),
        (lambda: sv.from_arrow(pa.table({"id": [1], "item": [1.5]})), "'item' is of type double; items must be text"),
        (
            lambda: sv.from_arrow(pa.table({"items": [["a"], None]})),
            "the table, row 2: the column 'items' has a missing list",
        ),
        (lambda: sv.from_arrow(pa.array([1, 2])), "the column 'items' is of type int64"),
        (lambda: sv.from_arrow(pa.table({"items": [["a"]]}), id="who"), "has no column 'who'"),
        (
            lambda: sv.from_arrow(pa.table({"id": ["x", "x"], "items": [["a"], ["b"]]})),
            "row 2: has the same id as an earlier row",
        ),
        (lambda: sv.from_pandas(3), "frame is 3; expected a pandas DataFrame or Series"),
        (lambda: sv.from_pandas(pd.DataFrame({"a": [1]})), "has none of the expected columns; its columns are: a"),
        (lambda: sv.from_pandas(pd.DataFrame({"id": [1, 2], "item": ["a", 2.5]})), "neither text nor whole numbers"),
        (
            lambda: sv.from_pandas(pd.DataFrame({"id": [1, 2], "item": ["a", None]})),
            "row 2: the column 'item' has a missing",
        ),
        (lambda: sv.from_pandas(pd.DataFrame({"id": [1, 2], "item": [1, np.nan]})), "'item' is of type double"),
        (lambda: sv.from_scipy([[1]]), "matrix is of the type list; expected a sparse matrix of SciPy"),
        (
            lambda: sv.from_scipy(scipy.sparse.csr_array([[1, 0]]), labels=["a"]),
            "1 labels for 2 columns; give one label per column",
        ),
        (lambda: sv.from_scipy(scipy.sparse.csr_array([[1, 1]]), labels=["a", "a"]), "two items have the same label"),
        (lambda: sv.from_scipy(scipy.sparse.csr_array([[np.nan, 1]])), "the matrix holds NaN or infinite values"),
    ],
)
def test_what_cannot_be_read_is_said(call, sentence):
    with pytest.raises((BadData, BadParameter)) as refused:
        call()
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["polars", "scipy", "duckdb", "adbc_driver_manager"])
def test_libraries_that_are_not_used_stay_out(name):
    code = f"import sys, setveil as sv; sv.from_arrow(sv.from_lists([['a']])); print({name!r} in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_pandas_is_not_needed():
    """Arrow itself imports pandas where it is installed; here it is not."""
    code = """
import sys
class Without:
    def find_spec(self, name, *_):
        if name == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Without())
import setveil as sv
from setveil.metrics.measurements import Measurements
data = sv.from_arrow(sv.from_lists([["a"]]))
sets = sv.mine(data, 1)
for one in (data, sets, sv.association_rules(sets, 0), Measurements()):
    try:
        one.to_pandas()
    except sv.Missing as error:
        print(error)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    sentence = "to_pandas needs pandas, which is not installed; run `pip install pandas`, or use to_table, which does not need it"
    assert found.stdout.splitlines() == [sentence] * 4
