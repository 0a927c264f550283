"""What people see: progress, notes and tables on standard error and output."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from setveil.base.progress import Silent
from setveil.cli.translation import as_options
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from setveil.base.verdict import Verdict
    from setveil.parameters.names_found import NamesFound

PLAIN_WIDTH = 110
"""Characters of a line where there is no terminal."""
SAY_AFTER_SECONDS = 2.0
SAY_AGAIN_SECONDS = 10.0


class TerminalReporter:
    """Bars on a terminal, gone when the work is done."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        self.bars = Progress(*columns, console=self.console, transient=True)
        self.open = 0

    @contextmanager
    def step(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Show a bar, or a moving one where the total is not known."""
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


class LineReporter:
    """Lines where there is no terminal: one for each step that takes longer than two seconds, and then now and again."""

    @contextmanager
    def step(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Print a line once the step has taken long."""
        done = [0]
        over = threading.Event()

        def tell() -> None:
            started = time.monotonic()
            wait = SAY_AFTER_SECONDS
            while not over.wait(wait):
                share = f" {100 * done[0] // total} %" if total else ""
                sys.stderr.write(f"{label} ...{share} ({time.monotonic() - started:.0f} s)\n")
                sys.stderr.flush()
                wait = SAY_AGAIN_SECONDS

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield lambda now: done.__setitem__(0, now)
        finally:
            over.set()

    def note(self, text: str) -> None:
        """Print the note."""
        sys.stderr.write(f"note: {as_options(text)}\n")


class QuietReporter(Silent):
    """Nothing at all."""

    def note(self, text: str) -> None:
        """Tell nothing."""


def reporter(*, quiet: bool) -> TerminalReporter | LineReporter | QuietReporter:
    """Return the listener that fits."""
    if quiet:
        return QuietReporter()
    return TerminalReporter() if sys.stderr.isatty() else LineReporter()


def say(text: str = "") -> None:
    """Print a line of the result."""
    with _to_a_reader():
        sys.stdout.write(text + "\n")


def flush() -> None:
    """Hand out what was printed."""
    with _to_a_reader():
        sys.stdout.flush()


@contextmanager
def _to_a_reader() -> Iterator[None]:
    """Let a reader go away, as `head` does, without a word: the work goes on, and its exit code tells how it ended."""
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OutputRefused(f"standard output cannot be written: {error.strerror}") from None


def say_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Print names with their texts beside them, the texts wrapped in one column."""
    indent = max(len(name) for name, _text in pairs) + 5
    line = shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH
    for name, text in pairs:
        wrapped = textwrap.wrap(text, max(line - indent, 40), break_long_words=False, break_on_hyphens=False) or [""]
        say(f"  {name}".ljust(indent) + f"\n{' ' * indent}".join(wrapped))


def say_json(value: Any) -> None:
    """Print the result for machines."""
    say(json.dumps(value, indent=2, ensure_ascii=False))


_MOST_NAMES = 20
"""Missing names that are printed of each list."""


def say_names(lists: Iterable[NamesFound]) -> None:
    """Print how much of each list of names occurs, and which items do not."""
    for found in lists:
        say(names_in_words(found))


def names_in_words(found: NamesFound) -> str:
    """Return how much of a list of names occurs, and which items do not."""
    return str(found) + (f"; not there: {found.missing_items(_MOST_NAMES)}" if found.missing else "")


def say_counts(verdict: Verdict, witnesses: int) -> None:
    """Print what a check counted, and some violations."""
    say_table(["", "number"], [[key.replace("-", " "), value] for key, value in verdict.counts.items()])
    for witness in verdict.witnesses[:witnesses]:
        say(f"{witness.kind}: {witness.place}: {witness.detail}")


_LONGEST_CELL = 400
"""Characters of a cell: an item may be as long as a book."""


def say_table(header: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> None:
    """Print a table; numbers to the right, nothing cut where there is no terminal."""
    rows = [[_cell(value) for value in row] for row in rows]
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(header):
        right = bool(rows) and all(_is_number(row[i]) for row in rows)
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    width = None if sys.stdout.isatty() else 140
    printed = io.StringIO()  # rich would write to standard output itself, and end the program where nobody reads it
    Console(file=printed, width=width, force_terminal=sys.stdout.isatty(), markup=False, highlight=False).print(table)
    say(printed.getvalue().removesuffix("\n"))


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 3] + "..."


def _is_number(text: str) -> bool:
    return text == "–" or text.replace(",", "").replace(".", "").replace("%", "").replace("e-", "").strip().isdigit()
