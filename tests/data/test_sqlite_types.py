"""SQLite, where each row of a column may hold another type: exact values or a refusal, never another value."""

import subprocess
import sys

import pyarrow as pa
import pytest

from setveil.data.databases import query_batches, sqlite

from support.databases import refusal, rows_of


def test_sqlite_gives_exact_values(sqlite_url, fill, notes):
    values = [None, 9_007_199_254_740_993, "007", -(2**63), "a\0b", "", " 7 ", "ö"]
    fill("CREATE TABLE t (a)", insert="INSERT INTO t VALUES (?)", rows=[(value,) for value in values])
    found = [row["a"] for row in rows_of(sqlite_url, "SELECT a FROM t ORDER BY rowid")]
    assert found == [None if value is None else str(value) for value in values]
    assert notes() == "the column 'a' holds texts and whole numbers; all are read as texts"


@pytest.mark.parametrize("late", [1.5, b"\xff"])
@pytest.mark.parametrize("early", [5, "text", None])
@pytest.mark.parametrize("distance", [1, 7])
def test_sqlite_refuses_another_type_further_down(sqlite_url, fill, monkeypatch, late, early, distance):
    monkeypatch.setattr(sqlite, "BATCH_ROWS", 4)
    rows = [(early,)] * distance + [("x",)] + [(late,)]
    fill("CREATE TABLE t (a)", insert="INSERT INTO t VALUES (?)", rows=rows)
    said = refusal(sqlite_url, "SELECT a FROM t")
    assert "the column 'a' holds " in said
    assert "texts" in said
    assert ("floating-point numbers" if late == 1.5 else "bytes") in said
    assert len(rows_of(sqlite_url, "SELECT hex(CAST(a AS TEXT)) AS a FROM t")) == distance + 2


def test_sqlite_passes_other_columns_on(sqlite_url, fill):
    fill("CREATE TABLE t (a, b, c)", "INSERT INTO t VALUES (1, 0.1, x'ff'), (2, 5, NULL), (3, NULL, x'00')")
    with query_batches(sqlite_url, "SELECT a, b, c, a, count(*) OVER () FROM t ORDER BY a DESC") as rows:
        assert rows.schema.types == [pa.string(), pa.float64(), pa.binary(), pa.string(), pa.string()]
        assert rows.schema.names[:3] == ["a", "b", "c"]
        table = pa.Table.from_batches(list(rows))
    assert table.column(0).to_pylist() == ["3", "2", "1"]
    assert table.column(1).to_pylist() == [None, 5.0, 0.1]
    assert table.column(2).to_pylist() == [b"\x00", None, b"\xff"]


def test_sqlite_keeps_the_order_of_the_query_over_many_batches(sqlite_url, fill, monkeypatch):
    monkeypatch.setattr(sqlite, "BATCH_ROWS", 100)
    numbers = [(n * 7919 % 10_007,) for n in range(5_000)]
    fill("CREATE TABLE t (a)", insert="INSERT INTO t VALUES (?)", rows=numbers)
    for query in (
        "SELECT a FROM t ORDER BY a DESC",
        "SELECT a FROM t WHERE a < 20000 UNION ALL SELECT a FROM t WHERE a > 20000 ORDER BY a DESC",
        "WITH x AS (SELECT a FROM t) SELECT a FROM x ORDER BY a DESC LIMIT 5000",
    ):
        assert [int(row["a"]) for row in rows_of(sqlite_url, query)] == sorted((n for (n,) in numbers), reverse=True)


def test_sqlite_without_rows_has_columns_of_text(sqlite_url, fill):
    fill("CREATE TABLE t (a integer, b)")
    with query_batches(sqlite_url, "SELECT b, a FROM t") as rows:
        assert rows.schema == pa.schema({"b": pa.string(), "a": pa.string()})
        assert list(rows) == []


def test_sqlite_refuses_what_is_not_utf8(sqlite_url, fill):
    fill("CREATE TABLE t AS SELECT CAST(x'61ff62' AS TEXT) AS a")
    assert "not UTF-8" in refusal(sqlite_url, "SELECT a FROM t")


WRITING = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1])
other.execute("PRAGMA journal_mode = wal")
other.execute("CREATE TABLE t AS SELECT 'kept' AS a")
other.commit()
other.execute("INSERT INTO t VALUES ('not yet')")
print("written", flush=True)
sys.stdin.read()
"""


def test_sqlite_reads_a_file_that_others_have_open(sqlite_url, tmp_path):
    command = [sys.executable, "-c", WRITING, tmp_path / "shop.db"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"written\n"
        assert rows_of(sqlite_url, "SELECT a FROM t") == [{"a": "kept"}]
        other.stdin.close()
