"""Side files that are tables: the same rows in every format, the column of the items, and what is refused."""

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

import setveil as sv
from setveil.data.files.side_tables import SEPARATORS, open_table, read_table
from setveil.data.records.transactions import from_lists
from setveil.errors import BadData, BadParameter
from setveil.parameters.categories import read_categories
from setveil.parameters.hierarchy_files import read_hierarchy
from setveil.parameters.named_itemsets import read_itemsets
from setveil.parameters.sensitive_items import read_sensitive

FILE_NAME = "side.csv"
ROWS = [
    {"item": "7", "aisle": "dairy, cold", "section": "food"},
    {"item": "8", "aisle": 'a "quote"', "section": "food"},
    {"item": "9", "aisle": "wash", "section": "care"},
]
ENDINGS = [
    ".csv",
    ".csv.gz",
    ".tsv",
    ";.csv",
    "|.csv",
    "\t.txt",
    ".jsonl",
    ".ndjson.gz",
    ".parquet",
    ".arrow",
    ".feather",
]


def text_table(rows, separator=","):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


@pytest.fixture
def saved(tmp_path):
    """Give a function that writes rows to a file with this ending, after the separator of columns, if it is not usual."""

    def save(rows, ending):
        separator, suffix = (ending[0], ending[1:]) if ending[0] != "." else ("\t" if ".tsv" in ending else ",", ending)
        path = tmp_path / f"table{suffix}"
        table = pa.Table.from_pylist(rows)
        if ".parquet" in suffix:
            pq.write_table(table, path)
        elif suffix in (".arrow", ".feather"):
            feather.write_feather(table, path)
        else:
            is_json = "json" in suffix
            content = (
                "".join(json.dumps(row) + "\n" for row in rows).encode() if is_json else text_table(rows, separator)
            )
            path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
        return path

    return save


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_the_same_values(saved, ending):
    path = saved(ROWS, ending)
    assert dict(read_categories(path, level="section")) == {"7": "food", "8": "food", "9": "care"}
    assert read_hierarchy(path).ancestors("7") == ("dairy, cold", "food", "*")
    assert list(read_sensitive(path, item_column="item")) == ["7", "8", "9"]


@pytest.mark.parametrize("ending", [".jsonl", ".parquet", ".arrow"])
def test_whole_numbers_become_text_and_missing_values_empty_fields(saved, ending):
    rows = [{"item": 7, "aisle": 1, "section": 10}, {"item": 8, "aisle": None, "section": 10}]
    tree = read_hierarchy(saved(rows, ending))
    assert tree.parent_of() == {"7": "1", "1": "10", "8": "10"}


@pytest.mark.parametrize("separator", SEPARATORS)
@given(rows=st.lists(st.tuples(*[st.text("ab ;,|\t'\"é", max_size=4)] * 2), max_size=4))
def test_any_usual_separator_is_found(tmp_path_factory, separator, rows):
    path = tmp_path_factory.getbasetemp() / "separated.csv"
    path.write_bytes(
        text_table([{"item": "x", "category": "y"}, *({"item": a, "category": b} for a, b in rows)], separator)
    )
    table = open_table(str(path))
    assert table.columns == ("item", "category")
    assert [tuple(fields) for _number, fields in table.read((0, 1))] == [("x", "y"), *rows]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("item;name, long;brand, own\n", ("item", "name, long", "brand, own")),
        ("Item;a,b,c,d\n", ("Item", "a,b,c,d")),
        ("code,a;b\n", ("code", "a;b")),
        ('"item";"a"\n', ("item", "a")),
    ],
)
def test_the_separator_is_that_of_the_column_of_items(written, header, columns):
    assert open_table(str(written(header))).columns == columns


# -- the column of the items -------------------------------------------------------------------------------------------

SHOP = from_lists([[f"thing {i}" for i in range(10)], ["milk", "tea"]])
NAMES = [f"thing {i}" for i in range(10)]


def shop_rows(count, **more):
    return [
        {"code": f"c{i}", "name": name, "shelf": f"s{i % 3}"} | more
        for i, name in enumerate([*NAMES, "milk", "tea"][:count])
    ]


