"""Methods for ρ-uncertainty beside each other: what each leaves out, CPU seconds, and how Insert grows.

All in this process, warm, seconds of all threads together. Ratios are to Insert or to unsplit Mine in the same run. Sensitive are the first
two fifths of a permutation of the items, by the seed of 0 to 299 whose share of sensitive occurrences is nearest to the paper's.
Run: python benchmarks/bench_uncertainty.py [methods | growth | parts | rounds ...]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import setveil as sv

from measuring import data_folder, peak_mib

REAL = {
    "bms-webview-2": 137_605 / 358_278,
    "retail": 340_462 / 908_576,
    "bms-pos-100k": 1_183_355 / 3_367_020,
}
GROWTH = (100_000, 300_000, 1_000_000)
RHO = "0.7"


def draw(data, share):
    """Return the sensitive items of the seed that comes nearest to a share, and the seed."""
    number = round(0.4 * len(data.vocabulary))
    drawn = [np.random.default_rng(seed).permutation(len(data.vocabulary))[:number] for seed in range(300)]
    apart = [abs(data.supports[codes].sum() / data.occurrences - share) for codes in drawn]
    seed = int(np.argmin(apart))
    return [data.vocabulary[code] for code in drawn[seed]], seed


def applied(method, data):
    """Return the outcome, the CPU seconds of the method and those of its check."""
    started = time.process_time()
    outcome = method.apply(data, rng=np.random.default_rng(0))
    done = time.process_time()
    verdict = method.guarantee.check(outcome.published)
    if not verdict:
        sys.exit(f"{method.name} did not keep its promise: {verdict}")
    return outcome, done - started, time.process_time() - done


def warm_up():
    data = sv.read("sample:supermarket?records=2000")
    asked = {"sensitive": sv.read_sensitive("sample:supermarket", data), "rho": RHO}
    for method in (sv.Insert(**asked, rounds=1), sv.PartialSuppression(**asked, parts=1)):
        applied(method, data)
    sv.RhoUncertainty(**asked).check(data)


def methods():
    print(f"rho {RHO}, include_empty false; CPU seconds warm; ratio: to unsplit Mine without restore in the same run")
    print(f"{'data':<15}{'seed':>5}  {'method':<26}{'loss %':>8}{'cpu s':>8}{'check s':>9}{'Mine / it':>11}")
    for name, share in REAL.items():
        data = sv.read(data_folder() / f"{name}.dat.gz")
        sensitive, seed = draw(data, share)
        asked = {"sensitive": sensitive, "rho": RHO, "include_empty": False}
        trivial = sum(int(data.supports[data.code_of[item]]) for item in sensitive) / data.occurrences
        print(f"{name:<15}{seed:>5}  {'all sensitive left out':<26}{100 * trivial:>8.2f}")
        mine = sv.PartialSuppression(**asked, parts=1, restore=False)
        _outcome, unsplit, _check = applied(mine, data)
        tries = {
            "insert": sv.Insert(**asked),
            "insert, rarest first": sv.Insert(**asked, order="rarest"),
            "insert, knows whole": sv.Insert(**asked, knows="whole"),
            "mine, 1 part": mine,
            "mine, restored": sv.PartialSuppression(**asked),
        }
        for title, method in tries.items():
            outcome, took, check = applied(method, data)
            loss = 100 * (1 - outcome.rows.occurrences / data.occurrences)
            print(f"{'':<22}{title:<26}{loss:>8.2f}{took:>8.2f}{check:>9.2f}{unsplit / took:>11.1f}", flush=True)


def rounds():
    print("what rounds of taking items out and putting everything back gain (BMS-WebView-2)")
    data = sv.read(data_folder() / "bms-webview-2.dat.gz")
    sensitive, _seed = draw(data, REAL["bms-webview-2"])
    for number in (0, 5, 20, 60):
        method = sv.Insert(sensitive=sensitive, rho=RHO, include_empty=False, rounds=number)
        outcome, took, _check = applied(method, data)
        print(
            f"{number:>4} rounds  {100 * (1 - outcome.rows.occurrences / data.occurrences):.3f} %  {took:.1f} s",
            flush=True,
        )


def growth():
    print("insert on generated baskets (sample:supermarket, its own sensitive items and two fifths of all)")
    print(f"{'records':>10}{'sensitive':>11}{'loss %':>8}{'cpu s':>8}{'check s':>9}{'peak MiB':>10}")
    for records in GROWTH:
        data = sv.read(f"sample:supermarket?records={records}")
        own = sv.read_sensitive("sample:supermarket", data)
        for sensitive in (own, draw(data, 0.4)[0]):
            outcome, took, check = applied(sv.Insert(sensitive=sensitive, rho=RHO), data)
            loss = 100 * (1 - outcome.rows.occurrences / data.occurrences)
            print(
                f"{records:>10,}{len(sensitive):>11,}{loss:>8.2f}{took:>8.1f}{check:>9.1f}{peak_mib():>10,}", flush=True
            )


def parts():
    print(f"insert in parts: {GROWTH[-1]:,} generated baskets (sample:supermarket), two fifths of the items sensitive")
    print(f"{'parts':>6}{'loss %':>8}{'cpu s':>8}{'check s':>9}{'peak MiB':>10}")
    data = sv.read(f"sample:supermarket?records={GROWTH[-1]}")
    sensitive, _seed = draw(data, 0.4)
    for number in (10, 4, 1):  # the peak of a run is seen only if it is above those before
        outcome, took, check = applied(sv.Insert(sensitive=sensitive, rho=RHO, parts=number), data)
        loss = 100 * (1 - outcome.rows.occurrences / data.occurrences)
        print(f"{number:>6}{loss:>8.2f}{took:>8.1f}{check:>9.1f}{peak_mib():>10,}", flush=True)


PARTS = {"methods": methods, "rounds": rounds, "growth": growth, "parts": parts}

if __name__ == "__main__":
    warm_up()
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
