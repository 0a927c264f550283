"""RandSwap, PartSupp and SplitPerson: results follow their definitions, and there is no guarantee."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.forms.base import Naming
from setveil.data.records.alignment import Alignment
from setveil.metrics.distribution import Dissimilarity
from setveil.metrics.records import FalseContent, RecordLoss
from setveil.metrics.tendency import StillOnTop, TendencyPosterior
from setveil.release.seed import Randomness, Seed

from oracle import baselines as oracle
from oracle import tendency
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

BASELINES = [sv.RandSwap, sv.PartSupp, sv.SplitPerson]
short = st.sets(st.sampled_from("abcdefg"), max_size=5)


def apply(method, data, seed=0):
    return method.apply(data, rng=np.random.default_rng(seed))


def by_letter(data, groups=3):
    return sv.Categories({i: f"g{ord(i[0]) % groups}" for i in (*data.vocabulary, "-")})


# -- rand-swap ---------------------------------------------------------------------------------------------------------


@pytest.mark.plain_python
@settings(max_examples=examples(150))
@given(seed=seeds, mode=st.sampled_from(["plain", "matched"]))
def test_with_the_same_draws_the_oracle_makes_the_same_records(seed, mode):
    data, categories = make(seed)
    outcome = apply(sv.RandSwap(mode=mode, categories=categories), data, seed)
    expected = oracle.rand_swap(as_sets(data), categories, mode, np.random.default_rng(seed))
    assert as_sets(outcome.published) == expected
    assert outcome.alignment.rows.tolist() == list(range(data.records))


@pytest.mark.plain_python
@settings(max_examples=examples(150))
@given(short, short, seeds)
def test_two_records_swap_in_one_of_the_possible_ways(a, b, seed):
    data = sv.from_lists([a, b])
    released = tuple(map(frozenset, as_sets(apply(sv.RandSwap(), data, seed).published)))
    numbers = [(r, r) for r in range(1, min(len(a), len(b)) + 1)] or [(0, 0)]
    assert released in oracle.possible_exchanges(a, b, numbers)
    if a and b and not a & b:
        assert released != (a, b)


@settings(max_examples=examples(150))
@given(short, short, seeds)
def test_mode_matched_swaps_as_many_items_as_the_block_holds(a, b, seed):
    data = sv.from_lists([a, b])
    categories = by_letter(data)
    method = sv.RandSwap(mode="matched", categories=categories)
    released = tuple(map(frozenset, as_sets(apply(method, data, seed).published)))
    # The first record with a tendency decides how many items are swapped.
    seeking = [(t, s) for t, s in ((a, b), (b, a)) if oracle.has_tendency(t, categories)]
    numbers = [min(len(tendency.block(t, categories)), len(s)) for t, s in seeking]
    assert released in (oracle.possible_exchanges(a, b, [(n, n) for n in numbers]) or [(a, b)])


def test_mode_matched_draws_every_other_record_as_partner_equally_often():
    data = sv.from_lists([["a1", "a2"], ["b"], ["c"], ["d"]])  # only the first has a tendency
    method = sv.RandSwap(mode="matched", categories=by_letter(data))
    seen = Counter(
        next(i for i in apply(method, data, seed).published.to_lists()[0] if i[0] != "a") for seed in range(900)
    )
    assert set(seen) == {"b", "c", "d"}
    assert near(seen.values(), 900)


def near(counts, trials):
    """Return whether all outcomes are equally frequent, within five standard deviations."""
    share = 1 / len(counts)
    return all(abs(c - trials * share) < 5 * math.sqrt(trials * share * (1 - share)) for c in counts)


@pytest.mark.plain_python
def test_every_choice_of_items_and_every_number_of_them_is_equally_likely():
    pairs = 3000
    lists = [["a", "b", "c"], ["x", "y", "z"]]
    data = sv.from_lists([t for r in range(pairs) for t in ([i + str(r) for i in t] for t in lists)])
    released = apply(sv.RandSwap(), data, 3).published
    # The items that a record lost are the items that it gave.
    lost = [frozenset(i[0] for i in t - s) for t, s in zip(as_sets(data)[::2], as_sets(released)[::2], strict=True)]
    by_number = Counter(map(len, lost))
    assert set(by_number) == {1, 2, 3}
    assert near(by_number.values(), pairs)
    for number in (1, 2):
        which = Counter(choice for choice in lost if len(choice) == number)
        assert len(which) == 3
        assert near(which.values(), by_number[number])


def test_every_pairing_is_equally_likely():
    data = sv.from_lists([["a"], ["b"], ["c"], ["d"]])
    seen = Counter(tuple(apply(sv.RandSwap(), data, seed).published.to_lists()[0]) for seed in range(900))
    assert set(seen) == {("b",), ("c",), ("d",)}
    assert near(seen.values(), 900)


@settings(max_examples=examples(100))
@given(seed=seeds, mode=st.sampled_from(["plain", "matched"]))
def test_swaps_lose_items_by_collisions_only_and_make_no_record_empty(seed, mode):
    data, categories = make(seed)
    outcome = apply(sv.RandSwap(mode=mode, categories=categories), data, seed)
    before, after = Counter(data.items.tolist()), Counter(outcome.published.items.tolist())
    assert not after - before
    assert outcome.account["items-lost-in-collisions"] == sum((before - after).values())
    assert outcome.published.empty_records == data.empty_records
    seeking = data.records if mode == "plain" else sum(oracle.has_tendency(t, categories) for t in as_sets(data))
    assert outcome.account["seeking-a-partner"] == seeking
    pairs = outcome.account["pairs"]
    assert pairs == seeking // 2 if mode == "plain" else seeking // 2 <= pairs <= min(seeking, data.records // 2)
    changed = sum(t != s for t, s in zip(as_sets(data), as_sets(outcome.published), strict=True))
    assert changed <= 2 * outcome.account["pairs"]


def test_an_item_that_both_records_give_stays_and_one_that_is_still_held_is_lost():
    same = sv.from_lists([["a"], ["a"]])
    assert apply(sv.RandSwap(), same).published == same
    assert apply(sv.RandSwap(), same).account["items-lost-in-collisions"] == 0
    data = sv.from_lists([["a"], ["a", "b"]])
    for seed in range(20):  # the swap is a for a, or a for b: then the second record holds a only once
        assert apply(sv.RandSwap(), data, seed).published.to_lists() in ([["a"], ["a", "b"]], [["b"], ["a"]])


def test_mode_matched_needs_categories():
    with pytest.raises(sv.BadParameter, match=r"^rand-swap: mode 'matched' needs categories: "):
        sv.RandSwap(mode="matched")
    data = sv.from_lists([["a", "b"], ["c"]])
    for mode in ("plain", "matched"):
        with pytest.raises(sv.BadData, match="have no category"):
            sv.publish(data, sv.RandSwap(mode=mode, categories={"a": "x"}), no_guarantee=True)


def test_without_categories_the_metrics_of_tendencies_give_the_reason():
    data, categories = make(5)
    told = {"seed": 2**90, "no_guarantee": True, "metrics": "full"}
    said = {m.name: m for m in sv.publish(data, sv.RandSwap(), **told).measurements}
    assert said["still-on-top"].reason == said["tendency-posterior"].reason == "no categories were given"
    assert said["record-loss"].value > 0
    known = sv.publish(data, sv.RandSwap(categories=categories), **told)
    assert {m.name: m for m in known.measurements}["still-on-top"].value is not None


# -- part-supp ---------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(150))
@given(seeds)
def test_only_blocks_are_suppressed(seed):
    data, categories = make(seed)
    outcome = apply(sv.PartSupp(categories=categories), data, seed)
    original = as_sets(data)
    for t, s in zip(original, as_sets(outcome.published), strict=True):
        assert s in oracle.possible_suppressions(t, categories)
    kinds = Counter(tendency.kind(t, categories) for t in original)
    assert outcome.account["records-without-their-block"] == kinds["partial"]
    assert outcome.account["records-cut-to-one-item"] == kinds["full"]
    assert outcome.account["items-left-out"] == data.occurrences - outcome.published.occurrences
    assert outcome.alignment.rows.tolist() == list(range(data.records))


def test_a_record_of_a_single_category_keeps_a_random_item():
    data = sv.from_lists([["a0", "a1", "a2", "a3"]] * 2000 + [["b0"], [], ["a0", "b0"]])
    released = apply(sv.PartSupp(categories=by_letter(data)), data).published.to_lists()
    assert released[2000:] == [["b0"], [], ["a0", "b0"]]
    seen = Counter(kept for (kept,) in released[:2000])
    assert len(seen) == 4
    assert near(seen.values(), 2000)


# -- split-person ------------------------------------------------------------------------------------------------------


@pytest.mark.plain_python
@settings(max_examples=examples(150))
@given(seeds)
def test_rows_are_the_categories_of_a_record(seed):
    data, categories = make(seed)
    outcome = apply(sv.SplitPerson(categories=categories), data)
    expected = [(r, row) for r, t in enumerate(as_sets(data)) for row in oracle.split(t, categories)]
    assert list(zip(outcome.alignment.rows.tolist(), as_sets(outcome.published), strict=True)) == expected
    counts = Counter(r for r, _row in expected)
    assert outcome.account == {
        "records": data.records,
        "rows": len(expected),
        "records-split": sum(c > 1 for c in counts.values()),
        "most-rows-of-a-record": max(counts.values()),
    }


@settings(max_examples=examples(60))
@given(seeds)
def test_metrics_of_split_records_equal_their_definitions_or_are_undefined(seed):
    data, categories = make(seed)
    original = as_sets(data)
    release = sv.publish(data, sv.SplitPerson(categories=categories), seed=2**90 + seed, no_guarantee=True, metrics=[])
    rows_of = [oracle.split(t, categories) for t in original]
    loss = RecordLoss()(data, release.data, release.alignment)
    assert math.isclose(loss.value, float(oracle.record_loss(original, rows_of)), abs_tol=1e-12)
    split = sum(len(rows) > 1 for rows in rows_of)
    assert loss.details["records-changed"] == split
    if data.occurrences:
        assert FalseContent()(data, release.data, release.alignment).value == 0
        assert Dissimilarity()(data, release.data).value == 0
    for metric in (StillOnTop(categories=categories), TendencyPosterior(categories=categories)):
        measured = metric(data, release.data, release.alignment)
        if split:
            assert measured.value is None
            assert measured.reason == "records were split, so no released row corresponds to a whole record"


def test_a_record_counts_once_in_record_loss_for_any_number_of_rows():
    data = sv.from_lists([["a", "b", "c", "d"], ["e"]])
    split = sv.from_lists([["a"], ["b"], ["c"], ["d"], ["e"]])
    assert RecordLoss()(data, split, Alignment(np.array([0, 0, 0, 0, 1]))).value == 0.75 / 2


@pytest.mark.parametrize("unit", ["person", "record"])
def test_each_row_has_its_own_pseudonym_and_no_longer_represents_a_person(unit):
    data, categories = make(3, records=30, items=30)
    data = sv.from_lists(data.to_lists(), ids=[f"p{r}" for r in range(30)], unit=unit)
    release = sv.publish(data, sv.SplitPerson(categories=categories), seed=2**90, no_guarantee=True, metrics=[])
    names = release.data.ids.to_pylist()
    assert len(set(names)) == release.data.records > data.records
    assert names == sorted(names)
    assert release.data.unit == "record"
    records, people = as_sets(data), release.alignment.original_ids.to_pylist()
    for row, record, person in zip(as_sets(release.data), release.alignment.rows, people, strict=True):
        assert row in oracle.split(records[record], categories)
        assert person == f"p{record}"


def test_ids_cannot_be_kept_if_records_are_split():
    data = sv.from_lists([["a", "b"], ["c"]], ids=["p", "q"])
    method = sv.SplitPerson(categories={"a": "x", "b": "y", "c": "x"})
    with pytest.raises(sv.BadParameter, match="two rows cannot have the same id; publish with `ids='pseudonym'`"):
        sv.publish(data, method, ids="keep", no_guarantee=True)
    dropped = sv.publish(data, method, ids="drop", no_guarantee=True)
    assert dropped.data.to_lists() == [["a"], ["b"], ["c"]]
    assert dropped.data.ids is None


def test_a_record_with_one_row_carries_the_pseudonym_of_its_place():
    data, categories = make(4, records=40)
    data = data.with_ids([f"p{r}" for r in range(40)])
    methods = (sv.RandSwap(), sv.PartSupp(categories=categories))
    releases = [sv.publish(data, method, seed=2**90, no_guarantee=True, metrics=[]) for method in methods]
    for release in releases:
        names = release.randomness.pseudonyms(40)
        assert release.data.ids.to_pylist() == sorted(names.to_pylist())
        assert release.data.ids.to_pylist() == names.take(release.alignment.rows).to_pylist()
    assert not set(releases[0].data.ids.to_pylist()) & set(releases[1].data.ids.to_pylist())


@pytest.mark.parametrize("rows", [[2, 0, 1], [1, 0, 1], [2, 2, 0]])
def test_pseudonyms_follow_the_records_in_any_order_of_the_rows(rows):
    data = sv.from_lists([["a"], ["b"], ["c"]])
    made = Randomness(Seed(9, given=True), "of the data", "a recipe")
    naming = Naming("pseudonym", data, made.pseudonyms)
    published, alignment = data.take(np.array(rows)).arrange(np.array(rows), naming)
    stream = made.pseudonyms(3).to_pylist()
    first = {record: sum(r < record for r in rows) for record in rows}
    for record in set(rows):
        names = [n for n, r in zip(published.ids.to_pylist(), alignment.rows, strict=True) if r == record]
        assert names == sorted(stream[first[record] : first[record] + rows.count(record)])


# -- all three ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BASELINES)
def test_a_baseline_is_published_only_with_no_guarantee(kind):
    data, categories = make(2)
    method = kind(categories=categories)
    assert method.guarantee is None
    with pytest.raises(sv.BadParameter, match=rf"^{kind.name} guarantees nothing here; set `no_guarantee=True`"):
        sv.publish(data, method)
    release = sv.publish(data, method, no_guarantee=True, metrics=[])
    assert release.verdict is None


@pytest.mark.realdata
def test_the_papers_setting_on_real_data(real_data):
    """BMS1 of the paper: the first 5,000 records, 50 random categories; the mean of three random assignments."""
    data = real_data("bms-webview-1").take(np.arange(5000)).compacted()
    assert (data.occurrences, len(data.vocabulary)) == (12_821, 264)
    figures = {"plain": [], "matched": [], "part-supp": [], "split-person": []}
    for seed in (1, 2, 3):
        categories = sv.Categories.at_random(data.vocabulary, 50, seed=seed)
        methods = {
            "plain": sv.RandSwap(categories=categories),
            "matched": sv.RandSwap(mode="matched", categories=categories),
            "part-supp": sv.PartSupp(categories=categories),
            "split-person": sv.SplitPerson(categories=categories),
        }
        for name, method in methods.items():
            outcome = apply(method, data, seed)
            place = (data, outcome.published, outcome.alignment)
            metrics = (Dissimilarity(), StillOnTop(categories=categories), RecordLoss())
            figures[name].append([metric(*place).value for metric in metrics])
    mean = {name: np.mean(np.array(rows, dtype=float), axis=0) for name, rows in figures.items()}
    assert mean["plain"] == pytest.approx([0.0075, 0.93, 0.80], abs=0.02)
    assert 0.005 < mean["plain"][0] < 0.0105
    assert mean["matched"] == pytest.approx([0.004, 0.92, 0.08], abs=0.02)
    assert 0.003 < mean["matched"][0] < 0.006
    assert mean["part-supp"] == pytest.approx([0.054, 0.31, 0.02], abs=0.015)
    assert mean["split-person"][0] == 0
    assert np.isnan(mean["split-person"][1])
    assert mean["split-person"][2] == pytest.approx(0.287, abs=0.01)
