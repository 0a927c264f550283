"""Joined tables and hierarchies of a real size, each beside a plain way in the same run.

Range queries: 10,000 on 6,000 people and 500 groups with the attributes of Adult, beside one query at a time with NumPy; both must give the
same mean error. Files: a joined table of a million records written and read again, beside Python's csv writing and reading the same rows.
Hierarchies: a balanced tree over a million items, beside its parents in a plain dictionary, which checks nothing.
Run: python benchmarks/bench_joined.py
"""

from __future__ import annotations

import csv
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa

import setveil as sv
from setveil.parameters.hierarchy import Hierarchy

from measuring import timed

CELLS = [72, 7, 99, 15, 15, 6, 13, 5, 4, 1, 99, 99, 98, 40]
OF_A, USERS, GROUPS = 9, 6_000, 500
RECORDS, ITEMS, FANOUT = 1_000_000, 1_000_000, 10


def schema():
    attributes = [sv.NumericAttribute(f"x{n}", Decimal(0), Decimal(cells), Decimal(1)) for n, cells in enumerate(CELLS)]
    return sv.Schema(tuple(attributes[:OF_A]), tuple(attributes[OF_A:]), sv.OrderedAttribute("title", ("X", "Y")))


def intervals(rng, groups):
    cells = np.array(CELLS)
    lows = np.minimum((rng.random((groups, len(cells))) * cells).astype(np.int32), cells - 1).astype(np.int32)
    highs = np.minimum(lows + 1 + (rng.random((groups, len(cells))) * cells).astype(np.int32), cells)
    return lows, highs.astype(np.int32)


def plain_error(metric, codes, titles, table):
    """Return the mean error, query by query; each has one range for an attribute."""
    asked = metric._queries(table.schema)  # noqa: SLF001 - the same queries
    people = np.column_stack([codes, titles])
    ranges = [[] for _ in range(asked.count)]
    for query, place, low, high in zip(asked.query, asked.place, asked.low, asked.high, strict=True):
        ranges[query].append((place, low, high))
    errors = []
    for query in ranges:
        met, share, counts = np.ones(len(people), dtype=bool), np.ones(table.groups), table.counts
        for place, low, high in query:
            met &= (people[:, place] >= low) & (people[:, place] < high)
            if place == len(CELLS):
                counts = counts[:, low:high]
                continue
            wanted = np.minimum(table.highs[:, place], high) - np.maximum(table.lows[:, place], low)
            share *= np.maximum(wanted, 0) / (table.highs[:, place] - table.lows[:, place])
        if actual := int(met.sum()):
            errors.append(abs(actual - float(share @ counts.sum(axis=1))) / actual)
    return sum(errors) / len(errors)


def range_queries(rng):
    codes = np.column_stack([rng.integers(0, cells, USERS) for cells in CELLS]).astype(np.int32)
    titles = rng.integers(0, 2, USERS)
    ids = pa.array([str(number) for number in range(USERS)], pa.large_string())
    sides = sv.ProviderTable(ids, codes[:, :OF_A]), sv.ProviderTable(ids, codes[:, OF_A:], titles)
    originals = sv.Originals(schema(), sv.Population(ids), *sides)
    table = sv.JoinedTable.arranged(schema(), *intervals(rng, GROUPS), np.full((GROUPS, 2), 6))
    metric = sv.RangeQueryError()
    ours, measured = timed(lambda: metric(originals, table), 3)
    plain, error = timed(lambda: plain_error(metric, codes, titles, table))
    assert np.isclose(measured.value, error), (measured.value, error)
    return ours, plain


def files(rng, name):
    table = sv.JoinedTable.arranged(schema(), *intervals(rng, 5_000), rng.integers(1, 135, (5_000, 2)))
    table = sv.JoinedTable(schema(), table.lows, table.highs, table.counts * (RECORDS // table.records + 1))

    with tempfile.TemporaryDirectory() as folder:

        def write_and_read():
            sv.write_joined(table, folder, name)
            return sv.read_joined(folder, name)

        ours, again = timed(write_and_read)
        assert again.records == table.records >= RECORDS
        if name != "data.csv":
            sv.write_joined(table, folder)
        rows = list(csv.reader((Path(folder) / "data.csv").read_text(encoding="utf-8").splitlines()))

        def plainly():
            with Path(folder, "plain.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(rows)
            with Path(folder, "plain.csv").open(encoding="utf-8", newline="") as file:
                return sum(1 for _ in csv.reader(file))

        plain, count = timed(plainly)
        assert count == len(rows)
    return ours, plain


def hierarchy():
    labels = list(map(str, range(ITEMS)))
    ours, tree = timed(lambda: Hierarchy.balanced(labels, FANOUT))
    assert len(tree.leaves) == ITEMS

    def plainly():
        parents, level = {}, labels
        while len(level) > 1:
            above = [f"{len(parents)}-{place}" for place in range(0, len(level), FANOUT)]
            parents.update((node, above[place // FANOUT]) for place, node in enumerate(level))
            level = above
        return parents

    plain, parents = timed(plainly)
    assert len(parents) >= ITEMS
    return ours, plain


def main():
    rng = np.random.default_rng(1)
    rows = {
        "10,000 range queries": lambda: range_queries(rng),
        "joined table of 10^6 records, CSV": lambda: files(rng, "data.csv"),
        "joined table of 10^6 records, Parquet": lambda: files(rng, "data.parquet"),
        "balanced hierarchy over 10^6 items": hierarchy,
    }
    print(f"{'':<40}{'ours':>9}{'plain':>9}{'ours / plain':>14}")
    for name, work in rows.items():
        ours, plain = work()
        print(f"{name:<40}{ours:>7.2f} s{plain:>7.2f} s{ours / plain:>14.2f}", flush=True)


if __name__ == "__main__":
    main()
