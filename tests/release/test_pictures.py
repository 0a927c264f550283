"""What the report draws, against a plain count of the same lists; and its size, whatever the data."""

import json
import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.release.report_data import (
    MOST_BINS,
    MOST_CHARACTERS,
    MOST_ITEMS,
    MOST_RANKS,
    bin_starts,
    pictures,
    short_names,
)

LISTS = st.lists(st.sets(st.sampled_from([str(i) for i in range(12)] + ["a", "b"])), min_size=1, max_size=25)


def order_of(labels):
    """Return label order: by number if all are numbers, else by code point."""
    return sorted(labels, key=int if all(label.isdecimal() for label in labels) else str)


def plain(before, after):
    """Count the same with nothing but lists."""
    old, new = (Counter(item for record in side for item in record) for side in (before, after))
    labels = order_of([*old]) + [label for label in order_of([*new]) if label not in old]
    place = {label: number for number, label in enumerate(labels)}
    ranked = sorted(labels, key=lambda label: (-max(old[label], new[label]), place[label]))
    return {
        "items": len(labels),
        "unchanged": sum(old[label] == new[label] for label in labels),
        "lost": sum(new[label] == 0 for label in labels),
        "new": sum(old[label] == 0 for label in labels),
        "most_frequent": [{"item": label, "before": old[label], "after": new[label]} for label in ranked[:MOST_ITEMS]],
    }


def made(before, after):
    return pictures(sv.from_lists(before), sv.from_lists(after).compacted())


@given(LISTS, LISTS)
def test_items_against_a_plain_count(before, after):
    found = made(before, after)
    assert found["items"] == plain(before, after)
    for side, lists in (("before", before), ("after", after)):
        counts = sorted(Counter(item for record in lists for item in record).values(), reverse=True)
        assert found["ranks"][side] == [[rank, count] for rank, count in enumerate(counts, 1)]


@given(LISTS, LISTS)
def test_lengths_against_a_plain_count(before, after):
    found = made(before, after)["lengths"]
    for side, lists in (("before", before), ("after", after)):
        lengths = sorted(map(len, lists))
        for row in found["bins"]:
            assert row[side] == sum(row["from"] <= length <= row["to"] for length in lengths)
        assert sum(row[side] for row in found["bins"]) == len(lists)
        assert found[side]["mean"] == pytest.approx(sum(lengths) / len(lengths))
        assert found[side]["longest"] == lengths[-1]
        for name, share in (("half", 0.5), ("most", 0.95)):
            enough = [length for length in lengths if sum(other <= length for other in lengths) >= share * len(lengths)]
            assert found[side][name] == enough[0]


@given(st.integers(0, 100_000), st.integers(0, 10_000_000))
def test_bins_are_few_and_cover_every_length_once(shortest, more):
    starts = bin_starts(shortest, shortest + more)
    assert 1 <= len(starts) <= MOST_BINS
    assert starts[0] <= shortest
    assert starts[-1] <= shortest + more
    assert all(a < b for a, b in pairwise(starts))
    if more < MOST_BINS:
        assert starts == [*range(shortest, shortest + more + 1)]


def test_bins_start_at_round_numbers_and_grow():
    assert bin_starts(1, 80) == [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80]
    assert bin_starts(0, 5000) == [
        0,
        1,
        2,
        3,
        5,
        7,
        10,
        15,
        20,
        30,
        50,
        70,
        100,
        150,
        200,
        300,
        500,
        700,
        1000,
        1500,
        2000,
        3000,
        5000,
    ]
    assert bin_starts(1, 10**12)[:3] == [1, 10, 100]
    assert bin_starts(15, 500)[0] == 15


def test_empty_records_have_a_bin_of_their_own():
    found = made([[], [], ["a"]], [["a"], [], ["b"]])["lengths"]
    assert found["bins"] == [
        {"from": 0, "to": 0, "before": 2, "after": 1},
        {"from": 1, "to": 1, "before": 1, "after": 2},
    ]


def test_releases_with_nothing_left():
    found = pictures(sv.from_lists([["a"], ["b"]]), sv.from_lists([]))
    assert found["lengths"]["after"] == {"mean": None, "half": None, "most": None, "longest": None}
    assert found["items"]["lost"] == 2
    assert found["ranks"]["after"] == []
    both = pictures(sv.from_lists([[], []]), sv.from_lists([[]]))
    assert both["items"] == {"items": 0, "unchanged": 0, "lost": 0, "new": 0, "most_frequent": []}


def test_items_that_only_the_release_has_are_found_among_the_most_frequent():
    found = made([["a", "b"]] * 4, [["all", "b"]] * 4)["items"]
    assert found["most_frequent"] == [
        {"item": "a", "before": 4, "after": 0},
        {"item": "b", "before": 4, "after": 4},
        {"item": "all", "before": 0, "after": 4},
    ]
    assert (found["items"], found["unchanged"], found["lost"], found["new"]) == (3, 1, 1, 1)


def test_the_size_is_bounded_whatever_the_data():
    lists = [[f"{'long' * 500}{item}" for item in range(row * 37 % 3000)] for row in range(400)]
    found = made(lists, lists[::2])
    assert len(json.dumps(found)) < 20_000
    assert len(found["items"]["most_frequent"]) == MOST_ITEMS
    assert len(found["lengths"]["bins"]) <= MOST_BINS
    for side in ("before", "after"):
        ranks = found["ranks"][side]
        assert len(ranks) <= MOST_RANKS
        assert ranks[0][0] == 1
        assert ranks[-1][0] == len({item for record in (lists if side == "before" else lists[::2]) for item in record})
        steps = [math.log(b[0] / a[0]) for a, b in pairwise(ranks) if a[0] > 100]
        assert max(steps) < 2 * min(steps)


def test_the_curve_is_thinned_at_the_very_points_it_has():
    lists = [[str(item) for item in range(size)] for size in range(1, 501)]
    counts = sorted(Counter(item for record in lists for item in record).values(), reverse=True)
    for rank, count in made(lists, lists)["ranks"]["before"]:
        assert counts[rank - 1] == count


def test_long_labels_are_cut_and_stay_distinct():
    labels = ["x" * 200, "x" * 199 + "y", "short", "x" * (MOST_CHARACTERS - 1) + "…", "z" * MOST_CHARACTERS]
    names = short_names(labels)
    assert names[2:] == labels[2:]
    assert len(set(names)) == len(names)
    assert all(len(name) <= MOST_CHARACTERS for name in names)
    assert all(name.startswith("x" * 100) for name in names[:2])


def test_numbers_are_plain_values():
    found = made([["a", "b"], ["b"]], [["b"], ["c"]])
    assert json.loads(json.dumps(found)) == found
