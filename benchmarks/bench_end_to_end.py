"""A whole job from the command line: read a file, publish, check, write the report, then check the release folder again.

Each run is a process of its own, in CPU seconds of all threads. Goals: `--measure quick` adds at most the time of the method, and so does
`--attack quick`; `--measure full` takes at most 1.5 times `--measure none`.
Run: python benchmarks/bench_end_to_end.py [--records N] [--methods NAME ...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from setveil.catalog import METHODS as REGISTERED
from setveil.cli.main import run

SAMPLE = "sample:supermarket"
METHODS = {
    "part-swap": f"--categories {SAMPLE}",
    "disassociation": "--k 3 --m 2",
    "exact-swap": "--itemsets itemsets.txt --min-support 1%",
    "insert": f"--sensitive {SAMPLE} --rho 50%",
}
LEVELS = {
    "none": "--measure none --attack none",
    "quick": "--measure quick --attack none",
    "full": "--measure full --attack none",
    "attacks": "--measure quick --attack quick",
}


def program(arguments):
    """Run a command in this process and end it if the command failed."""
    if code := run(arguments):
        sys.exit(code)


def published(name, level):
    """Publish in this process and print the CPU seconds of the method and of the whole process as JSON."""
    kind, applied = REGISTERED[name], []
    real = kind.apply

    def apply(self, *given, **more):
        started = time.process_time()
        outcome = real(self, *given, **more)
        applied.append(time.process_time() - started)
        return outcome

    kind.apply = apply
    options = f"{METHODS[name]} {LEVELS[level]} --seed 7 --experiment --quiet --force --out release"
    program(f"publish baskets.parquet --method {name} {options}".split())
    print(json.dumps({"method": applied[0], "all": time.process_time()}))


def checked():
    """Check the release folder in this process and print the CPU seconds as JSON."""
    program(["check", "release", "--original", "baskets.parquet", "--quiet"])
    print(json.dumps({"all": time.process_time()}))


def figures_of(folder, *arguments):
    """Run this script in another process and return what it printed last."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(ended.stderr)
    return json.loads(ended.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--publish", nargs=2)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.publish:
        published(*given.publish)
        return
    if given.check:
        checked()
        return
    with tempfile.TemporaryDirectory() as folder:
        started = ["-m", "setveil"]
        for arguments in (
            ["convert", f"{SAMPLE}?records={given.records}", "baskets.parquet"],
            f"mine {SAMPLE}?records=20000 --min-support 1% --length 2 --sample 20 --seed 1 --out itemsets.txt".split(),
        ):
            subprocess.run(
                [sys.executable, *started, *arguments, "--quiet"], cwd=folder, check=True, capture_output=True
            )
        print(
            f"{'CPU s':<16}{'method':>8}{'none':>8}{'quick':>8}{'full':>8}{'attacks':>8}{'check':>8}"
            f"{'(quick - none) / method':>25}{'(attacks - quick) / method':>28}{'full / none':>13}"
        )
        for name in given.methods:
            found = {level: figures_of(folder, "--publish", name, level) for level in LEVELS}
            check = figures_of(folder, "--check")["all"]
            method = min(figures["method"] for figures in found.values())
            none, quick, full, attacks = (found[level]["all"] for level in LEVELS)
            cells = "".join(f"{seconds:>8.1f}" for seconds in (method, none, quick, full, attacks, check))
            added = f"{(quick - none) / method:>25.2f}{(attacks - quick) / method:>28.2f}"
            print(f"{name:<16}{cells}{added}{full / none:>13.2f}", flush=True)


if __name__ == "__main__":
    main()
