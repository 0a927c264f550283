"""Disassociated data that are worked on in pieces, as those of more than a block are: the same as in one piece, and as a plain twin."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.forms.base import Naming
from setveil.data.forms.comparing import Aligned
from setveil.data.forms.disassociated import LEFT_OUT, arranging, files
from setveil.data.forms.disassociated.files import write_disassociated
from setveil.data.records.alignment import Alignment
from setveil.engines import growing
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine

from oracle import disassociation as oracle
from support.any_clusters import some_clusters
from support.disassociated_cases import some_clusters as apart
from support.exhaustive import examples
from support.large_data import is_mapped
from support.random_data import make, seeds

ENDINGS = ["jsonl", "jsonl.gz", "parquet"]


def in_codes(data):
    """Return the clusters as the plain twin takes them."""
    code_of = data.subrecords.code_of

    def codes(items):
        return tuple(code_of[item] for item in items)

    return [
        (
            cluster["size"],
            [[(codes(items), count) for items, count in chunk] for chunk in cluster["record_chunks"]],
            [*codes(cluster["term_chunk"])],
        )
        for cluster in data.to_clusters()
    ]


def many(clusters, rng):
    """Return the clusters several times in random order, so that many are equal or nearly so."""
    chosen = rng.integers(0, len(clusters), 4 * len(clusters))
    return [clusters[at] | {"term_chunk": clusters[at]["term_chunk"][: rng.integers(0, 4)]} for at in chosen.tolist()]


EMPTY = [{"size": 3, "record_chunks": [[part]], "term_chunk": []} for part in (([], 5), (["a"], 2))]
"""A subrecord without items comes before one that begins with the first item, whatever the counts."""


@settings(max_examples=examples(200))
@example(clusters=EMPTY, seed=1, size=9, words=4)
@given(clusters=some_clusters(), seed=seeds, size=st.integers(1, 30), words=st.integers(1, 5))
def test_the_order_is_that_of_the_plain_twin_in_pieces_of_any_size(clusters, seed, size, words):
    data = sv.Disassociated.from_clusters(many(clusters, np.random.default_rng(seed)))
    whole, order = data.arranged()
    plain = in_codes(whole)
    assert (plain, list(range(whole.clusters))) == oracle.arranged(plain)
    labelled = [(size, chunks, terms) for size, chunks, terms in in_codes(data)]
    if whole.vocabulary == data.vocabulary:
        assert (plain, order.tolist()) == oracle.arranged(labelled)
    with pytest.MonkeyPatch.context() as patch, using_engine(LocalEngine(size)):
        patch.setattr(arranging, "FIRST_WORDS", words)
        patch.setattr(arranging, "MOST_WORDS", 8)
        pieces, own = data.arranged()
    assert pieces == whole
    assert own.tolist() == order.tolist()


@settings(max_examples=examples(150))
@given(seed=seeds, size=st.integers(1, 40))
def test_everything_else_is_the_same_in_pieces(seed, size):
    data = make(seed)[0].without_empty()
    if not data.records:
        return
    rng = np.random.default_rng(seed)
    cluster = np.unique(rng.integers(0, max(data.records // 4, 1), data.records), return_inverse=True)[1]
    chunk_of = rng.integers(LEFT_OUT, 3, (int(cluster.max()) + 1, len(data.vocabulary)))
    chunk = chunk_of[np.repeat(cluster, data.lengths), data.items]
    wrong = rng.random() < 0.3

    def everything():
        made, rows = sv.Disassociated.of_records(data, cluster, chunk)
        aligned = Aligned(data, np.roll(rows, 1) if wrong else rows)
        found = made.find_untrue(aligned, whole=bool(seed % 2))
        seen = made.sightings([*data.vocabulary, "unknown"])
        return {
            "checksum": made.checksum(),
            "totals": made.totals(),
            "supports": made.supports.tolist(),
            "chunk sizes": made.chunk_sizes.tolist(),
            "rows": rows.tolist(),
            "untrue": (found.cases, found.witnesses),
            "shown": [shown.tolist() for shown in made.shown_of(data, Alignment(rows))],
            "sightings": [places.tolist() for places in seen.lists],
            "arranged": made.arrange(rows, Naming("drop", data, lambda _n: None))[1].rows.tolist(),
        }

    whole = everything()
    with using_engine(LocalEngine(size)):
        assert everything() == whole


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=examples(100))
@given(seed=seeds, size=st.integers(1, 40))
def test_files_are_the_same_in_pieces(tmp_path_factory, ending, seed, size):
    data = sv.Disassociated.from_clusters(apart(seed, clusters=12), stated={"k": 2, "m": 3, "delta": 7}).arranged()[0]
    folder = tmp_path_factory.mktemp("made")
    one, other = folder / f"one.{ending}", folder / f"other.{ending}"
    write_disassociated(data, one)
    with pytest.MonkeyPatch.context() as patch, using_engine(LocalEngine(size)):
        patch.setattr(growing, "WITHOUT_FILE", 0)
        patch.setattr(files, "_READ_NUMBERS", size)
        patch.setattr(files, "_PARQUET_ROWS", 2)
        write_disassociated(data.arranged()[0], other)
        found = sv.read_disassociated(other)
    assert other.read_bytes() == one.read_bytes()
    assert found == data
    assert found.stated == ({} if ending == "parquet" else data.stated)


def test_large_data_are_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "WITHOUT_FILE", 0)
    monkeypatch.setattr(growing, "LARGE", 0)
    monkeypatch.setattr(files, "_READ_NUMBERS", 20)
    write_disassociated(sv.Disassociated.from_clusters(apart(3, clusters=40)), tmp_path / "data.jsonl")
    read = sv.read_disassociated(tmp_path / "data.jsonl")
    with using_engine(LocalEngine(9)):
        made = read.arranged()[0]
    for data in (read, made):
        assert all(map(is_mapped, data.arrays))
    assert made == read.arranged()[0]


def test_large_tables_are_written_in_row_groups_and_read_in_any_order(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_GROUP_ROWS", 7)
    data = sv.Disassociated.from_clusters(apart(3, clusters=40)).arranged()[0]
    path = tmp_path / "data.parquet"
    write_disassociated(data, path)
    table = pq.read_table(path)
    sizes = [pq.ParquetFile(path).metadata.row_group(at).num_rows for at in range(-(-table.num_rows // 7))]
    assert sizes[:-1] == [7] * (len(sizes) - 1)
    assert sum(sizes) == data.clusters + data.subrecords.records
    assert sv.read_disassociated(path) == data
    pq.write_table(table.take(np.random.default_rng(1).permutation(table.num_rows)), path, row_group_size=5)
    assert sv.read_disassociated(path).arranged()[0] == data
