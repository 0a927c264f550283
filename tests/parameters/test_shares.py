"""Thresholds of support and confidence: counts and shares, exactly."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.errors import BadParameter
from setveil.parameters.shares import LARGEST_DENOMINATOR, MaxConfidence, MinSupport


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


# -- the highest confidence ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_as", "share"),
    [
        (0.7, Fraction(7, 10)),  # not the binary fraction nearest to it
        ("70%", Fraction(7, 10)),
        ("7/10", Fraction(7, 10)),
        (" 14 / 20 ", Fraction(7, 10)),
        ("1/3", Fraction(1, 3)),
        (0, Fraction(0)),
        (1, Fraction(1)),
        ("0/5", Fraction(0)),
        ("100 %", Fraction(1)),
        (".5", Fraction(1, 2)),
        (1e-9, Fraction(1, 10**9)),
        ("999999999/1000000000", Fraction(999999999, 10**9)),
        ("0.1234567890", Fraction(123456789, 10**9)),
        ("400000000000/400000000001", None),
        ("0.3333333333", None),
        (1e-10, None),
    ],
)
def test_the_highest_confidence_is_the_fraction_that_was_written(given_as, share):
    if share is None:
        with pytest.raises(BadParameter, match=f"too many digits; allowed .* {LARGEST_DENOMINATOR:,}"):
            MaxConfidence(given_as)
    else:
        assert MaxConfidence(given_as).share == share


@given(num=st.integers(0, 10**6), den=st.integers(1, 10**6))
def test_any_ratio_up_to_one_is_a_confidence(num, den):
    if num > den:
        with pytest.raises(BadParameter, match="more than 100%"):
            MaxConfidence(f"{num}/{den}")
    else:
        assert MaxConfidence(f"{num}/{den}").share == Fraction(num, den)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "/",
        "1/",
        "/2",
        "1/0",
        "-1/2",
        "1/2/3",
        "1.5/2",
        "half",
        "101%",
        1.5,
        -0.1,
        "1e-3",
        "٣/٤",
        float("nan"),
        True,
        None,
        [1],
    ],
)
def test_what_is_no_confidence(wrong):
    with pytest.raises(BadParameter, match="confidence"):
        MaxConfidence(wrong)


def test_equal_confidences_are_equal_and_keep_the_text_they_were_given_as():
    assert MaxConfidence("2/4") == MaxConfidence(0.5) == MaxConfidence(MaxConfidence("50%"))
    assert hash(MaxConfidence("2/4")) == hash(MaxConfidence("50%"))
    assert MaxConfidence("1/3") != MaxConfidence("0.333333333")
    assert str(MaxConfidence(" 2/4 ")) == "2/4"
