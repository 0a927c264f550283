"""A trial: people are divided once, and a method that refuses or fails is a result."""

from collections import Counter
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import setveil as sv
from setveil.base import progress
from setveil.base.declaration import parameter
from setveil.comparison.trials import Asked, Bench, run_trial
from setveil.data.records.alignment import Alignment
from setveil.methods.base import Method, Outcome

QUICK = Asked(
    task="item-knn:items=50", metrics=("fi-similarity:min_support=5%",), attacks=("find-record:known=2", "membership")
)


@pytest.fixture(scope="module")
def data():
    return sv.read("sample:supermarket?records=800")


@pytest.fixture(scope="module")
def bench(data):
    return Bench.of(data)


class Hides(Method):
    """Change nothing, and claim that an item is hidden."""

    name: ClassVar[str] = "hides"
    title: ClassVar[str] = "Hides"
    truthful: ClassVar[str] = "yes"

    item: str = parameter(public=True, description="The item.")

    @property
    def guarantee(self):
        return sv.HiddenItemsets(itemsets=[[self.item]], min_support=2)

    def apply(self, data, *, rng):
        del rng
        return Outcome(data, Alignment.identity(data.records))


def records_of(data):
    return Counter(tuple(sorted(record)) for record in data.to_lists())


def without_times(result):
    return result.to_dict() | {"seconds": None}


def test_people_are_divided_into_two_parts_without_anybody_in_both(data, bench):
    assert bench.held_out.records == 160
    assert records_of(bench.train) + records_of(bench.held_out) == records_of(data)
    assert bench.train.checksum() == Bench.of(data).checksum
    assert bench.train.checksum() != Bench.of(data, seed=1).checksum


def test_a_sample_is_a_part_of_the_people(data):
    sample = Bench.of(data, records=100, held_out=0.3)
    assert (sample.train.records, sample.held_out.records) == (70, 30)
    assert records_of(sample.train) + records_of(sample.held_out) <= records_of(data)


@pytest.mark.parametrize(("records", "share"), [(40, 0.2), (800, 0.999)])
def test_too_few_people_on_a_side_are_refused(data, records, share):
    with pytest.raises(sv.BadData, match="at least 10 records on each side"):
        Bench.of(data.take(np.arange(records)), held_out=share)


def test_a_trial_is_measured_on_the_people_who_were_held_out(bench):
    result = run_trial(bench, sv.Disassociation(k=3, m=2), 0, QUICK)
    assert result.status == "holds"
    assert [one.name for one in result.measurements] == ["item-knn", "fi-similarity"]
    assert (
        result.task.value
        == sv.measure(bench.train, _published(bench, 0), ["item-knn:items=50"], heldout=bench.held_out)[
            "item-knn"
        ].value
    )
    assert [one.title for one in result.findings] == ["find-record (known=2)", "membership"]
    assert result.findings["membership"].control is not None
    assert not result.findings["membership"].shadow
    assert set(result.seconds) == {"method", "checking", "measuring", "attacking"}


def _published(bench, seed):
    return sv.publish(bench.train, sv.Disassociation(k=3, m=2), seed=seed, experiment=True, metrics=[], attacks="none")


def test_the_same_trial_has_the_same_result(data, bench):
    method = sv.RandSwap()
    first, other = (run_trial(bench, method, seed, QUICK) for seed in (0, 1))
    assert without_times(first) == without_times(run_trial(Bench.of(data), method, 0, QUICK))
    assert without_times(first) != without_times(other)
    assert first.status == "no guarantee"


def test_a_refusal_is_a_result_with_its_reason(bench):
    method = sv.ExactSwap(itemsets=[["no such item"]], min_support="5%")
    result = run_trial(bench, method, 0, QUICK)
    assert (result.status, result.task, result.strongest) == ("refused", None, None)
    assert "no such item" in result.reason


def test_a_violated_guarantee_is_a_result_and_measured(bench):
    item = bench.train.vocabulary[int(bench.train.supports.argmax())]
    result = run_trial(bench, Hides(item=item), 0, QUICK)
    assert result.status == "violated"
    assert "hidden-itemsets is violated" in result.reason
    assert result.task.value == pytest.approx(1)
    assert result.strongest is not None


def test_the_strongest_attack_is_the_one_with_the_highest_lower_end(bench):
    result = run_trial(bench, sv.RandSwap(), 0, QUICK)
    ends = {one.title: one.excess.low for one in result.findings}
    assert result.strongest.title == max(ends, key=ends.get)


def test_equal_records_of_divided_people_are_neither_refused_nor_noted():
    heard = []
    with progress.reporting(SimpleNamespace(note=heard.append)):
        bench = Bench.of(sv.from_lists([["milk", "tea"]] * 40), held_out=0.5)
    assert (bench.train.records, bench.people.people.records, heard) == (20, 20, [])
    result = run_trial(bench, sv.Disassociation(k=3, m=2), 0, QUICK)
    assert (result.status, result.task.value) == ("holds", None)
