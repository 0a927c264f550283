"""Files that are right, or nearly, from which the fuzzer starts."""

import io

import pyarrow as pa
import pyarrow.parquet as pq

TOLD_ANYWAY = (
    "postgresql://user:password@host:port/database, sqlite:///file.db and duckdb:///file.duckdb letters and digits"
)
"""Words that errors about addresses say of themselves."""

BASKET = (
    b"milk bread\ntea\n",
    b"1 2 3\n\n2 3\n",
    b"a,b\r\n b , c\n",
    b"\xef\xbb\xbfx y",
    "kaffee tee\n\u00e9\u00e8 \U0001f95b\n".encode(),
)
SPMF = (
    b"@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n@ITEM=2=rye bread\n1 2\n2\n",
    b"@NAME=x\n@ATTRIBUTEVALUE=y\n@ITEM=-1=|\n1 -1\n",
)
LONG = (
    b"id,item\np1,milk\np2,milk\np1,bread\n",
    b'item,other,id\n"a, b",1,x\n"say ""no""",2,y\r\n',
    b"id;item\n1;2\n1;3\n",
    b'id,item\n1,"a\nb"\n',
    b"id,item\r1,a\r2,b\r",
    b"id,item",
)
LONG_TSV = (b"id\titem\np1\tmilk\np2\ttea\n", b'item\tid\n"a"\t1\n')
WIDE = (
    b"id,items\np1,milk bread\np2,\n",
    b"items\na;b\n\nc; d\n",
    b'id,items\n1,"a,b"\n2," c , d"\n',
)
RAGGED = (b"milk,bread,,\ntea\n\n", b'"a, b",c\n"say ""no"""\n', b"a\tb\nc\n", b"a b\r\nc\r\n")
MATRIX = (
    b"id,milk,tea\np1,1,0\np2,0,1\n",
    b'"","rye bread","tea"\n"1",TRUE,FALSE\n"2",FALSE,TRUE\n',
    b"milk;tea\nyes;no\nno;no\n",
    b"milk,tea\n1.0,\n0.0,2\n",
    b",milk\n0,True\n1,False\n",
)
ATTRIBUTES = (
    b"age,sex\n39, m\n50,f\n",
    b"id;age;sex\np1;39;m\np2;39;f\n",
    b"id\tage\tsex\np1\t39\tm\np2\t\tf\n",
    b"age=,sex\n,=\n",
)
ANY_CSV = (
    b"ID;Item;Date\n1;milk;2020\n1;tea;2021\n",
    b'\xef\xbb\xbf"ID"\t"Items"\r\n"p1"\t"milk,tea"\r\n',
    b"id;Items\n1;a b\n",
    b"milk,tea,bread\ntea\nbread,milk\nmilk,tea,wine,bread\n",
    b"milk;tea;bread\ntea\nbread;milk\nmilk;tea;wine;bread\n",
    b"Customer;Product\n1;milk\n2;tea\n",
    b"I10|E11\n0|1\n1|0\n",
    b"1 2 3\n2 3\n",
    b"@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n1\n",
    *MATRIX,
)
JSON = (
    b'["milk", 7]\n[]\n',
    b'{"id": "p1", "items": ["milk", "bread"]}\n{"id": 2, "items": []}\n',
    b'{"items": ["\\u00e9", "\\ud83e\\udd5b", -0, 1e2]}\n',
    b'{"items": [true, null, 1.5, {"a": []}, "\\ud800"], "items": []}',
    b'{"id": "p1", "items": NaN}\n',
    b"[%s]" % (b"1" * 5000),
    b"[" * 3000,
)
NESTED_JSON = (
    b'{"who": {"id": 7}, "a": {"b": [{"c": "d", "e": "milk"}, {"c": "x", "e": 1}]}}\n{"who": {"id": "p"}, "a.b[c=d].e": 3}\n',
    b'{"who": {"id": "p"}, "a": [{"b": [[{"c": "d", "e": ["milk", 7, null]}]]}]}\n',
    b'{"who": [{"id": "p"}, {"id": "q"}], "a": {"b": null}}\n',
    b'{"who": {}, "a": {"b": {"c": "d", "e": {}}}}',
)
GROUPS = (
    b'{"rows": [["milk", 7], []], "sensitive": {"tea": 1, "7": 2}}\n{"rows": [["a"]], "sensitive": {}}\n',
    b'{"sensitive": {"10": 1, "9": 1}, "rows": [["10", "9"], ["milk"]]}',
    b'{"rows": [["a", "a"]], "sensitive": {"b": 1}}\n',
    b'{"rows": [], "sensitive": {}}\n{"rows": [[1.5]], "sensitive": {"a": 0, "b": 2, "c": true, "d": "1"}}\n',
    b'{"rows": [[""]], "sensitive": {"\\ud800": 99999999999999999999999}, "more": []}\n[]\n',
)
_WHOLE_CLUSTERS = (
    b'{"format": "disassoc/1", "k": 2, "m": 2, "delta": 9, "clusters": 2, "records": 5}\n'
    b'{"size": 3, "record_chunks": [[[["milk", 7], 2], [["7"], 1]], [[["tea"], 2]]], "term_chunk": ["wine"]}\n'
    b'{"size": 2, "record_chunks": [], "term_chunk": ["10", "9"]}\n'
)
CLUSTERS = (
    _WHOLE_CLUSTERS,
    b'{"format": "disassoc/1"}\n{"term_chunk": [], "size": 1, "record_chunks": [[[[], 1], [[], 2], [["a"], 9]]]}',
    b'{"format": "disassoc/1", "records": 99999999999999999999999}\n',
    b'{"format": "disassoc/1"}\n{"size": 0, "record_chunks": [[]], "term_chunk": ["a", "a"]}\n[]\n',
    b'{"format": "disassoc/1", "k": true, "seed": 1}\n{"size": 1.5, "record_chunks": [[["a", 1]]], "term_chunk": [null]}\n',
)
CATEGORIES = (
    b"item,category\nmilk,dairy\ntea,drinks\n",
    b"item,aisle,shelf\na,x,1\nb,x/y,2\n",
    b"item,parent\nmilk,dairy\ndairy,food\nham,meat\nmeat,food\n",
    b'\xef\xbb\xbfitem,aisle\n"a ""b""",x\n',
    b"Item;Aisle;Shelf\nmilk;x;1\ntea;;2\n",
    b"name|item,parent\nmilk|a > b\ntea|a > c > d\n",
    b"item\tpath\nmilk\tFood > Dairy\ntea\t > Food\n",
)
SIDE_OBJECTS = (
    b'{"item": "milk", "aisle": "dairy", "shelf": 1}\n{"item": 7, "aisle": null}\n',
    b'{"items": ["milk", "tea"], "support": 2.5}\n{"ITEMS": [7]}\n',
    b'{"Item": "a", "item": "b", "parent": "a"}\n"c"\n',
    b'{"item": "milk", "category": "dairy", "price": 1.5}\n{"ITEM": 7, "category": 1}\n',
    b'{"item": "tea", "category": "drinks"}\n',
)
HIERARCHIES = (
    b"item,parent\nmilk,dairy\ndairy,food\nham,meat\nmeat,food\n",
    b"item,parent\na,b\nb,c\nc,a\n",
    b"parent,item\n*,a\n**,b\n",
    b"item,shelf,aisle\na,1,x\nb,2,x\nc,,y\n",
    b"item,shelf,aisle\na,Meat,Deli\nb,Meat,Frozen\n",
    b"item,shelf,aisle\na,a,b\nb,a (group),b\n",
    b"item,parent,name\nmilk,tea,x\ntea,food,y\n",
    b"item;path\nmilk;Food > Dairy\ntea;Food\n",
)
ITEMS = (b"milk\ntea\n", b"\xef\xbb\xbf milk \r\n\nbread", b"7\n007\n7\n", b"unknown\n")
ITEMSETS_JSON = (b'["milk", 7]\n["tea"]\n\n', b'["a", true]\n', b"[[]]\n", b'["\\ud800"]\n[1.5]')
ADDRESSES = (
    b"postgresql://ann:hidden-word@db.example:5432/shop?sslmode=require&sslpassword=other-word",
    b"postgres://ann:hid%40den@[::1]:5432,other/shop",
    b"postgresql://ann:hidden@word@host/shop",
    b"sqlite:///shop.db",
    b"duckdb:////tmp/shop.duckdb?x=y",
    b"mysql://root:hidden-word@host/shop",
    b"postgresql+psycopg://ann:hidden-word@host/shop",
    b"sqlite://user:hidden-word@host/x",
    b"baskets.dat",
)
TOKENS = (
    *(
        "\n",
        "\r",
        "\r\n",
        '"',
        '""',
        ",",
        ";",
        "\t",
        " ",
        "\ufeff",
        "\0",
        "\x1a",
        "\u2028",
        "id",
        "item",
        "items",
        "parent",
    ),
    *(
        "category",
        "@ITEM=",
        "@CONVERTED_FROM_TEXT",
        "[",
        "]",
        "{",
        "}",
        ":",
        "null",
        "true",
        "1.5",
        "-0",
        "NaN",
        "\\ud800",
    ),
    *(
        "PAR1",
        "ARROW1",
        "://",
        "@",
        "%40",
        "?sslpassword=",
        "&",
        "postgresql://",
        "sqlite:///",
        "*",
    ),
)
"""Pieces that mean something to one reader or another."""

