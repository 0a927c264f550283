"""The base class of database connections, and how drivers are called.

In the main thread, ADBC replaces Python's handler of Ctrl-C, cancels the statement and raises an ordinary error, so that Ctrl-C is not
recognized. Other calls, such as connecting, block Ctrl-C until they return. So drivers are called in a second thread, while the waiting
thread handles Ctrl-C. Errors of drivers are replaced by our own, raised outside any handler, so that no driver message, which may contain
a password or a value of the data, is attached to them.

Drivers are also imported in the second thread. Ctrl-C raises an exception in the main thread only; in DuckDB's C++ import, an exception
would abort the process or be lost.
"""

from __future__ import annotations

import atexit
import re
import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from setveil.data.databases.sql import quoted
from setveil.errors import BadData, Missing, OutputRefused, SetveilError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from setveil.data.databases.address import Address
    from setveil.data.databases.sql import Query

HEARING_SECONDS = 0.05
GRACE_SECONDS = 0.5
_VALUES = re.compile(r"""\"[^"]*"|'[^']*'|«[^»]*»|„[^“]*“|0x[0-9a-f]{2}(?: 0x[0-9a-f]{2})*""")

Result = TypeVar("Result")

_under_way: dict[threading.Event, Callable[[], None]] = {}
"""The calls that must end before Python does: the event of their end, and how to cancel them."""


@dataclass(frozen=True)
class Table:
    """A table to create: its name and its columns of texts or lists of texts."""

    schema: str | None
    name: str
    columns: dict[str, bool]
    """For each column name, whether the column holds lists."""

    def __str__(self) -> str:
        return self.name if self.schema is None else f"{self.schema}.{self.name}"


