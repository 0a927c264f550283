"""Translate Python arguments in messages of the library to command-line options.

A message marks an argument with backticks: `empty='drop'`, `experiment=True`, or `id=` without a value. Only such marks are translated.
Values from the data are in quotes, as `repr` writes them. Quoted text is not translated, even if an item looks like a mark.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setveil.parameters import CommandExample

_QUOTED_OR_MARK = re.compile(
    r"""
      (?<!\w)(?P<quote>['"])(?:\\.|(?!(?P=quote)).)*(?P=quote)  # a quote after a letter is an apostrophe
    | `(?P<name>[a-z]\w*)=(?P<value>'[^'`]*'|"[^"`]*"|\w*)`
    """,
    re.VERBOSE,
)
_OTHER_NAMES = {"id_column": "id", "metrics": "measure"}
"""Options whose name differs from their argument."""


def as_options(text: str) -> str:
    """Return a message with its marked arguments written as options: `experiment=True` becomes --experiment."""
    return _QUOTED_OR_MARK.sub(_option, text)


def without_quoted(text: str) -> str:
    """Return a message with dots in place of what is in quotes, which may be values of the data."""
    return _QUOTED_OR_MARK.sub(lambda found: found[0] if found["name"] else "'…'", text)


def _option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if name is None:
        return found[0]
    option = option_of(name)
    if value in ("", "True"):
        return option
    word = value.strip("'\"")
    return f"{option} {word if word.isidentifier() or word.isdecimal() else value}"


def as_command_line(example: CommandExample) -> str:
    """Return an example as a person types it."""
    options = [option_of(name) if value is True else f"{option_of(name)} {value}" for name, value in example.options]
    return " ".join(["setveil", example.command, *example.arguments, *options])


def option_of(name: str) -> str:
    """Return the option of a Python argument."""
    return "--" + _OTHER_NAMES.get(name, name).replace("_", "-")
