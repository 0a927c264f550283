"""Events in an SQLite file that nobody shortens unnoticed: each has the hash of all before it, and a file beside it names the last one.

::

    FILE                 events, each with its hash, and lists that events name by their hash
    FILE.head            how many events there are, and the hash of the last one

The head is written after the event. So the file may hold more than the head says, after a system failure, and never less. Whoever puts
back an older copy of the file has a head that does not fit.
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
"""What is wrong with the disk or the rights and not with the content of the file."""


class Damaged(BadData):
    """The file is missing or is not the one that was written."""


class EventChain:
    """The file of events of one owner, who is named by the first event."""

    def __init__(self, path: Path, owner: str, *, hint: str) -> None:
        self.path = path
        self._owner = owner
        self._hint = hint
        self.head = path.with_name(f"{path.name}.head")
        self._first = json.dumps({"owner": owner})

    def create(self, events: Sequence[dict[str, Any]] = (), lists: Sequence[bytes] = ()) -> None:
        """Make the file with all of these events or none of them; it must not be there."""
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
        """Give the events for reading and appending, kept from other processes; what was appended stays if the block succeeds."""
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
        """Make a new file with the events and lists of this one that are still whole, and `last`; return where the damaged file was put.

        The new file is complete before it takes its place, and its head comes last: whatever happens before that leaves a damaged file.
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
        """Return the error of a file that is not as it was written."""
        return Damaged(f"{how}; {self._hint}", file=str(self.path))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside a transaction that keeps others away."""
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
                file.close()  # undoes what was not committed
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _SYSTEM_REFUSES:
                raise OutputRefused(f"{self.path} cannot be written: {error}") from None
            raise self.damaged(f"is damaged ({error})") from None

    def _read(self, file: sqlite3.Connection, events: list[dict[str, Any]], *, up_to_damage: bool = False) -> None:
        """Read the events into a list, the first one, which names the owner, left out."""
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
            raise self.damaged(f"lacks the file {self.head.name} beside it, or that one was changed")
        number, digits = int(found[1]), found[2].decode()
        if chain.hash_at(number) != digits:
            now = len(chain.events)
            raise self.damaged(f"was shortened or replaced: it had {number:,} events at least and has {now:,}")

    def _write_head(self) -> None:
        """Name the last event. The file is held meanwhile, so that two processes do not put back each other's head."""
        with self._connected() as file:
            number, digits = file.execute("SELECT number, hash FROM events ORDER BY number DESC LIMIT 1").fetchone()
            replace_file(self.head, f"{number} {digits}\n".encode(), mode=0o600, is_result=False)


class OpenChain:
    """The events of a file that this process holds."""

    def __init__(self, file: sqlite3.Connection, events: list[dict[str, Any]]) -> None:
        self.events = events
        self._file = file

    def append(self, event: dict[str, Any]) -> None:
        """Add an event."""
        self.events.append(event)
        number = len(self.events)
        _insert(self._file, number, json.dumps(event), self.hash_at(number - 1) or "")

    def hash_at(self, number: int) -> str | None:
        """Return the hash of all events up to one; None where there is no such event."""
        found = self._file.execute("SELECT hash FROM events WHERE number = ?", (number,)).fetchone()
        return found[0] if found else None

    def keep(self, content: bytes) -> str:
        """Store a list, once, and return the hash by which events name it."""
        digits = hashlib.sha256(content).hexdigest()
        self._file.execute("INSERT OR IGNORE INTO lists VALUES (?, ?)", (digits, content))
        return digits

    def kept(self, digits: str) -> bytes | None:
        """Return a list that an event names; None where it is missing or was changed."""
        found = self._file.execute("SELECT content FROM lists WHERE hash = ?", (digits,)).fetchone()
        return found[0] if found and hashlib.sha256(found[0]).hexdigest() == digits else None


def _insert(file: sqlite3.Connection, number: int, text: str, before: str) -> None:
    file.execute("INSERT INTO events VALUES (?, ?, ?)", (number, text, _hash(before, text)))


def _hash(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()
