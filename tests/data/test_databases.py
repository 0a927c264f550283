"""Rows from databases: exact values whatever the database does with types, nothing secret told, nothing changed or made by reading."""

import os
import subprocess
import sys
from urllib.parse import quote

import duckdb
import pyarrow as pa
import pytest

from setveil.data.databases import is_database, query_batches, shown
from setveil.errors import Missing

from support.databases import refusal, rows_of
from support.postgres import PASSWORD

ENCODED = quote(PASSWORD, safe="")


@pytest.fixture
def duckdb_url(tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE baskets AS SELECT 7 AS customer, 'milk' AS product, [1, NULL, 3] AS n, ['a', NULL] AS t"
        )
    return f"duckdb:///{tmp_path / 'shop.duckdb'}"


# -- addresses ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://ann:hidden@db.example:5432/shop", "postgresql://ann@db.example:5432/shop"),
        ("postgres://ann:hidden@db/shop?sslmode=require", "postgresql://ann@db/shop?sslmode=require"),
        ("postgresql:///shop?host=/run/pg&password=hidden&user=ann", "postgresql:///shop?host=/run/pg&user=ann"),
        ("postgresql://ann:hidden@[::1]:5432,other:1/shop", "postgresql://ann@[::1]:5432,other:1/shop"),
        ("postgresql://db/shop?sslpassword=hidden&sslkey=hidden", "postgresql://db/shop"),
        ("postgresql://ann:hid@hidden@db/shop", "postgresql://..."),
        ("postgresql://ann:hid/hidden@db/shop", "postgresql://..."),
        ("postgresql://ann:hid?hidden@db/shop", "postgresql://..."),
        ("postgresql://ann:hid#hidden@db/shop", "postgresql://..."),
        ("postgresql://ann:hidden/shop", "postgresql://..."),
        ("postgresql://ann:hidden%zz@db/shop", "postgresql://..."),
        ("postgresql://ann:hidden hidden@db/shop", "postgresql://..."),
        ("postgresql://db/shop?hidden", "postgresql://..."),
        ("postgresql:/ann:hidden@db/shop", "the address"),
        ("POSTGRESQL://ann:hidden@db/shop", "POSTGRESQL://..."),
        ("mysql://ann:hidden@db/shop", "mysql://..."),
        ("sqlite:///a/b.db", "sqlite:///a/b.db"),
        ("duckdb:////a/b.duckdb", "duckdb:////a/b.duckdb"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url, told):
    assert is_database(url)
    assert shown(url) == told
    if "..." in told or told == "the address":
        assert told in refusal(url)


@pytest.mark.parametrize(
    "path", ["baskets.csv", "/a/b.db", "sample:supermarket?records=10", "a b://c", "C:/data.csv", ""]
)
def test_a_path_is_not_an_address(path):
    assert not is_database(path)


@pytest.mark.parametrize(
    "url", ["sqlite://a.db", "sqlite:///", "sqlite:///:memory:", "duckdb:///a?b=c", "sqlite:///a\0b"]
)
def test_an_address_of_a_file_is_looked_at(url):
    assert "allowed are postgresql://" in refusal(url)


# -- bad input ------------------------------------------------------------------------------------------------------------------

QUERIES = [
    (None, "`query=`"),
    ("", "the query is empty"),
    (" ; -- nothing\n /* at /* all */ */", "the query is empty"),
    ("SELECT 1; SELECT 2", "several statements"),
    ("DROP TABLE baskets", "begins with 'drop'"),
    ("/* SELECT */ DELETE FROM baskets", "begins with 'delete'"),
    ("SELECT 'half", "cannot be run"),
    ("SELECT FROM WHERE", "cannot be run"),
    ("SELECT nothing FROM baskets", "nothing"),
    ("SELECT * FROM nowhere", "nowhere"),
    ("SELECT 1\0", "null character"),
]


@pytest.mark.parametrize(("query", "says"), QUERIES)
@pytest.mark.parametrize("kind", ["postgresql", "sqlite", "duckdb"])
def test_a_query_that_cannot_be_run_is_refused(kind, query, says, request, fill):
    if kind == "postgresql":
        server = request.getfixturevalue("postgres_server")
        server.run("CREATE TABLE IF NOT EXISTS baskets (customer int, product text)")
        url = server.url()
    elif kind == "sqlite":
        fill("CREATE TABLE baskets (customer, product)")
        url = request.getfixturevalue("sqlite_url")
    else:
        url = request.getfixturevalue("duckdb_url")
    assert says in refusal(url, query)


def test_a_missing_query_is_asked_for():
    with pytest.raises(Missing) as caught:
        rows_of("sqlite:///any.db", None)
    assert str(caught.value) == (
        'name the rows with `query=`, such as `query="SELECT customer, product FROM baskets ORDER BY customer"`'
    )


