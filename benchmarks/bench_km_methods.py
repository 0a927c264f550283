"""Methods for k^m-anonymity beside each other: labels left, what counting queries miss, loss, CPU seconds.

All in this process, warm, seconds of all threads together; of several runs the shortest. FoodMart has its real taxonomy, BMS-WebView-2 a
balanced tree of fan-out 5. Queries are those of the metric query-error: itemsets of up to 4 items drawn from the records of the original;
the error is |c~ - c| / max(c, s), s a thousandth of the records. Of disassociated data c~ is the expected support. Of generalized data c~
is what to expect if each item below a node were as likely as the others: the records that show all nodes of the query, divided by the
number of items below each.
Run: python benchmarks/bench_km_methods.py [foodmart | bms-webview-2 ...]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import setveil as sv
from setveil.data.records.alignment import Alignment
from setveil.metrics.generalization import LossSplit
from setveil.metrics.queries import QueryError, drawn_itemsets

from measuring import data_folder

K, M = 5, 2
RUNS = 3
TITLES = ("labels", "items among them", "query error", "loss", "cpu s")


def foodmart():
    """Return the data and their real taxonomy."""
    levels = ["subcategory", "category", "department", "family"]
    tree = sv.read_hierarchy(data_folder() / "foodmart_taxonomy.csv.gz", levels=levels, paths=True)
    return sv.read(data_folder() / "foodmart.dat.gz"), tree


def bms_webview_2():
    """Return the data; they have no taxonomy."""
    return sv.read(data_folder() / "bms-webview-2.dat.gz"), None


DATA = {"foodmart": foodmart, "bms-webview-2": bms_webview_2}


class Queries:
    """Counting queries, and how far answers to them are off."""

    def __init__(self, data):
        asked = QueryError()
        rng = np.random.default_rng(asked.seed)
        self.offsets, self.codes = drawn_itemsets(data, asked.queries, asked.max_length, rng)
        self.true = sv.supports(data, (self.offsets, self.codes))
        self.least = asked.sanity.count(data.records)

    def error(self, answers):
        """Return the mean relative error."""
        return float((np.abs(answers - self.true) / np.maximum(self.true, self.least)).mean())


def applied(method, data):
    """Return the outcome and the CPU seconds of the method, the least of a few runs."""
    took = []
    for _ in range(RUNS):
        started = time.process_time()
        outcome = method.apply(data, rng=np.random.default_rng(0))
        took.append(time.process_time() - started)
    return outcome, min(took)


def expected_of_nodes(published, data, queries):
    """Return how many records to expect for each query, if each item below a node is as likely as the others."""
    tree, shown = published.hierarchy, published.rows
    node_of = {item: node for node in shown.vocabulary for item in tree.leaves_under(node)}
    nodes = np.array([shown.code_of[node_of[label]] if label in node_of else -1 for label in data.vocabulary])
    sizes = np.array([len(tree.leaves_under(node)) for node in shown.vocabulary])
    query = np.repeat(np.arange(len(queries.offsets) - 1), np.diff(queries.offsets))
    asked = nodes[queries.codes]
    share = np.ones(len(queries.true))
    np.multiply.at(share, query, 1 / sizes[asked])
    keys = np.unique(query * len(sizes) + asked)
    offsets = np.searchsorted(keys // len(sizes), np.arange(len(share) + 1))
    return share * sv.supports(shown, (offsets, keys % len(sizes)))


def apriori_generalization(data, tree, queries, **chosen):
    """Return the figures of generalized data."""
    outcome, took = applied(sv.AprioriGeneralization(k=K, m=M, hierarchy=tree, **chosen), data)
    published = outcome.published
    labels = published.rows.vocabulary
    loss = LossSplit()(data, published, Alignment.identity(data.records)).value
    items = sum(published.hierarchy.is_leaf(label) for label in labels)
    return len(labels), items, queries.error(expected_of_nodes(published, data, queries)), loss, took


def nothing(data, _tree, queries):
    """Return the figures of an empty release, to compare with: every answer is 0."""
    del data
    return 0, 0, queries.error(np.zeros(len(queries.true))), 1.0, 0.0


def disassociation(data, _tree, queries):
    """Return the figures of disassociated data; answers are expected supports, and nothing is lost but which parts belong together."""
    outcome, took = applied(sv.Disassociation(k=K, m=M), data)
    published = outcome.published
    asked = [[data.vocabulary[code] for code in part] for part in np.split(queries.codes, queries.offsets[1:-1])]
    expected = sv.support_bounds(published, asked).expected
    labels = len(published.vocabulary)
    return (
        labels,
        labels,
        queries.error(expected),
        outcome.account["occurrences-in-term-chunks"] / data.occurrences,
        took,
    )


def reassociation(data, _tree, queries):
    """Return the figures of one set of records put together again; lost is what term chunks told."""
    apart, before = applied(sv.Disassociation(k=K, m=M), data)
    outcome, took = applied(sv.Reassociation().bind(apart.published, linked=False, rng=None), apart.published)
    again = outcome.published.datasets[0]
    code_of = np.array([again.code_of.get(label, -1) for label in data.vocabulary])
    asked = [[data.vocabulary[code] for code in part] for part in np.split(queries.codes, queries.offsets[1:-1])]
    labels = int(np.count_nonzero(code_of >= 0))
    lost = 1 - again.occurrences / data.occurrences
    return labels, labels, queries.error(sv.supports(again, asked)), lost, before + took


METHODS = {
    "nothing": nothing,
    "disassociation": disassociation,
    "re-associated": reassociation,
    "apriori-generalization": apriori_generalization,
    "apriori, as in the paper": lambda *given: apriori_generalization(*given, refine=False),
}
"""A function a method: data, tree or None, queries in; the figures of `TITLES` out."""


def main(names):
    warm = sv.read("sample:supermarket?records=2000")
    apriori_generalization(warm, None, Queries(warm))
    for warmed in (disassociation, reassociation):
        warmed(warm, None, Queries(warm))
    print(
        f"k = {K}, m = {M}, delta 50; loss: as loss-split measures it, or the share of occurrences told in term chunks only"
    )
    print(f"{'data':<15}{'method':<26}" + "".join(f"{title:>18}" for title in TITLES))
    for name in names:
        data, tree = DATA[name]()
        queries = Queries(data)
        for title, measured in METHODS.items():
            labels, items, error, loss, took = measured(data, tree, queries)
            print(f"{name:<15}{title:<26}{labels:>18,}{items:>18,}{error:>18.4f}{loss:>18.4f}{took:>18.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or DATA)
