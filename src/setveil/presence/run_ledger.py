"""What a party ran with whom: one line of JSON an event, only ever appended to.

Dummies are drawn from a keyed stream, so a run with the same peer, population, data and policy has the same dummies and tells nothing new.
With any of these changed they differ, and who goes to the same side in both runs is a real user; two peers can lay what they saw side by
side. Such a run is refused unless asked for, if a single person of its population was in that of an earlier run.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Literal

from setveil import progress
from setveil.errors import BadData, BadParameter, OutputRefused
from setveil.presence.known_people import KnownPeople

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setveil.data.joined.population import Population

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows, where two processes are not kept apart
    fcntl = None  # type: ignore[assignment]

Outcome = Literal["begun", "finished", "failed"]
_OUTCOMES = ("begun", "finished", "failed")
_HASH = re.compile(r"[0-9a-f]{64}")
_RUN_BYTES = 8
PEOPLE = "people"


@dataclass(frozen=True)
class Event:
    """A line of the ledger."""

    run: str
    """What the events of one run have in common."""
    outcome: Outcome
    when: str
    peer: str
    """Fingerprint of the peer's certificate."""
    population: str
    policy: str
    data: str
    """Hash of this party's own data; it stays here."""


class Run:
    """A run that was begun; its end is noted once."""

    def __init__(self, ledger: RunLedger, begun: Event) -> None:
        self._ledger = ledger
        self._begun = begun
        self._ended = False

    def finished(self) -> None:
        """Note that the run came to its end."""
        self._end("finished")

    def failed(self) -> None:
        """Note that the run failed; the peer may have seen some of it, so it counts all the same."""
        self._end("failed")

    def _end(self, outcome: Outcome) -> None:
        if not self._ended:
            self._ended = True
            self._ledger.note(Event(**{**asdict(self._begun), "outcome": outcome, "when": _now()}))


class RunLedger:
    """The ledger in a file, which need not exist yet; whom its runs were about is in a folder beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._people = KnownPeople(path.with_name(PEOPLE))

    def begin(self, *, peer: str, population: Population, policy: str, data: str, again: bool = False) -> Run:
        """Note that a run begins, before anything of the data is sent; refuse one that tells real users from dummies, unless `again`."""
        event = _begun(peer, population, policy, data)
        with self._held() as file:
            refusal = self._refusal(event, population, self._read(file))
            if refusal is not None and not again:
                raise BadParameter(refusal)
            self._people.keep(population)
            self._append(file, event)
        if refusal is not None:
            progress.note(
                "this is another run over the same people, with another population, other data, another policy or another peer: "
                "whoever compares the two can tell real users from dummies."
            )
        return Run(self, event)

    def refuse(self, *, peer: str, population: Population, policy: str, data: str, again: bool = False) -> None:
        """Refuse what `begin` would refuse, and note nothing: for whoever has not yet met the others."""
        refusal = self._refusal(_begun(peer, population, policy, data), population, self.events())
        if refusal is not None and not again:
            raise BadParameter(refusal)

    def _refusal(self, event: Event, population: Population, noted: list[Event]) -> str | None:
        """Tell why a run would give people away: it is none of those that were noted, and one of these was about some of its people."""
        if any(not _differences(event, earlier) for earlier in noted):
            return None
        strangers: set[str] = set()
        for earlier in reversed(noted):
            if earlier.population not in strangers:
                shared = self._people.shared(earlier.population, population)
                if shared != 0:
                    return self._refusal_beside(event, earlier, shared, len(population))
                strangers.add(earlier.population)
        return None

    def _refusal_beside(self, event: Event, before: Event, shared: int | None, people: int) -> str:
        differences = " and ".join(_differences(event, before))
        if event.population == before.population:
            what = f"a run over this population was begun on {before.when}, with {differences}"
        elif shared is None:
            what = (
                f"a run was begun on {before.when} with another population, and {self._people.file(before.population)}, which says who was "
                "in it, is missing"
            )
        else:
            what = f"{shared:,} of these {people:,} people were in a run that was begun on {before.when}, with {differences}"
        return (
            f"{what}. Whoever compares the two runs can tell real users from dummies. Use the population, the data, the policy and the "
            "peer of that run, or say --again if you accept this"
        )

    def events(self) -> list[Event]:
        """Return all that was noted, the oldest first."""
        if not self.path.exists():
            return []
        with self._held() as file:
            return self._read(file)

    def note(self, event: Event) -> None:
        """Append an event."""
        with self._held() as file:
            self._read(file)
            self._append(file, event)

    @contextmanager
    def _held(self) -> Iterator[IO[bytes]]:
        """Give the file, kept from other processes."""
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            with os.fdopen(handle, "r+b") as file:  # closing may write, and so may fail too
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX)
                yield file
        except OSError as error:
            raise OutputRefused(f"{self.path} cannot be written: {error.strerror}") from None

    def _read(self, file: IO[bytes]) -> list[Event]:
        """Read all events and stand at the end of the last whole line: one without an end was being written when the system fell."""
        file.seek(0)
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        file.seek(len(whole))
        return [self._event(line, number) for number, line in enumerate(whole.splitlines(), 1)]

    def _event(self, line: bytes, number: int) -> Event:
        try:
            said: dict[str, Any] = json.loads(line)
            event = Event(**said)
        except (ValueError, TypeError, RecursionError):
            event = None
        if (
            event is None
            or not all(isinstance(value, str) for value in said.values())
            or event.outcome not in _OUTCOMES
        ):
            raise BadData(
                "is not an event of a run; put back the ledger as it was, it keeps real users apart from dummies",
                file=str(self.path),
                line=number,
            )
        return event

    @staticmethod
    def _append(file: IO[bytes], event: Event) -> None:
        file.truncate()
        file.write(json.dumps(asdict(event)).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _begun(peer: str, population: Population, policy: str, data: str) -> Event:
    for name, digits in (("peer", peer), ("policy", policy), ("data", data)):
        if not _HASH.fullmatch(digits):
            raise BadParameter(f"the {name} of a run is named by a SHA-256 of 64 hexadecimal digits")
    return Event(secrets.token_hex(_RUN_BYTES), "begun", _now(), peer, population.sha256, policy, data)


def _differences(one: Event, other: Event) -> list[str]:
    """Return in which ways two runs differ; a policy names its population, so that another one needs no words there."""
    ways = {
        "population": "another population",
        "data": "other data",
        "policy": "another policy",
        "peer": "another peer",
    }
    found = [name for name in ways if getattr(one, name) != getattr(other, name)]
    return [ways[name] for name in found if name != "policy" or "population" not in found]
