"""Missing items are refused with the argument that drops them, or dropped with a count."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import setveil as sv

TEXTS = {
    "long": ("x.csv", "id,item\np,a\np,\nq,\nr,b\n", {}, [["a"], [], ["b"]], 2),
    "long with blanks": ("x.csv", "id,item\np,a\np,  \nq,b\n", {}, [["a"], ["b"]], 1),
    "long in any order": ("x.csv", "id,item\np,a\nq,\np,c\nq,b\np,\n", {}, [["a", "c"], ["b"]], 2),
    "wide": ("x.csv", "id,items\np,a;;b\nq,;\nr,\n", {"separator": ";"}, [["a", "b"], [], []], 3),
    "ragged": ("x.csv", "a,,b\n,c\n", {"ragged": True}, [["a", "b"], ["c"]], 2),
    "basket": ("x.dat", "a,,b\n\n,c\n", {"separator": ","}, [["a", "b"], [], ["c"]], 2),
    "list": ("x.jsonl", '["a", null, ""]\n["b"]\n', {}, [["a"], ["b"]], 2),
    "matrix": ("x.csv", "id,a,b\np,1,\nq,,0\n", {"format": "matrix"}, [["a"], []], 2),
    "attributes": ("x.csv", "age,sex\n39,\n, \n", {"format": "attributes"}, [["age=39"], []], 3),
}


@pytest.mark.parametrize("name", TEXTS)
def test_missing_items_of_text_files(tmp_path, notes, name):
    file, content, options, lists, count = TEXTS[name]
    path = tmp_path / file
    path.write_text(content, encoding="utf-8")
    with pytest.raises(sv.BadData) as refused:
        sv.read(path, **options)
    assert "`missing='drop'`" in str(refused.value) or name == "list"
    data = sv.read(path, missing="drop", **options)
    assert data.to_lists() == lists
    assert f"{count} missing item{'s' if count > 1 else ''} dropped" in notes()
    assert data.source.options["missing"] == "drop"


LONG = {"id": ["p", "p", "q", "r"], "item": ["a", None, None, "b"]}
LISTS = {"items": [["a", None], None, ["b"]]}


def _parquet(table, tmp_path, **options):
    pq.write_table(table, tmp_path / "x.parquet")
    return sv.read(tmp_path / "x.parquet", **options)


WAYS = {
    "Parquet": (lambda table, folder, **options: _parquet(pa.table(table), folder, **options)),
    "Arrow": lambda table, _folder, **options: sv.from_arrow(pa.table(table), **options),
    "Arrow dictionaries": lambda table, _folder, **options: sv.from_arrow(
        pa.table(
            {name: pa.array(c).dictionary_encode() if name == "item" else pa.array(c) for name, c in table.items()}
        ),
        **options,
    ),
    "pandas": lambda table, _folder, **options: sv.from_pandas(pd.DataFrame(table), **options),
    "polars": lambda table, _folder, **options: sv.from_polars(pl.DataFrame(table), **options),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("table", [LONG, LISTS], ids=["long", "list"])
def test_missing_items_of_tables(tmp_path, way, table):
    with pytest.raises(sv.BadData, match="`missing='drop'`"):
        WAYS[way](table, tmp_path)
    assert WAYS[way](table, tmp_path, missing="drop").to_lists() == [["a"], [], ["b"]]


def test_missing_items_of_a_database(tmp_path):
    url = f"duckdb:///{tmp_path}/x.duckdb"
    sv.write(sv.from_lists([["a"]], ids=["p"]), url, table="t")
    query = "SELECT 'q' AS id, 'b' AS item UNION ALL SELECT 'r', NULL ORDER BY id"
    with pytest.raises(sv.BadData, match="`missing='drop'`"):
        sv.read(url, query=query)
    assert sv.read(url, query=query, missing="drop").to_lists() == [["b"], []]


@pytest.mark.parametrize("missing", ["drop", "error"])
def test_a_missing_id_is_refused(tmp_path, missing):
    path = tmp_path / "x.csv"
    path.write_text("id,item\np,a\n,b\n", encoding="utf-8")
    with pytest.raises(sv.BadData, match=r"line 3: the column 'id' is empty or holds a control character$"):
        sv.read(path, missing=missing)


def test_control_characters_are_refused_when_missing_items_are_dropped(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,item\np,\np,a\nq,b\x01\n", encoding="utf-8")
    with pytest.raises(sv.BadData, match="line 4: the column 'item' is empty or holds a control character"):
        sv.read(path, missing="drop")


def test_another_value_is_refused():
    with pytest.raises(sv.BadParameter, match=r"missing is 'keep'; allowed is error \| drop"):
        sv.read("sample:supermarket?records=2", missing="keep")
