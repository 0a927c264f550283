"""Every error that setveil raises on purpose.

::

    SetveilError                 exit code 1 unless a subclass says otherwise
    ├── InputError            2  what was given cannot be used; nothing was written
    │   ├── BadParameter         a parameter of a method, guarantee or metric
    │   │   └── TooManyItemsets  a support so low that more itemsets are frequent than may be listed
    │   ├── BadData              a data file or a side file: names file and place
    │   ├── UnknownName          a name that the catalog does not hold
    │   ├── Missing              something needed was not given (original, private folder ...)
    │   └── OutputRefused        the target exists, cannot be written, or the disk is full
    ├── GuaranteeViolated     3  the guarantee does not hold, or could not be decided
    └── PeerFailed            4  another party of a joint run died, disagrees or sent what it must not; nothing was written

Each message is a sentence for a person: what was given, what is allowed, what to do. It marks arguments of Python by backticks, such as
`empty='drop'` or `id=`, which the command line shows as options, and puts values from the data in quotes (`repr`), which it leaves alone.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class ExitCode(IntEnum):
    """How a program that calls setveil learns how it ended."""

    OK = 0
    FAILED = 1
    """A bug."""
    UNUSABLE = 2
    """What was given cannot be used."""
    VIOLATED = 3
    """A guarantee does not hold, or could not be decided."""
    PEER_FAILED = 4
    """Another party of a joint run failed."""


class SetveilError(Exception):
    """The root of the tree."""

    exit_code = ExitCode.FAILED
    to_others: str | None = None
    """What the other parties of a joint run hear of it, without any value of the data."""


class InputError(SetveilError):
    """What was given cannot be used."""

    exit_code = ExitCode.UNUSABLE


class BadParameter(InputError):
    """A parameter is out of its limits, unknown, or missing."""


class TooManyItemsets(BadParameter):
    """More itemsets are frequent than may be listed."""

    def __init__(self, message: str, *, found: int, exact: bool) -> None:
        super().__init__(message)
        self.found = found
        """How many there are, or at least are."""
        self.exact = exact

    @property
    def figure(self) -> float | None:
        """How many there are, for tables and charts; None where that is not known or no float holds it."""
        return float(self.found) if self.exact and self.found <= sys.float_info.max else None


class BadData(InputError):
    """A file does not hold what it should: the message names file and place, lines and rows counted from 1."""

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
    """A name is not in the catalog; the message offers the nearest and lists all."""

    def __init__(self, kind: str, given: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(given, names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"there is no {kind} {given!r}; there are: {', '.join(names)}.{hint}")


class Missing(InputError):
    """Something that the work needs was not given."""


class OutputRefused(InputError):
    """The output cannot or must not be written."""


class GuaranteeViolated(SetveilError):
    """The guarantee does not hold on what would have been published; nothing was written."""

    exit_code = ExitCode.VIOLATED

    def __init__(self, message: str, *, verdict: Any = None, account: Any = None) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.account = account


GuaranteeBroken = GuaranteeViolated
"""The name of `GuaranteeViolated` up to version 0.1; removed in 0.3."""


class PeerFailed(SetveilError):
    """Another party of a joint run failed; the message names it, and nothing was written."""

    exit_code = ExitCode.PEER_FAILED

    def __init__(self, party: str, message: str) -> None:
        super().__init__(f"{party} {message}")
        self.party = party
