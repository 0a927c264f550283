"""Slips that only show at a border: between two batches, two blocks or two parts of a file, or where a refusal is the last one left."""

import csv
import gzip
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from setveil import read_hierarchy
from setveil.data.files import csv_tables, packing
from setveil.data.files.assembly import ListAssembly, LongAssembly, Origin
from setveil.data.files.encoding import TextEncoder
from setveil.data.reading.source import read
from setveil.data.reading.tables import from_arrow, from_scipy
from setveil.data.records.transactions import from_lists
from setveil.data.writing import write, write_hierarchy
from setveil.errors import BadData, OutputRefused
from setveil.profiling import profile

# -- parts that are written one after the other ------------------------------------------------------------------------


@pytest.fixture
def small_parts(monkeypatch):
    """Let every format write its records in many parts."""
    for name in ("basket", "list", "wide"):
        monkeypatch.setattr(f"setveil.data.formats.{name}._WRITTEN_RECORDS", 7)
    monkeypatch.setattr("setveil.data.formats.long.WRITTEN_ROWS", 5)


LISTS = [[f"item-{(i * j) % 17}" for j in range(1, 2 + i % 9)] for i in range(40)]
NAMED = from_lists(LISTS, ids=[f"r{i}" for i in range(40)])


@pytest.mark.parametrize(
    ("name", "form", "options"),
    [
        ("x.dat", None, {}),
        ("x.csv", "long", {}),
        ("x.parquet", "long", {}),
        ("x.csv", "wide", {"items": "items"}),
        ("x.csv", "ragged", {"ragged": True}),
        ("x.jsonl", None, {}),
        ("x.parquet", None, {}),
        ("x.arrow", None, {}),
    ],
)
@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.usefixtures("small_parts")
def test_records_written_in_many_parts_are_those_that_were_given(tmp_path, name, form, options, with_ids):
    path = tmp_path / name
    data = NAMED if with_ids else NAMED.with_ids(None)
    write(data, path, format=form)
    found = read(path, **options)
    assert found.to_lists() == data.to_lists()
    if with_ids and found.ids is not None:
        assert found == data


# -- batches and blocks that are read one after the other --------------------------------------------------------------


def test_a_line_longer_than_a_block_doubles_no_record_before_it(tmp_path, monkeypatch):
    """The same rows twice would be the same records in a long table, but not in a wide one."""
    monkeypatch.setattr(csv_tables, "BLOCK", 50)
    path = tmp_path / "x.csv"
    lists = [[f"i{n}"] for n in range(40)] + [["b" * 500], ["c"]]
    path.write_text("items\n" + "".join(f"{record[0]}\n" for record in lists), encoding="utf-8")
    assert read(path, items="items").to_lists() == lists


@pytest.mark.parametrize(
    ("name", "content", "options", "sentence"),
    [
        ("x.dat", b"c,d\n" * 30 + b"a\tb\n", {"separator": ","}, "line 31: an item holds a control character"),
        ("x.dat", b"c,d\n" * 30 + b"a,,b\n", {"separator": ","}, "line 31: an item between two ',' is empty"),
        ("x.dat", b"c d\n" * 30 + b"a\x00\n", {}, "line 31: holds the control byte 0x00"),
        ("x.dat", b"c d\n" * 30 + b"a\xff\n", {}, "line 31: holds the byte 0xff"),
        ("x.csv", b"items\n" + b"c;d\n" * 30 + b"a;;b\n", {"items": "items", "separator": ";"}, "line 32: an item"),
        ("x.csv", b"id,item\n" + b"p,c\n" * 30 + b"p,\xff\n", {}, "line 32: holds the byte 0xff"),
        ("x.csv", b"id,item\n" + b"p,c\n" * 30 + b"p,\xc3", {}, "line 32: holds the byte 0xc3"),
        ("x.csv", b"id,item\r\n" + b"p,c\r\n" * 30 + b"p,\r\n", {}, "line 32: the column 'item' is empty"),
        ("x.jsonl", b'["a"]\n' * 30 + b"[1.5]\n", {}, "line 31: an item is a number with a fraction"),
    ],
)
@pytest.mark.parametrize("block", [1, 16, 41])
def test_lines_are_counted_over_blocks(tmp_path, monkeypatch, name, content, options, sentence, block):
    monkeypatch.setattr(packing, "READ_BLOCK", block)
    monkeypatch.setattr(csv_tables, "BLOCK", 64)
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadData) as refused:
        read(path, **options)
    assert str(refused.value).startswith(f"{path}, {sentence}")


