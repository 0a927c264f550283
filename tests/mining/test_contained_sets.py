"""Which sets are within another one, against Python's sets."""

import os

import numpy as np
import pytest

from setveil.kernels.bits import WORD_BITS
from setveil.mining import _contained_kernels
from setveil.mining._writing_kernels import Found

pytestmark = pytest.mark.plain_python
compiler_off = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") != "1", reason="patches what is compiled in")


def make_sets(seed, *, items, sets, share):
    """Make different sets, with codes of random ranks; those that start at the same rank follow each other, by rank."""
    rng = np.random.default_rng(seed)
    table = rng.random((sets, items)) < share * rng.random(items) + 0.5 / items
    table[rng.integers(0, sets, size=sets // 2), rng.integers(0, items, size=sets // 2)] = False
    table |= table[rng.integers(0, sets, size=sets)] & (rng.random((sets, 1)) < 0.3)
    names = rng.permutation(items + 1)[:items].astype(np.int32)
    perfect = np.setdiff1d(np.arange(items + 1, dtype=np.int32), names)
    by_rank = {tuple(np.flatnonzero(row)) for row in table if row.any()}
    by_rank = sorted(rng.permutation(np.array(sorted(by_rank), dtype=object)), key=min)
    return names, perfect, [{*names[list(ranks)].tolist(), *perfect.tolist()} for ranks in by_rank]


def as_found(sets):
    items = [item for one in sets for item in sorted(one)]
    lengths = np.array([len(one) for one in sets], dtype=np.int32)
    return Found(np.array(items, dtype=np.int32), lengths, np.arange(len(sets), dtype=np.int64))


def agree(seed, *, items, sets, share):
    names, perfect, sets = make_sets(seed, items=items, sets=sets, share=share)
    found = as_found(sets)
    contained = _contained_kernels.find_contained(len(sets), _contained_kernels.rank_items(names, perfect), found)
    expected = [any(one < other for other in sets) for one in sets]
    return contained.tolist() == expected, sum(expected)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("items", "share"), [(6, 0.5), (15, 0.6), (WORD_BITS + 30, 0.1)])
def test_sets_within_another_one_are_found(seed, items, share):
    same, contained = agree(seed, items=items, sets=120, share=share)
    assert same
    assert contained > 5


@compiler_off
@pytest.mark.parametrize("few", [0, 3])
@pytest.mark.parametrize("word_bits", [1, 2, 5])
def test_items_that_share_bits_are_told_apart(word_bits, few, monkeypatch):
    monkeypatch.setattr(_contained_kernels, "WORD_BITS", word_bits)
    monkeypatch.setattr(_contained_kernels, "_FEW_WORDS", few)
    assert all(agree(seed, items=9, sets=60, share=0.6)[0] for seed in range(4))


@compiler_off
@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("holds", lambda *_: False),
        ("link", lambda *_: None),  # forgets sets that start at other items
        ("narrow", lambda level, _first, _bit, lists: lists.ends.__setitem__(level + 1, lists.ends[level])),
    ],
)
def test_a_fault_in_a_step_is_found(step, fault, monkeypatch):
    monkeypatch.setattr(_contained_kernels, "_FEW_WORDS", 0)
    monkeypatch.setattr(_contained_kernels, step, fault)
    assert not agree(0, items=9, sets=60, share=0.6)[0]


def test_dropped_sets_leave_the_others_as_they_were():
    sets = [{1, 2}, {3}, {4, 5, 6}, {7}, {8, 9}]
    found = as_found(sets)
    dropped = np.array([True, False, True, False, False])
    assert _contained_kernels.drop_sets(4, dropped, found) == (2, 2)
    assert (found.items[:2].tolist(), found.lengths[:2].tolist(), found.supports[:2].tolist()) == (
        [3, 7],
        [1, 1],
        [1, 3],
    )


def test_no_sets_are_within_another_one():
    names, nothing = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    assert not len(_contained_kernels.find_contained(0, _contained_kernels.rank_items(names, nothing), as_found([])))
