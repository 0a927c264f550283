"""Values as SQL text, for statements that other programs run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def as_text(value: str) -> str:
    """Return a text as SQL.

    >>> as_text("it's")
    "'it''s'"
    """
    quoted = value.replace("'", "''")
    return f"'{quoted}'"


def table(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the statement that makes a table; texts are VARCHAR, numbers BIGINT."""
    listed = [
        f"({', '.join(as_text(value) if isinstance(value, str) else str(value) for value in row)})" for row in rows
    ]
    if not listed:
        listed = [f"({', '.join(['NULL'] * len(columns))})"]
    values = ",\n  ".join(listed)
    return f"CREATE TABLE {name} AS SELECT * FROM (VALUES\n  {values}\n) AS listed({', '.join(columns)});"
