"""Data files that cannot be read: each with its bytes, its options, the place of what is wrong, and what must be said of it."""

import datetime as dt
import decimal
import gzip
import io
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

TEXT = b"a b\nc d\na d\n"
LONG = b"id,item\np1,a\np2,b\np1,c\n"
LISTS = b'{"id": "p1", "items": ["a", "b"]}\n{"id": "p2", "items": []}\n'


@dataclass(frozen=True)
class Bad:
    """A file that cannot be read."""

    name: str
    file: str
    content: bytes
    says: str
    place: str = ""
    options: tuple[str, ...] = ()

    def __str__(self):
        return f"{self.file.partition('.')[2]}: {self.name}"


def zst(content):
    return pa.compress(content, "zstd", asbytes=True)


def parquet(columns, names=None):
    sink = io.BytesIO()
    pq.write_table(_table(columns, names), sink)
    return sink.getvalue()


def arrow(columns, names=None, opened=pa.ipc.new_file):
    table = _table(columns, names)
    sink = io.BytesIO()
    with opened(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def stream(columns):
    return arrow(columns, opened=pa.ipc.new_stream)


def _table(columns, names):
    return pa.table(columns) if names is None else pa.Table.from_arrays([pa.array(c) for c in columns], names=names)


RAGGED, WIDE = ("--ragged",), ("--items", "items")
GZIP, ZST = gzip.compress(TEXT * 50, mtime=0), zst(TEXT * 50)
NOT_GZIP, NOT_ZST = "is not a complete gzip file (", "is not a complete zstd file ("
NOT_PARQUET, NOT_ARROW = "is not a complete Parquet file (", "is not a complete Arrow file ("
CONTROL_BYTE, NOT_UTF8 = "holds the control byte 0x", "which is not UTF-8 text"
RULE = "is empty or holds a control character"
NUMBERS = "must be text or whole numbers"
NO_ITEMS = "has no field 'items'; the fields are: "

PACKED = [
    Bad("cut", "bad.dat.gz", GZIP[:30], NOT_GZIP),
    Bad("end cut", "bad.csv.gz", gzip.compress(LONG)[:-3], NOT_GZIP),
    Bad("damaged", "bad.dat.gz", GZIP[:15] + b"\xff" * 8 + GZIP[23:], NOT_GZIP),
    Bad("checksum wrong", "bad.jsonl.gz", gzip.compress(LISTS)[:-8] + bytes(8), NOT_GZIP),
    Bad("garbage after it", "bad.dat.gz", GZIP + b"garbage", NOT_GZIP),
    Bad("not packed", "bad.dat.gz", TEXT, NOT_GZIP),
    Bad("of no bytes", "bad.dat.gz", b"", "is empty"),
    Bad("cut", "bad.dat.zst", ZST[:-9], NOT_ZST),
    Bad("damaged", "bad.csv.zst", zst(LONG * 50)[:8] + b"\xff" * 8, NOT_ZST),
    Bad("garbage after it", "bad.dat.zst", ZST + b"garbage", NOT_ZST),
    Bad("packed under a plain name", "bad.dat", GZIP, "is compressed with gzip, but its name does not end in .gz"),
    Bad("zstd under a plain name", "bad.csv", ZST, "is compressed with Zstandard, but its name does not end in .zst"),
    Bad("packed twice", "bad.dat.gz", gzip.compress(GZIP), "is compressed with gzip"),
    Bad("Parquet", "bad.csv", parquet({"id": ["p"], "item": ["a"]}), "is a Parquet file; rename it to .parquet"),
    Bad("Parquet", "bad.dat", parquet({"items": [["a"]]}), "is a Parquet file; rename it to .parquet"),
    Bad("Arrow", "bad.jsonl", arrow({"items": [["a"]]}), "is an Arrow file; rename it to .arrow"),
    Bad("CSV", "bad.parquet", LONG, NOT_PARQUET),
    Bad("CSV", "bad.arrow", LONG, NOT_ARROW),
    Bad("Arrow", "bad.parquet", arrow({"items": [["a"]]}), NOT_PARQUET),
    Bad("Parquet", "bad.arrow", parquet({"items": [["a"]]}), NOT_ARROW),
    Bad("cut", "bad.parquet", parquet({"items": [["a"]]})[:-30], NOT_PARQUET),
    Bad("cut", "bad.arrow", stream({"items": [["a"]]})[:-90], NOT_ARROW),
    Bad(
        "packed", "bad.parquet.gz", gzip.compress(parquet({"items": [["a"]]})), "compressed inside; decompress it first"
    ),
    Bad("packed", "bad.arrow.zst", zst(arrow({"items": [["a"]]})), "compressed inside; decompress it first"),
    Bad("a ZIP archive", "bad.csv", b"PK\x03\x04rest", "is a ZIP archive or a spreadsheet"),
    Bad("an SQLite database", "bad.dat", b"SQLite format 3\0rest", "name it as sqlite:///PATH, with --query"),
]

ENCODED = [
    Bad("NUL", "bad.dat", b"a b\nc\0d\n", CONTROL_BYTE + "00", "line 2"),
    Bad("escape", "bad.dat", b"a\nb\n\x1b[31mc\n", CONTROL_BYTE + "1b", "line 3"),
    Bad("delete", "bad.dat", b"a\x7f\n", CONTROL_BYTE + "7f", "line 1"),
    Bad("NUL", "bad.csv", b"id,item\np1,a\np2,b\0\n", f"the column 'item' {RULE}", "line 3"),
    Bad("bell in an id", "bad.csv", b"id,item\np1,a\np\x072,b\n", f"the column 'id' {RULE}", "line 3"),
    Bad("NUL in the header", "bad.csv", b"id,it\0em\np1,a\n", "the header holds a control character", "line 1"),
    Bad("line break in a value", "bad.csv", b'id,item\np1,a\np2,"b\nc"\np3,d\n', RULE, "line 3"),
    Bad("NUL", "bad.jsonl", b'["a"]\n["b\0"]\n', "is not JSON (Invalid control character at", "line 2"),
    Bad("escaped NUL", "bad.jsonl", b'["a"]\n["b\\u0000"]\n', f"the column 'items' {RULE}", "line 2"),
    Bad("NUL", "bad.csv", b"a,b\nc,\0\n", "an item between two ',' holds a control character", "line 2", RAGGED),
    Bad("NUL", "bad.parquet", parquet({"items": [["a"], ["b\0"]]}), f"the column 'items' {RULE}", "row 2"),
    Bad("latin 1", "bad.dat", b"tea\ncaf\xe9\n", "holds the byte 0xe9, which is not UTF-8 text", "line 2"),
    Bad("latin 1", "bad.csv", b"id,item\np1,tea\np2,caf\xe9\n", NOT_UTF8, "line 3"),
    Bad("latin 1 in the header", "bad.csv", b"id,caf\xe9,item\np1,a,b\n", NOT_UTF8, "line 1"),
    Bad("latin 1", "bad.tsv", b"id\titem\np1\tcaf\xe9\n", NOT_UTF8, "line 2"),
    Bad("latin 1", "bad.jsonl", b'["tea"]\n["caf\xe9"]\n', NOT_UTF8, "line 2"),
    Bad("latin 1", "bad.csv", b"tea\ncaf\xe9\n", NOT_UTF8, "line 2", RAGGED),
    Bad("half a character at the end", "bad.csv", b"id,item\np1,a\np2,b,\xe2\x82", NOT_UTF8, "line 3"),
    Bad("half a character at the end", "bad.dat", b"a\nb\xe2\x82", NOT_UTF8, "line 2"),
    Bad(
        "latin 1, a colon in the name",
        "bad: file.dat",
        b"a\n\xe9\n",
        "bad: file.dat, line 2: holds the byte 0xe9",
        "line 2",
    ),
    Bad("an overlong character", "bad.dat", b"a\n\xc0\xafb\n", NOT_UTF8, "line 2"),
    Bad("a surrogate in bytes", "bad.dat", b"a\n\xed\xa0\x80\n", NOT_UTF8, "line 2"),
    Bad("byte order mark only", "bad.dat", b"\xef\xbb\xbf", "is empty; expected one record per line"),
    Bad("byte order mark only", "bad.csv", b"\xef\xbb\xbf", "is empty; expected a header line"),
    Bad("byte order mark only", "bad.jsonl", b"\xef\xbb\xbf", "is empty; expected one JSON value per line"),
    Bad("byte order mark only", "bad.csv", b"\xef\xbb\xbf", "is empty; expected one record per line", "", RAGGED),
    Bad("UTF-16", "bad.csv", LONG.decode().encode("utf-16"), "is UTF-16 text; expected UTF-8"),
    Bad("UTF-16, big end first", "bad.dat", b"\xfe\xff" + TEXT.decode().encode("utf-16-be"), "is UTF-16 text"),
    Bad("UTF-16 without its mark", "bad.dat", TEXT.decode().encode("utf-16-le"), CONTROL_BYTE + "00", "line 1"),
    Bad("UTF-16 without its mark", "bad.csv", LONG.decode().encode("utf-16-le"), "control character", "line 1"),
    Bad("UTF-32", "bad.dat", TEXT.decode().encode("utf-32"), "is UTF-32 text; expected UTF-8"),
    Bad("UTF-32, big end first", "bad.jsonl", b"\0\0\xfe\xff" + LISTS.decode().encode("utf-32-be"), "is UTF-32 text"),
]

EMPTY = [
    Bad("empty", "bad.dat", b"", "is empty; expected one record per line"),
    Bad("empty", "bad.csv", b"", "is empty; expected a header line"),
    Bad("empty", "bad.tsv", b"", "is empty; expected a header line"),
    Bad("empty", "bad.jsonl", b"", "is empty; expected one JSON value per line"),
    Bad("empty", "bad.csv", b"", "is empty; expected one record per line", "", RAGGED),
    Bad("empty", "bad.parquet", b"", "is empty; expected a table"),
    Bad("empty", "bad.arrow", b"", "is empty; expected a table"),
    Bad("blank lines only", "bad.csv", b"\n  \n\r\n", "is empty; expected a header line"),
    Bad("blank lines only", "bad.jsonl", b"\n\n", "is not JSON (Expecting value at character 1)", "line 1"),
    Bad("a blank line between", "bad.jsonl", b'["a"]\n\n["b"]\n', "is not JSON (Expecting value", "line 2"),
]

ROWS = [
    Bad("too few fields", "bad.csv", b"id,item\np1,a\np2\n", "has 1 field where the header has 2", "line 3"),
    Bad("too many fields", "bad.csv", b"id,item\np1,a\n\np2,b,c\n", "has 3 fields where the header has 2", "line 4"),
    Bad("too many fields", "bad.tsv", b"id\titem\np1\ta\tb\n", "has 3 fields where the header has 2", "line 2"),
    Bad("a broken row after a value of two lines", "bad.csv", b'id,item,x\np1,a,"b\nc"\np2\n', "has 1 field ", "line 4"),
    Bad("a broken row of lines that end in CR", "bad.csv", b"id,item\rp1,a\rp2\r", "has 1 field ", "line 3"),
    Bad("a broken row after a long one", "bad.csv", b"id,item\np1," + b"a" * 200_000 + b"\np2\n", "has 1 field ", "line 3"),
    Bad("a quote that never closes", "bad.csv", b'id,item\np1,a\np2,"b\np3,c\n', RULE, "line 3"),
    Bad("a quote in the header that never closes", "bad.csv", b'id,"item\np1,a\n', "the header is not valid CSV", "line 1"),
    Bad("a quote in the middle", "bad.csv", b'a,"b"c\n', "is not valid CSV ('", "line 1", RAGGED),
    Bad("a quote that never closes", "bad.csv", b'a\nb,"c\n', "is not valid CSV (unexpected end of data)", "line 2", RAGGED),
    Bad("an empty item", "bad.csv", b"id,item\np1,a\np2,\n", f"the column 'item' {RULE}", "line 3"),
    Bad("an empty id", "bad.csv", b"id,item\n,a\n", f"the column 'id' {RULE}", "line 2"),
    Bad("an empty item", "bad.csv", b"a,,b\n", "an item between two ',' is empty", "line 1", RAGGED),
    Bad("an empty item", "bad.dat", b"a,b\nc,,d\n", "an item between two ',' is empty", "line 2", ("--separator", ",")),
    Bad("a tab in an item", "bad.txt", b"@ITEM=1=x\na,b\nc\td,e\n", "an item holds a control character", "line 3", ("--separator", ",")),
    Bad("an empty item", "bad.csv", b"items\na;b\nc;;d\n", "in the column 'items' is empty", "line 3", (*WIDE, "--separator", ";")),
    Bad("an id twice", "bad.csv", b"id,items\np1,a\np2,b\np1,c\n", "has the same id as an earlier row", "line 4", WIDE),
    Bad("an id twice", "bad.jsonl", b'{"id": 1, "items": []}\n{"id": "1", "items": []}\n', "has the same id as an earlier row", "line 2"),
    Bad("an id twice", "bad.parquet", parquet({"id": [1, 2, 1], "items": [["a"]] * 3}), "has the same id as an earlier row", "row 3"),
    Bad("a name line without a name", "bad.txt", b"@CONVERTED_FROM_TEXT\n@ITEM=1\n1\n",
        "is not of the form @ITEM=NUMBER=NAME", "line 2"),
    Bad("a number with two names", "bad.txt", b"@ITEM=1=a\n@ITEM=1=b\n1\n", "gives another name to an item that has one", "line 2"),
    Bad("two numbers with a name", "bad.txt", b"@ITEM=1=a\n@ITEM=2=a\n1 2\n", "gives two items the name 'a'"),
    Bad("a name in latin 1", "bad.txt", b"@ITEM=1=a\n@ITEM=2=\xe9\n1\n", NOT_UTF8, "line 2"),
]  # fmt: skip

COLUMNS = [
    Bad("missing", "bad.csv", b"id,thing\np1,a\n", "has no column 'item'; the columns are: id, thing. Name yours", "line 1"),
    Bad("missing", "bad.csv", LONG, "has no column 'product'", "line 1", ("--item", "product")),
    Bad("missing", "bad.csv", LONG, "has no column 'items'; the columns are: id, item.", "line 1", WIDE),
    Bad("missing", "bad.parquet", parquet({"id": ["p"], "thing": ["a"]}), "has no column 'items'; the columns are: id, thing."),
    Bad("missing", "bad.arrow", arrow({"item": ["a"]}), "has no column 'id'; the columns are: item."),
    Bad("missing id", "bad.parquet", parquet({"items": [["a"]]}), "has no column 'person'", "", ("--id", "person")),
    Bad("in the plural", "bad.csv", b"ids,item\np1,a\n", "has no column 'id'; the columns are: ids, item.", "line 1"),
    Bad("in capitals", "bad.parquet", parquet({"ID": ["p"], "ITEMS": [["a"]]}), "the columns are: ID, ITEMS."),
    Bad("with a blank", "bad.csv", b"id, item\np1,a\n", "has no column 'item'; the columns are: id,  item.", "line 1"),
    Bad("with the end of a line", "bad.csv", "id,a\u2028b\nx,y\n".encode(), "the columns are: id, a?b.", "line 1"),
    Bad("twice", "bad.csv", b"id,item,item\np1,a,b\n", "has 2 columns 'item'; the columns are: id, item, item.", "line 1"),
    Bad("twice", "bad.parquet", parquet([[["a"]], [["b"]]], ["items", "items"]), "has 2 columns 'items'"),
    Bad("twice", "bad.arrow", arrow([["p"], ["a"], ["b"]], ["id", "item", "item"]), "has 2 columns 'item'"),
    Bad("a name that is no text", "bad.arrow", arrow({"items": [["a"]], "wxyz": [1]}).replace(b"wxyz", b"w\xffyz"), NOT_ARROW),
    Bad("the same for both", "bad.csv", LONG, "two columns have the same name 'id'", "-", ("--id", "id", "--item", "id")),
    Bad("the same for both", "bad.jsonl", LISTS, "two columns have the same name", "-", ("--id", "x", "--items", "x")),
    Bad("floats", "bad.parquet", parquet({"id": ["p"], "item": [1.5]}), f"the column 'item' is of type double; items {NUMBERS}"),
    Bad("floats", "bad.arrow", arrow({"items": [[1.5]]}), f"the column 'items' is of type double; items {NUMBERS}"),
    Bad("floats for ids", "bad.arrow", stream({"id": [1.5], "items": [["a"]]}), f"the column 'id' is of type double; ids {NUMBERS}"),
    Bad("true and false", "bad.parquet", parquet({"id": ["p"], "item": [True]}), "the column 'item' is of type bool"),
    Bad("dates", "bad.parquet", parquet({"id": ["p"], "item": [dt.date(2024, 1, 2)]}), "is of type date32"),
    Bad("times", "bad.arrow", arrow({"id": [dt.datetime(2024, 1, 2, tzinfo=dt.UTC)], "item": ["a"]}),
        "the column 'id' is of type timestamp"),
    Bad("bytes", "bad.parquet", parquet({"id": ["p"], "item": [b"a"]}), "the column 'item' is of type binary"),
    Bad("decimals", "bad.parquet", parquet({"id": ["p"], "item": [decimal.Decimal("1.5")]}), "is of type decimal128(2, 1)"),
    Bad("structs", "bad.parquet", parquet({"items": [[{"a": 1}]]}), "the column 'items' is of type struct<"),
    Bad("a struct, not a list", "bad.parquet", parquet({"items": [{"a": 1}]}), "expected lists of items"),
    Bad("lists of lists", "bad.parquet", parquet({"items": [[["a"]]]}), "the column 'items' is of type list<"),
    Bad("text, not lists", "bad.parquet", parquet({"items": ["a b"]}), "is of type string; expected lists of items", "", WIDE),
    Bad("a missing id", "bad.parquet", parquet({"id": ["p", None], "item": ["a", "b"]}),
        "the column 'id' has a missing value", "row 2"),
    Bad("a missing item", "bad.parquet", parquet({"id": ["p", "q"], "item": ["a", None]}),
        "the column 'item' has a missing value", "row 2"),
    Bad("a missing list", "bad.arrow", arrow({"items": [["a"], None]}), "has a missing list; expected a list, which may be empty", "row 2"),
    Bad("a missing item", "bad.arrow", arrow({"items": [["a"], ["b", None]]}), "the column 'items' has a missing value", "row 2"),
    Bad("a missing id", "bad.parquet", parquet({"id": [None, "p"], "items": [["a"]] * 2}),
        "the column 'id' has a missing value", "row 1"),
    Bad("ids all missing", "bad.parquet", parquet({"id": [None, None], "item": ["a", "b"]}),
        "the column 'id' has a missing value", "row 1"),
    Bad("ids all missing", "bad.arrow", arrow({"id": pa.nulls(2), "item": ["a", "b"]}), "the column 'id' has a missing value", "row 1"),
    Bad("an empty item", "bad.parquet", parquet({"items": [["a"], [""]]}), f"the column 'items' {RULE}", "row 2"),
]  # fmt: skip

JSON = [
    Bad("not JSON", "bad.jsonl", b"milk bread\n", "is not JSON (Expecting value at character 1)", "line 1"),
    Bad("a line cut", "bad.jsonl", b'["a"]\n["b", \n', "is not JSON (Expecting value", "line 2"),
    Bad("two values a line", "bad.jsonl", b'["a"]["b"]\n', "is not JSON (Extra data at character 6)", "line 1"),
    Bad("a file of one value", "bad.jsonl", b'[\n["a"],\n["b"]\n]\n', "is not JSON", "line 1"),
    Bad("nested 100,000 deep", "bad.jsonl", b'["a"]\n' + b"[" * 100_000, "is nested too deeply", "line 2"),
    Bad("objects 100,000 deep", "bad.jsonl", b'{"items":' * 100_000, "is nested too deeply", "line 1"),
    Bad("a field twice", "bad.jsonl", b'{"items": ["a"], "items": ["b"]}\n', "names a field twice", "line 1"),
    Bad("half a character", "bad.jsonl", b'["a"]\n["\\ud800"]\n', "holds a lone surrogate, which is not valid Unicode text", "line 2"),
    Bad("half a character in an id", "bad.jsonl", b'{"id": "\\udfff", "items": []}\n', "the id holds a lone surrogate", "line 1"),
    Bad("NaN", "bad.jsonl", b"[NaN]\n", "holds NaN, which is not JSON", "line 1"),
    Bad("-Infinity", "bad.jsonl", b"[-Infinity]\n", "holds -Infinity, which is not JSON", "line 1"),
    Bad("no items", "bad.jsonl", b'{"id": 1, "items": []}\n{"id": 2, "thing": []}\n', NO_ITEMS, "line 2"),
    Bad("items in capitals", "bad.jsonl", b'{"ITEMS": ["a"]}\n', NO_ITEMS, "line 1"),
    Bad("items that are no list", "bad.jsonl", b'{"items": "a b"}\n', "the field 'items' is not a list of items", "line 1"),
    Bad("items that are null", "bad.jsonl", b'{"items": null}\n', "the field 'items' is not a list of items", "line 1"),
    Bad("a text alone", "bad.jsonl", b'"a"\n', "is neither a list of items nor an object", "line 1"),
    Bad("text, then a fraction", "bad.jsonl", b'["a", "b"]\n["a", 1.5]\n', "an item is a number with a fraction", "line 2"),
    Bad("a whole number as a fraction", "bad.jsonl", b"[1.0]\n", "an item is a number with a fraction", "line 1"),
    Bad("true", "bad.jsonl", b"[true]\n", "an item is true or false; expected text or a whole number", "line 1"),
    Bad("null", "bad.jsonl", b'["a", null]\n', "an item is null; expected", "line 1"),
    Bad("a list in a list", "bad.jsonl", b'[["a"]]\n', "an item is a list; expected", "line 1"),
    Bad("an object in a list", "bad.jsonl", b'[{"a": 1}]\n', "an item is an object; expected", "line 1"),
    Bad("an empty item", "bad.jsonl", b'["a"]\n[""]\n', f"the column 'items' {RULE}", "line 2"),
    Bad("an id that is null", "bad.jsonl", b'{"id": null, "items": []}\n', "the id is null; expected text", "line 1"),
    Bad("an id that is a fraction", "bad.jsonl", b'{"id": 1.5, "items": []}\n', "the id is a number with a fraction", "line 1"),
    Bad("an id, then none", "bad.jsonl", b'{"id": 1, "items": []}\n{"items": []}\n',
        "has no field 'id', unlike the first line", "line 2"),
    Bad("none, then an id", "bad.jsonl", b'["a"]\n{"id": 1, "items": []}\n', "has a field 'id', unlike the first line", "line 2"),
    Bad("no id where one was named", "bad.jsonl", b'["a"]\n', "has no field 'person'", "line 1", ("--id", "person")),
]  # fmt: skip

FILES = [*PACKED, *ENCODED, *EMPTY, *ROWS, *COLUMNS, *JSON]
