"""ExactSwap: all named itemsets are hidden, records change only by swaps and suppression, and the account is correct."""

import os

import fim
import numpy as np
import pytest

import setveil as sv
from setveil.mining.frequent import mine

from oracle import exact_swap as oracle
from oracle import hidden_itemsets as oracle_of_guarantee
from support.hiding_cases import apply, assert_hidden, assert_state_is_a_recount, done
from support.random_data import as_sets

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off

BATCHES, BATCH = (2, 50) if os.environ.get("NUMBA_DISABLE_JIT") == "1" else (8, 100)
"""With the compiler off, loops are slow, so fewer cases are tested."""


def in_batches(check):
    """Run a check on many cases, several per test, because starting a test takes long."""

    @pytest.mark.plain_python
    @pytest.mark.parametrize("batch", range(BATCHES))
    def test(batch):
        for seed in range(batch * BATCH, (batch + 1) * BATCH):
            try:
                check(seed)
            except Exception as error:
                error.add_note(f"seed {seed}")
                raise

    test.__name__ = check.__name__
    return test


@in_batches
def test_every_itemset_is_at_or_below_its_target(seed):
    case, method, _state, outcome = done(seed)
    assert_hidden(method, case.named, outcome.published)
    released, targets = as_sets(outcome.published), method.guarantee.targets
    assert not oracle_of_guarantee.violations(released, case.named, case.threshold, targets)


@in_batches
def test_thresholds_and_targets_equal_the_oracle(seed):
    case, method, *_ = done(seed)
    least = oracle.frequent_from(case.records, case.named, case.threshold)
    assert method.frequent_from(case.data) == least
    levels = oracle.thresholds(case.records, case.named, case.threshold, case.levels)
    assert list(method.thresholds(case.data)) == levels
    wanted, targets = case.settings["target"], method.guarantee.targets
    for s, target in zip(case.named, targets, strict=True):
        if wanted == "random":
            rare = oracle.support(case.records, s) < least
            lowest = least - 1 if rare else min(least / 2, least - 1)
            assert lowest <= target < least
        elif wanted == "border":
            assert target == least - 1
    if wanted not in ("random", "border"):
        assert ",".join(map(str, targets)) in (wanted, ",".join("0" * len(targets)))


@in_batches
def test_records_change_only_by_swaps_and_suppression(seed):
    case, method, _state, outcome = done(seed)
    released, figures = outcome.published, outcome.account
    assert sv.Transactions(released.offsets, released.items, released.vocabulary) == released  # each a set, in order
    assert outcome.alignment.rows.tolist() == list(range(case.data.records))
    shorter, fewer = case.data.lengths - released.lengths, case.data.supports - released.supports
    assert min(shorter.min(initial=0), fewer.min(initial=0)) >= 0
    assert shorter.sum() == fewer.sum() == figures["items-left-out"]
    named_items = frozenset().union(*case.named)
    assert all(case.data.vocabulary[code] in named_items for code in np.flatnonzero(fewer))
    records, after = case.records, as_sets(released)
    moved = sum(len(t - s) for t, s in zip(records, after, strict=True))
    assert moved <= 2 * figures["items-exchanged"] + figures["items-left-out"]
    if case.settings["repair"] == "suppress":
        assert figures["items-exchanged"] == 0
        assert all(s <= t for t, s in zip(records, after, strict=True))
    steps = figures["items-exchanged"] + figures["items-left-out"]
    assert steps <= oracle.excess(records, case.named, method.guarantee.targets)


@in_batches
def test_under_forbid_nothing_becomes_frequent(seed):
    case, method, _state, outcome = done(seed)
    if method.afi != "forbid":
        return
    levels, released = method.thresholds(case.data), outcome.published
    before, after = oracle.all_supports(case.records), oracle.all_supports(as_sets(released))
    assert not oracle.new_frequent(before, after, levels)
    level = levels[seed % len(levels)]
    by_miner = set(mine(released, level, threads=1))
    assert by_miner == {(tuple(sorted(x)), held) for x, held in after.items() if held >= level}
    if seed % 2:
        found = fim.fpgrowth([*map(sorted, as_sets(released)), []], target="s", supp=-level, report="a")
        assert {(tuple(sorted(items)), held) for items, held in found} == by_miner


@in_batches
def test_updated_supports_equal_those_of_the_result(seed):
    _case, _method, state, outcome = done(seed)
    assert_state_is_a_recount(state)
    assert state.result() == outcome.published


@in_batches
def test_the_account_is_correct(seed):
    case, method, _state, outcome = done(seed)
    figures, records, after = outcome.account, case.records, as_sets(outcome.published)
    levels = method.thresholds(case.data)
    expected = oracle.account(
        records, after, case.named, method.guarantee.targets, levels, method.frequent_from(case.data)
    )
    rows, expected_rows = figures["itemsets"], expected.pop("itemsets")
    assert {name: figures[name] for name in expected} == expected
    assert [{name: row[name] for name in one} for row, one in zip(rows, expected_rows, strict=True)] == expected_rows
    assert sum(row["lost"] for row in rows) == figures["lost-that-could-have-been-kept"]
    assert sum(row["by-exchange"] for row in rows) == figures["items-exchanged"]
    assert sum(row["by-leaving-out"] for row in rows) == figures["items-left-out"]
    known = oracle.frequent(records, min(levels))
    keepable = oracle.can_stay(known, case.named)
    for s, row in zip(case.named, rows, strict=True):
        lost, above = ([frozenset(x) for x in row[f"{name}-such-as"]] for name in ("lost", "cannot-be-kept"))
        assert len(lost) == len(set(lost)) == min(row["lost"], 3)
        assert len(above) == len(set(above)) == min(row["cannot-be-kept"], 3)
        assert all(x in keepable and oracle.support(after, x) < min(levels) for x in lost)
        assert set(above) <= oracle.above(s, known, case.named)


@in_batches
def test_the_same_seed_gives_the_same_result_on_any_number_of_threads(seed):
    case, method, _state, outcome = done(seed)
    if seed % 3 == 0:
        again = apply(method, case.data, seed, threads=2)
        assert (again.published, again.account) == (outcome.published, outcome.account)
