"""k^m-anonymity of disassociated data: against all reconstructions of small clusters, and with one fault at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.base.verdict import MOST_WITNESSES
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine

from contract.forms import place_of
from oracle import km_anonymity as oracle
from support.exhaustive import IS_EXHAUSTIVE, examples
from support.random_clusters import any_cluster, clusters_of, disturbed, safe_cluster
from support.random_data import as_sets, make, seeds

LEMMA_2 = {"too-few-subrecords", "too-few-subrecords-if-aware", "records-without-items"}


def check(clusters, k, m, attacker="oblivious"):
    clusters = [clusters] if isinstance(clusters, dict) else clusters
    return sv.KmAnonymity(k=k, m=m, attacker=attacker).check(sv.Disassociated.from_clusters(clusters))


def places(verdict):
    return {(witness.kind, place_of(witness, None)) for witness in verdict.witnesses}


def cluster(size, *chunks, terms=""):
    """Make a cluster: a chunk is a text such as `a b*2, a`, the term chunk another one."""
    made = []
    for chunk in chunks:
        parts = [part.strip().partition("*") for part in chunk.split(",")]
        made.append([(items.split(), int(count or 1)) for items, _star, count in parts])
    return {"size": size, "record_chunks": made, "term_chunk": terms.split()}


# -- all reconstructions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attacker", ["oblivious", "aware"])
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize(("k", "most_records"), [(2, 6), (3, 5)])
def test_it_never_holds_where_no_reconstruction_has_k_records(k, m, most_records, attacker):
    """Nor is it broken without need, but for Lemma 2, which is enough and not always needed."""
    rng = np.random.default_rng([k, m, attacker == "aware"])
    seen = {"holds": 0, "violated": 0, "alarm": 0}
    clusters = 250 if IS_EXHAUSTIVE else 100
    for _ in range(clusters):
        some = any_cluster(rng, k, most_records=most_records, most_items=5)
        verdict = check(some, k, m, attacker)
        broken = oracle.unprotected_sets(some, k, m, attacker)
        if attacker == "aware" and not oracle.reconstructions(some, k - 1):
            assert "too-few-subrecords-if-aware" in verdict.violations  # a term chunk with an item that is not rare
            continue
        if verdict:
            assert not broken, some
            seen["holds"] += 1
        elif broken:
            seen["violated"] += 1
        else:
            assert verdict.violations.keys() <= LEMMA_2, some
            seen["alarm"] += 1
        rare = {(w.items, w.kind) for w in verdict.witnesses if w.kind == "rare-itemset"}
        assert {items for items, _kind in rare} <= broken
    assert seen["holds"] > 0.08 * clusters
    assert seen["violated"] > 0.08 * clusters
    assert seen["alarm"] < 0.08 * clusters


def test_lemma_2_gives_alarms_without_need_and_finds_what_nothing_else_does():
    """Of clusters that only Lemma 2 speaks against, most are broken, and some are not: those alarms are false."""
    rng = np.random.default_rng(5)
    right = wrong = 0
    for _ in range(1500):
        some = any_cluster(rng, 2, most_records=5, most_items=4)
        if check(some, 2, 2).violations.keys() == {"too-few-subrecords"}:
            found = bool(oracle.unprotected_sets(some, 2, 2))
            right, wrong = right + found, wrong + (not found)
    assert right > 2 * wrong > 20


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_what_is_taken_apart_safely_holds(seed):
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    records = [{f"i{j}" for j in range(5) if rng.random() < 0.5} or {"i0"} for _ in range(int(rng.integers(k, 6)))]
    made = safe_cluster(records, k, m)
    made["term_chunk"] = made["term_chunk"][:2]  # to try all placements of more takes long
    if check(made, k, m):
        assert not oracle.unprotected_sets(made, k, m)
    data, _categories = make(seed, records=40)
    clusters = clusters_of(as_sets(data), k, m, rng)
    if clusters and sum(cluster["size"] for cluster in clusters) >= k:
        assert check(clusters, k, m)


# -- by its conditions ------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(150), deadline=None)
@given(seeds)
def test_any_faults_are_found_as_the_oracle_finds_them(seed):
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    attacker = str(rng.choice(["oblivious", "aware"]))
    data, _categories = make(seed, records=30, items=8)
    made_for = max(1, k - int(rng.integers(0, 2)))
    clusters = disturbed(disturbed(clusters_of(as_sets(data), made_for, m, rng, most=5), rng), rng)
    verdict = check(clusters, k, m, attacker)
    expected = oracle.cluster_violations(sv.Disassociated.from_clusters(clusters).to_clusters(), k, m, attacker)
    kinds = [kind for kind, _where in expected]
    assert verdict.violations == {kind: kinds.count(kind) for kind in set(kinds)}
    assert places(verdict) <= expected
    for kind in set(kinds):
        assert sum(witness.kind == kind for witness in verdict.witnesses) == min(kinds.count(kind), MOST_WITNESSES)


@settings(max_examples=examples(150), deadline=None)
@given(seed=seeds, size=st.integers(1, 60), most=st.sampled_from([3, MOST_WITNESSES]))
def test_the_verdict_is_the_same_in_pieces_of_any_size(seed, size, most):
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    data, _categories = make(seed, records=int(rng.integers(20, 120)), items=int(rng.integers(4, 12)))
    made_for, faults = (max(1, k - int(rng.integers(0, 4))), max(1, m - int(rng.integers(0, 3)))), rng.integers(0, 5)
    clusters = clusters_of(as_sets(data), *made_for, rng, most=int(rng.integers(3, 25)))
    for _ in range(int(faults)):
        clusters = disturbed(clusters, rng)
    attacker = str(rng.choice(["oblivious", "aware"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setveil.guarantees.km_anonymity.MOST_WITNESSES", most)
        whole = check(clusters, k, m, attacker)
        with using_engine(LocalEngine(size)):
            pieces = check(clusters, k, m, attacker)
    assert pieces == whole
    assert [*pieces.violations] == [*whole.violations]


SOUND = cluster(5, "a b*3, a, b", "c*3, c d*2", terms="x y")
"""2^2-anonymous: d goes with c in two subrecords."""


@pytest.mark.parametrize(
    ("faulty", "k", "m", "expected"),
    [
        (SOUND, 2, 3, set()),
        (SOUND, 3, 1, {("rare-itemset", (0, 1, ("d",)))}),
        (cluster(5, "a b*3, a, b", "c*3, c d", terms="x y"), 2, 2, {("rare-itemset", (0, 1, ("d",)))}),
        (cluster(5, "a b, a*2, b*2", "c*3", terms="x"), 2, 2, {("rare-itemset", (0, 0, ("a", "b")))}),
        (cluster(5, "a b, a*2, b*2", "c*3", terms="x"), 2, 1, set()),
        (cluster(5, "a b c, a b, a c, b c", terms="x"), 2, 3, {("rare-itemset", (0, 0, ("a", "b", "c")))}),
        (cluster(5, "a b c, a b, a c, b c", terms="x"), 2, 2, set()),
        (cluster(1, terms="x y"), 2, 2, {("cluster-below-k", (0,))}),
        (cluster(5, "a b*3, a, b", "c*3, b c*2", terms="x"), 2, 2, {("item-in-two-chunks", (0, "b"))}),
        (cluster(5, "a b*3, a, b", terms="a x"), 2, 2, {("item-in-term-chunk-too", (0, "a"))}),
        (cluster(4, "a b*3, a, b", terms="x"), 2, 2, {("more-subrecords-than-records", (0, 0, ()))}),
        (cluster(5, "a b*3, *2", terms="x"), 2, 2, {("empty-subrecord", (0, 0, ()))}),
        (cluster(5, "a*3", "b*3"), 2, 2, {("too-few-subrecords", (0,))}),
        (cluster(5, "a*3", "b*3"), 2, 1, set()),
        (cluster(4, "a*3", "b*3"), 2, 2, set()),
        (cluster(5, "a*4"), 2, 2, {("records-without-items", (0,))}),
        (cluster(5), 2, 2, {("records-without-items", (0,))}),
        (cluster(5, "a*3", "b*3", terms="x"), 2, 2, set()),
    ],
)
def test_each_fault_is_caught_with_its_place(faulty, k, m, expected):
    verdict = check(faulty, k, m)
    assert places(verdict) == expected
    assert bool(verdict) == (not expected)
    assert oracle.cluster_violations([faulty], k, m) == expected
    before = cluster(k, f"q*{k}")
    assert places(check([before, faulty], k, m)) == {(kind, (1, *where[1:])) for kind, where in expected}


def test_witnesses_can_be_verified_by_hand():
    clusters = [SOUND, cluster(5, "a b, a*2, b*2", "c*3"), cluster(1, terms="x"), cluster(5, "a*3", "b*3, a*2")]
    told = {witness.kind: (witness.place, witness.detail) for witness in check(clusters, 2, 2).witnesses}
    assert told == {
        "item-in-two-chunks": ("cluster 4 of 4", "'a' is in more than one of its record chunks"),
        "cluster-below-k": ("cluster 3 of 4", "has 1 record, fewer than k = 2"),
        "rare-itemset": ("cluster 2, record chunk 1 of it", "{a, b} is in 1 of its subrecords, fewer than k = 2"),
    }
    (witness,) = check(cluster(5, "a*3", "b*3"), 2, 2).witnesses
    assert witness.detail == (
        "its chunks have 6 subrecords for 5 records; at least 7 are needed for any set to be in 2 records and no record to be empty"
    )


def test_who_knows_that_terms_are_rare_needs_more():
    """Six records, and three subrecords in each of two chunks: with 2 records of both, one of x and 2 others, one is left empty."""
    tight = cluster(6, "a*3", "b*3", terms="x")
    assert check(tight, 2, 2)
    verdict = check(tight, 2, 2, "aware")
    assert places(verdict) == {("too-few-subrecords-if-aware", (0,))}
    assert "its term chunk has 1 item at most 1 time each" in verdict.witnesses[0].detail
    assert verdict.counts["clusters-that-fail-if-aware"] == 1
    assert check(tight, 2, 2).counts["clusters-that-fail-if-aware"] == 1
    assert check(cluster(6, "a*3", "b*3", terms="x y"), 2, 2, "aware")
    assert oracle.unprotected_sets(tight, 2, 2, "aware") == {("a", "b")}
    assert not oracle.unprotected_sets(tight, 2, 2)


def test_covers_are_counted_whatever_the_attacker():
    clusters = [
        cluster(4, "a*4", "b*2, c*2", terms="x y"),
        cluster(4, "a*3", "b*2", terms="x"),
        cluster(4, "a*4", "b*3"),
    ]
    for attacker in ("oblivious", "aware"):
        counts = check(clusters, 2, 2, attacker).counts
        assert counts["clusters-with-certain-links-of-record-chunks"] == 2
        assert counts["certain-links-of-record-chunks"] == 3
        assert counts["clusters-with-certain-links-to-term-chunks"] == 1
        assert counts["certain-links-to-term-chunks"] == 2
        assert counts["forced-links-of-record-chunks"] == 4


@pytest.mark.parametrize("attacker", ["oblivious", "aware"])
def test_with_k_1_everything_of_the_right_format_holds(attacker):
    rng = np.random.default_rng(1)
    for _ in range(100):
        some = any_cluster(rng, 1)
        assert check(some, 1, 3, attacker), some
        assert not oracle.unprotected_sets(some, 1, 3)
    assert not check(cluster(2, "a*3"), 1, 1)
    assert not check(cluster(2, "a"), 1, 1)


def test_no_cluster_at_all_holds():
    assert check([], 3, 2)
    assert check([], 10**40, 10**40)
    assert check(SOUND, 10**40, 10**40).violations == {"cluster-below-k": 1, "rare-itemset": 4}


@pytest.mark.parametrize("length", [267, 1000, 5000])
def test_long_subrecords_are_searched_whole(length):
    long = [f"l{j:04}" for j in range(length)]
    made = {"size": 4, "record_chunks": [[(long, 3), (long[:1], 1)]], "term_chunk": []}
    assert check([made] * 3, 3, 4)
    verdict = check([made] * 3, 4, 4)
    assert verdict.violations == {"rare-itemset": 3 * (length - 1)}
    assert len(verdict.witnesses) == MOST_WITNESSES
