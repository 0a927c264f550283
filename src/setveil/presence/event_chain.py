"""Events in an SQLite file that cannot be shortened unnoticed: each has the hash of all events before it, and a second file names the last.

::

    FILE                 events, each with its hash, and lists that events refer to by their hash
    FILE.head            the number of events, and the hash of the last one

The head is written after the event. So after a system failure the file may hold more events than the head says, but never fewer. An older
copy of the file does not match the head.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from setveil.base.atomic import replace_file
from setveil.base.display import quantity
from setveil.errors import BadData, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_SCHEMA = (
    "CREATE TABLE events (number INTEGER PRIMARY KEY, event TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE lists (hash TEXT PRIMARY KEY, content BLOB NOT NULL)",
)
_LOCK_SECONDS = 60.0
_HEAD = re.compile(rb"(\d{1,18}) ([0-9a-f]{64})\n")
_SYSTEM_REFUSES = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
}
"""Errors of the disk or of permissions, not of the file's content."""


class Damaged(BadData):
    """The file is missing, or is not as it was written."""


class EventChain:
    """The event file of one owner, named in the first event."""

    def __init__(self, path: Path, owner: str, *, hint: str) -> None:
        self.path = path
        self._owner = owner
        self._hint = hint
        self.head = path.with_name(f"{path.name}.head")
        self._first = json.dumps({"owner": owner})

    def create(self, events: Sequence[dict[str, Any]] = (), lists: Sequence[bytes] = ()) -> None:
        """Create the file with all of these events or none of them; it must not exist yet."""
        try:
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            raise OutputRefused(f"{self.path} cannot be written: {error.strerror}") from None
        with self._connected() as file:
            for statement in _SCHEMA:
                file.execute(statement)
            _insert(file, 0, self._first, "")
            chain = OpenChain(file, [])
            for content in lists:
                chain.keep(content)
            for event in events:
                chain.append(event)
        self._write_head()

    @contextmanager
    def opened(self) -> Iterator[OpenChain]:
        """Open the events for reading and appending, locked against other processes; appended events are stored if the block succeeds."""
        if not self.path.exists() or not self.path.stat().st_size:
            raise self.damaged("was emptied" if self.path.exists() else "is missing")
        with self._connected() as file:
            chain = OpenChain(file, [])
            self._read(file, chain.events)
            self._refuse_shortened(chain)
            before = len(chain.events)
            yield chain
        if len(chain.events) > before:
            self._write_head()

    def renew(self, last: dict[str, Any]) -> Path | None:
        """Make a new file from the intact events and lists of this one, and `last`; return the path that the damaged file was moved to.

        The new file is complete before it replaces the old one, and its head is written last: an interruption before that leaves a
        file that is recognized as damaged.
        """
        events: list[dict[str, Any]] = []
        lists: list[bytes] = []
        if self.path.is_file():
            with suppress(Damaged), self._connected() as file:
                self._read(file, events, up_to_damage=True)
                found = file.execute("SELECT hash, content FROM lists")
                lists.extend(content for digits, content in found if hashlib.sha256(content).hexdigest() == digits)
        renewed = EventChain(self.path.with_name(f"{self.path.name}.renewed"), self._owner, hint=self._hint)
        for leftover in (renewed.path, renewed.head, self.head):
            leftover.unlink(missing_ok=True)
        renewed.create([*events, last], lists)
        aside = None
        if os.path.lexists(self.path):
            aside = self.path.with_name(f"{self.path.name}.damaged-{secrets.token_hex(4)}")
            self.path.rename(aside)
        renewed.path.rename(self.path)
        renewed.head.unlink()
        self._write_head()
        return aside

    def damaged(self, how: str) -> Damaged:
        """Return the error for a file that is not as it was written."""
        return Damaged(f"{how}; {self._hint}", file=str(self.path))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Open a connection inside a transaction that locks the file against other processes."""
        try:
            file = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=_LOCK_SECONDS
            )
            try:
                file.execute("PRAGMA synchronous = EXTRA")
                file.execute("BEGIN IMMEDIATE")
                yield file
                file.execute("COMMIT")
            finally:
                file.close()  # discards what was not committed
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _SYSTEM_REFUSES:
                raise OutputRefused(f"{self.path} cannot be written: {error}") from None
            raise self.damaged(f"is damaged ({error})") from None

    def _read(self, file: sqlite3.Connection, events: list[dict[str, Any]], *, up_to_damage: bool = False) -> None:
        """Read the events into a list, without the first one, which names the owner."""
        before = ""
        for expected, (number, text, digits) in enumerate(
            file.execute("SELECT number, event, hash FROM events ORDER BY number")
        ):
            right = number == expected and digits == _hash(before, text) and (expected > 0 or text == self._first)
            if not right and not up_to_damage:
                whose = "is not the file of this home" if expected == 0 else f"was changed at event {expected}"
                raise self.damaged(whose)
            if not right:
                break
            before = digits
            if expected:
                events.append(json.loads(text))
        if not before and not up_to_damage:
            raise self.damaged("was emptied")

    def _refuse_shortened(self, chain: OpenChain) -> None:
        try:
            found = _HEAD.fullmatch(self.head.read_bytes())
        except OSError:
            found = None
        if found is None:
            raise self.damaged(f"does not have the file {self.head.name} beside it, or that file was changed")
        number, digits = int(found[1]), found[2].decode()
        if chain.hash_at(number) != digits:
            now = len(chain.events)
            raise self.damaged(
                f"was shortened or replaced: it had at least {quantity(number, 'event')} and now has {now:,}"
            )

    def _write_head(self) -> None:
        """Write the head. The event file is locked meanwhile, so that no process overwrites a newer head with an older one."""
        with self._connected() as file:
            number, digits = file.execute("SELECT number, hash FROM events ORDER BY number DESC LIMIT 1").fetchone()
            replace_file(self.head, f"{number} {digits}\n".encode(), mode=0o600, is_result=False)


class OpenChain:
    """The events of a file that this process has locked."""

    def __init__(self, file: sqlite3.Connection, events: list[dict[str, Any]]) -> None:
        self.events = events
        self._file = file

    def append(self, event: dict[str, Any]) -> None:
        """Append an event."""
        self.events.append(event)
        number = len(self.events)
        _insert(self._file, number, json.dumps(event), self.hash_at(number - 1) or "")

    def hash_at(self, number: int) -> str | None:
        """Return the hash of all events up to a number; None if there is no such event."""
        found = self._file.execute("SELECT hash FROM events WHERE number = ?", (number,)).fetchone()
        return found[0] if found else None

    def keep(self, content: bytes) -> str:
        """Store a list unless it is stored already, and return the hash that events refer to it by."""
        digits = hashlib.sha256(content).hexdigest()
        self._file.execute("INSERT OR IGNORE INTO lists VALUES (?, ?)", (digits, content))
        return digits

    def kept(self, digits: str) -> bytes | None:
        """Return a list by its hash; None if it is missing or was changed."""
        found = self._file.execute("SELECT content FROM lists WHERE hash = ?", (digits,)).fetchone()
        return found[0] if found and hashlib.sha256(found[0]).hexdigest() == digits else None


def _insert(file: sqlite3.Connection, number: int, text: str, before: str) -> None:
    file.execute("INSERT INTO events VALUES (?, ?, ?)", (number, text, _hash(before, text)))


def _hash(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()
