"""Supports in several sets of records: equal to Rubin's rules one by one, and their intervals hold what they should."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.mining.support_intervals import combined

from oracle import rubin
from support.exhaustive import examples
from support.program import call
from support.random_data import as_sets, make, seeds


def sets_of(seed, how_many=3):
    """Return several sets of records over about the same items."""
    rng = np.random.default_rng(seed)
    lists = as_sets(make(seed, records=40, items=6)[0])
    made = []
    for _set in range(how_many):
        kept = [record for record in lists if rng.random() < 0.95]
        made.append(sv.from_lists([{x for x in record if rng.random() < 0.9} for record in kept]))
    return sv.Reassociated(tuple(made))


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_supports_and_intervals_equal_the_definition(seed):
    data = sets_of(seed, 2 + seed % 4)
    asked = [["i000"], ["i000", "i001"], ["i005", "i001", "i002"], [], ["nowhere"]]
    found = sv.support_intervals(data, asked)
    for place, itemset in enumerate(asked):
        counts = [sum({*itemset} <= record for record in as_sets(one)) for one in data.datasets]
        mean, low, high = rubin.interval(counts, [one.records for one in data.datasets])
        assert found.supports[place] == pytest.approx(mean)
        assert (found.low[place], found.high[place]) == pytest.approx((low, high), abs=1e-6)
        assert found.low[place] <= mean + 1e-9
        assert mean - 1e-9 <= found.high[place]


@settings(max_examples=examples(30), deadline=None)
@given(seed=seeds)
def test_mining_finds_the_itemsets_whose_mean_support_is_high_enough(seed):
    data = sets_of(seed)
    found = sv.mine_intervals(data, 5, max_length=3)
    everything = sv.mine(sv.from_lists([record for one in data.datasets for record in one]), 1, max_length=3).to_lists()
    true = sv.support_intervals(data, everything)
    wanted = {frozenset(s): tuple(x) for s, *x in zip(everything, true.supports, true.low, true.high, strict=True)}
    mined = found.to_table().to_pylist()
    assert {frozenset(row["items"]) for row in mined} == {items for items, x in wanted.items() if x[0] >= 5 - 1e-9}
    for row in mined:
        assert (row["support"], row["low"], row["high"]) == pytest.approx(wanted[frozenset(row["items"])])
    ordered = found.ordered()
    assert ordered.supports.tolist() == sorted(found.supports, reverse=True)


def test_intervals_hold_the_probability_in_95_percent_of_data_sets():
    """Half of the people did not say whether they hold the item: each set draws it from what the others say."""
    rng, n, trials, sets = np.random.default_rng(1), 400, 2000, 10
    for probability in (0.02, 0.3):
        known = rng.binomial(n // 2, probability, trials)
        drawn = rng.beta(known[None] + 0.5, n // 2 - known[None] + 0.5, (sets, trials))
        counts = known + rng.binomial(n // 2, drawn)
        found = combined(counts.astype(float), np.full(sets, float(n)))
        inside = (found.low <= probability * n) & (probability * n <= found.high)
        assert 0.935 <= inside.mean() <= 0.97


def test_intervals_of_re_associated_data_hold_the_probability():
    """Two items are independent; the release shows them in different chunks. The sets know that, so intervals are rather too wide."""
    rng, size, clusters, trials, sets = np.random.default_rng(2), 40, 10, 400, 8
    n, inside, inside_of_item = size * clusters, 0, 0
    for _trial in range(trials):
        a, b = rng.random((2, clusters, size)) < np.array([0.4, 0.25])[:, None, None]
        together = [(a & rng.permuted(b, axis=1)).sum() for _set in range(sets)]
        found = combined(np.array([together, [a.sum()] * sets], float).T, np.full(sets, float(n)))
        inside += found.low[0] <= 0.1 * n <= found.high[0]
        inside_of_item += found.low[1] <= 0.4 * n <= found.high[1]
    assert inside / trials >= 0.94
    assert 0.92 <= inside_of_item / trials <= 0.98


def test_one_set_has_no_intervals():
    one = sv.Reassociated((sv.from_lists([["a"]]),))
    for wrong in (lambda: sv.support_intervals(one, [["a"]]), lambda: sv.mine_intervals(one, 1)):
        with pytest.raises(
            sv.BadParameter, match=r"at least two sets of records; re-associate the data with `copies=20`"
        ):
            wrong()


def test_it_prints_as_a_table():
    found = sv.mine_intervals(sets_of(1), "20%")
    assert repr(found).startswith("EstimatedItemsets(")
    assert "low" in str(found)
    assert "vocabulary" not in repr(found)
    assert next(iter(found.ordered()))[1] == found.supports.max()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("copies")
    data = make(3, records=60, items=8, hot=0.7)[0].without_empty()
    chunks = sv.publish(data, sv.Disassociation(k=3, m=2), metrics=[], attacks=[])
    sv.publish(
        chunks.data, sv.Reassociation(copies=4, term_chunk="place"), out=place / "release", metrics=[], attacks=[]
    )
    return place / "release"


def test_the_command_lists_means_and_intervals(folder):
    data = sv.open_release(folder).data
    found = call("mine", folder, "--min-support", "10%", "--json").json
    true = sv.mine_intervals(data, "10%").ordered()
    assert found["itemsets"] == true.to_table().to_pylist()
    assert (found["sets"], found["number"]) == (4, len(true))
    assert call("mine", folder, "--min-support", "10%", "--count", "--json").json["number"] == len(true)
    best = call("mine", folder, "--top", "3", "--json").json["itemsets"]
    assert [row["support"] for row in best] == true.supports[:3].tolist()
    shown = call("mine", folder, "--min-support", "10%").out
    assert "95 % interval" in shown
    assert "records, as the mean of 4 sets" in shown


def test_rules_need_one_set(folder):
    refused = call("mine", folder, "--min-support", "10%", "--rules")
    assert refused.code == 2
    assert "does not apply to several sets of records" in refused.sentence()
    assert call("mine", folder / "data-1.dat", "--min-support", "10%", "--rules", "--quiet").code == 0


def test_the_file_holds_the_limits(folder, tmp_path):
    assert call("mine", folder, "--min-support", "10%", "--out", tmp_path / "found.csv", "--quiet").code == 0
    assert (tmp_path / "found.csv").read_text().splitlines()[0] == "items,support,low,high,share"
