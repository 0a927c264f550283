"""Files with a row a record: delimited cells, ragged lines, lists in tables and JSON Lines, as people have them."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from setveil.data.files import column_files, csv_tables, json_lines, packing
from setveil.data.reading.source import read
from setveil.data.records.transactions import from_lists
from setveil.data.writing import write
from setveil.errors import BadData, BadParameter, OutputRefused


@pytest.fixture
def written(tmp_path):
    """Give a function that writes a file."""

    def write(content, name):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def pairs(data):
    return list(zip(data.names().to_pylist(), data.to_lists(), strict=True))


# -- delimited cells ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("id,items\np,b a\nq,\n", {}, [("p", ["a", "b"]), ("q", [])]),
        ("items\nb  a \n\nc\n", {}, [("1", ["a", "b"]), ("2", ["c"])]),
        ('items\nb a\n""\nc\n', {}, [("1", ["a", "b"]), ("2", []), ("3", ["c"])]),
        ("who,what\np,x y;z\n", {"id": "who", "items": "what", "separator": ";"}, [("p", ["x y", "z"])]),
        ('id,items\np,"a,b"\n', {"separator": ","}, [("p", ["a", "b"])]),
        ("id,note,items\n1,hm,a | b\n", {"separator": "|"}, [("1", ["a", "b"])]),
        ("id,items\np,007 7\n", {}, [("p", ["007", "7"])]),
    ],
)
def test_a_cell_holds_the_items(written, content, options, expected):
    data = read(written(content, "data.csv"), **{"items": "items"} | options)
    assert pairs(data) == expected
    assert data.unit == "record"


def test_a_header_with_items_and_no_item_is_wide(written):
    assert pairs(read(written("id,items\np,b a\n", "data.csv"))) == [("p", ["a", "b"])]
    assert pairs(read(written("id,items,item\np,b a,c\n", "data.csv"))) == [("p", ["c"])]
    with pytest.raises(BadData, match="has no column 'thing'"):
        read(written("id,items\np,b a\n", "data.csv"), item="thing")


def test_tabs_between_columns_of_tsv(written):
    assert pairs(read(written("id\titems\np\ta,b c\n", "x.tsv"), items="items", separator=",")) == [("p", ["a", "b c"])]


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("id,items\np,a;;b\n", {"separator": ";"}, "line 2: an item between two ';' in the column 'items' is empty"),
        ("id,items\np,a\nq,b;\n", {"separator": ";"}, "line 3: an item between two ';'"),
        ("id,items\np,a\np,b\n", {}, "line 3: has the same id as an earlier row; expected one id per record"),
        ("id,items\n,a\n", {}, "line 2: the column 'id' is empty or holds a control character"),
        (
            "id,things\np,a\n",
            {},
            "line 1: has no column 'items'; the columns are: id, things. Name yours with `items=`",
        ),
        ("items,items\na,b\n", {}, "line 1: has 2 columns 'items'"),
        ("items\na\n", {"id": "who"}, "line 1: has no column 'who'"),
        ("id,items\np,a,b\n", {}, "line 2: has 3 fields where the header has 2"),
    ],
)
def test_cells_that_are_wrong(written, content, options, sentence):
    path = written(content, "data.csv")
    with pytest.raises(BadData) as refused:
        read(path, format="wide", **options)
    assert str(refused.value).startswith(f"{path}, {sentence}")


# -- ragged lines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("citrus fruit,soup\nyogurt\n", {}, [["citrus fruit", "soup"], ["yogurt"]]),
        ("a, b ,c\r\nb\r\n", {}, [["a", "b", "c"], ["b"]]),
        ("a,b,,\n,,,\n\nc,,,", {}, [["a", "b"], [], [], ["c"]]),
        ('"a,b",c\n"say ""hi""",d\n', {}, [["a,b", "c"], ["d", 'say "hi"']]),
        ("a;b\n", {"separator": ";"}, [["a", "b"]]),
        ("a,a,b\n", {}, [["a", "b"]]),
        ("id,item\n1,2\n", {}, [["id", "item"], ["1", "2"]]),
    ],
)
def test_ragged_lines(written, content, options, expected):
    assert read(written(content, "data.csv"), ragged=True, **options).to_lists() == expected


