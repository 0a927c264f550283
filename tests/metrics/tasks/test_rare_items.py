"""Rare items that a release still shows as themselves."""

import pytest

import setveil as sv
from setveil.metrics.pair import Pair

DATA = sv.from_lists([["a", "b", "rare"], ["a", "b"], ["a", "odd"], ["a", "b"], ["a"]] * 2 + [["one"]])


def measured(published, most=2):
    return sv.RareItemRecall(max_support=most).of(Pair(DATA, published))


def test_items_in_few_records_count_and_others_do_not():
    found = measured(sv.from_lists([["a", "rare"], ["one"], ["one", "other"]]))
    assert found.value == pytest.approx(2 / 3)
    assert found.status == "exact"
    assert found.details == {"kept": 2, "rare": 3, "most-records": 2, "occurrences": {"before": 5, "after": 3}}
    assert measured(DATA).value == 1
    assert measured(sv.from_lists([["a", "b"]])).value == 0
    assert measured(DATA, "10%").details["most-records"] == 2


def test_a_node_is_not_the_item_below_it():
    tree = sv.Hierarchy({"rare": "group", "odd": "group", "one": "others", "a": "others"})
    rows = sv.from_lists([["group", "a"], ["one"]])
    assert measured(sv.Generalized(rows, tree)).details["kept"] == 1


def test_an_item_in_a_term_chunk_is_shown():
    clusters = [{"size": 3, "record_chunks": [[(["a"], 3)]], "term_chunk": ["odd", "rare"]}]
    assert measured(sv.Disassociated.from_clusters(clusters)).details["kept"] == 2


def test_a_counted_item_is_shown():
    assert measured(sv.Grouped.from_groups([([["a"], ["b"]], {"rare": 1})])).details["kept"] == 1


def test_data_without_rare_items_define_no_figure():
    found = measured(DATA, 1)
    assert found.value == 1
    common = sv.from_lists([["a"]] * 20)
    reason = "no item of the original is in 10 or fewer records"
    assert sv.RareItemRecall().of(Pair(common, common)).reason == reason
