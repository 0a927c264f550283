"""Files that look odd and are right: each with the options it is read with and the records that it holds."""

import gzip
from dataclasses import dataclass

import pyarrow as pa

from cli.bad_input_files import arrow, parquet, stream, zst

LONG_NAME = "n" * 200_000
HUGE = "99999999999999999999999"
DIGITS = "1" * 5000
MEGABYTES = 100


@dataclass(frozen=True)
class Welcome:
    """A file that must be read, with what is in it."""

    name: str
    file: str
    content: bytes
    records: list
    ids: list | None = None
    options: tuple[str, ...] = ()

    def __str__(self):
        return f"{self.file.partition('.')[2]}: {self.name}"


def _long(*rows):
    return "".join(f"{row}\n" for row in ("id,item", *rows)).encode()


FILES = [
    Welcome("ids below zero and huge", "odd.csv", _long("-5,a", f"{HUGE},b", "-5,c"), [["a", "c"], ["b"]], ["-5", HUGE]),
    Welcome("ids in all scripts", "odd.csv", _long("Zoë,a", "北京,b", "\U0001f95b,c"), [["a"], ["b"], ["c"]], ["Zoë", "北京",
        "\U0001f95b"]),
    Welcome("a very long id", "odd.csv", _long(f"{LONG_NAME},a"), [["a"]], [LONG_NAME]),
    Welcome("ids that look like numbers", "odd.csv", _long("007,a", "7,b", "7.0,c"), [["a"], ["b"], ["c"]], ["007", "7", "7.0"]),
    Welcome("texts that mean nothing elsewhere", "odd.csv", _long("NA,null", "nan,NULL"), [["null"], ["NULL"]], ["NA", "nan"]),
    Welcome("huge numbers", "odd.jsonl", f'{{"id": {HUGE}, "items": [-5, {HUGE}]}}\n'.encode(), [["-5", HUGE]], [HUGE]),
    Welcome("numbers of 5,000 digits", "odd.jsonl", f'{{"id": {DIGITS}, "items": [{DIGITS}]}}\n'.encode(), [[DIGITS]], [DIGITS]),
    Welcome("the largest numbers", "odd.parquet", parquet({"id": [-(2**63)], "items": pa.array([[2**64 - 1]],
        pa.list_(pa.uint64()))}), [[str(2**64 - 1)]], [str(-(2**63))]),
    Welcome("emoji", "odd.dat", "\U0001f95b \U0001f468\u200d\U0001f469\u200d\U0001f467\n".encode(),
        [["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f95b"]]),
    Welcome("a quote in the middle", "odd.csv", _long('p1,5" nails', 'p2,"say ""no"""'), [['5" nails'], ['say "no"']], ["p1", "p2"]),
    Welcome("a byte order mark", "odd.csv", b"\xef\xbb\xbf" + _long("p1,a"), [["a"]], ["p1"]),
    Welcome("lines that end in CR LF", "odd.csv", b"id,item\r\np1,a\r\n", [["a"]], ["p1"]),
    Welcome("lines that end in CR", "odd.csv", b"id,item\rp1,a\r", [["a"]], ["p1"]),
    Welcome("no end of the last line", "odd.jsonl", b'["a"]\n["b"]', [["a"], ["b"]]),
    Welcome("blank lines are records", "odd.dat", b"\n\n", [[], []]),
    Welcome("blank lines are none", "odd.csv", b"id,item\n\np1,a\n\n", [["a"]], ["p1"]),
    Welcome("an item that begins as Parquet does", "odd.dat", b"PAR1234 x\n", [["PAR1234", "x"]]),
    Welcome("an item that begins as Arrow does", "odd.csv", b"ARROW1,x\n", [["ARROW1", "x"]], None, ("--ragged",)),
    Welcome("two gzip files in a row", "odd.dat.gz", gzip.compress(b"a\n") + gzip.compress(b"b\n"), [["a"], ["b"]]),
    Welcome("two zstd frames in a row", "odd.dat.zst", zst(b"a\n") + zst(b"b\n"), [["a"], ["b"]]),
    Welcome("endings in capitals", "ODD.DAT.GZ", gzip.compress(b"a\n"), [["a"]]),
    Welcome("a colon in the name", "odd: data.dat", b"a\n", [["a"]]),
    Welcome("an Arrow stream", "odd.arrow", stream({"items": [["b", "a"], []]}), [["a", "b"], []]),
    Welcome("texts by their numbers", "odd.arrow", arrow({"id": pa.array(["p", "q"]).dictionary_encode(),
        "item": pa.array(["a", "a"]).dictionary_encode()}), [["a"], ["a"]], ["p", "q"]),
    Welcome("lists of one length", "odd.arrow", arrow({"items": pa.array([["b", "a"]], pa.list_(pa.string(), 2))}), [["a", "b"]]),
    Welcome("other columns of any kind", "odd.parquet", parquet({"items": [["a"]], "x": [1.5], "y": [{"z": b"q"}]}), [["a"]]),
    Welcome("other columns twice", "odd.csv", b"id,x,item,x\np1,1,a,2\n", [["a"]], ["p1"]),
    Welcome("a header of more than a megabyte", "odd.csv",
        b"id,item," + b"x," * 600_000 + b"x\np1,a," + b"," * 600_000 + b"\n", [["a"]], ["p1"]),
    Welcome("padding", "odd.csv", b"b,a,,,\n,,,,\n", [["a", "b"], []], None, ("--ragged",)),
    Welcome("60,000 names", "odd.txt", b"".join(b"@ITEM=%d=name %d\n" % (n, n) for n in range(60_000)) + b"1 2\n",
        [["name 1", "name 2"]]),
]  # fmt: skip

LONG_LINES = {
    "an item": ("odd.dat", b"", b"a", b"\n", 1),
    "a value of CSV": ("odd.csv", b"id,item\np1,", b"a", b"\n", 1),
    "a text of JSON": ("odd.jsonl", b'["', b"a", b'"]\n', 1),
    "a number of JSON": ("odd.jsonl", b"[", b"1", b"]\n", 1),
}
"""Lines of 100 MB that are right: file, beginning, what is repeated, end, records."""

LONG_LINES_REFUSED = {
    "a control byte at the end": ("bad.dat", b"a\n", b"b", b"\0\n", "line 2: holds the control byte 0x00"),
    "latin 1 at the end": ("bad.dat", b"a\n", b"b", b"\xe9\n", "line 2: holds the byte 0xe9"),
    "a broken row after it": (
        "bad.csv",
        b"id,item\np1,",
        b"a",
        b"\np2\n",
        "line 3: has 1 field where the header has 2",
    ),
    "a quote that never closes": (
        "bad.csv",
        b'id,item\np1,"',
        b"a",
        b"\n",
        "line 2: the column 'item' is empty or holds",
    ),
    "a list that never closes": ("bad.jsonl", b'["a"]\n["', b"a", b'",\n', "line 2: is not JSON"),
    "nested": ("bad.jsonl", b'["a"]\n', b"[", b"\n", "line 2: is nested too deeply"),
}
"""Lines of 100 MB that are wrong: file, beginning, what is repeated, end, and what must be said."""
