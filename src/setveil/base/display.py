"""Small tables and numbers for people, as text for a prompt and as HTML for a notebook.

The HTML has no scripts, no links and no colours of its own, so that it works on light and dark pages and without a network. People share
notebooks: a table shows counts and figures, and values of the data only if the text of the same result shows them too.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_ROWS = 10
"""The maximum number of itemsets or rules in a table."""
_NUMBERS = re.compile(r"\d+(,\d+)+")
_LONGEST_IN_TEXT, _LONGEST_IN_HTML = 120, 600
"""Maximum characters of a cell: a notebook wraps columns, a prompt does not, and an item may be very long."""
_FIGURE = re.compile(r"[-–0-9.,e+ %]*")
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that break lines, reorder text or control the terminal."""
_CELL = (
    "padding: 0.2em 0.9em 0.2em 0; vertical-align: top; border: none; border-bottom: 1px solid rgba(128, 128, 128, 0.4)"
)
_STYLES = {
    "div": "overflow-x: auto",
    "p": "margin: 0.3em 0; font-weight: bold",
    "small": "display: block; margin: -0.4em 0 0.8em; opacity: 0.75",
    "table": "border-collapse: collapse; margin: 0 0 0.8em; table-layout: auto; background: transparent; color: inherit",
    "tr": "background: transparent",
    "th": f"{_CELL}; font-weight: bold",
    "td": f"{_CELL}; max-width: 45em; overflow-wrap: anywhere",
}
"""Inline styles of every element: notebooks override table styles, and some remove style sheets."""


def figure(value: Any) -> str:
    """Format a number with thousands separators; fractions have four significant digits."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() or abs(value) >= 10_000 else f"{value:.4g}"
    return str(value)


def setting(value: Any) -> str:
    """Format the value of a parameter; blanks separate the numbers of a list, since `600,488` looks like one number."""
    return value.replace(",", ", ") if isinstance(value, str) and _NUMBERS.fullmatch(value) else figure(value)


def share(value: float) -> str:
    """Format a share as a percentage, with enough digits to distinguish a small share from zero."""
    percent = 100 * value
    is_small = 0 < abs(percent) < 0.1
    return f"{Decimal(f'{percent:.2g}'):f} %" if is_small else f"{percent:.1f} %"


def signed_share(value: float) -> str:
    """Format a share that may be below 0 as a percentage."""
    value = round(value, 9)  # a sum that should be 0
    return f"-{share(-value)}" if value < 0 else share(abs(value))


def quantity(number: int, noun: str, plural: str = "") -> str:
    """Format a count with its noun: `1 record`, `2,000 records`, `2 entries`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size_text(size: int) -> str:
    """Format a number of bytes.

    >>> size_text(1_500_000), size_text(32_000_000_000)
    ('1.5 MB', '32 GB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size / 1000:.3g} kB"


def round_minutes(seconds: float) -> str:
    """Return a duration in minutes, or in hours if there are at least two.

    >>> round_minutes(70), round_minutes(1500), round_minutes(9000)
    ('1 minute', '25 minutes', '2.5 hours')
    """
    minutes = max(round(seconds / 60), 1)
    if minutes >= 120:
        return f"{minutes / 60:.1f} hours"
    return f"{minutes} minute{'s' if minutes > 1 else ''}"


def cut(text: Any, most: int = 120) -> str:
    """Return a text, shortened to `most` characters."""
    whole = str(text)
    return whole if len(whole) <= most else whole[: most - 1] + "…"


@dataclass(frozen=True)
class ShownTable:
    """A table for people; without a header, each row is a name and its values."""

    rows: Sequence[Sequence[Any]]
    header: Sequence[str] = ()
    title: str = ""
    note: str = ""

    def to_text(self) -> str:
        """Return the table as text in aligned columns, numbers to the right."""
        cells = self._cells(_LONGEST_IN_TEXT)
        rows = [list(self.header), *cells] if self.header else cells
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        sides = _sides(cells)
        lines = [
            "  ".join(
                cell.rjust(width) if side == "right" else cell.ljust(width)
                for cell, width, side in zip(row, widths, sides, strict=False)
            ).rstrip()
            for row in rows
        ]
        return "\n".join(filter(None, [self.title, *lines, self.note]))

    def to_html(self) -> str:
        """Return the table as HTML, with every text escaped."""
        cells = self._cells(_LONGEST_IN_HTML)
        sides = _sides(cells)
        head = _row(_element("th", *one) for one in zip(self.header, sides, strict=False))
        body = [
            _row(
                _element("td" if self.header or place else "th", *one)
                for place, one in enumerate(zip(row, sides, strict=True))
            )
            for row in cells
        ]
        table = f'<table style="{_STYLES["table"]}"><thead>{head}</thead><tbody>{"".join(body)}</tbody></table>'
        return (
            (self.title and _element("p", self.title))
            + (table if cells else "")
            + (self.note and _element("small", self.note))
        )

    def _cells(self, longest: int) -> list[list[str]]:
        return [[_visible(cut(figure(value), longest)) for value in row] for row in self.rows]


def to_html(*tables: ShownTable) -> str:
    """Return the HTML of several tables, one below the other, for `_repr_html_`."""
    # The classes stop MathJax, which notebooks apply to HTML, from rendering labels such as '$5 off$' as formulas.
    attributes = f'class="tex2jax_ignore mathjax_ignore" style="{_STYLES["div"]}"'
    return f"<div {attributes}>{''.join(table.to_html() for table in tables)}</div>"


def _sides(cells: list[list[str]]) -> list[str]:
    """Return the alignment of each column: right for numbers, left otherwise."""
    return ["right" if all(map(_FIGURE.fullmatch, column)) else "left" for column in zip(*cells, strict=True)]


def _row(cells: Iterable[str]) -> str:
    joined = "".join(cells)
    return joined and f'<tr style="{_STYLES["tr"]}">{joined}</tr>'


def _element(name: str, text: str, side: str = "left") -> str:
    return f'<{name} style="{_STYLES[name]}; text-align: {side}">{html.escape(_visible(text))}</{name}>'


def _visible(text: str) -> str:
    """Return a text with control and reordering characters written as escapes."""
    return _HIDDEN.sub(lambda found: repr(found[0])[1:-1], text)
