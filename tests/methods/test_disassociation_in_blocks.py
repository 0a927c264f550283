"""Disassociation of data in blocks: the release of one block, whatever the size of blocks, the threads and the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.forms.base import Naming
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.kernels.threads import using_threads
from setveil.methods.disassociation import _tree
from setveil.methods.disassociation._in_blocks import Leaves
from setveil.methods.disassociation._tree import Tree

from oracle import disassociation as oracle
from oracle import km_anonymity
from support.exhaustive import examples
from support.random_data import make, seeds

SEED = 2**64


def without_empty(seed, **sizes):
    return make(seed, **sizes)[0].without_empty()


def arranged(method, data, block_records=None, *, rng_of=None):
    """Return the release, its alignment and the account: in one block, or in blocks of this size."""
    with using_engine(LocalEngine(block_records or max(data.records, 1))):
        if block_records is None:
            outcome = method.apply(data, rng=np.random.default_rng(1))
        else:
            outcome = method.apply_in_blocks(data, rng_of=rng_of or (lambda _number: None))
        published, alignment = outcome.published.arrange(
            outcome.alignment.rows, Naming("drop", data, lambda _records: None)
        )
        return published, alignment.rows.tolist(), outcome.account


@pytest.mark.plain_python
@settings(max_examples=examples(200))
@given(
    seed=seeds,
    least=st.integers(1, 6),
    most=st.integers(1, 30),
    bits=st.integers(1, 16),
    patterns=st.sampled_from([1, 8, 1 << 20]),
)
def test_the_top_of_the_tree_is_that_of_the_plain_twin(seed, least, most, bits, patterns):
    data = without_empty(seed)
    if not data.records:
        return
    with pytest.MonkeyPatch.context() as patch, using_engine(LocalEngine(7)):
        patch.setattr(_tree, "MOST_BITS", bits)
        patch.setattr(_tree, "MOST_PATTERNS", patterns)
        tree = Tree(data, least, most)
    chains = tree.splits().chains_of(data)
    found = [np.flatnonzero(chains == chain).tolist() for chain in tree.leaves()]
    records = [data.items[a:b].tolist() for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
    assert found == oracle.top_of_tree(records, least, most)
    assert tree.sizes == np.bincount(chains, minlength=len(tree.sizes)).tolist()
    leaves = Leaves.of(tree, least, most)
    of_place = leaves.group[tree.leaves()]
    assert set(np.diff(of_place)) <= {0, 1}
    for group in range(leaves.groups):
        sizes = [tree.sizes[chain] for chain in tree.leaves() if leaves.group[chain] == group]
        assert sizes[0] >= least or len(records) < least
        large = [size for size in sizes if size >= least]
        assert len(large) <= 1 or sum(large) <= most


@settings(max_examples=examples(200))
@given(seed=seeds, k=st.integers(1, 5), m=st.integers(1, 3), block=st.integers(1, 40), safe=st.booleans())
def test_the_release_is_that_of_one_block(seed, k, m, block, safe):
    data = without_empty(seed, records=int(seed % 150) + 5)
    if data.records <= max(k, block):
        return
    method = sv.Disassociation(k=k, m=m, delta=k + int(seed % 9), safe=safe)
    assert arranged(method, data, block) == arranged(method, data)


def test_the_release_of_records_that_nothing_splits_is_that_of_one_block():
    rare = [["a", "b", f"x{r}"] for r in range(30)]
    cases = (
        [["a", "b"]] * 50,
        [*[["a", "b"]] * 25, *rare],
        [["a"]] * 20 + [["b"]] * 20 + [["c"]] * 2,
        [[f"i{r}"] for r in range(60)],
    )
    for lists in cases:
        data = sv.from_lists(lists)
        for block in (3, 10, 41):
            method = sv.Disassociation(k=4, m=2, delta=7)
            assert arranged(method, data, block) == arranged(method, data)


@settings(max_examples=examples(60))
@given(seed=seeds, k=st.integers(1, 4), m=st.integers(1, 3), block=st.integers(5, 40))
def test_covers_are_suppressed_in_blocks(seed, k, m, block):
    """What is drawn depends on the size of blocks, and on no thread."""
    data = without_empty(seed, records=60)
    if data.records <= block:
        return
    method = sv.Disassociation(k=k, m=m, delta=max(k, 8), cover="suppress")
    made = []
    for threads in (1, 2):
        with using_threads(threads):
            made.append(arranged(method, data, block, rng_of=lambda number: np.random.default_rng([seed, number])))
    assert made[0] == made[1]
    published, rows, account = made[0]
    assert sorted(rows) == list(range(data.records))
    clusters = published.to_clusters()
    assert all(not oracle.certain_links(cluster) for cluster in clusters)
    assert not km_anonymity.cluster_violations(clusters, k, m, "oblivious")
    shown = sum(
        len(items) * count for cluster in clusters for chunk in cluster["record_chunks"] for items, count in chunk
    )
    hidden = account["occurrences-in-term-chunks"] + account["occurrences-left-out-for-covers"]
    assert shown + hidden == data.occurrences
    assert sv.KmAnonymity(k=k, m=m).check(published)


def released(data, folder, **choices):
    """Publish, and return the bytes of the data file and of the alignment."""
    sv.publish(data, sv.Disassociation(k=3, m=2, delta=12), out=folder, seed=SEED, metrics="none", **choices)
    private = folder.with_name(f"{folder.name}.private")
    return (folder / "data.jsonl.gz").read_bytes(), (private / "alignment.parquet").read_bytes()


def test_a_release_has_the_bytes_of_one_block_and_is_checked_on_the_file(tmp_path):
    data = without_empty(11, records=400, items=30)
    whole = released(data, tmp_path / "whole")
    for block, threads in ((40, 1), (40, 2), (150, 2)):
        folder = tmp_path / f"{block}-{threads}"
        found = released(data, folder, block_records=block, threads=threads, scratch=tmp_path / "scratch")
        assert found == whole
        assert sv.check(folder, original=data)
    assert not [*(tmp_path / "scratch").iterdir()]


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["retail", "bms-webview-1"])
def test_real_data_give_the_release_of_one_block(real_data, name):
    data = real_data(name).without_empty()
    method = sv.Disassociation(k=5, m=2)
    assert arranged(method, data, 5_000) == arranged(method, data)


OTHER_WAYS = {"flat": {"mode": "flat"}, "ants": {"partition": "ants", "rules": [["i000", "i001"]]}}


@pytest.mark.parametrize("settings", OTHER_WAYS.values(), ids=OTHER_WAYS)
def test_other_ways_to_form_clusters_run_in_one_block_and_say_so(caplog, settings):
    data = without_empty(5, records=80, items=12, hot=1.5)
    method = sv.Disassociation(k=2, m=2, delta=12, **settings)
    assert not method.runs_in_blocks
    with caplog.at_level("INFO", "setveil"):
        release = sv.publish(data, method, block_records=20, seed=SEED, metrics="none")
    assert "disassociation cannot work in blocks" in caplog.text
    assert release.data == sv.publish(data, method, seed=SEED, metrics="none").data
