"""Disassociated data made at random, as clusters in plain Python; the chunks of a cluster share no item."""

import numpy as np

import setveil as sv
from setveil.data.forms.disassociated import LEFT_OUT


def some_clusters(seed, *, clusters=None, items=8, most_records=6, density=None):
    """Draw clusters, each of its own size, with items in record chunks, in the term chunk or nowhere."""
    rng = np.random.default_rng(seed)
    return [
        one_cluster(rng, [f"i{j}" for j in range(items)], most_records, density)
        for _ in range(int(rng.integers(0, 6)) if clusters is None else clusters)
    ]


def one_cluster(rng, labels, most_records, density=None):
    size = int(rng.integers(1, most_records + 1))
    number = int(rng.integers(0, 4))
    place = rng.integers(-2, number, len(labels)) if number else rng.integers(-2, 0, len(labels))
    chance = rng.choice([0.3, 0.6, 0.9]) if density is None else density
    chunks = []
    for chunk in range(number):
        own = [label for label, at in zip(labels, place, strict=True) if at == chunk]
        counts = {}
        for _ in range(size):
            row = tuple(label for label in own if rng.random() < chance)
            if row:
                counts[row] = counts.get(row, 0) + 1
        if counts:
            chunks.append([(list(row), count) for row, count in sorted(counts.items())])
    terms = [label for label, at in zip(labels, place, strict=True) if at == -1]
    return {"size": size, "record_chunks": chunks, "term_chunk": terms}


def some_questions(seed, labels, how_many=40, longest=5):
    """Draw itemsets, among them the empty one, one that is unknown, and some in which an item stands twice."""
    rng = np.random.default_rng(seed)
    asked = [[], ["unknown"]]
    for _ in range(how_many):
        size = int(rng.integers(0, min(len(labels), longest) + 1))
        one = [str(label) for label in rng.choice(labels, size, replace=False)]
        if rng.random() < 0.1:
            one.append("unknown")
        asked.append(one + one[:1] * int(rng.random() < 0.1))
    return asked


def taken_apart(records, rng):
    """Return clusters of records, taken apart at random: in each, an item is in one of some chunks, in the term chunk, or left out."""
    cluster = np.unique(rng.integers(0, max(records.records // 5, 1), records.records), return_inverse=True)[1]
    chunk_of = rng.integers(LEFT_OUT, 3, (int(cluster.max(initial=0)) + 1, max(len(records.vocabulary), 1)))
    chunk = chunk_of[np.repeat(cluster, records.lengths), records.items]
    return sv.Disassociated.of_records(records, cluster, chunk)[0]
