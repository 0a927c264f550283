"""What benchmarks share: the real data, timing, peak memory, printing."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path


def folder_named() -> Path:
    """Return where the real data sets would be, at hand or not."""
    return Path(os.environ.get("SETVEIL_DATA") or Path(__file__).parents[2] / "shared" / "data")


def data_folder() -> Path:
    folder = folder_named()
    if not folder.is_dir():
        sys.exit("the real data sets are not at hand: name their folder with SETVEIL_DATA")
    return folder


def timed(work, repeats=1):
    """Return the shortest of some runs in seconds, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        started = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - started)
    return best, result


def peak_mib() -> int:
    """Return the peak memory of this process. Not by getrusage where Linux tells: that counts what its parent held when it began."""
    status = Path("/proc/self/status")
    if status.is_file():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@dataclass
class Watched:
    """What was seen of a process from outside."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    anonymous_mib: int = 0
    resident_mib: int = 0
    by_step: dict[str, int] = field(default_factory=dict)
    """The peak of anonymous memory while each step was shown."""

    def largest_steps(self, number):
        """Return the steps with the largest peaks."""
        return sorted(self.by_step.items(), key=lambda one: -one[1])[:number]


@contextlib.contextmanager
def memory_group(limit_mb):
    """Make a control group of processes that may use this much memory, pages of files included; yield how to start a command in it.

    The system takes pages of files back where memory is needed, and kills a process that needs more for itself. Only root can make a group.
    """
    root = Path("/sys/fs/cgroup")
    old = root / "memory"
    folder = (old if old.is_dir() else root) / f"setveil-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / ("memory.limit_in_bytes" if old.is_dir() else "memory.max")).write_text(str(limit_mb * 10**6))
    except OSError as error:
        sys.exit(f"memory cannot be limited here ({error}); run as root, or without a limit")
    try:
        yield ["sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh"]
    finally:
        folder.rmdir()


def watched(command, folder):
    """Run a command of setveil with `--progress json`, and look at its memory every 20 ms; end this process if it failed."""
    seen, step, errors = Watched(), ["start"], []
    started, cpu_before = time.perf_counter(), cpu_of_children()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def listen():
        for line in process.stderr:
            errors.append(line)
            if line.startswith("{"):
                step[0] = json.loads(line).get("label") or step[0]

    listener = threading.Thread(target=listen)
    listener.start()
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        found = dict(re.findall(r"(RssAnon|VmHWM):\s+(\d+) kB", status.read_text() if status.exists() else ""))
        anonymous = int(found.get("RssAnon", 0)) // 1024
        seen.anonymous_mib = max(seen.anonymous_mib, anonymous)
        seen.resident_mib = max(seen.resident_mib, int(found.get("VmHWM", 0)) // 1024)
        seen.by_step[step[0]] = max(seen.by_step.get(step[0], 0), anonymous)
        time.sleep(0.02)
    listener.join()
    if process.returncode:
        sys.exit("".join(errors[-20:]))
    seen.seconds = time.perf_counter() - started
    seen.cpu_seconds = cpu_of_children() - cpu_before
    return seen


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
