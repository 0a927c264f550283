"""Tables in databases: all of a table or nothing, whatever happens on the way, and never over another one."""

import contextlib
import hashlib
import itertools
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setveil.base import progress
from setveil.data.databases import sqlite, write_table, writing
from setveil.data.records.transactions import Transactions
from setveil.errors import InputError, OutputRefused

from support.databases import refused, rows_of, tables
from support.exhaustive import examples

KINDS = ("postgresql", "sqlite", "duckdb")
DATA = Transactions.from_lists([["milk", 'a "b"'], ["ö"], ["milk"], ["x", "y"]], ids=["p", "q", "", "s t"])
WITH_EMPTY = Transactions.from_lists([["milk"], []], ids=["p", "q"])
WITHOUT_IDS = Transactions.from_lists([["milk"], ["x"]])
_names = itertools.count(1)


@pytest.fixture
def database(request, tmp_path):
    """Give a function that returns the address of an empty database of a kind; a file is not there yet."""

    def address(kind):
        if kind != "postgresql":
            return f"{kind}:///{tmp_path}/new.db"
        server = request.getfixturevalue("postgres_server")
        return server.url(server.new_database())

    return address


def write(url, data=DATA, table="baskets", shape="long", **columns):
    write_table(data, url, table, shape=shape, **columns)


def refusal(url, *arguments, **options):
    with pytest.raises(InputError) as caught:
        write(url, *arguments, **options)
    return refused(caught.value)


class At:
    """A listener that does something after each block that was written."""

    def __init__(self, act):
        self.act = act

    @contextlib.contextmanager
    def step(self, label, total):
        assert label.startswith("writing ")
        assert total is not None
        yield self.act

    def note(self, text):
        raise AssertionError(text)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(writing, "BLOCK_RECORDS", 2)


# -- what is written can be read ----------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
records = st.lists(st.sets(texts, max_size=4), max_size=8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["long", "list"])
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lists=records, ids=st.lists(texts, unique=True, min_size=8, max_size=8), name=texts, named=st.booleans())
def test_what_is_written_comes_back(kind, shape, lists, ids, name, named, request, tmp_path):
    if shape == "long":
        lists = [record for record in lists if record]
    if (kind, shape) == ("sqlite", "list"):
        return
    url = f"{kind}:///{tmp_path}/new.db" if kind != "postgresql" else request.getfixturevalue("postgres_server").url()
    data = Transactions.from_lists(lists, ids=ids[: len(lists)] if named or shape == "long" else None)
    table = f"{name.replace('.', '')} {next(_names)}"
    write(url, data, table, shape, id_column='the "id"', item_column="select", items_column="Items of")
    found = rows_of(url, f'SELECT * FROM "{table.replace(chr(34), chr(34) * 2)}"')  # noqa: S608 - quoted
    owners = data.ids.to_pylist() if data.ids is not None else [None] * data.records
    if shape == "long":
        expected = [(owner, item) for owner, record in zip(owners, data.to_lists(), strict=True) for item in record]
    else:
        expected = [(*([] if owner is None else [owner]), r) for owner, r in zip(owners, data.to_lists(), strict=True)]
    assert sorted(tuple(row.values()) for row in found) == sorted(expected)
    assert all(list(row)[-1] == ("select" if shape == "long" else "Items of") for row in found)


@pytest.mark.parametrize("kind", KINDS)
def test_many_blocks_make_one_table(kind, database, monkeypatch):
    monkeypatch.setattr(writing, "BLOCK_RECORDS", 700)
    monkeypatch.setattr(writing, "BLOCK_OCCURRENCES", 500)
    data = Transactions.from_lists(
        [[f"i{n % 7}", f"i{n % 11}", "all"] for n in range(5_000)], ids=[f"p{n}" for n in range(5_000)]
    )
    seen = []
    url = database(kind)
    with progress.reporting(At(seen.append)):
        write(url, data)
    assert seen == sorted(seen)
    assert len(seen) > 20
    assert seen[-1] == 5_000
    found = rows_of(url, "SELECT id, item FROM baskets ORDER BY id")
    assert len(found) == data.occurrences
    assert {(row["id"], row["item"]) for row in found} == {
        (f"p{n}", item) for n, record in enumerate(data.to_lists()) for item in record
    }


@pytest.mark.parametrize("kind", KINDS)
def test_no_records_make_an_empty_table(kind, database):
    url = database(kind)
    write(url, Transactions.from_lists([], ids=[]))
    assert rows_of(url, "SELECT id, item FROM baskets") == []


