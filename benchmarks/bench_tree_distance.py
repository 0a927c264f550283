"""How long the tree edit distance takes beside a plain compiled table over all cells, and how much memory.

The plain table is honest work: compiled by the same compiler, two rows of memory, distinct records compared once (the gains of a row are
kept while equal rows follow), Levenshtein by the usual table. Both must find the same distance, or this script fails. The data are
compared with a neighbour, disassociated with k = m = 2 and delta = 20 and put together again. CPU seconds, warm; the machine may be busy.

Data: SETVEIL_DATA, else ../shared/data beside the checkout. `--quick` leaves out all but BMS-WebView-1; `--refusals` shows what the default
budget of the metric gives on larger data.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import numba
import numpy as np

from setveil import Disassociation, read
from setveil.methods.disassociation.reassociation import spin
from setveil.metrics.distance import TreeEditDistance
from setveil.mining.tree_distance import bounded_tree_distance, sides

from measuring import data_folder, peak_mib

RUNS = 3
OTHERS = ("bms-webview-2", "retail", "bms-pos-100k")


def neighbour(data, seed=0):
    """Return a data set that was taken apart and put together again."""
    apart = Disassociation(k=2, m=2, delta=20).apply(data, rng=None).published
    return spin(apart, np.random.default_rng(seed))[0]


@numba.njit(nogil=True)
def levenshtein(a, b, row):
    for j in range(len(b) + 1):
        row[j] = j
    for i in range(len(a)):
        corner = row[0]
        row[0] = i + 1
        for j in range(len(b)):
            above = row[j + 1]
            row[j + 1] = min(above + 1, row[j] + 1, corner + (a[i] != b[j]))
            corner = above
    return row[len(b)]


@numba.njit(nogil=True)
def plain_table(offsets, items, numbers, other_offsets, other_items, other_numbers, longest, compare):
    """Return the heaviest matching: every cell, one after the other. Without comparing, which is wrong, the time is that of the cells."""
    contents = len(other_offsets) - 1
    of_content = np.zeros(contents, np.int32)
    gains = np.zeros(len(other_numbers), np.int32)
    values = np.zeros(len(other_numbers) + 1, np.int32)
    room = np.zeros(longest + 1, np.int64)
    last = -1
    for i in range(len(numbers)):
        if numbers[i] != last:
            last = numbers[i]
            a = items[offsets[last] : offsets[last + 1]]
            for k in range(contents if compare else 0):
                b = other_items[other_offsets[k] : other_offsets[k + 1]]
                of_content[k] = len(a) + len(b) - levenshtein(a, b, room)
            for j in range(len(other_numbers)):
                gains[j] = of_content[other_numbers[j]]
        corner = values[0]
        left = values[0]
        for j in range(len(other_numbers)):
            above = values[j + 1]
            left = max(left, above, corner + gains[j])
            values[j + 1] = left
            corner = above
    return values[-1]


def plain_distance(data, other, *, compare=True):
    """Return the distance by the plain table; the rows are the side of which fewer distinct records meet the other, as in ours."""
    both = sides(data, other, None)
    rows, columns = sorted(both, key=lambda side: side.contents / side.records)
    longest = max(side.longest for side in both)
    arrays = rows.offsets, rows.items, rows.numbers, columns.offsets, columns.items, columns.numbers
    return sum(side.nodes for side in both) - int(plain_table(*arrays, longest, compare))


def cpu(work, runs):
    """Return the least CPU time of some runs, and the result."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        result = work()
        times.append(time.process_time() - started)
    return min(times), result


def read_pair(name):
    data = read(str(data_folder() / f"{name}.dat.gz"))
    return data, neighbour(data)


def one(name, *, with_plain):
    """Measure one data set against its neighbour."""
    data, other = read_pair(name)
    few = np.arange(3000)
    for prune in (False, True):
        bounded_tree_distance(data.take(few), other.take(few), prune=prune)
    plain_distance(data.take(few[:50]), other.take(few[:50]))
    before = peak_mib()
    runs = RUNS if with_plain else 1
    pruned_seconds, pruned = cpu(lambda: bounded_tree_distance(data, other, prune=True), runs)
    extra = peak_mib() - before
    print(f"{name}: {data.records:,} x {other.records:,} records, distance {pruned.value:,}, {pruned.steps:,} steps")
    print(f"  ours, pruned {pruned_seconds:.2f} s CPU, {extra} MiB beside the data", flush=True)
    mild = data.keeping(np.random.default_rng(1).random(data.occurrences) > 0.02)
    seconds, found = cpu(lambda: bounded_tree_distance(data, mild, prune=True), 1)
    print(
        f"  ours, pruned, 2 % of all occurrences left out instead: {seconds:.2f} s, distance {found.value:,}, {found.steps:,} steps"
    )
    if with_plain:
        full_seconds, full = cpu(lambda: bounded_tree_distance(data, other, prune=False), runs)
        plain_seconds, plain = cpu(lambda: plain_distance(data, other), 1)
        cells_seconds, _wrong = cpu(lambda: plain_distance(data, other, compare=False), 1)
        if not pruned.value == full.value == plain:
            sys.exit(f"the ways do not agree: {pruned.value}, {full.value}, {plain}")
        print(f"  ours, all cells {full_seconds:.2f} s")
        ratio, ratio_full = plain_seconds / pruned_seconds, plain_seconds / full_seconds
        print(f"  plain table {plain_seconds:.2f} s: {ratio:.1f} times ours, {ratio_full:.1f} times without pruning")
        print(
            f"  of these {cells_seconds:.2f} s for the cells, if the distances of all pairs of records came for nothing"
        )


def refused(name):
    """Show how soon the metric gives up with its default budget, and how near its bounds are."""
    data, other = read_pair(name)
    metric = TreeEditDistance(orders=0)
    few = np.arange(3000)
    metric(data.take(few), other.take(few))
    seconds, measured = cpu(lambda: metric(data, other), 1)
    print(f"{name}: {seconds:.2f} s CPU, {measured.value or measured.reason}", flush=True)


def main():
    """Measure all, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--refusals", action="store_true")
    parser.add_argument("--one", metavar="DATA")
    given = parser.parse_args()
    if given.refusals:
        for name in ("bms-webview-1", *OTHERS):
            refused(name)
    elif given.one:
        one(given.one, with_plain=given.one == "bms-webview-1")
    else:
        for name in ("bms-webview-1", *(() if given.quick else OTHERS)):
            subprocess.run([sys.executable, __file__, "--one", name], check=True)


if __name__ == "__main__":
    main()
