"""k^m-anonymity of plain and generalized records at its edges; that it agrees with the oracle is a contract test."""

from itertools import combinations

import numpy as np
import pytest

import setveil as sv
from setveil.base.verdict import MOST_WITNESSES
from setveil.guarantees import km_anonymity
from setveil.mining import rare_itemsets

from oracle import km_anonymity as oracle
from support.random_data import as_sets, make


def records(*texts):
    return sv.from_lists([text.split() for text in texts])


def test_a_rare_pair_is_told_with_its_support():
    data = records("a b", "a b c", "a c", "c", "b", "")
    verdict = sv.KmAnonymity(k=2, m=2).check(data)
    assert verdict.violations == {"rare-itemset": 1}
    (witness,) = verdict.witnesses
    assert (witness.place, witness.items) == ("{b, c}", ("b", "c"))
    assert witness.detail == "in 1 of the 6 released records, fewer than k = 2"
    assert verdict.counts == {"records": 6, "records-with-a-rare-itemset": 1, "rare-itemsets-of-2-items": 1}
    assert not verdict.reason
    assert str(verdict) == "km-anonymity: violated (1 rare itemset)"
    assert sv.KmAnonymity(k=2, m=1).check(data)
    assert sv.KmAnonymity(k=1, m=3).check(data)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_it_agrees_with_the_oracle_for_other_k_and_m(k, m):
    for seed in range(25):
        data, _categories = make(seed, records=12, items=8)
        verdict = sv.KmAnonymity(k=k, m=m).check(data)
        expected = oracle.violations(as_sets(data), k, m)
        assert verdict.violations.get("rare-itemset", 0) == len(expected)
        assert {(w.kind, w.items) for w in verdict.witnesses} <= expected
        assert len(set(verdict.witnesses)) == min(len(expected), MOST_WITNESSES)


@pytest.mark.parametrize(
    ("data", "k", "m", "holds"),
    [
        (records(), 3, 2, True),
        (records("", ""), 3, 2, True),
        (records("a b c"), 1, 3, True),
        (records("a b c"), 2, 3, False),
        (records("a b c", "a b c"), 2, 10**40, True),
        (records("a b c", "a b c"), 10**40, 10**40, False),
        (records("e a", "e a", "e b", "e b", "e"), 2, 5, True),
        (records("e a", "e b"), 2, 1, False),
    ],
    ids=lambda value: None if isinstance(value, sv.Transactions) else str(value)[:5],
)
def test_edges(data, k, m, holds):
    assert bool(sv.KmAnonymity(k=k, m=m).check(data)) == holds


def test_what_is_too_much_to_count_is_at_least_so_much(monkeypatch):
    monkeypatch.setattr(rare_itemsets, "STEPS_FOR_MORE", 100)
    data = sv.from_lists([[f"i{r}", f"i{s}"] for r, s in combinations(range(30), 2)] + [[f"j{r}" for r in range(300)]])
    verdict = sv.KmAnonymity(k=2, m=2).check(data)
    assert verdict.status == "violated"
    assert verdict.reason.startswith("there are more rare itemsets")
    assert verdict.violations["rare-itemset"] >= 300
    assert verdict.counts["rare-itemsets-of-1-item"] == 300


def test_what_is_not_searched_to_the_end_is_undecided_and_not_kept():
    data = sv.from_lists([[f"i{r}", f"i{s}"] for r, s in combinations(range(40), 2)] * 3)
    verdict = sv.KmAnonymity(k=3, m=2, budget=50).check(data)
    assert verdict.status == "undecided"
    assert not verdict
    assert "within 50 steps" in verdict.reason
    assert sv.KmAnonymity(k=3, m=2).check(data)
    assert sv.KmAnonymity(k=3, m=2, budget=10**40).check(data)


def test_the_original_is_looked_at_with_a_small_budget(monkeypatch):
    data = sv.from_lists([[f"i{r}", f"i{s}"] for r, s in combinations(range(40), 2)] * 3)
    assert sv.KmAnonymity(k=3, m=2).before(data)
    assert sv.KmAnonymity(k=4, m=2).before(data).violations == {"rare-itemset": 780}
    monkeypatch.setattr(km_anonymity, "STEPS_BEFORE", 50)
    assert sv.KmAnonymity(k=3, m=2).before(data).status == "undecided"


def test_a_record_that_shows_an_item_itself_counts_for_the_item_alone():
    tree = sv.Hierarchy({"beer": "drink", "wine": "drink", "bread": "food"})
    verdict = sv.KmAnonymity(k=2, m=1).check(sv.Generalized(records("beer", "drink"), tree))
    assert {witness.items for witness in verdict.witnesses} == {("beer",), ("drink",)}
    for lists in (["drink food", "drink food"], ["beer", "beer", "drink", "drink"], ["drink beer", "drink beer"]):
        assert sv.KmAnonymity(k=2, m=2).check(sv.Generalized(records(*lists), tree))


def test_whoever_knows_items_has_k_candidates_also_where_nodes_and_items_mix():
    """Those are the records in which each known item stands, or a node above it; the check counts nodes as they stand."""
    held = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        leaves = [f"i{j}" for j in range(int(rng.integers(3, 8)))]
        tree = sv.Hierarchy.balanced(leaves, 2)
        nodes = {leaf: [leaf, *tree.ancestors(leaf)] for leaf in leaves}
        rows = [{str(rng.choice(nodes[leaf])) for leaf in leaves if rng.random() < 0.5} for _ in range(12)]
        k, m = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        if not sv.KmAnonymity(k=k, m=m).check(sv.Generalized(sv.from_lists(rows * int(rng.integers(1, 3))), tree)):
            continue
        held += 1
        for known in (c for size in range(1, m + 1) for c in combinations(leaves, size)):
            fitting = sum(all(row.intersection(nodes[item]) for item in known) for row in rows)
            assert fitting == 0 or 2 * fitting >= k
    assert held > 20


def test_the_statement_names_what_was_asked_for():
    statement = sv.KmAnonymity(k=3, m=2).statement
    assert "up to 2 items" in statement
    assert "at least 3 released records" in statement
    assert "term chunk" not in statement
    aware = sv.KmAnonymity(k=3, m=2, attacker="aware")
    assert "term chunk" in aware.statement_for(sv.Disassociated)
    assert "chunk" not in aware.statement_for(sv.Transactions) + aware.statement_for(sv.Generalized)
    assert "not bounded" in sv.KmAnonymity.coverage.inference


@pytest.mark.realdata
def test_a_click_stream_has_as_many_rare_pairs_as_known(real_data):
    """BMS-WebView-1: counted with rare items among the pairs these are 11,289 (k = 2) and 19,987 (k = 3)."""
    data = real_data("bms-webview-1")
    for k, of_each_size, all_pairs, exposed in ((2, (14, 11_183), 11_289, 1_285), (3, (23, 19_714), 19_987, 2_064)):
        verdict = sv.KmAnonymity(k=k, m=2).check(data)
        counts = verdict.counts
        assert (counts["rare-itemsets-of-1-item"], counts["rare-itemsets-of-2-items"]) == of_each_size
        assert counts["records-with-a-rare-itemset"] == exposed
        rare = {label for label, n in zip(data.vocabulary, data.supports, strict=True) if n < k}
        with_rare = {pair for record in as_sets(data) for item in record & rare for pair in pairs_with(item, record)}
        assert of_each_size[1] + len(with_rare) == all_pairs


def pairs_with(item, record):
    return {frozenset((item, other)) for other in record if other != item}
