"""Run a query and stream its rows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from setveil.base import progress
from setveil.data.databases.address import address
from setveil.data.databases.opening import connection_to, require_file
from setveil.data.databases.sql import query_of
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator


class Rows:
    """The rows of a query: a schema, and record batches that are fetched on demand and can be iterated once."""

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch], shown: str) -> None:
        self.schema = schema
        self._batches = batches
        self._shown = shown

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            if _is_sound(batch):
                yield batch
            else:
                raise BadData("holds a text that is not UTF-8; convert it in the query", file=self._shown)


@contextmanager
def query_batches(url: str, query: str | None) -> Iterator[Rows]:
    """Run a read-only query and yield its rows; memory use does not grow with their number.

    ::

        with query_batches("sqlite:///shop.db", "SELECT customer, product FROM baskets ORDER BY customer") as rows:
            for batch in rows:
                ...
    """
    place = address(url)
    asked = query_of(query, place.kind)
    require_file(place)
    if not asked.ordered:
        progress.note(
            "the query has no ORDER BY, so the order of records, and thus a seeded release, may differ between runs; add ORDER BY"
        )
    connection = connection_to(place)
    try:
        connection.open(writing=False)
        schema, batches = connection.query(asked)
        if not schema.names:
            raise BadData("the query returns no columns; select those of ids and items", file=place.shown)
        yield Rows(schema, batches, place.shown)
    finally:
        connection.close()


def _is_sound(batch: pa.RecordBatch) -> bool:
    """Return whether all texts are UTF-8, which neither SQLite nor a server with the encoding SQL_ASCII checks."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
