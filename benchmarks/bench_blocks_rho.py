"""What it costs to limit inference in blocks: the same data in 1, 4, 16 and 64 blocks, in the order of the file.

For each data set: the share of all occurrences that is suppressed if each block is only made safe by itself, the share after items were
restored in view of all blocks, and the CPU seconds of both together. Sensitive are 40 % of the items, drawn as in bench_uncertainty.py, or
the 47 rarest items with a support of at least 20. ρ = 0.7. Every result is checked in the same number of blocks.
Run: python benchmarks/bench_blocks_rho.py [--data NAME ...] [--methods NAME ...]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import setveil as sv
from bench_blocks_cost import BLOCKS
from bench_uncertainty import REAL as SHARES
from bench_uncertainty import RHO, draw, warm_up
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine

from measuring import data_folder

SETS = {"bms-webview-1": 0.4, **SHARES, "sample:supermarket?records=300000": 0.4}
METHODS = {"insert": sv.Insert, "partial-suppression": sv.PartialSuppression}
RARE, LEAST_SUPPORT = 47, 20


def rarest(data):
    """Return the rarest items of at least a few records."""
    codes = np.argsort(data.supports, kind="stable")
    return [data.vocabulary[code] for code in codes[data.supports[codes] >= LEAST_SUPPORT][:RARE].tolist()]


def losses(method, data, count):
    """Return the share that is suppressed by the blocks alone and after the round, in percent, and CPU seconds."""

    def rng_of(number):
        return np.random.default_rng([7, number + 1])

    with using_engine(LocalEngine(-(-data.records // count))):
        started = time.process_time()
        outcome = method.apply(data, rng=rng_of(0)) if count == 1 else method.apply_in_blocks(data, rng_of=rng_of)
        seconds = time.process_time() - started
        assert method.guarantee.check(outcome.published, original=data)
    gone = data.occurrences - outcome.published.occurrences
    restored = outcome.account.get("restored-in-view-of-all-blocks", 0)
    return 100 * (gone + restored) / data.occurrences, 100 * gone / data.occurrences, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", nargs="+", default=[*SETS], choices=SETS)
    parser.add_argument("--methods", nargs="+", default=["insert"], choices=METHODS)
    given = parser.parse_args()
    warm_up()
    print(f"{'':<58}suppressed, %: all; blocks alone > after the round (CPU s), in {BLOCKS} blocks")
    for name in given.data:
        data = sv.read(name if name.startswith("sample:") else data_folder() / f"{name}.dat.gz").with_ids(None)
        for sensitive in (draw(data, SETS[name])[0], rarest(data)):
            everything = 100 * sum(int(data.supports[data.code_of[item]]) for item in sensitive) / data.occurrences
            for kind in given.methods:
                method = METHODS[kind](sensitive=sensitive, rho=RHO)
                cells = [f"{a:>7.2f} > {b:.2f} ({s:.1f})" for a, b, s in (losses(method, data, n) for n in BLOCKS)]
                title = f"{name}, {len(sensitive):,} sensitive, {kind}"
                print(f"{title:<58}{everything:>6.2f};{''.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
