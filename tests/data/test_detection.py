"""The delimiter and the shape of a file: what is certain is read and noted, everything else is refused with the arguments that decide."""

import gzip
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import setveil as sv
from setveil.data.reading import detection


@pytest.fixture
def file(tmp_path):
    """Give a function that writes a file."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


RAGGED = [["a", "b", "c"], ["a", "d"], ["b"], ["a", "c", "d", "e"]]

FOUND = {
    "a semicolon": ("id;item\n1;a\n1;b\n", {"format": "long", "separator": ";"}, [["a", "b"]]),
    "a tab": ("id\titem\n1\ta\n", {"format": "long", "separator": "\t"}, [["a"]]),
    "a bar": ("id|item\n1|a\n", {"format": "long", "separator": "|"}, [["a"]]),
    "capitals": ("ID,ITEM\n1,a\n", {"format": "long", "id": "ID", "item": "ITEM"}, [["a"]]),
    "a spreadsheet": (
        '\ufeff"Id";"Item";"Note"\r\n"1";"a, b";"x;y"\r\n',
        {"format": "long", "separator": ";", "id": "Id", "item": "Item"},
        [["a, b"]],
    ),
    "items in cells": ("id;items\n1;a, rye b\n2;c\n", {"format": "wide", "separator": ","}, [["a", "rye b"], ["c"]]),
    "one item in each cell": ("Items;id\na;1\nb;2\n", {"format": "wide", "items": "Items"}, [["a"], ["b"]]),
    "capitals of items": (
        "id,Items\n1,a;b\n",
        {"format": "wide", "separator": ";", "items": "Items"},
        [["a", "b"]],
    ),
    "flags": ("id,a,b\n1,0,1\n2,1,1\n", {"format": "matrix"}, [["b"], ["a", "b"]]),
    "flags without ids": ("a;b\nFALSE;TRUE\nTRUE;TRUE\n", {"format": "matrix", "separator": ";"}, [["b"], ["a", "b"]]),
    "flags of R": ('"","a","b"\n"x",FALSE,TRUE\n"y",FALSE,FALSE\n', {"format": "matrix"}, [["b"], []]),
    "flags of pandas": (",a,b\n0,True,False\n1,False,False\n", {"format": "matrix"}, [["a"], []]),
    "numbered flags": ("1,2,3\n0,1,1\n1,1,0\n", {"format": "matrix"}, [["2", "3"], ["1", "2"]]),
    "ragged lines": ("".join(",".join(r) + "\n" for r in RAGGED), {"format": "wide", "ragged": True}, RAGGED),
    "padded ragged lines": (
        "".join(";".join([*r, "", "", "", ""][:4]) + "\n" for r in RAGGED),
        {"format": "wide", "ragged": True, "separator": ";"},
        RAGGED,
    ),
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_certain_is_read_noted_and_recorded(file, notes, name, packed):
    content, options, lists = FOUND[name]
    path = file(gzip.compress(content.encode()), "data.csv.gz") if packed else file(content)
    data = sv.read(path)
    assert data.to_lists() == lists
    assert data.source.options == options
    assert all(f"`{name}={value!r}`" in notes() for name, value in options.items())
    assert sv.read(path, **data.source.options) == data


@pytest.mark.parametrize(
    "content",
    ["id,item\n1,a;b\n", "id,items\n1,a;b c d\n", "item,id,items\na,1,x\n", 'id,item\n1,"a"\n'],
)
def test_files_that_the_defaults_read_are_not_examined(file, notes, monkeypatch, content):
    def examined(*_arguments):
        raise AssertionError

    monkeypatch.setattr(detection._Sample, "of", examined)
    data = sv.read(file(content))
    assert data.source.options == {}
    assert notes() == ""


UNCERTAIN = {
    "other names": (
        "Customer ID;Product;Date\n1;a;2020\n1;b;2021\n",
        ["the columns are: Customer ID, Product, Date, separated by ';'", "`id='Customer ID'` and `item='Product'`"],
    ),
    "no name at all": ("a;b;c,x\nd;a\nb\na;c;d;e\n", ["`ragged=True` and `separator=';'`", "`no_header=True`"]),
    "an unnamed column of ids": ("patient,a,b\np1,0,1\np2,1,1\n", ["`format='matrix'` and `id='patient'`"]),
    "flags with a gap": (
        "id;a;b\nx;1;0\ny;;1\n",
        ["All columns except 'id' hold 0 or 1 or nothing: use `format='matrix'` and `missing='drop'`"],
    ),
    "no flag is set": ("a,b\n0,0\n0,0\n", ["All columns hold 0 or 1: use `format='matrix'`"]),
    "rows of the same length": ("1,2\n3,4\n", ["`ragged=True`", "`no_header=True`"]),
    "flags or numbered items": ("1,2\n0,1\n1,1\n", ["`ragged=True`"]),
    "flags without a header": ("0,1,0\n0,1,1\n1,1,0\n", ["`ragged=True`"]),
    "one column of flags": ("a;hiv\n1;0\n2;1\n", ["`id='a'` and `item='hiv'`"]),
    "flags of one kind": ("p,a,b\n1,yes,0\n2,yes,1\n", ["`id='p'`"]),
    "a broken table": ("Who,What,When\n1,a,2020\n2,b, white,2021\n3,c,2020\n4,d,2021\n", ["no header"]),
    "a title before the table": ("Sales of May\nid;item\n1;a\n2;b\n3;c\n4;d\n", ["no header"]),
    "R's arules, single": ('"t1","citrus fruit"\n"t1","soup"\n"t2","soup"\n', ["`no_header=True`"]),
    "two separators in cells": ("id;items\n1;a,b|x\n", ["`separator=','` or `separator='|'`"]),
    "blanks in cells": ("id;items\n1;rye bread\n", ["`separator=' '`"]),
    "one column": ("milk\nbread\n", ["`items='milk'`"]),
}


@pytest.mark.parametrize("name", UNCERTAIN)
def test_what_is_not_certain_is_refused_with_the_arguments_that_decide(file, notes, name):
    content, remedies = UNCERTAIN[name]
    path = file(content)
    with pytest.raises(sv.BadData) as refused:
        sv.read(path)
    assert str(refused.value).startswith(str(path))
    assert [remedy for remedy in remedies if remedy not in str(refused.value)] == []
    assert notes() == ""


@pytest.mark.parametrize(
    ("options", "content", "lists"),
    [
        ({"id": "Customer ID", "item": "Product"}, "Customer ID;Product;Date\n1;a;2020\n1;b;2021\n", [["a", "b"]]),
        ({"id": "patient"}, "patient,a,b\np1,0,1\np2,1,1\n", [["b"], ["a", "b"]]),
        ({"no_header": True}, '"t1","citrus fruit"\n"t1","soup"\n"t2","soup"\n', [["citrus fruit", "soup"], ["soup"]]),
        ({"no_header": True}, "1;a\n1;b\n", [["a", "b"]]),
        ({"no_header": True, "id": "2", "item": "3"}, "x,1,a\ny,1,b", [["a", "b"]]),
        ({"ragged": True, "separator": ";"}, "a;b;c,x\nd\n", [["a", "b", "c,x"], ["d"]]),
        ({"separator": ","}, "id;items\n1;a,b|x\n", [["a", "b|x"]]),
        ({"separator": " "}, "id;items\n1;rye bread\n", [["bread", "rye"]]),
        ({"format": "matrix"}, "milk\n1\n0\n", [["milk"], []]),
        ({"format": "attributes"}, "age;sex\n39;m\n", [["age=39", "sex=m"]]),
        ({"separator": ";"}, "ID;Item\n1;a\n", [["a"]]),
    ],
)
def test_arguments_decide(file, options, content, lists):
    data = sv.read(file(content), **options)
    assert data.to_lists() == lists
    assert sv.read(file(content), **data.source.options) == data


def test_a_named_column_that_is_not_there_is_refused_with_the_columns_that_are(file):
    with pytest.raises(sv.BadData, match="has no column 'who'; the columns are: Customer, Product"):
        sv.read(file("Customer;Product\n1;a\n"), id="who", item="Product")


def test_one_message_names_the_columns_and_the_encoding(file):
    content = "Kunde;Artikel;Käse\n1;Brot;x\n".encode("cp1252")
    with pytest.raises(sv.BadData) as refused:
        sv.read(file(content))
    for part in ("`id='Kunde'` and `item='Artikel'`", "not UTF-8 text either", "`encoding='cp1252'`"):
        assert part in str(refused.value)
    read = sv.read(file(content), id="Kunde", item="Artikel", encoding="cp1252")
    assert read.to_lists() == [["Brot"]]


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize(
    ("options", "content", "lists"),
    [
        ({"format": "attributes"}, "ID,age\n7,39\n8,41\n", [["age=39"], ["age=41"]]),
        ({"format": "matrix"}, "ID,a,b\n7,1,0\n8,1,1\n", [["a"], ["a", "b"]]),
        ({}, "ID,items\n7,a b\n8,a\n", [["a", "b"], ["a"]]),
        ({"items": "Basket"}, "Id,Basket\n7,a b\n8,a\n", [["a", "b"], ["a"]]),
    ],
)
def test_ids_are_found_in_any_letter_case_with_any_separator(file, notes, options, content, lists, separator):
    blanks = {"separator": " "} if "a b" in content else {}
    data = sv.read(file(content.replace(",", separator)), **options, **blanks)
    assert data.to_lists() == lists
    assert data.ids.to_pylist() == ["7", "8"]
    assert "`id='I" in notes()


def test_two_ways_to_split_are_refused(file):
    with pytest.raises(sv.BadData, match=r"`separator=';'` or `separator='\|'`"):
        sv.read(file("a;b|c\n1;2|3\n"), format="attributes")


def test_only_the_beginning_of_a_file_is_examined(file, monkeypatch):
    monkeypatch.setattr(detection, "SAMPLE_BYTES", 64)
    rows = "".join(f"p{number},0,1\np{number}x,1,0\n" for number in range(50))
    with pytest.raises(sv.BadData, match=r"line 102: the column 'a' has another value; expected 0 or 1"):
        sv.read(file(f"id,a,b\n{rows}p,7,1\n"))


def test_a_first_line_that_is_too_long_to_be_examined_is_refused_with_the_format(file):
    names = [f"item {number}" for number in range(40_000)]
    path = file(f"{','.join(names)}\n{','.join('01'[number == 7] for number in range(40_000))}\n")
    with pytest.raises(sv.BadData, match=r"line 1: the first line is longer than 256 KiB.*`format='matrix'`"):
        sv.read(path)
    assert sv.read(path, format="matrix").to_lists() == [["item 7"]]


def test_the_same_beginning_is_read_in_the_same_way_whatever_follows(file):
    dice = random.Random(1)  # noqa: S311 - test data
    lines = [",".join(dice.sample("abcdefgh", dice.randint(1, 6))) for _ in range(40_000)]
    path = file("\n".join(lines))
    assert path.stat().st_size > detection.SAMPLE_BYTES
    data = sv.read(path)
    assert data.records == len(lines)
    assert data.source.options == {"format": "wide", "ragged": True}


def test_parquet_with_flags_is_a_0_1_table(tmp_path):
    path = tmp_path / "flags.parquet"
    pq.write_table(pa.table({"id": ["x", "y"], "a": [True, False], "b": [True, None]}), path)
    with pytest.raises(sv.BadData, match=r"row 2: the column 'b' has a missing value.*`missing='drop'`"):
        sv.read(path)
    assert sv.read(path, missing="drop").to_lists() == [["a", "b"], []]


def test_a_release_records_how_its_original_was_read(tmp_path, file):
    path = file("ID;Item\n" + "".join(f"{number};{item}\n" for number in range(8) for item in "ab"))
    sv.publish(path, sv.Disassociation(k=2, m=1), out=tmp_path / "release")
    verdict = sv.check(tmp_path / "release", original=path)
    assert verdict
    opened = sv.read(path)
    assert opened.source.options == {"format": "long", "separator": ";", "id": "ID", "item": "Item"}


def test_rows_without_a_header_are_long(file):
    with pytest.raises(sv.BadParameter, match="`no_header=True` goes with the format 'long', not with 'wide'"):
        sv.read(file("1,a\n"), format="wide", no_header=True)


TABLE_IN_LINES = "Customer ID\tProduct name\n1\trye bread\n1\tmilk\n2\tmilk\n"


def test_a_table_in_a_text_file_is_refused_with_the_options_that_decide(file):
    path = file(TABLE_IN_LINES, "sales.txt")
    with pytest.raises(sv.BadData) as refusal:
        sv.read(path)
    assert "line 1: looks like the header of a table with the columns Customer ID, Product name" in str(refusal.value)
    assert "`id='Customer ID'` and `item='Product name'`" in str(refusal.value)
    assert sv.read(path, format="basket").records == 4
    assert sv.read(path, separator="\t").records == 4


@pytest.mark.parametrize("named", [{}, {"format": "long"}])
def test_named_columns_are_found_in_a_text_file(file, notes, named):
    path = file(TABLE_IN_LINES, "sales.txt")
    data = sv.read(path, id="Customer ID", item="Product name", **named)
    assert data.to_lists() == [["milk", "rye bread"], ["milk"]]
    assert "`format='long'`" in notes()
    assert sv.read(path, **data.source.options) == data


def test_rows_without_a_header_in_a_text_file(file):
    path = file('"1" "rye bread"\n"1" "milk"\n"2" "milk"\n', "single.txt")  # as R's arules writes them
    data = sv.read(path, format="long", no_header=True, separator=" ")
    assert data.to_lists() == [["milk", "rye bread"], ["milk"]]


@pytest.mark.parametrize("given", [{"item": "c"}, {"items": "c"}, {"ragged": True}, {"no_header": True}])
def test_options_of_tables_are_not_ignored_in_silence(file, given):
    (name,) = given
    with pytest.raises(sv.BadParameter, match=f"`{name}=(True)?` goes with a table.*`format='long'`"):
        sv.read(file("a b\nb\n", "data.dat"), **given)


@pytest.mark.parametrize("content", ["1\t2\n3\t4\n5\t6\n", "a\tb\nb\tc\nd\te\n", "a\tb\nc\n", "a b\nc d\ne f\n"])
def test_lines_that_can_be_records_are_read_without_examination(file, content):
    assert sv.read(file(content, "data.txt")).records == content.count("\n")
