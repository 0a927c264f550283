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

import re
import sys
from difflib import get_close_matches
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self, Unpack


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

    @property
    def kind(self) -> str:
        """The name of the class for programs, such as `bad-data`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(self).__name__).lower()

    def facts(self) -> dict[str, Any]:
        """Return what is known beside the message, as plain values by name."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return the error as plain values: its kind, message, exit code and facts; the command line prints these as JSON.

        Examples
        --------
        >>> import setveil as sv
        >>> try:
        ...     sv.Disassociation(k=0, m=2)
        ... except sv.SetveilError as error:
        ...     found = error.to_dict()
        >>> found["kind"], found["parameter"], found["given"], found["allowed"]
        ('bad-parameter', 'k', '0', 'a whole number, at least 1')
        """
        return {"kind": self.kind, "message": str(self), "exit_code": int(self.exit_code), **self.facts()}


class Facts(TypedDict, total=False):
    """What an error states beside its message, if it is known."""

    file: str | None
    line: int | None
    row: int | None
    column: str | None
    parameter: str | None
    given: str | None
    allowed: str | Sequence[str] | None
    suggestion: str | None


class InputError(SetveilError):
    """The input cannot be used; nothing was written.

    Base class of `BadParameter`, `BadData`, `UnknownName`, `Missing` and `OutputRefused`.

    Attributes
    ----------
    file, line, row, column : str or int or None
        Where: the file, its line or row counted from 1, and its column, as far as they are known.
    parameter, given, allowed : str or list of str or None
        The parameter, the value that was given, and the allowed values: a list, or a text that describes them.
    suggestion : str or None
        What was probably meant.

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
    file: str | None = None
    line: int | None = None
    row: int | None = None
    column: str | None = None
    parameter: str | None = None
    given: str | None = None
    allowed: str | Sequence[str] | None = None
    suggestion: str | None = None

    def __init__(self, message: str, **facts: Unpack[Facts]) -> None:
        """Create the error; the message ends with the suggestion, if there is one."""
        near = facts.get("suggestion")
        super().__init__(f"{message.rstrip('.')}. Did you mean {near!r}?" if near else message)
        vars(self).update(facts)

    def facts(self) -> dict[str, Any]:
        """Return the place, the parameter and the values, as far as they are known."""
        known = {name: getattr(self, name) for name in Facts.__annotations__}
        if not isinstance(known["allowed"], str | None):
            known["allowed"] = list(known["allowed"])
        return {name: value for name, value in known.items() if value is not None}


class BadParameter(InputError):
    """An argument or parameter is outside its limits, unknown or missing.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.read("sample:supermarket", empty="remove")
    Traceback (most recent call last):
    setveil.errors.BadParameter: empty is 'remove'; allowed is keep | drop
    """

    @classmethod
    def not_among(cls, what: str, given: Any, allowed: Iterable[Any], *, parameter: str | None = None) -> Self:
        """Return the error for a value that is not one of those allowed; `what` names it, and by default is its parameter."""
        choices = [str(one) for one in allowed]
        message = f"{what} is {given!r}; allowed is {' | '.join(choices)}"
        near = closest(given, choices)
        return cls(message, parameter=parameter or what, given=str(given), allowed=choices, suggestion=near)


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
        super().__init__(message, parameter="min_support")
        self.found = found
        self.exact = exact

    def facts(self) -> dict[str, Any]:
        """Return the number of itemsets too."""
        return {**super().facts(), "found": self.found, "exact": self.exact}

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

    def __init__(self, message: str, **facts: Unpack[Facts]) -> None:
        line, row = facts.get("line"), facts.get("row")
        places = [facts.get("file"), line and f"line {line}", row and f"row {row}"]
        place = ", ".join(str(part) for part in places if part)
        super().__init__(f"{place}: {message}" if place else message, **facts)


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
        message = f"there is no {kind} {given!r}; there are: {', '.join(names)}."
        super().__init__(message, parameter=kind, given=given, allowed=names, suggestion=closest(given, names))


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
    bounds : dict
        The bounds that the method computed, such as a minimum number of records that cannot be hidden.
    remedies : tuple of str
        What to do; each of them may help.

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

    def __init__(self, message: str, *, verdict: Any = None, account: Any = None, advice: Any = None) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.account = account
        self.bounds: dict[str, Any] = getattr(advice, "bounds", {})
        self.remedies: tuple[str, ...] = getattr(advice, "remedies", ())

    def facts(self) -> dict[str, Any]:
        """Return the verdict without witnesses, which hold values of the data, and the bounds and remedies."""
        verdict = None if self.verdict is None else self.verdict.to_dict(witnesses=0)
        return {"verdict": verdict, "bounds": self.bounds, "remedies": list(self.remedies)}


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

    def facts(self) -> dict[str, Any]:
        """Return the party."""
        return {"party": self.party}


def closest(given: object, known: Iterable[str]) -> str | None:
    """Return the name that was probably meant, if one is close to what was given.

    Case and punctuation do not count. A name that is spelled similarly is preferred to one that begins with the text, or contains it.

    >>> closest("departement", ["category", "department"]), closest("fisim", ["fi-similarity", "kl"]), closest("x", ["kl"])
    ('department', 'fi-similarity', None)
    """
    names = {_plain(name): name for name in known}
    text = _plain(str(given))
    if len(text) < 2:
        return names.get(text)
    near = get_close_matches(text, names, n=1)
    begins = [name for name in names if name.startswith(text)]
    holds = [name for name in names if text in name]
    found = near or (begins if len(begins) == 1 else holds if len(holds) == 1 else [])
    return names[found[0]] if found else None


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
