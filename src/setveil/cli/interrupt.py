"""Stop within half a second of Ctrl-C, SIGTERM or SIGHUP, whatever is running.

Python handles a signal only between two of its own instructions, and a compiled loop, a sort in Arrow or the compiler can run for longer.
Therefore each signal also writes a byte to a pipe. A thread waits there and gives the main thread a moment to unwind by itself; otherwise
it removes unfinished files and ends the process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

GRACE_SECONDS = 0.25
STOPPED = 130
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_heard = threading.Event()
_has_result = threading.Event()
_code = STOPPED
_ending = threading.Lock()


def _tell(message: str, _code: int) -> None:
    os.write(2, f"setveil: {message}\n".encode())


_report: Callable[[str, int], None] = _tell


def install() -> None:
    """Handle signals; only the program's entry point calls this."""
    # The parent process may have asked to ignore some signals, as `nohup` and background shells do.
    wanted = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    if not wanted:
        return
    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    for number in wanted:
        signal.signal(number, _hear)
    sys.unraisablehook = _unraisable
    threading.Thread(target=_watch, args=(ear,), daemon=True, name="setveil-interrupt").start()


def uninstall() -> None:
    """Ignore signals: the work is done, and the process ends anyway."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def hand_over() -> None:
    """Handle signals no longer: a server stops in its own way."""
    signal.set_wakeup_fd(-1)
    for number in SIGNALS:
        if signal.getsignal(number) is _hear:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def report_with(report: Callable[[str, int], None]) -> None:
    """Report the end with a function of the message and the exit code. It must not wait for a lock."""
    global _report  # noqa: PLW0603 - a process has one end
    _report = report


def result_begun() -> None:
    """Remember that a JSON document was begun on standard output: a second one would spoil it."""
    _has_result.set()


def has_result() -> bool:
    """Return whether a JSON document was begun on standard output."""
    return _has_result.is_set()


def begin() -> None:
    """Forget what an earlier command of this process printed."""
    _has_result.clear()


def heard() -> bool:
    """Return whether the program was asked to stop."""
    return _heard.is_set()


def _hear(number: int, _frame: Any) -> None:
    """Unwind the main thread once; a second Ctrl-C must not interrupt the clean-up."""
    global _code  # noqa: PLW0603 - a process has one end
    if not _heard.is_set():
        _code = 128 + number
        _heard.set()
        raise KeyboardInterrupt


def _unraisable(lost: Any) -> None:
    """Ignore errors after Ctrl-C that cannot be raised, such as in a callback of the compiler: the process ends anyway."""
    if not _heard.is_set():
        sys.__unraisablehook__(lost)


def _watch(ear: int) -> None:
    global _code  # noqa: PLW0603 - the main thread may never handle the signal
    while (number := os.read(ear, 1)[0]) not in SIGNALS:
        pass
    if not _heard.is_set():
        _code = 128 + number
    time.sleep(GRACE_SECONDS)
    end()


def end() -> None:
    """End the process at once, after removing unfinished files."""
    _ending.acquire()  # never released: a second caller waits until the process ends
    try:
        atomic = sys.modules.get("setveil.base.atomic")
        remove_unfinished = getattr(atomic, "remove_unfinished", list)  # absent while it is being imported
        written = " and ".join(remove_unfinished())
        what = f"{written} was written before and is complete" if written else "nothing was written"
        if os.isatty(2):
            os.write(2, b"\r\x1b[K\x1b[?25h")  # a progress bar hides the cursor
        _report(f"stopped; {what}", _code)
    finally:
        os._exit(_code)
