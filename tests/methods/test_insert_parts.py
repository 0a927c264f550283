"""Insert in parts: each part as if it were alone, the union safe, the same result with any number of threads."""

import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.base import progress
from setveil.kernels.control import STOP
from setveil.kernels.threads import using_threads
from setveil.methods.uncertainty._restoring import Restoring, account_of
from setveil.methods.uncertainty.insert import Insert, parts_for

from oracle import insert as twin
from oracle import uncertainty as oracle
from support.exhaustive import examples
from support.random_data import as_sets, crowd, seeds, with_sensitive

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off
plain_python = pytest.mark.plain_python
WAYS = st.fixed_dictionaries(
    {
        "include_empty": st.booleans(),
        "knows": st.sampled_from(["subset", "whole"]),
        "order": st.sampled_from(["rarest", "frequent"]),
    }
)


def data_of(records):
    return sv.from_lists([sorted(record) for record in records])


def apply(records, sensitive, rho, *, seed=0, threads=1, **chosen):
    """Return the published records as sets, and the account."""
    method = Insert(sensitive=sorted(sensitive), rho=str(Fraction(rho)), **chosen)
    with using_threads(threads):
        outcome = method.apply(data_of(records), rng=np.random.default_rng(seed))
    assert outcome.alignment.rows.tolist() == list(range(len(records)))
    return as_sets(outcome.published), outcome.account


