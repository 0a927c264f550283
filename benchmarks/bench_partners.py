"""The exact partner search of PartSwap beside the plain scan of all pairs, and how it grows.

Both run in this process, warm, on the same arrays, and must find the same partners. Run: python benchmarks/bench_partners.py
"""

from __future__ import annotations

import numpy as np

import setveil as sv
from setveil.methods.tendency import _part_swap_kernels as plain
from setveil.methods.tendency import _partner_search_kernels as search
from setveil.methods.tendency._block_swap import BlockSwap

from measuring import data_folder, peak_mib, timed


def prepared(data, categories, order="hard"):
    swap = BlockSwap(data, categories)
    swap.enlist_mixed(order, np.random.default_rng(0))
    swap.strict = False
    swap.record = swap.mixed
    swap.lay_out()
    return swap


def plainly(e):
    partner = np.full(len(e.record), -1)
    mark = np.full(len(e.data.vocabulary), -1)
    plain.pair_plainly(e.enlisted, len(partner), False, mark, partner, np.zeros(8, np.int64))
    return partner


def exactly(e):
    partner = np.full(len(e.record), -1)
    mark = np.full(len(e.data.vocabulary), -1)
    search.pair_exactly(*e.prepare_search(len(partner)), mark, partner, np.zeros(8, np.int64))
    return partner


def warm_up():
    """Compile everything, the ladder for leftovers too, on data with hot items."""
    data = sv.read(data_folder() / "bms-pos-100k.dat.gz").take(np.arange(3000)).compacted()
    categories = sv.Categories.at_random(data.vocabulary, 5)
    e = prepared(data, categories)
    assert np.array_equal(plainly(e), exactly(e))
    outcome = sv.PartSwap(categories=categories).apply(data, rng=np.random.default_rng(0))
    assert outcome.account["hidden"]["helper"]


def against_the_plain_scan():
    print("partner search against the plain scan of all pairs, warm, one thread each, the same partners")
    print(f"{'data':<16}{'order':<7}{'groups':>7}{'records':>9}{'plain s':>10}{'exact s':>10}{'ratio':>8}")
    for name, order in (
        ("bms-webview-1", "file"),
        ("bms-webview-2", "file"),
        ("bms-webview-2", "hard"),
        ("retail", "file"),
        ("retail", "hard"),
    ):
        data = sv.read(data_folder() / f"{name}.dat.gz")
        e = prepared(data, sv.Categories.at_random(data.vocabulary, 50), order)
        fast, found = timed(lambda e=e: exactly(e), repeats=3)
        slow, expected = timed(lambda e=e: plainly(e))
        assert np.array_equal(found, expected)
        print(f"{name:<16}{order:<7}{50:>7}{len(e.record):>9,}{slow:>10.3f}{fast:>10.4f}{slow / fast:>7.0f}x")


def alone():
    print("\nwhere the plain scan takes too long: search alone, then the whole method")
    print(f"{'data':<16}{'groups':>7}{'records':>9}{'search s':>10}{'method s':>10}{'unhidden':>9}{'peak MiB':>9}")
    for name, groups in (("bms-pos-100k", 50), ("bms-pos-100k", 5), ("retail", 5)):
        data = sv.read(data_folder() / f"{name}.dat.gz")
        row(name, groups, data, sv.Categories.at_random(data.vocabulary, groups))


def row(name, groups, data, categories):
    e = prepared(data, categories)
    fast, _found = timed(lambda: exactly(e))
    method = sv.PartSwap(categories=categories)
    whole, outcome = timed(lambda: method.apply(data, rng=np.random.default_rng(0)))
    print(
        f"{name:<16}{groups:>7}{len(e.record):>9,}{fast:>10.3f}{whole:>10.3f}{outcome.account['not-hidden']:>9,}{peak_mib():>9,}",
        flush=True,
    )
    return fast, whole


def growth():
    print("\ngrowth on sample:supermarket by category (75) and by department (13)")
    for level in ("category", "department"):
        before = None
        for records in (10**4, 10**5, 10**6):
            data = sv.read(f"sample:supermarket?records={records}").with_ids(None)
            seconds = row(
                f"10^{len(str(records)) - 1} {level}",
                75 if level == "category" else 13,
                data,
                sv.read_categories("sample:supermarket", level=level),
            )
            if before:
                search_ratio, method_ratio = (now / then for now, then in zip(seconds, before, strict=True))
                print(
                    f"{'':16}ten times the records: search {search_ratio:.1f} times as long, method {method_ratio:.1f}"
                )
            before = seconds


if __name__ == "__main__":
    warm_up()
    against_the_plain_scan()
    alone()
    growth()