@pytest.mark.parametrize(
    ("content", "line", "sentence"),
    [
        ("a\nb,,c\n", 2, "an item between two ',' is empty; drop missing items with `missing='drop'`"),
        ("a\nb\0\n", 2, "an item between two ',' holds a control character"),
        ('a\n"b\nc"\n', 3, "an item between two ',' holds a control character"),
        ('a\n"b,c\n', 2, "is not valid CSV (unexpected end of data)"),
        ('a\n"b"c,d\n', 2, "is not valid CSV (',' expected after '\"')"),
        (
            b"a\nb\xff\n",
            2,
            "holds the byte 0xff, which is not UTF-8 text; save the file as UTF-8, or name its encoding, such as `encoding='cp1252'`",
        ),
    ],
)
def test_ragged_lines_that_are_wrong(written, content, line, sentence):
    path = written(content, "data.csv")
    with pytest.raises(BadData) as refused:
        read(path, ragged=True)
    assert str(refused.value) == f"{path}, line {line}: {sentence}"


def test_ragged_lines_have_no_column_of_items(written):
    with pytest.raises(BadParameter, match="ragged lines have no column of items to name"):
        read(written("a\n", "data.csv"), ragged=True, items="who")


# -- JSON Lines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ('{"id": "p", "items": ["b", "a"]}\n{"id": "q", "items": []}\n', {}, [("p", ["a", "b"]), ("q", [])]),
        ('["b", "a"]\n[]\n["a"]', {}, [("1", ["a", "b"]), ("2", []), ("3", ["a"])]),
        ('{"items": [10, 9], "x": 1.5}\n', {}, [("1", ["9", "10"])]),
        ('{"id": 5, "what": ["ä", "\\u00e4"]}\r\n', {"items": "what"}, [("5", ["ä"])]),
        (
            '{"who": "p", "items": [-3, 12345678901234567890123]}\n',
            {"id": "who"},
            [("p", ["-3", "12345678901234567890123"])],
        ),
    ],
)
def test_json_lines(written, content, options, expected):
    assert pairs(read(written(content, "data.jsonl"), **options)) == expected


@pytest.mark.parametrize(
    ("content", "line", "sentence"),
    [
        ('["a"]\n["b"\n', 2, "is not JSON (Expecting ',' delimiter at character 5)"),
        ('["a"]\n\n["b"]\n', 2, "is not JSON (Expecting value at character 1)"),
        ('["a"]\n[1.5]\n', 2, "an item is a number with a fraction; expected text or a whole number"),
        ('["a", null]\n', 1, "an item is null; expected text or a whole number"),
        ('["a", true]\n', 1, "an item is true or false; expected text or a whole number"),
        ('["a", ["b"]]\n', 1, "an item is a list; expected text or a whole number"),
        ('["a", {}]\n', 1, "an item is an object; expected text or a whole number"),
        ('["a", NaN]\n', 1, "holds NaN, which is not JSON"),
        ('["a", "\\ud800"]\n', 1, "an item holds a lone surrogate, which is not valid Unicode text"),
        (
            '["a", ""]\n',
            1,
            "the column 'items' is empty or holds a control character; drop missing items with `missing='drop'`",
        ),
        ('["a", "b\\n"]\n', 1, "the column 'items' is empty or holds a control character"),
        ('"a"\n', 1, "is neither a list of items nor an object with the field 'items'"),
        (
            '{"id": 1}\n',
            1,
            "has no field 'items'; the fields are: id. Name yours with `items=`, or with `id=` and `item=` for one item per line",
        ),
        (
            '{"id": 1, "item": "a"}\n',
            1,
            "has no field 'items'; the fields are: id, item. Use `format='long'` if each line is one item",
        ),
        ('{"items": "a b"}\n', 1, "the field 'items' is not a list of items"),
        ('{"items": ["a"], "items": []}\n', 1, "names a field twice"),
        (
            '{"id": 1, "items": []}\n{"items": []}\n',
            2,
            "has no field 'id', unlike the first line; give all lines an id, or none",
        ),
        (
            '{"items": []}\n{"id": 1, "items": []}\n',
            2,
            "has a field 'id', unlike the first line; give all lines an id, or none",
        ),
        (
            '{"id": 1, "items": []}\n{"id": "1", "items": []}\n',
            2,
            "has the same id as an earlier row; expected one id per record",
        ),
        ('{"id": 1.5, "items": []}\n', 1, "the id is a number with a fraction; expected text or a whole number"),
        ("[" * 100_000 + "\n", 1, "is nested too deeply"),
    ],
)
def test_json_lines_that_are_wrong(written, content, line, sentence):
    path = written(content, "data.jsonl")
    with pytest.raises(BadData) as refused:
        read(path)
    assert str(refused.value) == f"{path}, line {line}: {sentence}"