def test_only_the_beginning_of_a_file_is_a_byte_order_mark(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "READ_BLOCK", 4)
    path = tmp_path / "x.dat"
    path.write_bytes("a b\n\ufeffc\n".encode())
    assert read(path).to_lists() == [["a", "b"], ["\ufeffc"]]


@pytest.mark.parametrize("shape", ["long", "list"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_more_items_than_two_bytes_count_are_told_apart(shape, shuffled):
    names = [f"item-{i}" for i in range(70_000)]
    order = np.random.default_rng(2).permutation(70_000) % 500 if shuffled else np.arange(70_000)
    owners = [f"id-{i}" for i in order.tolist()] if shape == "long" else [f"id-{i}" for i in range(70_000)]
    long = LongAssembly(Origin("rows"), id_column="id", item_column="item")
    lists = ListAssembly(Origin("rows"), id_column="id")
    for first in range(0, 70_000, 30_000):
        ids, items = (pa.array(column[first : first + 30_000], pa.large_string()) for column in (owners, names))
        if shape == "long":
            long.add(ids, items)
        else:
            lists.add_flat(np.ones(len(items), dtype=np.int64), items, ids)
    data = (long if shape == "long" else lists).finish()
    expected: dict[str, list[str]] = {}
    for owner, name in zip(owners, names, strict=True):
        expected.setdefault(owner, []).append(name)
    found = dict(zip(data.ids.to_pylist(), data.to_lists(), strict=True))
    assert list(found) == list(expected)
    assert {name: set(items) for name, items in found.items()} == {name: set(i) for name, i in expected.items()}


@pytest.mark.plain_python
def test_the_beginning_of_a_text_with_the_same_hash_is_another_text(monkeypatch):
    """With the multiplier 0 the hash of these is their last byte."""
    encoder = TextEncoder()
    encoder.encode(pa.array(["first"], pa.large_string()))
    encoder.encode(pa.array(["second"], pa.large_string()))
    monkeypatch.setattr(encoder._table, "_multiplier", 0)
    assert encoder.encode(pa.array(["xx", "x", "xx", "x"], pa.large_string())).tolist() == [2, 3, 2, 3]
    assert encoder.texts().to_pylist() == ["first", "second", "xx", "x"]


# -- values that are long, missing or odd ------------------------------------------------------------------------------


USUAL_LIMIT = 131_072
"""Characters of a value at which Python's own reader of CSV stops; whoever changes it changes it for everyone."""


def test_the_line_after_a_very_long_value_is_found_and_the_limit_of_others_stays(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"id,item,note\n1,a,{'x' * 200_000}\n2,,y\n", encoding="utf-8")
    csv.field_size_limit(USUAL_LIMIT)
    with pytest.raises(BadData, match="line 3: the column 'item' is empty"):
        read(path)
    assert csv.field_size_limit() == USUAL_LIMIT


def test_a_file_that_is_one_long_line_is_looked_through_once(tmp_path):
    path = tmp_path / "line.csv"
    path.write_bytes(b"[" * 4_000_000)  # going through it again from every place would take hours
    with pytest.raises(BadData, match=r"line 1: the header is not valid CSV"):
        read(path)


def test_a_ragged_line_may_hold_a_very_long_item(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"a,{'x' * 200_000}\n", encoding="utf-8")
    csv.field_size_limit(USUAL_LIMIT)
    assert read(path, ragged=True).to_lists() == [["a", "x" * 200_000]]
    assert csv.field_size_limit() == USUAL_LIMIT


def test_quotes_of_a_ragged_line_may_stand_behind_a_blank(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a, "b,c"\n', encoding="utf-8")
    assert read(path, ragged=True).to_lists() == [["a", "b,c"]]


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.csv", "id,item\n1,a\x7f\n"), ("wide.csv", "items\na\x7f\n"), ("x.jsonl", '["a\x7f"]\n')],
)
def test_the_control_character_behind_the_letters_is_refused_too(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadData, match=r"the column 'items?' is empty or holds a control character"):
        read(path, items="items" if name == "wide.csv" else None)


def test_a_column_of_nothing_is_missing_values_and_lists_of_nothing_are_empty(tmp_path):
    with pytest.raises(BadData, match="row 1: the column 'item' has a missing value"):
        from_arrow(pa.table({"id": ["p"], "item": pa.nulls(1)}))
    with pytest.raises(BadData, match="row 1: the column 'id' has a missing value"):
        from_arrow(pa.table({"id": pa.nulls(2), "item": ["a", "b"]}))
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"items": [[], []]}), path)
    assert read(path).to_lists() == [[], []]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_no_entry_of_a_sparse_matrix_may_be_infinite(value):
    with pytest.raises(BadData, match="the matrix holds NaN or infinite values"):
        from_scipy(scipy.sparse.csr_array([[value, 1.0]]))


