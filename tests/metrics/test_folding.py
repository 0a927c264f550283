"""Figures that are the same are one row."""

from setveil.metrics.base import Measurement
from setveil.metrics.folding import folded


def figure(name, value, unit="share of occurrences", details=None, **settings):
    return Measurement(name, value, unit, "lower", settings, details or {})


def test_settings_of_a_metric_with_the_same_figure_are_one_row():
    found = folded([figure("dissimilarity", 0.5, form="per-item"), figure("dissimilarity", 0.5, form="printed")])
    assert [one.title for one in found] == ["dissimilarity (form=per-item and form=printed)"]


def test_metrics_that_measure_the_same_are_one_row_with_the_details_of_both():
    found = folded(
        [figure("info-loss", 0.5, details={"lost": 3}), figure("items-lost", 0.5, details={"lost": 3, "others": 1})]
    )
    assert [(one.title, one.details) for one in found] == [("info-loss, items-lost", {"lost": 3, "others": 1})]


def test_a_detail_that_differs_makes_another_figure():
    found = folded([figure("tkd", 0.0, details={"kept": 100}), figure("tkd", 0.0, details={"kept": 1000})])
    assert len(found) == 2


def test_another_unit_or_value_is_another_figure_and_none_is_no_figure():
    found = folded([figure("a", 0.5), figure("b", 0.5, unit="nats"), figure("c", 0.25), figure("d", None)])
    assert [one.title for one in found] == ["a", "b", "c"]
