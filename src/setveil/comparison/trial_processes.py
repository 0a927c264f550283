"""Run trials in several processes with one thread each, and give back each result as soon as it is there."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROGRAM = (sys.executable, "-P", "-m", "setveil.comparison.worker")
POLL_SECONDS = 0.1
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ENDED = "the process of the trial ended ({}), probably because the memory was used up; give it more memory, or remove the set-up"


class Task(NamedTuple):
    """A trial to run: the number of the set-up in the grid, the seed, and the number of records."""

    number: int
    seed: int
    records: int


class _Process:
    """A process that runs one trial at a time."""

    def __init__(self, asked: dict[str, Any], answers: queue.SimpleQueue[tuple[_Process, dict[str, Any]]]) -> None:
        self.task: Task | None = None
        self.since = 0.0
        self._process = subprocess.Popen(  # noqa: S603 - this same program, with fixed arguments
            PROGRAM,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD},
            text=True,
            encoding="utf-8",
        )
        threading.Thread(target=self._read, args=(answers,), daemon=True).start()
        self._write(asked)

    def ask(self, task: Task) -> None:
        """Begin a trial."""
        self.task, self.since = task, time.monotonic()
        self._write(task._asdict())

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def _write(self, asked: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended, which its output shows
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()

    def _read(self, answers: queue.SimpleQueue[tuple[_Process, dict[str, Any]]]) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                answers.put((self, json.loads(line)))
        answers.put((self, {"ended": ENDED.format(f"exit code {self._process.wait()}")}))


class TrialProcesses:
    """Processes that run trials of one comparison."""

    def __init__(self, asked: dict[str, Any], number: int) -> None:
        self._asked = asked
        self._number = number
        self._answers: queue.SimpleQueue[tuple[_Process, dict[str, Any]]] = queue.SimpleQueue()
        self._processes: list[_Process] = []

    def run(self, tasks: Iterable[Task], *, until: float | None = None) -> Iterator[tuple[Task, dict[str, Any], float]]:
        """Yield each task with its result and its duration, in the order in which they end.

        Tasks begin in their order. After the time `until`, none begins, and those that run are stopped.
        """
        left = list(reversed(list(tasks)))
        while (left or self._busy) and (until is None or time.monotonic() < until):
            while left and len(self._busy) < self._number:
                self._free().ask(left.pop())
            try:
                process, answer = self._answers.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            task, process.task = process.task, None
            if "ended" in answer:
                if process in self._processes:
                    self._processes.remove(process)
                process.end()
            _refuse_failure(answer)
            if task is not None:
                yield task, answer, time.monotonic() - process.since
        for process in self._busy:
            process.end()
            self._processes.remove(process)

    @property
    def _busy(self) -> list[_Process]:
        return [one for one in self._processes if one.task is not None]

    def _free(self) -> _Process:
        for one in self._processes:
            if one.task is None:
                return one
        self._processes.append(_Process(self._asked, self._answers))
        return self._processes[-1]

    def end(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.end()


def _refuse_failure(answer: dict[str, Any]) -> None:
    if "refused" in answer and "status" not in answer:
        raise BadData(answer["refused"])
    if "failed" in answer:
        raise RuntimeError(f"a trial failed:\n{answer['failed']}")


@contextmanager
def trial_processes(asked: dict[str, Any], number: int) -> Iterator[TrialProcesses]:
    """Yield processes for the trials of a comparison; they are ended after the block."""
    processes = TrialProcesses(asked, number)
    try:
        yield processes
    finally:
        processes.end()
