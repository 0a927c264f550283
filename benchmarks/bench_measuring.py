"""Measuring a release beside making it: CPU seconds of the method, of a publish without metrics, and of all metrics.

Each release is made and measured in its own process. The last column is the goal: all metrics take at most half of a publish without
metrics. Run: python benchmarks/bench_measuring.py [--records N ...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import setveil as sv
from setveil.release.measuring import all_metrics, measure_all

from measuring import peak_mib

METHODS = {
    "part-swap": lambda: sv.PartSwap(categories=sv.read_categories("sample:supermarket")),
    "disassociation": lambda: sv.Disassociation(k=3, m=2),
    "insert": lambda: sv.Insert(sensitive=sv.read_sensitive("sample:supermarket"), rho="50%"),
}


def cpu_of(work):
    """Return the CPU seconds that the work takes, in all threads, and its result."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def made(name, records):
    """Publish and measure once small, so that everything is compiled and imported, then at full size; print the figures as JSON."""
    sv.publish(sv.read("sample:supermarket?records=2000"), METHODS[name](), seed=7, experiment=True)
    data, method = sv.read(f"sample:supermarket?records={records}"), METHODS[name]()
    applied = []
    real = type(method).apply

    def apply(self, *given, **more):
        seconds, outcome = cpu_of(lambda: real(self, *given, **more))
        applied.append(seconds)
        return outcome

    type(method).apply = apply
    publish, release = cpu_of(lambda: sv.publish(data, method, seed=7, experiment=True, metrics=[], attacks="none"))
    known = {name: getattr(release.method, name) for name in type(release.method).model_fields}
    metrics, _lacking = all_metrics(known, type(release.data))
    measuring, found = cpu_of(lambda: measure_all(data, release.data, release.alignment, metrics))
    before, _verdict = cpu_of(lambda: release.method.guarantee.before(data))
    figures = {"method": applied[0], "publish": publish, "measuring": measuring, "before": before}
    print(json.dumps(figures | {"figures": len(found), "MiB": peak_mib()}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--one", nargs=2)
    given = parser.parse_args()
    if given.one:
        made(given.one[0], int(given.one[1]))
        return
    head = ("method", "publish", "measuring", "before", "figures", "MiB")
    print(f"{'CPU s':<28}" + "".join(f"{name:>11}" for name in head) + f"{'measuring / publish':>21}")
    for records in given.records:
        for name in METHODS:
            command = [sys.executable, __file__, "--one", name, str(records)]
            row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            cells = "".join(
                f"{row[one]:>11,.2f}" if isinstance(row[one], float) else f"{row[one]:>11,}" for one in head
            )
            print(f"{name + f', {records:,}':<28}{cells}{row['measuring'] / row['publish']:>21.2f}", flush=True)


if __name__ == "__main__":
    main()
