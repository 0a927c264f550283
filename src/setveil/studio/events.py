"""The events of a job, and how far it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MOST_BYTES: Final = 1024 * 1024
"""How much is read at once."""
MOST_NOTES: Final = 200


@dataclass(frozen=True)
class Event:
    """What a command reported."""

    position: int
    """Where the next event begins: give it as `after` to continue from here."""
    kind: str
    """start, advance, end, note, detail, error or stopped."""
    facts: dict[str, Any]


@dataclass(frozen=True)
class Step:
    """A step of a job that runs now."""

    label: str
    share: float | None
    """From 0 to 1; None if it is not known."""
    seconds: float
    """When it began, from the start of the job."""


@dataclass(frozen=True)
class Progress:
    """How far a job is."""

    steps: list[Step]
    done: list[str]
    """The labels of the steps that were completed, in order."""
    notes: list[str]
    seconds: float
    """Seconds from the start of the command to its last event."""


def read_events(file: Path, after: int = 0) -> list[Event]:
    """Return the complete events of a file from a position, at most a megabyte of them."""
    try:
        with file.open("rb") as opened:
            opened.seek(max(after, 0))
            block = opened.read(MOST_BYTES)
    except OSError:
        return []
    lines = block.split(b"\n")
    position, found = max(after, 0), []
    ended = lines[:-1]
    if not ended and len(block) == MOST_BYTES:  # a line without an end
        ended = [block[:-1]]
    for line in ended:
        position += len(line) + 1
        if line.strip():
            found.append(_event(position, line))
    return found


def _event(position: int, line: bytes) -> Event:
    text = line.decode("utf-8", "replace")
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or not isinstance(facts.get("event"), str):
        return Event(position, "detail", {"text": text[:2000]})
    return Event(position, facts.pop("event"), facts)


def progress_of(events: Iterable[Event]) -> Progress:
    """Return how far a job is from its events."""
    open_steps: dict[Any, Step] = {}
    done: list[str] = []
    notes: list[str] = []
    seconds = 0.0
    for event in events:
        facts = event.facts
        at = facts.get("seconds")
        seconds = float(at) if isinstance(at, int | float) else seconds
        number = facts.get("step")
        if event.kind == "start":
            open_steps[number] = Step(str(facts.get("label", "")), None, seconds)
        elif event.kind == "advance" and number in open_steps:
            before = open_steps[number]
            total, so_far = facts.get("total"), facts.get("done")
            share = (
                min(so_far / total, 1.0) if isinstance(total, int) and isinstance(so_far, int) and total > 0 else None
            )
            open_steps[number] = Step(before.label, share, before.seconds)
        elif event.kind == "end" and number in open_steps:
            label = open_steps.pop(number).label
            if facts.get("completed"):
                done.append(label)
        elif event.kind == "note" and len(notes) < MOST_NOTES:
            notes.append(str(facts.get("text", "")))
    return Progress([*open_steps.values()], done, notes, seconds)
