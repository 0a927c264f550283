"""A minimal look at SQL: whether a query is a single reading statement, whether it has an order, and quoting of names.

Only words outside quotes and comments are considered. The database itself checks the statement.
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
_WRITING = frozenset({"insert", "update", "delete", "merge"})
"""What may follow WITH in Spark, whose sessions are not read-only."""
_NO_QUERY = 'name the rows with `query=`, such as `query="SELECT customer, product FROM baskets ORDER BY customer"`'


@dataclass(frozen=True)
class Query:
    """A single statement that reads."""

    text: str
    """The statement without a semicolon or comments at its end, so that it can be nested in another statement."""
    ordered: bool
    """Whether the statement itself, not only a part in brackets, has ORDER BY."""


def query_of(text: str | None, kind: Kind) -> Query:
    """Check a query before a database sees it; raise `Missing` or `BadParameter` if it is not a single SELECT."""
    if text is None:
        raise Missing(_NO_QUERY)
    if "\0" in text:
        raise BadParameter("the query holds a null character, which is not SQL; remove it")
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
    if kind == "spark" and (written := _WRITING.intersection(words)):
        raise BadParameter(f"the query holds {min(written)!r}; only reading is allowed")
    return Query(text[tokens[0].start() : tokens[len(words) - 1].end()], ordered=_says_order(words))


def _says_order(words: list[str]) -> bool:
    depth = 0
    for word, following in zip(words, [*words[1:], ""], strict=True):
        depth += (word == "(") - (word == ")")
        if depth == 0 and (word, following) == ("order", "by"):
            return True
    return False


def quoted(*names: str) -> str:
    """Return a name, or names joined by dots, as a quoted identifier; names may contain any character.

    >>> quoted("my schema", "order")
    '"my schema"."order"'
    """
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)
