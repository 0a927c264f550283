"""What awad2020 prints of its data is BMS-WebView-1, and what its tables say of themselves."""

import pytest

from setveil.mining.frequent import mine
from setveil.reproduce.disassociation_lines import (
    MEAN_RECORDS,
    RECORDS,
    RECORDS_OF_SECTION_2,
    SETTINGS,
    TABLE_4,
    TABLE_5,
    TABLE_6,
)


@pytest.mark.realdata
def test_bms_webview_1_has_the_records_of_section_5_and_as_many_items_as_section_2_has_records(real_data):
    data = real_data("bms-webview-1")
    assert (data.records, data.occurrences) == (RECORDS, RECORDS_OF_SECTION_2)


@pytest.mark.realdata
@pytest.mark.parametrize(("size", "support", "table"), [(2, "0.8%", TABLE_5), (3, "0.5%", TABLE_6)])
def test_the_counts_before_are_those_of_this_file(real_data, size, support, table):
    """All of them, and no more at the least support that is printed."""
    found = mine(real_data("bms-webview-1"), support, min_length=size, max_length=size).ordered()
    assert found.supports.tolist() == [before for before, _after, _rank in table]


def test_the_ranks_of_table_5_follow_from_its_counts():
    after = [count for _before, count, _rank in TABLE_5]
    for _before, count, rank in TABLE_5:
        above, alike = sum(other > count for other in after), after.count(count)
        assert above < rank <= above + alike


def test_the_last_rank_of_table_6_does_not():
    *others, (_before, count, rank) = TABLE_6
    assert rank == 1
    assert sum(other > count for _b, other, _rank in others) == 4


def test_the_supports_of_the_tables_are_of_the_printed_numbers_of_records():
    assert all(before >= 0.008 * RECORDS for before, _after, _rank in TABLE_5)
    assert all(before >= 0.005 * RECORDS for before, _after, _rank in TABLE_6)
    # At the same supports 5 of the pairs and 3 of the triples would no longer be found among 53,555 records: 428 and 268 are needed.
    assert sum(after < 0.008 * MEAN_RECORDS for _before, after, _rank in TABLE_5) == 5
    assert sum(after < 0.005 * MEAN_RECORDS for _before, after, _rank in TABLE_6) == 3


def test_the_distances_of_table_4_fall_from_delta_20_to_40_at_the_highest_privacy():
    assert [*TABLE_4] == [*SETTINGS]
    means = [mean for mean, _deviation in TABLE_4.values()]
    assert means[6] > means[7]
    assert all(deviation < 0.01 * mean for mean, deviation in TABLE_4.values())
