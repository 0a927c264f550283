"""Swaps of tendencies in data of many blocks: the guarantee by the oracle, nothing lost, and leftovers that only other blocks can hide."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalBlocks, LocalEngine
from setveil.kernels.threads import using_threads
from setveil.methods.tendency import _swap_in_blocks
from setveil.methods.tendency._block_swap import BlockSwap, swapped
from setveil.methods.tendency.base import SwapPlan
from setveil.release.seed import Randomness, Seed

from oracle import baselines
from oracle import tendency as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

LADDERS = [(), ("cycle",), ("helper",), ("adopt",), ("cycle", "helper"), ("helper", "cycle", "adopt")]
ALL_STEPS = ("cycle", "helper", "adopt", "suppress")


def rng_of(number):
    return np.random.default_rng([17, number + 1])


def in_blocks(method, data, block_records, *, folder=None):
    with using_engine(LocalEngine(block_records, folder)):
        return method.apply_in_blocks(data, rng_of=rng_of)


def any_method(seed):
    """Return data of some blocks, their categories, a method, and the size of blocks."""
    rng = np.random.default_rng(seed)
    data, categories = make(seed, records=int(rng.integers(2, 150)))
    method = sv.FullSwap(categories=categories, full_min=int(rng.integers(1, 3)))
    if rng.random() < 0.8:
        method = sv.PartSwap(
            categories=categories,
            order=str(rng.choice(["hard", "seeded", "file"])),
            same=str(rng.choice(["top", "any"])),
            ties=str(rng.choice(["all", "first"])),
            full_min=int(rng.integers(1, 3)),
            whole_records=bool(rng.random() < 0.8),
            leftovers=LADDERS[rng.integers(len(LADDERS))],
        )
    return data, categories, method, int(rng.integers(1, 40))


@pytest.mark.parametrize("most", [6, 1 << 20])
@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_whatever_is_reported_hidden_is_hidden_and_nothing_is_lost(most, seed):
    data, categories, method, size = any_method(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_swap_in_blocks, "MOST_LEFTOVERS", most)
        outcome = in_blocks(method, data, size)
    asked = method.guarantee
    found = oracle.violations(
        as_sets(data), as_sets(outcome.published), categories, asked.records, asked.full_min, ties=asked.ties
    )
    assert {kind for kind, _ in found} <= {"not-hidden"}
    account = outcome.account
    assert len(found) == account["not-hidden"] == sum(account["not-hidden-why"].values())
    assert sum(account["hidden"].values()) + account["not-hidden"] == account["to-hide"]
    assert outcome.alignment.rows.tolist() == list(range(data.records))
    whole = method.apply(data, rng=np.random.default_rng(seed))
    for fact in ("kinds", "to-hide", "bounds"):
        assert account[fact] == whole.account[fact]
    assert bool(outcome.advice) == bool(found)


@settings(max_examples=examples(40), deadline=None)
@given(seeds)
def test_the_bound_of_data_in_blocks_is_that_of_all_data(seed):
    data, _categories, method, size = any_method(seed)
    with using_engine(LocalEngine(size)):
        in_parts = method.bound_in(data)
    assert in_parts == method.bound_in(data) == str(swapped(data, method.plan, rng_of(0)).bounds)


@settings(max_examples=examples(40), deadline=None)
@given(seeds)
def test_only_records_that_take_part_or_help_change(seed):
    data, categories, _method, size = any_method(seed)
    outcome = in_blocks(sv.PartSwap(categories=categories), data, size)
    changed = [r for r, (a, b) in enumerate(zip(as_sets(data), as_sets(outcome.published), strict=True)) if a != b]
    kinds = [oracle.kind(as_sets(data)[r], categories) for r in changed]
    assert kinds.count("uniform") == outcome.account["helpers"]
    assert not {"single", "empty"} & set(kinds)


@settings(max_examples=examples(40), deadline=None)
@given(seeds)
def test_suppression_hides_every_mixed_record_and_adds_nothing(seed):
    data, categories, _method, size = any_method(seed)
    method = sv.PartSwap(categories=categories, leftovers=ALL_STEPS, whole_records=False)
    outcome = in_blocks(method, data, size)
    assert oracle.violations(as_sets(data), as_sets(outcome.published), categories, "mixed", lossless=False) == set()
    assert outcome.account["not-hidden"] == 0


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_as_many_whole_records_are_hidden_as_in_one_piece(seed):
    data, categories, _method, size = any_method(seed)
    method = sv.FullSwap(categories=categories, full_min=1)
    whole = method.apply(data, rng=np.random.default_rng(seed)).account
    account = in_blocks(method, data, size).account
    assert account["hidden"] == whole["hidden"]
    assert account["not-hidden"] == whole["not-hidden"]


def two_crowds(leaning, swapping, helping):
    """Return data in which records lean to a or c, with equal blocks: only a record of the other kind or a helper can take a block."""
    lists = [["a0", "a1", f"b{r % 7}"] for r in range(leaning)] + [["c0", "c1", f"b{r % 7}"] for r in range(swapping)]
    lists += [[f"b{r}", f"c{r + 7}"] for r in range(helping)]
    data = sv.from_lists(lists)
    return data, sv.Categories({i: i[0] for t in lists for i in t})


SIZES = pytest.mark.parametrize("size", [1, 2, 5, 13])


@SIZES
def test_leftovers_of_all_blocks_swap_with_each_other(size):
    data, categories = two_crowds(30, 30, 0)
    outcome = in_blocks(sv.PartSwap(categories=categories, leftovers=""), data, size)
    assert outcome.account["hidden"]["partner"] == 60


@SIZES
def test_leftovers_use_helpers_of_other_blocks(size):
    data, categories = two_crowds(30, 20, 14)
    outcome = in_blocks(sv.PartSwap(categories=categories), data, size)
    assert outcome.account["hidden"]["partner"] == 40
    assert outcome.account["helpers"] == outcome.account["hidden"]["helper"] == 10
    assert oracle.violations(as_sets(data), as_sets(outcome.published), categories) == set()


@SIZES
def test_leftovers_are_adopted_in_other_blocks(size):
    data, categories = two_crowds(30, 20, 14)
    outcome = in_blocks(sv.PartSwap(categories=categories, leftovers="cycle,adopt"), data, size)
    assert outcome.account["hidden"]["adopt"] == 10
    assert oracle.violations(as_sets(data), as_sets(outcome.published), categories) == set()


@pytest.mark.parametrize("size", [2, 5, 13])
def test_a_leftover_joins_a_swap_of_another_block(size):
    lists = [["a0", "a1", "x0"], ["b0", "b1", "x1"]] * 6 + [["c0", "c1", "x2"]]
    data = sv.from_lists(lists)
    categories = sv.Categories({i: i[0] for t in lists for i in t})
    outcome = in_blocks(sv.PartSwap(categories=categories, leftovers="cycle"), data, size)
    assert outcome.account["hidden"]["cycle"] == 1
    assert outcome.account["not-hidden"] == 0


def test_steps_are_taken_for_all_blocks_before_the_next_one():
    """Otherwise the first block that is visited would spend its helpers on records that can join a swap elsewhere."""
    data, categories = make(24, records=150, items=20, categories=4, hot=1.5)
    method = sv.PartSwap(categories=categories)
    whole, outcome = method.apply(data, rng=rng_of(0)).account, in_blocks(method, data, 15).account
    assert whole["helpers"] > 0
    assert outcome["helpers"] <= whole["helpers"] + 2


def test_nobody_visits_where_the_bounds_rule_out_more(monkeypatch):
    monkeypatch.setattr(_swap_in_blocks.SwapInBlocks, "_guests", None)  # would fail if it were called
    data, categories = two_crowds(30, 20, 0)
    outcome = in_blocks(sv.PartSwap(categories=categories), data, 7)
    assert outcome.account["not-hidden"] == outcome.account["bounds"]["at-least-unhidden-with-helpers"] == 10


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_a_swap_that_was_resumed_goes_on_as_if_it_had_not_been_interrupted(seed):
    data, categories = make(seed)
    plan = SwapPlan(
        categories, mixed=True, full_min=0, order="file", ties=str(np.random.default_rng(seed).choice(["first", "all"]))
    )
    swap = swapped(data, plan, np.random.default_rng(seed))
    resumed = BlockSwap(data, categories, ties=plan.ties)
    resumed.resume(*swap.state(), strict=False)
    before = as_sets(swap.result())
    for step in ("cycle", "helper"):
        swap.treat_leftovers(step, np.random.default_rng(seed))
        resumed.treat_leftovers(step, np.random.default_rng(seed))
    after, changed = as_sets(swap.result()), resumed.changed().tolist()
    assert changed == [r for r, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    rows = as_sets(resumed.result())
    assert [rows[r] for r in changed] == [after[r] for r in changed]
    assert np.array_equal(resumed.state()[0], swap.state()[0])


@pytest.mark.parametrize("leftovers", ["cycle,helper", "cycle,helper,adopt,suppress"])
def test_the_result_depends_on_neither_threads_nor_an_interruption(leftovers, tmp_path, monkeypatch):
    data, categories = make(24, records=150, items=20, categories=4, hot=1.5)
    method = sv.PartSwap(categories=categories, leftovers=leftovers)
    with using_threads(1):
        one = in_blocks(method, data, 20)
    with using_threads(2):
        two = in_blocks(method, data, 20)
    assert one.published == two.published
    assert one.account == two.account
    with monkeypatch.context() as patch:
        patch.setattr(_swap_in_blocks.SwapInBlocks, "_guests", None)
        with pytest.raises(TypeError):
            in_blocks(method, data, 20, folder=tmp_path)
    found = sorted(tmp_path.glob("*/*.arrow"))
    assert len(found) > 20
    for file in found[1::2]:
        file.unlink()
    resumed = in_blocks(method, data, 20, folder=tmp_path)
    assert resumed.published == one.published
    assert resumed.account == one.account


def test_all_work_on_blocks_can_be_sent_to_another_machine(monkeypatch):
    steps = set()

    def sending(run):
        def call(blocks, label, work, *more):
            steps.add(label)
            return run(blocks, label, pickle.loads(pickle.dumps(work)), *more)  # noqa: S301 - made here

        return call

    for verb in ("map", "fold", "regroup"):
        monkeypatch.setattr(LocalBlocks, verb, sending(getattr(LocalBlocks, verb)))
    data, categories = make(24, records=150, items=20, categories=4, hot=1.5)
    randomness = Randomness(Seed(2**90, given=True), data.checksum(), "recipe")
    method = sv.PartSwap(categories=categories)
    with using_engine(LocalEngine(20)):
        outcome = method.apply_in_blocks(data, rng_of=randomness.generator_of_block)
        verdict = method.guarantee.check(outcome.published, original=data, alignment=outcome.alignment)
    assert verdict.failures == outcome.account["not-hidden"]
    assert {"swapping in blocks", "swapping leftovers", "comparing rows with records"} < steps


@pytest.mark.parametrize("make_method", [sv.PartSwap, sv.FullSwap])
def test_a_publication_in_blocks_is_checked_and_depends_on_the_size_of_blocks(make_method):
    data = sv.read("sample:supermarket?records=400&seed=3")
    method = make_method(categories=sv.read_categories("sample:supermarket", level="department"))
    options = {"seed": 2**90, "metrics": [], "attacks": [], "allow_failures": 400}
    in_one = sv.publish(data, method, **options)
    exact = sv.publish(data, method, **options, block_records=400)
    assert exact.data == in_one.data
    assert exact.account == in_one.account
    small = [sv.publish(data, method, **options, block_records=60, threads=threads) for threads in (1, 2)]
    assert small[0].data == small[1].data != in_one.data
    assert small[0].verdict == small[1].verdict
    assert small[0].verdict.counts["to-hide"] == in_one.verdict.counts["to-hide"]
    assert small[0].verdict.failures == small[0].account["not-hidden"]


@pytest.mark.realdata
@pytest.mark.parametrize("is_sorted", [False, True], ids=["as it is", "sorted"])
@pytest.mark.parametrize(("name", "categories", "seed"), [("retail", 5, 0), ("bms-pos-100k", 5, 2)])
def test_blocks_of_real_data_leave_as_few_records(real_data, name, categories, seed, is_sorted):
    """The order of the file does not matter, although neighbours in a sorted file lean to the same category."""
    data = real_data(name)
    data = data.take(np.arange(12_000)).compacted()
    data = data.take(data.content_order()) if is_sorted else data
    method = sv.PartSwap(categories=sv.Categories.at_random(data.vocabulary, categories, seed=seed))
    whole = method.apply(data, rng=np.random.default_rng(0))
    outcome = in_blocks(method, data, 1_500)
    assert abs(outcome.account["not-hidden"] - whole.account["not-hidden"]) < 20
    found = oracle.violations(as_sets(data), as_sets(outcome.published), dict(method.categories))
    assert len(found) == outcome.account["not-hidden"]


# -- baselines ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 19])
def test_baselines_run_on_each_block_by_itself(size):
    data, categories = make(4, records=40)
    for mode in ("plain", "matched"):
        outcome = in_blocks(sv.RandSwap(mode=mode, categories=categories), data, size)
        expected = []
        for number, first in enumerate(range(0, 40, size)):
            part = as_sets(data)[first : first + size]
            expected += baselines.rand_swap(part, categories, mode, rng_of(number))
        assert as_sets(outcome.published) == expected
        assert outcome.account["items-lost-in-collisions"] == data.occurrences - outcome.published.occurrences
    split = in_blocks(sv.SplitPerson(categories=categories), data, size)
    whole = sv.SplitPerson(categories=categories).apply(data, rng=rng_of(0))
    assert split.published == whole.published
    assert split.account == whole.account
    assert np.array_equal(split.alignment.rows, whole.alignment.rows)
    suppressed = in_blocks(sv.PartSupp(categories=categories), data, size)
    assert suppressed.account == sv.PartSupp(categories=categories).apply(data, rng=rng_of(0)).account
