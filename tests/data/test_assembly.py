"""Batches of any size give what plain grouping gives: the table of texts, the order of records, and items each once."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from setveil.data.files.assembly import ListAssembly, LongAssembly, Origin
from setveil.data.files.encoding import TextEncoder
from setveil.data.records import _text_kernels, ragged, tidying
from setveil.data.records.ragged import rises_within_records
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData

from oracle.assembly import codes_of, records_of_rows
from support.exhaustive import examples

ORIGIN = Origin("rows")
texts = st.one_of(
    st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=4),
    st.integers(0, 40).map(str),
    st.sampled_from(["a", "aa", "aaa", "ä", "𝄞", "a" * 300]),
)


def column(values):
    return pa.array(values, pa.large_string())


def cut(values, places):
    borders = [0, *sorted(p % (len(values) + 1) for p in places), len(values)]
    return [values[a:b] for a, b in pairwise(borders)]


# -- numbering texts ---------------------------------------------------------------------------------------------------


@pytest.mark.plain_python
@settings(max_examples=examples(200))
@given(st.lists(st.lists(texts, max_size=30), max_size=6))
def test_texts_are_numbered_as_they_first_appear(batches):
    encoder = TextEncoder()
    found = [encoder.encode(column(batch)).tolist() for batch in batches]
    codes, known = codes_of(batches)
    assert found == codes
    assert len(encoder) == len(known)
    assert encoder.texts().to_pylist() == known


def test_a_table_that_grows_many_times_keeps_its_numbers():
    rng = np.random.default_rng(4)
    batches = [[f"text-{n}" for n in rng.integers(0, 60_000, 5_000)] for _ in range(20)]
    encoder = TextEncoder()
    found = [encoder.encode(column(batch)).tolist() for batch in batches]
    codes, known = codes_of(batches)
    assert found == codes
    assert encoder.texts().to_pylist() == known


def test_texts_of_the_same_hash_are_told_apart(monkeypatch):
    """With the multiplier 0 the hash of a text is its last byte: all of these meet in one slot."""
    batches = [[f"{n:05}x" for n in range(400)], [f"{n:05}x" for n in range(200, 600)], ["x", "xx"]]
    encoder = TextEncoder()
    encoder.encode(column(["first"]))
    encoder.encode(column(["second"]))
    monkeypatch.setattr(encoder._table, "_multiplier", 0)
    found = [encoder.encode(column(batch)).tolist() for batch in batches]
    codes, known = codes_of([["first", "second"], *batches])
    assert found == codes[1:]
    assert encoder.texts().to_pylist() == known


def test_slices_are_read_at_their_place():
    whole = column(["never", "a", "b", "a", "c", "never"])
    encoder = TextEncoder()
    assert [encoder.encode(whole.slice(1, 2)).tolist(), encoder.encode(whole.slice(2, 3)).tolist()] == [
        [0, 1],
        [1, 0, 2],
    ]


def test_nobody_can_foresee_which_texts_meet():
    multipliers = {drawn_multiplier() for _ in range(20)}
    assert len(multipliers) == 20
    assert all(2**20 <= m < _text_kernels.PRIME for m in multipliers)


def drawn_multiplier():
    encoder = TextEncoder()
    encoder.encode(column(["a"]))
    encoder.encode(column(["b"]))
    return encoder._table._multiplier


# -- rows to records ---------------------------------------------------------------------------------------------------

rows = st.lists(st.tuples(st.sampled_from([f"p{i}" for i in range(9)]), texts), min_size=1, max_size=60)


def assembled(rows_, places, *, dictionary=False):
    assembly = LongAssembly(ORIGIN, id_column="id", item_column="item")
    for part in cut(rows_, places):
        ids, items = (column([row[i] for row in part]) for i in (0, 1))
        if dictionary:
            ids, items = ids.dictionary_encode(), items.dictionary_encode()
        assembly.add(ids, items)
    return assembly.finish()


def as_pairs(data):
    return [(name, set(items)) for name, items in zip(data.ids.to_pylist(), data.to_lists(), strict=True)]


def rebuilt(data):
    """Make the same data through the constructor, which checks everything."""
    return Transactions(data.offsets, data.items, tuple(data.vocabulary), ids=data.ids, unit=data.unit)


@pytest.mark.plain_python
@settings(max_examples=examples(300))
@given(rows, st.lists(st.integers(0, 60), max_size=5), st.booleans(), st.booleans())
def test_rows_in_any_order_and_any_batches_become_the_same_records(rows_, places, grouped, dictionary):
    rows_ = sorted(rows_) if grouped else rows_
    data = assembled(rows_, places, dictionary=dictionary)
    assert as_pairs(data) == records_of_rows(rows_)
    assert rebuilt(data) == data
    assert data.unit == "record"


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("vocabulary", [50, 110_000])
def test_many_rows_in_many_batches(shuffled, vocabulary):
    """Codes are kept in two bytes until the vocabulary outgrows them, which happens between two batches here."""
    rng = np.random.default_rng(7)
    size = 150_000
    owners = rng.integers(0, 9_000, size) if shuffled else np.sort(rng.integers(0, 9_000, size))
    items = rng.integers(0, vocabulary, size)
    rows_ = [(f"id-{a}", f"item-{b}") for a, b in zip(owners.tolist(), items.tolist(), strict=True)]
    data = assembled(rows_, range(0, size, 11_000))
    assert as_pairs(data) == records_of_rows(rows_)
    assert rebuilt(data) == data


@settings(max_examples=examples(200))
@given(st.lists(st.lists(texts, max_size=6), min_size=1, max_size=20), st.lists(st.integers(0, 20), max_size=4))
@example([["b", "a", "b"], []], [1])
def test_lists_in_any_batches_become_the_same_records(lists, places):
    assembly = ListAssembly(ORIGIN, id_column="id")
    names = [f"r{i}" for i in range(len(lists))]
    for part in cut(list(zip(names, lists, strict=True)), places):
        assembly.add(pa.array([r[1] for r in part], pa.large_list(pa.large_string())), column([r[0] for r in part]))
    data = assembly.finish()
    assert as_pairs(data) == [(name, set(items)) for name, items in zip(names, lists, strict=True)]
    assert rebuilt(data) == data


@given(st.lists(st.lists(st.integers(0, 9), max_size=9), min_size=1, max_size=12), st.integers(1, 12))
def test_small_blocks_are_made_tidy_as_one(lists, block):
    offsets = np.cumsum([0, *map(len, lists)])
    codes = np.array([c for record in lists for c in record], dtype=np.int32)
    labels = [f"i{9 - i}" for i in range(10)]
    whole = Transactions.from_codes(offsets, codes, labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tidying, "BLOCK", block)
        patch.setattr(ragged, "BLOCK", block)
        again = Transactions.from_codes(offsets, codes, labels)
        assert rises_within_records(again.offsets, again.items)
        assert rises_within_records(offsets, codes) == all(a < b for record in lists for a, b in pairwise(record))
    assert again == whole
    assert whole.to_lists() == [sorted({labels[c] for c in record}) for record in lists]


# -- what is refused, with its row -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "items", "sentence"),
    [
        (
            ["p", "p", None],
            ["a", "b", "c"],
            "rows, row 5: the column 'id' has a missing value; expected a text or a whole number",
        ),
        (
            ["p", "p", "q"],
            ["a", None, "c"],
            (
                "rows, row 4: the column 'item' has a missing value; expected a text or a whole number; "
                "drop missing items with `missing='drop'`"
            ),
        ),
        (["p", "p", ""], ["a", "b", "c"], "rows, row 5: the column 'id' is empty or holds a control character"),
        (["p", "p", "q"], ["a", "b\t", "c"], "rows, row 4: the column 'item' is empty or holds a control character"),
    ],
)
@pytest.mark.parametrize("dictionary", [False, True])
def test_the_row_of_what_is_wrong_is_counted_over_batches(ids, items, sentence, dictionary):
    assembly = LongAssembly(ORIGIN, id_column="id", item_column="item")
    assembly.add(column(["x", "y"]), column(["a", "b"]))
    wrong = (column(ids), column(items))
    with pytest.raises(BadData) as refused:
        assembly.add(*(c.dictionary_encode() if dictionary else c for c in wrong))
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.float64(), [1.0]),
        (pa.bool_(), [True]),
        (pa.date32(), [1]),
        (pa.binary(), [b"a"]),
        (pa.decimal128(5, 0), [1]),
        (pa.list_(pa.int64()), [[1]]),
        (pa.struct([("a", pa.int64())]), [{"a": 1}]),
    ],
    ids=str,
)
def test_other_types_are_refused_by_name(kind, values):
    wrong = pa.array(values, kind)
    for ids, items in ((wrong, column(["a"])), (column(["p"]), wrong)):
        with pytest.raises(
            BadData, match=r"rows: the column '(id|item)' is of type .*; (ids|items) must be text or whole"
        ):
            LongAssembly(ORIGIN, id_column="id", item_column="item").add(ids, items)
    with pytest.raises(BadData, match=r"is of type"):
        ListAssembly(ORIGIN).add(pa.array([values], pa.list_(kind)))
    with pytest.raises(BadData, match=r"is of type"):
        ListAssembly(ORIGIN, id_column="id").add(pa.array([["a"]]), wrong)


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.int64(), pa.string(), pa.string_view(), pa.large_string()])
def test_whole_numbers_become_decimal_text(kind):
    values = [7, 10] if pa.types.is_integer(kind) else ["7", "10"]
    assembly = LongAssembly(ORIGIN, id_column="id", item_column="item")
    assembly.add(pa.array(values, kind), pa.array(values, kind))
    assert as_pairs(assembly.finish()) == [("7", {"7"}), ("10", {"10"})]


@pytest.mark.parametrize(
    ("lists", "ids", "sentence"),
    [
        ([["a"], None], ["x", "y"], "rows, row 4: the column 'items' has a missing list"),
        ([["a"], ["b", None]], ["x", "y"], "rows, row 4: the column 'items' has a missing value"),
        ([["a"], ["b", ""]], ["x", "y"], "rows, row 4: the column 'items' is empty"),
        ([["a"], ["b"]], ["x", "p"], "rows, row 4: has the same id as an earlier row; expected one id per record"),
        ([["a"], ["b"]], ["x", "x"], "rows, row 4: has the same id as an earlier row"),
        ([["a"], ["b"]], ["x", None], "rows, row 4: the column 'id' has a missing value"),
    ],
)
def test_lists_that_are_wrong_are_refused_with_their_row(lists, ids, sentence):
    assembly = ListAssembly(ORIGIN, id_column="id")
    assembly.add(pa.array([["a"], ["b"]]), column(["p", "q"]))
    with pytest.raises(BadData) as refused:
        assembly.add(pa.array(lists, pa.list_(pa.string())), column(ids))
    assert str(refused.value).startswith(sentence)


def test_a_dictionary_may_hold_what_no_row_uses_and_in_any_order():
    ids = pa.DictionaryArray.from_arrays(pa.array([3, 3, 1]), pa.array(["unused", "q", None, "p"]))
    items = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2]), pa.array(["b", "", "a", "z"]))
    assembly = LongAssembly(ORIGIN, id_column="id", item_column="item")
    assembly.add(ids, items)
    data = assembly.finish()
    assert as_pairs(data) == [("p", {"a", "b"}), ("q", {"a"})]
    assert data.vocabulary == ("a", "b")


def test_a_dictionary_may_hold_a_missing_value_that_a_row_uses():
    items = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array([None, "a"]))
    with pytest.raises(BadData, match=r"rows, row 2: the column 'item' has a missing value"):
        LongAssembly(ORIGIN, id_column="id", item_column="item").add(column(["p", "q"]), items)
