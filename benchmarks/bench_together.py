"""Seconds and memory of a joint check of two releases, per pair of recipes, on generated baskets.

Run: python benchmarks/bench_together.py [--records N] [PAIR ...]
"""

from __future__ import annotations

import argparse

import setveil as sv

from measuring import peak_mib, timed

SAMPLE = "sample:supermarket"


def recipes(data):
    """Return pairs of methods by name."""
    sensitive = sv.read_sensitive(SAMPLE, data)
    categories = sv.read_categories(SAMPLE, level="department")
    secrets = sv.mine(data, "1%", min_length=2, max_length=2).to_lists()[::7][:8]
    hide, swap = sv.ExactSwap(itemsets=secrets, min_support="1%"), sv.PartSwap(categories=categories)
    return {
        "disassociation, other delta": [sv.Disassociation(k=3, m=2), sv.Disassociation(k=3, m=2, delta=100)],
        "disassociation, other k": [sv.Disassociation(k=3, m=2), sv.Disassociation(k=5, m=2, delta=30)],
        "permutation, p 3 and 5": [sv.Permutation(sensitive=sensitive, p=p) for p in (3, 5)],
        "insert, 50 % and 30 %": [sv.Insert(sensitive=sensitive, rho=rho) for rho in ("50%", "30%")],
        "insert, knows": [sv.Insert(sensitive=sensitive, rho="50%", knows=knows) for knows in ("subset", "whole")],
        "part-swap twice": [swap, swap],
        "exact-swap twice": [hide, hide],
    }


def main():
    """Print the time, the memory and the result of each pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("pairs", nargs="*")
    given = parser.parse_args()
    data = sv.read(f"{SAMPLE}?records={given.records}")
    for name, methods in recipes(data).items():
        if given.pairs and name not in given.pairs:
            continue
        releases = [sv.publish(data, method, metrics=[], allow_failures=data.records) for method in methods]
        seconds, together = timed(lambda: sv.check_together(releases))  # noqa: B023 - called at once
        print(f"{name}: {seconds:.1f} s, {peak_mib():,} MiB at most so far, publishing included\n{together}")
        print(*(verdict.counts for verdict in together.verdicts), sep="\n", end="\n\n", flush=True)


if __name__ == "__main__":
    main()
