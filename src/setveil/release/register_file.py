"""The file of a release register: an SQLite database with a key, the releases, and the fingerprints of their data.

The file has mode 0600 from the start, because it holds the key. Each change is one transaction, and processes wait for each other.

An entry and the folders of its release appear together. The entry is stored as pending before the folders are renamed, and confirmed
afterwards; the file stays locked in between. If the process is killed there, the next process that reads the register looks at the folders:
the entry counts if they are complete, and is removed otherwise.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from setveil import __version__
from setveil.base import progress
from setveil.base.atomic import is_uncommitted, refuse_file
from setveil.errors import BadData, OutputRefused, SetveilError
from setveil.release.dossier import DOSSIER_NAME
from setveil.release.fingerprints import from_bytes, to_bytes
from setveil.release.object_store import StoredFolder, is_address

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

FORMAT_VERSION: Final = 1
PATIENCE_SECONDS = 600.0
"""How long a process waits for another one that checks and records its release."""
_SHORT_SECONDS = 10.0
"""How long it waits for one that reads, or that renames its folders."""
_SILENT_SECONDS = 0.2
"""How long it waits before it reports that it waits."""
_APPLICATION: Final = 0x7365_7476
"""Marks an SQLite file as a release register."""
_SCHEMA = (
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {FORMAT_VERSION}",
    "CREATE TABLE secret (key BLOB NOT NULL)",
    "CREATE TABLE data (mac BLOB PRIMARY KEY, has_ids INTEGER NOT NULL, fingerprints BLOB NOT NULL)",
    """CREATE TABLE releases (
        number INTEGER PRIMARY KEY,
        published TEXT NOT NULL,
        run TEXT NOT NULL,
        source TEXT NOT NULL,
        data BLOB NOT NULL REFERENCES data (mac),
        unit TEXT NOT NULL,
        records INTEGER NOT NULL,
        method TEXT NOT NULL,
        parameters TEXT NOT NULL,
        recipe TEXT NOT NULL,
        versions TEXT NOT NULL,
        guarantee TEXT,
        guarantee_parameters TEXT NOT NULL,
        files TEXT NOT NULL,
        recipient TEXT NOT NULL,
        release_folder TEXT NOT NULL,
        private_folder TEXT NOT NULL,
        private_sha256 TEXT NOT NULL,
        accepted_together TEXT NOT NULL,
        together TEXT,
        withdrawn TEXT,
        withdrawn_reason TEXT NOT NULL DEFAULT '',
        pending TEXT
    )""",
)
_JSON = ("parameters", "versions", "guarantee_parameters", "files", "together")
"""The columns of a release that hold JSON."""
_SYSTEM_REFUSES = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
}
"""Errors of the disk, of permissions or of another process, not of the content of the file."""


class CreatedMeanwhile(OutputRefused):
    """Another process created the register after this run began, so that its key is another one."""


@dataclass(frozen=True, eq=False)
class People:
    """The people of a data set, as the register stores them."""

    data: bytes
    """The keyed hash of the checksum of the data."""
    unit: str
    has_ids: bool
    fingerprints: NDArray[np.uint64]


@dataclass(frozen=True)
class RegisterFile:
    """The file of a register. It may not exist yet: the first recorded release creates it."""

    path: Path

    def refuse_unwritable(self) -> None:
        """Refuse a path that cannot be a register, before any work."""
        refuse_file(self.path, force=True)
        for place in (self.path.parent, self.path):  # SQLite writes its journal beside the file
            if place.exists() and not os.access(place, os.W_OK):
                raise OutputRefused(f"{place} cannot be written; allow it, or choose another register")

    def key(self) -> bytes | None:
        """Return the key; None if there is no register yet."""
        if not self._is_there():
            return None
        if os.name == "posix" and self.path.stat().st_mode & 0o077:
            progress.note(f"other users of this computer can use {self.path}, which holds a key; set its mode to 600")
        with self._connected() as connection:
            connection.execute("PRAGMA user_version").fetchone()  # undoes what a killed process did not commit
            if not self._is_there():
                return None
            self._refuse_other_file(connection)
            return _key(connection)

    def read(self) -> list[dict[str, Any]]:
        """Return all entries in the order of their numbers."""
        self._refuse_missing()
        with self._connected() as connection:
            self._refuse_other_file(connection)
            return [entry for entry in _entries(connection) if _is_complete(entry)]

    @contextmanager
    def changing(self) -> Iterator[OpenRegister]:
        """Open an existing register for a change, which is stored if the block succeeds."""
        self._refuse_missing()
        with self._connected() as connection:
            self._lock(connection)
            yield OpenRegister(connection)
            connection.execute("COMMIT")

    @contextmanager
    def publishing(self, key: bytes) -> Iterator[OpenRegister]:
        """Open the register for a publication that began with this key. Other publications wait until the block ends."""
        if not self._is_there():
            yield OpenRegister(None)
            return
        with self._connected() as connection:
            self._lock(connection)
            if _key(connection) != key:
                raise self._created_meanwhile()
            yield OpenRegister(connection)

    @contextmanager
    def recording(self, opened: OpenRegister, entry: dict[str, Any], people: People, key: bytes) -> Iterator[int]:
        """Record an entry together with what the block does, and yield its number; a new register is created with this key."""
        if opened.connection is not None:
            with opened.recording(entry, people) as number:
                yield number
            return
        os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
        self.path.chmod(0o600)  # an empty file may have been there
        with self._connected() as connection:
            connection.execute("BEGIN EXCLUSIVE")
            if self.path.stat().st_size:
                raise self._created_meanwhile()
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO secret VALUES (?)", (key,))
            with OpenRegister(connection).recording(entry, people) as number:
                yield number

    def _is_there(self) -> bool:
        """Return whether there is a register. An empty file is none: a process that was killed while it created one may have left it."""
        if self.path.is_dir():
            raise BadData("is a folder; expected the file of a release register", file=str(self.path))
        return self.path.exists() and self.path.stat().st_size > 0

    def _refuse_missing(self) -> None:
        if not self._is_there():
            raise BadData("there is no such register; publish with `register=` creates it", file=str(self.path))

    def _created_meanwhile(self) -> CreatedMeanwhile:
        return CreatedMeanwhile(
            f"{self.path} was created by another process after this run began, and its key gives another release; publish again"
        )

    def _refuse_other_file(self, connection: sqlite3.Connection) -> None:
        """Refuse a database that is not a release register, or one of a later version."""
        (application,), (version,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
        )
        if application != _APPLICATION:
            raise self._other_file()
        if version > FORMAT_VERSION:
            raise BadData(
                f"is a release register of format {version}; setveil {__version__} reads formats up to {FORMAT_VERSION}. Use the version "
                "of setveil that wrote it",
                file=str(self.path),
            )

    def _other_file(self) -> BadData:
        return BadData(
            "is not a release register; give the file that publish created, or a path that does not exist, for a new register",
            file=str(self.path),
        )

    def _lock(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction that other processes wait for, and settle what a killed process left."""
        self._refuse_other_file(connection)
        connection.execute(f"PRAGMA busy_timeout = {round(1000 * _SILENT_SECONDS)}")
        if not _begin(connection):
            with progress.step(f"waiting for another process that uses {self.path}"):
                deadline = time.monotonic() + PATIENCE_SECONDS
                while not _begin(connection):
                    if time.monotonic() > deadline:
                        raise OutputRefused(f"{self.path} is in use by another process; try again when it has ended")
        connection.execute(f"PRAGMA busy_timeout = {round(1000 * _SHORT_SECONDS)}")
        for entry in _entries(connection):
            if entry["pending"] is not None:
                (_confirm if _is_complete(entry) else _remove)(connection, entry["number"])

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Open a connection. Changes that were not committed are discarded."""
        try:
            connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=_SHORT_SECONDS
            )
            try:
                connection.row_factory = sqlite3.Row
                yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_NOTADB:
                raise self._other_file() from None
            if code in _SYSTEM_REFUSES:
                raise OutputRefused(f"{self.path} cannot be used: {error}") from None
            raise BadData(f"is damaged ({error}); restore it from your backup", file=str(self.path)) from None


@dataclass(frozen=True, eq=False)
class OpenRegister:
    """A register that this process has locked."""

    connection: sqlite3.Connection | None
    """None for a register that does not exist yet."""

    def entries(self) -> list[dict[str, Any]]:
        """Return all entries in the order of their numbers."""
        return [] if self.connection is None else _entries(self.connection)

    def fingerprints(self, data: bytes) -> NDArray[np.uint64]:
        """Return the fingerprints of the data with this keyed hash."""
        assert self.connection is not None, "data are stored with their first release"
        found = self.connection.execute("SELECT fingerprints FROM data WHERE mac = ?", (data,)).fetchone()
        return from_bytes(found[0])

    def withdraw(self, number: int, moment: str, reason: str) -> None:
        """Mark a release as withdrawn; the first time stays, and a reason replaces an earlier one."""
        assert self.connection is not None, "only a release that is recorded is withdrawn"
        self.connection.execute(
            "UPDATE releases SET withdrawn = ? WHERE number = ? AND withdrawn IS NULL", (moment, number)
        )
        if reason:
            self.connection.execute("UPDATE releases SET withdrawn_reason = ? WHERE number = ?", (reason, number))

    @contextmanager
    def recording(self, entry: dict[str, Any], people: People) -> Iterator[int]:
        """Store an entry as pending and yield its number; confirm it after the block, or remove it if the block fails."""
        connection = self.connection
        assert connection is not None, "an entry is stored in a file"
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # stay locked after the first transaction
        row = entry | {name: json.dumps(entry[name]) for name in _JSON} | {"data": people.data, "unit": people.unit}
        stored = (people.data, people.has_ids, to_bytes(people.fingerprints))
        connection.execute("INSERT OR IGNORE INTO data VALUES (?, ?, ?)", stored)
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        number = connection.execute(f"INSERT INTO releases ({names}) VALUES ({marks})", row).lastrowid  # noqa: S608 - our own names
        connection.execute("COMMIT")
        assert number is not None, "a row was inserted"
        try:
            yield number
        except BaseException:
            _remove(connection, number)
            raise
        with suppress(sqlite3.Error):  # the next process would confirm it
            _confirm(connection, number)


def _begin(connection: sqlite3.Connection) -> bool:
    """Begin a transaction that changes the file; return False if another process has begun one."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            return False
        raise
    return True


