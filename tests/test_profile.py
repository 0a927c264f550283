from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.base import progress
from setveil.data.records.transactions import Transactions
from setveil.engines import growing
from setveil.errors import BadData, BadParameter
from setveil.kernels.control import CONTROL_WIDTH, DONE, STOP
from setveil.mining import uniqueness
from setveil.profiling import LengthBucket, PopularItem, profile

from oracle.uniqueness import duplicate_records, unique_records
from support.exhaustive import examples
from support.program import call


def counts(records, known=3, threads=1):
    found = profile(Transactions.from_lists(records), known=known, threads=threads)
    return [level.records for level in found.unique]


def random_records(rng, n_records, n_items, length):
    """Draw records of equal length, each a random choice of the items."""
    chosen = np.argsort(rng.random((n_records, n_items)), axis=1)[:, :length]
    labels = [str(item) for item in range(n_items)]
    return Transactions.from_codes(np.arange(n_records + 1) * length, chosen.ravel(), labels)


@st.composite
def data_sets(draw):
    """Draw from sparse to dense, with hot and rare items, empty records and twins."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_items = draw(st.integers(1, 14))
    density = draw(st.floats(0.02, 0.98))
    skew = draw(st.floats(0, 3))
    chances = np.minimum(density * n_items * (w := np.arange(1, n_items + 1) ** -skew) / w.sum(), 0.98)
    records = [
        [f"i{item}" for item in range(n_items) if rng.random() < chances[item]] for _ in range(draw(st.integers(0, 24)))
    ]
    if records:
        records += [records[rng.integers(len(records))] for _ in range(draw(st.integers(0, 4)))]
    return records


@given(data_sets())
@settings(deadline=None, max_examples=examples(600))
def test_the_search_finds_what_the_definition_says(records):
    expected = [len(unique_records(records, known)) for known in (1, 2, 3)]
    assert counts(records, threads=2) == expected
    with patch.object(
        sys.modules["setveil.mining.uniqueness"], "PARTS_PER_THREAD", 1
    ):  # else each item is a part of its own
        assert counts(records) == expected


@given(data_sets())
@settings(deadline=None, max_examples=examples(300))
def test_data_on_disk_in_small_pieces_give_the_same(records):
    sizes = {"AT_ONCE": 7, "COMPARED_AT_ONCE": 3, "LISTED_AT_ONCE": 5, "MOST_RANGES": 1000}
    with patch.multiple(uniqueness, **sizes), patch.multiple(growing, LARGE=0, WITHOUT_FILE=0):
        found = profile(Transactions.from_lists(records), threads=2)
    assert [level.records for level in found.unique] == [len(unique_records(records, known)) for known in (1, 2, 3)]
    assert found.duplicate_records == len(duplicate_records(records))


@given(data_sets())
@settings(deadline=None, max_examples=examples(100))
def test_a_lower_level_does_not_depend_on_how_far_the_search_goes(records):
    full = counts(records)
    assert counts(records, known=1) == full[:1]
    assert counts(records, known=2) == full[:2]
    found = profile(Transactions.from_lists(records), known=1)
    assert found.duplicate_records == len(duplicate_records(records))


@pytest.mark.plain_python
@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], [0, 0, 0]),
        ([[]], [0, 0, 0]),
        ([["a"]], [1, 1, 1]),
        ([["a", "b"], ["a", "b"]], [0, 0, 0]),
        ([["a", "b"], ["a"], ["b"], ["a"], []], [0, 1, 1]),
        # the longest record alone holds all three; each of its pairs has another holder
        ([["a", "b", "c"], ["a", "b"], ["b", "c"], ["a", "c"]], [0, 0, 1]),
        # its twin makes it safe, and the shorter ones lie inside it
        ([["a", "b", "c"], ["a", "b"], ["b", "c"], ["a", "c"], ["a", "b", "c"]], [0, 0, 0]),
        # every triple of the first record is held by another one: four items are needed
        ([list("abcd"), list("abc"), list("abd"), list("acd"), list("bcd")], [0, 0, 0]),
        # a pair that both hold, a rare item, and a record inside another
        ([["a", "b", "x"], ["a", "b"], ["a", "c"], ["c"]], [1, 2, 2]),
    ],
)
def test_examples_made_by_hand(records, expected):
    assert [len(unique_records(records, known)) for known in (1, 2, 3)] == expected
    assert counts(records) == expected


def test_threads_agree_on_data_with_long_records_and_hot_items():
    rng = np.random.default_rng(5)
    lengths = np.minimum(rng.zipf(1.6, 3000), 400)
    items = np.minimum(rng.zipf(1.3, lengths.sum()), 2000) - 1
    data = Transactions.from_codes(
        np.concatenate(([0], np.cumsum(lengths))), items, [str(item) for item in range(2000)]
    )
    one, two = (profile(data, threads=threads) for threads in (1, 2))
    assert one == two
    assert 0 < one.unique[0].records < one.unique[1].records < one.unique[2].records < 3000


def test_dense_data_is_settled_by_counting_alone():
    data = random_records(np.random.default_rng(3), 1000, 80, 50)
    assert [level.records for level in profile(data).unique] == [0, 0, 0]


def test_labels_that_do_not_occur_change_nothing():
    data = Transactions(np.array([0, 2, 3]), np.array([1, 3, 3]), ("a", "b", "c", "d", "e"))
    found = profile(data)
    assert found.items == 2
    assert [item.label for item in found.popularity.top] == ["d", "b"]
    assert [level.records for level in found.unique] == [1, 1, 1]


def test_all_figures_of_a_small_example():
    records = [["milk"], ["milk", "bread"], ["bread", "milk"], ["milk", "bread", "tea"], [], [], ["milk", "jam", "tea"]]
    found = profile(Transactions.from_lists(records, ids=list("abcdefg"), unit="person"))
    assert (found.records, found.items, found.occurrences) == (7, 4, 11)
    assert (found.empty_records, found.duplicate_records) == (2, 4)
    assert (found.unit, found.has_ids) == ("person", True)

    lengths = found.lengths  # 0 0 1 2 2 3 3
    assert (lengths.min, lengths.median, lengths.p90, lengths.p99, lengths.max) == (0, 2, 3, 3, 3)
    assert lengths.mean == 11 / 7
    assert lengths.histogram == (
        LengthBucket(0, 0, 2),
        LengthBucket(1, 1, 1),
        LengthBucket(2, 2, 2),
        LengthBucket(3, 3, 2),
    )

    popularity = found.popularity
    assert popularity.top == (
        PopularItem("milk", 5, 5 / 7),
        PopularItem("bread", 3, 3 / 7),
        PopularItem("tea", 2, 2 / 7),
        PopularItem("jam", 1, 1 / 7),
    )
    assert popularity.share_of_top_1_percent == 5 / 11
    assert popularity.share_of_top_10_percent == 5 / 11
    assert popularity.items_occurring_once == 1
    differences = [abs(a - b) for a in (5, 3, 2, 1) for b in (5, 3, 2, 1)]
    assert popularity.gini == pytest.approx(np.mean(differences) / (2 * 11 / 4))

    assert [(level.known, level.records, level.share) for level in found.unique] == [
        (1, 1, 1 / 7),
        (2, 2, 2 / 7),
        (3, 2, 2 / 7),
    ]


def test_percentiles_buckets_and_shares_of_larger_data():
    records = [[f"i{number}" for number in range(length)] for length in range(1, 251)]
    found = profile(Transactions.from_lists(records), known=1)
    lengths = found.lengths
    assert (lengths.median, lengths.p90, lengths.p99, lengths.max) == (125, 225, 248, 250)
    assert [bucket.longest for bucket in lengths.histogram] == [0, 1, 2, 5, 10, 20, 50, 100, 250]
    assert [bucket.shortest for bucket in lengths.histogram] == [0, 1, 2, 3, 6, 11, 21, 51, 101]
    assert [bucket.records for bucket in lengths.histogram] == [0, 1, 1, 3, 5, 10, 30, 50, 150]
    assert len(found.popularity.top) == 10
    assert found.popularity.top[1] == PopularItem("i1", 249, 249 / 250)
    assert found.popularity.share_of_top_1_percent == (250 + 249 + 248) / found.occurrences
    assert found.popularity.share_of_top_10_percent == sum(range(226, 251)) / found.occurrences


def test_items_of_equal_support_stand_in_label_order():
    found = profile(Transactions.from_lists([["10", "9"], ["9", "10"], ["2"]]), known=1)
    assert [item.label for item in found.popularity.top] == ["9", "10", "2"]


@pytest.mark.parametrize("records", [[], [[], []]])
def test_what_is_not_defined_is_not_given(records):
    found = profile(Transactions.from_lists(records))
    assert (found.lengths is None) == (not records)
    assert found.popularity.top == ()
    assert found.popularity.gini is None
    assert found.popularity.share_of_top_1_percent is None
    assert [level.share for level in found.unique] == [0.0 if records else None] * 3


def test_a_profile_survives_json():
    values = profile(Transactions.from_lists([["a", "b"], ["b"]])).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["unique"][0] == {"known": 1, "records": 1, "share": 0.5}


@pytest.mark.parametrize("known", [0, 4, -1, 2.0, "2"])
def test_known_out_of_its_limits_is_refused(known):
    with pytest.raises(BadParameter, match=r"known is .*; (it must be|expected) a whole number"):
        profile(Transactions.from_lists([["a"]]), known=known)


def long_search():
    """Draw data whose search takes a second or more, all of it for triples."""
    return random_records(np.random.default_rng(8), 10_000, 500, 80)


def test_a_search_that_is_stopped_from_the_start_does_nothing(monkeypatch):
    share = uniqueness.share

    def share_stopped(label, parts, work, *, total):
        def stopped(part, control):
            control[STOP] = 1
            work(part, control)
            assert control[DONE] == 0

        return share(label, parts, stopped if label.startswith("looking") else work, total=total)

    records = [["a", "b", "c"], ["a", "b"], ["b", "c"], ["a", "c"], ["a", "d"], ["d"], ["e"]]
    assert counts(records) == [1, 2, 3]
    monkeypatch.setattr(uniqueness, "share", share_stopped)
    assert counts(records) == [1, 1, 1]


def test_the_search_stops_when_it_is_told_to(monkeypatch):
    """The work is stopped from outside as soon as some of it is done."""
    share, seen = uniqueness.share, []

    def share_and_stop(label, parts, work, *, total):
        if "3" not in label:
            return share(label, parts, work, total=total)
        control = np.zeros(CONTROL_WIDTH, dtype=np.int64)
        whole = (parts[0][0], parts[-1][1])
        worker = threading.Thread(target=work, args=(whole, control))
        worker.start()
        while control[DONE] == 0 and worker.is_alive():
            time.sleep(0.001)
        control[STOP] = 1
        worker.join()
        seen.append((int(control[DONE]), total))
        return []

    monkeypatch.setattr(uniqueness, "share", share_and_stop)
    profile(long_search())
    [(done, total)] = seen
    assert 0 < done < total


class Patient(progress.Silent):
    """Notes what was said last about each step."""

    def __init__(self):
        self.last = {}

    @contextmanager
    def step(self, label, total):
        yield lambda done: self.last.update({label: (done, total)})


def test_progress_ends_at_its_total():
    person = Patient()
    with progress.reporting(person):
        profile(random_records(np.random.default_rng(2), 200, 300, 8))
    for known in (2, 3):
        done, total = person.last[f"looking for records unique by {known} items"]
        assert done == total > 0


class Impatient(progress.Silent):
    """A person who looks at the progress of each step, and presses Ctrl-C during the search for triples."""

    def __init__(self):
        self.labels = []

    @contextmanager
    def step(self, label, total):
        self.labels.append((label, total))

        def advance(done):
            if "3" in label and 0 < done < total:
                raise KeyboardInterrupt

        yield advance


def test_an_interrupted_search_gives_no_result():
    data = long_search()
    person = Impatient()
    with progress.reporting(person), pytest.raises(KeyboardInterrupt):
        profile(data)
    steps = dict(person.labels)
    pairs, triples = 80 * 79 // 2, 80 * 79 * 78 // 6
    assert steps["looking for records unique by 2 items"] == 10_000 * pairs
    assert steps["looking for records unique by 3 items"] == 10_000 * (pairs + triples)


def test_no_loop_is_compiled_twice():
    from setveil.mining import _uniqueness_kernels  # noqa: PLC0415 - as profile does

    profile(Transactions.from_lists([["a", "b", "c"], ["a", "b"], ["b", "c"], ["a", "c"]]))
    for name in ("invert", "mark_sole_holders", "search_pairs", "project", "search_triples"):
        signatures = getattr(getattr(_uniqueness_kernels, name), "signatures", [()])
        assert len(signatures) <= 1, name  # none where the caller came compiled from the cache


def test_a_separator_of_columns_does_not_separate_the_items_of_itemsets(tmp_path):
    (tmp_path / "long.csv").write_text("id;item\n1;a\n1;b\n2;a\n", encoding="utf-8")
    (tmp_path / "baskets.dat").write_text("a;b\na\n", encoding="utf-8")
    for data, itemsets in (("long.csv", "a b\n"), ("baskets.dat", "a;b\n")):
        (tmp_path / "itemsets.txt").write_text(itemsets, encoding="utf-8")
        ended = call("profile", data, "--separator", ";", "--itemsets", "itemsets.txt", "--json", cwd=tmp_path)
        assert ended.code == 0, ended.err
        assert [(one["items"], one["records"]) for one in json.loads(ended.out)["itemsets"]] == [(["a", "b"], 1)]


def test_lists_may_be_files(tmp_path):
    records = [["milk", "tea"], ["milk"], ["tea"]]
    (tmp_path / "sensitive.txt").write_text("tea\n")
    (tmp_path / "itemsets.txt").write_text("milk;tea\n")
    files = {"sensitive": tmp_path / "sensitive.txt", "itemsets": str(tmp_path / "itemsets.txt"), "separator": ";"}
    assert profile(records, **files) == profile(records, sensitive=["tea"], itemsets=[["milk", "tea"]])
    with pytest.raises(BadData, match="there is no such file"):
        profile(records, sensitive="tea")


def test_the_first_records_are_shown_as_they_were_read(tmp_path):
    file = tmp_path / "baskets.csv"
    file.write_text("id,item\na,milk\na,bread\nb,tea\n", encoding="utf-8")
    found = profile(file, known=1, show=5)
    assert [(one.id, one.items) for one in found.first] == [("a", ("bread", "milk")), ("b", ("tea",))]
    assert profile(file, known=1, show=1).to_dict()["first"] == [{"id": "a", "items": ["bread", "milk"]}]
    assert profile(file, known=1).first == ()
    without_ids = profile([["milk"], [], ["tea", "milk"]], known=1, show=3, names={"tea": "Black tea"})
    assert without_ids.first_rows() == [("", "milk"), ("", ""), ("", "milk, tea (Black tea)")]
    assert "First records" in without_ids._repr_html_()
    ended = call("profile", file, "--known", 1, "--show", 1)
    assert "First records" in ended.out
    assert "tea" not in ended.out.partition("First records")[2]


@pytest.mark.parametrize("show", [-1, 1001])
def test_too_many_records_are_not_shown(show):
    with pytest.raises(BadParameter, match=r"show is .*; allowed is a whole number from 0 to 1,000"):
        profile([["a"]], show=show)
