"""The database of a studio: what was used, the jobs, and who looked at what."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

DATABASE_NAME: Final = "studio.db"
VERSION: Final = 1
State = Literal["queued", "running", "done", "refused", "failed", "stopped"]
ENDED: Final = ("done", "refused", "failed", "stopped")

_SCHEMA = """
CREATE TABLE uploads (id TEXT PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL,
    made REAL NOT NULL) STRICT;
CREATE TABLE sources (id TEXT PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL, place TEXT NOT NULL,
    reading TEXT NOT NULL, made REAL NOT NULL) STRICT;
CREATE TABLE jobs (id TEXT PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, source TEXT, release TEXT,
    content TEXT NOT NULL, arguments TEXT NOT NULL, state TEXT NOT NULL, created REAL NOT NULL, started REAL, ended REAL,
    exit_code INTEGER, pid INTEGER, stopping REAL) STRICT;
CREATE INDEX jobs_by_state ON jobs (state, created);
CREATE TABLE log (number INTEGER PRIMARY KEY, time REAL NOT NULL, user TEXT NOT NULL, action TEXT NOT NULL, release TEXT) STRICT;
"""


@dataclass(frozen=True)
class Upload:
    """A file that a user uploaded."""

    id: str
    owner: str
    title: str
    """What the user called it; only shown."""
    file: str
    """Its name in the folder of uploads."""
    bytes: int
    made: float


@dataclass(frozen=True)
class Source:
    """Data that a user works on."""

    id: str
    owner: str
    title: str
    kind: Literal["sample", "file", "upload"]
    place: str
    """A sample or an absolute path. It is never shown to another user."""
    reading: dict[str, Any]
    """The options of `read`."""
    made: float


@dataclass(frozen=True)
class JobRow:
    """A run of the command line."""

    id: str
    owner: str
    kind: str
    title: str
    source: str | None
    release: str | None
    content: dict[str, Any]
    """What was asked for."""
    arguments: list[str]
    """The command line, which runs in the folder of the job."""
    state: State
    created: float
    started: float | None = None
    ended: float | None = None
    exit_code: int | None = None
    pid: int | None = None
    stopping: float | None = None
    """When the job was asked to stop."""

    @property
    def has_ended(self) -> bool:
        """Whether the job runs no longer and never will."""
        return self.state in ENDED


@dataclass(frozen=True)
class LogRow:
    """An entry of the log: who looked at private values, and when."""

    number: int
    time: float
    user: str
    action: str
    release: str | None


_JSON = ("reading", "content", "arguments")


class Database:
    """The SQLite file of a studio, used by several threads."""

    def __init__(self, folder: Path) -> None:
        self.lock = threading.RLock()
        path = folder / DATABASE_NAME
        path.touch(mode=0o600)
        self.connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.connection.row_factory = sqlite3.Row
        for line in ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 5000", "secure_delete = ON"):
            self.connection.execute(f"PRAGMA {line}")
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            self.connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        self.version = version or VERSION

    def close(self) -> None:
        """Close the file."""
        with self.lock:
            self.connection.close()

    def add(self, table: str, row: Any) -> None:
        """Store a row."""
        names = [one.name for one in fields(row)]
        values = [_stored(name, getattr(row, name)) for name in names]
        marks = ", ".join("?" * len(names))
        with self.lock:
            self.connection.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", values)  # noqa: S608 - names of ours

    def _rows(
        self, kind: type[Any], table: str, where: str = "1", given: Iterable[Any] = (), tail: str = ""
    ) -> list[Any]:
        names = ", ".join(one.name for one in fields(kind))
        query = f"SELECT {names} FROM {table} WHERE {where} {tail}"  # noqa: S608 - texts of ours; values are given beside
        with self.lock:
            rows = self.connection.execute(query, tuple(given)).fetchall()
        return [
            kind(
                **{
                    name: json.loads(value) if name in _JSON else value
                    for name, value in zip(row.keys(), row, strict=True)
                }
            )
            for row in rows
        ]

    def uploads(self, owner: str) -> list[Upload]:
        """Return the uploads of a user, the newest first."""
        return self._rows(Upload, "uploads", "owner = ?", [owner], "ORDER BY made DESC, id")

    def upload(self, number: str, owner: str) -> Upload | None:
        """Return an upload of a user."""
        return next(iter(self._rows(Upload, "uploads", "id = ? AND owner = ?", [number, owner])), None)

    def all_uploads(self) -> list[Upload]:
        """Return the uploads of all users."""
        return self._rows(Upload, "uploads")

    def remove_upload(self, number: str) -> None:
        """Forget an upload."""
        with self.lock:
            self.connection.execute("DELETE FROM uploads WHERE id = ?", [number])

    def uploaded_bytes(self) -> int:
        """Return the size of all uploads."""
        with self.lock:
            (total,) = self.connection.execute("SELECT COALESCE(SUM(bytes), 0) FROM uploads").fetchone()
        return int(total)

    def sources(self, owner: str) -> list[Source]:
        """Return what a user works on, the newest first."""
        return self._rows(Source, "sources", "owner = ?", [owner], "ORDER BY made DESC, id LIMIT 1000")

    def source(self, number: str, owner: str) -> Source | None:
        """Return a source of a user."""
        return next(iter(self._rows(Source, "sources", "id = ? AND owner = ?", [number, owner])), None)

    def jobs(self, owner: str) -> list[JobRow]:
        """Return the jobs of a user, the newest first."""
        return self._rows(JobRow, "jobs", "owner = ?", [owner], "ORDER BY created DESC, id LIMIT 1000")

    def job(self, number: str) -> JobRow | None:
        """Return a job."""
        return next(iter(self._rows(JobRow, "jobs", "id = ?", [number])), None)

    def jobs_in(self, state: State) -> list[JobRow]:
        """Return the jobs in a state, the oldest first."""
        return self._rows(JobRow, "jobs", "state = ?", [state], "ORDER BY created, rowid")

    def published(self, owner: str | None) -> list[JobRow]:
        """Return the jobs that made a release, the newest first; None for those of all users."""
        where = "kind = 'publish' AND state = 'done'" + ("" if owner is None else " AND owner = ?")
        return self._rows(
            JobRow, "jobs", where, [] if owner is None else [owner], "ORDER BY created DESC, id LIMIT 1000"
        )

    def change(self, job: JobRow, **values: Any) -> JobRow:
        """Store new values of a job, and return it."""
        named = ", ".join(f"{name} = ?" for name in values)
        stored = [_stored(name, value) for name, value in values.items()]
        with self.lock:
            self.connection.execute(f"UPDATE jobs SET {named} WHERE id = ?", [*stored, job.id])  # noqa: S608 - names of ours
        return replace(job, **values)

    def note(self, user: str, action: str, release: str | None) -> None:
        """Add an entry to the log."""
        with self.lock:
            self.connection.execute(
                "INSERT INTO log (time, user, action, release) VALUES (?, ?, ?, ?)",
                (time.time(), user, action, release),
            )

    def log(self) -> list[LogRow]:
        """Return the log, the newest entry first."""
        return self._rows(LogRow, "log", tail="ORDER BY number DESC LIMIT 1000")


def _stored(name: str, value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if name in _JSON else value


def counts(rows: Iterable[JobRow]) -> Mapping[str, int]:
    """Return the number of jobs in each state."""
    found: dict[str, int] = {}
    for row in rows:
        found[row.state] = found.get(row.state, 0) + 1
    return found
