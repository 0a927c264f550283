"""Every error that setveil raises on purpose.

::

    SetveilError                 exit code 1 unless a subclass says otherwise
    ├── InputError            2  the input cannot be used; nothing was written
    │   ├── BadParameter         an invalid argument or parameter
    │   │   └── TooManyItemsets  the minimum support is so low that too many itemsets are frequent
    │   ├── BadData              invalid data or an invalid side file; names the file and the place
    │   ├── UnknownName          a name that is not in the catalog
    │   ├── Missing              a required input was not given (original, private folder ...)
    │   └── OutputRefused        the target exists or cannot be written, or the disk is full
    ├── GuaranteeViolated     3  the guarantee is violated or undecided
    └── PeerFailed            4  another party of a joint run failed, disagreed or sent an invalid message; nothing was written

Each message says what is wrong, what is allowed and what to do. Python arguments are in backticks, such as `empty='drop'` or `id=`; the
command line translates them to options. Values from the data are in quotes (`repr`) and are never translated.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class ExitCode(IntEnum):
    """The exit codes of the command line."""

    OK = 0
    FAILED = 1
    """A bug."""
    UNUSABLE = 2
    """The input cannot be used."""
    VIOLATED = 3
    """A guarantee is violated or undecided."""
    PEER_FAILED = 4
    """Another party of a joint run failed."""


class SetveilError(Exception):
    """Base class of all errors that setveil raises on purpose.

    Attributes
    ----------
    exit_code : ExitCode
        The exit code of the command line for this error.
    to_others : str or None
        The message for the other parties of a joint run, without any value of the data.

    Examples
    --------
    >>> import setveil as sv
    >>> try:
    ...     sv.read("data.unknown")
    ... except sv.SetveilError as error:
    ...     print(type(error).__name__, int(error.exit_code))
    BadData 2
    """

    exit_code = ExitCode.FAILED
    to_others: str | None = None


class InputError(SetveilError):
    """The input cannot be used; nothing was written.

    Base class of `BadParameter`, `BadData`, `UnknownName`, `Missing` and `OutputRefused`.

    Examples
    --------
    >>> import setveil as sv
    >>> try:
    ...     sv.MinSupport("101%")
    ... except sv.InputError as error:
    ...     print(type(error).__name__)
    BadParameter
    """

    exit_code = ExitCode.UNUSABLE


class BadParameter(InputError):
    """An argument or parameter is outside its limits, unknown or missing.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.read("sample:supermarket", empty="remove")
    Traceback (most recent call last):
    setveil.errors.BadParameter: empty is 'remove'; allowed is keep | drop
    """


class TooManyItemsets(BadParameter):
    """More itemsets are frequent than `limit` allows.

    Attributes
    ----------
    found : int
        The number of frequent itemsets; a lower bound unless `exact`.
    exact : bool
        Whether `found` is the exact number.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.from_lists([["bread", "milk", "tea"]])
    >>> try:
    ...     sv.mine(data, min_support=1, limit=5)
    ... except sv.TooManyItemsets as error:
    ...     print(error.found, error.exact)
    7 True
    """

    def __init__(self, message: str, *, found: int, exact: bool) -> None:
        super().__init__(message)
        self.found = found
        self.exact = exact

    @property
    def figure(self) -> float | None:
        """The number for tables and charts; None if it is not exact or too large for a float."""
        return float(self.found) if self.exact and self.found <= sys.float_info.max else None


class BadData(InputError):
    """Data or a side file are invalid. The message names the file and the place.

    Attributes
    ----------
    file : str or None
        The file, if the data come from one.
    line, row : int or None
        The line of a text file or the row of a table, counted from 1, if known.

    Examples
    --------
    >>> import setveil as sv
    >>> try:
    ...     sv.read_sensitive("missing.txt")
    ... except sv.BadData as error:
    ...     print(error.file)
    missing.txt
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, row: int | None = None
    ) -> None:
        places = [file, line and f"line {line}", row and f"row {row}"]
        place = ", ".join(str(part) for part in places if part)
        super().__init__(f"{place}: {message}" if place else message)
        self.file = file
        self.line = line
        self.row = row


class UnknownName(InputError):
    """A name is not in the catalog. The message lists all names and suggests the closest one.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.from_lists([["milk"]])
    >>> sv.measure(data, data, metrics=["itms-lost"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    setveil.errors.UnknownName: there is no metric 'itms-lost'; ... Did you mean 'items-lost'?
    """

    def __init__(self, kind: str, given: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(given, names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"there is no {kind} {given!r}; there are: {', '.join(names)}.{hint}")


class Missing(InputError):
    """A required input was not given, or a required library is not installed.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.write(sv.from_lists([["milk"]]), "sqlite:///shop.db")
    Traceback (most recent call last):
    setveil.errors.Missing: sqlite:///shop.db: name the new table with `table=`
    """


class OutputRefused(InputError):
    """The output is refused: the target exists, cannot be written, or cannot hold the data.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.write(sv.from_lists([["milk"]]), "missing-folder/data.dat")
    Traceback (most recent call last):
    setveil.errors.OutputRefused: missing-folder is not a folder; create it or choose another path
    """


class GuaranteeViolated(SetveilError):
    """The guarantee is violated or undecided on the data to publish; nothing was written.

    Attributes
    ----------
    verdict : Verdict, Together or None
        The result of the check, with witnesses; `Together` if the guarantees of several releases do not hold together.
    account : object or None
        The method's account of what it did.

    Examples
    --------
    >>> import setveil as sv
    >>> verdict = sv.HiddenItemsets(itemsets=[["milk"]], min_support=1).check(sv.from_lists([["milk"]]))
    >>> try:
    ...     raise sv.GuaranteeViolated(str(verdict), verdict=verdict)  # as `publish` does
    ... except sv.GuaranteeViolated as error:
    ...     print(error.verdict.status)
    violated
    """

    exit_code = ExitCode.VIOLATED

    def __init__(self, message: str, *, verdict: Any = None, account: Any = None) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.account = account


GuaranteeBroken = GuaranteeViolated
"""The former name of `GuaranteeViolated`; it will be removed in version 0.3."""


class PeerFailed(SetveilError):
    """Another party of a joint run failed. The message names it; nothing was written.

    Attributes
    ----------
    party : str
        The party that failed: a provider or the collector.

    Examples
    --------
    >>> import setveil as sv
    >>> raise sv.PeerFailed("provider B", "closed the connection")
    Traceback (most recent call last):
    setveil.errors.PeerFailed: provider B closed the connection
    """

    exit_code = ExitCode.PEER_FAILED

    def __init__(self, party: str, message: str) -> None:
        super().__init__(f"{party} {message}")
        self.party = party
