"""What it costs to work on data in blocks: the same data in 1, 4, 16 and 64 blocks, one table per method.

tendency: part-swap with random categories on the real data sets, as benchmarks/bench_releases.py uses them, in the order of the file and
sorted by content. Of all seeds together: records to hide, records that are not hidden in one block and how many more or fewer there are in
several blocks, the helpers, and CPU seconds. Every result is checked in the same number of blocks.
Run: python benchmarks/bench_blocks_cost.py [TABLE ...]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

import setveil as sv
from setveil.base.verdict import FAILURE
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine

from measuring import data_folder

BLOCKS = (1, 4, 16, 64)
REAL = ("bms-webview-1", "bms-webview-2", "retail", "bms-pos-100k")


def in_blocks(method, data, count, seed):
    """Apply a method to the data in this number of blocks; return the outcome and CPU seconds."""

    def rng_of(number):
        return np.random.default_rng([seed, number + 1])

    started = time.process_time()
    with using_engine(LocalEngine(-(-data.records // count))):
        outcome = method.apply(data, rng=rng_of(0)) if count == 1 else method.apply_in_blocks(data, rng_of=rng_of)
        seconds = time.process_time() - started
        verdict = method.guarantee.check(outcome.published, original=data, alignment=outcome.alignment)
    assert set(verdict.violations) <= {FAILURE}
    assert verdict.failures == outcome.account["not-hidden"]
    return outcome, seconds


def tendency(seeds=5):
    """Print the table of part-swap."""
    print(
        f"{'part-swap':<38}{'to hide':>9}  not hidden, helpers and CPU seconds in {', '.join(map(str, BLOCKS))} blocks"
    )
    for order in ("file", "sorted"):
        for groups in (50, 5):
            for name in REAL:
                data = sv.read(data_folder() / f"{name}.dat.gz").with_ids(None)
                data = data.take(data.content_order()) if order == "sorted" else data
                unhidden, helpers, seconds, to_hide = Counter(), Counter(), Counter(), 0
                for seed in range(seeds):
                    method = sv.PartSwap(categories=sv.Categories.at_random(data.vocabulary, groups, seed=seed))
                    for count in BLOCKS:
                        outcome, used = in_blocks(method, data, count, seed)
                        unhidden[count] += outcome.account["not-hidden"]
                        helpers[count] += outcome.account["helpers"]
                        seconds[count] += used
                    to_hide += outcome.account["to-hide"]
                found = [f"{unhidden[1]:>7,}", *(f"{unhidden[count] - unhidden[1]:>+6,}" for count in BLOCKS[1:])]
                found += [f"{helpers[count]:>8,}" for count in BLOCKS] + [f"{seconds[count]:>7.2f}" for count in BLOCKS]
                print(
                    f"{name + ', ' + str(groups) + ' categories, ' + order:<38}{to_hide:>9,} {''.join(found)}",
                    flush=True,
                )


TABLES = {"tendency": tendency}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", choices=TABLES, default=[*TABLES])
    small = sv.read("sample:supermarket?records=2000").with_ids(None)
    in_blocks(sv.PartSwap(categories=sv.read_categories("sample:supermarket", level="department")), small, 9, 0)
    for name in parser.parse_args().tables:
        TABLES[name]()


if __name__ == "__main__":
    main()
