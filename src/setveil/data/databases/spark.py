"""Tables and files of a Spark cluster, through Spark Connect. The query is run there, and its rows come as Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from setveil.data.databases.base import Connection
from setveil.engines.spark_server import Cluster, first_line, stream_of, without_warnings

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from setveil.data.databases.base import Table
    from setveil.data.databases.sql import Query

_OF_NAMES = ("AnalysisException", "ParseException")
"""Errors about names and syntax; messages of others may quote the data."""


class Spark(Connection):
    """A session on a Spark Connect server."""

    title: ClassVar[str] = "Spark"
    text_type: ClassVar[str] = "STRING"

    def open(self, *, writing: bool) -> None:
        """Begin a session."""
        if writing:
            raise self.refusal(
                "Spark cannot create a table completely or not at all; write a Parquet file, and load it there",
                writing=True,
            )
        self._connection = Cluster(self.address.url)
        self.ask("cannot be opened", self._connection.open)

    def query(self, query: Query) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Run a query; rows are fetched on demand."""

        def run() -> Any:
            from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - an optional dependency

            with without_warnings():
                frame = self._connection.session.sql(query.text)
                return to_arrow_schema(frame.schema), stream_of(frame)

        schema, tables = self.ask("the query cannot be run", run)
        return schema, self._batches(schema, tables)

    def _batches(self, schema: pa.Schema, tables: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
        def following() -> Any:
            with without_warnings():
                return next(tables, None)

        while (table := self.ask("the query cannot be run", following)) is not None:
            yield from table.cast(schema).to_batches()

    def append(self, table: Table, block: pa.RecordBatch) -> None:
        """Refuse to write."""
        raise NotImplementedError

    def _run(self, statement: str) -> Any:
        raise NotImplementedError

    def _is_taken(self, error: BaseException) -> bool:
        raise NotImplementedError

    def _message(self, error: BaseException) -> tuple[str, bool]:
        return first_line(str(error)), type(error).__name__ not in _OF_NAMES

    def _cancel(self) -> None:
        self._connection.session.interruptAll()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
