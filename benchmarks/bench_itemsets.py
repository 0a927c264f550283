"""ExactSwap beside one mining run of the same data, beside HEU and SW, with many named itemsets, how it grows, and in blocks.

All but the last in this process, warm; the ratio is to mining the same data at the same threshold in the same run, ours and pyfim's. Before
each run it is mined once more, so that both feel the same machine. Run: python benchmarks/bench_itemsets.py [PART ...]
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path

import fim
import numpy as np

import setveil as sv
from bench_mining_large import RESULT, mapped, stored
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine

from measuring import data_folder, peak_mib, watched

REAL = (("bms-webview-1", "0.1%", 20), ("bms-webview-2", "0.2%", 20), ("retail", "0.5%", 6))
REPEATS = 9


def drawn(found, how_many, seed, shortest=2, longest=4):
    """Draw named itemsets among the frequent ones."""
    fitting = np.flatnonzero((found.lengths >= shortest) & (found.lengths <= longest))
    chosen = np.random.default_rng(seed).choice(fitting, how_many, replace=False)
    return sv.NamedItemsets(found.take(chosen).to_lists())


def run(kind, data, *, seed=0, **parameters):
    """Bind and apply a method; return the outcome and the seconds."""
    rng = np.random.default_rng(seed)
    started = time.perf_counter()
    method = kind(**parameters).bind(data, linked=False, rng=rng)
    outcome = method.apply(data, rng=rng)
    return outcome, time.perf_counter() - started


def seconds(work):
    """Return how long something takes, once."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def warm_up():
    data = few()
    named = drawn(sv.mine(data, "1%"), 3, 0)
    for kind in (sv.ExactSwap, sv.HEU, sv.SwapItemsets):
        run(kind, data, itemsets=named, min_support="1%")


def beside_mining():
    print(
        f"exact-swap beside one mining run (medians of {REPEATS}, in turn), target border; the method includes its own mining"
    )
    print(
        f"{'data':<15}{'draw':>5}{'mine ms':>9}{'pyfim ms':>10}{'method ms':>11}{'/ mine':>8}{'/ pyfim':>9}{'moved':>8}{'out':>6}"
    )
    for name, support, how_many in REAL:
        data = sv.read(data_folder() / f"{name}.dat.gz")
        found, count = sv.mine(data, support), sv.MinSupport(support).count(data.records)
        lists = [row.tolist() for row in np.split(data.items, data.offsets[1:-1])]
        for draw in range(5):
            named = drawn(found, how_many, draw)
            own, peer, method = [], [], []
            for _ in range(REPEATS if how_many > 6 or draw != 3 else 1):
                own.append(seconds(lambda data=data, count=count: sv.mine(data, count)))
                peer.append(seconds(lambda lists=lists, count=count: fim.fpgrowth(lists, target="s", supp=-count)))
                outcome, took = run(sv.ExactSwap, data, itemsets=named, min_support=support, target="border")
                method.append(took)
            a, b, c = (1000 * float(np.median(times)) for times in (own, peer, method))
            moved, out = outcome.account["items-exchanged"], outcome.account["items-left-out"]
            print(
                f"{name:<15}{draw:>5}{a:>9.1f}{b:>10.1f}{c:>11.1f}{c / a:>8.2f}{c / b:>9.2f}{moved:>8,}{out:>6,}",
                flush=True,
            )


def beside_baselines():
    print("\nthe same draws, all methods, seconds (best of 3)")
    print(f"{'data':<15}{'exact-swap':>12}{'heu':>9}{'sw all':>9}")
    for name, support, how_many in REAL:
        data = sv.read(data_folder() / f"{name}.dat.gz")
        named = drawn(sv.mine(data, support), how_many, 0)
        given = {"itemsets": named, "min_support": support}
        kinds = ((sv.ExactSwap, {"target": "border"}), (sv.HEU, {}), (sv.SwapItemsets, {"reading": "all"}))
        times = [min(run(kind, data, **given, **more)[1] for _ in range(3)) for kind, more in kinds]
        print(f"{name:<15}{times[0]:>12.3f}{times[1]:>9.3f}{times[2]:>9.3f}", flush=True)


def many():
    print("\n1,000 named itemsets of 2 to 4 items on retail at 0.1 %, target border")
    data = sv.read(data_folder() / "retail.dat.gz")
    found = sv.mine(data, "0.1%")
    named = drawn(found, 1000, 0)
    mined = min(seconds(lambda: sv.mine(data, "0.1%")) for _ in range(3))
    outcome, took = run(sv.ExactSwap, data, itemsets=named, min_support="0.1%", target="border")
    account = outcome.account
    print(
        f"{took:.2f} s, {took / mined:.0f} times one mining run ({mined:.3f} s); {len(found):,} frequent itemsets; exchanged "
        f"{account['items-exchanged']:,}, left out {account['items-left-out']:,}, lost {account['lost-that-could-have-been-kept']:,}",
        flush=True,
    )
    assert sv.HiddenItemsets(itemsets=named, min_support="0.1%").check(outcome.published)


