"""What `risk` reports, against plain definitions."""

import json
from fractions import Fraction
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil import exposure
from setveil.errors import BadParameter

from oracle import km_anonymity, pair_holes, strongest_rules, uniqueness
from support.exhaustive import examples
from support.program import call
from support.random_clusters import any_cluster, clusters_of
from support.random_data import as_sets, make, seeds


def smallest_group(records, known):
    """The smallest support of any set of at most `known` items that some record holds."""
    sets = {
        frozenset(chosen)
        for record in records
        for size in range(1, known + 1)
        for chosen in combinations(sorted(record), size)
    }
    return min(km_anonymity.support(records, chosen) for chosen in sets)


@settings(max_examples=examples(100), deadline=None)
@given(seeds)
def test_unique_records_and_smallest_groups_of_plain_records(seed):
    rng = np.random.default_rng(seed)
    records = as_sets(make(seed)[0]) * int(rng.integers(1, 4))
    found = sv.risk(sv.from_lists(records))
    assert [level.records for level in found.unique] == [len(uniqueness.unique_records(records, m)) for m in (1, 2, 3)]
    if any(records):
        assert [level.records for level in found.smallest] == [smallest_group(records, m) for m in (1, 2, 3)]
        assert all(level.exact for level in found.smallest)


def test_groups_of_all_sizes_come_up():
    """Else the test above would show little."""
    sizes = {
        level.records
        for seed in range(30)
        for level in sv.risk(sv.from_lists(as_sets(make(seed)[0]) * (1 + seed % 3))).smallest
    }
    assert len(sizes) > 5


@settings(max_examples=examples(100), deadline=None)
@given(seeds)
def test_the_smallest_group_and_the_links_of_disassociated_data(seed):
    rng = np.random.default_rng(seed)
    if rng.random() < 0.5:
        clusters = [any_cluster(rng, 2) for _ in range(int(rng.integers(1, 4)))]
    else:
        clusters = clusters_of(as_sets(make(seed)[0]), int(rng.integers(2, 5)), 2, rng)
    found = sv.risk(sv.Disassociated.from_clusters(clusters))
    assert found.unique == ()
    for level in found.smallest:  # all conditions become stricter as k grows
        k = level.records
        assert k == 1 or not km_anonymity.cluster_violations(clusters, k, level.known)
        assert km_anonymity.cluster_violations(clusters, k + 1, level.known)
    certain, to_terms, forced = km_anonymity.links(clusters)
    assert (found.certain_links, found.forced_links) == (len(certain) + len(to_terms), len(forced))


@settings(max_examples=examples(100), deadline=None)
@given(seeds)
def test_the_strongest_rule_for_sensitive_items(seed):
    records = [record for record in as_sets(make(seed)[0]) if len(record) < 8]
    items = sorted(set().union(*records))
    sensitive = set(items[:: 1 + seed % 4])
    if not sensitive:
        return
    found = sv.risk(sv.from_lists(records), known=1, sensitive=sorted(sensitive)).inference
    best = strongest_rules.confidences(records, sensitive, include_empty=True)[-1]
    assert found.exact
    assert Fraction(found.with_item, found.records) == best
    assert strongest_rules.support(records, set(found.known)) == found.records
    assert strongest_rules.support(records, {*found.known, found.item}) == found.with_item
    half = Fraction(1, 2)
    likely = [one for one in sensitive if strongest_rules.unsafe_rules(records, one, half, include_empty=True)]
    assert (found.items, found.likely_items) == (len(sensitive), len(likely))


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_holes_are_the_pairs_furthest_below_independence(seed):
    rng = np.random.default_rng(seed)
    items = [f"i{j}" for j in range(int(rng.integers(2, 12)))]
    chances = rng.random(len(items))
    records = [{item for item, chance in zip(items, chances, strict=True) if rng.random() < chance} for _ in range(60)]
    with patch.object(exposure, "LEAST_DEVIATION", 1), patch.object(exposure, "ITEMS_AT_ONCE", 3):
        found = sv.risk(sv.from_lists(records), known=1)
    expected = pair_holes.holes(records, 1)
    assert found.hole_count == len(expected)
    first = expected[: exposure.MOST_LISTED]
    deviations = [pair_holes.deviation(records, hole.items) for hole in found.holes]
    assert deviations == pytest.approx([deviation for _pair, deviation in first])
    assert {hole.items for hole in found.holes} <= {pair for pair, _deviation in expected}
    for hole in found.holes:
        assert hole.records == km_anonymity.support(records, set(hole.items))


