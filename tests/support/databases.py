"""Reading from databases in tests, and what every refusal must be."""

import contextlib
import sqlite3
import traceback
from pathlib import Path
from urllib.parse import quote

import duckdb
import pytest

from setveil.data.databases import query_batches
from setveil.errors import InputError

from support.postgres import PASSWORD

SECRET_PIECES = (PASSWORD, quote(PASSWORD), quote(PASSWORD, safe=""), "Pa55", "hidden")


def rows_of(url, query):
    with query_batches(url, query) as rows:
        return [row for batch in rows for row in batch.to_pylist()]


def refused(error):
    """Return the sentence of a refusal; fails if it is not one, or if anything secret hangs on it."""
    assert isinstance(error, InputError)
    assert error.exit_code == 2
    said = str(error)
    assert said
    assert len(said.splitlines()) == 1
    told = "".join(traceback.format_exception(error)) + repr(error)
    chain = [error]
    while chain[-1] is not None:
        told += repr(chain[-1])
        chain.append(chain[-1].__context__ or chain[-1].__cause__)
    for line in told.splitlines():
        if not line.lstrip().startswith(("File", "with ", "return ", "raise ")):  # lines of the test itself
            assert not any(piece in line for piece in SECRET_PIECES), line
    return said


def refusal(url, query="SELECT 1 AS a"):
    with pytest.raises(InputError) as caught:
        rows_of(url, query)
    return refused(caught.value)


def tables(url, server=None):
    """Return the names of all tables and views, asked for without the package."""
    if url.startswith("postgresql"):
        kinds = "SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind IN ('r', 'v') "
        found = server.run(
            kinds + "AND nspname NOT IN ('pg_catalog', 'information_schema')", database=url.rpartition("/")[2]
        )
    elif not Path(path := url.partition(":///")[2]).exists():
        return None
    elif url.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(path)) as connection:
            found = connection.execute("SELECT name FROM sqlite_master").fetchall()
    else:
        with duckdb.connect(path) as connection:
            found = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
    return sorted(name for (name,) in found)


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path / 'shop.db'}"


@pytest.fixture
def fill(tmp_path):
    """Give a function that runs statements in the SQLite file of `sqlite_url`, through Python's own library."""

    def run(*statements, rows=(), insert=None):
        with contextlib.closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
            for statement in statements:
                connection.execute(statement)
            if insert:
                connection.executemany(insert, rows)
            connection.commit()

    return run