def test_the_column_that_holds_all_items_is_used_with_a_note(written, notes):
    path = written(text_table(shop_rows(12)))
    assert read_categories(path, level="shelf", data=SHOP)["milk"] == "s1"
    assert (
        f"{path}: the column 'name' matches 12 of 12 items of the data and holds the items; choose another with"
        in notes()
    )


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            shop_rows(9),
            "the column 'name' matches 9 of 12 items of the data: pass `item_column='name'`; the columns are: code, name, shelf",
        ),
        (
            shop_rows(5),
            "expected a header with the column 'item'; the columns are: code, name, shelf; name yours with `item_column=`",
        ),
        (
            [{"item": row["code"], "name": row["name"], "shelf": row["shelf"]} for row in shop_rows(12)],
            "the column 'name' matches 12 of 12 items of the data, and 'item' does not: pass `item_column='name'`",
        ),
        (
            [row | {"label": row["name"]} for row in shop_rows(12)],
            "expected a header with the column 'item'; the columns are: code, name, shelf, label; name yours",
        ),
    ],
    ids=["most", "few", "usual", "two"],
)
def test_a_column_in_doubt_is_named_not_used(written, rows, sentence):
    path = written(text_table(rows))
    for read in (read_categories, read_hierarchy):
        with pytest.raises(BadData) as refused:
            read(path, data=SHOP)
        assert str(refused.value).startswith(f"{path}, line 1: {sentence}")


@pytest.mark.parametrize("read", [read_categories, read_hierarchy, read_sensitive])
def test_a_file_without_a_header_is_not_read_without_its_first_line(written, read):
    path = written("".join(f"{row['name']};{row['shelf']}\n" for row in shop_rows(12)))
    with pytest.raises(BadData) as refused:
        read(path, data=SHOP)
    sentence = "has no header: its first line holds an item of the data; add a header such as item,category"
    assert str(refused.value) == f"{path}, line 1: {sentence}"


@pytest.mark.parametrize("wanted", ["name", "NAME", "item,name", " nothing , Name"])
def test_the_wanted_column_is_used(written, wanted):
    assert read_table(str(written(text_table(shop_rows(3)))), wanted).item == "name"


@pytest.mark.parametrize(
    ("columns", "wanted", "sentence"),
    [
        (("Name", "NAME", "x"), "name", "has the columns 'Name', 'NAME'; rename all but one of them"),
        (("name", "name", "x"), "name", "has 2 columns 'name'; expected each column once"),
        (("name", "x"), "nmae", "has no column 'nmae'; the columns are: name, x; did you mean 'name'?"),
        (("name", "x"), "zzz", "has no column 'zzz'; the columns are: name, x"),
    ],
)
def test_wanted_columns_that_are_not_there_once(written, columns, wanted, sentence):
    path = written(",".join(columns) + "\n" + ",".join("abc"[: len(columns)]) + "\n")
    with pytest.raises(BadData) as refused:
        read_categories(path, level="x", item_column=wanted)
    assert str(refused.value) == f"{path}, line 1: {sentence}"


def test_names_of_columns_match_regardless_of_case(written, notes):
    path = written("ITEM;Name;Department\n1;a;x\n2;b;y\n")
    assert dict(read_categories(path, level="department")) == {"1": "x", "2": "y"}
    assert "'item' is the column 'ITEM', whose case differs" in notes()
    assert "'department' is the column 'Department', whose case differs" in notes()


@pytest.mark.parametrize(("level", "close"), [("departement", "Department"), ("Naem", "Name")])
def test_a_wrong_level_is_told_the_close_one(written, level, close):
    path = written("item,Name,Department\n1,a,x\n")
    with pytest.raises(
        BadData, match=f"has no level '{level}'; the levels are: Name, Department; did you mean '{close}'"
    ):
        read_categories(path, level=level)
    with pytest.raises(BadData, match=f"did you mean '{close}'"):
        read_hierarchy(path, levels=level)