def expected(records, sensitive, rho, seed, parts, **chosen):
    """Return what the twin makes of each part alone, with the same draws."""
    rng = np.random.default_rng(seed)
    parts = min(parts, len(records))
    order = rng.permutation(len(records))
    part_seeds = rng.integers(1, 2**64, parts, np.uint64)
    released = [None] * len(records)
    for number, part_seed in enumerate(part_seeds):
        rows = order[number * len(records) // parts : (number + 1) * len(records) // parts]
        position = np.random.default_rng(part_seed).permutation(len(rows))
        table = twin.insert([frozenset(records[row]) for row in rows], sensitive, rho, position, **chosen)[-1]
        for row, record in zip(rows, table, strict=True):
            released[row] = set(record)
    return released


@plain_python
@settings(max_examples=examples(100))
@given(seeds, st.integers(2, 5), WAYS)
def test_every_part_equals_the_twin_and_the_union_is_safe(seed, parts, chosen):
    records, sensitive, rho = with_sensitive(seed)
    released, account = apply(records, sensitive, rho, seed=seed, parts=parts, **chosen)
    assert all(s <= t and t - s <= sensitive for t, s in zip(records, released, strict=True))
    assert not oracle.unsafe_items(released, sensitive, rho, chosen["include_empty"], chosen["knows"])
    if "parts" in account and account["parts"] > 1:
        assert account["parts"] == min(parts, len(records))
        assert released == expected(records, sensitive, rho, seed, parts, **chosen)


@plain_python
@settings(max_examples=examples(40))
@given(seeds, st.integers(2, 9), st.sampled_from([0, 3]), WAYS)
def test_the_union_of_many_records_is_safe(seed, parts, rounds, chosen):
    records, sensitive, rho = crowd(seed, records=20 + seed % 130, items=5 + seed % 3, contents=8 + seed % 20)
    released, account = apply(records, sensitive, rho, seed=seed, parts=parts, rounds=rounds, **chosen)
    method = Insert(sensitive=sorted(sensitive), rho=str(rho), **chosen)
    assert method.guarantee.check(data_of(released), original=data_of(records))
    assert account["sensitive-occurrences-left-out"] == sum(map(len, records)) - sum(map(len, released))


@plain_python
@settings(max_examples=examples(30))
@given(seeds, WAYS)
def test_one_part_is_the_default(seed, chosen):
    records, sensitive, rho = with_sensitive(seed)
    assert apply(records, sensitive, rho, seed=seed, parts=1, **chosen) == apply(
        records, sensitive, rho, seed=seed, **chosen
    )


@plain_python
@settings(max_examples=examples(30))
@given(seeds, st.integers(2, 6), WAYS)
def test_any_number_of_threads_gives_the_same(seed, parts, chosen):
    records, sensitive, rho = crowd(seed, records=20 + seed % 60)
    one, two, three = (
        apply(records, sensitive, rho, seed=seed, threads=threads, parts=parts, rounds=2, **chosen)
        for threads in (1, 2, 3)
    )
    assert one == two == three


@plain_python
@pytest.mark.parametrize("parts", [7, 100])
def test_every_record_can_be_a_part(parts):
    records = [{"a", "e"}, {"a"}, {"e"}, {"e", "f"}, set(), {"a", "b", "f"}, {"a", "b"}]
    released, account = apply(records, {"e", "f"}, "0.9", parts=parts)
    assert account["parts"] == 7
    assert released == [record - {"e", "f"} for record in records]


@plain_python
def test_counts_of_parts_are_summed_and_passes_are_those_of_the_longest():
    records, sensitive, rho = crowd(4, records=120)
    data, method = data_of(records), Insert(sensitive=sorted(sensitive), rho=str(rho), parts=3)
    account = method.apply(data, rng=np.random.default_rng(1)).account
    rng = np.random.default_rng(1)
    order, part_seeds = rng.permutation(120), rng.integers(1, 2**64, 3, np.uint64)
    alone = [
        Insert(sensitive=sorted(sensitive), rho=str(rho)).apply(data.take(rows), rng=np.random.default_rng(part_seed))
        for rows, part_seed in zip(np.split(order, 3), part_seeds, strict=True)
    ]
    summed = ["sensitive-occurrences", "sensitive-occurrences-left-out", "contents-looked-at", "sets-searched"]
    for name in summed:
        assert account[name] == sum(outcome.account[name] for outcome in alone)
    assert account["passes"] == max(outcome.account["passes"] for outcome in alone)
    assert account["parts"] == 3


@pytest.mark.parametrize("parts", [0, -1, 1.5])
def test_there_is_at_least_one_part(parts):
    with pytest.raises(sv.BadParameter, match="parts"):
        Insert(sensitive=["e"], rho="1/2", parts=parts)


def test_more_parts_are_advised_for_longer_runs():
    assert [parts_for(seconds, 1) for seconds in (60, 61, 121, 3600)] == [2, 2, 3, 60]
    assert parts_for(50, 4) == 5


# -- progress and being stopped ------------------------------------------------------------------------------------------------


class Steps(progress.Silent):
    """Collects the steps and how far each came; can interrupt the first one that restores."""

    def __init__(self, *, interrupts=False):
        self.interrupts = interrupts
        self.reached = {}

    def step(self, label, total):
        return _Step(self, label, total)


class _Step:
    def __init__(self, steps, label, total):
        self.steps, self.label, self.total = steps, label, total

    def __enter__(self):
        return self.advance

    def __exit__(self, *_error):
        return None

    def advance(self, done):
        self.steps.reached[self.label] = (done, self.total)
        if self.steps.interrupts and self.label.startswith("restoring"):
            raise KeyboardInterrupt


def test_progress_counts_the_items_of_all_parts():
    data = data_of([{"a", "e"}, {"a", "f"}, {"a"}] * 40)
    steps = Steps()
    with progress.reporting(steps):
        Insert(sensitive=["e", "f"], rho="1/2", parts=4).apply(data, rng=np.random.default_rng(0))
    assert steps.reached["restoring items, pass 1"] == (8, 8)


def test_ctrl_c_stops_all_parts(monkeypatch):
    begun = []

    def begin_after_the_stop(method):
        def wait(table, *values):
            begun.append(table)
            while not values[-1][STOP]:
                time.sleep(0.001)
            method(table, *values)

        return wait

    for name in ("next_pass", "measured_pass"):
        monkeypatch.setattr(Restoring, name, begin_after_the_stop(getattr(Restoring, name)))
    data = data_of([{"a", "e"}, {"a", "f"}, {"a"}] * 40)
    method = Insert(sensitive=["e", "f"], rho="1/2", parts=4)
    with progress.reporting(Steps(interrupts=True)), using_threads(2), pytest.raises(KeyboardInterrupt):
        method.apply(data, rng=np.random.default_rng(0))
    assert 1 <= len(begun) <= 2
    assert account_of(begun)["contents-looked-at"] == 0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("setveil_")]