def test_a_table_goes_to_the_schema_that_is_named_or_comes_first(postgres_server):
    name = postgres_server.new_database()
    postgres_server.run('CREATE SCHEMA "My schema"', "CREATE SCHEMA other", database=name)
    url = postgres_server.url(name)
    write(url, table="My schema.Select")
    write(url + "?options=-csearch_path%3Dmissing,other,public")
    found = postgres_server.run(
        "SELECT nspname::text, relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
        "WHERE relkind = 'r' AND nspname !~ '^(pg_|information)'",
        database=name,
    )
    assert sorted(found) == [("My schema", "Select"), ("other", "baskets")]
    assert "no schema of the search path" in refusal(url + "?options=-csearch_path%3Dmissing")


# -- refused before anything happens ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"data": WITH_EMPTY}, "choose the format 'list'"),
        ({"data": WITHOUT_IDS}, "choose the format 'list'"),
        ({"shape": "wide"}, "the shape is 'wide'; allowed is long | list"),
        ({"table": ""}, "is not a valid name"),
        ({"table": "a."}, "is not a valid name"),
        ({"table": "a\0b"}, "is not a valid name"),
        ({"table": "\ud800"}, "is not a valid name"),
        ({"table": "a.b.c"}, "allowed is name or schema.name"),
        ({"table": "nowhere.baskets"}, "nowhere"),
        ({"id_column": "a", "item_column": "a"}, "two columns have the same name 'a'"),
        ({"item_column": ""}, "is not a valid name"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_written_is_refused(kind, options, says, request, tmp_path):
    server = request.getfixturevalue("postgres_server") if kind == "postgresql" else None
    url = server.url() if server else f"{kind}:///{tmp_path}/new.db"
    before = tables(url, server)
    assert says in refusal(url, **options)
    assert tables(url, server) == before
    assert list(tmp_path.iterdir()) == []


def test_what_only_one_database_cannot_hold_is_refused(postgres_server, tmp_path):
    url = postgres_server.url()
    assert "63" in refusal(url, table="é" * 32)
    assert "63" in refusal(url, item_column="x" * 64)
    assert "null character" in refusal(url, Transactions.from_lists([["a\0"]], ids=["p"]))
    assert "null character" in refusal(url, Transactions.from_lists([["a"]], ids=["p\0"]))
    assert "SQLite has no column type for lists" in refusal(f"sqlite:///{tmp_path}/new.db", shape="list")
    assert "are temporary" in refusal(url, table="pg_temp.baskets")
    for kind in ("sqlite", "duckdb"):
        assert "are temporary" in refusal(f"{kind}:///{tmp_path}/new.db", table="temp.baskets")
    latin = postgres_server.new_database("ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    said = refusal(postgres_server.url(latin), Transactions.from_lists([["€"]], ids=["p"]))
    assert "has no equivalent" in said
    assert "0xe2" not in said
    assert tables(postgres_server.url(latin), postgres_server) == []
    postgres_server.run("CREATE ROLE guest LOGIN PASSWORD 'hidden'", database=latin)
    reading = "?options=-cdefault_transaction_read_only%3Don"
    assert "cannot execute CREATE TABLE in a read-only transaction" in refusal(postgres_server.url(latin) + reading)
    assert "permission denied" in refusal(postgres_server.url(latin, user="guest", password="hidden"))  # noqa: S106 - made up


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_place_that_cannot_hold_a_file_is_refused(kind, tmp_path):
    (tmp_path / "text").write_text("customer,product\n" * 100, encoding="utf-8")
    before = (tmp_path / "text").read_bytes()
    assert "is not a folder" in refusal(f"{kind}:///{tmp_path}/none/new.db")
    assert "is a folder" in refusal(f"{kind}:///{tmp_path}")
    assert "database" in refusal(f"{kind}:///{tmp_path}/text")
    assert (tmp_path / "text").read_bytes() == before
    assert os.listdir(tmp_path) == ["text"]  # noqa: PTH208 - names alone


@pytest.mark.parametrize("taken", ["table", "view"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_there_stays_as_it_is(kind, taken, database, request):
    url = database(kind)
    write(url, WITHOUT_IDS.with_ids(["p", "q"]), "others")
    made = f"CREATE {taken} baskets AS SELECT * FROM others"  # noqa: S608 - one of two words
    if kind == "postgresql":
        server, name = request.getfixturevalue("postgres_server"), url.rpartition("/")[2]
        server.run(made, database=name)
        look = "SELECT md5(string_agg(t::text || pg_relation_filepath('others'), ',')) FROM baskets t"
        before = server.run(look, database=name)
        assert "'baskets' exists; choose another name" in refusal(url)
        assert server.run(look, database=name) == before
        return
    path = Path(url.partition(":///")[2])
    opened = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))
    with contextlib.closing(opened) as connection:
        connection.execute(made)
        connection.commit()
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    assert "'BASKETS' exists; choose another name" in refusal(url, table="BASKETS")  # files know no capitals in names
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


# -- broken off in the middle -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_table_never_was(kind, there, database, request):
    server = request.getfixturevalue("postgres_server") if kind == "postgresql" else None
    url = database(kind)
    if there:
        write(url, table="others")
    before = tables(url, server)

    def interrupt(done):
        assert done == 2
        raise KeyboardInterrupt

    with progress.reporting(At(interrupt)), pytest.raises(KeyboardInterrupt):
        write(url)
    assert tables(url, server) == before
    write(url)
    assert tables(url, server) == (["baskets", "others"] if there else ["baskets"])


@pytest.mark.usefixtures("small_blocks")
def test_a_lost_connection_leaves_no_table(postgres_server):
    name = postgres_server.new_database()
    url = postgres_server.url(name)
    kill = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"  # noqa: S608 - our own name
    with progress.reporting(At(lambda _done: postgres_server.run(kill))):
        assert "nothing was written" in refusal(url)
    assert tables(url, postgres_server) == []


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_do_not_arrive_are_noticed(kind, database, request, monkeypatch):
    server = request.getfixturevalue("postgres_server") if kind == "postgresql" else None
    monkeypatch.setattr(writing, "_block", lambda *given, whole=writing._block: whole(*given)[:1])
    url = database(kind)
    assert "has 2 of 6 rows" in refusal(url)
    assert not tables(url, server)


KILLED = """
import contextlib, os, sys, time
from setveil.base import progress
from setveil.data.databases import write_table, writing
from setveil.data.records.transactions import Transactions
class Pause:
    @contextlib.contextmanager
    def step(self, label, total):
        yield self.pause
    def note(self, text):
        pass
    def pause(self, done):
        if done >= 40_000:
            print("half", flush=True)
            time.sleep(60)
writing.BLOCK_RECORDS = 10_000
data = Transactions.from_lists([[f"item {n % 97} {'x' * 200}", "all"] for n in range(50_000)], ids=[f"p{n}" for n in range(50_000)])
with progress.reporting(Pause()):
    write_table(data, sys.argv[1], "baskets", shape="long", id_column="id", item_column="item", items_column="items")
"""


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_process_leaves_no_table(kind, there, database, request):
    server = request.getfixturevalue("postgres_server") if kind == "postgresql" else None
    url = database(kind)
    if there:
        write(url, table="others")
    process = subprocess.Popen([sys.executable, "-c", KILLED, url], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"half\n"
    finally:
        process.kill()
        process.communicate()
    if there:
        assert len(rows_of(url, "SELECT * FROM others")) == DATA.occurrences
    assert tables(url, server) == (["others"] if there else [] if server else None)
    write(url)
    assert len(rows_of(url, "SELECT * FROM baskets")) == DATA.occurrences
    if not server:
        folder = Path(url.partition(":///")[2]).parent
        assert [path.name for path in folder.iterdir()] == ["new.db"], "what the killed run left is cleared away"


# -- somebody else at the same time ---------------------------------------------------------------------------------------------------


def test_a_table_that_appears_meanwhile_is_kept(postgres_server):
    from adbc_driver_postgresql import dbapi  # noqa: PLC0415 - only who has a server needs its driver

    name = postgres_server.new_database()
    url = postgres_server.url(name)
    said = []

    def try_writing():
        try:
            write(url)
        except OutputRefused as error:
            said.append(refused(error))

    with dbapi.connect(url) as other, other.cursor() as cursor:
        cursor.execute("CREATE TABLE baskets AS SELECT 1 AS mine")
        waiting = threading.Thread(target=try_writing)
        waiting.start()
        waits = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}' AND wait_event_type = 'Lock'"  # noqa: S608 - ours
        deadline = time.monotonic() + 60
        while postgres_server.run(waits) == [(0,)] and time.monotonic() < deadline:
            time.sleep(0.02)
        other.commit()
        waiting.join(60)
    assert len(said) == 1
    assert "'baskets' exists" in said[0]
    assert postgres_server.run("SELECT * FROM baskets", database=name) == [(1,)]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_file_that_appears_meanwhile_is_kept(kind, tmp_path):
    path = tmp_path / "new.db"
    with progress.reporting(At(lambda _done: path.write_text("mine", encoding="utf-8"))):
        assert "was created by another program meanwhile" in refusal(f"{kind}:///{path}")
    assert path.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [path]


HOLDING = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_locked_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "_WAIT_FOR_OTHERS", "PRAGMA busy_timeout = 50")
    url = f"sqlite:///{tmp_path}/new.db"
    write(url, table="others")
    # In a process of its own: locks of files do not hold between two copies of SQLite inside one.
    command = [sys.executable, "-c", HOLDING, tmp_path / "new.db"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        assert "database is locked" in refusal(url)
        other.stdin.close()
    assert tables(url) == ["others"]
