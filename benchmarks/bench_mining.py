"""How long mining takes beside pyfim and mlxtend, with both cores, from data in memory to arrays (ours) or lists (theirs).

Each way works in a process of its own: once to warm up, then the median of some runs; its peak memory is shown, with its libraries and the
data as it takes them. All must find the same number of itemsets, or this script fails. pyfim gets one empty record more, since it leaves
out itemsets that all records hold. Its two algorithms are both run, and the faster counts. Then: CPU seconds with one thread, beside
pyfim, runs of both taking turns in one process so that the ratio holds on a busy machine; what is refused and how soon, supports of
100,000 itemsets at once, and rules.

Data: SETVEIL_DATA, else ../shared/data beside the checkout. `--quick` leaves mlxtend out;
`--ratios` prints only the CPU seconds with one thread.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import statistics
import subprocess
import sys
import time
from math import ceil, exp, log

from measuring import data_folder, peak_mib, timed

CASES = [
    ("bms-webview-1", "0.06"),
    ("bms-webview-2", "0.05"),
    ("retail", "0.05"),
    ("retail", "0.01"),
    ("bms-pos-100k", "0.1"),
]
ONE_THREAD_CASES = [
    *CASES,
    ("foodmart", "0.05"),
    ("t10i4d100k", "0.5"),
    ("t10i4d100k", "0.05"),
    ("adult", "5"),
    ("adult", "1"),
    ("adult", "0.2"),
]
"""All shared data: sparse baskets, and the columns of Adult as items (attribute and value), which are dense."""
KINDS = {"all": "s", "closed": "c", "maximal": "m"}
"""Kinds of itemsets, and what pyfim calls them."""
WAYS = ("setveil", "setveil-1-thread", "fpgrowth", "eclat", "mlxtend")
RUNS = 7
QUERIES = 100_000


def records_of(name):
    if name == "adult":
        with gzip.open(data_folder() / "adult.csv.gz", "rt") as lines:
            head, *rows = csv.reader(lines)
        codes = {}
        return [[codes.setdefault(cell, len(codes)) for cell in zip(head, row, strict=True)] for row in rows]
    with gzip.open(data_folder() / f"{name}.dat.gz", "rt") as lines:
        return [[int(item) for item in line.split()] for line in lines]


def mined_by_us(name, min_count, kind, threads):
    from setveil import from_lists, mine, read  # noqa: PLC0415 - so that no other way's memory holds it

    if name == "adult":
        data = from_lists([[str(item) for item in record] for record in records_of(name)])
    else:
        data = read(str(data_folder() / f"{name}.dat.gz"))
    return lambda: len(mine(data, min_count, kind=kind, threads=threads))


def mined_by_pyfim(name, min_count, kind, algorithm):
    import fim  # noqa: PLC0415 - the same

    records = [*records_of(name), []]
    return lambda: len(getattr(fim, algorithm)(records, target=KINDS[kind], supp=-min_count, report="a"))


def mined_by_mlxtend(name, min_count):
    import pandas as pd  # noqa: PLC0415 - the same
    from mlxtend.frequent_patterns import fpgrowth  # noqa: PLC0415
    from mlxtend.preprocessing import TransactionEncoder  # noqa: PLC0415

    records = records_of(name)
    encoder = TransactionEncoder()
    table = pd.DataFrame.sparse.from_spmatrix(encoder.fit(records).transform(records, sparse=True))
    share = (min_count - 0.5) / len(records)  # the same threshold, whichever way it is rounded
    return lambda: len(fpgrowth(table, min_support=share))


def one(way, name, min_count, kind):
    """Time one way in this process, and print what came out."""
    if way.startswith("setveil"):
        work = mined_by_us(name, min_count, kind, 1 if way.endswith("1-thread") else None)
    elif way == "mlxtend":
        work = mined_by_mlxtend(name, min_count)
    else:
        work = mined_by_pyfim(name, min_count, kind, way)
    if way == "mlxtend":
        seconds, found = timed(work)  # it compiles nothing, and is too slow to be run often
        times = [seconds]
    else:
        found = work()
        times = [timed(work)[0] for _ in range(RUNS)]
    print(json.dumps({"found": found, "seconds": statistics.median(times), "least": min(times), "peak": peak_mib()}))


def in_a_process(*arguments):
    ended = subprocess.run([sys.executable, __file__, "--one", *arguments], capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


def compare(kind, ways):
    """Print one table, and return how many times longer we take than the faster algorithm of pyfim, and mlxtend than us."""
    print(f"\n{kind} itemsets: median seconds (peak MiB)")
    print(
        f"{'data':<24}{'itemsets':>9}"
        + "".join(f"{way:>18}" for way in ways)
        + f"{'ours/pyfim':>12}{'mlxtend/ours':>14}"
    )
    ratios, gains = [], []
    for name, share in CASES:
        min_count = ceil(float(share) / 100 * len(records_of(name)) - 1e-9)
        got = {way: in_a_process(way, name, str(min_count), kind) for way in ways}
        if len({figures["found"] for figures in got.values()}) != 1:
            sys.exit(f"{name}: the ways do not agree: {got}")
        ratio = got["setveil"]["seconds"] / min(got[way]["seconds"] for way in ("fpgrowth", "eclat"))
        ratios.append(ratio)
        gain = ""
        if "mlxtend" in got:
            gains.append(got["mlxtend"]["seconds"] / got["setveil"]["seconds"])
            gain = f"{gains[-1]:.0f}x"
        cells = "".join(f"{got[way]['seconds']:>11.3f} ({got[way]['peak']:>4})" for way in ways)
        print(
            f"{name + ' ' + share + ' %':<24}{got['setveil']['found']:>9,}{cells}{ratio:>12.2f}{gain:>14}", flush=True
        )
    mean = exp(statistics.mean(log(ratio) for ratio in ratios))
    print(f"ours/pyfim: geometric mean {mean:.2f}, worst {max(ratios):.2f}", end="")
    print(f"; mlxtend/ours: least {min(gains):.0f}" if gains else "")


def compare_cpu(kind):
    """Print the CPU seconds with one thread, the least of some runs that take turns, and how many times longer we take than pyfim."""
    print(f"\n{kind} itemsets, one thread: least CPU seconds of {RUNS} runs")
    print(f"{'data':<24}{'itemsets':>9}{'setveil':>10}{'fpgrowth':>10}{'eclat':>10}{'ours/pyfim':>12}")
    for name, share in ONE_THREAD_CASES:
        min_count = ceil(float(share) / 100 * len(records_of(name)) - 1e-9)
        works = [mined_by_us(name, min_count, kind, 1)]
        works += [mined_by_pyfim(name, min_count, kind, algorithm) for algorithm in ("fpgrowth", "eclat")]
        found = {work() for work in works}
        if len(found) != 1:
            sys.exit(f"{name}: the ways do not agree: {found}")
        least = [float("inf")] * len(works)
        for _ in range(RUNS):
            for way, work in enumerate(works):
                began = time.process_time()
                work()
                least[way] = min(least[way], time.process_time() - began)
        cells = "".join(f"{seconds:>10.4f}" for seconds in least)
        print(f"{name + ' ' + share + ' %':<24}{found.pop():>9,}{cells}{least[0] / min(least[1:]):>12.2f}", flush=True)


def ours_alone():
    """Print what has no peer: refusals, supports in bulk, rules."""
    import numpy as np  # noqa: PLC0415 - as above

    from setveil import TooManyItemsets, association_rules, mine, read, supports  # noqa: PLC0415
    from setveil.mining.frequent import count  # noqa: PLC0415

    data = read(str(data_folder() / "bms-webview-1.dat.gz"))
    for kind in ("all", "closed", "maximal"):
        mine(data, "1%", kind=kind)
        count(data, "1%", kind=kind)

    def refused():
        try:
            mine(data, "0.05%")
        except TooManyItemsets as error:
            return error.found
        return None

    print("\nBMS-1 at 0.05 %: ", end="")
    seconds, found = timed(refused)
    print(f"refused after {seconds:.2f} s: {found:,} itemsets", end="")
    for kind in ("closed", "maximal"):
        seconds, found = timed(lambda kind=kind: len(mine(data, "0.05%", kind=kind)))
        print(f"; {found:,} {kind} in {seconds:.2f} s", end="")
    retail = read(str(data_folder() / "retail.dat.gz"))
    mined = mine(retail, "0.01%")
    rng = np.random.default_rng(0)
    asked = mined.take(rng.choice(len(mined), QUERIES // 2, replace=False)).to_lists()
    rows = rng.integers(0, retail.records, QUERIES - len(asked))
    for row in rows:
        record = retail.record(int(row))
        asked.append(
            [record[i] for i in rng.choice(len(record), min(len(record), int(rng.integers(1, 6))), replace=False)]
        )
    supports(retail, asked[:100])
    seconds, found = timed(lambda: supports(retail, asked), repeats=3)
    one_by_one = {item: set() for item in retail.vocabulary}
    for number, record in enumerate(retail.to_lists()):
        for item in record:
            one_by_one[item].add(number)
    simple_seconds, simple = timed(lambda: [len(set.intersection(*(one_by_one[item] for item in s))) for s in asked])
    if found.tolist() != simple:
        sys.exit("supports differ from the sets' intersections")
    print(
        f"\n{QUERIES:,} supports over retail, given as labels: {seconds:.2f} s; by intersecting Python sets {simple_seconds:.1f} s"
    )
    association_rules(mined, "50%")
    seconds, rules = timed(lambda: association_rules(mined, "50%"), repeats=3)
    print(
        f"{len(rules):,} rules of confidence 50 % from {len(mined):,} itemsets: {seconds:.3f} s; peak {peak_mib()} MiB"
    )


def main():
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ratios", action="store_true")
    parser.add_argument("--one", nargs=4, metavar=("WAY", "DATA", "COUNT", "KIND"))
    given = parser.parse_args()
    if given.one:
        way, name, min_count, kind = given.one
        one(way, name, int(min_count), kind)
        return
    if not given.ratios:
        compare("all", WAYS[:4] if given.quick else WAYS)
        compare("closed", WAYS[:4])
        compare("maximal", WAYS[:4])
    for kind in KINDS:
        compare_cpu(kind)
    if not given.ratios:
        ours_alone()


if __name__ == "__main__":
    main()
