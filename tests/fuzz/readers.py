"""Every reader under the fuzzer: what one is given, and what must be true of what comes out, whatever went in.

What comes out is data or one of our errors in one line. Data satisfies what `Transactions` checks of arrays from outside, is the same when
the file is read in tiny blocks, and is the same when it was written and read back, unless the format refuses to hold it.
"""

import gzip
import json
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from setveil.data.databases import is_database, shown
from setveil.data.databases.address import address
from setveil.data.files import csv_tables, json_lines, packing
from setveil.data.formats import Layout
from setveil.data.formats.record_tables import RecordTable
from setveil.data.forms.disassociated.files import read_disassociated, write_disassociated
from setveil.data.forms.grouped import read_grouped, write_grouped
from setveil.data.reading.detection import reading_of
from setveil.data.records import ragged, tidying
from setveil.data.records.transactions import Transactions, from_lists
from setveil.errors import OutputRefused, SetveilError
from setveil.parameters.categories import read_categories
from setveil.parameters.hierarchy_files import read_hierarchy
from setveil.parameters.named_itemsets import read_itemsets
from setveil.parameters.sensitive_items import read_sensitive

from fuzz import seeds

LONGEST_SENTENCE = 1000
KNOWN = from_lists([["milk", "bread"], ["7", "tea"]])
"""Data for side files that are looked up in some."""


def one_sentence(error, path=None, ends="\n\r"):
    said = str(error)
    assert said
    assert not set(said) & set(ends), said
    assert len(said) < LONGEST_SENTENCE, said
    assert error.exit_code == 2, said
    assert path is None or str(path) in said or type(error).__name__ == "BadParameter", said