def test_entries_of_a_sparse_matrix_that_cancel_each_other_are_no_item():
    matrix = scipy.sparse.csr_array((np.array([1, -1, 1]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert from_scipy(matrix).to_lists() == [["1"]]


@pytest.mark.parametrize("ending", [".gz", ".GZ", ".Gz"])
def test_capital_letters_in_an_ending_change_nothing(tmp_path, ending):
    path = tmp_path / f"x.DAT{ending}"
    path.write_bytes(gzip.compress(b"b a\n"))
    assert read(path).to_lists() == [["a", "b"]]


def test_zero_with_a_sign_is_zero(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("[-0, 0, -1]\n", encoding="utf-8")
    assert read(path).to_lists() == [["-1", "0"]]


def test_an_id_that_was_named_is_not_left_out_in_silence(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "p", "items": ["a"]}\n', encoding="utf-8")
    with pytest.raises(BadData, match="line 1: has no field 'who'"):
        read(path, id="who")


def test_ragged_lines_are_written_with_the_separator_that_was_named(tmp_path):
    path = tmp_path / "x.csv"
    write(from_lists([["a", "b,c"], []]), path, format="ragged", separator=";")
    assert path.read_bytes() == b"a;b,c\n\n"
    assert read(path, ragged=True, separator=";").to_lists() == [["a", "b,c"], []]


def test_ids_that_are_left_out_need_not_be_such_as_a_file_holds(tmp_path):
    path = tmp_path / "x.csv"
    write(from_lists([["a"], ["b"]], ids=["", "two\nlines"]), path, format="ragged")
    assert path.read_bytes() == b"a\nb\n"


def test_a_hierarchy_is_written_in_the_shape_that_was_named(tmp_path):
    tree = read_hierarchy("sample:supermarket")
    write_hierarchy(tree, tmp_path / "parents.csv", shape="parents")
    write_hierarchy(tree, tmp_path / "levels.csv")
    assert (tmp_path / "parents.csv").read_bytes() == tree.to_parents_csv()
    assert (tmp_path / "levels.csv").read_bytes() == tree.to_levels_csv() != tree.to_parents_csv()


# -- files that are not what they say ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b"abcde", b"item"])
def test_bytes_that_are_no_text_in_an_arrow_file_are_refused_in_items_and_in_names(tmp_path, text):
    path = tmp_path / "x.arrow"
    table = pa.table({"id": ["p"], "item": ["abcde"]})
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    path.write_bytes(path.read_bytes().replace(text, b"\xff" * len(text)))
    with pytest.raises(BadData, match="is not a complete Arrow file"):
        read(path, item="item")


def test_half_a_file_does_not_stay(tmp_path):
    path = tmp_path / "x.dat"

    def interrupted():
        with packing.writing(path) as file:
            file.write(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(OutputRefused, match="cannot be written: No space left on device"):
        interrupted()
    assert list(tmp_path.iterdir()) == []


# -- who holds what was named ------------------------------------------------------------------------------------------


def test_a_profile_counts_holders_of_itemsets_of_any_size():
    lists = [["a", "b", "c", "d"], ["a", "b", "c"], ["a", "b"], [], ["a", "b", "d"], ["d"], ["c", "d"]]
    itemsets = [["a"], ["d", "c"], ["a", "b", "c"], ["d", "b", "a"], ["a", "b", "c", "d"], ["d", "d"]]
    found = profile(from_lists(lists), sensitive=["c", "d"], itemsets=itemsets)
    assert [holders.records for holders in found.itemsets] == [sum(set(s) <= set(r) for r in lists) for s in itemsets]
    assert (found.sensitive.records, found.sensitive.share) == (5, 5 / 7)


def test_a_refused_file_does_not_abort_a_program_that_ends(tmp_path):
    """Arrow reads ahead in the background. If it needs Python when the interpreter ends, the process is aborted."""
    (tmp_path / "a.csv").write_bytes(b"id,item\n" + b"1,\xfc\n" * 1000 + b"1,a\n" * 4_000_000)
    ends = textwrap.dedent("""
        import threading, time
        from pathlib import Path
        from setveil.data.files import packing
        import setveil as sv

        plain = packing._Reader.read

        def slow(reader, size):
            if threading.current_thread() is not threading.main_thread():
                time.sleep(0.3)
            return plain(reader, size)

        packing._Reader.read = slow
        try:
            sv.read(Path("a.csv"))
        except sv.BadData as refusal:
            print(refusal)
    """)
    done = subprocess.run([sys.executable, "-c", ends], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("a.csv, line 2: holds the byte 0xfc, which is not UTF-8 text")