# -- tables ------------------------------------------------------------------------------------------------------------

LISTS = pa.table({"id": [5, 6], "items": [[10, 9], []]})
LONG = pa.table({"id": ["p", "q", "p"], "item": ["b", "a", "a"]})


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.feather", "stream.arrow"])
def test_tables_of_either_shape_are_known_by_their_columns(tmp_path, name):
    path = tmp_path / name

    def put(table):
        if name.endswith(".parquet"):
            pq.write_table(table, path)
        elif name.startswith("stream"):
            with pa.ipc.new_stream(path, table.schema) as stream:
                stream.write_table(table)
        else:
            feather.write_feather(table, path)

    put(LISTS)
    assert pairs(read(path)) == [("5", ["9", "10"]), ("6", [])]
    put(LONG)
    assert pairs(read(path)) == [("p", ["a", "b"]), ("q", ["a"])]
    put(LONG.rename_columns(["who", "what"]))
    assert pairs(read(path, id="who", item="what")) == [("p", ["a", "b"]), ("q", ["a"])]
    with pytest.raises(
        BadData,
        match=r"has no column 'items'; the columns are: who, what\. Name yours with `items=`, or with `id=` and",
    ):
        read(path)
    put(LISTS.rename_columns(["who", "what"]))
    assert pairs(read(path, id="who", items="what")) == [("5", ["9", "10"]), ("6", [])]
    assert read(path, items="what").ids is None


def test_lists_in_parquet_may_be_of_any_kind(tmp_path):
    path = tmp_path / "x.parquet"
    for kind in (pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.int32(), 1), pa.list_(pa.int8())):
        text = pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
        pq.write_table(pa.table({"items": pa.array([["7"], ["8"]] if text else [[7], [8]], kind)}), path)
        assert read(path).to_lists() == [["7"], ["8"]]


# -- many batches ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["x.dat", "x.csv", "wide.csv", "x.jsonl", "x.parquet", "x.arrow", "x.csv.gz", "x.dat.zst"]
)
def test_small_batches_give_the_same_data(tmp_path, monkeypatch, name):
    from setveil.data.writing import write  # noqa: PLC0415 - only here

    lists = [[f"item-{(i * j) % 17}" for j in range(1, 2 + i % 7)] for i in range(300)]
    data = from_lists(lists, ids=[f"ä{i}" for i in range(300)])
    path = tmp_path / name
    write(data, path, format="wide" if name.startswith("wide") else None)
    options = {"items": "items"} if name.startswith("wide") else {}
    whole = read(path, **options)
    monkeypatch.setattr(packing, "READ_BLOCK", 41)
    monkeypatch.setattr(csv_tables, "BLOCK", 64)
    monkeypatch.setattr(column_files, "_BATCH_ROWS", 7)
    monkeypatch.setattr(json_lines, "_BATCH_LINES", 3)
    assert read(path, **options) == whole
    assert whole == (data.with_ids(None) if ".dat" in name else data)


