"""Suppression of data in blocks: as the twin does it, safe by the oracle, and the same with any number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.kernels.threads import using_threads

from oracle import insert as twin
from oracle import uncertainty as oracle
from support.exhaustive import examples
from support.random_data import as_sets, crowd, seeds, with_sensitive

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off
plain_python = pytest.mark.plain_python
WAYS = st.fixed_dictionaries({"include_empty": st.booleans(), "knows": st.sampled_from(["subset", "whole"])})
ORDERS = st.sampled_from(["rarest", "frequent"])
SIZES = st.sampled_from([1, 3, 8, 20, 50])


def rng_of(seed):
    return lambda number: np.random.default_rng([seed, number + 1])


def data_of(records):
    return sv.from_lists([sorted(record) for record in records])


def in_blocks(method, records, size, *, seed=0, threads=1):
    """Return the published records as sets, and the account."""
    with using_engine(LocalEngine(size)), using_threads(threads):
        outcome = method.apply_in_blocks(data_of(records), rng_of=rng_of(seed))
    assert outcome.alignment.rows.tolist() == list(range(len(records)))
    return as_sets(outcome.published), outcome.account


def table_of(seed, crowded):
    return crowd(seed, records=20 + seed % 90, items=5 + seed % 3) if crowded else with_sensitive(seed)


@plain_python
@settings(max_examples=examples(150))
@given(seeds, st.booleans(), SIZES, WAYS, ORDERS)
def test_insert_equals_the_twin_and_all_records_are_safe(seed, crowded, size, chosen, order):
    records, sensitive, rho = table_of(seed, crowded)
    if not records:
        return
    method = sv.Insert(sensitive=sorted(sensitive), rho=str(rho), order=order, **chosen)
    released, account = in_blocks(method, records, size, seed=seed)
    assert released == twin.insert_in_blocks(records, sensitive, rho, size, rng_of(seed), order=order, **chosen)
    assert not oracle.unsafe_items(released, sensitive, rho, chosen["include_empty"], chosen["knows"])
    assert account["sensitive-occurrences-left-out"] == sum(map(len, records)) - sum(map(len, released))


@plain_python
@settings(max_examples=examples(60))
@given(seeds, st.booleans(), SIZES, WAYS, st.sampled_from(["mine", "dist"]), st.booleans())
def test_partial_suppression_of_all_records_is_safe(seed, crowded, size, chosen, objective, restore):
    records, sensitive, rho = table_of(seed, crowded)
    if not records:
        return
    method = sv.PartialSuppression(
        sensitive=sorted(sensitive), rho=str(rho), objective=objective, restore=restore, **chosen
    )
    released, account = in_blocks(method, records, size, seed=seed)
    assert all(s <= t for s, t in zip(released, records, strict=True))
    assert not oracle.unsafe_items(released, sensitive, rho, chosen["include_empty"], chosen["knows"])
    assert restore or not account["restored-in-view-of-all-blocks"]


@settings(max_examples=examples(30))
@given(seeds, SIZES, WAYS, st.sampled_from([sv.Insert, sv.PartialSuppression]))
def test_any_number_of_threads_gives_the_same(seed, size, chosen, kind):
    records, sensitive, rho = crowd(seed, records=20 + seed % 60)
    method = kind(sensitive=sorted(sensitive), rho=str(rho), **chosen)
    assert in_blocks(method, records, size, seed=seed) == in_blocks(method, records, size, seed=seed, threads=2)


@plain_python
def test_what_no_block_can_keep_is_restored_in_view_of_all():
    records = [{"a", "e"}, {"b"}] * 2
    released, account = in_blocks(sv.Insert(sensitive=["e"], rho="1/2"), records, 2)
    assert sorted(map(sorted, released)) == [["a"], ["a", "e"], ["b"], ["b"]]
    assert account["restored-in-view-of-all-blocks"] == 1


@plain_python
def test_the_share_of_all_records_counts_and_not_that_of_a_block():
    records = [{"e"}] * 3 + [{"a"}] * 9
    released, account = in_blocks(sv.Insert(sensitive=["e"], rho="1/4"), records, 4)
    assert released == records
    assert account["restored-in-view-of-all-blocks"] == 2


@plain_python
def test_an_item_in_more_records_than_a_block_has_is_restored_in_some_of_them():
    records = [{"a", "e"}, {"b"}, {"c"}, {"d"}] * 12
    released, account = in_blocks(sv.Insert(sensitive=["e"], rho="1/2"), records, 4)
    assert (
        account["restored-in-view-of-all-blocks"] == sum("e" in record for record in released) == 4
    )  # half of two blocks


def test_publishing_in_blocks_is_checked_and_repeatable():
    data = sv.read("sample:supermarket?records=2000")
    method = sv.Insert(sensitive=sv.read_sensitive("sample:supermarket", data), rho="1/2")
    asked = {"seed": 2**100, "metrics": [], "attacks": [], "block_records": 300}
    one, two = (sv.publish(data, method, threads=threads, **asked) for threads in (1, 2))
    assert one.verdict
    assert one.data == two.data
    whole = sv.publish(data, method, **asked | {"block_records": 2000})
    assert whole.data == sv.publish(data, method, **asked | {"block_records": 3000}).data
    assert whole.data.occurrences > 0.999 * one.data.occurrences