def in_tiny_blocks(path):
    """Let every reader go through a file in many blocks of a few bytes, rows or lines."""
    size = path.stat().st_size
    stack = ExitStack()
    for module, name, least in (
        (packing, "READ_BLOCK", max(7, size // 16)),
        (csv_tables, "BLOCK", max(24, size // 16)),
        (csv_tables, "LONGEST_LINE", 1 << 16),
        (json_lines, "_BATCH_LINES", 2),
        (tidying, "BLOCK", 3),
        (ragged, "BLOCK", 3),
    ):
        stack.enter_context(patch.object(module, name, least))
    return stack


@dataclass(frozen=True)
class Formatted:
    """A data file in one format and layout; without a format, that which the columns tell."""

    name: str
    ending: str
    seeds: tuple[bytes, ...]
    form: str | None = None
    layout: Layout = field(default_factory=Layout)
    tiny: bool = True

    def read(self, path):
        form, layout, _note = reading_of(path, self.form, self.layout)
        return form, layout, form.read(path, layout)

    def check(self, content, folder):
        """Return whether data came out, after looking at all that must be true of it."""
        path = folder / f"given{self.ending}"
        path.write_bytes(content)
        try:
            form, layout, data = self.read(path)
        except SetveilError as error:
            one_sentence(error, path, ends="\n\r\x85\u2028\u2029")
            self._refused_in_tiny_blocks(path)
            return False
        assert Transactions(data.offsets, data.items, tuple(data.vocabulary), ids=data.ids, unit=data.unit) == data
        assert all(data.vocabulary), "an item is empty"
        if self.tiny:
            with in_tiny_blocks(path):
                assert self.read(path)[1:] == (layout, data)
        again = folder / f"again{self.ending}"
        again.unlink(missing_ok=True)
        try:
            form.write(data, again, layout)
        except OutputRefused as error:
            one_sentence(error)
            assert not again.exists()
            return True
        if isinstance(form, RecordTable):  # only columns with values are written, and a card names no columns to choose
            layout = replace(layout, items=Layout.items)
        assert form.read(again, layout) == data
        return True

    def _refused_in_tiny_blocks(self, path):
        if not self.tiny:
            return
        with in_tiny_blocks(path):
            try:
                self.read(path)
            except SetveilError as error:
                one_sentence(error, path)
            else:
                raise AssertionError("refused as a whole, read in tiny blocks")


@dataclass(frozen=True)
class Beside:
    """A side file: how it is read, and how what was read is written again, if it can be."""

    name: str
    ending: str
    seeds: tuple[bytes, ...]
    read: Any
    written: Any

    def check(self, content, folder):
        path = folder / f"given{self.ending}"
        path.write_bytes(content)
        try:
            found = self.read(path)
        except SetveilError as error:
            one_sentence(error, path)
            return False
        for number, bytes_again in enumerate(self.written(found)):
            again = folder / f"again-{number}{self.ending}"
            again.write_bytes(bytes_again)
            assert self.read(again) == found
        return True


@dataclass(frozen=True)
class OfOneForm:
    """Grouped or disassociated data: read the same in tiny blocks, and the same when written and read back, in any order and in that of a
    release.
    """

    name: str
    ending: str
    seeds: tuple[bytes, ...]
    read: Any
    write: Any

    def check(self, content, folder):
        path = folder / f"given{self.ending}"
        path.write_bytes(content)
        try:
            data = self.read(path)
        except SetveilError as error:
            one_sentence(error, path, ends="\n\r\x85\u2028\u2029")
            return False
        with in_tiny_blocks(path):
            assert self.read(path) == data
        for number, made in enumerate((data, data.arranged()[0])):
            again = folder / f"again-{number}{self.ending}"
            self.write(made, again)
            assert self.read(again) == made
        return True


@dataclass(frozen=True)
class Addressed:
    """The address of a database: whatever is wrong with it, nobody is told the password."""

    name: str
    seeds: tuple[bytes, ...]

    def check(self, content, _folder):
        url = content.decode("utf-8", "replace")
        told = shown(url)
        right = True
        try:
            told += repr(address(url))
        except SetveilError as error:
            one_sentence(error)
            told += str(error)
            right = False
        assert is_database(url) or not right
        secret = password_in(url)
        if secret and url.count(secret) == 1:
            assert secret not in told, told
        return right


def password_in(url):
    """Return what stands between the first colon of the login and the last at sign, if that is long enough to be told apart."""
    _scheme, marks, rest = url.partition("://")
    if not marks or url.startswith(("sqlite:///", "duckdb:///")):
        return None
    login, at, _place = rest.rpartition("@")
    secret = login.partition(":")[2] if at else ""
    return secret if len(secret) >= 6 and secret not in seeds.TOLD_ANYWAY else None


def _nothing(_found):
    return ()


def _categories_csv(found):
    rows = "".join(f"{_quoted(item)},{_quoted(category)}\n" for item, category in found.items())
    yield ("item,category\n" + rows).encode()


def _quoted(text):
    return '"' + text.replace('"', '""') + '"'


def _hierarchy_csv(found):
    yield found.to_parents_csv()
    yield found.to_levels_csv()


def _lines(found):
    yield b"\xef\xbb\xbf" + "".join(f"{item}\n" for item in found).encode()


def _json_lists(found):
    yield "".join(json.dumps(itemset) + "\n" for itemset in found).encode()


def _formatted():
    def packed(name, plain, pack):
        return [Formatted(name, ending, tuple(map(pack, contents)), form) for form, ending, contents in plain]

    plain = [("basket", ".dat", seeds.BASKET), ("long", ".csv", seeds.LONG), ("list", ".jsonl", seeds.JSON)]
    text = [
        *(
            Formatted("basket", ".dat", seeds.BASKET, "basket", Layout(separator=separator))
            for separator in (None, ",", "\t")
        ),
        Formatted("SPMF", ".txt", seeds.SPMF, "basket"),
        *(Formatted("long CSV", ".csv", seeds.LONG, "long", Layout(separator=separator)) for separator in (None, ";")),
        Formatted("long TSV", ".tsv", seeds.LONG_TSV, "long"),
        *(Formatted("wide", ".csv", seeds.WIDE, "wide", Layout(separator=separator)) for separator in (None, ";", ",")),
        *(
            Formatted("ragged", ".csv", seeds.RAGGED, "wide", Layout(separator=separator, ragged=True))
            for separator in (None, "\t", " ")
        ),
    ]
    tables = [
        *(Formatted("0/1 table", ".csv", seeds.MATRIX, "matrix", Layout(separator=one)) for one in (None, ";")),
        *(
            Formatted("attributes", ".csv", seeds.ATTRIBUTES, "attributes", Layout(separator=one))
            for one in (None, ";")
        ),
        Formatted("some attributes", ".tsv", seeds.ATTRIBUTES, "attributes", Layout(items="age,sex", missing="drop")),
        Formatted("CSV of any kind", ".csv", seeds.ANY_CSV),
        Formatted("CSV of any kind", ".csv", seeds.ANY_CSV, layout=Layout(id="ID", missing="drop")),
        Formatted("TSV of any kind", ".tsv", seeds.ANY_CSV),
        Formatted("text of any kind", "", seeds.ANY_CSV),
        Formatted("long without a header", ".csv", seeds.LONG, "long", Layout(no_header=True)),
        Formatted("long with gaps", ".csv", seeds.LONG, "long", Layout(missing="drop")),
        Formatted("wide with gaps", ".csv", seeds.WIDE, "wide", Layout(separator=";", missing="drop")),
        Formatted("ragged with gaps", ".csv", seeds.RAGGED, "wide", Layout(ragged=True, missing="drop")),
        Formatted("basket with gaps", ".dat", seeds.BASKET, "basket", Layout(separator=",", missing="drop")),
    ]
    json_lists = [
        Formatted("JSON Lines with gaps", ".jsonl", seeds.JSON, "list", Layout(missing="drop")),
        Formatted("JSON Lines", ".jsonl", seeds.JSON, "list"),
        Formatted("JSON paths", ".ndjson", seeds.NESTED_JSON, "long", Layout(id="who.id", item="a.b[c=d].e")),
        Formatted(
            "JSON paths with gaps",
            ".ndjson",
            seeds.NESTED_JSON,
            "long",
            Layout(id="who.id", item="a.b.e", missing="drop"),
        ),
    ]
    columns = [
        Formatted("Parquet", ".parquet", seeds.parquet(), tiny=False),
        Formatted("Arrow file", ".arrow", seeds.arrow_files(), tiny=False),
        Formatted("Arrow stream", ".arrow", seeds.arrow_streams(), tiny=False),
    ]
    packings = [
        *packed("gzip", [(f, e + ".gz", c) for f, e, c in plain], lambda whole: gzip.compress(whole, mtime=0)),
        *packed(
            "Zstandard",
            [(f, e + ".zst", c) for f, e, c in plain],
            lambda whole: pa.compress(whole, "zstd", asbytes=True),
        ),
    ]
    return text, tables, json_lists, columns, packings


_TEXT, _TABLES, _JSON, _COLUMNS, _PACKINGS = _formatted()

_SIDE = [
    *(
        Beside(
            "categories",
            ".csv",
            seeds.CATEGORIES,
            lambda path, level=level: read_categories(path, level=level),
            _nothing,
        )
        for level in ("aisle", "1", "aisle,shelf")
    ),
    Beside("categories", ".csv", seeds.CATEGORIES, read_categories, _categories_csv),
    Beside("hierarchy", ".csv", seeds.HIERARCHIES, read_hierarchy, _hierarchy_csv),
    Beside("hierarchy", ".csv", seeds.HIERARCHIES, lambda path: read_hierarchy(path, paths=True), _nothing),
    *(
        Beside(
            "hierarchy of known items",
            ending,
            contents,
            lambda path: read_hierarchy(path, data=KNOWN, missing_category="other"),
            _nothing,
        )
        for ending, contents in (
            (".csv", seeds.HIERARCHIES),
            (".jsonl", seeds.SIDE_OBJECTS),
            (".parquet", seeds.parquet()),
        )
    ),
    Beside(
        "categories of known items",
        ".csv",
        seeds.CATEGORIES,
        lambda path: read_categories(path, data=KNOWN, missing_category="other"),
        _nothing,
    ),
    Beside(
        "categories as paths",
        ".csv",
        seeds.CATEGORIES,
        lambda path: read_categories(path, path_separator=">"),
        _nothing,
    ),
    Beside("categories as objects", ".jsonl", seeds.SIDE_OBJECTS, read_categories, _nothing),
    *(
        Beside("sensitive in tables", ending, contents, lambda path: read_sensitive(path, item_column="item"), _nothing)
        for ending, contents in (
            (".csv", seeds.CATEGORIES),
            (".jsonl", seeds.SIDE_OBJECTS),
            (".arrow", seeds.arrow_files()),
        )
    ),
    *(
        Beside("itemsets in tables", ending, contents, read_itemsets, _nothing)
        for ending, contents in (
            (".csv", (*seeds.WIDE, *seeds.LONG)),
            (".jsonl", seeds.SIDE_OBJECTS),
            (".parquet", seeds.parquet()),
        )
    ),
    Beside("sensitive", ".txt", seeds.ITEMS, read_sensitive, _lines),
    Beside("sensitive", ".txt", seeds.ITEMS, lambda path: read_sensitive(path, KNOWN), _lines),
    Beside("itemsets", ".txt", seeds.BASKET, lambda path: read_itemsets(path, separator=","), _nothing),
    Beside("itemsets", ".txt", seeds.BASKET, read_itemsets, lambda found: _lines(map(" ".join, found))),
    Beside("itemsets as JSON", ".jsonl", seeds.ITEMSETS_JSON, read_itemsets, _json_lists),
]

GROUPS = {
    "text": _TEXT,
    "tables": _TABLES,
    "json": [
        *_JSON,
        OfOneForm("groups", ".jsonl", seeds.GROUPS, read_grouped, write_grouped),
        OfOneForm("clusters", ".jsonl", seeds.CLUSTERS, read_disassociated, write_disassociated),
    ],
    "columns": _COLUMNS,
    "packings": _PACKINGS,
    "side-files": _SIDE,
    "addresses": [Addressed("addresses", seeds.ADDRESSES)],
}
"""Readers that are fuzzed in one process; the first byte of an input tells which of them it is for."""


def readers_named(name):
    """Return the readers of a group, or those of one name out of any group."""
    found = GROUPS.get(name) or [reader for group in GROUPS.values() for reader in group if reader.name == name]
    if not found:
        known = sorted({*GROUPS, *(reader.name for group in GROUPS.values() for reader in group)})
        raise SystemExit(f"there is no reader {name!r}; there are: {', '.join(known)}")
    return found


def check(readers, content, folder: Path):
    """Give an input to the reader that its first byte names; return that reader's name and whether data came out."""
    reader = readers[content[0] % len(readers)]
    return reader.name, reader.check(content[1:], folder)
