"""How a run ends if it has no result: a sentence for people, a JSON object for programs, and a line in the log."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from setveil.base.translation import as_options
from setveil.cli import interrupt
from setveil.cli.raw_arguments import has_flag, named_in
from setveil.errors import ExitCode, SetveilError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from setveil.cli.log_file import LogFile


class Ending:
    """Reports errors in the way that the arguments ask for, even if they cannot be parsed.

    The sentence goes to standard error. With `--json`, an object with the single key `error` goes to standard output. With
    `--progress json`, the sentence is an event like the others.
    """

    def __init__(self, arguments: list[str]) -> None:
        self.as_json = has_flag(arguments, "--json")
        self.as_event = named_in(arguments, "--progress") == "json"
        self.log_path = named_in(arguments, "--log-file")
        self.log: LogFile | None = None

    def refused(self, error: SetveilError) -> int:
        """Report an error that setveil raised on purpose, and return its exit code."""
        facts = _with_options(error.to_dict())
        self._report(facts, _coloured(facts["message"], error))
        return error.exit_code

    def refused_by_system(self, error: OSError) -> int:
        """Report what the system refused: a name too long, no permission, no space."""
        message = f"{error.filename or 'a file'} cannot be used: {error.strerror or error}"
        facts = {"kind": "system", "message": message, "exit_code": int(ExitCode.UNUSABLE)}
        self._report(facts | ({"file": str(error.filename)} if error.filename else {}), message)
        return ExitCode.UNUSABLE

    def failed(self, error: Exception) -> int:
        """Report a bug."""
        if os.environ.get("SETVEIL_DEBUG"):
            sys.excepthook(type(error), error, error.__traceback__)
        message = (
            f"unexpected {type(error).__name__}: {error}. This is a bug; nothing was written. "
            "Set SETVEIL_DEBUG=1 to see where it happened, and report it."
        )
        if self.log is not None:
            self.log.failed(error)
        facts = {"kind": "unexpected", "message": message, "exit_code": int(ExitCode.FAILED)}
        self._report(facts | {"type": type(error).__name__}, message, logged=True)
        return ExitCode.FAILED

    def stopped(self, message: str, code: int) -> None:
        """Report that the process was asked to stop. It ends at once: buffers are lost, and no lock can be waited for."""
        facts = {"kind": "stopped", "message": message, "exit_code": code}
        if self.as_json and not interrupt.has_result():
            os.write(1, _document(facts).encode())
        os.write(2, (_event(facts) if self.as_event else f"setveil: {message}\n").encode())
        if self.log is not None:
            self.log.stopped(message)

    def _report(self, facts: Mapping[str, Any], sentence: str, *, logged: bool = False) -> None:
        if self.log is not None and not logged:
            self.log.refused(facts)
        with suppress(OSError):  # nobody can read it; the exit code remains
            sys.stderr.write(_event(facts) if self.as_event else f"setveil: {sentence}\n")
            sys.stderr.flush()
        if self.as_json and not interrupt.has_result():
            interrupt.result_begun()
            with suppress(OSError):  # the sentence was written, and the exit code says the same
                sys.stdout.write(_document(facts))
                sys.stdout.flush()


def _document(facts: Mapping[str, Any]) -> str:
    return json.dumps({"error": facts}, indent=2, ensure_ascii=False, default=str) + "\n"


def _event(facts: Mapping[str, Any]) -> str:
    return json.dumps({"event": "error", **facts}, ensure_ascii=False, default=str) + "\n"


def _with_options(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts with Python arguments written as options in what people read."""
    changed: dict[str, Callable[[Any], Any]] = {
        "message": as_options,
        "remedies": lambda remedies: [as_options(one) for one in remedies],
    }
    return {name: changed[name](value) if name in changed else value for name, value in facts.items()}


def _coloured(message: str, error: SetveilError) -> str:
    """Return the message of an error, with the status of its verdict in colour on a terminal."""
    if getattr(error, "verdict", None) is None:
        return message
    from setveil.cli.show import colour_status  # noqa: PLC0415 - takes a tenth of a second

    return colour_status(message, error.verdict.status, sys.stderr)  # type: ignore[attr-defined] # looked up above
