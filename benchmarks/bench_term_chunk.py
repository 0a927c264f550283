"""Items of term chunks in re-associated data: left out (`drop`) against placed in one record each (`place`).

Every shared basket dataset is disassociated once with k = 5 and m = 2, and re-associated with five seeds each way. Each figure is the mean
over the seeds; behind it stands the largest distance of one seed from the mean.

kept    share of the original's occurrences, and number of its items, that the records hold
fi      fi-similarity at a least support of 1 % and 2 %; higher is better. Where fewer than 20 itemsets are that frequent it says little
tkd     share of the 100 and 1,000 most frequent itemsets that differ; lower is better
query   query-error of itemsets of 1 item, and of up to 4 items; lower is better
loss    record-loss; lower is better. A row belongs to a place in a cluster, not to a record. It is compared with the record that the
        private alignment of the disassociated release puts at that place: a record of the same cluster, at random. A record whose row
        stayed empty was left out and counts as lost (1), which the metric itself does not see
best    the same with the rows and records of each cluster paired so that the sum of all losses is the least
Run: python benchmarks/bench_term_chunk.py [DATASET ...]
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import linear_sum_assignment

import setveil as sv
from setveil.data.records.alignment import Alignment
from setveil.methods.disassociation.reassociation import spin
from setveil.metrics.itemsets import FiSimilarity
from setveil.metrics.queries import QueryError
from setveil.metrics.ranks import TopKDeviation
from setveil.metrics.records import RecordLoss
from setveil.release.kept import kept

from measuring import data_folder

DATASETS = ("bms-webview-1", "bms-webview-2", "retail", "bms-pos-100k", "t10i4d100k", "foodmart")
SEEDS = range(5)
METRICS = {
    "fi 1 %": FiSimilarity(min_support="1%"),
    "fi 2 %": FiSimilarity(min_support="2%"),
    "tkd 100": TopKDeviation(top=100),
    "tkd 1000": TopKDeviation(top=1000),
    "query 1": QueryError(max_length=1),
    "query 4": QueryError(max_length=4),
}
HIGHER_IS_BETTER = {"fi 1 %", "fi 2 %", "kept %", "items"}


def figures(data, taken_apart, term_chunk, seed):
    """Return all figures of one set of records."""
    made, slots = spin(taken_apart.published, np.random.default_rng(seed), term_chunk)
    share = kept(data, sv.Reassociated((made,)), Alignment(slots))
    found = {"kept %": 100 * share.occurrences.share, "items": share.items.number}
    found |= {name: metric(data, made).value for name, metric in METRICS.items()}
    record = taken_apart.alignment.rows[slots]
    lost = data.records - made.records
    found["loss"] = (RecordLoss()(data, made, Alignment(record)).value * made.records + lost) / data.records
    found["best"] = best_loss(data, made, slots, taken_apart)
    return found


def best_loss(data, made, slots, taken_apart):
    """Return the mean loss where rows are paired with the records of their cluster as well as possible."""
    ends = np.cumsum(taken_apart.published.sizes)
    rows = [frozenset()] * data.records
    for slot, row in zip(slots.tolist(), made.to_lists(), strict=True):
        rows[slot] = frozenset(row)
    records = [frozenset(record) for record in data.to_lists()]
    total = 0.0
    for first, end in zip((0, *ends[:-1].tolist()), ends.tolist(), strict=True):
        mine = [records[r] for r in taken_apart.alignment.rows[first:end]]
        costs = distances(rows[first:end], mine)
        total += costs[linear_sum_assignment(costs)].sum()
    return total / data.records


def distances(rows, records):
    """Return the Jaccard distance of each row to each record."""
    items = {item: place for place, item in enumerate(sorted(frozenset().union(*rows, *records)))}
    tables = [np.zeros((len(side), len(items)), dtype=np.float32) for side in (rows, records)]
    for table, side in zip(tables, (rows, records), strict=True):
        for place, held in enumerate(side):
            table[place, [items[item] for item in held]] = 1
    both = tables[0] @ tables[1].T
    either = tables[0].sum(axis=1)[:, None] + tables[1].sum(axis=1)[None, :] - both
    return 1 - both / np.maximum(either, 1)


def shown(values):
    if any(value is None for value in values):
        return "-"
    mean = sum(values) / len(values)
    apart = max(abs(value - mean) for value in values)
    text = f"{mean:,.0f}" if mean >= 1000 else f"{mean:.4g}"
    return f"{text} ±{apart:.1g}" if apart > 1e-9 else text


def main():
    names = sys.argv[1:] or DATASETS
    for name in names:
        data = sv.read(data_folder() / f"{name}.dat.gz")
        taken_apart = sv.Disassociation(k=5, m=2).apply(data, rng=np.random.default_rng(0))
        frequent = [FiSimilarity(min_support=s)(data, data).details.get("kept", 0) for s in ("1%", "2%")]
        clusters = taken_apart.published.clusters
        print(
            f"{name}: {data.records:,} records, {len(data.vocabulary):,} items, {data.occurrences:,} occurrences, ",
            end="",
        )
        print(f"{clusters:,} clusters; {frequent[0]:,} itemsets at 1 %, {frequent[1]:,} at 2 %")
        found = {way: [figures(data, taken_apart, way, seed) for seed in SEEDS] for way in ("drop", "place")}
        for figure in found["drop"][0]:
            drop, place = ([one[figure] for one in found[way]] for way in ("drop", "place"))
            better = "-"
            if None not in drop + place:
                sign = 1 if figure in HIGHER_IS_BETTER else -1
                apart = sign * (sum(place) - sum(drop))
                better = "place" if apart > 0 else "drop" if apart < 0 else "equal"
            print(f"  {figure:<10}{shown(drop):>18}{shown(place):>18}   better: {better}", flush=True)


if __name__ == "__main__":
    main()
