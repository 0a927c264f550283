"""How long `profile` takes to find the records unique by 1, 2 and 3 known items, beside the simple way.

The simple way counts every pair or triple of items in a Counter, then looks through each record for one that was
counted once. Both must give the same numbers, or this script fails. Pairs are compared on the whole data, triples on
the first 5,000 records: a Counter of all triples would hold tens of millions. Times are the best of three: of whole
`profile` calls for ours, after one that compiles. Each way runs in a process of its own, its peak memory shown, with
the libraries loaded (some 150 MB for ours) and the data as read.

Data: SETVEIL_DATA, else ../shared/data beside the checkout.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

DATA = Path(os.environ.get("SETVEIL_DATA", Path(__file__).parents[2] / "shared" / "data"))
NAMES = {
    "BMS-1": "bms-webview-1.dat.gz",
    "BMS-2": "bms-webview-2.dat.gz",
    "retail": "retail.dat.gz",
    "POS-100k": "bms-pos-100k.dat.gz",
}
FIRST = 5_000
REPEATS = 3


def read(name, first):
    with gzip.open(DATA / NAMES[name], "rt") as lines:
        return [line.split() for line in lines][:first]


def count_the_simple_way(records, known):
    """Return for each m up to `known` how many records hold a set of at most m items that occurs once."""
    unique = set()
    result = []
    for size in range(1, known + 1):
        supports = Counter(itemset for record in records for itemset in combinations(record, size))
        for number, record in enumerate(records):
            if any(supports[itemset] == 1 for itemset in combinations(record, size)):
                unique.add(number)
        result.append(len(unique))
    return result


def best_of(work):
    """Return what the work gives, and the time of the fastest of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return result, min(times)


def measure(name, first, known, threads):
    """Time one way in this process; 0 threads stand for the simple one."""
    records = read(name, first)
    if threads == 0:
        found, seconds = best_of(lambda: count_the_simple_way(records, known))
    else:
        # imported here, so that the simple way's memory holds none of it
        from setveil.data.records.transactions import Transactions  # noqa: PLC0415
        from setveil.profiling import profile  # noqa: PLC0415

        data = Transactions.from_lists(records)
        profile(data, known=known, threads=threads)  # compiles
        result, seconds = best_of(lambda: profile(data, known=known, threads=threads))
        found = [level.records for level in result.unique]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"found": found, "seconds": seconds, "peak_mb": peak}


def measured_apart(name, first, known, threads):
    argument = json.dumps([name, first, known, threads])
    answer = subprocess.run([sys.executable, __file__, argument], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def compare(name, first, known):
    simple, one, two = (measured_apart(name, first, known, threads) for threads in (0, 1, 2))
    if not simple["found"] == one["found"] == two["found"]:
        sys.exit(f"{name}: the ways disagree: {simple['found']}, {one['found']}, {two['found']}")
    records = "all" if first is None else f"first {first:,}"
    ratios = [f"{simple['seconds'] / way['seconds']:,.0f}x" for way in (one, two)]
    cells = [f"{way['seconds']:.3f} s {way['peak_mb']:,.0f} MB" for way in (simple, one, two)]
    ours = f"{cells[1]:>16} {ratios[0]:>6}  {cells[2]:>16} {ratios[1]:>6}"
    print(f"{name:9} {records:11} {known:>2}  {cells[0]:>18}  {ours}")


def main():
    missing = [file for file in NAMES.values() if not (DATA / file).exists()]
    if missing:
        sys.exit(f"{DATA} lacks {', '.join(missing)}; name the folder with SETVEIL_DATA")
    print("unique by 1, 2 and 3 known items, all records")
    for name in NAMES:
        one, two = (measured_apart(name, None, 3, threads) for threads in (1, 2))
        if one["found"] != two["found"]:
            sys.exit(f"{name}: the result depends on threads: {one['found']}, {two['found']}")
        shown = "  ".join(f"{count:>7,}" for count in one["found"])
        times = f"1 thread {one['seconds']:.3f} s, 2 threads {two['seconds']:.3f} s"
        print(f"{name:9} {shown}   {times} ({one['seconds'] / two['seconds']:.2f}x), peak {two['peak_mb']:,.0f} MB")
    print("\nbeside the simple way: time and peak memory, and how many times faster")
    print("data      records     up to       simple way          1 thread                2 threads")
    for name in NAMES:
        compare(name, None, 2)
        compare(name, FIRST, 3)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(*json.loads(sys.argv[1]))))
    else:
        main()
