"""Progress and notes on standard error: bars on a terminal, lines elsewhere, or one JSON object per line for programs."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Silent
from setveil.base.translation import as_options, without_quoted
from setveil.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from setveil.base.progress import Reporter
    from setveil.cli.options import OutputOptions

FIRST_LINE_SECONDS = 2.0
NEXT_LINE_SECONDS = 10.0
BETWEEN_EVENTS_SECONDS = 0.2
"""The shortest time between two events about the same step, other than its start and its end."""


class TerminalReporter:
    """Shows progress bars on a terminal and removes them when the work is done."""

    def __init__(self, *, bars: bool = True) -> None:
        from rich.console import Console  # noqa: PLC0415 - takes a tenth of a second
        from rich.progress import (  # noqa: PLC0415 - the same
            BarColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        self.console = Console(stderr=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        self.bars = Progress(*columns, console=self.console, transient=True, disable=not bars)
        self.open = 0

    @contextmanager
    def step(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Show a bar; without a known total, the bar pulses."""
        if self.open == 0:
            self.bars.start()
        self.open += 1
        task = self.bars.add_task(label, total=total)
        try:
            yield lambda done: self.bars.update(task, completed=done)
        finally:
            self.bars.remove_task(task)
            self.open -= 1
            if self.open == 0:
                self.bars.stop()

    def note(self, text: str) -> None:
        """Print a note above the bars."""
        self.console.print(f"note: {as_options(text)}", style="yellow", markup=False, highlight=False)

    def line(self, text: str) -> None:
        """Print a line above the bars."""
        self.console.print(text, style="dim", markup=False, highlight=False)


class LineReporter:
    """Prints lines when standard error is not a terminal: one for each step longer than two seconds, then one every ten seconds."""

    def __init__(self, *, steps: bool = True) -> None:
        self.steps = steps

    @contextmanager
    def step(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Print a line once the step has taken long."""
        if not self.steps:
            yield lambda _now: None
            return
        done = [0]
        over = threading.Event()

        def print_lines() -> None:
            started = time.monotonic()
            wait = FIRST_LINE_SECONDS
            while not over.wait(wait):
                share = f" {100 * done[0] // total} %" if total else ""
                self.line(f"{label} ...{share} ({time.monotonic() - started:.0f} s)")
                wait = NEXT_LINE_SECONDS

        threading.Thread(target=print_lines, daemon=True).start()
        try:
            yield lambda now: done.__setitem__(0, now)
        finally:
            over.set()

    def note(self, text: str) -> None:
        """Print the note."""
        self.line(f"note: {as_options(text)}")

    def line(self, text: str) -> None:
        """Print a line."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class QuietReporter(Silent):
    """Prints neither progress nor notes."""

    def note(self, text: str) -> None:
        """Ignore the note."""

    def line(self, text: str) -> None:
        """Ignore the line."""


class EventReporter:
    """Prints one JSON object per line: the start, the advance and the end of each step, and notes."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.steps = 0
        self.lock = threading.Lock()

    @contextmanager
    def step(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Print the start and the end of the step, and at most five times per second how far it is."""
        with self.lock:
            self.steps += 1
            number = self.steps
        total = None if total is None else int(total)  # counts of NumPy are no JSON
        self.event("start", step=number, label=label, total=total)
        last = [time.monotonic()]

        def advance(done: int) -> None:
            now = time.monotonic()
            if now - last[0] >= BETWEEN_EVENTS_SECONDS:
                last[0] = now
                self.event("advance", step=number, done=int(done), total=total)

        try:
            yield advance
        except BaseException:
            self.event("end", step=number, completed=False)
            raise
        self.event("end", step=number, completed=True)

    def note(self, text: str) -> None:
        """Print the note."""
        self.event("note", text=as_options(text))

    def line(self, text: str) -> None:
        """Print a line of `--verbose`."""
        self.event("detail", text=text)

    def event(self, event: str, **facts: Any) -> None:
        """Print an event, with the seconds since the command began."""
        seconds = round(time.monotonic() - self.began, 3)
        line = json.dumps({"event": event, "seconds": seconds, **facts}, ensure_ascii=False)
        with self.lock:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


class Logged:
    """Passes steps and notes on to another reporter, and writes them to the log of setveil with the time that steps took."""

    def __init__(self, shown: Reporter, log: logging.Logger) -> None:
        self.shown, self.log = shown, log

    @contextmanager
    def step(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Log the step when it ends."""
        began = time.monotonic()
        ended = "stopped after"
        try:
            with self.shown.step(label, total) as advance:
                yield advance
            ended = "took"
        finally:
            self.log.debug("%s %s %.2f s", label, ended, time.monotonic() - began)

    def note(self, text: str) -> None:
        """Log the note without what is in quotes: it may be a value of the data."""
        self.log.info("note: %s", as_options(without_quoted(text)))
        self.shown.note(text)


class _Lines(logging.Handler):
    """Shows what is logged as details."""

    def __init__(self, shown: Any) -> None:
        super().__init__(logging.DEBUG)
        self.addFilter(lambda record: record.levelno == logging.DEBUG)
        self.shown = shown

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record."""
        self.shown.line(record.getMessage())


@contextmanager
def reporting_as(output: OutputOptions) -> Iterator[Reporter]:
    """Yield the reporter for this run; with `--verbose`, also show what is logged."""
    shown = _reporter(output)
    log = logging.getLogger("setveil")
    if not output.verbose and not output.log_file:
        yield shown
        return
    level, lines = log.level, _Lines(shown)
    log.setLevel(logging.DEBUG)
    if output.verbose:
        log.addHandler(lines)
    try:
        yield Logged(shown, log)
    finally:
        log.removeHandler(lines)
        log.setLevel(level)


def _reporter(output: OutputOptions) -> TerminalReporter | LineReporter | QuietReporter | EventReporter:
    if output.quiet:
        for name in ("verbose", "progress"):
            if getattr(output, name) not in (False, None, "none"):
                raise BadParameter(f"`quiet=True` and `{name}=` contradict each other: use one of them", parameter=name)
        return QuietReporter()
    if output.progress == "json":
        return EventReporter()
    with_steps = output.progress != "none"
    return TerminalReporter(bars=with_steps) if sys.stderr.isatty() else LineReporter(steps=with_steps)
