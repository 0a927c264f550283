"""Ants: the same clusters as the plain twin, they end, and rules stay together."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.kernels.threads import using_threads
from setveil.methods.disassociation._ants import MOST_RULES, by_ants
from setveil.methods.disassociation._horizontal import by_frequency

from oracle import ants as oracle
from support.exhaustive import examples
from support.random_data import seeds

SETTINGS = st.fixed_dictionaries(
    {
        "k": st.integers(1, 5),
        "delta": st.integers(5, 9),
        "beta": st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.5, 0.6, 0.7, 0.95, 1.0]),
        "iterations": st.sampled_from([0, 1, 2, 7, 40]),
        "stable": st.booleans(),
        "safe": st.booleans(),
        "mode": st.sampled_from(["recursive", "flat"]),
    }
)


def drawn(seed, *, most_records=60):
    """Draw records over few items, many of them equal, and rules that overlap; some rules may be in no record."""
    rng = np.random.default_rng(seed)
    labels = [f"i{j}" for j in range(int(rng.integers(2, 8)))]
    density = rng.choice([0.2, 0.4, 0.6, 0.8])
    lists = [[label for label in labels if rng.random() < density] for _ in range(int(rng.integers(1, most_records)))]
    lists = [record or [labels[int(rng.integers(len(labels)))]] for record in lists]
    data = sv.from_lists(lists)
    named = [
        rng.choice(data.vocabulary, min(int(rng.integers(1, 4)), len(data.vocabulary)), replace=False).tolist()
        for _ in range(int(rng.integers(1, 7)))
    ]
    return data, sv.NamedItemsets(named)


def run(data, rules, threads=1, **chosen):
    """Run the package's ants, and return clusters as lists of records, with the account."""
    asked = {"k": 2, "delta": 5, "beta": 0.6, "iterations": 3000, "stable": True, "safe": True, "mode": "recursive"}
    with using_threads(threads):
        clustering, account = by_ants(data, rules, **asked | chosen)
    borders = clustering.starts.tolist()
    return [clustering.rows[a:b].tolist() for a, b in pairwise(borders)], account


def by_oracle(data, rules, *, k, beta, iterations, stable, **_others):
    ants = oracle.Ants(data.to_lists(), list(rules), k, beta, stable=stable)
    ants.settle()
    ants.carry(iterations)
    return ants


def contents(data, clusters):
    """Return the contents of each cluster: equal records are interchangeable."""
    lists = data.to_lists()
    return [sorted(lists[r] for r in cluster) for cluster in clusters]


def expected(data, ants, *, k, delta, safe, mode, **_others):
    """Return the clusters that follow from those of the twin; other tests cover how the rest is clustered by frequency."""
    made, rest = oracle.cut(ants, k, delta, safe=safe)
    if safe and made and 0 < len(rest) < k:
        made[-1] += rest
    elif rest:
        found = by_frequency(data.take(np.array(rest)), k, delta, safe=safe, mode=mode)
        made += [[rest[r] for r in found.rows[a:b]] for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)]
    return made


@pytest.mark.plain_python
@settings(max_examples=examples(300))
@given(seed=seeds, chosen=SETTINGS)
def test_clusters_and_account_are_those_of_the_twin(seed, chosen):
    data, rules = drawn(seed)
    clusters, account = run(data, rules, **chosen)
    ants = by_oracle(data, rules, **chosen)
    assert contents(data, clusters) == contents(data, expected(data, ants, **chosen))
    assert account["moves-of-ants"] == ants.moves
    assert account["iterations-of-ants"] == ants.iterations
    assert account["rules-reached"] == ants.reached()
    assert account["rules-that-no-record-holds"] == ants.supports.count(0)
    assert account["records-that-hold-rules"] == sum(map(len, ants.clusters))
    small = sum(0 < len(cluster) < chosen["k"] for cluster in ants.clusters)
    assert account["groups-joined-to-the-rest"] == (small if chosen["safe"] else 0)
    left = [cluster for cluster in ants.clusters if not chosen["safe"] or len(cluster) >= chosen["k"]]
    assert account["groups-split"] == sum(len(cluster) > chosen["delta"] for cluster in left)
    assert account["records-of-the-rest"] == data.records - sum(map(len, left))


