"""How methods and checks grow with the number of records: CPU seconds, exponents between sizes, and peak memory.

Each size runs in its own process, on the supermarket sample, and twice: some loops are reached by large data only, and would be compiled
in the first run, inside the measured time and memory. The exponent of a step from n to m records is log(t_m / t_n) / log(m / n):
1 is linear. All records are one block: `bench_blocks.py` shows how blocks grow. Memory is that of the whole process beside 80 bytes per
occurrence plus 300 MB, in MiB. Run:
python benchmarks/bench_growth.py [--records N ...] [--methods NAME ...]
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time

import setveil as sv

from measuring import peak_mib

SAMPLE = "sample:supermarket"
BYTES_PER_OCCURRENCE, FIXED_MB = 80, 300


def itemsets_of(data):
    """Return 20 frequent pairs, spread over their supports."""
    pairs = sv.mine(data, "1%", min_length=2, max_length=2).ordered().to_lists()
    return pairs[:: max(len(pairs) // 20, 1)][:20]


METHODS = {
    "part-swap": lambda _data: sv.PartSwap(categories=sv.read_categories(SAMPLE)),
    "exact-swap": lambda data: sv.ExactSwap(itemsets=itemsets_of(data), min_support="1%"),
    "disassociation": lambda _data: sv.Disassociation(k=3, m=2),
    "insert": lambda data: sv.Insert(sensitive=sv.read_sensitive(SAMPLE, data), rho="50%"),
}


def timed_calls(kind, name):
    """Let a function of a class add its CPU seconds to a list."""
    real, took = getattr(kind, name), []

    def call(self, *given, **more):
        started = time.process_time()
        try:
            return real(self, *given, **more)
        finally:
            took.append(time.process_time() - started)

    setattr(kind, name, call)
    return took


def grown(name, records):
    """Publish without metrics, after a small run that loads everything, and print the figures as JSON."""
    small = sv.read(f"{SAMPLE}?records=2000")
    sv.publish(small, METHODS[name](small), seed=7, experiment=True, metrics=[], attacks="none")
    data = sv.read(f"{SAMPLE}?records={records}")
    method = METHODS[name](data)
    applied = timed_calls(type(method), "apply")
    checked = timed_calls(type(method.guarantee), "check")
    sv.publish(data, method, seed=7, experiment=True, metrics=[], attacks="none", block_records=records)
    limit = (BYTES_PER_OCCURRENCE * len(data.items) + FIXED_MB * 10**6) / 2**20
    print(json.dumps({"apply": applied[0], "check": checked[0], "MiB": peak_mib(), "limit": limit}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000, 3_000_000])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--one", nargs=2)
    given = parser.parse_args()
    if given.one:
        grown(given.one[0], int(given.one[1]))
        return
    print(
        f"{'method':<16}{'records':>11}{'method':>9}{'exponent':>10}{'check':>9}{'exponent':>10}{'MiB':>8}{'limit':>8}"
    )
    for name in given.methods:
        before = None
        for records in given.records:
            command = [sys.executable, __file__, "--one", name, str(records)]
            for _first_compiles in range(2):
                row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            cells = []
            for part in ("apply", "check"):
                step = math.log(records / before["records"]) if before else 0
                exponent = f"{math.log(row[part] / before[part]) / step:.2f}" if before else ""
                cells.append(f"{row[part]:>9.2f}{exponent:>10}")
            print(f"{name:<16}{records:>11,}{''.join(cells)}{row['MiB']:>8,}{row['limit']:>8,.0f}", flush=True)
            before = row | {"records": records}


if __name__ == "__main__":
    main()
