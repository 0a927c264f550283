"""Ctrl-C within half a second, whatever is running.

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

GRACE_SECONDS = 0.25
STOPPED = 130
MESSAGE = "setveil: stopped; nothing was written\n"


def install() -> None:
    """Watch for Ctrl-C from now on; called by the program's entry point alone."""
    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(ear,), daemon=True, name="setveil-interrupt").start()


def _watch(ear: int) -> None:
    while os.read(ear, 1) != bytes([signal.SIGINT]):
        pass
    time.sleep(GRACE_SECONDS)
    end()


def end() -> None:
    """End the process at once, with nothing half-written left behind."""
    if "setveil.release.staging" in sys.modules:
        sys.modules["setveil.release.staging"].remove_unfinished()
    os.write(2, MESSAGE.encode())
    os._exit(STOPPED)
