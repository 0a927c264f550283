"""SQLite files through ADBC.

A column of SQLite can hold a different type in each row. ADBC assumes the types of the first rows for all rows: a number among texts is
reformatted (1.5 as 1.500000e+00), an integer among floating-point numbers loses digits, and a text after 65,536 integers is an error that
names no column. So every value is selected as an exact text together with its type, and types are checked here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from setveil.base import progress
from setveil.data.databases.base import Connection
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setveil.data.databases.address import Address
    from setveil.data.databases.base import Table
    from setveil.data.databases.sql import Query

BATCH_ROWS = 1 << 16
_PREFIX = re.compile(r"(?:[A-Z_]+: )?(?:\[SQLite\] )?(?:Failed to (?:prepare|step) query: )?")
_WAIT_FOR_OTHERS = "PRAGMA busy_timeout = 5000"
_TYPES = {"text": pa.string(), "real": pa.float64(), "blob": pa.binary()}
_ALLOWED = {"text": ("text", "integer"), "real": ("real", "integer"), "blob": ("blob",)}
"""The types that a column may hold, by the type of its first value; integers are exact as texts."""
_NAMES = {"text": "texts", "integer": "whole numbers", "real": "floating-point numbers", "blob": "bytes"}


class SQLite(Connection):
    """An open SQLite file."""

    title: ClassVar[str] = "SQLite"
    text_type: ClassVar[str] = "TEXT"
    holds_lists: ClassVar[bool] = False
    _cursor: Any = None

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._mixed: set[int] = set()

    def open(self, *, writing: bool) -> None:
        """Open the file and check that it is a database; reading never creates or changes a file."""
        dbapi = self._library("adbc_driver_sqlite.dbapi")
        option = self._library("adbc_driver_sqlite").StatementOptions.BATCH_ROWS.value
        path = self.address.path
        assert path is not None

        def connect(mode: str) -> None:
            self._connection = dbapi.connect(_uri(path, mode))
            self._cursor = self._connection.cursor(adbc_stmt_kwargs={option: str(BATCH_ROWS)})
            self._cursor.execute(_WAIT_FOR_OTHERS)
            self._cursor.execute(f"PRAGMA query_only = {int(not writing)}")
            self._run("SELECT count(*) FROM sqlite_schema")  # fails if the file is not a database

        def connect_to_read() -> None:
            try:
                connect("ro")
            except Exception:  # noqa: BLE001 - after a writer was killed, recovery needs write access
                self._close_quietly()
                connect("rw")

        self.ask("cannot be opened", (lambda: connect("rwc")) if writing else connect_to_read, writing=writing)

    def query(self, query: Query) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Run a query that returns every value with its type."""
        self._reads = True
        names = self.ask("the query cannot be run", lambda: self._names(query))
        if not names:
            return pa.schema([]), iter(())
        given = [f"c{number}" for number in range(len(names))]
        asked = ", ".join(
            f"typeof({name}), CASE typeof({name}) WHEN 'real' THEN printf('%!.17g', {name}) "
            f"ELSE ifnull(CAST({name} AS TEXT), '') END"
            for name in given
        )
        statement = f"WITH q({', '.join(given)}) AS ({query.text}\n) SELECT {asked} FROM q"  # noqa: S608 - the user's own query

        def run() -> Any:
            self._cursor.execute(statement)
            return iter(self._cursor.fetch_record_batch())

        batches = self.ask("the query cannot be run", run)
        first = self._next(batches)
        kinds = [_kind(first, place) for place in range(len(names))]
        schema = pa.schema([pa.field(name, _TYPES[kind]) for name, kind in zip(names, kinds, strict=True)])
        return schema, self._batches(first, batches, schema, kinds)

    def _names(self, query: Query) -> list[str]:
        self._cursor.execute(f"SELECT * FROM ({query.text}\n) LIMIT 0")  # noqa: S608 - the user's own query
        names = self._cursor.fetch_record_batch().schema.names
        return list(names)

    def _next(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        return self.ask("the query cannot be run", lambda: next(batches, None))

    def _batches(
        self, batch: pa.RecordBatch | None, rest: Iterator[pa.RecordBatch], schema: pa.Schema, kinds: list[str]
    ) -> Iterator[pa.RecordBatch]:
        while batch is not None:
            if len(batch):  # without rows, the driver assumes integer columns
                columns = [self._column(batch, place, kind, schema.names[place]) for place, kind in enumerate(kinds)]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
            batch = self._next(rest)

    def _column(self, batch: pa.RecordBatch, place: int, kind: str, name: str) -> pa.Array:
        types, values = batch.column(2 * place), batch.column(2 * place + 1)
        found = set(types.unique().to_pylist()) - {"null"}
        if other := sorted(found.difference(_ALLOWED[kind])):
            raise BadData(
                f"the column {name!r} holds {_NAMES[kind]} and {_NAMES[other[0]]}; "
                f"give it one type in the query, such as CAST({name} AS TEXT)",
                file=self.address.shown,
            )
        if kind == "text" and len(found) == 2 and place not in self._mixed:
            self._mixed.add(place)
            progress.note(f"the column {name!r} holds texts and whole numbers; all are read as texts")
        values = pc.if_else(pc.equal(types, "null"), pa.scalar(None, values.type), values)
        return values.cast(_TYPES[kind])

    def append(self, table: Table, block: pa.RecordBatch) -> None:
        """Add rows."""
        self.ask(
            f"the table {str(table)!r} cannot be written",
            lambda: self._cursor.adbc_ingest(table.name, block, mode="append"),
            writing=True,
        )

    def _run(self, statement: str) -> Any:
        self._cursor.execute(statement)
        row = self._cursor.fetchone() if statement.startswith("SELECT") else None
        return None if row is None else row[0]

    def _is_taken(self, error: BaseException) -> bool:
        return "already exists" in str(error) or "there is already" in str(error)

    def _message(self, error: BaseException) -> tuple[str, bool]:
        message = str(error)
        if "readonly database" in message and self._reads:
            return "the query writes to the database; only reading is allowed", False
        return _PREFIX.sub("", message, count=1), False

    def _cancel(self) -> None:
        self._cursor.adbc_cancel()

    def _close(self) -> None:
        if self._connection is not None:
            self._cursor.close()
            self._connection.close()


def _uri(path: Path, mode: str) -> str:
    """Return a file name as a URI with a mode for SQLite, which needs only three characters escaped."""
    escaped = str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{escaped}?mode={mode}"


def _kind(batch: pa.RecordBatch | None, place: int) -> str:
    """Return the type of a column by its first value: text if there is none, and for integers, which are exact as texts."""
    if batch is None or not len(batch):
        return "text"
    types = batch.column(2 * place)
    present = types.filter(pc.not_equal(types, "null"))
    kind = present[0].as_py() if len(present) else "text"
    if kind == "integer" and pc.any(pc.equal(types, "real")).as_py():
        return "real"
    return "text" if kind == "integer" else str(kind)
