"""Disassociation, its check and the wheel: CPU seconds on real data, growth on generated data, and violations looked for elsewhere.

All warm, seconds of all threads together, of three runs the shortest. The ratio is that of a plain twin in Python (tests/oracle) on the
first 2,000 records. `violations` publishes every data set with every k and m and lets another process check the folder.
Run: python benchmarks/bench_disassociation.py [figures | settings | growth | violations ...]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import setveil as sv
from setveil.kernels.threads import using_threads
from setveil.methods.disassociation._horizontal import by_frequency
from setveil.methods.disassociation._vertical import assign_chunks

from measuring import data_folder, peak_mib

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracle import disassociation as twin

NAMES = ("bms-webview-1", "bms-webview-2", "retail", "bms-pos-100k", "t10i4d100k", "foodmart")
GROWTH = (10_000, 100_000, 300_000, 1_000_000)
RUNS = 3
SAMPLE = 2000


def seconds(work):
    """Return the least CPU seconds of some runs, and the last result."""
    took, result = [], None
    for _ in range(RUNS):
        started = time.process_time()
        result = work()
        took.append(time.process_time() - started)
    return min(took), result


def measured(data, k, m, delta):
    """Return CPU seconds of method, check and wheel, the outcome, and the re-associated records."""
    method = sv.Disassociation(k=k, m=m, delta=delta)
    made, outcome = seconds(lambda: method.apply(data, rng=None))
    checked, verdict = seconds(lambda: method.guarantee.check(outcome.published))
    if not verdict:
        sys.exit(f"the promise is not kept: {verdict}")
    wheel = sv.Reassociation().bind(outcome.published, linked=False, rng=None)
    spun, again = seconds(lambda: wheel.apply(outcome.published, rng=np.random.default_rng(1)))
    return (made, checked, spun), outcome, again.published.datasets[0]


def ratio(data, k, m, delta):
    """Return how many times as long the plain twin takes, on the first records."""
    part = data.take(np.arange(min(SAMPLE, data.records)))
    order = part.content_order()
    records = [tuple(part.items[part.offsets[r] : part.offsets[r + 1]].tolist()) for r in order]

    def ours():
        return assign_chunks(part, by_frequency(part, k, delta, safe=True, mode="recursive"), k, m)

    with using_threads(1):
        fast, _made = seconds(ours)
    started = time.process_time()
    for cluster in twin.horpart(records, k, delta, safe=True):
        twin.verpart([records[row] for row in cluster], k, m)
    return (time.process_time() - started) / fast


def line(name, k, m, delta, times, outcome, again, rest=""):
    account = outcome.account
    print(
        f"{name:<16}{k:>3}{m:>3}{delta:>5}" + "".join(f"{t:>9.3f}" for t in times) + f"{account['clusters']:>9,}"
        f"{account['record-chunks']:>9,}{account['occurrences-in-term-chunks']:>11,}{again.records:>10,}{rest}",
        flush=True,
    )


def head(rest=""):
    print(
        f"{'data':<16}{'k':>3}{'m':>3}{'delta':>5}{'method':>9}{'check':>9}{'wheel':>9}{'clusters':>9}{'chunks':>9}{'in terms':>11}"
        f"{'drawn':>10}{rest}"
    )


def figures():
    head(f"{'twin / it':>11}")
    for name in NAMES:
        data = sv.read(data_folder() / f"{name}.dat.gz")
        times = measured(data, 5, 2, 50)
        line(name, 5, 2, 50, *times, f"{ratio(data, 5, 2, 50):>11,.0f}")


def settings():
    head()
    data = sv.read(data_folder() / "bms-webview-1.dat.gz")
    for k in (2, 3, 4):
        for delta in (20, 40, 60):
            line("bms-webview-1", k, k, delta, *measured(data, k, k, delta))


def growth():
    head(f"{'peak MiB':>10}")
    for records in GROWTH:
        data = sv.read(f"sample:supermarket?records={records}").with_ids(None).without_empty()
        line(f"generated {records:,}"[:16], 5, 2, 50, *measured(data, 5, 2, 50), f"{peak_mib():>10,}")


def violations():
    broken = checked = 0
    for name in NAMES:
        data = sv.read(data_folder() / f"{name}.dat.gz")
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for k in (2, 3, 5, 10):
                for m in (1, 2, 3, 4):
                    release = sv.publish(data, sv.Disassociation(k=k, m=m), metrics=[], attacks="none")
                    release.save(Path(folder) / f"{k}-{m}")
                    made.append(f"{k}-{m}")
            program = (
                "import sys; from setveil.release.checking import *\n"
                "for name in sys.argv[1:]:\n"
                "    opened = open_release(name); print(check_release(opened, guarantee_of(opened, None)).status)"
            )
            ended = subprocess.run(
                [sys.executable, "-c", program, *made], cwd=folder, capture_output=True, text=True, check=True
            )
            statuses = ended.stdout.split()
        checked += len(statuses)
        broken += sum(status != "holds" for status in statuses)
        print(f"{name:<16}{len(statuses):>4} releases, {statuses.count('holds')} hold", flush=True)
    print(f"{checked} releases checked in other processes: {broken} do not hold")


if __name__ == "__main__":
    for part in sys.argv[1:] or ("figures", "settings", "growth", "violations"):
        globals()[part]()