def _key(connection: sqlite3.Connection) -> bytes:
    found = connection.execute("SELECT key FROM secret").fetchone()
    if found is None:
        raise sqlite3.DataError("it has no key")
    key: bytes = found[0]
    return key


def _entries(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return all entries, also pending ones, with `has_ids` of their data."""
    rows = connection.execute(
        "SELECT releases.*, data.has_ids FROM releases JOIN data ON data.mac = releases.data ORDER BY number"
    )
    try:
        return [{**row, **{name: json.loads(row[name]) for name in _JSON}} for row in map(dict, rows)]
    except ValueError:
        raise sqlite3.DataError("an entry is not complete") from None


def _is_complete(entry: dict[str, Any]) -> bool:
    """Return whether the folders of an entry were written; a pending entry names the entry in the dossier that belongs to it."""
    if entry["pending"] is None:
        return True
    release, private = entry["release_folder"], Path(entry["private_folder"])
    with suppress(OSError, ValueError, KeyError, TypeError):
        dossier = json.loads((private / DOSSIER_NAME).read_text(encoding="utf-8"))
        if dossier["register"]["entry"] != entry["pending"]:
            return False
        return _may_be_stored(release) if is_address(release) else not is_uncommitted(Path(release), private)
    return False


def _may_be_stored(address: str) -> bool:
    """Return whether there is a release at an address; also if the store does not answer, because then it may be there."""
    try:
        return StoredFolder(address).has_card()
    except SetveilError:
        return True


def _confirm(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("UPDATE releases SET pending = NULL WHERE number = ?", (number,))


def _remove(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("DELETE FROM releases WHERE number = ?", (number,))
    connection.execute("DELETE FROM data WHERE mac NOT IN (SELECT data FROM releases)")