def test_a_server_that_cannot_be_used_is_named(postgres_server, monkeypatch):
    host = f"postgresql://keeper@127.0.0.1:{postgres_server.port}"
    assert refusal(postgres_server.url(password="hidden")).startswith(  # noqa: S106 - the wrong one
        f'{host}/postgres: cannot be opened: password authentication failed for user "keeper"; check'
    )
    assert 'database "nowhere" does not exist' in refusal(postgres_server.url("nowhere"))
    assert "no password supplied" in refusal(postgres_server.url(password=None))
    assert "Connection refused" in refusal("postgresql://ann:hidden@127.0.0.1:1/shop")
    assert 'host name "nowhere.invalid"' in refusal("postgresql://ann:hidden@nowhere.invalid/shop")
    assert 'parameter: "colour"' in refusal(postgres_server.url() + "?colour=red")
    monkeypatch.setenv("PGPASSWORD", "hidden too")
    assert "password authentication failed" in refusal(postgres_server.url(password=None))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert rows_of(postgres_server.url(password=None), "SELECT 1 AS a") == [{"a": 1}]


def test_what_a_driver_repeats_of_a_password_is_taken_out(postgres_server):
    for spelling in (PASSWORD, ENCODED):
        assert 'column "***" does not exist' in refusal(postgres_server.url(), f'SELECT "{spelling}"')


def test_values_of_the_data_are_not_told(postgres_server, duckdb_url):
    query = "SELECT product::int AS a FROM (SELECT 'cod' || 'eine' AS product LIMIT 1) AS t"
    assert refusal(postgres_server.url(), query).endswith('invalid input syntax for type integer: "..."')
    for url, told in ((postgres_server.url(), query), (duckdb_url, "SELECT (product || 'codeine')::int FROM baskets")):
        assert "codeine" not in refusal(url, told)


def test_a_file_that_is_no_database_is_refused_and_none_is_made(tmp_path):
    (tmp_path / "text").write_text("customer,product\n" * 100, encoding="utf-8")
    for kind in ("sqlite", "duckdb"):
        assert refusal(f"{kind}:///{tmp_path}/none.db").endswith("none.db: there is no such file")
        assert "database" in refusal(f"{kind}:///{tmp_path}/text")
        assert "is a folder" in refusal(f"{kind}:///{tmp_path}")
    assert os.listdir(tmp_path) == ["text"]  # noqa: PTH208 - names alone


def test_a_query_that_writes_is_refused(postgres_server, sqlite_url, duckdb_url, fill):
    postgres_server.run(
        "DROP TABLE IF EXISTS kept", "CREATE TABLE kept AS SELECT 1 AS a", "CREATE SEQUENCE IF NOT EXISTS counter"
    )
    fill("CREATE TABLE kept AS SELECT 1 AS a")
    said = "the query writes to the database; only reading is allowed"
    assert said in refusal(postgres_server.url(), "WITH x AS (DELETE FROM kept RETURNING a) SELECT a FROM x")
    assert "in a read-only transaction" in refusal(postgres_server.url(), "SELECT nextval('counter')")
    assert said in refusal(duckdb_url, "WITH x AS (SELECT 1) DELETE FROM baskets")
    refusal(sqlite_url, "WITH x AS (SELECT 1) DELETE FROM kept")
    assert postgres_server.run("SELECT a FROM kept") == [(1,)]
    assert rows_of(sqlite_url, "SELECT a FROM kept") == [{"a": "1"}]
    assert len(rows_of(duckdb_url, "SELECT * FROM baskets")) == 1


def test_duckdb_reads_nothing_else(duckdb_url, tmp_path):
    (tmp_path / "other.csv").write_text("a\n1\n", encoding="utf-8")
    for query in (
        f"FROM '{tmp_path}/other.csv'",
        "SELECT * FROM read_text('/etc/hostname')",
        "FROM 'http://127.0.0.1/x.csv'",
    ):
        assert "disabled by configuration" in refusal(duckdb_url, query)


