"""Programs that start at once: processes of their own, forked from one that has imported everything already (`fork_server`).

Starting Python and importing the program takes a second, and what these tests prove begins after that. How the program itself starts, what
it makes of its environment, and of standard output that is no file, is tested with `support.program.start`.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

from support.program import Ended, ended, with_usual_signals

THE_PROGRAM = "from setveil.cli.main import main\nmain()"


@cache
def _server():
    """Start the process that forks, once a session, and return where it takes requests."""
    here, there = socket.socketpair()
    command = [sys.executable, "-W", "error", Path(__file__).with_name("fork_server.py"), str(there.fileno())]
    with_usual_signals()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[there.fileno()])
    there.close()

    def end():
        here.close()
        process.wait()

    atexit.register(end)
    return here


class _Heard(threading.Thread):
    """Reads what a program says, while it says it."""

    def __init__(self, reader: int) -> None:
        super().__init__(daemon=True)
        self._reader, self._text = reader, ""
        self.start()

    def run(self) -> None:
        with os.fdopen(self._reader, encoding="utf-8") as file:
            self._text = file.read()

    def text(self) -> str:
        self.join()
        return self._text


class Forked:
    """A program in a process of its own, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, *arguments: object, cwd: Path, code: str = THE_PROGRAM) -> None:
        """Start a command, or other code in its place."""
        self.returncode: int | None = None
        out, err, status = (os.pipe() for _ in range(3))
        request = {"argv": ["setveil", *map(str, arguments)], "cwd": str(cwd), "env": dict(os.environ), "code": code}
        theirs = [writer for _reader, writer in (out, err, status)]
        socket.send_fds(_server(), [json.dumps(request).encode() + b"\n"], theirs)
        for one in theirs:
            os.close(one)
        self._said = [_Heard(reader) for reader, _writer in (out, err)]
        self._status = os.fdopen(status[0], encoding="ascii")
        self.pid = int(self._status.readline())

    def poll(self) -> int | None:
        """Return how it ended, or None if it still runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.returncode = int(self._status.readline())
            self._status.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        if self.returncode is None and not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("setveil", timeout)
        return self.poll()

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end, and return what it said on standard output and on standard error."""
        self.wait(timeout)
        return tuple(heard.text() for heard in self._said)

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)


def run(*arguments: object, cwd: Path, code: str = THE_PROGRAM) -> Ended:
    """Run a command, or other code in its place, in a process of its own that starts at once."""
    since = time.monotonic()
    return ended(Forked(*arguments, cwd=cwd, code=code), since)
