"""Attacks on large releases: CPU seconds and memory; with --paper, the measured attacks on real data repeated, ours beside earlier figures.

Without options: 1,000,000 generated baskets, releases of four methods, every attack but logistic regression and those that need a shadow
release for their recipe. Each release is made and attacked in a process of its own; people who are not in it are other generated baskets.
The goal is 2 minutes for all together and 1.5 GB for each. The last column is a simpler way to the same figure in the same run.

With --paper: five draws of sensitive items (a fifth of the items in at least 20 records) and of secrets (10 frequent pairs, half of the
records released); mean over the draws with the 95 % interval of the mean (Student's t).
Run: python benchmarks/bench_attacks.py [--records N] | --paper [--draws N] [--only TEXT]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from statistics import mean, stdev

import numpy as np
from scipy.stats import t as student

import setveil as sv
from setveil.attacks.matrices import held, together
from setveil.attacks.target import Target
from setveil.catalog import ATTACKS
from setveil.release import attack_runs
from setveil.release.attack_runs import _one

from measuring import data_folder, peak_mib

METHODS = {
    "part-swap": lambda _data: sv.PartSwap(categories=sv.read_categories("sample:supermarket")),
    "disassociation": lambda _data: sv.Disassociation(k=5, m=2),
    "exact-swap": lambda data: sv.ExactSwap(itemsets=frequent_pairs(data, data.records // 100, 0), min_support="1%"),
    "insert": lambda _data: sv.Insert(sensitive=sv.read_sensitive("sample:supermarket"), rho="50%"),
}
GOAL_SECONDS = 120
LEAST_ROWS = 20
"""Sensitive items are drawn from those in at least this number of records; rules about fewer rows are not looked at."""
TARGETS = 20_000
"""Maximum number of people of the repeated attacks."""
PEOPLE = 20
"""Number of people for whom the simpler ways are timed; their time is scaled to the number that the attacks take."""


def frequent_pairs(data, least, seed, number=10):
    """Return drawn pairs of items that at least this number of records hold."""
    matrix = held(data.offsets, data.items, len(data.vocabulary))
    one, other = np.nonzero(np.triu(together(matrix, matrix), 1) >= least)
    drawn = np.random.default_rng(seed).choice(len(one), number, replace=False)
    return [[data.vocabulary[one[at]], data.vocabulary[other[at]]] for at in drawn]


PLAIN = {"experiment": True, "metrics": [], "attacks": "none"}
"""Options of publications: nothing is measured or tried."""

# -- large releases ------------------------------------------------------------------------------------------------------------


def attacked(name, records):
    """Make a release and attack it, first a small one, so that everything is compiled; print seconds and memory as JSON."""
    chosen = [kind(**one) for kind in ATTACKS.values() for one in kind.variants if kind.name != "learned"]
    chosen = [one for one in chosen if getattr(one, "model", "") != "logistic-regression"]
    for size in (2000, records):
        data = sv.read(f"sample:supermarket?records={size}")
        others = sv.read(f"sample:supermarket?records={max(size // 10, 1000)}&seed=9")
        release = sv.publish(data, METHODS[name](data), seed=7, **PLAIN, allow_failures=size)
        made, seconds, said = peak_mib(), {}, {}

        def one(attack, target, seconds=seconds, said=said):
            started = time.process_time()
            found = _one(attack, target)
            seconds[found.title], said[found.title] = time.process_time() - started, found.reason or found.verdict
            return found

        attack_runs._one = one  # noqa: SLF001 - to time each attack of one call
        started = time.process_time()
        sv.attack(release, attacks=chosen, control=others)
        seconds["everything"] = time.process_time() - started
    peak = peak_mib()
    scan = scanned(release) if release.data.plain is not None else {}
    print(json.dumps({"seconds": seconds, "said": said, "scan": scan, "made": made, "MiB": peak}))


def scanned(release):
    """Return the seconds of simpler ways: every row is compared with the items of each person."""
    rows = release.data.plain
    matrix = held(rows.offsets, rows.items, len(rows.vocabulary))
    weight = np.log1p(rows.records / (rows.supports + 1.0)).astype(np.float32)
    totals = matrix @ weight
    started = time.process_time()
    for person in range(PEOPLE):
        own = np.zeros(len(weight), np.float32)
        items = rows.items[rows.offsets[person] : rows.offsets[person + 1]]
        own[items] = weight[items]
        shared = matrix @ own
        (shared / (own.sum() + totals - shared + 1e-9)).max()
    each = (time.process_time() - started) / PEOPLE
    return {"membership": 2000 * each, "find-record (known=2)": 2000 * each}


def large(records):
    total = 0.0
    for name in METHODS:
        command = [sys.executable, __file__, "--one", name, "--records", str(records)]
        row = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        own = row["seconds"].pop("everything")
        total += own
        print(f"{name}: {own:.1f} CPU s, peak {row['MiB']:,} MiB (before the attacks {row['made']:,} MiB)")
        for title, seconds in row["seconds"].items():
            simple = row["scan"].get(title)
            ratio = f"; a scan per person {simple:,.0f} s, ratio {simple / seconds:.0f}" if simple else ""
            print(f"  {title:<32}{seconds:>7.2f} s  {row['said'][title]}{ratio}", flush=True)
    print(f"all: {total:.1f} CPU s, goal {GOAL_SECONDS} s")


# -- figures of earlier work repeated ------------------------------------------------------------------------------------------


def sensitive_of(data, seed):
    """Return a fifth of the items in at least 20 records."""
    frequent = np.flatnonzero(data.supports >= LEAST_ROWS)
    drawn = np.random.default_rng(seed).choice(frequent, len(frequent) // 5, replace=False)
    return sv.SensitiveItems([data.vocabulary[code] for code in drawn])


def at_the_limit(release, sensitive, rho):
    """Return the share of rows that had a sensitive item, of those under a rule to it that shows as many as ρ allows."""
    rows, original = release.data.plain, release.compared
    target = Target(original, release.data, release.alignment)
    others = np.flatnonzero((rows.supports >= LEAST_ROWS) & ~sensitive.among(rows))
    matrix = held(rows.offsets, rows.items, len(rows.vocabulary))[:, others]
    sizes = together(matrix, matrix)
    starts, holders = rows.holders
    of_item = [holders[starts[code] : starts[code + 1]] for code in range(len(rows.vocabulary))]
    had = []
    for label in sensitive:
        if label not in rows.code_of:
            continue
        holding = of_item[rows.code_of[label]]
        counts = together(matrix[holding], matrix[holding])
        one, other = np.nonzero(np.triu((sizes >= LEAST_ROWS) & (counts == np.floor(rho * sizes)) & (counts > 0)))
        under = [np.intersect1d(of_item[i], of_item[j]) for i, j in zip(others[one], others[other], strict=True)]
        under = np.setdiff1d(np.concatenate([np.empty(0, np.int64), *under]), holding)
        codes = np.full(len(under), original.code_of[label])
        had.append(target.true_pairs(release.alignment.rows[under], codes))
    found = np.concatenate([np.empty(0, np.bool_), *had])
    return float(found.mean()) if len(found) else None


def suppression(name, draws, known, rho):
    """Yield the figures of insert for one data set and draw of sensitive items."""
    data = sv.read(data_folder() / f"{name}.dat.gz")
    for seed in range(draws):
        sensitive = sensitive_of(data, seed)
        method = sv.Insert(sensitive=sensitive, rho=str(rho), knows=known)
        release = sv.publish(data, method, seed=seed, **PLAIN)
        asked = ["near-the-limit", "guess-items:model=same-basket"]
        if name == "bms-webview-1":  # the others take long on the many items of BMS-WebView-2
            asked += ["which-sensitive:rows_per_item=100000", "membership"] + ["learned"] * (rho == 0.5)
        targets = TARGETS if name == "bms-webview-1" else TARGETS // 4
        found = sv.attack(release, attacks=asked, targets=targets, threads=1)
        figures = {"limit": at_the_limit(release, sensitive, rho)} if name == "bms-webview-1" else {}
        for one in found:
            figures[one.name] = None if one.main is None else one.main.rate
            if one.main is None:
                continue
            if one.name == "near-the-limit":
                figures["near, base rate"] = one.naive.rate
            if one.name == "which-sensitive":
                figures["which-sensitive, recall"] = one.details["recall"]
            if one.name == "guess-items":
                figures["guess-items, control"] = one.control.rate
            if one.name == "membership":
                figures["membership, AUC"] = one.details["auc"]
            if one.name == "learned":
                figures |= {f"learned, {most}": rate for most, rate in one.details["surest"].items()}
                figures |= {f"length only, {most}": rate for most, rate in one.details["surest-by-chance"].items()}
        yield figures


def hiding(name, draws, target="random"):
    """Yield the number of hidden pairs among the first 10 and 50 guesses, for half of the records."""
    data = sv.read(data_folder() / f"{name}.dat.gz")
    for seed in range(draws):
        mine = np.zeros(data.records, np.bool_)
        mine[np.random.default_rng(seed).choice(data.records, data.records // 2, replace=False)] = True
        half, others = data.take(np.flatnonzero(mine), ids=None), data.take(np.flatnonzero(~mine), ids=None)
        least = round(half.records / 1000)
        method = sv.ExactSwap(itemsets=frequent_pairs(half, least, seed), min_support=least, target=target)
        release = sv.publish(half, method, seed=seed, **PLAIN)
        figures = {}
        for one in sv.attack(release, attacks="holes", control=others):
            figures[f"{one.parameters['model']}, first 10"] = one.main.right
            figures[f"{one.parameters['model']}, first 50"] = one.details["in-the-first-5n"]
        yield figures


def disassociated(name, draws):
    """Yield the area of membership for a disassociated release; only the split depends on the draw."""
    data = sv.read(data_folder() / f"{name}.dat.gz")
    release = sv.publish(data, sv.Disassociation(k=5, m=2), seed=1, **PLAIN)
    for seed in range(draws):
        found = sv.attack(release, attacks="membership", targets=TARGETS, seed=seed)[0]
        yield {"membership, AUC": found.details["auc"]}


EARLIER = {
    "bms-webview-1 insert 0.5 subset": {
        "limit": ".587 (.862 of 58)",
        "near-the-limit": ".537 (.414)",
        "near, base rate": "(.006)",
        "which-sensitive": "(.99-1.00)",
        "which-sensitive, recall": "(1.00)",
        "guess-items": ".880",
        "guess-items, control": ".333",
        "membership, AUC": "(.972 other data)",
        "learned, 200": ".85 / .81",
        "learned, 1000": ".68 / .65",
        "learned, 5000": ".43 / .41",
    },
    "bms-webview-1 insert 0.5 whole": {
        "limit": "1.00 of 18",
        "near-the-limit": ".615",
        "guess-items": ".471",
        "guess-items, control": ".324",
        "membership, AUC": "(.953 other data)",
        "learned, 200": ".68",
        "learned, 1000": ".60",
        "learned, 5000": ".49",
    },
    "bms-webview-1 insert 0.3 subset": {
        "limit": "(.502 of 849)",
        "near-the-limit": ".528 (.364)",
        "near, base rate": "(.008)",
    },
    "bms-webview-1 insert 0.3 whole": {"near-the-limit": ".688"},
    "bms-webview-2 insert 0.5 subset": {
        "near-the-limit": ".530",
        "guess-items": ".735",
        "guess-items, control": ".159",
    },
    "bms-webview-2 insert 0.5 whole": {
        "near-the-limit": "none",
        "guess-items": ".318",
        "guess-items, control": ".141",
    },
    "bms-webview-1 exact-swap": {
        "independence, first 10": ".3 (.8)",
        "independence, first 50": "1.0 (1.0)",
        "low-rank, first 10": "2.7 (2.0)",
        "low-rank, first 50": "3.7 (3.4)",
        "rival, first 10": "4.4 (4.0)",
        "rival, first 50": "(5.8)",
    },
    "bms-webview-1 exact-swap target 0": {
        "independence, first 10": "(1.8)",
        "independence, first 50": "(3.6)",
    },
    "bms-webview-2 exact-swap": {},
    "bms-webview-1 disassociation": {"membership, AUC": "(.540 other data)"},
}
"""Figures of the specification of suppression, and of the review in brackets."""


def rows_of(case, draws):
    """Return what makes the figures of a case of EARLIER."""
    name, method, *settings = case.split()
    if method == "insert":
        return suppression(name, draws, settings[1], float(settings[0]))
    if method == "exact-swap":
        return hiding(name, draws, "0" if settings else "random")
    return disassociated(name, draws)


def repeated(draws, only):
    print(f"{draws} draws; mean ± half the width of the 95 % interval of the mean; none: no draw has such a rule")
    for case, earlier in EARLIER.items():
        if only not in case:
            continue
        started = time.perf_counter()
        found = list(rows_of(case, draws))
        print(f"\n{case} ({time.perf_counter() - started:.0f} s)")
        for figure in dict.fromkeys(name for one in found for name in one):
            values = [one[figure] for one in found if one.get(figure) is not None]
            text = "none" if not values else f"{mean(values):.3f}"
            if len(values) > 1:
                half = student.ppf(0.975, len(values) - 1) * stdev(values) / len(values) ** 0.5
                text += f" ± {half:.3f}  ({min(values):.3f} to {max(values):.3f})"
            counted = "" if len(values) == len(found) else f" in {len(values)} draws"
            print(f"  {figure:<26}{text + counted:<44}{earlier.get(figure, '')}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--one", choices=list(METHODS))
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if given.one:
        attacked(given.one, given.records)
    elif given.paper:
        repeated(given.draws, given.only)
    else:
        large(given.records)


if __name__ == "__main__":
    main()