@pytest.mark.plain_python
@settings(max_examples=examples(150))
@given(seed=seeds, chosen=SETTINGS)
def test_every_record_is_in_one_cluster_and_none_is_too_small(seed, chosen):
    data, rules = drawn(seed)
    k = chosen["k"]
    clusters, account = run(data, rules, **chosen)
    assert sorted(r for cluster in clusters for r in cluster) == list(range(data.records))
    assert all(clusters)
    if chosen["safe"] and data.records >= k:
        assert min(map(len, clusters)) >= k
    if not chosen["safe"]:
        assert max(map(len, clusters)) <= chosen["delta"]
    assert account["rules"] == len(rules)


@settings(max_examples=examples(150))
@given(seed=seeds, k=st.integers(1, 5), beta=st.sampled_from([0.1, 0.3, 0.6, 0.7, 1.0]))
def test_each_move_of_stable_ants_brings_them_nearer(seed, k, beta):
    """The potential rises with every move, so they end; and every record of a cluster holds its rule."""
    data, rules = drawn(seed)
    ants = oracle.Ants(data.to_lists(), list(rules), k, beta, stable=True)
    ants.settle()
    seen = [ants.potential()]

    def look():
        assert ants.potential() > seen[-1]
        seen.append(ants.potential())
        for number, cluster in enumerate(ants.clusters):
            assert all(ants.rules[number] <= ants.records[r] for r in cluster)

    ants.carry(10**9, look)
    assert len(seen) == ants.moves + 1
    _clusters, account = run(data, rules, k=k, beta=beta, iterations=10**9)
    assert account["moves-of-ants"] == ants.moves


FIGHT = [["a", "b"]] * 8 + [["a"]] * 4 + [["b"]] * 4
"""Eight records hold both rules, and each rule wants more of its twelve records than are free."""


@pytest.mark.plain_python
@pytest.mark.parametrize("iterations", [5, 50, 500])
def test_ants_as_printed_fight_forever_and_stable_ones_do_not(iterations):
    data, rules = sv.from_lists(FIGHT), sv.NamedItemsets([["a"], ["b"]])
    asked = {"beta": 0.9, "iterations": iterations}
    clusters, account = run(data, rules, stable=False, **asked)
    assert account["iterations-of-ants"] == iterations
    assert account["moves-of-ants"] >= iterations
    assert sorted(r for cluster in clusters for r in cluster) == list(range(16))
    _clusters, account = run(data, rules, stable=True, **asked)
    assert account["iterations-of-ants"] <= 2
    assert account["moves-of-ants"] <= 1


def test_a_rule_gets_its_share_from_clusters_that_can_give():
    """Of six records each, a takes three, b five, and c, which is in all twelve, four: then it gets two more, and a has none to give."""
    data = sv.from_lists([["a", "c"]] * 6 + [["b", "c"]] * 6)
    rules = sv.NamedItemsets([["a"], ["b"], ["c"]])
    asked = {"delta": 20, "beta": 0.5, "iterations": 9}
    clusters, account = run(data, rules, **asked)
    ac, bc = ["a", "c"], ["b", "c"]
    assert contents(data, clusters) == [[ac] * 3, [bc] * 3, [ac] * 3 + [bc] * 3]
    assert [account[name] for name in ("rules-reached", "moves-of-ants", "iterations-of-ants")] == [3, 2, 1]
    # As printed, a gives one, gets it back through b, and gives it again.
    clusters, account = run(data, rules, stable=False, **asked | {"iterations": 1})
    assert contents(data, clusters) == [[ac] * 2, [bc] * 5, [ac] * 4 + [bc]]
    assert [account[name] for name in ("rules-reached", "moves-of-ants")] == [1, 3]


def test_ants_without_records_and_rules_of_one_item():
    data = sv.from_lists([["a"]] * 3 + [["b"]] * 3 + [["c", "d"]] * 3)
    clusters, account = run(data, sv.NamedItemsets([["a", "b"], ["a"], ["c", "d"]]), k=3)
    assert account["rules-that-no-record-holds"] == 1
    assert account["rules-reached"] == 2
    assert contents(data, clusters) == [[["a"]] * 3, [["c", "d"]] * 3, [["b"]] * 3]


