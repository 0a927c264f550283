"""The worked example of gunawan2021: Table I and what the text says of it; and what its tables say of themselves."""

import numpy as np
import pytest

import setveil as sv
from setveil.methods.itemsets.heu import HEU
from setveil.methods.itemsets.naive import Naive
from setveil.methods.itemsets.swap_itemsets import SwapItemsets
from setveil.mining.frequent import mine
from setveil.mining.supports import supports
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.parameters.shares import MinSupport
from setveil.reproduce.itemset_printed import (
    DISSIMILARITY,
    HIDING_FAILURE,
    PRINTED_MEAN_LENGTH,
    SUPPORTS,
    TABLE_2,
    TABLE_4,
    TABLE_5,
)

# Table I: ten transactions. That of t8 is printed as 1,6,4,7,9.
TABLE_1 = {
    "t1": "1 2 3 8 10",
    "t2": "2 7 8 10",
    "t3": "5 6 7 10 12",
    "t4": "2 3 8 9",
    "t5": "1 3 5 9 10",
    "t6": "4 6 7 9 10 12",
    "t7": "1 3 5 8 11",
    "t8": "1 4 6 7 9",
    "t9": "5 12",
    "t10": "1 3",
}


@pytest.fixture
def table():
    return sv.from_lists([t.split() for t in TABLE_1.values()], ids=list(TABLE_1))


def released(method, table, seed=0):
    bound = method.bind(table, linked=False, rng=np.random.default_rng(seed))
    return bound.apply(table, rng=np.random.default_rng(seed)).published


# -- Table I ----------------------------------------------------------------------------------------------------------------


def test_items_1_and_3_are_together_in_the_four_transactions_that_the_text_names(table):
    assert [name for name, items in TABLE_1.items() if {"1", "3"} <= set(items.split())] == ["t1", "t5", "t7", "t10"]
    assert supports(table, [["1", "3"]]).tolist() == [4]


def test_the_probabilities_of_items_2_and_3_are_those_of_the_text_but_for_a_slip(table):
    # The text has 3/10 = 0.33 for item 2, which is 0.3; and 5/10 for item 3.
    assert supports(table, [["2"], ["3"]]).tolist() == [3, 5]


def test_coffee_of_t2_is_in_t3_too_so_that_swapping_it_would_lose_an_item(table):
    t2, t3 = (set(TABLE_1[name].split()) for name in ("t2", "t3"))
    assert "7" in t2 & t3
    assert "6" in t3 - t2
    after = [t2 - {"7"} | {"6"}, t3 - {"6"} | {"7"}]
    assert sum(map(len, after)) == len(t2) + len(t3) - 1
    # SW takes no item that the partner holds: whatever it exchanges between the two, none is lost.
    named = NamedItemsets([["2", "7"], ["6", "12"]])
    for seed in range(5):
        for reading in ("one", "all"):
            release = released(SwapItemsets(itemsets=named, min_support=1, reading=reading), table, seed)
            assert release.occurrences == table.occurrences
            assert release.supports.tolist() == table.supports.tolist()


@pytest.mark.parametrize("method", [HEU, Naive])
def test_leaving_out_hides_1_and_3_and_makes_nothing_new(table, method):
    release = released(method(itemsets=[["1", "3"]], min_support=3), table)
    assert supports(release, [["1", "3"]])[0] < 3
    before, after = ({frozenset(items) for items, _support in mine(data, 3)} for data in (table, release))
    assert after < before


def test_one_itemset_alone_has_no_partner_so_that_sw_changes_nothing(table):
    release = released(SwapItemsets(itemsets=[["1", "3"]], min_support=3), table)
    assert release == table


# -- what the tables say of themselves --------------------------------------------------------------------------------------


def test_the_printed_hiding_failures_are_whole_numbers_of_42():
    assert [round(42 * share, 3) for share in HIDING_FAILURE.values()] == [3, 20, 28]


def test_no_smaller_number_of_itemsets_gives_all_three():
    fitting = [
        n for n in range(1, 43) if all(abs(n * share - round(n * share)) < 1e-3 for share in HIDING_FAILURE.values())
    ]
    assert fitting == [42]


def test_the_printed_mean_length_is_items_by_distinct_items():
    records, items, distinct = TABLE_2
    assert round(items / distinct, 2) == PRINTED_MEAN_LENGTH
    assert round(items / records, 2) == 4.42


def test_the_thresholds_of_0_05_and_0_07_percent_are_the_same_number_of_records():
    assert [MinSupport(support).count(TABLE_2[0]) for support in SUPPORTS] == [2, 3, 3, 5]
    for row in (*TABLE_4.values(), *TABLE_5.values()):
        assert row[1] == row[2]


def test_the_printed_dissimilarities_are_no_whole_numbers_of_items_in_any_power_of_ten():
    items = TABLE_2[1]
    for power in range(1, 7):
        lost = [value / 10**power * items for value in DISSIMILARITY.values()]
        possible = [abs(number - round(number)) <= 0.0005 / 10**power * items and number <= items for number in lost]
        assert not all(possible), power


@pytest.mark.realdata
def test_table_2_is_this_file(real_data):
    data = real_data("foodmart")
    assert (data.records, data.occurrences, len(data.vocabulary)) == TABLE_2


@pytest.mark.realdata
def test_half_of_the_frequent_itemsets_is_42_at_no_threshold(real_data):
    """Table III says that FI * 0.5 are sensitive; 42 is a hundredth of them at 0.03 %."""
    numbers = [len(mine(real_data("foodmart"), support)) for support in SUPPORTS]
    assert 42 not in [number // 2 for number in numbers]
    assert numbers[0] // 100 == 42
