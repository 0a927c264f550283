"""What was mined, as people see it: the most frequent first, on a prompt, and whole as a data frame."""

import numpy as np
import pytest

import setveil as sv
from setveil.mining.itemsets import are_among_first

DATA = sv.from_lists([["a", "b"]] * 4 + [["c", "d"]] * 2 + [["a"], ["d", "e"]])
CHUNKS = [[(["milk", "tea"], 2), (["tea"], 2)], [(["rum"], 3)]]
CLUSTERS = sv.Disassociated.from_clusters([{"size": 4, "record_chunks": CHUNKS, "term_chunk": ["wine"]}])


@pytest.fixture(scope="module")
def many():
    """Give more itemsets than a prompt shows."""
    records = [[f"i{j:02}" for j in range(20) if j <= r % 20] for r in range(40)]
    return sv.mine(sv.from_lists(records), 1, max_length=2)


def test_itemsets_print_as_a_table_of_the_most_frequent():
    assert str(sv.mine(DATA, 2)).splitlines() == [
        "Itemsets(6 sets of up to 2 items, in 8 records)",
        "items  support   share",
        "a            5  62.5 %",
        "b            4  50.0 %",
        "a, b         4  50.0 %",
        "d            3  37.5 %",
        "c            2  25.0 %",
        "c, d         2  25.0 %",
    ]
    assert str(sv.mine(sv.from_lists([]), 1)) == "Itemsets(0 sets of up to 0 items, in 0 records)"


def test_of_many_itemsets_the_first_of_the_order_are_shown(many):
    first = [", ".join(items) for items, _support in list(many.ordered())[:10]]
    title, _header, *rows, note = str(many).splitlines()
    assert title == repr(many)
    assert [row.rsplit(maxsplit=3)[0] for row in rows] == first
    assert note == "and 200 more; .ordered().to_pandas() returns all of them"


def test_rules_print_as_a_table_of_the_most_certain(many):
    rules = sv.association_rules(sv.mine(DATA, 1), 0.5)
    assert str(rules).splitlines()[:3] == [
        "Rules(5 rules, in 8 records)",
        "antecedent  consequent  support  confidence   lift",
        "b           a                 4     100.0 %    1.6",
    ]
    more = sv.association_rules(many, "1%")
    first = [consequent for _antecedent, consequent in list(more.ordered())[:10]]
    _title, _header, *rows, _note = str(more).splitlines()
    assert [row.split()[1] for row in rows] == first


def test_itemsets_of_disassociated_data_print_as_a_table():
    assert str(sv.mine_bounds(CLUSTERS, 2)).splitlines() == [
        "BoundedItemsets(5 sets of up to 2 items, in 4 records)",
        "items      expected  certain  possible  inside",
        "tea               4        4         4       4",
        "rum               3        3         3       3",
        "rum, tea          3        3         3       0",
        "milk              2        2         2       2",
        "milk, tea         2        2         2       2",
    ]


@pytest.mark.parametrize("figures", [[], [1] * 10, [1] * 30, list(range(30)), [5] * 3 + [4] * 20 + [9] * 2])
def test_all_that_can_be_among_the_first_ten_are_found(figures):
    chosen = are_among_first(np.array(figures, dtype=np.int64))
    least = sorted(figures, reverse=True)[:10][-1:] or [0]
    assert chosen.tolist() == [figure >= least[0] for figure in figures]


def test_frames_of_pandas_hold_tuples_that_can_be_merged():
    pytest.importorskip("pandas")
    sets = sv.mine(DATA, 2).ordered()
    frame = sets.to_pandas()
    assert [*frame.columns] == ["items", "support", "share"]
    assert list(zip(frame["items"], frame["support"], strict=True)) == list(sets)
    halved = sv.mine(DATA[::2], 1).to_pandas()
    both = frame.merge(halved, on="items", suffixes=("_before", "_after")).set_index("items")
    assert both.loc[[("a", "b")], ["support_before", "support_after"]].to_numpy().tolist() == [[4, 2]]

    rules = sv.association_rules(sv.mine(DATA, 1), 0.5).ordered()
    frame = rules.to_pandas()
    assert [*frame.columns] == ["antecedent", "consequent", "support", "confidence", "lift"]
    assert list(zip(frame["antecedent"], frame["consequent"], strict=True)) == list(rules)

    bounds = sv.mine_bounds(CLUSTERS, 2).ordered()
    assert bounds.to_pandas()["items"].tolist() == [tuple(one) for one in bounds.to_lists()]
    assert len(sv.mine(sv.from_lists([]), 1).to_pandas()) == 0
