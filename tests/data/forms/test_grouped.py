"""Grouped data: what they hold, what they refuse, and an order that tells nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv

LABELS = st.sampled_from(["a", "b", "7", "10", "9", "milk"])


@st.composite
def some_groups(draw):
    found = []
    for rows in draw(st.lists(st.lists(st.sets(LABELS), min_size=1, max_size=4), min_size=1, max_size=5)):
        counts = st.integers(1, len(rows))
        found.append((rows, draw(st.dictionaries(LABELS, counts, max_size=3))))
    return found


def plain(groups):
    """Return groups in a form that does not depend on any order."""
    return sorted((sorted(map(sorted, rows)), sorted(counts.items())) for rows, counts in groups)


@given(some_groups())
def test_groups_go_in_and_come_out(groups):
    made = sv.Grouped.from_groups(groups)
    assert [([set(row) for row in rows], counts) for rows, counts in made.to_groups()] == groups
    rows = [row for group, _counts in groups for row in group]
    assert (made.groups, made.records) == (len(groups), len(rows))
    assert made.empty_records == sum(not row for row in rows)
    assert made.occurrences == sum(map(len, rows)) + sum(sum(counts.values()) for _rows, counts in groups)
    supports = dict(zip(made.vocabulary, made.supports.tolist(), strict=True))
    labels = set().union(*rows, *(counts for _rows, counts in groups))
    assert supports == {
        label: sum(label in row for row in rows) + sum(counts.get(label, 0) for _rows, counts in groups)
        for label in labels
    }
    assert made == sv.Grouped.from_groups(made.to_groups())


@given(some_groups(), st.randoms(use_true_random=False))
def test_the_order_of_a_release_depends_on_the_content_alone(groups, dice):
    made = sv.Grouped.from_groups(groups)
    arranged, rows = made.arranged()
    assert plain(arranged.to_groups()) == plain(made.to_groups())
    assert sorted(rows.tolist()) == list(range(made.records))
    assert [made.rows.record(row) for row in rows] == arranged.rows.to_lists()
    shuffled = [(dice.sample(rows, len(rows)), counts) for rows, counts in dice.sample(groups, len(groups))]
    other, _rows = sv.Grouped.from_groups(shuffled).arranged()
    assert other == arranged
    assert arranged.arranged()[0] == arranged


def test_labels_that_are_in_use_no_more_leave_and_change_no_order():
    rows = sv.Transactions(np.array([0, 1, 2]), np.array([0, 1]), ("10", "9", "a"))
    made = sv.Grouped(rows, [0, 1, 2], [0, 2, 3], [0, 1, 1], [1, 1, 1], ("10", "9", "a"))
    arranged, order = made.arranged()
    assert arranged.rows.vocabulary == ("9", "10")
    assert arranged.sensitive_vocabulary == ("9", "10")
    assert arranged.to_groups() == [([["9"]], {"9": 1}), ([["10"]], {"9": 1, "10": 1})]
    assert order.tolist() == [1, 0]


def test_groups_stand_by_their_rows_and_then_by_what_they_share():
    groups = [
        ([["b"]], {}),
        ([["a"]], {"s": 1}),
        ([["a"], ["a"]], {}),
        ([["a"]], {}),
        ([[]], {"t": 1}),
        ([["a"]], {"r": 1}),
    ]
    arranged, _rows = sv.Grouped.from_groups(groups).arranged()
    assert arranged.to_groups() == [
        ([[]], {"t": 1}),
        ([["a"]], {}),
        ([["a"]], {"r": 1}),
        ([["a"]], {"s": 1}),
        ([["a"], ["a"]], {}),
        ([["b"]], {}),
    ]


def test_records_are_parted_by_group():
    data = sv.from_lists([["a", "s"], ["s", "t"], ["b"]])
    is_sensitive = np.array([label in ("s", "t") for label in data.vocabulary])
    made = sv.Grouped.of_records(data, is_sensitive, np.array([0, 0, 1]))
    assert made.to_groups() == [([["a"], []], {"s": 2, "t": 1}), ([["b"]], {})]
    assert made.sensitive_supports.tolist() == [2, 1]


def parts(**other):
    rows = sv.from_lists([["a"], ["b"], []])
    whole = {
        "rows": rows,
        "group_starts": np.array([0, 2, 3]),
        "sensitive_starts": np.array([0, 1, 1]),
        "sensitive_codes": np.array([0]),
        "sensitive_counts": np.array([2]),
        "sensitive_vocabulary": ("s", "t"),
    }
    return whole | other


def test_right_parts_are_taken_and_sealed():
    made = sv.Grouped(**parts())
    assert made.to_groups() == [([["a"], ["b"]], {"s": 2}), ([[]], {})]
    for name in ("group_starts", "sensitive_starts", "sensitive_codes", "sensitive_counts"):
        assert not getattr(made, name).flags.writeable
    assert made.unit == "record"
    assert made.with_unit("person").unit == "person"
    assert repr(made) == "Grouped(2 groups, 3 rows, 4 items, 4 occurrences)"
    assert made != "something else"
    assert len(made) == 3


WRONG = {
    "no group": ({"group_starts": np.array([], dtype=np.int64)}, "start at row 0 and end at the number of rows"),
    "a late start": ({"group_starts": np.array([1, 2, 3])}, "start at row 0 and end at the number of rows"),
    "an early end": ({"group_starts": np.array([0, 1, 2])}, "start at row 0 and end at the number of rows"),
    "an empty group": ({"group_starts": np.array([0, 0, 3])}, "at least one row"),
    "groups that fall": ({"group_starts": np.array([0, 5, 3])}, "at least one row"),
    "fractions": (
        {"group_starts": np.array([0.0, 2.0, 3.0])},
        "group starts must be a one-dimensional array of whole numbers",
    ),
    "a group without a word": ({"sensitive_starts": np.array([0, 1])}, "every group must have its sensitive items"),
    "places that fall": ({"sensitive_starts": np.array([0, 2, 1])}, "every group must have its sensitive items"),
    "a code too many": ({"sensitive_codes": np.array([0, 1])}, "one code and one count"),
    "a count too few": ({"sensitive_counts": np.array([], dtype=np.int64)}, "one code and one count"),
    "an unknown code": ({"sensitive_codes": np.array([2])}, "outside the vocabulary"),
    "a code below 0": ({"sensitive_codes": np.array([-1])}, "outside the vocabulary"),
    "labels in another order": ({"sensitive_vocabulary": ("t", "s")}, "in label order"),
    "a label twice": ({"sensitive_vocabulary": ("s", "s")}, "in label order"),
    "too often": ({"sensitive_counts": np.array([3])}, "group 1 of 2 rows counts the sensitive item 's' 3 times"),
    "not at all": ({"sensitive_counts": np.array([0])}, "group 1 of 2 rows counts the sensitive item 's' 0 times"),
    "ids": ({"rows": sv.from_lists([["a"], ["b"], []], ids=["x", "y", "z"])}, "have no ids"),
    "codes that fall": (
        {
            "sensitive_starts": np.array([0, 2, 2]),
            "sensitive_codes": np.array([1, 0]),
            "sensitive_counts": np.array([1, 1]),
        },
        "must be strictly increasing",
    ),
}


@pytest.mark.parametrize(("other", "says"), WRONG.values(), ids=WRONG)
def test_wrong_parts_are_refused(other, says):
    with pytest.raises(sv.BadData, match=says):
        sv.Grouped(**parts(**other))


@pytest.mark.parametrize("counts", [{"s": True}, {"s": 1.0}, {3: 1}, {"s": "1"}])
def test_what_is_no_count_is_refused(counts):
    with pytest.raises(sv.BadData, match="texts, each with a whole number"):
        sv.Grouped.from_groups([([["a"]], counts)])


def test_half_a_character_is_no_label():
    with pytest.raises(sv.BadData, match="UTF-8"):
        sv.Grouped.from_groups([([["a"]], {"\ud800": 1})])
