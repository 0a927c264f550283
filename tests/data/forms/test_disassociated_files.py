"""Files of disassociated data: written and read again the same, and what is wrong with one is said with file and line."""

import gzip
import hashlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

import setveil as sv
from setveil.data.formats import Layout
from setveil.data.forms.disassociated.files import DisassociatedFiles, looks_disassociated, write_disassociated

from support.any_clusters import some_clusters

HEADER = '{"format": "disassoc/1", "k": 2, "m": 2, "delta": 9}'
RIGHT = '{"size": 3, "record_chunks": [[[["a", "b"], 2], [["a"], 1]]], "term_chunk": ["x"]}'
ENDINGS = ["jsonl", "jsonl.gz", "jsonl.zst", "parquet"]


@pytest.mark.parametrize("ending", ENDINGS)
@given(clusters=some_clusters())
def test_what_is_written_reads_back(tmp_path_factory, ending, clusters):
    data = sv.Disassociated.from_clusters(clusters, stated={"k": 2, "m": 3, "delta": 7}).arranged()[0]
    path = tmp_path_factory.mktemp("made") / f"data.{ending}"
    write_disassociated(data, path)
    read = sv.read_disassociated(path)
    assert read == data
    assert read.stated == ({} if ending == "parquet" else {"k": 2, "m": 3, "delta": 7})
    assert read.source_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert looks_disassociated(path)
    first = path.read_bytes()
    DisassociatedFiles().write(data, path, Layout())
    assert path.read_bytes() == first
    assert DisassociatedFiles().read(path, Layout()) == data


def test_the_file_is_what_the_page_says(tmp_path):
    data = sv.Disassociated.from_clusters(
        [
            {"size": 2, "record_chunks": [], "term_chunk": ["ü", '"']},
            {"size": 3, "record_chunks": [[(["b", "a"], 2), (["a"], 1)], [(["c"], 2)]], "term_chunk": []},
        ],
        stated={"k": 2, "m": 2, "delta": 20},
    )
    write_disassociated(data, tmp_path / "data.jsonl")
    assert (tmp_path / "data.jsonl").read_text(encoding="utf-8").splitlines() == [
        '{"format": "disassoc/1", "k": 2, "m": 2, "delta": 20, "clusters": 2, "records": 5}',
        '{"size": 2, "record_chunks": [], "term_chunk": ["\\"", "ü"]}',
        '{"size": 3, "record_chunks": [[[["a", "b"], 2], [["a"], 1]], [[["c"], 2]]], "term_chunk": []}',
    ]
    write_disassociated(data, tmp_path / "data.parquet")
    table = pq.read_table(tmp_path / "data.parquet")
    assert table.schema.metadata is None
    assert table.to_pylist() == [
        {"cluster": 0, "chunk": -1, "items": ['"', "ü"], "count": 2},
        {"cluster": 1, "chunk": -1, "items": [], "count": 3},
        {"cluster": 1, "chunk": 0, "items": ["a", "b"], "count": 2},
        {"cluster": 1, "chunk": 0, "items": ["a"], "count": 1},
        {"cluster": 1, "chunk": 1, "items": ["c"], "count": 2},
    ]


def test_many_clusters_are_written_in_several_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("setveil.data.forms.disassociated.files._WRITTEN_CLUSTERS", 3)
    data = sv.Disassociated.from_clusters(
        [
            {"size": 4, "record_chunks": [[([f"a{c}"], c % 4 + 1)]] * (c % 3), "term_chunk": [f"t{c}"] * (c % 2)}
            for c in range(20)
        ]
    )
    write_disassociated(data, tmp_path / "data.jsonl")
    assert sv.read_disassociated(tmp_path / "data.jsonl") == data