def test_columns_that_are_not_used_may_be_anything(saved, written):
    rows = [{"item": 1, "price": 2.5, "on": True, "tags": ["a"], "category": "x"}]
    assert dict(read_categories(saved(rows, ".parquet"))) == {"1": "x"}
    assert dict(read_categories(saved(rows, ".jsonl"))) == {"1": "x"}
    assert dict(read_categories(written("item,category,,\n1,x,,\n"))) == {"1": "x"}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.parquet", b"item,category\n", "a.parquet: is not a complete Parquet file"),
        ("a.parquet", b"", "a.parquet: is empty; expected a table"),
        ("a.parquet.gz", b"", "a.parquet.gz: is compressed, but Parquet and Arrow files are compressed inside"),
        ("a.csv", b"PAR1\x15\x04\x15", "a.csv: is a Parquet file; rename it to .parquet"),
        (
            "a.jsonl",
            b'{"item": 1, "category": 2.5}\n',
            "a.jsonl, line 1: the field 'category' is a number with a fraction",
        ),
        ("a.jsonl", b'{"item": "a", "category": "x"}\n[1]\n', "a.jsonl, line 2: is a list; expected an object such as"),
        ("a.jsonl", b'{"item": "a", "category"\n', "a.jsonl, line 1: is not JSON"),
        ("a.jsonl", b'{"item": "a"}\n', "a.jsonl, line 1: has only the column 'item'"),
        ("a.csv", b'"item\n', "a.csv, line 1: is not valid CSV"),
    ],
)
def test_tables_that_cannot_be_read(written, name, content, sentence):
    with pytest.raises(BadData) as refused:
        read_categories(written(content, name))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([{"item": 1.5, "category": "x"}], "the column 'item' has the type double; expected text or whole numbers"),
        (
            [{"item": "a", "category": "x"}, {"item": "a", "category": "y"}],
            "row 2: item 'a' has two categories, 'y' here and 'x' in an",
        ),
        ([{"item": "a", "category": "x"}, {"item": "b", "category": None}], "row 2: an item or its category is empty"),
    ],
)
def test_rows_of_parquet_are_named_by_their_number(saved, rows, sentence):
    with pytest.raises(BadData) as refused:
        read_categories(saved(rows, ".parquet"))
    assert sentence in str(refused.value)


# -- lists in tables ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("a.csv", "milk\ntea\n", {}),
        ("a.csv", "Item\nmilk\ntea\n", {}),
        ("a.csv", "code\nmilk\ntea\n", {"item_column": "code"}),
        ("a.tsv", "item\tprice\nmilk\t1\ntea\t2\n", {}),
        ("a.csv", "Code;Label\n1;milk\n2;tea\n", {"item_column": "label"}),
        ("a.csv", "Code;Label\n1;milk\n2;tea\n", {"data": SHOP}),
        ("a.txt", "Code;Label\n1;milk\n2;tea\n", {"item_column": "label"}),
        ("a.txt", "milk\ntea\n", {"item_column": "label"}),
        ("a.jsonl", '"milk"\n"tea"\n', {}),
        ("a.jsonl", '{"item": "milk"}\n{"item": "tea"}\n', {}),
    ],
)
def test_sensitive_items_are_a_list_or_a_column(written, name, content, options):
    assert read_sensitive(written(content, name), **options) == ("milk", "tea")


def test_a_list_without_columns_is_read_as_such_with_a_note(written, notes):
    read_sensitive(written("milk\n", "a.txt"), item_column="code")
    assert notes().endswith("a.txt is a list without columns, so `item_column=` does not apply to it")


@pytest.mark.parametrize(
    ("name", "content", "options", "sentence"),
    [
        ("a.csv", "code\nmilk\n", {"item_column": "label"}, "line 1: has no column 'label'; the columns are: code"),
        (
            "a.csv",
            "Code;Label\n1;milk\n2;wine\n",
            {"data": SHOP},
            "'Label' matches 1 of 2 names in it with items of the data: pass",
        ),
        (
            "a.csv",
            "Code;Label\n1;wine\n",
            {"data": SHOP},
            "expected a header with the column 'item'; the columns are: Code, Label; name",
        ),
        ("a.csv", "item;x\nmilk;1\n;2\n", {}, "line 3: the item '' is empty"),
        ("a.csv", "item;x\n", {}, "is empty; expected one sensitive item per line"),
        ("a.jsonl", '"milk"\n2.5\n', {}, "line 2: an item is a number with a fraction"),
    ],
)
def test_columns_of_sensitive_items_that_cannot_be_read(written, name, content, options, sentence):
    with pytest.raises(BadData) as refused:
        read_sensitive(written(content, name), **options)
    assert sentence in str(refused.value)


LISTS = [["milk", "tea"], ["7"]]


