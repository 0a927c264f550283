"""What every kind of database can do, and how its driver is called.

Called from the main thread, ADBC puts its own handler of Ctrl-C in the place of Python's, cancels the statement and reports an error like
any other: nobody learns that it was Ctrl-C. Other calls, such as connecting, hold Ctrl-C off until they return. So drivers are called in a
second thread, and the one that waits for it is free to hear. Their errors are told in our words, raised outside of any handler, so that
nothing a driver said, which may be a password or a value of the data, hangs on them.

Imports of drivers run in the second thread too. Ctrl-C raises an exception in the main thread only, and DuckDB's import in C++ aborts the
process, or loses the exception, when one reaches it.
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
"""How to cancel each call that must not outlive Python, by the event that it is over."""


@dataclass(frozen=True)
class Table:
    """A table to be made: its name and its columns, each of texts or of lists of texts."""

    schema: str | None
    name: str
    columns: dict[str, bool]
    """Whether the column holds lists, by name."""

    def __str__(self) -> str:
        return self.name if self.schema is None else f"{self.schema}.{self.name}"


class Connection(ABC):
    """An open database; closing it undoes what was not committed."""

    title: ClassVar[str]
    text_type: ClassVar[str]
    holds_lists: ClassVar[bool] = True
    holds_zero_characters: ClassVar[bool] = True
    longest_name: ClassVar[int | None] = None
    """In bytes; None where a name is never cut."""
    vanishing_schema: ClassVar[str] = "temp"
    """How the name of a schema begins whose tables are gone when the connection is closed."""
    may_outlive_python: ClassVar[bool] = True
    """Whether Python may end while a thread is inside the driver."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._connection: Any = None
        self._turn = threading.Lock()
        self._left = False
        self._reads = False
        """Whether a query is under way, and not the writing of a table."""

    # -- what a kind of database says ------------------------------------------------------------------------------------------

    @abstractmethod
    def open(self, *, writing: bool) -> None:
        """Connect and begin a transaction, which cannot write unless said so."""

    @abstractmethod
    def query(self, query: Query) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Run a query; its rows come as they are asked for."""

    @abstractmethod
    def append(self, table: Table, block: pa.RecordBatch) -> None:
        """Add rows to the table just made."""

    @abstractmethod
    def _run(self, statement: str) -> Any:
        """Run a statement and return the first value of its answer, if it has one."""

    @abstractmethod
    def _is_taken(self, error: BaseException) -> bool:
        """Tell whether an error says that there is a table, view or the like of that name already."""

    @abstractmethod
    def _message(self, error: BaseException) -> tuple[str, bool]:
        """Return what the driver says, without its decorations, and whether values of the data may stand in it."""

    @abstractmethod
    def _cancel(self) -> None:
        """Ask the driver to give up what it is doing; called from another thread than the one that waits for it."""

    @abstractmethod
    def _close(self) -> None:
        """Close what is open."""

    # -- a table, in any of them -----------------------------------------------------------------------------------------------

    def create(self, table: Table) -> None:
        """Make a new table, or refuse because there is one."""
        schema = self._schema_of(table)
        if schema is not None and schema.lower().startswith(self.vanishing_schema):
            raise self.refusal(f"tables of the schema {schema!r} do not last; name another one", writing=True)
        columns = ", ".join(
            f"{quoted(name)} {self.text_type}{'[]' * lists} NOT NULL" for name, lists in table.columns.items()
        )
        statement = f"CREATE TABLE {self._place(table)} ({columns})"
        error = self._waited_for(lambda: self._run(statement))
        if isinstance(error, BaseException):
            taken = self._is_taken(error)
            why = "is already there; name another one" if taken else f"cannot be made: {self.said(error)}"
            raise self.refusal(f"the table {str(table)!r} {why}", writing=True)

    def count(self, table: Table) -> int:
        """Count the rows of the table just made."""
        statement = f"SELECT count(*) FROM {self._place(table)}"  # noqa: S608 - the name is quoted
        return int(
            self.ask(f"the table {str(table)!r} cannot be read back", lambda: self._run(statement), writing=True)
        )

    def commit(self) -> None:
        """Make everything so far lasting, at once."""
        self.ask("the writing cannot be completed", self._connection.commit, writing=True)

    def _schema_of(self, table: Table) -> str | None:
        """Return the schema that a table goes to; None for the one that is always there."""
        return table.schema

    def _place(self, table: Table) -> str:
        schema = self._schema_of(table)
        return quoted(table.name) if schema is None else quoted(schema, table.name)

    # -- calling the driver ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the database and undo what was not committed; what a driver says then is of no use to anybody."""
        if not self._left:  # else a thread is still inside the driver, and closes when it comes out
            self._close_quietly()

    def _close_quietly(self) -> None:
        with suppress(Exception):
            self._close()

    def ask(self, what: str, call: Callable[[], Result], *, writing: bool = False, hint: str = "") -> Result:
        """Return what a call of the driver gives; its errors become one sentence that begins with `what`."""
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
        """Return what a driver said in one line, without secrets and without values of the data."""
        message, has_values = self._message(error)
        line = next((line.strip() for line in message.splitlines() if line.strip()), "no reason is given").rstrip(".;!")
        line = re.sub(r"\s+", " ", _VALUES.sub('"..."', line) if has_values else line)
        return self.address.without_secrets(line)

    def _waited_for(self, call: Callable[[], Result]) -> Result | BaseException:
        """Return what a call gives or the exception that it ends with; a wait that is interrupted cancels the call."""
        results: list[Result | BaseException] = []
        over = threading.Event()

        def cancel() -> None:
            with self._turn:
                if not results:  # else the connection may be closing
                    self._cancel()

        def work() -> None:
            if not self.may_outlive_python:
                _under_way[over] = cancel
            result: Result | BaseException
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
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
            while not over.wait(HEARING_SECONDS):  # a signal may reach another thread, and wakes nobody then
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
        """Import a library of the extra `db`."""
        library = self._waited_for(lambda: import_module(name))
        if isinstance(library, ImportError):
            package = name.partition(".")[0].replace("_", "-")
            raise Missing(f"{self.address.shown} needs {package}, which is not installed; pip install 'setveil[db]'")
        if isinstance(library, BaseException):
            raise library
        return library


def _cancel_for_a_while(cancel: Callable[[], None], over: threading.Event) -> None:
    """Cancel a call again and again: drivers ignore a request that arrives before the query has begun."""
    until = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < until:
        try:
            cancel()
        except Exception:  # noqa: BLE001 - SQLite's driver cannot cancel: waiting would only keep the user waiting
            until = 0.0
        if over.wait(HEARING_SECONDS):
            return


@atexit.register
def _end_calls() -> None:
    """Cancel the calls that must not outlive Python, and wait for their end.

    A thread that comes out of a driver while Python ends is unwound by force (CPython before 3.14). Through frames of C++ that may not
    throw, as those of DuckDB, this aborts the process.
    """
    for over, cancel in list(_under_way.items()):
        while not over.wait(HEARING_SECONDS):
            with suppress(Exception):  # there may be no connection yet
                cancel()
