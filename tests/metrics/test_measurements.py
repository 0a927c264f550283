"""What `measure` returns: still a list, and a table that finds measurements by name."""

import copy
import pickle

import pytest

import setveil as sv
from setveil.metrics.base import Measurement
from setveil.metrics.measurements import Measurements

LOSS = Measurement("record-loss", 0.25, "share", "lower", {}, {"records-changed": 3})
PER_ITEM = Measurement("dissimilarity", 0.0, "share", "lower", {"form": "per-item"})
PRINTED = Measurement("dissimilarity", 0.5, "share", "lower", {"form": "printed"})
UNDEFINED = Measurement("kl", None, "nats", "lower", {}, {}, "there are no items")
LACKING = Measurement("items-lost", None, "share", "lower", {}, {}, "not computed, needs sensitive")
ALSO_LACKING = Measurement("tlost", None, "share", "lower", {}, {}, "not computed, needs sensitive")
MEASURED = Measurements([LOSS, PER_ITEM, PRINTED, UNDEFINED, LACKING, ALSO_LACKING])


def test_they_are_a_list():
    assert isinstance(MEASURED, list)
    assert list(MEASURED) == MEASURED == [LOSS, PER_ITEM, PRINTED, UNDEFINED, LACKING, ALSO_LACKING]
    assert (len(MEASURED), MEASURED[0], MEASURED[-1]) == (6, LOSS, ALSO_LACKING)
    assert Measurements() == []
    assert LOSS in MEASURED
    assert [m.to_dict() for m in MEASURED] == [m.to_dict() for m in list(MEASURED)]


def test_parts_and_sums_and_copies_stay_measurements():
    for same in (
        MEASURED[:],
        MEASURED[:2] + list(MEASURED[2:]),
        copy.copy(MEASURED),
        pickle.loads(pickle.dumps(MEASURED)),  # noqa: S301 - our own
    ):
        assert type(same) is Measurements
        assert same == MEASURED


def test_a_measurement_is_found_by_its_metric_or_its_title():
    assert MEASURED["record-loss"] is LOSS
    assert MEASURED["dissimilarity (form=printed)"] is PRINTED
    assert "record-loss" in MEASURED
    assert "dissimilarity" in MEASURED
    assert "no-such" not in MEASURED


def test_a_name_that_is_not_there_or_not_enough_is_refused():
    with pytest.raises(sv.UnknownName, match=r"no measurement 'record-los'; there are: .*Did you mean 'record-loss'"):
        MEASURED["record-los"]
    with pytest.raises(
        sv.BadParameter, match=r"2 settings; use one of the titles: dissimilarity \(form=per-item\), dissim"
    ):
        MEASURED["dissimilarity"]
    with pytest.raises(IndexError):
        MEASURED[6]


def test_they_print_as_a_table_with_what_was_not_computed_below():
    assert repr(MEASURED).splitlines() == [
        "metric                         value  unit   better  remark",
        "record-loss                     0.25  share  lower",
        "dissimilarity (form=per-item)      0  share  lower",
        "dissimilarity (form=printed)     0.5  share  lower",
        "kl                                 –  nats   lower   there are no items",
        "",
        "not computed       reason",
        "items-lost, tlost  needs sensitive",
    ]
    assert str(MEASURED[:1]) == "metric       value  unit   better\nrecord-loss   0.25  share  lower"
    assert repr(Measurements()) == "no measurements"
    assert "no measurements" in Measurements()._repr_html_()


def test_they_become_tables_of_arrow_and_pandas():
    table = MEASURED.to_table()
    assert table.column_names == ["metric", "settings", "value", "unit", "better", "remark"]
    assert table["settings"].to_pylist()[:3] == ["", "form=per-item", "form=printed"]
    assert table["value"].to_pylist() == [0.25, 0.0, 0.5, None, None, None]
    assert Measurements().to_table().schema == table.schema
    pytest.importorskip("pandas")
    frame = MEASURED.to_pandas()
    assert [*frame.columns] == [*table.column_names, "details"]
    assert frame["value"].isna().tolist() == [False] * 3 + [True] * 3
    assert frame["details"][0] == {"records-changed": 3}
    assert len(Measurements().to_pandas()) == 0


def test_measure_and_publish_return_them():
    data = sv.from_lists([["a", "b"], ["b", "c"], ["a"]] * 5)
    method = sv.GlobalSuppression(sensitive=["c"], rho="1/2")
    release = sv.publish(data, method, metrics=["record-loss", "hiding-failure"])
    measured = sv.measure(data, release, ["record-loss", "hiding-failure"])
    for found in (release.measurements, measured, sv.measure(data, release)):
        assert type(found) is Measurements
    assert measured == release.measurements
    assert [m.name for m in measured] == ["record-loss", "hiding-failure"]
