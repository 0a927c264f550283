"""A real PostgreSQL for tests: its own folder, loopback only, passwords really asked for; gone when the session ends.

Each worker of pytest-xdist that needs one starts its own, which takes about two seconds and needs no agreement between workers. Where the
server's programs are not installed the tests are skipped, unless SETVEIL_REQUIRE_SERVERS=1 says that this machine must have them.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "keeper"
PASSWORD = "Pa55 w@rd:/ö%'\\"  # noqa: S105 - made up, with everything in it that a URL or a message can trip over
PATIENCE_SECONDS = 60
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "40",
    "log_min_messages": "fatal",
}


class Server:
    """A running server, and addresses of its databases."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._numbers = itertools.count(1)

    def url(self, database: str = "postgres", *, user: str = USER, password: str | None = PASSWORD) -> str:
        """Return the address of a database; without a password where that is None."""
        login = user if password is None else f"{user}:{quote(password, safe='')}"
        return f"postgresql://{login}@127.0.0.1:{self.port}/{database}"

    def new_database(self, options: str = "") -> str:
        """Make an empty database and return its name."""
        name = f"made{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} {options}")
        return name

    def run(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run statements, each for itself, through the plain driver; return the rows of the last one."""
        from adbc_driver_postgresql import dbapi  # noqa: PLC0415 - only who has a server needs its driver

        rows: list[tuple[Any, ...]] = []
        with dbapi.connect(self.url(database), autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                answers = re.match(r"\s*(select|table|values|with)\b", statement, re.IGNORECASE)
                cursor.execute(statement) if answers else cursor.executescript(statement)
                rows = cursor.fetchall() if answers else []
        return rows


def programs() -> Path:
    """Return the folder of the server's programs, the newest where there are several; skip or fail without."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    on_path = shutil.which("initdb")
    if found:
        return max(found, key=lambda folder: int(re.sub(r"\D", "", folder.parent.name) or 0))
    if on_path:
        return Path(on_path).resolve().parent
    if os.environ.get("SETVEIL_REQUIRE_SERVERS") == "1":
        pytest.fail("SETVEIL_REQUIRE_SERVERS=1, and PostgreSQL is not installed: run make system-deps")
    pytest.skip("PostgreSQL is not installed: run make system-deps")


def _account() -> dict[str, Any]:
    """Return under whom the server runs: it refuses root, who can become somebody else."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return pytest.fail("PostgreSQL does not run as root, and there is no user 'postgres' or 'nobody' to run it as")


def _ending_with_us() -> list[str]:
    """Return what makes a program end when this process is killed and cannot stop it."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "INT"] if setpriv else []


def _free_port() -> int:
    with socket.socket() as ear:
        ear.bind(("127.0.0.1", 0))
        return int(ear.getsockname()[1])


def _started(bin_folder: Path, folder: Path, account: dict[str, Any]) -> tuple[subprocess.Popen[bytes], int]:
    """Start the server on a free port; on another one if somebody took that in between."""
    log = folder / "log"
    for _ in range(5):
        port = _free_port()
        settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command = [*_ending_with_us(), bin_folder / "postgres", "-D", folder / "data", "-p", str(port), *settings]
        with log.open("ab") as output:
            process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, **account)
        deadline = time.monotonic() + PATIENCE_SECONDS
        asking = [bin_folder / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port), "-d", "postgres"]
        while process.poll() is None and time.monotonic() < deadline:
            if subprocess.run(asking, cwd=folder, check=False).returncode == 0 and process.poll() is None:
                return process, port
            time.sleep(0.02)
        process.kill()
        process.wait()
    return pytest.fail(f"PostgreSQL does not start: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Give a server of its own, with nothing in it; stop it and remove its folder afterwards."""
    bin_folder, account = programs(), _account()
    folder = Path(tempfile.mkdtemp(prefix="setveil-postgres-"))
    try:
        secret = folder / "secret"
        secret.write_text(PASSWORD + "\n", encoding="utf-8")
        if account:
            for path in (folder, secret):
                os.chown(path, account["user"], account["group"])
        making = [bin_folder / "initdb", "-D", folder / "data", "-U", USER, f"--pwfile={secret}", "-A", "scram-sha-256"]
        making += ["-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        made = subprocess.run(making, cwd=folder, capture_output=True, text=True, check=False, **account)
        if made.returncode:
            pytest.fail(f"PostgreSQL's initdb fails: {made.stderr[-2000:]}")
        process, port = _started(bin_folder, folder, account)
        try:
            yield Server(port)
        finally:
            process.send_signal(
                signal.SIGINT
            )  # its fast way: connections that a failed test left open do not hold it up
            try:
                process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """Give a real PostgreSQL, started once a session."""
    with running() as server:
        yield server