@pytest.mark.parametrize(
    ("rows", "ending", "options"),
    [
        ([{"items": one} for one in LISTS], ".parquet", {}),
        ([{"Items": one, "support": 3} for one in LISTS], ".arrow", {}),
        ([{"items": [7]}, {"items": [8, 7]}], ".parquet", {}),
        ([{"items": " ".join(one), "share": "0.5"} for one in LISTS], ".csv", {}),
        ([{"id": 1, "items": ";".join(one)} for one in LISTS], ".csv", {"separator": ";"}),
        ([{"id": n, "item": item} for n, one in enumerate(LISTS) for item in one], ".csv", {}),
        ([{"id": n, "item": item} for n, one in enumerate(LISTS) for item in one], ".parquet", {}),
        ([{"ID": n, "code": item} for n, one in enumerate(LISTS) for item in one], ".tsv", {"item_column": "Code"}),
        ([{"basket": one} for one in LISTS], ".parquet", {"item_column": "basket"}),
        ([{"basket": one} for one in LISTS], ".jsonl", {"item_column": "basket"}),
        ([{"items": one} for one in LISTS], ".jsonl.gz", {}),
    ],
)
def test_itemsets_have_every_format_of_data(saved, rows, ending, options):
    expected = [{"7"}, {"7", "8"}] if rows[0].get("items") == [7] else list(map(set, LISTS))
    assert list(map(set, read_itemsets(saved(rows, ending), **options))) == expected


@pytest.mark.parametrize(
    ("rows", "ending", "options", "sentence"),
    [
        (
            [{"items": ["milk"]}, {"items": []}],
            ".parquet",
            {},
            "row 2: is blank; expected an itemset of at least one item",
        ),
        ([{"items": ["milk", None]}], ".parquet", {}, "row 1: an item is of the type NoneType"),
        ([{"items": ["mi\nlk"]}], ".parquet", {}, r"row 1: the item 'mi\nlk' holds a control character"),
        ([{"items": [1.5]}], ".parquet", {}, "row 1: an item is of the type float; expected text or a whole number"),
        ([{"items": "milk"}, {"items": " "}], ".csv", {}, "line 3: is blank; expected an itemset"),
        ([{"id": 1, "item": ""}], ".csv", {}, "line 2: the item '' is empty"),
        ([{"basket": ["milk"]}], ".parquet", {}, "has no column 'items'; the columns are: basket"),
        (
            [{"basket": ["milk"]}],
            ".parquet",
            {"item_column": "baskte"},
            "has no column 'baskte'; the columns are: basket; did you mean",
        ),
    ],
)
def test_tables_of_itemsets_that_cannot_be_read(saved, rows, ending, options, sentence):
    with pytest.raises(BadData) as refused:
        read_itemsets(saved(rows, ending), **options)
    assert sentence in str(refused.value)


def test_mined_itemsets_are_read_in_each_format(tmp_path):
    found = sv.mine(from_lists([["milk", "tea"], ["milk", "tea"], ["milk"]]), 1)
    for ending in (".csv", ".jsonl", ".txt", ".parquet", ".arrow", ".csv.gz"):
        sv.write_mined(found, tmp_path / f"mined{ending}")
        assert set(read_itemsets(tmp_path / f"mined{ending}")) == {("milk",), ("tea",), ("milk", "tea")}


# -- other encodings ---------------------------------------------------------------------------------------------------

READERS = {
    "categories.csv": (lambda path, **options: dict(read_categories(path, **options)), "item;category\ncafé;thé\n"),
    "tree.csv": (lambda path, **options: read_hierarchy(path, **options).parent_of(), "item,parent\ncafé,thé\n"),
    "list.txt": (lambda path, **options: list(read_sensitive(path, **options)), "café\nthé\n"),
    "codes.csv": (lambda path, **options: list(read_sensitive(path, item_column="nom", **options)), "nom;x\ncafé;1\n"),
    "sets.txt": (lambda path, **options: list(read_itemsets(path, **options)), "café thé\n"),
    "sets.jsonl": (lambda path, **options: list(read_itemsets(path, **options)), '["café"]\n'),
}


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("name", READERS)
def test_text_that_is_not_utf8_has_the_encoding_that_was_named(written, name, packing):
    read, content = READERS[name]
    expected = read(written(content, name + packing))
    for encoding in ("cp1252", "utf-16"):
        path = written(content.encode(encoding), encoding + name + packing)
        with pytest.raises(BadData, match=r"`side_encoding='(cp1252|utf-16)'`"):
            read(path)
        assert read(path, side_encoding=encoding) == expected
    assert read(written(content, name + packing), side_encoding="cp1252") == expected, "UTF-8 is read as it is"


def test_unknown_encodings_are_refused(written):
    with pytest.raises(BadParameter, match="the encoding is 'cp9999'"):
        read_sensitive(written("a\n"), side_encoding="cp9999")
    with pytest.raises(BadData, match="there is no such file"):
        read_categories("nowhere.csv", side_encoding="cp1252")
