"""Messages of the library name Python arguments; people on the command line type options.

A message marks an argument by backticks: `empty='drop'`, `experiment=True`, or `id=` without a value. Only such marks are translated.
Values from the data stand in quotes, as `repr` writes them, and what is in quotes stays as it is, even an item that looks like a mark.
"""

from __future__ import annotations

import re

_QUOTED_OR_MARK = re.compile(
    r"""
      (?<!\w)(?P<quote>['"])(?:\\.|(?!(?P=quote)).)*(?P=quote)  # a quote after a letter is an apostrophe
    | `(?P<name>[a-z]\w*)=(?P<value>'[^'`]*'|"[^"`]*"|\w*)`
    """,
    re.VERBOSE,
)
_OTHER_NAMES = {"id_column": "id"}
"""Arguments whose option has another name."""


def as_options(text: str) -> str:
    """Return a message with the marked arguments written as options: `experiment=True` becomes --experiment."""
    return _QUOTED_OR_MARK.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if name is None:
        return found[0]
    option = option_of(name)
    if value in ("", "True"):
        return option
    word = value.strip("'\"")
    return f"{option} {word if word.isidentifier() or word.isdecimal() else value}"


def option_of(name: str) -> str:
    """Return the option of a Python argument."""
    return "--" + _OTHER_NAMES.get(name, name).replace("_", "-")
