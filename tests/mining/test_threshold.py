"""Thresholds of support: counts and shares, exactly."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.errors import BadParameter
from setveil.mining.threshold import MinSupport


@pytest.mark.parametrize(
    ("given_as", "records", "least"),
    [
        ("0.05%", 59_602, 30),
        ("0.03%", 4_141, 2),
        ("0.07%", 4_141, 3),
        ("30", 59_602, 30),
        (30, 10, 30),
        (0.001, 59_602, 60),
        (1e-7, 59_602, 1),
        ("100%", 7, 7),
        ("1.0", 7, 7),
        (".5", 7, 4),
        ("10 %", 10, 1),
        ("0.1%", 0, 1),
        (0.07, 100, 7),  # 0.07 * 100 is more than 7 as floats
    ],
)
def test_the_least_number_of_records(given_as, records, least):
    assert MinSupport(given_as).count(records) == least


@given(thousandths=st.integers(1, 1000), records=st.integers(1, 10**9))
def test_a_share_is_rounded_up_exactly(thousandths, records):
    expected = max(1, ceil(Fraction(thousandths, 1000) * records))
    assert MinSupport(thousandths / 1000).count(records) == expected
    assert MinSupport(f"{thousandths / 10}%").count(records) == expected


@pytest.mark.parametrize(
    "wrong", ["0", "-1", "", ".", "%", "101%", 1.5, "0%", "abc", "1e3", "٣", "1,5", float("nan"), True, None, [1]]
)
def test_what_is_no_support(wrong):
    with pytest.raises(BadParameter, match="support"):
        MinSupport(wrong)


def test_equal_thresholds_are_equal_and_keep_the_text_they_were_given_as():
    assert MinSupport("0.10%") == MinSupport(0.001)
    assert hash(MinSupport("0.10%")) == hash(MinSupport("0.001"))
    assert MinSupport("1") != MinSupport("100%")
    assert str(MinSupport(MinSupport("0.10%"))) == "0.10%"
