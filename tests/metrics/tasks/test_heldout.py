"""Who models are tested on: people who are not in the original, or those in it, which is said."""

import numpy as np
import pytest

import setveil as sv
from setveil.base import progress
from setveil.catalog import METRICS
from setveil.metrics.pair import Pair
from setveil.metrics.tasks import heldout as module
from setveil.metrics.tasks.heldout import Heldout
from setveil.release.measuring import measure_all

from support.program import call
from support.taste_groups import people_of_tastes

TESTING = [metric for metric in METRICS.values() if metric.tests_people]


@pytest.fixture(scope="module")
def halves():
    data = people_of_tastes(3, 900)
    return data.take(range(600)), data.take(range(600, 900))


@pytest.fixture(scope="module")
def release(halves):
    return sv.publish(halves[0], sv.RandSwap(), no_guarantee=True, metrics=[], attacks=[])


@pytest.mark.parametrize("metric", TESTING, ids=lambda one: one.name)
def test_without_held_out_people_it_is_optimistic_and_says_so(metric, halves, release):
    train, test = halves
    (same,) = sv.measure(train, release, [metric.name])
    assert same.status == "optimistic estimate"
    assert "optimistic estimate from " in same.remark
    assert " records of the same people, 95 % interval " in same.remark
    (others,) = sv.measure(train, release, [metric.name], heldout=test)
    assert others.status == "estimate"
    assert "same people" not in others.remark
    assert same.value != others.value
    low, high = others.interval
    assert low < others.value < high


def test_levels_measure_them_only_with_held_out_people(halves, release):
    train, test = halves
    names = {metric.name for metric in TESTING}
    without = {one.name: one for one in sv.measure(train, release, "full") if one.name in names}
    assert without.keys() == names
    assert {one.reason for one in without.values()} == {
        "not computed, needs heldout: people who are not in the original"
    }
    with_people = {one.name: one for one in sv.measure(train, release, "full", heldout=test) if one.name in names}
    assert with_people.keys() == names
    assert all(one.value is not None for one in with_people.values())
    quick = {one.name for one in sv.measure(train, release, "quick", heldout=test) if one.value is not None}
    assert not quick & names


@pytest.mark.parametrize("change", ["none", "order", "ids"])
def test_the_original_is_no_held_out_data(change, halves, release):
    train, _test = halves
    same = {
        "none": train,
        "order": train.take(np.arange(train.records)[::-1]),
        "ids": train.with_ids([f"p{number}" for number in range(train.records)]),
    }[change]
    with pytest.raises(sv.BadData, match="the held-out records are those of the original"):
        sv.measure(train, release, "ease", heldout=same)


def test_copies_of_records_of_the_original_are_noted(halves):
    train, test = halves
    notes = []
    with progress.reporting(Notes(notes)):
        Heldout(train, test)
        assert notes == []
        Heldout(train, train.take(range(500)))
        assert "the original also holds each of the held-out records" in notes.pop()
        Heldout(train, train.take([*range(500), *range(20)]))  # some more often than the original
        Heldout(train, sv.from_lists([]))
    assert notes == []


class Notes(progress.Silent):
    """Keeps the notes."""

    def __init__(self, notes):
        self.note = notes.append


def test_people_of_another_original_are_refused(halves, release):
    train, test = halves
    heldout = Heldout(train, test)
    copy = train.take(range(train.records))
    assert Pair(copy, release.data, heldout=heldout).heldout is heldout
    with pytest.raises(sv.BadData, match="another original"):
        Pair(test, release.data, heldout=heldout)


def test_releases_of_one_original_share_the_work_on_it(halves, release, monkeypatch):
    train, test = halves
    counted = []
    whole = sv.Transactions.pair_supports
    monkeypatch.setattr(
        sv.Transactions, "pair_supports", lambda self, labels: counted.append(self) or whole(self, labels)
    )
    heldout, metrics = Heldout(train, test), [sv.Ease(), sv.ItemKnn(), sv.PairProbabilities()]
    first = measure_all(train, release.data, release.alignment, metrics, heldout=heldout)
    again = measure_all(train, release.data, release.alignment, metrics, heldout=heldout)
    assert first == again == measure_all(train, release.data, None, metrics, heldout=Heldout(train, test))
    assert sum(one is train for one in counted) == 2
    assert Pair(train, release.data, heldout=test).heldout.people is test


def test_of_many_people_a_sample_is_tested(halves, release, monkeypatch):
    train, test = halves
    monkeypatch.setattr(module, "PEOPLE", 100)
    (sampled,) = sv.measure(train, release, [sv.Ease()], heldout=test)
    (in_full,) = sv.measure(train, release, [sv.Ease()], heldout=test, exact=True)
    assert sampled.details["sample"] == 100 < in_full.details["sample"]
    assert np.diff(sampled.interval) > np.diff(in_full.interval)
    (other,) = sv.measure(train, release, [sv.Ease(seed=1)], heldout=test)
    assert other.value != sampled.value


def test_people_without_known_items_have_no_figure(halves, release):
    train, _test = halves
    strangers = sv.from_lists([["x", "y"], ["z"]])
    for metric in TESTING:
        (measured,) = sv.measure(train, release, [metric.name], heldout=strangers)
        assert measured.value is None
        assert measured.reason


def test_the_command_line_reads_them_like_the_original(halves, tmp_path):
    train, test = halves
    for name, data in (("train", train), ("test", test)):
        lines = "\n".join(";".join(record) for record in data)
        (tmp_path / f"{name}.dat").write_text(lines + "\n", encoding="utf-8")
    out = str(tmp_path / "release")
    options = ["--separator", ";", "--no-guarantee", "--measure", "none", "--quiet"]
    assert call("publish", tmp_path / "train.dat", "--method", "rand-swap", *options, "--out", out).code == 0
    asked = [tmp_path / "train.dat", out, "--metric", "ease", "--json"]
    (optimistic,) = call("measure", *asked).json["metrics"]
    (found,) = call("measure", *asked, "--heldout", tmp_path / "test.dat").json["metrics"]
    assert (optimistic["status"], found["status"]) == ("optimistic estimate", "estimate")
    assert found["details"]["sample"] == len([record for record in test if len(record) >= 2])
    same = call("measure", *asked, "--heldout", tmp_path / "train.dat")
    assert same.code == 2
    assert "the held-out records are those of the original" in same.error()["message"]
    assert call("measure", *asked, "--heldout", tmp_path / "nowhere.dat").code == 2
