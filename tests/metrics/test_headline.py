"""The headline figures: which are shown, in what words, and what stands beside them."""

import json

import pytest

import setveil as sv
from setveil.catalog import METRICS
from setveil.metrics.base import Measurement
from setveil.metrics.headline import CANDIDATES, MOST, headline_of
from setveil.metrics.measurements import Measurements

GUESSED = Measurement(
    "tendency-posterior", 0.4567, "share of records with a tendency", "lower", {}, {"base-rate": 0.168, "records": 1234}
)
SENSITIVE = {"lost": 1_998, "occurrences": 161_139, "sensitive-lost": 1_998, "sensitive": 2_255}
LOST = Measurement("items-lost", 1_998 / 161_139, "share of occurrences", "lower", {}, SENSITIVE)
SAME_LOSS = Measurement(
    "info-loss", 1_998 / 161_139, "share of occurrences", "lower", {}, {"lost": 1_998, "occurrences": 161_139}
)


def similarity(support: str, value: float | None) -> Measurement:
    counts = {"kept": 3, "lost": 1, "new": 0}
    return Measurement("fi-similarity", value, "share of itemsets", "higher", {"min_support": support}, counts)


@pytest.fixture(scope="module")
def measured():
    data = sv.read("sample:supermarket?records=1000")
    method = sv.PartSwap(categories=sv.read_categories("sample:supermarket", level="department"))
    return sv.measure(data, sv.publish(data, method, seed=2**64, experiment=True, metrics=[]))


def test_a_figure_stands_beside_what_it_is_compared_with():
    (found,) = headline_of([GUESSED])
    assert str(found) == "hidden category guessed right: 45.7 % (16.8 % without the release)"
    assert (found.about, found.value, found.metric) == ("privacy", 0.4567, "tendency-posterior")


def test_itemsets_guessed_at_the_border_are_a_number_and_no_share():
    lists = [["a", "b"]] * 4 + [["c", "d"]] * 4 + [["a"], ["b"], ["c"], ["d"]] * 5
    named = {"itemsets": [["a", "b"], ["c", "d"]], "min_support": 4}
    data = sv.from_lists(lists)
    release = sv.publish(data, sv.HEU(**named), no_guarantee=True, seed=2**64, experiment=True, metrics=[])
    (measured,) = sv.measure(data, release, ["border-exposure"], **named)
    assert measured.value > 1, "both are alone on the list of an attacker who knows the other one"
    (found,) = headline_of([measured])
    assert str(found) == "named itemsets guessed at the border: 2 named itemsets (of 2; 0.4 without the release)"


def test_of_several_figures_for_one_question_the_first_is_shown():
    assert [str(one) for one in headline_of([SAME_LOSS, LOST])] == [
        "sensitive occurrences lost: 88.6 % (1,998 of 2,255)",
        "occurrences lost: 1.2 % (1,998 of 161,139)",
    ]
    assert [one.settings for one in headline_of([similarity("5%", 1.0), similarity("1%", 0.75)])] == [
        {"min_support": "1%"}
    ]
    assert [one.settings for one in headline_of([similarity("5%", 1.0), similarity("1%", None)])] == [
        {"min_support": "5%"}
    ]


def test_the_same_figure_under_another_name_is_not_repeated():
    counts = Measurement("dissimilarity", LOST.value, "share of occurrences", "lower", {"form": "per-item"})
    assert [one.metric for one in headline_of([LOST, counts])] == ["items-lost", "items-lost"]
    differs = Measurement("dissimilarity", 0.5, "share of occurrences", "lower", {"form": "per-item"})
    assert [one.metric for one in headline_of([LOST, differs])] == ["items-lost", "items-lost", "dissimilarity"]


def test_different_figures_with_the_same_value_are_all_shown():
    touched = Measurement("records-touched", 1.0, "share of records", "lower", {}, {"records": 7})
    singled_out = Measurement("singled-out", 1.0, "share of records", "lower", {"known": 2}, {"before": 1.0})
    assert [one.metric for one in headline_of([touched, singled_out])] == ["records-touched", "singled-out"]


def test_an_estimate_says_so():
    sampled = Measurement(
        *("tendency-posterior", 0.4567, GUESSED.unit, "lower", {}),
        {"base-rate": 0.168, "sample": 200_000},
        status="estimate",
        interval=(0.45, 0.46),
    )
    assert headline_of([sampled])[0].base == (
        "16.8 % without the release; estimate from 200,000 records, 95 % interval 45.0 % to 46.0 %"
    )


def test_there_are_at_most_ten_with_room_for_both_groups(measured):
    details = {"sensitive-lost": 1, "sensitive": 2, "support-change": 0.3, "median": 0.7}
    every = [
        Measurement(one.metric, 0.1 + place / 1000, "share", "lower", dict(one.settings), details)
        for place, one in enumerate(CANDIDATES)
    ]
    headline = headline_of(every)
    assert len(headline) == sum(MOST.values()) == 10
    assert {group: len(headline.about(group)) for group in MOST} == MOST
    assert len(headline_of(one for one in every if METRICS[one.name].about == "utility")) == 10
    assert len(measured.headline) <= 10
    assert measured.headline.about("privacy")


def test_it_prints_in_groups_and_becomes_a_table(measured):
    headline = measured.headline
    text = repr(headline)
    assert text.startswith("Utility: what the release costs\noccurrences lost ")
    assert "\n\nPrivacy: what can still be inferred\nhidden category guessed right " in text
    assert "not computed" not in text
    assert "<table" in headline._repr_html_()
    assert headline.to_table().column_names == ["about", "text", "shown", "base", "value", "metric"]
    assert list(headline.to_pandas()["metric"]) == [one.metric for one in headline]
    json.dumps([one.to_dict() for one in headline])


def test_a_group_without_figures_says_so():
    assert repr(Measurements([LOST]).headline).endswith("no figure was measured")


def test_figures_kept_in_a_dossier_give_the_same_headline(measured):
    kept = json.loads(json.dumps([one.to_dict() for one in measured]))
    assert Measurements(Measurement(**one) for one in kept).headline == measured.headline
