"""Jobs: the command line in child processes, some at a time and in order. They outlive the server."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from setveil.studio import child
from setveil.studio.refusals import WrongState

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.studio.database import Database, JobRow, State

LOCK_NAME: Final = "running"
RESULT_NAME: Final = "result.json"
EVENTS_NAME: Final = "events.jsonl"
RESULT_BYTES: Final = 64 * 1024 * 1024
"""A larger result is not read."""
POLL_SECONDS: Final = 0.2
GRACE_SECONDS: Final = 10.0
"""A command that does not stop is killed after this time."""
_STATES: Final[dict[int, State]] = {0: "done", 2: "refused", 3: "refused", 130: "stopped"}


class Jobs:
    """The queue of jobs, and the child processes that run."""

    def __init__(self, folder: Path, database: Database, most: int) -> None:
        self.folder, self.database, self.most = folder, database, most
        self.lock = threading.RLock()
        self.program = [sys.executable, "-m", "setveil"]
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self.over = threading.Event()
        self.watcher: threading.Thread | None = None

    def path(self, job: JobRow) -> Path:
        """Return the folder of a job."""
        return self.folder / job.id

    def watch(self) -> None:
        """Start and end jobs in a thread, until `close`."""

        def keep_watching() -> None:
            while not self.over.wait(POLL_SECONDS):
                with suppress(OSError, self.database.connection.OperationalError):  # the disk is full: try again
                    self.advance()

        self.watcher = threading.Thread(target=keep_watching, daemon=True, name="setveil-studio-jobs")
        self.watcher.start()

    def close(self) -> None:
        """Stop watching; jobs that run go on."""
        self.over.set()
        if self.watcher is not None:
            self.watcher.join()

    def leave(self) -> None:
        """Forget the children, because this process ends and they go on."""
        for process in self.children.values():
            if process.poll() is None:
                process.returncode = 0  # else Python warns that it still runs
        self.children.clear()

    def advance(self) -> None:
        """Note which jobs have ended, and start the next ones."""
        with self.lock:
            running = 0
            for job in self.database.jobs_in("running"):
                if self._still_runs(job):
                    running += 1
                    self._hurry(job)
                else:
                    self._end(job)
            for job in self.database.jobs_in("queued")[: max(self.most - running, 0)]:
                self._start(job)

    def _start(self, job: JobRow) -> None:
        folder = self.path(job)
        try:
            handle = _locked(folder)
        except OSError:  # its folder was deleted, or the disk is full
            self.database.change(job, state="failed", ended=time.time())
            return
        if handle is None:
            return
        try:
            self.database.change(job, state="running", started=time.time())
            beside = [sys.executable, "-I", "-S", child.__file__, str(folder)]
            self.children[job.id] = subprocess.Popen(  # noqa: S603 - arguments of ours
                [*beside, *self.program, *job.arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=[handle],
                umask=0o077,
            )
            self.database.change(job, pid=self.children[job.id].pid)
        finally:
            os.close(handle)  # the child keeps its copy, and with it the lock

    def _still_runs(self, job: JobRow) -> bool:
        process = self.children.get(job.id)
        if process is not None:
            return process.poll() is None
        try:
            handle = _locked(self.path(job))
        except OSError:  # its folder was deleted
            return False
        if handle is not None:
            os.close(handle)
        return handle is None

    def _end(self, job: JobRow) -> JobRow:
        """Note how a job ended."""
        process = self.children.pop(job.id, None)
        code = _read_code(self.path(job))
        if code is None and process is not None:
            code = process.returncode
        if code is None or code == -signal.SIGKILL:
            _stop_orphans(job, self.path(job))
        state: State = "failed" if code is None else _STATES.get(code, "failed")
        if job.stopping is not None and state == "failed":
            state = "stopped"
        if state == "done" and self.result(job) is None:
            state = "failed"
        return self.database.change(job, state=state, ended=time.time(), exit_code=code)

    def _hurry(self, job: JobRow) -> None:
        """Kill a command that was asked to stop and did not."""
        if job.stopping is not None and time.time() > job.stopping + GRACE_SECONDS:
            _send(job, self.path(job), signal.SIGKILL)

    def cancel(self, job: JobRow) -> JobRow:
        """Ask a job to stop."""
        with self.lock:
            now = self.database.job(job.id) or job
            if now.state == "queued":
                return self.database.change(now, state="stopped", ended=time.time())
            if now.state == "running" and not self._still_runs(now):
                now = self._end(now)
            if now.state != "running":
                raise WrongState(f"the job is {now.state}; only a job that waits or runs can be stopped")
            if now.stopping is None:
                now = self.database.change(now, stopping=time.time())
            _send(now, self.path(now), signal.SIGINT)
            return now

    def result(self, job: JobRow) -> dict[str, Any] | None:
        """Return what the command printed, or None if it has printed nothing complete."""
        path = self.path(job) / RESULT_NAME
        try:
            if path.stat().st_size > RESULT_BYTES:
                return None
            found = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


def _locked(folder: Path) -> int | None:
    """Return a handle that locks the folder of a job; None if its child runs."""
    handle = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def _read_code(folder: Path) -> int | None:
    try:
        return int((folder / "exit_code").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _send(job: JobRow, folder: Path, number: signal.Signals) -> None:
    """Send a signal to the child of a job and all that it started."""
    pid = _pid_of(job, folder)
    if pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)


def _pid_of(job: JobRow, folder: Path) -> int | None:
    """Return the process of a child; it writes its number too, as the server can end before it has stored it."""
    if job.pid is not None:
        return job.pid
    try:
        return int((folder / "pid").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _stop_orphans(job: JobRow, folder: Path) -> None:
    """Stop the command of a child that was killed. A process group without its leader can only be the one that was ours."""
    pid = _pid_of(job, folder)
    if pid is None:
        return
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        _send(job, folder, signal.SIGINT)
    except PermissionError:
        return
