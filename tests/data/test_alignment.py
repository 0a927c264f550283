"""The file of an alignment, which is written and read in pieces."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from setveil.data.records import alignment
from setveil.data.records.alignment import Alignment
from setveil.errors import BadData


def ids(number, name):
    return pa.array([f"{name}{row}" for row in range(number)], pa.large_string())


def columns_of(found):
    return [None if one is None else np.asarray(one).tolist() for one in vars(found).values()]


@pytest.mark.parametrize("number", [0, 1, 8, 9, 30])
@pytest.mark.parametrize("named", [(), ("published_ids",), ("published_ids", "original_ids")])
def test_an_alignment_is_read_as_it_was_written(tmp_path, monkeypatch, number, named):
    made = Alignment(np.random.default_rng(1).permutation(number), **{name: ids(number, name) for name in named})
    made.save(tmp_path / "whole.parquet")
    monkeypatch.setattr(alignment, "GROUP_ROWS", 8)
    monkeypatch.setattr(alignment, "BATCH_ROWS", 5)
    made.save(tmp_path / "parts.parquet")
    for name in ("whole", "parts"):
        found = Alignment.load(tmp_path / f"{name}.parquet")
        assert columns_of(found) == columns_of(made)
        assert found.rows.dtype == np.int64
    with pq.ParquetFile(tmp_path / "parts.parquet") as file:
        assert file.num_row_groups == max(-(-number // 8), 1)


@pytest.mark.parametrize("number", [0, 3, 4096])
def test_the_file_has_the_bytes_of_a_table_that_is_written_at_once(tmp_path, number):
    made = Alignment(np.arange(number)[::-1].copy(), ids(number, "p"), ids(number, "q"))
    made.save(tmp_path / "found.parquet")
    columns = {"original_row": made.rows, "published_id": made.published_ids, "original_id": made.original_ids}
    pq.write_table(pa.table({"row": np.arange(number), **columns}), tmp_path / "expected.parquet")
    assert (tmp_path / "found.parquet").read_bytes() == (tmp_path / "expected.parquet").read_bytes()


def test_another_table_is_no_alignment(tmp_path):
    pq.write_table(pa.table({"row": [1]}), tmp_path / "other.parquet")
    with pytest.raises(BadData, match="is not a readable alignment file"):
        Alignment.load(tmp_path / "other.parquet")
