import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

from setveil.base import progress
from setveil.data.records.ragged import owner_of
from setveil.data.samples import SAMPLES, _supermarket, read_sample, sample_names, sample_sensitive, sample_taxonomy
from setveil.data.samples.drawing import CHUNK_RECORDS
from setveil.errors import BadParameter, UnknownName
from setveil.parameters.categories import read_categories

SOURCE = "sample:supermarket"


@pytest.fixture(scope="module")
def data():
    return read_sample(SOURCE)


def weights(data, level):
    """Count the items of each record in each category."""
    category, names = read_categories(SOURCE, level=level).bind(data)
    counts = np.zeros((data.records, len(names)), dtype=np.int64)
    np.add.at(counts, (owner_of(data.offsets), category[data.items]), 1)
    return counts


def share_with_all(data, labels):
    codes = [data.code_of[label] for label in labels]
    found = np.bincount(owner_of(data.offsets)[np.isin(data.items, codes)], minlength=data.records)
    return np.mean(found == len(labels))


def test_defaults_are_20000_records_of_seed_0(data):
    assert data.records == 20_000
    assert data == read_sample(f"{SOURCE}?records=20000&seed=0")
    assert data == read_sample(f"{SOURCE}?seed=0&records=20000")


def test_the_baskets_are_those_of_the_printed_examples():
    # Changes with the shelves, the model and NumPy's random streams: examples in the documentation then change too.
    assert read_sample(f"{SOURCE}?records=3").to_lists()[1] == [
        "bananas-loose",
        "braeburn-apples-6-pack",
        "frozen-peas-1kg",
    ]


def test_seeds_make_different_data():
    one, other = (read_sample(f"{SOURCE}?records=500&seed={seed}").to_lists() for seed in (1, 2))
    assert np.mean([a == b for a, b in zip(one, other, strict=True)]) < 0.02


def test_chunks_make_different_data():
    lists = read_sample(f"{SOURCE}?records={CHUNK_RECORDS + 500}").to_lists()
    assert np.mean([a == b for a, b in zip(lists[:500], lists[CHUNK_RECORDS:], strict=True)]) < 0.02


@pytest.mark.parametrize(
    "records", [1, 2, 1_000, CHUNK_RECORDS - 1, CHUNK_RECORDS, CHUNK_RECORDS + 1, 2 * CHUNK_RECORDS]
)
def test_a_smaller_sample_is_the_beginning_of_a_larger_one(records):
    large = read_sample(f"{SOURCE}?records={2 * CHUNK_RECORDS + 7}&seed=5")
    small = read_sample(f"{SOURCE}?records={records}&seed=5")
    assert small == large.take(np.arange(records)).compacted()


def test_one_basket_a_person_and_none_is_empty(data):
    assert data.unit == "person"
    assert data.ids[0].as_py() == "customer-00000001"
    assert data.ids[-1].as_py() == "customer-00020000"
    assert data.empty_records == 0


def test_ids_have_the_same_width_at_any_size():
    assert read_sample(f"{SOURCE}?records=1").ids.to_pylist() == ["customer-00000001"]


def test_lengths_are_skewed_with_a_long_tail(data):
    assert data.lengths.min() == 1
    assert 7.5 < data.lengths.mean() < 8.5
    assert np.median(data.lengths) < data.lengths.mean() - 1
    assert 50 <= data.lengths.max() <= 70


def test_small_samples_hold_no_label_that_does_not_occur():
    small = read_sample(f"{SOURCE}?records=20")
    assert 20 < len(small.vocabulary) < 200
    assert small.supports.min() >= 1


def test_labels_are_words_joined_by_hyphens():
    form = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
    header, rows = sample_taxonomy(SOURCE)
    assert header == ["item", "category", "department"]
    assert [name for row in rows for name in row if not form.fullmatch(name)] == []


def test_the_taxonomy_is_a_tree_over_all_items(data):
    _, rows = sample_taxonomy(SOURCE)
    items = [item for item, _, _ in rows]
    assert len(items) == len(set(items))
    assert set(data.vocabulary) <= set(items)
    department_of = {}
    for _, category, department in rows:
        assert department_of.setdefault(category, department) == department
    assert 600 <= len(items) <= 1_200
    assert 50 <= len(department_of) <= 80
    assert 10 <= len(set(department_of.values())) <= 15


def test_the_taxonomy_does_not_depend_on_size_and_seed():
    assert sample_taxonomy(f"{SOURCE}?records=5&seed=9") == sample_taxonomy(SOURCE)


def test_every_item_occurs_in_a_large_sample():
    _, rows = sample_taxonomy(SOURCE)
    assert set(read_sample(f"{SOURCE}?records=50000").vocabulary) == {item for item, _, _ in rows}


