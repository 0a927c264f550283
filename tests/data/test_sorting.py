"""Records that are sorted in groups on disk: exactly the order that sorting them in memory gives, whatever the data and the groups."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.forms.base import Naming
from setveil.data.records import ragged, sorting
from setveil.engines import growing
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.release.seed import Randomness, Seed

from support.exhaustive import examples
from support.random_data import seeds

WHOLE = 1 << 20
PREFIX = "a long beginning that all ids share "


def drawn(seed, ids="drop"):
    """Draw records, some of which come from a few contents or are empty, with the original record of each, and how rows are named."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(2, 90))
    labels = [f"i{j}" for j in range(int(rng.integers(1, 30)))]
    often = [sorted(set(rng.choice(labels, 9))) for _ in range(3)]
    records = [
        often[rng.integers(3)] if rng.random() < 0.4 else sorted(set(rng.choice(labels, rng.integers(0, 14))))
        for _ in range(number)
    ]
    names = [f"{PREFIX}{one}" for one in rng.permutation(3 * number)[:number]]
    data = sv.from_lists(records, ids=names)
    again = rng.random() < 0.3 and ids != "keep"
    rows = rng.integers(number, size=number) if again else rng.permutation(number)
    rows = np.sort(rows) if rng.random() < 0.4 else rows
    made = data.take(rows, ids=None)
    made = made.keeping(rng.random(made.occurrences) < rng.choice([0.1, 0.7, 1.0]))
    naming = Naming(ids, data, Randomness(Seed(2**90 + seed, given=True), "", "").pseudonyms)
    return made, rows, naming


def arranged(made, rows, naming, block_records):
    with using_engine(LocalEngine(block_records)):
        return made.arrange(rows, naming)


def texts(column):
    return None if column is None else column.to_pylist()


@settings(max_examples=examples(300), deadline=None)
@given(
    seeds, st.sampled_from(["drop", "pseudonym", "keep"]), st.integers(5, 40), st.sampled_from([1, 4]), st.booleans()
)
def test_rows_are_in_the_same_order_as_in_memory(seed, ids, block_records, sampled, in_pieces):
    made, rows, naming = drawn(seed, ids)
    expected, whole = arranged(made, rows, naming, WHOLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "SAMPLED", sampled)
        if in_pieces:
            patch.setattr(growing, "WITHOUT_FILE", 0)
            patch.setattr(sorting, "BLOCK", 7)
            patch.setattr(ragged, "BLOCK", 5)
        found, alignment = arranged(made, rows, naming, block_records)
    assert found == expected
    assert found.unit == expected.unit
    assert alignment.rows.dtype == np.int64
    assert alignment.rows.tolist() == whole.rows.tolist()
    assert texts(alignment.published_ids) == texts(whole.published_ids) == texts(found.ids)
    assert texts(alignment.original_ids) == texts(whole.original_ids)


@settings(max_examples=examples(100), deadline=None)
@given(seeds, st.integers(5, 20))
def test_equal_rows_keep_their_order(seed, block_records):
    """The order is that of lists of item codes and row numbers."""
    made = drawn(seed)[0].compacted()
    with using_engine(LocalEngine(block_records)):
        found = sorting.sorted_by_content(made, np.arange(made.records))
    codes = [made.items[a:b].tolist() for a, b in zip(made.offsets, made.offsets[1:], strict=False)]
    assert found.origins.tolist() == sorted(range(made.records), key=lambda row: (codes[row], row))
    assert not found.origins.flags.writeable


@settings(max_examples=examples(60), deadline=None)
@given(seeds, st.integers(3, 15))
def test_equal_ids_are_refused_wherever_they_are(seed, block_records):
    rng = np.random.default_rng(seed)
    names = [f"{PREFIX}{one}" for one in rng.permutation(40)]
    one, other = rng.choice(40, 2, replace=False)
    names[one] = names[other]
    ids = pa.array(names, pa.large_string())
    data = sv.from_lists([["a"]] * 40)
    with using_engine(LocalEngine(block_records)), pytest.raises(sv.BadData, match="two records have the same id"):
        sorting.sorted_by_id(data, np.arange(40), ids.take, ids.take)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_a_very_frequent_content_fills_no_group(monkeypatch, share, is_sorted):
    """However many records are equal, no group has more records than a few blocks."""
    rng = np.random.default_rng(3)
    often = rng.random(4_000) < share
    often = np.sort(often) if is_sorted else often
    data = sv.from_lists([["i1", "i2"] if one else [f"i{j}" for j in rng.integers(0, 9, 6)] for one in often])
    sizes = []
    order_of = sorting._order_by_content
    monkeypatch.setattr(sorting, "_order_by_content", lambda block: sizes.append(len(block)) or order_of(block))
    monkeypatch.setattr(sorting, "MOST_RECORDS", 200)
    found = sorting.sorted_by_content(data, np.arange(data.records))
    assert sum(sizes) == 4_000
    assert max(sizes) <= 600
    assert found.origins.tolist() == data.content_order().tolist()


def test_a_scratch_folder_without_room_is_refused_before_the_work(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=1))
    data = sv.from_lists([["a"], ["b"], ["c"]])
    with (
        using_engine(LocalEngine(2)),
        pytest.raises(sv.OutputRefused, match=r"sorting 3 records needs about .*`scratch="),
    ):
        sorting.sorted_by_content(data, np.arange(3))
