"""DuckDB files. A query cannot download, load or read anything outside the file."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from setveil.data.databases.base import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.data.databases.base import Table
    from setveil.data.databases.sql import Query

BATCH_ROWS = 1 << 16
_CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
}
_OF_NAMES = ("BinderException", "CatalogException", "ParserException", "IOException", "PermissionException")
"""Errors about names and files; messages of others may quote the data."""


class DuckDB(Connection):
    """An open DuckDB file."""

    title: ClassVar[str] = "DuckDB"
    text_type: ClassVar[str] = "VARCHAR"
    may_outlive_python: ClassVar[bool] = False

    def open(self, *, writing: bool) -> None:
        """Open the file, read-only unless `writing`."""
        duckdb = self._library("duckdb")
        path = str(self.address.path)

        def connect() -> None:
            self._connection = duckdb.connect(path, read_only=not writing, config=_CLOSED)
            self._connection.begin()

        self.ask("cannot be opened", connect, writing=writing)

    def query(self, query: Query) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Run a query; rows are fetched on demand."""
        self._reads = True
        # Two calls: a cancelled call prevents the next one, but DuckDB drops a cancel request when a query begins.
        planned = self.ask("the query cannot be run", lambda: self._connection.sql(query.text))
        reader = self.ask("the query cannot be run", lambda: planned.to_arrow_reader(BATCH_ROWS))
        return reader.schema, self._batches(reader)

    def _batches(self, reader: Any) -> Iterator[pa.RecordBatch]:
        batches = iter(reader)
        while (batch := self.ask("the query cannot be run", lambda: next(batches, None))) is not None:
            yield batch

    def append(self, table: Table, block: pa.RecordBatch) -> None:
        """Add rows."""
        name = f"block_{secrets.token_hex(8)}"

        def run() -> None:
            self._connection.register(name, pa.Table.from_batches([block]))
            self._connection.execute(f"INSERT INTO {self._place(table)} SELECT * FROM {name}")  # noqa: S608 - names are quoted
            self._connection.unregister(name)

        self.ask(f"the table {str(table)!r} cannot be written", run, writing=True)

    def _run(self, statement: str) -> Any:
        row = self._connection.execute(statement).fetchone()
        return None if row is None else row[0]

    def _is_taken(self, error: BaseException) -> bool:
        return type(error).__name__ == "CatalogException" and (
            "already exists" in str(error) or "Existing object" in str(error)
        )

    def _message(self, error: BaseException) -> tuple[str, bool]:
        kind, _colon, message = str(error).partition(" Error: ")
        if "read-only mode" in message and self._reads:
            return "the query writes to the database; only reading is allowed", False
        return message or kind, type(error).__name__ not in _OF_NAMES

    def _cancel(self) -> None:
        self._connection.interrupt()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