def growth():
    print("\ngrowth: supermarket baskets, 10 named itemsets of 2 to 3 items at 1 %, target border")
    print(f"{'baskets':>10}{'mine s':>9}{'method s':>10}{'/ mine':>8}{'moved':>9}{'out':>6}{'peak MiB':>10}")
    for records in (10_000, 100_000, 1_000_000):
        data = sv.read(f"sample:supermarket?records={records}")
        named = drawn(sv.mine(data, "1%"), 10, 0, longest=3)
        mined = min(seconds(lambda data=data: sv.mine(data, "1%")) for _ in range(3))
        runs = [run(sv.ExactSwap, data, itemsets=named, min_support="1%", target="border") for _ in range(3)]
        outcome, took = min(runs, key=lambda one: one[1])
        moved, out = outcome.account["items-exchanged"], outcome.account["items-left-out"]
        print(
            f"{records:>10,}{mined:>9.3f}{took:>10.3f}{took / mined:>8.2f}{moved:>9,}{out:>6,}{peak_mib():>10,.0f}",
            flush=True,
        )


def dense():
    print("\ndense: 2,000 records of 30 items of 100, 20 named pairs, target border")
    rng = np.random.default_rng(0)
    data = sv.from_lists([[f"i{code}" for code in rng.choice(100, 30, replace=False)] for _ in range(2000)])
    for support in ("8%", "2%"):
        named = drawn(sv.mine(data, support, max_length=2), 20, 0, longest=2)
        for afi in ("cost", "forbid"):
            outcome, took = run(sv.ExactSwap, data, itemsets=named, min_support=support, target="border", afi=afi)
            moved, out = outcome.account["items-exchanged"], outcome.account["items-left-out"]
            print(f"{support} {afi:<8}{took:>7.2f} s, exchanged {moved:,}, left out {out:,}", flush=True)


def in_blocks():
    print("\nin blocks, beside one block: 10 named itemsets of 2 to 3 items at 1 %, random targets; mapped data")
    print(f"{'baskets':>11}{'block':>11}{'s':>7}{'CPU s':>7}{'anon MiB':>10}{'MiB':>7}{'moved':>11}{'lost':>6}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for records, block in ((1_000_000, 1_000_000), (1_000_000, 1 << 17)):
            names = stored(folder, records)
            command = [sys.executable, str(Path(__file__).resolve()), ONE_RUN, str(names), str(block)]
            seen = watched(command, folder)
            took, cpu, moved, lost, _digest = found = json.loads((folder / RESULT).read_text())
            memory = f"{seen.anonymous_mib:>10,}{seen.resident_mib:>7,}"
            print(f"{records:>11,}{block:>11,}{took:>7.1f}{cpu:>7.1f}{memory}{moved:>11,}{lost:>6,}", flush=True)
            if block == records:
                whole = found
            elif found[2:] != whole[2:]:
                sys.exit("the results differ")


def one_run(names, block):
    """Run the method on mapped data in blocks, and write the figures and a digest of the result."""
    data = mapped(Path(names))
    named = drawn(sv.mine(sv.read("sample:supermarket?records=100000"), "1%"), 10, 0, longest=3)
    for engine in (LocalEngine(100), LocalEngine(int(block))):
        with using_engine(engine):
            before = time.process_time()
            outcome, took = run(
                sv.ExactSwap, data if engine.block_records > 100 else few(), itemsets=named, min_support="1%"
            )
    made, account = outcome.published, outcome.account
    digest = hashlib.sha256(made.offsets.tobytes() + made.items.tobytes()).hexdigest()
    lost = account["lost-that-could-have-been-kept"]
    figures = [took, time.process_time() - before, account["items-exchanged"], lost, digest]
    Path(RESULT).write_text(json.dumps(figures))


def few():
    return sv.read("sample:supermarket?records=2000")


ONE_RUN = "--one"
PARTS = (beside_mining, beside_baselines, many, growth, dense, in_blocks)

if __name__ == "__main__":
    if sys.argv[1:2] == [ONE_RUN]:
        one_run(*sys.argv[2:])
        sys.exit()
    warm_up()
    for part in PARTS:
        if len(sys.argv) < 2 or any(part.__name__.startswith(start) for start in sys.argv[1:]):
            part()
