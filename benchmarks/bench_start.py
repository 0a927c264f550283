"""How long a person waits for the program to start, beside what importing its heaviest library alone would take.

Also the CPU time of two small jobs, beside that of importing the libraries that they use, and the first and the second run of small jobs,
each with an empty cache of compiled loops. Run: python benchmarks/bench_start.py [--first-runs]
"""

from __future__ import annotations

import argparse
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
SAMPLE = "sample:supermarket?records=2000"
PAIRS = "itemsets.txt"
FIRST_RUNS = {
    "profile": f"profile {SAMPLE}",
    "mine": f"mine {SAMPLE} --min-support 1% --out sets.csv --force",
    "part-swap": f"publish {SAMPLE} --method part-swap --categories sample:supermarket",
    "exact-swap": f"publish {SAMPLE} --method exact-swap --itemsets {PAIRS} --min-support 1%",
    "disassociation": f"publish {SAMPLE} --method disassociation --k 3 --m 2",
    "insert": f"publish {SAMPLE} --method insert --sensitive sample:supermarket --rho 50%",
}
"""Small jobs whose first run is compared with the second: arguments of the program."""


def seconds(*command, repeats=5, **environment):
    def run():
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=os.environ | environment)

    return timed(run, repeats)[0]


def cpu_seconds(*command, folder=None, **environment):
    """Return the CPU seconds of a command; Python may keep its bytecode, as where the program is installed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True, capture_output=True, env=kept | environment, cwd=folder)
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


def first_runs():
    """Print the CPU time of small jobs on a machine that has compiled nothing, and once more."""
    print(f"{'2,000 baskets, CPU':<44}{'first run':>10}{'second':>8}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        chosen = f"mine {SAMPLE} --min-support 1% --length 2 --sample 5 --seed 1 --out {PAIRS}"
        cpu_seconds("-m", "setveil", *chosen.split(), folder=folder)
        for name, arguments in FIRST_RUNS.items():
            took = []
            for turn in ("first", "second"):
                place = ["--out", f"{name}-{turn}"] if arguments.startswith("publish") else []
                command = ["-m", "setveil", *arguments.split(), "--quiet", *place]
                took.append(cpu_seconds(*command, folder=folder, SETVEIL_CACHE_DIR=f"{folder}/cache-{name}"))
            first, second = took
            print(f"{name:<44}{first:>8.1f} s{second:>6.1f} s{first / second:>7.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first-runs", action="store_true", help="only these")
    if parser.parse_args().first_runs:
        first_runs()
        return
    numba = seconds("-c", "import numba")
    print(f"{'python -c pass':<44}{seconds('-c', 'pass'):>7.3f} s")
    print(f"{'import numba':<44}{numba:>7.3f} s")
    print(f"{'import setveil':<44}{seconds('-c', 'import setveil'):>7.3f} s")
    for arguments in ("--help", "publish --method part-swap --help", "methods"):
        took = seconds("-m", "setveil", *arguments.split())
        print(f"{'setveil ' + arguments:<44}{took:>7.3f} s  {took / numba:.2f} of importing numba")
    small_jobs()
    first_runs()


if __name__ == "__main__":
    main()
