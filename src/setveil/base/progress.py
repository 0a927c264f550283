"""Progress steps and notes of running work.

Functions announce steps and notes here; a front end such as the command line receives them with `reporting`. Without a reporter, steps
are silent and notes go to the `setveil` logger. Details, such as the files that are read, always go there.
The reporter is a context variable, so that two jobs in one process stay separate.

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
    """Receives steps that take time, and notes."""

    def step(self, label: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        """Show a step; yield a function to call with the amount done so far."""

    def note(self, text: str) -> None:
        """Show a note to the user: one sentence, without values of the data."""


class Silent:
    """The default reporter: ignores steps and logs notes."""

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
    """Send the steps and notes of the block to `reporter`."""
    token = _current.set(reporter)
    try:
        yield
    finally:
        _current.reset(token)


def step(label: str, total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
    """Announce a step; use the result as a context manager."""
    return _current.get().step(label, total)


def note(text: str) -> None:
    """Announce something the user should know."""
    _current.get().note(text)


def detail(text: str) -> None:
    """Log a decision or a fact for people who look for the reason of something; like a note, it holds no values of the data."""
    _log.debug(text)