def test_a_hidden_pair_is_the_first_hole():
    data = sv.read("sample:supermarket?records=20000")
    (pair,) = sv.mine(data, min_length=2, max_length=2, min_support="2%").ordered().to_lists()[:1]
    hidden = sv.publish(
        data, sv.ExactSwap(itemsets=[pair], min_support="1%", target=0), metrics="none", seed=7, experiment=True
    )
    assert set(sv.risk(hidden, known=1).holes[0].items) == set(pair)
    assert set(pair) not in [set(hole.items) for hole in sv.risk(data, known=1).holes]


def test_a_search_that_ends_early_gives_a_lower_bound():
    records = [["a", "b"], ["a", "c"], ["b", "c"]] * 4
    whole = sv.risk(records, known=2)
    with patch.object(exposure, "STEPS_FOR_GROUPS", 0):
        short = sv.risk(records, known=2)
    assert whole.smallest[1].exact
    assert not short.smallest[1].exact
    assert short.smallest[1].records <= whole.smallest[1].records == 4
    assert "at least" in short.tables()[0].to_text()


@pytest.mark.parametrize("records", [[], [[]], [[], ["a"]], [["a"]], [["a", "b"]] * 3])
def test_small_data(records):
    found = sv.risk(records, sensitive=["a"])
    assert len(found.sentences) == 5
    assert str(found).startswith(found.sentences[0])
    assert "Risk" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["records"] == len(records)


def test_sensitive_items_that_do_not_occur_are_no_protection():
    found = sv.risk([["tea", "milk"]] * 3, sensitive=["beer"])
    assert found.inference is None
    assert found.sentences[2] == "The file holds none of the named sensitive items; compare the spelling."


def test_a_node_above_a_sensitive_item_is_sensitive():
    tree = sv.Hierarchy({"asthma": "N", "beer": "drinks", "tea": "drinks"})
    data = sv.Generalized(sv.from_lists([["drinks", "N"]] * 3 + [["drinks"]]), tree)
    found = sv.risk(data, sensitive=["asthma"]).inference
    assert (found.item, found.with_item, found.records) == ("N", 3, 4)


def test_grouped_data_show_rows_without_their_sensitive_items():
    groups = sv.Grouped.from_groups([([["a"], ["a", "b"]], {"s": 1}), ([["a"], ["a"]], {})])
    found = sv.risk(groups, known=2, sensitive=["s"])
    assert [level.records for level in found.unique] == [1, 1]
    assert "not computed for grouped data" in found.sentences[2]


def test_several_sets_are_refused_with_what_to_do(tmp_path):
    clusters = sv.publish([["a", "b"], ["a", "b"], ["b", "c"], ["b", "c"]], sv.Disassociation(k=2, m=1), metrics="none")
    clusters.save(tmp_path / "d")
    sv.publish(
        tmp_path / "d", sv.Reassociation(neighbours=2), out=tmp_path / "r", metrics="none", seed=7, experiment=True
    )
    with pytest.raises(BadParameter, match="2 sets of records; name the file of one set"):
        sv.risk(tmp_path / "r")


def test_labels_that_look_alike_are_reported():
    found = sv.risk([["caf\u00e9", "tea"], ["cafe\u0301"]])
    assert found.look_alike_pairs == 1
    assert found.sentences[4].startswith("1 pair of labels looks alike, such as 'caf")


def test_the_command_prints_what_python_returns(tmp_path):
    data = "sample:supermarket?records=500"
    (tmp_path / "sensitive.txt").write_text("condoms-12-pack\n")
    options = ["--known", 2, "--sensitive", "sensitive.txt"]
    found = sv.risk(data, known=2, sensitive=tmp_path / "sensitive.txt")
    assert call("risk", data, *options, "--json", cwd=tmp_path).json == found.to_dict()
    printed = call("risk", data, *options, cwd=tmp_path).out
    assert printed.splitlines()[:5] == list(found.sentences)
    assert "smallest group" in printed


def test_reading_options_do_not_apply_to_a_release(tmp_path):
    sv.publish([["a", "b"]] * 4, sv.Disassociation(k=2, m=1), out=tmp_path / "release", metrics="none")
    ended = call("risk", "release", "--separator", ";", cwd=tmp_path)
    assert ended.code == 2
    assert "--separator does not apply to a release folder" in ended.err
