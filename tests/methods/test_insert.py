"""Insert: equal to its slow twin record by record, safe, and no suppressed occurrence can be restored."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.kernels.threads import using_threads
from setveil.methods.uncertainty import _restoring
from setveil.methods.uncertainty.insert import Insert

from oracle import insert as twin
from oracle import uncertainty as oracle
from support.exhaustive import examples
from support.random_data import crowd, seeds, with_sensitive

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off
plain_python = pytest.mark.plain_python
WAYS = st.fixed_dictionaries(
    {
        "include_empty": st.booleans(),
        "knows": st.sampled_from(["subset", "whole"]),
        "order": st.sampled_from(["rarest", "frequent"]),
    }
)
HOT = st.sampled_from([200, 0, 3])


def text(rho):
    return f"{rho.numerator}/{rho.denominator}"


def table_of(data):
    return [frozenset(record) for record in data.to_lists()]


def apply(records, sensitive, rho, *, seed=0, threads=1, hot=200, nodes=20_000, **chosen):
    """Return the published records as sets, and the account."""
    data = sv.from_lists([sorted(record) for record in records])
    method = Insert(sensitive=sorted(sensitive), rho=text(rho), **chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_restoring, "HOT", hot)
        patch.setattr(_restoring, "FEW", hot)
        patch.setattr(_restoring, "NODES", nodes)
        with using_threads(threads):
            outcome = method.apply(data, rng=np.random.default_rng(seed))
    assert outcome.alignment.rows.tolist() == list(range(len(records)))
    return table_of(outcome.published), outcome.account


def expected(records, sensitive, rho, seed, **chosen):
    """Return what the twin makes with the same draws."""
    if rho == 1:
        return records
    return twin.insert(records, sensitive, rho, np.random.default_rng(seed).permutation(len(records)), **chosen)[-1]


def is_safe(records, sensitive, rho, include_empty=True, knows="subset", **_other):
    return not oracle.unsafe_items(records, sensitive, rho, include_empty, knows)


def left_out(records, released):
    return [(row, item) for row, (t, s) in enumerate(zip(records, released, strict=True)) for item in sorted(t - s)]


def assert_nothing_can_be_restored(records, released, sensitive, rho, **chosen):
    for row, item in left_out(records, released):
        more = twin.with_more(released, [row], item)
        assert not is_safe(more, sensitive, rho, **chosen), (row, item)


# -- any table ------------------------------------------------------------------------------------------------------------


def assert_as_the_twin_does(seed, hot, chosen, **size):
    records, sensitive, rho = with_sensitive(seed, **size)
    released, account = apply(records, sensitive, rho, seed=seed, hot=hot, **chosen)
    assert released == expected(records, sensitive, rho, seed, **chosen)
    assert account["sensitive-occurrences"] == sum(len(t & sensitive) for t in records)
    assert account["sensitive-occurrences-left-out"] == len(left_out(records, released))
    assert account["other-occurrences-left-out"] == 0
    assert account["records-made-empty"] == sum(bool(t) and not s for t, s in zip(records, released, strict=True))
    assert account.get("not-tried-for-length", 0) == 0
    return records, released, sensitive, rho


@plain_python
@settings(max_examples=examples(100))
@given(seeds, HOT, WAYS)
def test_it_equals_its_twin(seed, hot, chosen):
    assert_as_the_twin_does(seed, hot, chosen)


@settings(max_examples=examples(400))
@given(seeds, HOT, WAYS)
def test_it_equals_its_twin_on_many_tables(seed, hot, chosen):
    assert_as_the_twin_does(seed, hot, chosen, most_records=20)


@plain_python
@settings(max_examples=examples(60))
@given(seeds, HOT, WAYS)
def test_it_is_safe_and_nothing_can_be_restored(seed, hot, chosen):
    records, released, sensitive, rho = assert_as_the_twin_does(seed, hot, chosen)
    assert is_safe(released, sensitive, rho, **chosen)
    assert all(s <= t and t - s <= sensitive for t, s in zip(records, released, strict=True))
    assert_nothing_can_be_restored(records, released, sensitive, rho, **chosen)
    asked = Insert(sensitive=sorted(sensitive), rho=text(rho), **chosen).guarantee
    verdict = asked.check(sv.from_lists(map(sorted, released)), original=sv.from_lists(map(sorted, records)))
    assert verdict.status == ("holds" if sensitive else "undecided")


@settings(max_examples=examples(25))
@given(seeds, WAYS)
def test_the_twin_is_safe_after_every_step(seed, chosen):
    records, sensitive, rho = with_sensitive(seed, most_records=10, most_items=6)
    position = np.random.default_rng(seed).permutation(len(records))
    for table in twin.insert(records, sensitive, rho, position, **chosen):
        assert is_safe(table, sensitive, rho, **chosen)


@plain_python
@settings(max_examples=examples(60))
@given(seeds, HOT, WAYS)
def test_records_whose_signature_matches_everything_are_not_counted(seed, hot, chosen):
    records, sensitive, rho = with_sensitive(seed)
    many = frozenset(f"z{k:03}" for k in range(300))
    records = [record if record & sensitive else record | many for record in records]
    released, _account = apply(records, sensitive, rho, seed=seed, hot=hot, **chosen)
    assert released == expected(records, sensitive, rho, seed, **chosen)


@plain_python
@settings(max_examples=examples(60))
@given(seeds, HOT, WAYS)
def test_many_records_with_a_content(seed, hot, chosen):
    records, sensitive, rho = crowd(seed, records=20 + seed % 130, items=5 + seed % 3, contents=8 + seed % 20)
    released, _account = apply(records, sensitive, rho, seed=seed, hot=hot, **chosen)
    assert released == expected(records, sensitive, rho, seed, **chosen)


@settings(max_examples=examples(150))
@given(seeds, HOT, WAYS)
@example(
    73651094, 200, {"include_empty": False, "knows": "whole", "order": "rarest"}
)  # of two kept slacks, one was old
def test_more_records_with_a_content(seed, hot, chosen):
    records, sensitive, rho = crowd(seed, records=20 + seed % 300, items=5 + seed % 4, contents=8 + seed % 40)
    released, _account = apply(records, sensitive, rho, seed=seed, hot=hot, **chosen)
    assert released == expected(records, sensitive, rho, seed, **chosen)
    published, original = (sv.from_lists([sorted(s) for s in some]) for some in (released, records))
    assert Insert(sensitive=sorted(sensitive), rho=text(rho), **chosen).guarantee.check(published, original=original)


# -- draws ----------------------------------------------------------------------------------------------------------------


@plain_python
@settings(max_examples=examples(40))
@given(seeds, WAYS)
def test_the_same_seed_gives_the_same_result_on_one_or_two_threads(seed, chosen):
    records, sensitive, rho = with_sensitive(seed)
    one, two = (apply(records, sensitive, rho, seed=seed, threads=threads, **chosen) for threads in (1, 2))
    assert one == two


def test_another_seed_keeps_other_records_of_a_content():
    records = [frozenset("ae")] * 12
    kept = {
        tuple(sorted(row for row, s in enumerate(apply(records, {"e"}, Fraction(1, 4), seed=seed)[0]) if "e" in s))
        for seed in range(20)
    }
    assert {len(rows) for rows in kept} == {3}
    assert len(kept) > 15


def test_jitter_was_removed():
    with pytest.raises(
        sv.BadParameter, match="insert has no parameter 'jitter', which was removed: it did not prevent attackers"
    ):
        Insert(sensitive=["e"], rho="1/2", jitter=0.3)