def test_a_missing_library_is_named(monkeypatch, fill, sqlite_url, duckdb_url):
    fill("CREATE TABLE t (a)")
    for module, url in (
        ("adbc_driver_postgresql.dbapi", "postgresql://ann:hidden@db/shop"),
        ("adbc_driver_sqlite.dbapi", sqlite_url),
        ("duckdb", duckdb_url),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        assert refusal(url).endswith("which is not installed; run pip install 'setveil[db]'")


def test_libraries_are_imported_only_when_used():
    code = "import sys, setveil.data.databases; print([m for m in sys.modules if m.startswith(('adbc', 'duckdb'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# -- values ---------------------------------------------------------------------------------------------------------------------


def test_postgresql_gives_these_types(postgres_server):
    columns = {
        "1::int2": pa.int16(),
        "1::int4": pa.int32(),
        "1::int8": pa.int64(),
        "3000000000::oid": pa.uint32(),
        "'x'::text": pa.string(),
        "'x'::varchar(9)": pa.string(),
        "'x'::char(3)": pa.string(),
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid": pa.uuid(),
        "1.50::numeric": pa.opaque(pa.string(), "numeric", "PostgreSQL"),
        "3.5::money": pa.opaque(pa.int64(), "money", "PostgreSQL"),
        "'{1,NULL}'::int[]": pa.list_(pa.int32()),
        "'{a,NULL}'::text[]": pa.list_(pa.string()),
        "'{}'::json": pa.json_(),
        "'x'::bytea": pa.binary(),
        "1.5::float8": pa.float64(),
        "true": pa.bool_(),
    }
    query = "SELECT " + ", ".join(f"{column} AS c{number}" for number, column in enumerate(columns))
    with query_batches(postgres_server.url(), query) as rows:
        assert [str(kind) for kind in rows.schema.types] == [str(kind) for kind in columns.values()]
        (batch,) = list(rows)
    values = list(batch.to_pylist()[0].values())
    assert values[:7] == [1, 1, 1, 3_000_000_000, "x", "x", "x  "]
    assert values[10:12] == [[1, None], ["a", None]]


def test_integers_texts_and_lists_arrive(postgres_server, duckdb_url, sqlite_url, fill):
    postgres_server.run(
        "DROP TABLE IF EXISTS shop",
        "CREATE TABLE shop (customer int, product text, n int[], t text[])",
        "INSERT INTO shop VALUES (7, 'milk', '{1,NULL,3}', '{a,NULL}')",
    )
    expected = [{"customer": 7, "product": "milk", "n": [1, None, 3], "t": ["a", None]}]
    assert rows_of(postgres_server.url(), "TABLE shop;") == expected
    assert rows_of(duckdb_url, "FROM baskets -- all of it") == expected
    fill("CREATE TABLE shop (customer int, product text)", "INSERT INTO shop VALUES (7, 'milk')")
    assert rows_of(sqlite_url, "SELECT * FROM shop") == [{"customer": "7", "product": "milk"}]


def test_texts_are_unicode_whatever_the_server_keeps(postgres_server, monkeypatch):
    latin, raw = (
        postgres_server.new_database(f"ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        for encoding in ("LATIN1", "SQL_ASCII")
    )
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    assert rows_of(postgres_server.url(latin), "SELECT chr(246) AS a") == [{"a": "ö"}]
    assert "invalid byte sequence" in refusal(postgres_server.url(raw), "SELECT chr(246) AS a")


# -- order, memory ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("SELECT a FROM t", False),
        ("SELECT a FROM t ORDER BY a", True),
        ("select a from t order\n/* by */ by a;", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a) AS x", False),
        ("SELECT row_number() OVER (ORDER BY a) AS a FROM t", False),
        ("SELECT 'order by' AS a FROM t -- ORDER BY a", False),
        ('SELECT "order by" AS a FROM (SELECT 1 AS "order by") AS x', False),
    ],
)
def test_an_order_that_is_not_said_is_noted(sqlite_url, fill, notes, query, ordered):
    fill("CREATE TABLE t (a)")
    rows_of(sqlite_url, query)
    assert ("the query has no ORDER BY" in notes()) != ordered


MEMORY = """
import re, sys
from pathlib import Path
from setveil.data.databases import query_batches
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
def count(number):
    with query_batches(sys.argv[1], sys.argv[2].replace("NUMBER", str(number))) as rows:
        return sum(len(batch) for batch in rows)
assert count(400_000) == 400_000
before = peak()
assert count(2_400_000) == 2_400_000
print(peak() - before)
"""


@pytest.mark.parametrize("kind", ["postgresql", "sqlite", "duckdb"])
def test_memory_does_not_grow_with_the_rows(kind, request, fill):
    text = "'a long text that takes its place in memory, again and again ' || g AS a"
    query = f"SELECT {text} FROM generate_series(1, NUMBER) AS t(g)"  # noqa: S608 - our own
    if kind == "sqlite":
        fill("CREATE TABLE t (a)")
        counting = "SELECT 1 UNION ALL SELECT g + 1 FROM t WHERE g < NUMBER"
        query = f"WITH RECURSIVE t(g) AS ({counting}) SELECT {text} FROM t"  # noqa: S608 - the same
    url = (
        request.getfixturevalue("postgres_server").url()
        if kind == "postgresql"
        else request.getfixturevalue(f"{kind}_url")
    )
    ran = subprocess.run([sys.executable, "-c", MEMORY, url, query], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    # Pools of memory settle late: one run in many keeps forty megabytes, which are none of the rows'.
    assert float(ran.stdout) < 80, "megabytes more for two million rows that take a hundred and sixty"
