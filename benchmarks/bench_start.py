"""How long a person waits for the program to start, beside what importing its heaviest library alone would take.

Also the first and the second run of a small job with an empty cache of compiled loops. Run: python benchmarks/bench_start.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from measuring import timed

PUBLISH = "publish sample:supermarket?records=2000 --method part-swap --categories sample:supermarket --quiet --out"


def seconds(*command, repeats=5, **environment):
    def run():
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=os.environ | environment)

    return timed(run, repeats)[0]


def main():
    numba = seconds("-c", "import numba")
    print(f"{'python -c pass':<44}{seconds('-c', 'pass'):>7.3f} s")
    print(f"{'import numba':<44}{numba:>7.3f} s")
    print(f"{'import setveil':<44}{seconds('-c', 'import setveil'):>7.3f} s")
    for arguments in ("--help", "publish --method part-swap --help", "methods"):
        took = seconds("-m", "setveil", *arguments.split())
        print(f"{'setveil ' + arguments:<44}{took:>7.3f} s  {took / numba:.2f} of importing numba")
    with tempfile.TemporaryDirectory() as folder:
        cache = {"SETVEIL_CACHE_DIR": f"{folder}/cache"}
        first = seconds("-m", "setveil", *PUBLISH.split(), f"{folder}/first", repeats=1, **cache)
        second = seconds("-m", "setveil", *PUBLISH.split(), f"{folder}/second", repeats=1, **cache)
    print(f"{'publish 2,000 baskets, first run on a machine':<44}{first:>6.1f} s")
    print(f"{'publish 2,000 baskets, second run':<44}{second:>7.1f} s  {first / second:.1f} times faster")


if __name__ == "__main__":
    main()
