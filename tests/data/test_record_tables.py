"""0/1 tables and attribute tables, from files and from data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import setveil as sv
from setveil.data.files import table_cells
from setveil.data.formats import matrix


@pytest.fixture
def file(tmp_path):
    """Give a function that writes a file."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


PAIRS = [("1", "0"), ("TRUE", "FALSE"), ("True", "False"), ("t", "f"), ("yes", "no"), ("Y", "N"), ("1.0", "0.0")]


@pytest.mark.parametrize(("yes", "no"), PAIRS)
def test_words_of_flags(file, yes, no):
    data = sv.read(file(f"id,a,b\np,{yes},{no}\nq,{no},{yes}\n"))
    assert data.to_lists() == [["a"], ["b"]]
    assert data.ids.to_pylist() == ["p", "q"]


@pytest.mark.parametrize(
    ("first", "ids"),
    [(["x", "y"], ["x", "y"]), (["1", "2"], None), (["0", "1"], None), (["2", "3"], ["2", "3"])],
)
@pytest.mark.parametrize("name", ['""', "Unnamed: 0", ""])
def test_names_of_rows_are_ids_and_numbers_of_rows_are_not(file, first, ids, name):
    data = sv.read(file(f"{name},a,b\n{first[0]},1,0\n{first[1]},0,1\n"), format="matrix")
    assert data.to_lists() == [["a"], ["b"]]
    assert (None if data.ids is None else data.ids.to_pylist()) == ids


@pytest.mark.parametrize("shape", ["matrix", "attributes"])
def test_columns_of_items_need_names_of_their_own(file, shape):
    with pytest.raises(sv.BadData, match="the column 2 of 3 has no name; name it, or choose the columns to use with"):
        sv.read(file("a,,b\n1,0,0\n0,1,1\n"), format=shape)
    with pytest.raises(sv.BadData, match="the column 3 of 4 has no name"):
        sv.read(file("a,b,,\n1,0,,\n0,1,,\n"), format=shape)
    assert sv.read(file("a,b,,\n1,0,,\n0,1,,\n"), format="matrix", items="a,b").to_lists() == [["a"], ["b"]]
    with pytest.raises(sv.BadData, match="has 2 columns 'b'; expected each column once"):
        sv.read(file("a,b,b \n1,0,0\n0,1,1\n"), format=shape)


def test_a_0_1_table_equals_its_plain_reading(file, monkeypatch):
    monkeypatch.setattr(table_cells, "_CELLS_AT_ONCE", 100)
    dice = np.random.default_rng(4)
    held = dice.random((57, 13)) < 0.3
    names = [f"item {number}" for number in range(13)]
    rows = "".join(",".join(map(str, row.astype(int))) + "\n" for row in held)
    expected = [sorted(names[place] for place in np.flatnonzero(row)) for row in held]
    assert sv.read(file(",".join(names) + "\n" + rows)).to_lists() == expected
    assert sv.from_pandas(pd.DataFrame(held, columns=names)).to_lists() == expected


