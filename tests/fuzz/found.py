"""Inputs that once broke a promise of their reader: found by the fuzzer, or by looking where it could not see."""

import pyarrow as pa

from fuzz.seeds import ipc_file, ipc_stream, parquet_file

_NO_IDS = pa.table({"id": pa.nulls(2), "item": ["a", "b"]})
_TWICE = pa.Table.from_arrays([pa.array([["a"]]), pa.array([["b"]])], names=["items", "items"])
_NAMED = pa.table({"items": [["a"]], "wxyz": [1]})

FOUND = [
    ("long CSV", "the end of a line in the name of a column", "id,a\u2028b\n1,2\n".encode()),
    ("long TSV", "the same", "i/e\u2028d\n1\n".encode()),
    ("long CSV", "half a character at the end of a broken row", b"id,item\n1,a\n2,b,\xef"),
    (
        "Zstandard",
        "one long line, of which the end was looked for again and again",
        pa.compress(b"[" * 3000, "zstd", asbytes=True),
    ),
    ("hierarchy", "a level with an endless name", b"item," + b"\0" * 300 + b"level\nmilk,dairy\ndairy,food\n"),
    ("Arrow stream", "ids of no type", ipc_stream(_NO_IDS)),
    ("Arrow file", "ids of no type", ipc_file(_NO_IDS)),
    ("Parquet", "ids of no type", parquet_file(_NO_IDS)),
    ("Arrow file", "a column twice", ipc_file(_TWICE)),
    ("Parquet", "a column twice", parquet_file(_TWICE)),
    ("some attributes", "a column without a value", b"age\tsex\n30\t\n"),
    ("Arrow file", "a name of a column that is no text", ipc_file(_NAMED).replace(b"wxyz", b"w\xffyz")),
]
"""Reader, what it is, and the bytes."""
