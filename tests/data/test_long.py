import gzip

import numpy as np
import pyarrow as pa
import pytest

from setveil.data.files import csv_tables, texts
from setveil.data.files.packing import READ_BLOCK
from setveil.data.formats import Layout
from setveil.data.formats.long import Long
from setveil.data.reading.source import read
from setveil.data.records.transactions import from_lists
from setveil.errors import BadData, BadParameter, OutputRefused


@pytest.fixture
def written(tmp_path):
    """Give a function that writes a file."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def read_pairs(path, **options):
    data = read(path, **options)
    return dict(zip(data.ids.to_pylist(), data.to_lists(), strict=True))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,item\n1,b\n1,a\n2,c\n", {"1": ["a", "b"], "2": ["c"]}),
        ("id,item\n1,b\n1,a\n2,c", {"1": ["a", "b"], "2": ["c"]}),
        ("id,item\r\n1,b\r\n1,a\r\n", {"1": ["a", "b"]}),
        ("id,item\r1,b\r1,a\r", {"1": ["a", "b"]}),
        ("\ufeffid,item\n1,a\n", {"1": ["a"]}),
        ('"id","item"\n"1","a ""b"", c"\n', {"1": ['a "b", c']}),
        ("item,when,id\na,now,1\n", {"1": ["a"]}),
        ('id,note,item\n1,"two\nlines",a\n1,,b\n', {"1": ["a", "b"]}),
        ("id,item\n\n1,a\n\n\n2,b\n\n", {"1": ["a"], "2": ["b"]}),
        ("id,item\n007,1\n7,01\n", {"007": ["1"], "7": ["01"]}),
        ("id,item\nNA,null\nnan,NaN\n", {"NA": ["null"], "nan": ["NaN"]}),
        ("id,item\n 1 , a \n", {" 1 ": ["a"]}),
        ("id,item\n1,10\n1,9\n", {"1": ["9", "10"]}),
        ("id,item\n1,1e5\n1,1.0\n1,2024-01-01\n", {"1": ["1.0", "1e5", "2024-01-01"]}),
        ("id,item\n", {}),
        ("id,item", {}),
    ],
)
def test_rows_with_the_same_id_are_a_record(written, content, expected):
    assert read_pairs(written(content)) == expected


def test_interleaved_ids_stand_in_the_order_of_their_first_row(written, notes):
    path = written("id,item\nz,1\na,2\nz,3\nm,2\na,1\nz,1\n")
    assert list(read_pairs(path).items()) == [("z", ["1", "3"]), ("a", ["1", "2"]), ("m", ["2"])]
    assert notes() == "1 repeated item within a record counted once"


@pytest.mark.parametrize(
    ("content", "name", "options"),
    [
        ("customer,product\n1,a\n1,b\n", "data.csv", {"id": "customer", "item": "product"}),
        ('"the, id",item\n1,a\n1,b\n', "data.csv", {"id": "the, id"}),
        ("item,id\n1,a\n1,b\n", "data.csv", {"id": "item", "item": "id"}),
        ("id\titem\n1\ta\n1\tb\n", "data.tsv", {}),
        ("id;item\n1;a\n1;b\n", "data.tsv", {"separator": ";"}),
        ("id;item\n1;a\n1;b\n", "data.csv", {"separator": ";"}),
        ("id\titem\n1\ta\n1\tb\n", "data.csv", {"separator": "\t"}),
        ("id item\n1 a\n1 b\n", "data.csv", {"separator": " "}),
        ("id,item\n1,a\n1,b\n", "data.out", {"format": "long"}),
    ],
)
def test_other_columns_and_separators(written, content, name, options):
    assert read_pairs(written(content, name), **options) == {"1": ["a", "b"]}


@pytest.mark.parametrize(
    ("content", "line", "sentence"),
    [
        (" \n\n", None, "is empty; expected a header line"),
        ("\n1,a\n", 1, "has no header with the columns 'id' and 'item'"),
        ("a,b\n1,a\n", 1, "has no header with the columns 'id' and 'item'"),
        ("a,b\n1,x\n", 1, "has no column 'id'; the columns are: a, b. Name yours with `id='a'` and `item='b'`"),
        ("id,thing\n1,a\n", 1, "has no column 'item'; the columns are: id, thing."),
        ("IDs,item\n1,a\n", 1, "has no column 'id'"),
        ("id,item,id\n1,a,2\n", 1, "has 2 columns 'id'; the columns are: id, item, id."),
        ("id,item,item\n1,a,2\n", 1, "has 2 columns 'item'"),
        (",".join(f"column-{i}" for i in range(900)), 1, "has no column 'id'; the columns are: column-0, "),
        ("key;item\n1;a\n", 1, "has no column 'id'; the columns are: key, item, separated by ';'."),
        ('id,"item\n1,a\n', 1, "the header is not valid CSV"),
        ('item,"id\nmore"\n1,a\n', 1, "the header is not valid CSV"),
        ("id,item\x1b[31m\n1,a\n", 1, "the header holds a control character"),
        (b"id,item,\xe9\n1,a,b\n", 1, "holds the byte 0xe9, which is not UTF-8 text"),
        ("id,item\n1,a\n2\n", 3, "has 1 field where the header has 2"),
        ("id,item\n1,a\n2,b,c\n", 3, "has 3 fields where the header has 2"),
        ("id,item\n\n1,a\n\n2,b,c\n", 5, "has 3 fields where the header has 2"),
        ('id,item,note\n1,a,"x\ny\nz"\n2,b\n', 5, "has 2 fields where the header has 3"),
        ("id,item\r1,a\r2\r", 3, "has 1 field where the header has 2"),
        ("id,item\n1,a\n2,\n", 3, "the column 'item' is empty or holds a control character"),
        ("id,item\n1,a\n,b\n", 3, "the column 'id' is empty or holds a control character"),
        ("id,item\n1,a\n\n\n2,\n", 5, "the column 'item' is empty"),
        ('id,item,note\n1,a,"x\ny"\n2,,z\n', 4, "the column 'item' is empty"),
        ('id,item\n1,"a\nb"\n', 2, "the column 'item' is empty or holds a control character"),
        ('id,item\n1,a\n2,"b\n3,c\n', 3, "the column 'item' is empty or holds a control character"),
        ("id,item\n1,a\n2,b\0\n", 3, "the column 'item' is empty or holds a control character"),
        (b"id,item\n1,a\n2,\xe9\n", 3, "holds the byte 0xe9, which is not UTF-8 text"),
        (b"id,item\n1,a\n2,b,\xe9\n", 3, "holds the byte 0xe9, which is not UTF-8 text"),
    ],
)
def test_bad_files_are_refused_with_file_and_line(written, content, line, sentence):
    path = written(content)
    with pytest.raises(BadData) as refused:
        read(path)
    place = str(path) if line is None else f"{path}, line {line}"
    assert str(refused.value).startswith(f"{place}: {sentence}")
    assert len(str(refused.value)) < len(place) + 400


def test_the_line_of_a_bad_row_far_into_a_large_file(written):
    rows = "".join(f"{i},item-{i % 100:090}\n" for i in range(200_000))
    assert len(rows) > READ_BLOCK
    with pytest.raises(BadData, match=r"line 200002: has 1 field where the header has 2"):
        read(written(f"id,item\n{rows}oops\n"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"id": "item"},
            "two columns have the same name 'item'; choose different columns with `id=`, `item=`, `items=`",
        ),
        ({"id": "a\nb"}, r"the column name 'a\\nb' is empty or holds a control character"),
        ({"separator": '"'}, "the separator is '\"'; allowed is one printable ASCII character or a tab"),
    ],
)
def test_a_layout_that_cannot_be(written, tmp_path, options, sentence):
    with pytest.raises(BadParameter, match=sentence):
        read(written("id,item\n1,a\n"), **options)
    with pytest.raises(BadParameter, match=sentence):
        Long().write(from_lists([["a"]], ids=["1"]), tmp_path / "out.csv", Layout(**options))
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("name", "layout", "content"),
    [
        ("out.csv", Layout(), '''id,item\n"p 1","a"\n"p 1","b,""c"""\n"p2","a"\n'''),
        ("out.tsv", Layout(), '''id\titem\n"p 1"\t"a"\n"p 1"\t"b,""c"""\n"p2"\t"a"\n'''),
        ("out.tsv", Layout(separator=";"), '''id;item\n"p 1";"a"\n"p 1";"b,""c"""\n"p2";"a"\n'''),
        ("out.csv", Layout(id="who", item="the, item"), '''who,"the, item"\n"p 1","a"\n"p 1","b,""c"""\n"p2","a"\n'''),
    ],
)
@pytest.mark.parametrize("gz", ["", ".gz"])
def test_a_row_an_item(tmp_path, name, layout, content, gz):
    path = tmp_path / f"{name}{gz}"
    data = from_lists([['b,"c"', "a"], ["a"]], ids=["p 1", "p2"])
    Long().write(data, path, layout)
    raw = path.read_bytes()
    assert (gzip.decompress(raw) if gz else raw).decode() == content
    assert Long().read(path, layout) == data


def test_data_without_records_is_a_header_alone(tmp_path):
    path = tmp_path / "out.csv"
    nobody = from_lists([], ids=[])
    Long().write(nobody, path, Layout())
    assert path.read_bytes() == b"id,item\n"
    assert read(path) == nobody


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            from_lists([["a"]]),
            "the format 'long' requires an id for each record, and the data have no ids; choose another format",
        ),
        (
            from_lists([["a"], [], []], ids=["1", "2", "3"]),
            "the format 'long' cannot hold the 2 empty records of the data; drop them with `empty='drop'`, or choose another format",
        ),
        (
            from_lists([["a\n"]], ids=["1"]),
            "an item is empty or holds a control character, which the format 'long' cannot hold; rename it",
        ),
        (
            from_lists([["a"]], ids=[""]),
            "an id is empty or holds a control character, which the format 'long' cannot hold; rename it",
        ),
        (
            from_lists([["a"]] * 5, ids=["1", "2", "3", "\t", "4"]),
            "an id is empty or holds a control character, which the format 'long' cannot hold; rename it",
        ),
    ],
)
def test_what_rows_cannot_hold_is_refused(tmp_path, monkeypatch, data, sentence):
    monkeypatch.setattr(texts, "_TEXTS_AT_ONCE", 3)
    with pytest.raises(OutputRefused) as refused:
        Long().write(data, tmp_path / "out.csv", Layout())
    assert str(refused.value) == sentence
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.realdata
def test_real_data_as_rows_is_the_same(real_data, tmp_path):
    basket = real_data("foodmart")
    data = basket.with_ids(basket.names())
    path = tmp_path / "foodmart.csv.gz"
    Long().write(data, path, Layout())
    assert read(path) == data


@pytest.mark.realdata
def test_rows_in_any_order_are_the_same_records(real_data, tmp_path):
    basket = real_data("foodmart")
    data = basket.with_ids(basket.names())
    path = tmp_path / "foodmart.csv"
    Long().write(data, path, Layout())
    header, *rows = path.read_text().splitlines()
    shuffled = np.random.default_rng(4).permutation(rows)
    path.write_text("\n".join([header, *shuffled]))
    back = read(path)
    order = np.argsort([int(name) for name in back.ids.to_pylist()])
    assert back.take(order) == data


def test_columns_that_only_arrow_does_not_find_are_a_fault_of_the_file(written, monkeypatch):
    def lost(*_given):
        raise pa.ArrowKeyError("Column 'item' in include_columns does not exist in CSV file")

    monkeypatch.setattr(csv_tables.pacsv, "open_csv", lost)
    with pytest.raises(BadData, match="cannot be read as CSV"):
        read(written("id,item\n1,a\n", "baskets.csv"))
