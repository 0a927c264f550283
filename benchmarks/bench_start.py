"""How long a person waits for the program to start, beside what importing its heaviest library alone would take.

Also the CPU time of two small jobs, beside that of importing the libraries that they use, and the first and the second run of a small
job with an empty cache of compiled loops. Run: python benchmarks/bench_start.py
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from statistics import median

from measuring import folder_named, timed

LIBRARIES = ("-c", "import numpy, pyarrow, numba, pydantic")
ROUNDS = 5
SMALL = "publish sample:supermarket?records=5000 --method part-swap --categories sample:supermarket --quiet --out"
PUBLISH = "publish sample:supermarket?records=2000 --method part-swap --categories sample:supermarket --quiet --out"


def seconds(*command, repeats=5, **environment):
    def run():
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=os.environ | environment)

    return timed(run, repeats)[0]


def cpu_seconds(*command):
    """Return the CPU seconds of a command; Python may keep its bytecode, as where the program is installed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True, capture_output=True, env=kept)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def small_jobs():
    """Print the CPU time of small jobs as multiples of importing their libraries: medians of turns, so that load hits all alike."""
    jobs = {"publish 5,000 baskets": (3, SMALL.split())}
    real = folder_named() / "bms-webview-2.dat.gz"
    if real.is_file():
        jobs["profile BMS-WebView-2"] = (2, ["profile", str(real), "--quiet"])
    took = {name: [] for name in (LIBRARIES, *jobs)}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(ROUNDS + 1):
            took[LIBRARIES].append(cpu_seconds(*LIBRARIES))
            for name, (_goal, arguments) in jobs.items():
                place = [f"{folder}/{turn}"] if arguments[-1] == "--out" else []
                took[name].append(cpu_seconds("-m", "setveil", *arguments, *place))
    middle = {name: median(seconds[1:]) for name, seconds in took.items()}  # the first turn may compile
    imports = middle.pop(LIBRARIES)
    print(f"{'import numpy, pyarrow, numba, pydantic, CPU':<44}{imports:>7.3f} s")
    for name, cpu in middle.items():
        print(f"{name + ', CPU':<44}{cpu:>7.3f} s  {cpu / imports:.1f} of importing (goal: at most {jobs[name][0]})")


def main():
    numba = seconds("-c", "import numba")
    print(f"{'python -c pass':<44}{seconds('-c', 'pass'):>7.3f} s")
    print(f"{'import numba':<44}{numba:>7.3f} s")
    print(f"{'import setveil':<44}{seconds('-c', 'import setveil'):>7.3f} s")
    for arguments in ("--help", "publish --method part-swap --help", "methods"):
        took = seconds("-m", "setveil", *arguments.split())
        print(f"{'setveil ' + arguments:<44}{took:>7.3f} s  {took / numba:.2f} of importing numba")
    small_jobs()
    with tempfile.TemporaryDirectory() as folder:
        cache = {"SETVEIL_CACHE_DIR": f"{folder}/cache"}
        first = seconds("-m", "setveil", *PUBLISH.split(), f"{folder}/first", repeats=1, **cache)
        second = seconds("-m", "setveil", *PUBLISH.split(), f"{folder}/second", repeats=1, **cache)
    print(f"{'publish 2,000 baskets, first run on a machine':<44}{first:>6.1f} s")
    print(f"{'publish 2,000 baskets, second run':<44}{second:>7.1f} s  {first / second:.1f} times faster")


if __name__ == "__main__":
    main()
