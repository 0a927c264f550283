"""A whole job on data larger than memory: read, publish in blocks, check, quick measures; then check the release again.

Each run is a process of its own with its files on disk. Printed: minutes, CPU seconds, the peak of memory that the process holds for itself
(anonymous) and with the files that are mapped into it (resident; the system can drop these pages), and the steps with the largest peaks.
The exponent of a step from n to m records is log(t_m / t_n) / log(m / n) of CPU seconds. Goals for 10^7 records: 10 minutes, 3 GB, 1.15.
With `--limit MB`, each process may use only this much memory, mapped files included (as root on Linux).
Run: python benchmarks/bench_blocks.py [--records N ...] [--methods NAME ...] [--block-records B] [--folder FOLDER] [--options "..."]
"""

from __future__ import annotations

import argparse
import contextlib
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_end_to_end import METHODS, SAMPLE

from measuring import memory_group, watched

ORDER = ("part-swap", "disassociation", "exact-swap", "insert")


def setveil(*arguments):
    """Return a command."""
    return [sys.executable, "-m", "setveil", *arguments]


def row(name, records, what, seen, before):
    """Print the figures of a process, with the growth since a smaller size."""
    grew = ""
    if before is not None:
        size, seconds = before
        grew = f"{math.log(seen.cpu_seconds / seconds) / math.log(records / size):.2f}"
    steps = ", ".join(f"{step} {mib:,}" for step, mib in seen.largest_steps(3))
    memory = f"{seen.anonymous_mib:>8,}{seen.resident_mib:>8,}"
    times = f"{seen.seconds / 60:>7.1f}{seen.cpu_seconds:>8.0f}"
    print(f"{name:<15}{records:>11,} {what:<8}{times}{memory}{grew:>7}  {steps}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--methods", nargs="+", default=ORDER, choices=METHODS)
    parser.add_argument("--block-records", type=int)
    parser.add_argument("--options", default="--measure quick --attack none")
    parser.add_argument("--limit", type=int, help="the most memory of a process, in MB")
    parser.add_argument("--folder", type=Path, help="where the data are kept for the next run")
    given = parser.parse_args()
    limited = memory_group(given.limit) if given.limit else contextlib.nullcontext([])
    with limited as start, tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        itemsets = (
            f"mine {SAMPLE}?records=20000 --min-support 1% --length 2 --sample 20 --seed 1 --force --out itemsets.txt"
        )
        subprocess.run(setveil(*itemsets.split(), "--quiet"), cwd=folder, check=True, capture_output=True)
        print(f"{'':<35}{'min':>7}{'CPU s':>8}{'anon':>8}{'MiB':>8}{'growth':>7}  peaks by step, anonymous MiB")
        before = {}
        for records in sorted(given.records):
            data = folder / f"baskets-{records}.parquet"
            if not data.exists():
                subprocess.run(
                    setveil("convert", f"{SAMPLE}?records={records}", data.name, "--quiet"), cwd=folder, check=True
                )
            for name in given.methods:
                size = ["--block-records", str(given.block_records)] if given.block_records else []
                options = f"--method {name} {METHODS[name]} {given.options} --seed 7 --experiment --force --out release".split()
                for what, command in (
                    ("publish", setveil("publish", data.name, *options, *size)),
                    ("check", setveil("check", "release", "--original", data.name)),
                ):
                    seen = watched([*start, *command, "--progress", "json"], folder)
                    row(name, records, what, seen, before.get((name, what)))
                    before[name, what] = records, seen.cpu_seconds


if __name__ == "__main__":
    main()
