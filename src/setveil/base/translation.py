"""Translate Python arguments in messages of the library to command-line options.

A message marks an argument with backticks: `empty='drop'`, `experiment=True`, or `id=` without a value. Only such marks are translated.
Values from the data are in quotes, as `repr` writes them. Quoted text is not translated, even if an item looks like a mark.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from setveil.errors import SetveilError

if TYPE_CHECKING:
    from collections.abc import Iterator

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


_options: ContextVar[tuple[str, ...] | None] = ContextVar("setveil_options", default=None)
"""The arguments that are options of a command that reads a job file; None for other commands, where all are."""


@contextmanager
def naming_keys(without: tuple[str, ...]) -> Iterator[None]:
    """Write arguments in messages of the block as keys of a job file, except those that are options of the command."""
    token = _options.set(without)
    try:
        yield
    except SetveilError as error:
        error.args = (as_options(str(error)), *error.args[1:])
        raise
    finally:
        _options.reset(token)


def as_options(text: str) -> str:
    """Return a message with its marked arguments written as options of the command line."""
    return _QUOTED_OR_MARK.sub(_option, text)


def without_quoted(text: str) -> str:
    """Return a message with dots in place of what is in quotes, which may be values of the data."""
    return _QUOTED_OR_MARK.sub(lambda found: found[0] if found["name"] else "'…'", text)


def _option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if name is None:
        return found[0]
    options = _options.get()
    if options is not None and name not in options:
        return f"{name} = {'true' if value == 'True' else value}" if value else f"the key {name}"
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