FRAMES = {
    "pandas": (pd.DataFrame, sv.from_pandas),
    "polars": (pl.DataFrame, sv.from_polars),
    "Arrow": (pa.table, sv.from_arrow),
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize(
    ("values", "named"),
    [([True, False], None), ([1, 0], "matrix"), ([1.0, 0.0], "matrix"), (["yes", "no"], "matrix")],
)
def test_data_frames_of_flags(library, values, named):
    make, read = FRAMES[library]
    frame = make({"id": ["p", "q"], "a": values, "b": values[::-1]})
    data = read(frame, format=named)
    assert data.to_lists() == [["a"], ["b"]]
    assert data.ids.to_pylist() == ["p", "q"]


def test_sparse_flags_of_pandas():
    frame = pd.DataFrame({"a": [True, False], "b": [True, True]}).astype(pd.SparseDtype(bool))
    assert sv.from_pandas(frame).to_lists() == [["a", "b"], ["b"]]


def test_a_frame_that_is_not_certain_names_the_arguments():
    with pytest.raises(sv.BadData, match=r"its columns are: cust, item\. .*`id=`.*`format='matrix'`"):
        sv.from_pandas(pd.DataFrame({"cust": [1], "item": ["a"]}))
    with pytest.raises(sv.BadData, match="the column 'n' has another value; expected 0 or 1"):
        sv.from_pandas(pd.DataFrame({"n": [2]}), format="matrix")


def test_a_flag_named_item_is_not_a_0_1_table():
    with pytest.raises(sv.BadData, match="the column 'item' is of type bool"):
        sv.from_arrow(pa.table({"id": ["p"], "item": [True]}))


ADULT = "age,workclass,sex\n39, State-gov,Male\n50,?,Male\n"


def test_attributes_become_items(file):
    data = sv.read(file(ADULT), format="attributes")
    assert data.to_lists() == [["age=39", "sex=Male", "workclass=State-gov"], ["age=50", "sex=Male", "workclass=?"]]


@pytest.mark.parametrize(
    ("items", "first"), [("sex", ["sex=Male"]), ("workclass, sex", ["sex=Male", "workclass=State-gov"])]
)
def test_columns_of_attributes_are_chosen(file, items, first):
    assert sv.read(file(ADULT), format="attributes", items=items).to_lists()[0] == first
    with pytest.raises(sv.BadData, match="has no column 'race'; the columns are: age, workclass, sex"):
        sv.read(file(ADULT), format="attributes", items=f"{items},race")


@pytest.mark.parametrize("library", FRAMES)
def test_data_frames_of_attributes(library):
    make, read = FRAMES[library]
    frame = make({"age": [39, 50], "smokes": [True, False], "sex": ["m", "f"]})
    assert read(frame, format="attributes").to_lists()[0] == ["age=39", "sex=m", "smokes=true"]


def test_columns_with_very_many_values_are_noted(file, notes):
    sv.read(file("number,half\n" + "".join(f"{n},{n % 2}\n" for n in range(60))), format="attributes")
    assert notes() == "columns with very many values: number; choose the columns to use with `items=`"


@pytest.mark.parametrize(
    ("lists", "problem"),
    [
        ([["a"]], "is not of the form column=value"),
        ([["a="]], "is not of the form column=value"),
        ([["a=1", "a=2"]], "a record has none or several"),
        ([["a=1"], ["b=1"]], "a record has none or several"),
        ([["id=1"]], "which readers take for ids"),
    ],
)
def test_what_attributes_cannot_hold_is_refused(tmp_path, lists, problem):
    with pytest.raises(sv.OutputRefused, match=problem):
        sv.write(sv.from_lists(lists), tmp_path / "x.csv", format="attributes")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("label", ["id", "ID", "Unnamed: 0"])
def test_an_item_that_readers_take_for_ids_is_refused(tmp_path, label):
    with pytest.raises(sv.OutputRefused, match="which readers take for ids"):
        sv.write(sv.from_lists([[label, "a"]]), tmp_path / "x.csv", format="matrix")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_many_records_are_written_in_few_batches(tmp_path, monkeypatch, name):
    """A Parquet writer keeps facts about each column of each batch until the file is complete."""
    rng = np.random.default_rng(5)
    data = sv.from_lists([[f"i{j}" for j in np.flatnonzero(rng.random(5) < 0.5)] for _ in range(100)])
    monkeypatch.setattr(matrix, "_WRITTEN_CELLS", 30)
    sv.write(data, tmp_path / name, format="matrix")
    before = (tmp_path / name).read_bytes()
    monkeypatch.setattr(matrix, "_FEW_RECORDS", 99)
    monkeypatch.setattr(matrix, "_MOST_BATCHES", 4)
    sv.write(data, tmp_path / name, format="matrix", force=True)
    assert sv.read(tmp_path / name, format="matrix").to_lists() == data.to_lists()
    if name == "x.csv":
        assert (tmp_path / name).read_bytes() == before
    else:
        with pq.ParquetFile(tmp_path / name) as file:
            assert file.num_row_groups == 4


def test_a_release_of_attributes_is_written_in_another_format(tmp_path, file):
    path = file("age,sex\n" + "39,m\n50,f\n" * 6)
    data = sv.read(path, format="attributes")
    sv.publish(data, sv.Disassociation(k=2, m=1), out=tmp_path / "release")
    assert sv.check(tmp_path / "release", original=path)


def test_a_column_of_items_is_not_a_choice_of_columns_elsewhere(tmp_path, file):
    sv.convert(file(ADULT), tmp_path / "x.jsonl", format="attributes", items="sex")
    assert (tmp_path / "x.jsonl").read_text(encoding="utf-8").startswith('{"items": ["sex=Male"]}')
