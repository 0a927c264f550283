"""Just enough of SQL: is a query one statement that reads, does it say an order, and how is a name quoted.

This looks at words outside of quotes and comments; whether the statement is right is the database's to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setveil.errors import BadParameter, Missing

if TYPE_CHECKING:
    from setveil.data.databases.address import Kind

_TOKEN = re.compile(
    r"""
      (?P<skip> \s+ | --[^\n]* | /\*(?:(?!/\*|\*/).|/\*.*?\*/)*\*/ | /\*.*?\*/ )
    | (?P<quoted> [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ )
    | (?P<word> [^\W\d]\w* )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_READING = frozenset({"select", "with", "values", "table", "("})
_NO_QUERY = 'name the rows with `query=`, such as `query="SELECT customer, product FROM baskets ORDER BY customer"`'


@dataclass(frozen=True)
class Query:
    """A single statement that reads."""

    text: str
    """The statement without a semicolon or comments at its end, so that it can stand inside another one."""
    ordered: bool
    """Whether the statement itself, not only a part in brackets, says in which order its rows come."""


def query_of(text: str | None, kind: Kind) -> Query:
    """Look at a query before a database sees it, or say in one sentence what is wrong with it."""
    if text is None:
        raise Missing(_NO_QUERY)
    if "\0" in text:
        raise BadParameter("the query holds a zero character, which is not SQL")
    tokens = [token for token in _TOKEN.finditer(text) if token.lastgroup != "skip"]
    words = [token[0].lower() for token in tokens]
    while words and words[-1] == ";":
        words.pop()
    if not words:
        raise Missing(f"the query is empty; {_NO_QUERY}")
    if ";" in words:
        raise BadParameter("the query holds several statements; give a single SELECT")
    if words[0] not in _READING and not (kind == "duckdb" and words[0] == "from"):
        raise BadParameter(f"the query begins with {words[0][:20]!r}; give a single SELECT")
    return Query(text[tokens[0].start() : tokens[len(words) - 1].end()], ordered=_says_order(words))


def _says_order(words: list[str]) -> bool:
    depth = 0
    for word, following in zip(words, [*words[1:], ""], strict=True):
        depth += (word == "(") - (word == ")")
        if depth == 0 and (word, following) == ("order", "by"):
            return True
    return False


def quoted(*names: str) -> str:
    """Return a name, or names joined by dots, as an identifier; any character may stand in it.

    >>> quoted("my schema", "order")
    '"my schema"."order"'
    """
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)
