"""Data that are large are on disk: readers and `Transactions` give what they give in memory, with the same notes and errors."""

import csv
import gzip
import hashlib
import io
import json
import shutil
import sqlite3
from contextlib import closing, contextmanager, nullcontext

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather

import setveil as sv
from setveil.base import progress
from setveil.data import samples
from setveil.data.files.assembly import ListAssembly, LongAssembly, Origin
from setveil.data.formats import wide
from setveil.data.records.ragged import inverted, offsets_of
from setveil.data.records.transactions import Transactions
from setveil.data.samples import drawing, read_sample
from setveil.engines import scratch
from setveil.engines.scratch import using_scratch
from setveil.errors import BadData, OutputRefused, SetveilError

from oracle.assembly import records_of_rows
from support.exhaustive import examples
from support.large_data import is_mapped, low_limits, small_batches, small_disk  # noqa: F401 - a fixture

labels = st.sampled_from(["a", "b", "milk", "10", "9", "ä", "Milk", " tea ", "tea"])
cells = st.one_of(labels, labels, labels, labels, st.sampled_from(["", "  "]))
names = st.one_of(st.integers(1, 12).map(str), st.sampled_from(["p", "q", "customer-7"]))
few_lists = st.lists(st.tuples(names, st.lists(cells, max_size=4)), max_size=12)


def own_names(records):
    """Return the records with ids of their own."""
    return [(f"r{place:02}", items) for place, (_name, items) in enumerate(records)]


# -- reading -----------------------------------------------------------------------------------------------------------


