"""Results on standard output, for people and for programs."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from setveil.base.display import quantity
from setveil.cli import interrupt
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TextIO

    from setveil.base.verdict import Verdict
    from setveil.metrics.headline import Headline
    from setveil.parameters.names_found import NamesFound

PLAIN_WIDTH = 110
"""Characters per line when standard output is not a terminal."""
PLAIN_TABLE_WIDTH = 140
"""Characters per line of a table when standard output is not a terminal."""
STATUS_COLOURS: Final = {"holds": "green", "violated": "red", "undecided": "yellow", "not protected": "red"}
"""The colour of a verdict on a terminal; a release with allowed failures names records that are not protected."""


def say(text: str = "") -> None:
    """Print a line of the result."""
    with _output_errors():
        sys.stdout.write(text + "\n")


def flush() -> None:
    """Write out all buffered output."""
    with _output_errors():
        sys.stdout.flush()


@contextmanager
def _output_errors() -> Iterator[None]:
    """Ignore a closed pipe, as `head` leaves it: the work continues and the exit code reports how it ended."""
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OutputRefused(f"standard output cannot be written: {error.strerror}") from None


def say_verdict(verdict: Verdict, text: str = "") -> None:
    """Print a verdict, or a line about it, with its status in colour on a terminal."""
    say(colour_status(text or str(verdict), verdict.status))


def colour_status(text: str, status: str, stream: TextIO | None = None) -> str:
    """Return the text with the first occurrence of the status in its colour.

    The text is unchanged if the stream (default: standard output) is not a terminal or NO_COLOR is set.
    """
    if not (stream or sys.stdout).isatty():
        return text
    return re.sub(rf"\b{status}\b", lambda found: _styled(found[0], STATUS_COLOURS[status]), text, count=1)


def _styled(text: str, style: str) -> str:
    """Return a text with the escape sequences of a style, as rich writes them for this terminal."""
    printed = io.StringIO()
    _console(printed, terminal=True).print(Text(text, style=style), end="")
    return printed.getvalue()


def _console(printed: io.StringIO, *, terminal: bool) -> Console:
    """Return a console that prints to a buffer: rich would write to standard output itself and end the program on a closed pipe."""
    width = None if terminal else PLAIN_TABLE_WIDTH
    return Console(file=printed, width=width, force_terminal=terminal, markup=False, highlight=False)


def say_pairs(pairs: Sequence[tuple[str, str]], statuses: Mapping[str, str] | None = None) -> None:
    """Print headings with their texts in a second column; `statuses` gives the status to colour in the text of a heading."""
    indent = max(len(name) for name, _text in pairs) + 5
    line = shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH
    for name, text in pairs:
        wrapped = textwrap.wrap(text, max(line - indent, 40), break_long_words=False, break_on_hyphens=False) or [""]
        lines = f"\n{' ' * indent}".join(wrapped)
        status = (statuses or {}).get(name)
        say(f"  {name}".ljust(indent) + (colour_status(lines, status) if status else lines))


def say_json(value: Any) -> None:
    """Print the result for machines."""
    interrupt.result_begun()
    say(json.dumps(value, indent=2, ensure_ascii=False))


_MOST_NAMES = 20
"""Maximum number of missing names printed per list."""


def say_headline(headline: Headline) -> None:
    """Print the headline figures, grouped; the titles are in bold on a terminal."""
    for number, table in enumerate(headline.tables()):
        title, _, rows = table.to_text().partition("\n")
        if number:
            say()
        say(_styled(title, "bold") if sys.stdout.isatty() else title)
        say(textwrap.indent(rows, "  "))


def say_names(lists: Iterable[NamesFound]) -> None:
    """Print how many names of each list occur in the data, and which do not."""
    for found in lists:
        say(names_text(found))


def names_text(found: NamesFound) -> str:
    """Return how many names of a list occur in the data, and which do not."""
    return str(found) + (f"; not there: {found.missing_items(_MOST_NAMES)}" if found.missing else "")


def say_counts(verdict: Verdict, witnesses: int) -> None:
    """Print the counts of a check and at most `witnesses` violations."""
    say_table(["", "number"], [[key.replace("-", " "), value] for key, value in verdict.counts.items()])
    for witness in verdict.witnesses[:witnesses]:
        say(f"{witness.kind}: {witness.place}: {witness.detail}")


def say_hidden_witnesses(verdict: Verdict, witnesses: int) -> None:
    """Print how many violations, or other witnesses, are not shown, and how to show some."""
    hidden = max(sum(verdict.violations.values()), len(verdict.witnesses)) - len(verdict.witnesses[:witnesses])
    if hidden > 0:
        say(f"{quantity(hidden, 'case')} not shown; use --witnesses 10 to show some")


_LONGEST_CELL = 400
"""Maximum characters per cell: an item can be as long as a book."""


def say_table(header: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> None:
    """Print a table with numbers aligned to the right; nothing is cut when standard output is not a terminal."""
    rows = [[_cell(value) for value in row] for row in rows]
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(header):
        right = bool(rows) and all(_is_number(row[i]) for row in rows)
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    printed = io.StringIO()
    _console(printed, terminal=sys.stdout.isatty()).print(table)
    say(printed.getvalue().removesuffix("\n"))


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() or abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 3] + "..."


def _is_number(text: str) -> bool:
    return text == "–" or text.replace(",", "").replace(".", "").replace("%", "").replace("e-", "").strip().isdigit()
