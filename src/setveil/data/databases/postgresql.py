"""PostgreSQL through ADBC: binary COPY directly into Arrow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from setveil.data.databases.base import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.data.databases.base import Table
    from setveil.data.databases.sql import Query

BATCH_BYTES = 1 << 23
_CHECK = "; check the address, the user and the password, which may also come from PGPASSWORD or ~/.pgpass"
_TAKEN = frozenset({"42P07", "42710", "23505"})
"""The last code: another session committed the same name while we waited for it."""
_OF_VALUES = ("22", "23", "P0", "XX")  # classes of errors whose messages may quote the data
_PREFIX = re.compile(r".*?\b(?:ERROR|FATAL|PANIC):\s+|(?:[A-Z_]+: )?(?:\[libpq\] )?(?:Failed to connect: )?", re.DOTALL)


class PostgreSQL(Connection):
    """A connection to a PostgreSQL server."""

    title: ClassVar[str] = "PostgreSQL"
    text_type: ClassVar[str] = "text"
    holds_zero_characters: ClassVar[bool] = False
    longest_name: ClassVar[int | None] = 63
    vanishing_schema: ClassVar[str] = "pg_temp"
    _cursor: Any = None
    _schema: str = ""

    def open(self, *, writing: bool) -> None:
        """Connect and begin a transaction, read-only on the server unless `writing`."""
        dbapi = self._library("adbc_driver_postgresql.dbapi")
        option = self._library("adbc_driver_postgresql").StatementOptions.BATCH_SIZE_HINT_BYTES.value

        def connect() -> None:
            self._connection = dbapi.connect(self.address.url)
            self._cursor = self._connection.cursor(adbc_stmt_kwargs={option: str(BATCH_BYTES)})

        self.ask("cannot be opened", connect, writing=writing, hint=_CHECK)
        if not writing:
            self.ask("cannot be opened", lambda: self._cursor.execute("SET TRANSACTION READ ONLY"))

    def query(self, query: Query) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Run a query by COPY; rows are fetched on demand."""

        def run() -> Any:
            self._cursor.execute(query.text)
            return self._cursor.fetch_record_batch()

        self._reads = True
        reader = self.ask("the query cannot be run", run)
        return _corrected(reader.schema), self._batches(reader)

    def _batches(self, reader: Any) -> Iterator[pa.RecordBatch]:
        schema, batches = _corrected(reader.schema), iter(reader)
        while (batch := self.ask("the query cannot be run", lambda: next(batches, None))) is not None:
            columns = [_as(column, type_) for column, type_ in zip(batch.columns, schema.types, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def create(self, table: Table) -> None:
        """Create the table in its schema or, by default, in the first schema of the search path."""
        current = self.ask("cannot be written", lambda: self._run("SELECT current_schema()"), writing=True)
        if table.schema is None and current is None:
            raise self.refusal("no schema of the search path exists; name the table as schema.name", writing=True)
        self._schema = str(current)
        super().create(table)

    def append(self, table: Table, block: pa.RecordBatch) -> None:
        """Add rows by binary COPY."""
        self.ask(
            f"the table {str(table)!r} cannot be written",
            lambda: self._cursor.adbc_ingest(table.name, block, mode="append", db_schema_name=self._schema_of(table)),
            writing=True,
        )

    def _schema_of(self, table: Table) -> str:
        return table.schema or self._schema

    def _run(self, statement: str) -> Any:
        self._cursor.execute(statement)
        row = self._cursor.fetchone() if statement.startswith("SELECT") else None
        return None if row is None else row[0]

    def _is_taken(self, error: BaseException) -> bool:
        return getattr(error, "sqlstate", None) in _TAKEN

    def _message(self, error: BaseException) -> tuple[str, bool]:
        details = dict(getattr(error, "details", None) or [])
        primary = details.get(b"PG_DIAG_MESSAGE_PRIMARY", b"").decode(errors="replace")
        state = getattr(error, "sqlstate", None) or ""
        connecting = self._connection is None
        if state == "25006" and self._reads:
            return "the query writes to the database; only reading is allowed", False
        has_values = not connecting and (not state or state.startswith(_OF_VALUES))
        return primary or _PREFIX.sub("", str(error), count=1), has_values

    def _cancel(self) -> None:
        self._cursor.adbc_cancel()

    def _close(self) -> None:
        if self._connection is not None:
            self._cursor.close()
            self._connection.close()


def _corrected(schema: pa.Schema) -> pa.Schema:
    """Return the schema with types that the driver reports wrongly corrected."""
    return pa.schema([field.with_type(_true_type(field)) for field in schema])


def _true_type(field: pa.Field) -> pa.DataType:
    kind = (field.metadata or {}).get(b"POSTGRESQL:type")
    if kind == b"oid":  # unsigned: the driver returns 3000000000 as a negative number
        return pa.uint32()
    if kind == b"money":  # whole cents or similar units, not the displayed amount
        return pa.opaque(pa.int64(), "money", "PostgreSQL")
    return field.type


def _as(column: pa.Array, type_: pa.DataType) -> pa.Array:
    if column.type == type_:
        return column
    if isinstance(type_, pa.ExtensionType):
        return pa.ExtensionArray.from_storage(type_, column)
    return column.view(type_)
