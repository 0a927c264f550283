"""The process that runs trials for a comparison: `python -m setveil.comparison.worker`, started by `trial_processes`.

It reads a comparison and then one trial per line from its input, and writes one result per line. It uses one thread, so that processor
times can be compared and results do not depend on their order. It ends when its input ends, even in the middle of a trial.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import traceback
from typing import TYPE_CHECKING, Any

from setveil.comparison.grid import Grid
from setveil.comparison.trials import Bench, key_of, run_trial
from setveil.errors import InputError
from setveil.kernels.threads import using_threads

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions
    from setveil.methods.base import Method


class Worker:
    """Runs trials of one comparison; what several of them need is made once."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.grid = Grid.from_described(asked["grid"])
        self.data: Transactions = self.grid.read_data()
        self.is_same = self.data.checksum() == asked["checksum"]
        self.asked = self.grid.asked(self.data)
        self.keys: list[str] = asked["keys"]
        self._benches: dict[int, Bench] = {}
        self._methods: dict[int, Method] = {}

    def run(self, number: int, seed: int, records: int) -> dict[str, Any]:
        """Run one trial of the set-up with this number."""
        if not self.is_same:
            return {"refused": "the data changed while they were compared; run the comparison again"}
        if records not in self._benches:
            held_out = self.grid.content["held_out"]
            self._benches[records] = Bench.of(self.data, held_out=held_out, records=records)
        if number not in self._methods:
            method = self.grid.set_ups[number].made(self.data)
            if key_of(method) != self.keys[number]:
                return {
                    "refused": f"a file that {method.name} reads changed while it was compared; run the comparison again"
                }
            self._methods[number] = method
        return run_trial(self._benches[records], self._methods[number], seed, self.asked).to_dict()


def main() -> None:
    """Answer each line of the input with a line of output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one stops it
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed is no answer
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    worker: Worker | None = None
    with using_threads(1):
        while True:
            asked = json.loads(lines.get())
            try:
                if worker is None:
                    worker = Worker(asked)
                    continue
                answer = worker.run(**asked)
            except InputError as error:
                answer = {"refused": str(error)}
            except Exception:  # noqa: BLE001 - reported by the process that waits
                answer = {"failed": traceback.format_exc()}
            out.write(json.dumps(answer) + "\n")
            out.flush()


def _read(lines: queue.SimpleQueue[str]) -> None:
    """Queue the lines of the input; when it ends, nobody waits for this process any more."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