_LISTS = [["milk", "bread"], ["tea"], []]
_TABLES = (
    pa.table({"id": ["p1", "p2", "p3"], "items": pa.array(_LISTS, pa.list_(pa.string()))}),
    pa.table({"id": ["p1", "p2", "p1"], "item": ["milk", "tea", "milk"]}),
    pa.table({"id": [1, -2, 3], "items": pa.array([[1], [2, 3], []], pa.large_list(pa.int64()))}),
    pa.table({"id": pa.array(["p1", "p2", "p1"]).dictionary_encode(), "item": pa.array([1, 2, 2], pa.uint8())}),
    pa.table({"items": pa.array([["a", "b"], ["c", None]], pa.list_(pa.large_string(), 2))}),
    pa.table({"items": pa.array([["a"], None], pa.list_(pa.string())), "other": [1.5, 2.5]}),
    pa.table({"id": [None, "x"], "item": ["a", ""]}),
    pa.table({"items": pa.array([[{"a": 1}]])}),
    pa.table({"items": pa.array([["a", "b", "a"]], pa.list_(pa.dictionary(pa.int8(), pa.string())))}),
)


def parquet_file(table, **options):
    """Return a table as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def ipc_file(table, *, opened=pa.ipc.new_file, packing=None):
    """Return a table as an Arrow IPC file."""
    sink = io.BytesIO()
    with opened(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=packing)) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue()


def ipc_stream(table, *, packing=None):
    """Return a table as an Arrow IPC stream."""
    return ipc_file(table, opened=pa.ipc.new_stream, packing=packing)


def parquet():
    """Return Parquet files: packed and not, with dictionaries and without, in both versions of pages."""
    kinds = (
        {"compression": "none", "store_schema": False},
        {"compression": "zstd", "use_dictionary": False, "data_page_version": "2.0"},
        {"compression": "snappy", "write_page_index": True, "write_page_checksum": True},
    )
    return tuple(parquet_file(table, **options) for table in _TABLES for options in kinds)


def arrow_files():
    """Return Arrow IPC files, packed and not."""
    return tuple(ipc_file(table, packing=packing) for packing in (None, "zstd") for table in _TABLES)


def arrow_streams():
    """Return Arrow IPC streams, packed and not."""
    return tuple(ipc_stream(table, packing=packing) for packing in (None, "zstd") for table in _TABLES)