def test_a_rest_below_k_joins_the_last_cluster():
    data = sv.from_lists([["a"]] * 4 + [["b"]] * 4 + [["c"], ["d"]])
    clusters, account = run(data, sv.NamedItemsets([["a"], ["b"]]), k=3)
    assert contents(data, clusters) == [[["a"]] * 4, [["b"]] * 4 + [["c"], ["d"]]]
    assert account["records-of-the-rest"] == 2
    clusters, _account = run(data, sv.NamedItemsets([["a"], ["b"]]), k=3, safe=False)
    assert contents(data, clusters) == [[["a"]] * 4, [["b"]] * 4, [["c"], ["d"]]]


def test_records_with_the_same_rules_stay_together_when_a_cluster_is_cut():
    data = sv.from_lists([["a", f"x{r:02}", *["z"] * (r % 3 > 0)] for r in range(12)])
    asked = {"delta": 4, "beta": 0, "iterations": 0}
    clusters, account = run(data, sv.NamedItemsets([["a"], ["a", "z"]]), **asked)
    assert clusters == [[0, 3, 6], [9, 2, 8], [1, 4, 5], [7, 10, 11]]
    assert account["groups-split"] == 2
    clusters, _account = run(data, sv.NamedItemsets([["a"], ["a", "z"]]), **asked, safe=False)
    assert clusters == [[0, 2, 3, 6], [8, 9], [1, 4, 5, 7], [10, 11]]


def test_shares_are_decimal_and_not_binary_fractions():
    """A tenth of ten records is one record, though 0.1 as a float is a little more than a tenth."""
    labels = [f"i{j}" for j in range(10)]
    data = sv.from_lists([labels] * 10)
    _clusters, account = run(data, sv.NamedItemsets([[label] for label in labels]), k=1, beta=0.1, iterations=9)
    assert account["rules-reached"] == 10
    assert account["moves-of-ants"] == 0


@settings(max_examples=examples(20))
@given(seed=seeds, chosen=SETTINGS)
def test_the_order_of_records_and_the_number_of_threads_change_nothing(seed, chosen):
    data, rules = drawn(seed)
    shuffled = data.take(np.random.default_rng(seed).permutation(data.records))
    clusters, account = run(data, rules, **chosen)
    assert run(data, rules, threads=2, **chosen) == (clusters, account)
    if chosen["safe"]:  # as printed, clusters are cut in the order of the file
        others, noted = run(shuffled, rules, **chosen)
        assert contents(shuffled, others) == contents(data, clusters)
        assert noted == account


def test_too_many_rules_are_refused():
    data = sv.from_lists([[f"i{r}", f"i{r + 1}"] for r in range(MOST_RULES + 2)])
    rules = sv.NamedItemsets([[item] for item in data.vocabulary])
    with pytest.raises(sv.BadParameter, match="too many for ants"):
        run(data, rules)


@pytest.mark.parametrize("safe", [True, False])
def test_the_method_takes_its_clusters_from_ants(safe):
    data, rules = drawn(11)
    method = sv.Disassociation(k=2, m=2, delta=5, partition="ants", rules=rules, safe=safe)
    outcome = method.apply(data, rng=np.random.default_rng(0))
    clusters, account = run(data, rules, safe=safe)
    assert account.items() <= outcome.account.items()
    assert outcome.account["clusters"] == len(clusters)
    assert sorted(outcome.alignment.rows.tolist()) == list(range(data.records))


@pytest.mark.realdata
def test_stable_ants_end_soon_on_real_clicks(real_data):
    data = real_data("bms-webview-1")
    pairs = sv.mine(data, 150)
    pairs = pairs.take(pairs.lengths == 2)
    pairs = pairs.take(np.argsort(-pairs.supports, kind="stable")[:70])
    clusters, account = run(data, sv.NamedItemsets(pairs.to_lists()), k=3, delta=20)
    assert account["iterations-of-ants"] < 100
    assert account["moves-of-ants"] > 0
    assert account["rules"] == 70
    sizes = [len(cluster) for cluster in clusters]
    assert sum(sizes) == data.records
    assert min(sizes) >= 3
