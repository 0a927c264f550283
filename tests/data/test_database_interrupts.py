"""Ctrl-C while a driver of a database works: the program stops, wherever the driver is, and never aborts."""

import signal
import subprocess
import sys
import time

import duckdb
import pytest

from setveil.cli import interrupt


@pytest.fixture
def duckdb_url(tmp_path):
    duckdb.connect(str(tmp_path / "shop.duckdb")).close()
    return f"duckdb:///{tmp_path / 'shop.duckdb'}"


WAITING = """
import sys
from setveil.cli import interrupt
from setveil.data.databases import query_batches
if sys.argv[3] == "program":
    interrupt.install()
try:
    print("running", flush=True)
    with query_batches(sys.argv[1], sys.argv[2]) as rows:
        print(list(rows), flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
    sys.exit(130)
"""
ENDLESS = "WITH RECURSIVE t(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM t) SELECT g FROM t WHERE g < 0"


@pytest.mark.parametrize("front", ["program", "library"])
@pytest.mark.parametrize("kind", ["postgresql", "sqlite", "duckdb"])
def test_ctrl_c_ends_a_query(kind, front, request, fill):
    fill("CREATE TABLE t (a)")
    url = (
        request.getfixturevalue("postgres_server").url()
        if kind == "postgresql"
        else request.getfixturevalue(f"{kind}_url")
    )
    query = "SELECT 1 AS a, pg_sleep(60)" if kind == "postgresql" else ENDLESS
    code = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n{WAITING}"
    process = subprocess.Popen(
        [sys.executable, "-c", code, url, query, front], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdout.readline() == b"running\n"
        time.sleep(1)  # for the library to be imported and the query to be under way
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == interrupt.STOPPED, err
    assert out == b"stopped\n" or front == "program"
    if kind == "postgresql":
        server = request.getfixturevalue("postgres_server")
        assert server.run(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()"
        ) == [(0,)]


RAISED_INSIDE = """
import signal, sys, threading, time
from setveil.data.databases import query_batches
signal.signal(signal.SIGINT, signal.default_int_handler)
def stop():
    time.sleep(1.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
threading.Thread(target=stop, daemon=True).start()
try:
    with query_batches(sys.argv[1], sys.argv[2]) as rows:
        list(rows)
except KeyboardInterrupt:
    print("heard")
"""


def ran(script, *arguments):
    """Run a script that interrupts itself; a script that does not end is given up after a minute."""
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_signal_that_reaches_another_thread_is_heard(duckdb_url):
    assert ran(RAISED_INSIDE, duckdb_url, ENDLESS).stdout == "heard\n"


ENDING = """
import atexit, os, signal, sys, threading, time

class Last:
    # Deleted when Python ends: gives a thread that is still inside the driver the time to come out.
    inside = False

    def __del__(self, sleep=time.sleep):
        sleep(10 * self.inside)

last = Last()

@atexit.register  # before the package is imported, so that it runs after what the package registers
def look():
    last.inside = any(thread.name == "setveil-database" for thread in threading.enumerate())

from setveil.data.databases import query_batches
signal.signal(signal.SIGINT, signal.default_int_handler)

def stop():
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=stop, daemon=True).start()
try:
    with query_batches(sys.argv[1], sys.argv[2]) as rows:
        list(rows)
except KeyboardInterrupt:
    sys.exit(130)
"""
DEAF = "SELECT levenshtein(repeat('a', 60000), repeat('b', 60000)) AS a"
"""DuckDB takes seconds for it, and looks whether it is interrupted only afterwards."""


def test_python_does_not_end_while_duckdb_runs_a_query(duckdb_url):
    ended = ran(ENDING, duckdb_url, DEAF)
    assert (ended.returncode, ended.stderr) == (interrupt.STOPPED, "")


IMPORTING = """
import enum, os, signal, sys
from setveil.data.databases import query_batches
signal.signal(signal.SIGINT, signal.default_int_handler)
made = enum.EnumMeta.__call__

def stop_and_make(*arguments, **options):
    if "duckdb" in sys.modules:  # its part in C++ makes enumerations while it is imported
        enum.EnumMeta.__call__ = made
        os.kill(os.getpid(), signal.SIGINT)
    return made(*arguments, **options)

enum.EnumMeta.__call__ = stop_and_make
try:
    with query_batches(sys.argv[1], sys.argv[2]) as rows:
        list(rows)
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_ctrl_c_while_duckdb_is_imported(duckdb_url):
    ended = ran(IMPORTING, duckdb_url, ENDLESS)
    assert (ended.returncode, ended.stderr) == (interrupt.STOPPED, "")


BEGUN_LATE = """
import signal, sys, threading
from setveil.data.databases.address import address
from setveil.data.databases.duckdb_file import DuckDB
signal.signal(signal.SIGINT, signal.default_int_handler)
asked = threading.Event()

class Noting(DuckDB):
    def _cancel(self):
        super()._cancel()
        asked.set()

    def begin_late(self):
        signal.raise_signal(signal.SIGINT)
        asked.wait()
        try:
            self._connection.sql(sys.argv[2]).to_arrow_reader(1)
        except Exception as error:
            print(type(error).__name__, flush=True)
            raise

connection = Noting(address(sys.argv[1]))
connection.open(writing=False)
try:
    connection.ask("the query cannot be run", connection.begin_late)
except KeyboardInterrupt:
    connection.close()
    for thread in threading.enumerate():
        if thread.name == "setveil-database":
            thread.join()
    sys.exit(130)
"""


def test_a_query_that_begins_after_ctrl_c_is_cancelled_too(duckdb_url):
    """DuckDB forgets a request that arrives before the query has begun."""
    ended = ran(BEGUN_LATE, duckdb_url, ENDLESS)
    assert (ended.returncode, ended.stdout) == (interrupt.STOPPED, "InterruptException\n")