class Connection(ABC):
    """A database connection; closing it rolls back what was not committed."""

    title: ClassVar[str]
    text_type: ClassVar[str]
    holds_lists: ClassVar[bool] = True
    holds_zero_characters: ClassVar[bool] = True
    longest_name: ClassVar[int | None] = None
    """The maximum length of a name in bytes; None if names are never truncated."""
    vanishing_schema: ClassVar[str] = "temp"
    """The prefix of schemas with temporary tables."""
    may_outlive_python: ClassVar[bool] = True
    """Whether Python may end while a thread is inside the driver."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._connection: Any = None
        self._turn = threading.Lock()
        self._left = False
        self._reads = False
        """Whether the connection runs a query, as opposed to writing a table."""

    # -- specific to a kind of database ----------------------------------------------------------------------------------------

    @abstractmethod
    def open(self, *, writing: bool) -> None:
        """Connect and begin a transaction, which is read-only unless `writing`."""

    @abstractmethod
    def query(self, query: Query) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Run a query; rows are fetched on demand."""

    @abstractmethod
    def append(self, table: Table, block: pa.RecordBatch) -> None:
        """Add rows to the table just created."""

    @abstractmethod
    def _run(self, statement: str) -> Any:
        """Run a statement; return the first value of its result, if any."""

    @abstractmethod
    def _is_taken(self, error: BaseException) -> bool:
        """Return whether an error means that a table, view or similar object of that name exists."""

    @abstractmethod
    def _message(self, error: BaseException) -> tuple[str, bool]:
        """Return the driver's message without prefixes, and whether it may contain values of the data."""

    @abstractmethod
    def _cancel(self) -> None:
        """Ask the driver to cancel its work; called from another thread."""

    @abstractmethod
    def _close(self) -> None:
        """Close the connection."""

    # -- tables, in any database -----------------------------------------------------------------------------------------------

    def create(self, table: Table) -> None:
        """Create a new table, or refuse if the name is taken."""
        schema = self._schema_of(table)
        if schema is not None and schema.lower().startswith(self.vanishing_schema):
            raise self.refusal(f"tables of the schema {schema!r} are temporary; choose another schema", writing=True)
        columns = ", ".join(
            f"{quoted(name)} {self.text_type}{'[]' * lists} NOT NULL" for name, lists in table.columns.items()
        )
        statement = f"CREATE TABLE {self._place(table)} ({columns})"
        error = self._waited_for(lambda: self._run(statement))
        if isinstance(error, BaseException):
            taken = self._is_taken(error)
            why = "exists; choose another name" if taken else f"cannot be created: {self.said(error)}"
            raise self.refusal(f"the table {str(table)!r} {why}", writing=True)

    def count(self, table: Table) -> int:
        """Return the number of rows of the table just created."""
        statement = f"SELECT count(*) FROM {self._place(table)}"  # noqa: S608 - the name is quoted
        return int(
            self.ask(
                f"the table {str(table)!r} cannot be read after writing", lambda: self._run(statement), writing=True
            )
        )

    def commit(self) -> None:
        """Commit the transaction."""
        self.ask("the table cannot be committed", self._connection.commit, writing=True)

    def _schema_of(self, table: Table) -> str | None:
        """Return the schema of a table; None for the default schema."""
        return table.schema

    def _place(self, table: Table) -> str:
        schema = self._schema_of(table)
        return quoted(table.name) if schema is None else quoted(schema, table.name)

    # -- calling the driver ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connection and roll back what was not committed; ignore errors of the driver."""
        if not self._left:  # otherwise a thread is still inside the driver, and closes when it returns
            self._close_quietly()

    def _close_quietly(self) -> None:
        with suppress(Exception):
            self._close()

    def ask(self, what: str, call: Callable[[], Result], *, writing: bool = False, hint: str = "") -> Result:
        """Return the result of a driver call; turn its errors into a message that begins with `what`."""
        result = self._waited_for(call)
        if isinstance(result, Exception):
            raise (
                result
                if isinstance(result, SetveilError)
                else self.refusal(f"{what}: {self.said(result)}{hint}", writing)
            )
        if isinstance(result, BaseException):
            raise result
        return result

    def refusal(self, message: str, writing: bool) -> SetveilError:
        """Return the error about this database."""
        if writing:
            return OutputRefused(f"{self.address.shown}: {message}; nothing was written")
        return BadData(message, file=self.address.shown)

    def said(self, error: BaseException) -> str:
        """Return a driver's message in one line, without secrets and without values of the data."""
        message, has_values = self._message(error)
        line = next((line.strip() for line in message.splitlines() if line.strip()), "no reason given").rstrip(".;!")
        line = re.sub(r"\s+", " ", _VALUES.sub('"..."', line) if has_values else line)
        return self.address.without_secrets(line)

    def _waited_for(self, call: Callable[[], Result]) -> Result | BaseException:
        """Return the result of a call or its exception; cancel the call if the wait is interrupted."""
        results: list[Result | BaseException] = []
        over = threading.Event()

        def cancel() -> None:
            with self._turn:
                if not results:  # otherwise the connection may be closing
                    self._cancel()

        def work() -> None:
            if not self.may_outlive_python:
                _under_way[over] = cancel
            result: Result | BaseException
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - passed to the waiting thread
                result = error
            with self._turn:
                results.append(result)
                left = self._left
            if left:
                self._close_quietly()
            _under_way.pop(over, None)
            over.set()

        try:
            threading.Thread(target=work, daemon=True, name="setveil-database").start()
            while not over.wait(HEARING_SECONDS):  # a signal may reach another thread and not end the wait
                pass
        except BaseException:
            try:
                _cancel_for_a_while(cancel, over)
            finally:
                with self._turn:
                    self._left = not results
            raise
        return results[0]

    def _library(self, name: str) -> Any:
        """Import a library of the optional dependency `db`."""
        library = self._waited_for(lambda: import_module(name))
        if isinstance(library, ImportError):
            package = name.partition(".")[0].replace("_", "-")
            raise Missing(
                f"{self.address.shown} needs {package}, which is not installed; run pip install 'setveil[db]'"
            )
        if isinstance(library, BaseException):
            raise library
        return library


def _cancel_for_a_while(cancel: Callable[[], None], over: threading.Event) -> None:
    """Cancel a call repeatedly, because drivers ignore a request that arrives before the query begins."""
    until = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < until:
        try:
            cancel()
        except Exception:  # noqa: BLE001 - SQLite's driver cannot cancel, so do not wait
            until = 0.0
        if over.wait(HEARING_SECONDS):
            return


@atexit.register
def _end_calls() -> None:
    """Cancel the calls that must end before Python does, and wait for them.

    CPython before 3.14 unwinds a thread that returns from a driver while Python ends. If it has C++ frames that must not throw, such as
    those of DuckDB, this aborts the process.
    """
    for over, cancel in list(_under_way.items()):
        while not over.wait(HEARING_SECONDS):
            with suppress(Exception):  # there may be no connection yet
                cancel()
