"""Hiding itemsets in data of more than one block: the result of one block, whatever the size of blocks, and the same verdict."""

import mmap
from fractions import Fraction

import numpy as np
import pytest

import setveil as sv
from setveil.engines import growing
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.methods.itemsets import _hiding, _supporters
from setveil.mining import groups

from oracle import exact_swap as oracle_of_method
from oracle import hidden_itemsets as oracle
from support.hiding_cases import apply, drawn
from support.random_data import as_sets

METHODS = [
    (sv.ExactSwap, {}),
    (sv.SwapItemsets, {}),
    (sv.SwapItemsets, {"reading": "all"}),
    (sv.HEU, {}),
    (sv.Naive, {}),
]
SEED = 3**50


def some_baskets(seed, records=120):
    rng = np.random.default_rng(seed)
    table = rng.random((records, 12)) < rng.choice([0.1, 0.3, 0.6], 12)
    return sv.from_lists([[f"i{j:02}" for j in np.flatnonzero(row)] for row in table])


def named_in(data, seed):
    found = sv.mine(data, 12, min_length=2, max_length=3)
    return found.take(np.random.default_rng(seed).choice(len(found), 4, replace=False)).to_lists()


def bound(method, data):
    return method.bind(data, linked=False, rng=np.random.default_rng(0))


def is_on_disk(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(getattr(array, "obj", array), mmap.mmap)


@pytest.mark.parametrize("seed", range(40))
def test_exact_swap_in_blocks_gives_the_result_of_one_block(seed, monkeypatch):
    case = drawn(seed)
    method = case.bound()
    whole = apply(method, case.data, seed)
    monkeypatch.setattr(groups, "GROUP_BYTES", (1, 500, 1 << 27)[seed % 3])
    monkeypatch.setattr(_hiding, "BLOCK", 1 + seed)
    with using_engine(LocalEngine(1 + seed % (case.data.records - 1))):
        assert case.bound() == method
        outcome = apply(method, case.data, seed, threads=1 + seed % 2)
        verdict = method.guarantee.check(outcome.published, original=case.data)
    assert outcome.published == whole.published
    assert outcome.account == whole.account
    assert verdict == method.guarantee.check(whole.published, original=case.data)
    assert not oracle.violations(as_sets(outcome.published), case.named, case.threshold, method.guarantee.targets)


@pytest.mark.parametrize(("kind", "given"), METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_a_method_in_blocks_gives_the_result_of_one_block_on_disk(kind, given, seed, monkeypatch):
    data = some_baskets(seed).with_ids([f"p{r}" for r in range(120)])
    method = bound(kind(itemsets=named_in(data, seed), min_support=10, **given), data)
    whole = apply(method, data, seed)
    assert whole.published != data
    monkeypatch.setattr(_supporters, "BLOCK", 50)
    monkeypatch.setattr(growing, "WITHOUT_FILE", 0)
    monkeypatch.setattr(growing, "LARGE", 0)
    for block, threads in ((7, 1), (119, 2)):
        with using_engine(LocalEngine(block)):
            outcome = apply(method, data, seed, threads)
        assert outcome.published == whole.published
        assert outcome.account == whole.account
        assert outcome.alignment.rows.tolist() == list(range(120))
        assert is_on_disk(outcome.published.items)
        assert is_on_disk(outcome.published.offsets)
    assert not is_on_disk(whole.published.items)


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "support"), [("retail", "0.5%"), ("bms-webview-2", "0.2%")])
def test_real_data_in_blocks_give_the_result_of_one_block(real_data, name, support, monkeypatch):
    data = real_data(name)
    found = sv.mine(data, support, min_length=2, max_length=3)
    named = found.take(np.random.default_rng(1).choice(len(found), 6, replace=False)).to_lists()
    method = bound(sv.ExactSwap(itemsets=named, min_support=support), data)
    whole = apply(method, data, 1)
    monkeypatch.setattr(groups, "GROUP_BYTES", 1 << 22)
    with using_engine(LocalEngine(10_000)):
        outcome = apply(method, data, 1, threads=2)
        verdict = method.guarantee.check(outcome.published)
    assert (outcome.published, outcome.account) == (whole.published, whole.account)
    assert verdict.status == "holds"


@pytest.mark.parametrize("seed", range(10))
def test_records_that_may_become_empty_are_counted_over_blocks(seed):
    case = drawn(seed)
    named = [*case.named, *(frozenset([label]) for label in case.data.vocabulary[:2])]
    method = sv.ExactSwap(itemsets=[sorted(one) for one in named], min_support="10%")
    expected = oracle_of_method.frequent_from(case.records, named, Fraction(1, 10))
    for block in (1, 10, 10_000):
        with using_engine(LocalEngine(block)):
            assert method.frequent_from(case.data) == expected


@pytest.mark.parametrize("seed", range(10))
def test_a_broken_guarantee_is_seen_in_any_blocks(seed):
    data = some_baskets(seed)
    named = [*named_in(data, seed), ["i00", "unknown"]]
    rng = np.random.default_rng(seed)
    guarantee = sv.HiddenItemsets(itemsets=named, min_support="15%", targets=rng.integers(0, 18, len(named)).tolist())
    whole = guarantee.check(data, original=data)
    assert whole.status == "violated"
    for block in (1, 7, 100):
        with using_engine(LocalEngine(block)):
            assert guarantee.check(data, original=data) == whole


@pytest.mark.parametrize(("kind", "given"), METHODS)
def test_a_release_is_the_same_in_any_blocks(kind, given, tmp_path, notes):
    data = some_baskets(1)
    method = kind(itemsets=named_in(data, 1), min_support=10, **given)
    allowed = {} if kind is sv.ExactSwap else {"no_guarantee": True}
    for name, block in (("whole", 120), ("tiny", 7), ("small", 50)):
        sv.publish(
            data, method, out=tmp_path / name, seed=SEED, block_records=block, metrics="none", attacks="none", **allowed
        )
    assert "cannot work in blocks" not in notes()
    files = [[file.read_bytes() for file in (tmp_path / name).glob("data.*")] for name in ("whole", "tiny", "small")]
    assert len(files[0]) == 1
    assert files[0] == files[1] == files[2]


def test_a_run_that_ended_early_is_resumed_in_blocks_of_its_own_size_only(tmp_path, monkeypatch, notes):
    data = some_baskets(2)
    given = {"seed": SEED, "metrics": "none", "attacks": "none"}
    method = sv.ExactSwap(itemsets=named_in(data, 2), min_support=10)
    whole = sv.publish(data, method, **given).data
    scratch = tmp_path / "scratch"

    def fail(*_given, **_named):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("setveil.methods.itemsets._hiding.Hiding.weigh", fail)
        with pytest.raises(MemoryError):
            sv.publish(data, method, block_records=30, scratch=scratch, **given)
    kept = list(scratch.glob("*/*/*.arrow"))
    assert kept
    for block, resumes in ((40, False), (30, True)):
        before = notes().count("resuming")
        assert sv.publish(data, method, block_records=block, scratch=scratch, **given).data == whole
        assert notes().count("resuming") - before == resumes
    assert not list(scratch.glob("*"))
