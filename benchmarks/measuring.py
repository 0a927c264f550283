"""What benchmarks share: the real data, timing, peak memory, printing."""

from __future__ import annotations

import os
import re
import resource
import sys
import time
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
