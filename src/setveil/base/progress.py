"""What is going on, told to whoever wants to know.

Work announces its steps here; a front end (the command line) listens with `reporting`. Without a listener steps are silent and notes
go to the `setveil` logger. The listener is a context variable, so that two jobs in one process do not hear each other.

    with progress.step("pairing records", total=n) as advance:
        advance(done)
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

_log = logging.getLogger("setveil")


class Reporter(Protocol):
    """A listener: shows steps that take time, and notes."""

    def step(self, label: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        """Show a step; what it gives is called with the amount done so far."""

    def note(self, text: str) -> None:
        """Tell the person something they should know, in one sentence. Never holds values of the data."""


class Silent:
    """The listener of a library call: no steps, notes to the log."""

    @contextmanager
    def step(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Ignore the step."""
        del label, total
        yield lambda _done: None

    def note(self, text: str) -> None:
        """Log the note."""
        _log.info(text)


_current: ContextVar[Reporter] = ContextVar("setveil_reporter", default=Silent())  # noqa: B039 - Silent has no state


@contextmanager
def reporting(reporter: Reporter) -> Iterator[None]:
    """Let `reporter` hear what happens inside the block."""
    token = _current.set(reporter)
    try:
        yield
    finally:
        _current.reset(token)


def step(label: str, total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
    """Announce a step of the work."""
    return _current.get().step(label, total)


def note(text: str) -> None:
    """Announce something the person should know."""
    _current.get().note(text)