def as_csv(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def long_rows(records):
    return [(name, item) for name, items in records for item in items]


def long_csv(folder, records):
    (folder / "x.csv").write_bytes(as_csv([("id", "item"), *long_rows(records)]))
    return folder / "x.csv", {}


def long_packed(folder, records):
    (folder / "x.csv.gz").write_bytes(gzip.compress(as_csv([("id", "item"), *long_rows(records)])))
    return folder / "x.csv.gz", {}


def long_parquet(folder, records):
    rows = long_rows(records)
    table = pa.table(
        {"id": [r[0] for r in rows], "item": [r[1] for r in rows]},
        pa.schema(dict.fromkeys(("id", "item"), pa.string())),
    )
    pq.write_table(table, folder / "x.parquet")
    return folder / "x.parquet", {}


def list_arrow(folder, records):
    kind = pa.schema({"id": pa.string(), "items": pa.list_(pa.string())})
    table = pa.table({"id": [r[0] for r in records], "items": [r[1] for r in records]}, kind)
    feather.write_feather(table, folder / "x.arrow", compression="uncompressed", chunksize=3)
    return folder / "x.arrow", {}


def json_lines(folder, records):
    lines = [json.dumps({"id": name, "items": items}) for name, items in records]
    (folder / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder / "x.jsonl", {}


def json_rows(folder, records):
    lines = [json.dumps({"id": name, "item": item}) for name, item in long_rows(records)]
    (folder / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder / "x.jsonl", {"format": "long"}


def wide_csv(folder, records):
    (folder / "x.csv").write_bytes(as_csv([("id", "items"), *((name, "|".join(items)) for name, items in records)]))
    return folder / "x.csv", {"format": "wide", "separator": "|"}


def ragged_csv(folder, records):
    (folder / "x.csv").write_bytes(as_csv([("id",), *((name, *items) for name, items in records)]))
    return folder / "x.csv", {"ragged": True, "id": "id"}


def basket(folder, records):
    (folder / "x.dat").write_text("".join(f"{';'.join(items)}\n" for _, items in records), encoding="utf-8")
    return folder / "x.dat", {"separator": ";"}


def matrix(folder, records):
    items = sorted({item.strip() for _, some in records for item in some} - {""}) or ["a"]
    rows = [(name, *(["0", "1", "", "x"][some.count(item) % 4] for item in items)) for name, some in records]
    (folder / "x.csv").write_bytes(as_csv([("id", *items), *rows]))
    return folder / "x.csv", {"format": "matrix"}


def attributes(folder, records):
    rows = [(name, *[*items, "u", "v"][:2]) for name, items in records]
    (folder / "x.csv").write_bytes(as_csv([("id", "age", "sex"), *rows]))
    return folder / "x.csv", {"format": "attributes"}


def database(folder, records):
    (folder / "x.db").unlink(missing_ok=True)
    with closing(sqlite3.connect(folder / "x.db")) as connection:
        connection.execute("CREATE TABLE x (id TEXT, item TEXT)")
        connection.executemany("INSERT INTO x VALUES (?, ?)", long_rows(records))
        connection.commit()
    return f"sqlite:///{folder / 'x.db'}", {"query": "SELECT id, item FROM x ORDER BY rowid"}


WAYS = [
    long_csv,
    long_packed,
    long_parquet,
    list_arrow,
    json_lines,
    json_rows,
    wide_csv,
    ragged_csv,
    basket,
    matrix,
    attributes,
    database,
]


class _Ear:
    def __init__(self):
        self.heard = []

    def step(self, _label, _total):
        return nullcontext(lambda _done: None)

    def note(self, text):
        self.heard.append(text)


def outcome(read):
    """Return what reading gives: the data or the error, and the notes."""
    ear = _Ear()
    with progress.reporting(ear):
        try:
            data = read()
        except SetveilError as error:
            return str(error), ear.heard
    ids = None if data.ids is None else data.ids.to_pylist()
    return data.to_lists(), data.vocabulary, ids, data.unit, data.checksum(), ear.heard


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("are_repeated", [False, True], ids=["", "ids are repeated"])
@settings(max_examples=examples(150))
@given(data=st.data())
def test_large_files_are_read_as_small_ones(tmp_path_factory, way, are_repeated, data):
    records = data.draw(few_lists.map(list if are_repeated else own_names))
    options = {
        "missing": data.draw(st.sampled_from(["drop", "error"])),
        "empty": data.draw(st.sampled_from(["keep", "drop"])),
    }
    source, named = way(tmp_path_factory.getbasetemp(), records)
    with small_batches():
        expected = outcome(lambda: sv.read(source, **named, **options))
        with low_limits(data.draw(st.integers(1, 60))):
            assert outcome(lambda: sv.read(source, **named, **options)) == expected


rows = st.lists(st.tuples(st.sampled_from([f"p{i}" for i in range(9)]), labels.map(str.strip)), min_size=1, max_size=60)


def column(values):
    return pa.array(values, pa.large_string())


@pytest.mark.plain_python
@settings(max_examples=examples(300))
@given(rows, st.booleans(), st.integers(1, 20), st.integers(1, 200))
def test_rows_in_any_order_become_the_records_of_plain_grouping(rows_, grouped, batch, limit):
    rows_ = sorted(rows_) if grouped else rows_
    with low_limits(limit):
        assembly = LongAssembly(Origin("rows"), id_column="id", item_column="item")
        for first in range(0, len(rows_), batch):
            some = rows_[first : first + batch]
            assembly.add(column([name for name, _ in some]), column([item for _, item in some]))
        data = assembly.finish()
        checked = Transactions(data.offsets, data.items, tuple(data.vocabulary), ids=data.ids)
    assert [*zip(data.ids.to_pylist(), map(set, data.to_lists()), strict=True)] == records_of_rows(rows_)
    assert checked == data


@pytest.mark.parametrize(
    ("names_of_batches", "row"),
    [
        ([["p", "q"], ["r", "q"], ["s"]], 4),
        ([["p", "q"], ["q", "p"], ["s"]], 3),
        ([["p", "q"], ["r"], ["s", "t", "s", "p"]], 6),
        ([["p", "q"], ["r"], ["s", "q", "s"], ["p"]], 5),
        ([["p", "q"], ["r"], ["p"], ["s", "s"]], 4),
        ([["p"] * 2, ["p"]], 2),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
@pytest.mark.parametrize("ending", ["", "missing item", "other error"])
def test_the_first_row_with_an_id_of_an_earlier_one_is_refused(names_of_batches, row, limit, ending):
    """The error of a later row does not hide it, although many ids are compared at the end only."""

    def read():
        assembly = ListAssembly(Origin("rows"), id_column="id")
        with assembly.comparing_ids():
            for some in names_of_batches:
                assembly.add(pa.array([["a"]] * len(some)), column(some))
            if ending == "missing item":
                assembly.add(pa.array([[None]], pa.list_(pa.string())), column(["z"]))
            elif ending:
                raise BadData("is broken", file="rows", row=99)
        assembly.finish()

    with low_limits(limit), pytest.raises(BadData) as refused:
        read()
    assert str(refused.value) == f"rows, row {row}: has the same id as an earlier row; expected one id per record"


def test_lines_of_a_ragged_file_are_read_a_few_at_a_time(tmp_path, monkeypatch):
    lines = [f'p{n},"x{n % 3}",,y,\n' if n % 4 else f"p{n}\n" for n in range(50)]
    (tmp_path / "x.csv").write_text("id,first,second\n" + "".join(lines), encoding="utf-8")
    read = {"ragged": True, "id": "id", "missing": "drop"}
    expected = outcome(lambda: sv.read(tmp_path / "x.csv", **read))
    monkeypatch.setattr(wide, "_READ_LINES", 7)
    with small_batches(), low_limits():
        assert outcome(lambda: sv.read(tmp_path / "x.csv", **read)) == expected


@pytest.mark.parametrize("limit", [20, 1 << 30])
def test_only_large_data_are_on_disk_and_nobody_can_change_them(tmp_path, limit):
    path = tmp_path / "x.csv"
    path.write_bytes(as_csv([("id", "item"), *((f"p{n % 50}", f"i{n % 7}") for n in range(400))]))
    scratch_folder = tmp_path / "scratch"
    with low_limits(limit), using_scratch(scratch_folder):
        data = sv.read(path)
        assert list(scratch_folder.iterdir()) == []
    for array in (data.offsets, data.items):
        assert not array.flags.writeable
        assert is_mapped(array) == (limit == 20)
    assert limit != 20 or not any(buffer.is_mutable for buffer in data.ids.buffers()[1:])
    with pytest.raises(ValueError, match="read-only"):
        data.items[0] = 1


# -- the room on the disk ----------------------------------------------------------------------------------------------


@pytest.fixture
def no_room(monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda _folder: usage._replace(free=10))


@pytest.mark.usefixtures("no_room")
def test_large_data_are_refused_before_reading_if_the_disk_has_no_room(tmp_path):
    path = tmp_path / "x.dat"
    path.write_text("milk\n" * 40, encoding="utf-8")
    assert sv.read(path).records == 40
    with low_limits():
        for source, what in ((path, f"reading {path}"), ("sample:supermarket?records=30", "sample:supermarket")):
            with pytest.raises(OutputRefused, match=r"for temporary files in .*, which has 0\.01 kB left") as refused:
                sv.read(source)
            assert str(refused.value).startswith(what)


def test_a_disk_that_fills_while_data_are_read_is_refused(tmp_path, small_disk):  # noqa: F811 - the fixture
    path = tmp_path / "x.csv"
    path.write_bytes(as_csv([("id", "item"), *((f"p{n}", f"i{n % 7}") for n in range(60_000))]))
    with pytest.MonkeyPatch.context() as patch, using_scratch(small_disk):
        patch.setattr("setveil.engines.growing.LARGE", 200_000)
        with pytest.raises(
            OutputRefused, match=f"{small_disk}, the folder for temporary files, is full; free some space"
        ):
            sv.read(path)
    assert list(small_disk.iterdir()) == []


# -- what `Transactions` derive ----------------------------------------------------------------------------------------


@contextmanager
def the_same(data):
    """Give the same data on disk."""
    with low_limits():
        found = Transactions.from_codes(data.offsets, data.items, data.vocabulary, ids=data.ids, unit=data.unit)
        assert is_mapped(found.items) == (data.occurrences > 5)
        yield found


def hash_of(data):
    """Return the hash of the content as its definition says."""
    digest = hashlib.sha256(len(data.vocabulary).to_bytes(8, "little"))

    def add(texts):
        digest.update(b"".join(len(text.encode()).to_bytes(8, "little") for text in texts))
        digest.update("".join(texts).encode())

    add(data.vocabulary)
    digest.update(b"".join(int(n).to_bytes(8, "little") for n in data.offsets))
    digest.update(b"".join(int(n).to_bytes(4, "little") for n in data.items))
    if data.ids is not None:
        add(data.ids.to_pylist())
    return digest.hexdigest()


@st.composite
def small_data(draw):
    lists = draw(st.lists(st.lists(st.sampled_from("abcdefg"), unique=True, max_size=7), max_size=12))
    return sv.from_lists(lists, ids=[f"p{n}ä" for n in range(len(lists))] if draw(st.booleans()) else None)


@settings(max_examples=examples(200))
@given(small_data(), st.data())
def test_large_data_give_what_small_ones_give(data, more):
    mask = np.array(more.draw(st.lists(st.booleans(), min_size=data.records, max_size=data.records)), bool)
    some = np.array(
        more.draw(st.lists(st.integers(0, max(data.records - 1, 0)), max_size=9 if data.records else 0)), int
    )
    kept = np.array(more.draw(st.lists(st.booleans(), min_size=data.occurrences, max_size=data.occurrences)), bool)
    order = np.array(more.draw(st.permutations(range(data.records))), int)
    renamed = [f"n{n}" for n in range(data.records)]
    facts = [
        lambda one: one.lengths.tolist(),
        lambda one: one.supports.tolist(),
        lambda one: [part.tolist() for part in one.holders],
        lambda one: one.empty_records,
        lambda one: one.names().to_pylist(),
        lambda one: one.checksum(),
    ]
    ways = [
        lambda one: one.compacted(),
        lambda one: one.keeping(kept),
        lambda one: one.keeping(kept).compacted(),
        lambda one: one.without_empty(),
        lambda one: one.take(mask),
        lambda one: one.take(order),
        lambda one: one.take(some, ids=None),
        lambda one: one.take(order, ids=renamed),
        lambda one: one.with_ids(renamed),
        lambda one: one.with_ids(None),
        lambda one: Transactions.concatenated([one, one.take(some, ids=None), one]),
    ]
    expected = [fact(data) for fact in facts], [way(data) for way in ways]
    assert data.checksum() == hash_of(data)
    with the_same(data) as large:
        assert large == data
        assert [fact(large) for fact in facts] == expected[0]
        for way, right in zip(ways, expected[1], strict=True):
            found = way(large)
            assert found == right
            assert hash_of(found) == right.checksum()
            assert found.unit == right.unit
        for other in (data.take(order, ids=None), data.with_ids(None), data.keeping(kept)):
            is_same = hash_of(data) == hash_of(other) and (data.ids is None) == (other.ids is None)
            assert (large == other) == is_same


def test_ids_of_large_data_are_compared():
    data = sv.from_lists([["a", "b"]] * 9, ids=list("pqrstuvwx"))
    with the_same(data) as large:
        for wrong in (lambda: large.with_ids(list("pqrstupwx")), lambda: large.take(np.array([3, 0, 3]))):
            with pytest.raises(BadData, match="two records have the same id"):
                wrong()
        with pytest.raises(BadData, match="8 ids"):
            large.with_ids(list("pqrstuvw"))
        assert large.take(np.array([3, 0])).ids.to_pylist() == ["s", "p"]


@pytest.mark.parametrize(
    ("offsets", "codes", "problem"),
    [
        ([0, 3, 2, 8], [0, 1, 2, 0, 1, 2, 0, 1], "offsets must start at 0"),
        ([0, 3, 6, 8], [0, 1, 2, 0, 1, 3, 0, 1], "outside the vocabulary"),
        ([0, 3, 6, 8], [0, 1, 2, 0, 1, 2, 1, 1], "strictly increasing"),
    ],
)
def test_arrays_that_are_wrong_are_refused_in_large_data(offsets, codes, problem):
    with low_limits(), pytest.raises(BadData, match=problem):
        Transactions(np.array(offsets), np.array(codes), ("a", "b", "c"))


@pytest.mark.parametrize("sizes", [[9, 0, 2], [30], [0, 0]])
def test_inverted_lists_of_large_data(sizes):
    values = np.random.default_rng(1).integers(0, 4, sum(sizes))
    expected = [part.tolist() for part in inverted(offsets_of(sizes), values, 4)]
    with low_limits(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("setveil.data.records.ragged.FEW", 3)
        assert [part.tolist() for part in inverted(offsets_of(sizes), values, 4)] == expected


# -- samples -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_large_samples_are_made_as_small_ones(name):
    source = f"sample:{name}?records={drawing.CHUNK_RECORDS + 300}&seed=4"
    small = read_sample(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setveil.engines.growing.LARGE", 1000)
        large = read_sample(source)
        assert is_mapped(large.items)
        assert is_mapped(large.offsets)
    assert large == small
    assert Transactions(small.offsets, small.items, tuple(small.vocabulary), ids=small.ids, unit="person") == small