def test_a_line_longer_than_a_block_of_csv(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_tables, "BLOCK", 50)
    path = tmp_path / "x.csv"
    path.write_text("id,item\n" + "".join(f"p{i},a\n" for i in range(40)) + f"q,{'b' * 500}\nr,c\n", encoding="utf-8")
    data = read(path)
    assert data.records == 42
    assert data.to_lists()[-2:] == [["b" * 500], ["c"]]


def test_items_that_hold_a_separator_are_noted(tmp_path, notes):
    path = tmp_path / "a.csv"
    path.write_text('order,products\n1,"milk,rye bread,tea"\n2,milk\n')
    assert read(path, items="products").records == 2
    assert notes().endswith("2 of 3 items hold ','; if it separates items, read them with `separator=','`")
    before = notes()
    assert read(path, items="products", separator=",").to_lists() == [["milk", "rye bread", "tea"], ["milk"]]
    assert notes() == before


def test_json_lines_without_the_field_of_items_are_refused_with_the_fields_that_are(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"customer": 1, "basket": ["milk"]}\n')
    with pytest.raises(
        BadData, match=r"has no field 'items'; the fields are: customer, basket\. Name yours with `items=`"
    ):
        read(path)


def test_a_json_array_of_objects_is_refused_with_what_is_expected(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"id": 1, "items": ["milk"]}]\n')
    with pytest.raises(BadData, match=r"line 1: an item is an object.* If the objects are records, write one per line"):
        read(path, format="list")


def test_a_parquet_file_of_zeros_and_ones_is_refused_with_its_format(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"customer": ["a", "b"], "milk": [0, 1], "tea": [1, 1]}), path)
    with pytest.raises(BadData, match="if each column is an item, use `format='matrix'`, and `id=`"):
        read(path)
    assert read(path, format="matrix", id="customer").to_lists() == [["tea"], ["milk", "tea"]]


SHEET = b"order;item 1;item 2\n17;milk;rye bread\n18;tea;\n19;;\n"


def test_cells_below_a_header_are_items_if_a_column_of_ids_is_named(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_bytes(SHEET)
    data = read(path, ragged=True, id="order", separator=";")
    assert dict(zip(data.ids.to_pylist(), data.to_lists(), strict=True)) == {
        "17": ["milk", "rye bread"],
        "18": ["tea"],
        "19": [],
    }
    assert read(path, **data.source.options) == data
    assert read(path, ragged=True, person="order", separator=";").unit == "person"


@pytest.mark.parametrize(
    ("content", "place", "sentence"),
    [
        (b"order;item 1\n17;milk\n18;a;;b\n", "line 3", "an item between two ';' is empty"),
        (b"order;item 1\n17;milk\n;tea\n", "line 3", "the column 'order' is empty or holds a control character"),
        (
            b"bill;item 1\n17;milk\n",
            "line 1",
            "has no column 'order'; the columns are: bill, item 1. Name yours with `id=`",
        ),
    ],
)
def test_wrong_cells_below_a_header_are_refused(tmp_path, content, place, sentence):
    path = tmp_path / "orders.csv"
    path.write_bytes(content)
    with pytest.raises(BadData) as refusal:
        read(path, ragged=True, id="order", separator=";")
    assert str(refusal.value).startswith(f"{path}, {place}: {sentence}")


def test_a_sheet_with_one_item_per_cell_is_refused_with_its_options(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_bytes(SHEET)
    with pytest.raises(
        BadData, match=r"If each cell holds one item, use `ragged=True` and `separator=';'` and `id='order'`"
    ):
        read(path)


@pytest.mark.parametrize("name", ["a.dat", "a.csv"])
def test_a_format_that_cannot_hold_an_item_names_one_that_can(tmp_path, name):
    data = from_lists([["rye bread"]])
    with pytest.raises(
        OutputRefused, match=r"holds a blank.*choose another separator, or another format, such as list \(\.jsonl"
    ):
        write(data, tmp_path / name, format="basket" if name == "a.dat" else "wide")
    write(data, tmp_path / "a.jsonl")
    assert read(tmp_path / "a.jsonl") == data