def test_whole_numbers_are_items_too(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text(f'{HEADER}\n{{"term_chunk": [10, 9], "size": 3, "record_chunks": [[[[7, "b"], 2]]]}}\n')
    data = sv.read_disassociated(path)
    assert data.to_clusters() == [{"size": 3, "record_chunks": [[(["7", "b"], 2)]], "term_chunk": ["10", "9"]}]
    numbers = {"cluster": [0, 0], "chunk": [-1, 0], "items": [[10, 9], [7]], "count": [3, 2]}
    pq.write_table(pa.table(numbers), tmp_path / "data.parquet")
    found = sv.read_disassociated(tmp_path / "data.parquet").to_clusters()
    assert found == [{"size": 3, "record_chunks": [[(["7"], 2)]], "term_chunk": ["9", "10"]}]


def cluster(**changed):
    return json.dumps({"size": 3, "record_chunks": [[[["a"], 2]]], "term_chunk": []} | changed)


WRONG = {
    "no JSON": ("{", "is not JSON"),
    "a list": ("[]", "is a list; expected a cluster such as {"),
    "no size": ('{"record_chunks": [], "term_chunk": []}', "has no field 'size'"),
    "another field": (cluster(note=1), "has the field 'note'; a cluster has the fields"),
    "a size of 0": (cluster(size=0), "the size of a cluster is 0; expected at least 1"),
    "a size below 0": (cluster(size=-4), "the size of a cluster is -4"),
    "a size that is a text": (cluster(size="3"), "the size of a cluster is a text; expected a whole number"),
    "a size with a fraction": (cluster(size=1.5), "is a number with a fraction; expected a whole number"),
    "an endless size": (cluster().replace("3", "9" * 6000), "is 999999999999999...; expected"),
    "chunks that are none": (cluster(record_chunks="ab"), "the field 'record_chunks' is a text; expected a list"),
    "a chunk that is none": (cluster(record_chunks=["ab"]), "a record chunk is a text; expected a list"),
    "an empty chunk": (cluster(record_chunks=[[]]), "a record chunk is an empty list"),
    "no count": (cluster(record_chunks=[[["a", "b", "c"]]]), "expected a subrecord with its count"),
    "a count of 0": (cluster(record_chunks=[[[["a"], 0]]]), "the count of a subrecord is 0; expected at least 1"),
    "a count that is true": (cluster(record_chunks=[[[["a"], True]]]), "the count of a subrecord is true or false"),
    "a subrecord that is none": (cluster(record_chunks=[[["a", 1]]]), "a subrecord is a text; expected a list"),
    "an item twice": (cluster(record_chunks=[[[["a", "a"], 1]]]), "a subrecord holds the item 'a' twice"),
    "an empty item": (cluster(record_chunks=[[[[""], 1]]]), "the item '' is empty"),
    "an item that is none": (cluster(term_chunk=[None]), "an item is null"),
    "a term twice": (cluster(term_chunk=["a", "a"]), "the term chunk holds the item 'a' twice"),
    "a term chunk that is none": (cluster(term_chunk={"a": 1}), "the term chunk is an object; expected a list"),
    "deep nesting": ("[" * 5000, "is nested too deeply"),
}


@pytest.mark.parametrize(("line", "says"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, line, says):
    path = tmp_path / "data.jsonl"
    path.write_text(f"{HEADER}\n{RIGHT}\n{line}\n", encoding="utf-8")
    with pytest.raises(sv.BadData) as refused:
        sv.read_disassociated(path)
    assert str(refused.value).startswith(f"{path}, line 3: ")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


HEADERS = {
    "no header": (RIGHT, "is not a header of disassociated data; expected one such as"),
    "another version": ('{"format": "disassoc/2"}', "is not a header of disassociated data"),
    "a text for k": ('{"format": "disassoc/1", "k": "2"}', "'k' in the header is a text; expected a whole number"),
    "another field": ('{"format": "disassoc/1", "seed": 7}', "the header has the field 'seed'"),
    "a cluster too few": ('{"format": "disassoc/1", "clusters": 2}', "says 2 clusters, and the lines below it have 1"),
    "a record too few": ('{"format": "disassoc/1", "records": 4}', "says 4 records, and the lines below it have 3"),
}


@pytest.mark.parametrize(("line", "says"), HEADERS.values(), ids=HEADERS)
def test_what_is_wrong_with_a_header_is_said(tmp_path, line, says):
    path = tmp_path / "data.jsonl"
    path.write_text(f"{line}\n{RIGHT}\n", encoding="utf-8")
    with pytest.raises(sv.BadData) as refused:
        sv.read_disassociated(path)
    assert str(refused.value).startswith(f"{path}, line 1: ")
    assert says in str(refused.value)


TABLES = {
    "no size": ({"chunk": [0, 0]}, "cluster 0 has no row with chunk -1"),
    "two sizes": ({"chunk": [-1, -1]}, "cluster 0 has two rows with chunk -1"),
    "a size of 0": ({"count": [0, 2]}, "the size of cluster 0 is 0"),
    "a count of 0": ({"count": [3, 0]}, "a count in cluster 0 is 0"),
    "no number": ({"count": [3, None]}, "the column 'count' has missing values"),
    "texts for counts": ({"count": ["3", "2"]}, "the column 'count' holds"),
    "no lists": ({"items": ["x", "a"]}, "the column 'items' holds"),
    "numbers with fractions": ({"items": [[1.5], [2.5]]}, "expected lists of texts or whole numbers"),
    "an item that is none": ({"items": [["x"], [None]]}, "an item is null"),
    "no rows": ({"cluster": [], "chunk": [], "items": pa.array([], pa.list_(pa.string())), "count": []}, "has no rows"),
}


@pytest.mark.parametrize(("changed", "says"), TABLES.values(), ids=TABLES)
def test_what_is_wrong_with_a_table_is_said(tmp_path, changed, says):
    columns = {"cluster": [0, 0], "chunk": [-1, 0], "items": [["x"], ["a"]], "count": [3, 2]} | changed
    if says == "has no rows":
        columns |= {name: pa.array([], pa.int64()) for name in ("cluster", "chunk", "count")}
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(sv.BadData) as refused:
        sv.read_disassociated(path)
    assert says in str(refused.value)
    assert str(refused.value).startswith(str(path))


def test_other_files_are_told(tmp_path):
    empty, packed, table = tmp_path / "empty.jsonl", tmp_path / "data.jsonl.gz", tmp_path / "other.parquet"
    empty.write_text("")
    packed.write_bytes(gzip.compress(HEADER.encode())[:-9])
    pq.write_table(pa.table({"cluster": [1]}), table)
    for path, says in ((empty, "is empty; expected a header"), (packed, "gzip"), (table, "chunk")):
        with pytest.raises(sv.BadData, match=says):
            sv.read_disassociated(path)
        assert not looks_disassociated(path)
    assert not looks_disassociated(tmp_path / "nothing.jsonl")
    plain = tmp_path / "plain.jsonl"
    plain.write_text('["a", "b"]\n')
    assert not looks_disassociated(plain)


def test_what_no_file_holds_is_refused(tmp_path):
    data = sv.Disassociated.from_clusters([{"size": 1, "record_chunks": [], "term_chunk": ["a\nb"]}])
    with pytest.raises(sv.OutputRefused, match="an item cannot be written"):
        write_disassociated(data, tmp_path / "data.jsonl")
    assert not (tmp_path / "data.jsonl").exists()


def test_hostile_labels_stay_labels(tmp_path):
    label = '"]], 1]], "size": 9}\\'
    data = sv.Disassociated.from_clusters([{"size": 2, "record_chunks": [[([label], 2)]], "term_chunk": [label + "t"]}])
    write_disassociated(data, tmp_path / "data.jsonl")
    assert sv.read_disassociated(tmp_path / "data.jsonl") == data
