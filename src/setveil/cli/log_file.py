"""`--log-file`: what a command did and how it ended, with times; without values of the data."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from contextlib import contextmanager, suppress
from pathlib import Path
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any

from setveil import __version__
from setveil.base.translation import without_quoted
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MODE = 0o600
TIME = "%Y-%m-%dT%H:%M:%SZ"


class LogFile:
    """An open log file. The times are in UTC, and a value in quotes is replaced by dots: it may be a value of the data."""

    def __init__(self, path: str) -> None:
        self.path = Path(path).absolute()
        self.log = logging.getLogger("setveil")

    def begin(self, arguments: list[str]) -> None:
        """Log the command with the names of its options, without their values: a seed is secret."""
        words = [text for text in arguments[:2] if text.isidentifier()]
        options = [text.partition("=")[0] for text in arguments if text.startswith("--")]
        python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        self.log.info("setveil %s, %s, process %d: %s", __version__, python, os.getpid(), " ".join(words + options))

    def end(self, code: int) -> None:
        """Log the exit code."""
        self.log.info("ended with exit code %d", code)

    def refused(self, facts: Mapping[str, Any]) -> None:
        """Log what is wrong, of an error that setveil raised on purpose; what is allowed can be the first line of the data."""
        what_is_wrong = without_quoted(str(facts["message"])).partition("; ")[0]
        self.log.error("%s: %s", facts["kind"], what_is_wrong)

    def failed(self, error: BaseException) -> None:
        """Log where an unexpected error happened. Its message may hold values of the data."""
        frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__))).rstrip()
        self.log.error("unexpected %s, raised in:\n%s", type(error).__name__, frames)

    def stopped(self, message: str) -> None:
        """Write that the process was asked to stop, past all locks and buffers: it ends at once."""
        with suppress(OSError):
            place = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            os.write(place, f"{strftime(TIME, gmtime())} ERROR {message}\n".encode())


class _InUtc(logging.Formatter):
    converter = staticmethod(gmtime)


class _Appending(logging.Handler):
    """Appends each record with a single write, so that several processes can share a file; a full disk does not stop the work."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.setFormatter(_InUtc("%(asctime)s %(levelname)s %(message)s", TIME))
        self.place = place
        self.works = True

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless an earlier one failed."""
        if self.works:
            try:
                os.write(self.place, f"{self.format(record)}\n".encode())
            except OSError as error:
                self.works = False
                with suppress(OSError):
                    sys.stderr.write(f"note: the log file is incomplete: {error.strerror}\n")


@contextmanager
def logging_to(path: str | None) -> Iterator[LogFile | None]:
    """Append what is logged in the block to a file that only its owner can read; None without a path."""
    if path is None:
        yield None
        return
    try:
        place = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, MODE)
    except OSError as error:
        message = f"the log file {path} cannot be written: {error.strerror}; choose another path"
        raise OutputRefused(message, file=path, parameter="log_file") from None
    log, handler = logging.getLogger("setveil"), _Appending(place)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield LogFile(path)
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        os.close(place)