def test_popularity_is_skewed_but_no_item_is_everywhere(data):
    falling = np.sort(data.supports)[::-1]
    assert falling[: len(falling) // 10].sum() > 0.4 * falling.sum()
    assert 0.1 < falling[0] / data.records < 0.25


@pytest.mark.parametrize("level", ["category", "department"])
def test_most_baskets_have_a_tendency_and_the_tops_are_spread(data, level):
    counts = weights(data, level)
    present = (counts > 0).sum(axis=1)
    above_mean = (counts.max(axis=1) * present > data.lengths) | (present == 1)
    assert above_mean[data.lengths >= 4].mean() > 0.75
    tops = np.bincount(counts.argmax(axis=1)) / data.records
    assert 0.03 < tops.max() < 0.3


def test_tastes_gather_far_more_of_a_basket_in_one_category_than_chance(data):
    # The same items dealt out to the same baskets at random: what is left is popularity alone.
    category, names = read_categories(SOURCE).bind(data)
    owner = owner_of(data.offsets)

    def top_share(categories):
        counts = np.bincount(owner * len(names) + categories, minlength=data.records * len(names)).reshape(
            data.records, -1
        )
        return (counts.max(axis=1) / data.lengths)[data.lengths >= 4].mean()

    dealt = np.random.default_rng(0).permutation(category[data.items])
    assert top_share(category[data.items]) > 1.3 * top_share(dealt)


@pytest.mark.parametrize("bundle", _supermarket.BUNDLES, ids=lambda bundle: bundle[0])
def test_bundles_occur_together_far_more_often_than_by_chance(data, bundle):
    by_chance = np.prod([share_with_all(data, [label]) for label in bundle])
    together = share_with_all(data, bundle)
    assert together > 10 * by_chance
    assert together > 0.6 * _supermarket.BUNDLES[bundle]


def test_sensitive_items_occur_seldom_but_do(data):
    sensitive = sample_sensitive(f"{SOURCE}?records=5")
    assert {"pregnancy-test-2-pack", "hiv-self-test", "nicotine-patches-step-1-7-pack", "hair-loss-foam-60ml"} <= set(
        sensitive
    )
    assert "bananas-loose" not in sensitive
    shares = [share_with_all(data, [label]) for label in sensitive]
    assert min(shares) > 0.0005
    assert max(shares) < 0.02


def test_some_bundles_give_a_sensitive_item_away():
    sensitive = set(sample_sensitive(SOURCE))
    assert sum(bool(sensitive & set(bundle)) for bundle in _supermarket.BUNDLES) >= 2


def test_samples_are_named_and_described():
    assert list(SAMPLES) == ["supermarket", "hospital"]
    for name in SAMPLES:
        assert read_sample(f"sample:{name}?records=1").records == 1


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("?records=0", "records is '0'; it must be a whole number from 1 to 100,000,000, for example"),
        ("?records=100000001", "records is '100000001'; it must be a whole number from 1 to 100,000,000, for example"),
        ("?records=-5", "records is '-5'; it must be a whole number from 1"),
        ("?records=many", "records is 'many'; it must be a whole number"),
        ("?records=1e6", "records is '1e6'; it must be a whole number"),
        ("?records=1_000", "records is '1_000'; it must be a whole number"),
        ("?records=\u0663", "it must be a whole number"),
        ("?records=", "records is ''; it must be a whole number"),
        ("?records", "records is ''; it must be a whole number"),
        ("?seed=-1", "seed is '-1'; it must be a whole number of at least 0 and at most 128 bits, for example"),
        ("?seed=0.5", "seed is '0.5'; it must be a whole number"),
        (f"?seed={2**128}", "at most 128 bits"),
        ("?seed=" + "9" * 5_000, "at most 128 bits"),
        (
            "?rows=5",
            "unknown option 'rows'; allowed are records and seed, for example sample:supermarket?records=1000&seed=3",
        ),
        ("?records=5&", "unknown option ''"),
        ("?", "unknown option ''"),
        ("?seed=1&seed=2", "seed is given twice"),
    ],
)
@pytest.mark.parametrize("function", [read_sample, sample_taxonomy, sample_sensitive, sample_names])
def test_bad_queries_are_refused_with_one_sentence(function, source, said):
    with pytest.raises(BadParameter) as caught:
        function(SOURCE + source)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("source", ["sample:supermarkt", "sample:", "sample:bakery?records=5", "supermarket"])
@pytest.mark.parametrize("function", [read_sample, sample_taxonomy, sample_sensitive, sample_names])
def test_unknown_samples_are_refused(function, source):
    with pytest.raises(UnknownName, match=r"there is no sample '.*'; there are: sample:hospital, sample:supermarket\."):
        function(source)


def test_the_largest_seed_is_taken():
    assert read_sample(f"{SOURCE}?records=1&seed={2**128 - 1}").records == 1


def test_progress_is_told_chunk_by_chunk():
    told = []

    class Listener(progress.Silent):
        @contextmanager
        def step(self, label, total):
            told.append((label, total))
            yield told.append

    with progress.reporting(Listener()):
        read_sample(f"{SOURCE}?records={CHUNK_RECORDS + 10}")
    assert told == [("making baskets", CHUNK_RECORDS + 10), CHUNK_RECORDS, CHUNK_RECORDS + 10]


def test_ctrl_c_is_heard():
    program = """
from contextlib import contextmanager
from setveil.base import progress
from setveil.data.samples import read_sample

class Listener(progress.Silent):
    @contextmanager
    def step(self, label, total):
        print("started", flush=True)
        yield lambda done: None

with progress.reporting(Listener()):
    read_sample("sample:supermarket?records=10000000")
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"started\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, complaint = child.communicate(timeout=60)
    assert b"KeyboardInterrupt" in complaint
