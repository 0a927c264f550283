"""Ctrl-C within half a second, whatever is running; the same where the system asks the program to end, or its terminal was closed.

Python hears a signal only between two of its own instructions, and a compiled loop, a sort in Arrow or a compiler at work can be longer
than that. The system's signal also writes a byte to a pipe; a thread waits there, gives the main thread a moment to unwind by itself,
and else removes what was being staged and ends the process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

GRACE_SECONDS = 0.25
STOPPED = 130
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_heard = threading.Event()
_code = STOPPED
_ending = threading.Lock()


def install() -> None:
    """Watch for Ctrl-C from now on; called by the program's entry point alone."""
    # Whoever started us may have asked to ignore some, as `nohup` and shells in the background do.
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
    """Let Ctrl-C pass: the work is done, and the process ends anyway."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def heard() -> bool:
    """Tell whether the program was asked to stop."""
    return _heard.is_set()


def _hear(number: int, _frame: Any) -> None:
    """Unwind the main thread, once: a second Ctrl-C must not stop the cleaning up."""
    global _code  # noqa: PLW0603 - a process has one end
    if not _heard.is_set():
        _code = 128 + number
        _heard.set()
        raise KeyboardInterrupt


def _unraisable(lost: Any) -> None:
    """Say nothing of what goes wrong after Ctrl-C where nobody can be told, as in a callback of the compiler: the process ends anyway."""
    if not _heard.is_set():
        sys.__unraisablehook__(lost)


def _watch(ear: int) -> None:
    global _code  # noqa: PLW0603 - the main thread may never come to hear it
    while (number := os.read(ear, 1)[0]) not in SIGNALS:
        pass
    if not _heard.is_set():
        _code = 128 + number
    time.sleep(GRACE_SECONDS)
    end()


def end() -> None:
    """End the process at once, with nothing half-written left behind."""
    _ending.acquire()  # for good: who comes second waits for the end
    try:
        atomic = sys.modules.get("setveil.base.atomic")
        remove_unfinished = getattr(atomic, "remove_unfinished", list)  # absent while it is being imported
        written = " and ".join(remove_unfinished())
        what = f"{written} was written before and is complete" if written else "nothing was written"
        show_cursor = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""  # a progress bar hides it
        os.write(2, f"{show_cursor}setveil: stopped; {what}\n".encode())
    finally:
        os._exit(_code)
